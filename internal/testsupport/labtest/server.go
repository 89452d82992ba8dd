package labtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
)

// Server asks the API server of a lab itself, past every gateway. It serves frequent requests of tests: kubectl
// reads the list of all kinds first, which costs a second of processor time.
type Server struct {
	endpoint, token string
	client          *http.Client

	// kinds are those that the server had when they were asked for last.
	mu    sync.Mutex
	kinds []kind
}

// servers are those of this process, by endpoint: their connections outlive a test.
var servers sync.Map

// Server is the API server of the lab, asked with all rights.
func (e Env) Server(t testing.TB) *Server {
	t.Helper()
	s, err := e.connect()
	require.NoError(t, err)
	return s
}

func (e Env) connect() (*Server, error) {
	if known, ok := servers.Load(e.Endpoint); ok {
		if s, ok := known.(*Server); ok && s.token == e.AdminToken {
			return s, nil
		}
	}
	ca, err := os.ReadFile(e.CAFile)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	s := &Server{endpoint: e.Endpoint, token: e.AdminToken, client: &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true},
	}}
	servers.Store(e.Endpoint, s)
	return s, nil
}

// Request sends a request with a body of JSON or none; the caller closes the body of the answer.
func (s *Server) Request(ctx context.Context, method, path, body string, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.endpoint+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	return s.client.Do(req)
}

// Do is Request for who wants to know the status only.
func (s *Server) Do(ctx context.Context, method, path, body string) (status int, err error) {
	resp, err := s.Request(ctx, method, path, body, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// errNotServed says that the server has no such path, or not any more.
var errNotServed = errors.New("not found")

// get decodes what is at a path.
func (s *Server) get(ctx context.Context, path, accept string, out any) error {
	for range 60 {
		resp, err := s.Request(ctx, http.MethodGet, path, "", http.Header{"Accept": {accept}})
		if err != nil {
			return fmt.Errorf("GET %s: %w", path, err)
		}
		data, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		switch {
		case err != nil:
			return fmt.Errorf("GET %s: %w", path, err)
		case resp.StatusCode == http.StatusOK:
			return json.Unmarshal(data, out)
		case resp.StatusCode == http.StatusNotFound:
			return fmt.Errorf("GET %s: %w", path, errNotServed)
		case resp.StatusCode != http.StatusTooManyRequests:
			return fmt.Errorf("GET %s: %s: %.200s", path, resp.Status, data)
		}
		// The API server is just beginning to serve a kind that another test brings.
		if err := poll.Sleep(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("GET %s: too many requests", path)
}

// kind is a kind of objects that the server lists.
type kind struct {
	// path is that of the group and version.
	path, groupVersion, resource, name string
	// singular and short are other names of the resource.
	singular   string
	short      []string
	namespaced bool
}

// listable are the kinds that can be listed but those of Cluster API: what that makes takes
// labels over from where it was made.
func (s *Server) listable(ctx context.Context) ([]kind, error) {
	kinds, err := s.served(ctx)
	return slices.DeleteFunc(kinds, func(k kind) bool {
		return strings.Contains(k.groupVersion, "cluster.x-k8s.io") || strings.Contains(k.groupVersion, ".k-orc.")
	}), err
}

// served are the kinds that can be listed, each in the first version of its group that has it: the group prefers them in
// this order.
func (s *Server) served(ctx context.Context) ([]kind, error) {
	var out []kind
	for _, root := range []string{"/api", "/apis"} {
		var groups struct {
			Items []struct {
				Metadata struct{ Name string }
				Versions []struct {
					Version   string
					Resources []struct {
						Resource, Scope  string
						SingularResource string
						ShortNames       []string
						ResponseKind     struct{ Kind string }
						Verbs            []string
					}
				}
			}
		}
		if err := s.get(ctx, root, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", &groups); err != nil {
			return nil, err
		}
		for _, group := range groups.Items {
			// Not every kind of a group is in the version that the group prefers.
			known := map[string]bool{}
			for _, version := range group.Versions {
				groupVersion := strings.TrimPrefix(group.Metadata.Name+"/"+version.Version, "/")
				for _, r := range version.Resources {
					if !slices.Contains(r.Verbs, "list") || known[r.Resource] {
						continue
					}
					known[r.Resource] = true
					out = append(out, kind{
						path: root + "/" + groupVersion, groupVersion: groupVersion, resource: r.Resource, name: r.ResponseKind.Kind,
						singular: r.SingularResource, short: r.ShortNames, namespaced: r.Scope == "Namespaced",
					})
				}
			}
		}
	}
	if len(out) == 0 {
		// A search for what is left would find nothing, whatever there is.
		return nil, fmt.Errorf("the API server at %s names no kind that it lists", s.endpoint)
	}
	return out, nil
}

// Object is what is common to all objects of a server.
type Object struct {
	GroupVersion, Kind, Namespace, Name, UID string
	Labels, Annotations                      map[string]string
	// Owned tells that another object owns it.
	Owned bool
}

// Labelled lists the objects that a label selector finds, of all kinds that the server lists but those of Cluster API: of
// a namespace, with the namespace itself, or of the whole cluster when namespace is empty.
func (s *Server) Labelled(ctx context.Context, namespace, selector string) ([]Object, error) {
	kinds, err := s.listable(ctx)
	if err != nil {
		return nil, err
	}
	var out []Object
	for _, k := range kinds {
		path := k.path
		if namespace != "" && k.namespaced {
			path += "/namespaces/" + namespace
		} else if namespace != "" && k.name != "Namespace" {
			continue
		}
		var list struct {
			Items []struct {
				Metadata struct {
					Namespace, Name, UID string
					Labels, Annotations  map[string]string
					OwnerReferences      []struct{}
				}
			}
		}
		// Events and the like are many, and of an object only its metadata is of interest.
		const metadata = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"
		err := s.get(ctx, path+"/"+k.resource+"?labelSelector="+url.QueryEscape(selector), metadata, &list)
		if errors.Is(err, errNotServed) {
			continue // another test has taken its kind away
		}
		if err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			m := item.Metadata
			if namespace == "" || k.namespaced || m.Name == namespace {
				out = append(out, Object{
					GroupVersion: k.groupVersion, Kind: k.name, Namespace: m.Namespace, Name: m.Name, UID: m.UID,
					Labels: m.Labels, Annotations: m.Annotations, Owned: len(m.OwnerReferences) > 0,
				})
			}
		}
	}
	return out, nil
}
