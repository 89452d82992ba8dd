package labtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"k8s.io/client-go/util/jsonpath"
)

// query is a `kubectl get` that this process can answer itself, by one request for each kind
// and no process.
type query struct {
	namespace, selector string
	// output is "name" or the template of a JSONPath.
	output        string
	ignoreMissing bool
	// objects are kinds, each with a name or without.
	objects []queried
}

type queried struct{ kind, name string }

// errNotDirect says that a query needs kubectl after all: it has what is not known here, or
// it fails, and kubectl has the words for that.
var errNotDirect = errors.New("kubectl is needed")

// parseGet reads the arguments of kubectl; false says that kubectl itself has to.
func parseGet(args []string) (query, bool) {
	q := query{namespace: "default"}
	var words []string
	for i := 0; i < len(args); i++ {
		flag, value, joined := strings.Cut(args[i], "=")
		switch flag {
		case "-n", "--namespace", "-o", "--output", "-l", "--selector":
			if !joined {
				if i++; i == len(args) {
					return query{}, false
				}
				value = args[i]
			}
		}
		switch {
		case flag == "-n" || flag == "--namespace":
			q.namespace = value
		case flag == "-o" || flag == "--output":
			q.output = value
		case flag == "-l" || flag == "--selector":
			q.selector = value
		case args[i] == "--ignore-not-found":
			q.ignoreMissing = true
		case strings.HasPrefix(flag, "-"):
			return query{}, false
		default:
			words = append(words, args[i])
		}
	}
	if len(words) < 2 || words[0] != "get" {
		return query{}, false
	}
	if template, ok := strings.CutPrefix(q.output, "jsonpath="); ok {
		q.output = template
	} else if q.output != "name" {
		return query{}, false
	}
	q.objects = objectsOf(words[1:])
	return q, q.objects != nil && (q.selector == "" || q.objects[0].name == "")
}

// objectsOf reads "kind,kind", "kind name ..." or "kind/name ...".
func objectsOf(words []string) []queried {
	var out []queried
	if !strings.Contains(words[0], "/") {
		kinds := strings.Split(words[0], ",")
		switch {
		case len(words) == 1:
			for _, kind := range kinds {
				out = append(out, queried{kind: kind})
			}
		case len(kinds) == 1:
			for _, name := range words[1:] {
				out = append(out, queried{kind: kinds[0], name: name})
			}
		}
		return out
	}
	for _, word := range words {
		kind, name, ok := strings.Cut(word, "/")
		if !ok || strings.Contains(kind, ",") {
			return nil
		}
		out = append(out, queried{kind: kind, name: name})
	}
	return out
}

// answer is what kubectl prints for a query.
func (s *Server) answer(ctx context.Context, q query) (string, error) {
	var items []any
	var only any
	for _, o := range q.objects {
		k, err := s.kindOf(ctx, o.kind)
		if err != nil {
			return "", err
		}
		found, err := s.read(ctx, k, q, o.name)
		if err != nil {
			return "", err
		}
		if found == nil {
			continue
		}
		only = found
		list, isList := found["items"].([]any)
		if !isList || o.name != "" {
			list = []any{found}
		}
		for _, item := range list {
			// The items of a list do not tell their kind.
			if object, ok := item.(map[string]any); ok {
				object["apiVersion"], object["kind"] = k.groupVersion, k.name
			}
		}
		items = append(items, list...)
	}
	if q.output == "name" {
		return names(items), nil
	}
	if only == nil {
		return "", nil
	}
	if len(q.objects) > 1 {
		only = map[string]any{"apiVersion": "v1", "kind": "List", "items": items}
	}
	path := jsonpath.New("get").AllowMissingKeys(true)
	var out bytes.Buffer
	if path.Parse(q.output) != nil || path.Execute(&out, only) != nil {
		return "", errNotDirect
	}
	return out.String(), nil
}

// read gets an object, or the list of a kind; nil when there is none and none has to be.
func (s *Server) read(ctx context.Context, k kind, q query, name string) (map[string]any, error) {
	path := k.path
	if k.namespaced {
		path += "/namespaces/" + q.namespace
	}
	path += "/" + k.resource
	if name != "" {
		path += "/" + name
	}
	if q.selector != "" {
		path += "?labelSelector=" + url.QueryEscape(q.selector)
	}
	resp, err := s.Request(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotDirect, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if name != "" && q.ignoreMissing && resp.StatusCode == http.StatusNotFound {
		return nil, nil //nolint:nilnil // none is an answer
	}
	var out map[string]any
	if resp.StatusCode != http.StatusOK || json.NewDecoder(resp.Body).Decode(&out) != nil {
		return nil, errNotDirect
	}
	return out, nil
}

// kindOf finds what a word of kubectl means, with what the server serves now when it was not
// known before.
func (s *Server) kindOf(ctx context.Context, word string) (kind, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, known := range []bool{true, false} {
		if !known {
			kinds, err := s.served(ctx)
			if err != nil {
				return kind{}, fmt.Errorf("%w: %w", errNotDirect, err)
			}
			s.kinds = kinds
		}
		if i := slices.IndexFunc(s.kinds, func(k kind) bool { return k.is(word) }); i >= 0 {
			return s.kinds[i], nil
		}
	}
	return kind{}, errNotDirect
}

// is tells whether a word names the kind: "deployments", "deployment", "deploy" or
// "deployments.apps".
func (k kind) is(word string) bool {
	name, group, qualified := strings.Cut(strings.ToLower(word), ".")
	own, _, grouped := strings.Cut(k.groupVersion, "/")
	if qualified && (!grouped || group != own) {
		return false
	}
	return name == k.resource || name == k.singular || name == strings.ToLower(k.name) || !qualified && slices.Contains(k.short, name)
}

// names prints objects as `-o name` does.
func names(items []any) string {
	var out strings.Builder
	for _, item := range items {
		object, _ := item.(map[string]any)
		metadata, _ := object["metadata"].(map[string]any)
		group, _, grouped := strings.Cut(fmt.Sprint(object["apiVersion"]), "/")
		out.WriteString(strings.ToLower(fmt.Sprint(object["kind"])))
		if grouped {
			out.WriteString("." + group)
		}
		fmt.Fprintf(&out, "/%s\n", metadata["name"])
	}
	return out.String()
}
