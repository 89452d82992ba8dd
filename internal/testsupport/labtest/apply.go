package labtest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"sigs.k8s.io/yaml"
)

// apply applies manifests to a namespace as `kubectl apply --server-side` does.
func (s *Server) apply(ctx context.Context, namespace, manifests string) error {
	for text := range strings.SplitSeq("\n"+manifests, "\n---") {
		var object struct {
			APIVersion, Kind string
			Metadata         struct{ Name string }
		}
		if err := yaml.Unmarshal([]byte(text), &object); err != nil {
			return fmt.Errorf("reading a manifest: %w\n%s", err, text)
		}
		if object.Kind == "" {
			continue
		}
		if err := s.applyObject(ctx, namespace, object.APIVersion, object.Kind, object.Metadata.Name, text); err != nil {
			return fmt.Errorf("applying %s %s: %w", object.Kind, object.Metadata.Name, err)
		}
	}
	return nil
}

func (s *Server) applyObject(ctx context.Context, namespace, groupVersion, name, object, text string) error {
	group, version, grouped := strings.Cut(groupVersion, "/")
	word, root := name, "/api/"+groupVersion
	if grouped {
		word, root = name+"."+group, "/apis/"+group+"/"+version
	}
	k, err := s.kindOf(ctx, word)
	if err != nil {
		return err
	}
	path := root
	if k.namespaced {
		path += "/namespaces/" + namespace
	}
	resp, err := s.Request(ctx, http.MethodPatch, path+"/"+k.resource+"/"+object+"?fieldManager=kubectl&fieldValidation=Strict", text,
		http.Header{"Content-Type": {"application/apply-patch+yaml"}})
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s: %s", resp.Status, answer)
	}
	return err
}
