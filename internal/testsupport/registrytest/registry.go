package registrytest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path"
	"strings"
	"time"

	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/content/oci"
	"oras.land/oras-go/v2/registry"
)

// Registry serves OCI layouts by the names of their repositories. It is read-only: tests write to the layouts.
func Registry(repositories map[string]*oci.Store) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v2/" {
			return
		}
		// The path is /v2/<repository>/<kind>/<reference>.
		dir, reference := path.Split(r.URL.Path)
		name, kind := path.Split(strings.TrimSuffix(dir, "/"))
		name = strings.Trim(strings.TrimPrefix(name, "/v2/"), "/")
		layout, ok := repositories[name]
		switch {
		case !ok:
			answer(w, http.StatusNotFound, map[string]any{"errors": []map[string]string{{"code": "NAME_UNKNOWN"}}})
		case kind == "tags":
			tags, err := registry.Tags(r.Context(), layout)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			answer(w, http.StatusOK, map[string]any{"name": name, "tags": tags})
		default:
			serveContent(w, r, layout, reference)
		}
	})
}

// serveContent serves a manifest or blob.
func serveContent(w http.ResponseWriter, r *http.Request, layout *oci.Store, reference string) {
	found, err := layout.Resolve(r.Context(), reference)
	if err != nil {
		answer(w, http.StatusNotFound, map[string]any{"errors": []map[string]string{{"code": "MANIFEST_UNKNOWN"}}})
		return
	}
	data, err := content.FetchAll(r.Context(), layout, found)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", found.MediaType)
	w.Header().Set("Docker-Content-Digest", found.Digest.String())
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

func answer(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
