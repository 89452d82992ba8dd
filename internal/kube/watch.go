package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// follower follows the objects of one kind in one namespace with one LIST and one WATCH.
type follower struct {
	client    *Client
	resource  Resource
	namespace string
	options   ListOptions
	// metadataOnly asks for metadata instead of whole objects.
	metadataOnly bool
	// known are objects by name, in the state of version from or later, which need not be listed.
	// Events that are older than the known state of their object are ignored.
	known map[string]*unstructured.Unstructured
	from  string
	// listed gets all objects by name, at the start and after an interruption too long for a watch
	// to resume.
	listed func(map[string]*unstructured.Unstructured)
	// changed gets one object; nil if it was deleted.
	changed func(name string, obj *unstructured.Unstructured)
}

// maxWatchFailures is the number of failures in a row after which a watch gives way to a new list.
const maxWatchFailures = 10

// errExpired means that the server no longer keeps the changes since the last known version.
var errExpired = errors.New("the resource version is too old")

// run follows until ctx ends, which returns nil, or until a permanent error.
func (f *follower) run(ctx context.Context) error {
	for failures := 0; ; {
		version, err := f.begin(ctx)
		if err == nil {
			failures = 0
			err = f.watch(ctx, version)
		}
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the caller reports the end of ctx with all objects
		case errors.Is(err, errExpired):
			continue
		case !f.passes(err):
			return err
		}
		failures++
		if poll.Sleep(ctx, f.client.retry.backoff(failures)) != nil {
			return nil //nolint:nilerr // as above
		}
	}
}

// passes reports whether a failure may be transient.
func (f *follower) passes(err error) bool {
	var unreachable *vnfm.UnreachableError
	var server *serverError
	switch {
	case errors.As(err, &unreachable):
		return !isPermanentTransport(err)
	case errors.As(err, &server):
		// 404: the kind is not served yet, or no longer.
		return persistence(server) != final || server.code == http.StatusNotFound
	default:
		return false
	}
}

// begin lists all objects unless they are known, and returns the version to watch from.
func (f *follower) begin(ctx context.Context) (string, error) {
	if from := f.from; from != "" {
		f.from = ""
		f.listed(f.known)
		return from, nil
	}
	f.known = nil
	return f.list(ctx)
}

func (f *follower) list(ctx context.Context) (string, error) {
	objects := map[string]*unstructured.Unstructured{}
	listing := listRequest{resource: f.resource, namespace: f.namespace, options: f.options, decode: utiljson.Unmarshal}
	if f.metadataOnly {
		listing.accept = metadataList + "," + jsonType
	}
	version, err := listPages(ctx, f.client, listing, func(fields *map[string]any) error {
		obj := &unstructured.Unstructured{Object: ofKind(*fields, f.resource)}
		objects[obj.GetName()] = obj
		return nil
	}, func() { clear(objects) })
	if apierrors.IsNotFound(err) {
		f.listed(objects)
	}
	if err != nil {
		return "", err
	}
	f.listed(objects)
	return version, nil
}

// watch opens one watch after the other, each from the end of the last one, until an error other
// than the end of the stream.
func (f *follower) watch(ctx context.Context, version string) error {
	for failures := 0; ; {
		opened := time.Now()
		next, err := f.stream(ctx, version)
		if next != version {
			version, failures = next, 0
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && (!f.passes(err) || apierrors.IsNotFound(err)):
			return err
		case failures == maxWatchFailures:
			// Perhaps the server cannot continue from this version.
			return errExpired
		}
		// A server that is being stopped closes streams as soon as they open.
		if err == nil && time.Since(opened) > time.Second {
			failures = 0
			continue
		}
		failures++
		if poll.Sleep(ctx, min(f.client.retry.backoff(failures), time.Second)) != nil {
			return ctx.Err()
		}
	}
}

// request returns the request for a watch from a version.
func (f *follower) request(version string) request {
	query := f.options.query()
	query.Set("watch", "true")
	query.Set("allowWatchBookmarks", "true")
	query.Set("resourceVersion", version)
	// Random timeouts keep all watches from reopening at once.
	query.Set("timeoutSeconds", strconv.Itoa(240+rand.N(120))) //nolint:gosec // spreading load
	accept := jsonType
	if f.metadataOnly {
		accept = metadataObject + "," + jsonType
	}
	return request{
		doing: "watching", object: "the objects of kind " + f.resource.GVK.Kind,
		method: http.MethodGet, path: f.resource.collectionPath(f.namespace), query: query, accept: accept,
	}
}

// stream reads one watch until it ends and returns the last version seen.
func (f *follower) stream(ctx context.Context, version string) (string, error) {
	r := f.request(version)
	res, err := f.client.send(ctx, r)
	if err != nil {
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			return version, errExpired
		}
		return version, f.client.failure(r, err)
	}
	defer func() { _ = res.Body.Close() }()
	decoder := json.NewDecoder(res.Body)
	for {
		var event struct {
			Type   string          `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		if err := decoder.Decode(&event); err != nil {
			// The server closes a watch at its timeout, and a connection may break: the next watch
			// resumes from the last version.
			return version, nil //nolint:nilerr // see above
		}
		if event.Type == "ERROR" {
			return version, f.streamError(r, event.Object)
		}
		obj := &unstructured.Unstructured{}
		if err := decodeItem(event.Object, f.resource, obj); err != nil {
			return version, fmt.Errorf("watching the objects of kind %s: reading an event: %w", f.resource.GVK.Kind, err)
		}
		if v := obj.GetResourceVersion(); v != "" {
			version = v
		}
		if olderThan(obj, f.known[obj.GetName()]) {
			continue
		}
		switch event.Type {
		case "ADDED", "MODIFIED":
			f.changed(obj.GetName(), obj)
		case "DELETED":
			f.changed(obj.GetName(), nil)
		}
	}
}

func (f *follower) streamError(r request, raw json.RawMessage) error {
	var s metav1.Status
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("watching the objects of kind %s: reading an error: %w", f.resource.GVK.Kind, err)
	}
	if s.Code == http.StatusGone {
		return errExpired
	}
	return f.client.failure(r, &serverError{StatusError: &apierrors.StatusError{ErrStatus: s}, code: int(s.Code)})
}
