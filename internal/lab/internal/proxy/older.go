package proxy

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Older shows an API server as if it did not serve some versions of its API groups yet: they are not discovered, and
// asking for them fails. All else is the server's business, credentials included.
type Older struct {
	// Target is the API server, Roots are the authorities of its certificate.
	Target *url.URL
	Roots  *x509.CertPool
	// Hidden tells which versions are left out.
	Hidden func(group, version string) bool
	Log    *slog.Logger
}

// Handler is the proxy. Clients that come with a certificate are strangers to the server: they need a token.
func (o *Older) Handler() http.Handler {
	forward := &httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) {
			request.SetURL(o.Target)
			if o.lists(request.In.URL.Path) != nil {
				// The list that has one form, and uncompressed.
				request.Out.Header.Set("Accept", "application/json")
				request.Out.Header.Del("Accept-Encoding")
			}
		},
		ModifyResponse: o.leaveOut,
		Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.Roots},
			ForceAttemptHTTP2: true,
		},
		FlushInterval: -1,
		ErrorLog:      slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/"); o.asked(parts) {
			http.Error(w, "404 page not found", http.StatusNotFound)
			return
		}
		forward.ServeHTTP(w, r)
	})
}

// asked tells whether a path, in its parts, leads to a version that is left out.
func (o *Older) asked(parts []string) bool {
	if len(parts) > 2 && parts[0] == "openapi" && parts[1] == "v3" {
		parts = parts[2:]
	}
	return len(parts) > 2 && parts[0] == "apis" && o.Hidden(parts[1], parts[2])
}

// lists is what removes the versions from the answer at a path that tells of all of them; nil for another path.
func (o *Older) lists(path string) func([]byte) ([]byte, error) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) == 1 && parts[0] == "apis":
		return o.groups
	case len(parts) == 2 && parts[0] == "apis":
		return o.group
	case len(parts) == 2 && parts[0] == "openapi" && parts[1] == "v3":
		return o.schemas
	}
	return nil
}

func (o *Older) leaveOut(response *http.Response) error {
	filter := o.lists(response.Request.URL.Path)
	if filter == nil || response.StatusCode != http.StatusOK {
		return nil
	}
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("reading the answer to %s: %w", response.Request.URL.Path, err)
	}
	if err := response.Body.Close(); err != nil {
		return fmt.Errorf("reading the answer to %s: %w", response.Request.URL.Path, err)
	}
	if data, err = filter(data); err != nil {
		return fmt.Errorf("reading the answer to %s: %w", response.Request.URL.Path, err)
	}
	response.Body = io.NopCloser(bytes.NewReader(data))
	response.ContentLength = int64(len(data))
	response.Header.Set("Content-Length", strconv.Itoa(len(data)))
	response.Header.Del("ETag")
	return nil
}

func (o *Older) groups(data []byte) ([]byte, error) {
	var list metav1.APIGroupList
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, err
	}
	for i := range list.Groups {
		o.versions(&list.Groups[i])
	}
	list.Groups = slices.DeleteFunc(list.Groups, func(group metav1.APIGroup) bool { return len(group.Versions) == 0 })
	return json.Marshal(&list)
}

func (o *Older) group(data []byte) ([]byte, error) {
	var group metav1.APIGroup
	if err := json.Unmarshal(data, &group); err != nil {
		return nil, err
	}
	o.versions(&group)
	return json.Marshal(&group)
}

// versions removes the versions of a group, and prefers another one if need be.
func (o *Older) versions(group *metav1.APIGroup) {
	group.Versions = slices.DeleteFunc(group.Versions, func(version metav1.GroupVersionForDiscovery) bool {
		return o.Hidden(group.Name, version.Version)
	})
	if o.Hidden(group.Name, group.PreferredVersion.Version) && len(group.Versions) > 0 {
		group.PreferredVersion = group.Versions[0]
	}
}

func (o *Older) schemas(data []byte) ([]byte, error) {
	var index struct {
		Paths map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(data, &index); err != nil {
		return nil, err
	}
	for path := range index.Paths {
		if o.asked(strings.Split(path, "/")) {
			delete(index.Paths, path)
		}
	}
	return json.Marshal(&index)
}
