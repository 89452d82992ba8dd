package e2e_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// server asks the API server of the lab itself, past every gateway.
type server struct {
	endpoint, token string
	client          *http.Client
	// kinds are all that can be listed, read once.
	kinds func(ctx context.Context) ([]kind, error)
}

// kind is a kind of objects that the server lists.
type kind struct {
	// path is that of the group and version.
	path, groupVersion, resource, name string
	namespaced                         bool
}

func newServer(t *testing.T, lab labtest.Env) *server {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(lab.ReadFile(t, lab.CAFile)))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	s := &server{endpoint: lab.Endpoint, token: lab.AdminToken, client: &http.Client{Transport: transport}}
	var once sync.Once
	var kinds []kind
	var failed error
	s.kinds = func(ctx context.Context) ([]kind, error) {
		once.Do(func() { kinds, failed = s.discover(ctx) })
		return kinds, failed
	}
	return s
}

// do sends a request and decodes a successful answer into out, unless that is nil.
func (s *server) do(ctx context.Context, method, path string, out any) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, method, s.endpoint+path, http.NoBody)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Accept", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil || out == nil || resp.StatusCode >= http.StatusMultipleChoices {
		return resp.StatusCode, err
	}
	return resp.StatusCode, json.Unmarshal(data, out)
}

// get is do for a GET that must succeed.
func (s *server) get(ctx context.Context, path string, out any) error {
	status, err := s.do(ctx, http.MethodGet, path, out)
	for range 60 {
		if err != nil || status != http.StatusTooManyRequests {
			break
		}
		// The API server is just beginning to serve a kind that another test brings.
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
		status, err = s.do(ctx, http.MethodGet, path, out)
	}
	if err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	if status != http.StatusOK {
		return fmt.Errorf("GET %s: status %d", path, status)
	}
	return nil
}

func (s *server) discover(ctx context.Context) ([]kind, error) {
	var groups struct {
		Groups []struct {
			PreferredVersion struct{ GroupVersion string }
		}
	}
	if err := s.get(ctx, "/apis", &groups); err != nil {
		return nil, err
	}
	paths := []string{"/api/v1"}
	for _, g := range groups.Groups {
		if slices.ContainsFunc([]string{"example.", "cluster.x-k8s.io", ".k-orc."}, func(part string) bool { return strings.Contains(g.PreferredVersion.GroupVersion, part) }) {
			// Kinds that other tests bring come and go, Cluster API among them.
			continue
		}
		paths = append(paths, "/apis/"+g.PreferredVersion.GroupVersion)
	}
	var out []kind
	for _, path := range paths {
		var list struct {
			GroupVersion string
			Resources    []struct {
				Name, Kind string
				Namespaced bool
				Verbs      []string
			}
		}
		if err := s.get(ctx, path, &list); err != nil {
			return nil, err
		}
		for _, r := range list.Resources {
			if !strings.Contains(r.Name, "/") && slices.Contains(r.Verbs, "list") {
				out = append(out, kind{path: path, groupVersion: list.GroupVersion, resource: r.Name, name: r.Kind, namespaced: r.Namespaced})
			}
		}
	}
	return out, nil
}

// entity is an object on the server.
type entity struct {
	kind, name, uid string
	// key is the identity as the package writes it, empty for what the server
	// derived from other objects. instance is the id in the label.
	key, instance string
}

func (e entity) String() string { return e.kind + " " + e.name }

// made are the entities that the provider made as objects of a package.
func made(all []entity) []entity {
	return slices.DeleteFunc(slices.Clone(all), func(e entity) bool { return e.key == "" })
}

// labelled lists the objects of every kind in a namespace that carry the label of
// an instance, and the namespace itself when it does.
func (s *server) labelled(ctx context.Context, namespace string) ([]entity, error) {
	kinds, err := s.kinds(ctx)
	if err != nil {
		return nil, err
	}
	var out []entity
	for _, k := range kinds {
		path := k.path
		if k.namespaced {
			path += "/namespaces/" + namespace
		} else if k.name != "Namespace" {
			continue // the packages of these tests have no objects outside of a namespace
		}
		var list struct {
			Items []struct {
				Metadata struct {
					Name, UID           string
					Labels, Annotations map[string]string
				}
			}
		}
		if err := s.get(ctx, path+"/"+k.resource+"?labelSelector="+url.QueryEscape(labelInstance), &list); err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			m := item.Metadata
			if k.namespaced || m.Name == namespace {
				out = append(out, entity{
					kind: k.groupVersion + "/" + k.name, name: m.Name, uid: m.UID,
					key: m.Annotations[annotationKey], instance: m.Labels[labelInstance],
				})
			}
		}
	}
	return out, nil
}
