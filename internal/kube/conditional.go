package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The requests of this file read and write typed objects. Replacements, changes and deletions carry
// the resource version that was read: the server rejects them with a conflict if the object has
// changed since. A conflict is never retried; the caller judges it.

// UndecidedError reports a failed write of unknown outcome: a request was sent, and no answer
// stated its outcome. The write may have taken effect, or may still do so.
type UndecidedError struct{ Err error }

func (e *UndecidedError) Error() string { return e.Err.Error() }

func (e *UndecidedError) Unwrap() error { return e.Err }

// GetInto reads an object into a typed value.
func (c *Client) GetInto(ctx context.Context, ref Ref, into any) error {
	path, err := ref.path("")
	if err != nil {
		return err
	}
	res, err := c.do(ctx, request{doing: "reading", object: ref.String(), method: http.MethodGet, path: path})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(res.body, into); err != nil {
		return fmt.Errorf("reading the answer for %s: %w", ref, err)
	}
	return nil
}

// GetMetadata reads the metadata of an object.
func (c *Client) GetMetadata(ctx context.Context, ref Ref) (*metav1.PartialObjectMetadata, error) {
	path, err := ref.path("")
	if err != nil {
		return nil, err
	}
	res, err := c.do(ctx, request{doing: "reading", object: ref.String(), method: http.MethodGet, path: path, accept: metadataObject + "," + jsonType})
	if err != nil {
		return nil, err
	}
	return decodeMetadata(ref, res.body)
}

// ListEach calls item with each object of a kind in a namespace, page by page. A list that expires
// between two pages starts again, after a call of reset.
func (c *Client) ListEach(ctx context.Context, r Resource, namespace string, o ListOptions, item func(json.RawMessage) error, reset func()) error {
	_, err := listPages(ctx, c, listRequest{resource: r, namespace: namespace, options: o}, func(raw *json.RawMessage) error { return item(*raw) }, reset)
	return err
}

// Create creates an object and returns its metadata. An existing object is an error for which
// apierrors.IsAlreadyExists is true, even if an earlier try of this call created it and its answer
// was lost.
func (c *Client) Create(ctx context.Context, ref Ref, obj any) (*metav1.PartialObjectMetadata, error) {
	return c.writeObject(ctx, "creating", http.MethodPost, ref.Resource.collectionPath(ref.Namespace), ref, obj)
}

// Replace replaces an object that still has the resource version of obj and returns its metadata. A
// changed object is an error for which apierrors.IsConflict is true, even if an earlier try of this
// call changed it.
func (c *Client) Replace(ctx context.Context, ref Ref, obj any) (*metav1.PartialObjectMetadata, error) {
	path, err := ref.path("")
	if err != nil {
		return nil, err
	}
	return c.writeObject(ctx, "replacing", http.MethodPut, path, ref, obj)
}

func (c *Client) writeObject(ctx context.Context, doing, method, path string, ref Ref, obj any) (*metav1.PartialObjectMetadata, error) {
	body, err := json.Marshal(obj)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", ref, err)
	}
	res, err := c.write(ctx, request{
		doing: doing, object: ref.String(), method: method, path: path, query: url.Values{"fieldManager": {FieldManager}},
		// The answer would be the whole object: its contents need not travel back.
		contentType: jsonType, accept: metadataObject + "," + jsonType, body: body,
		sensitive: &redactor{vnfm.NewMask()},
	})
	if err != nil {
		return nil, err
	}
	return decodeMetadata(ref, res.body)
}

// ChangeMetadata sets labels and annotations of an object that still has the given resource
// version, removes those with a nil value, and returns its metadata.
func (c *Client) ChangeMetadata(ctx context.Context, ref Ref, version string, labels, annotations map[string]*string) (*metav1.PartialObjectMetadata, error) {
	path, err := ref.path("")
	if err != nil {
		return nil, err
	}
	body, err := metadataPatch(ref, map[string]any{"resourceVersion": version}, labels, annotations)
	if err != nil {
		return nil, err
	}
	res, err := c.write(ctx, request{
		doing: "changing the metadata of", object: ref.String(),
		method: http.MethodPatch, path: path, query: url.Values{"fieldManager": {FieldManager}},
		contentType: mergePatchType, accept: metadataObject + "," + jsonType, body: body,
	})
	if err != nil {
		return nil, err
	}
	return decodeMetadata(ref, res.body)
}

// DeleteVersion deletes an object that still has the given UID (empty for any) and resource
// version. A changed object is a conflict, a missing one an error for which apierrors.IsNotFound is
// true. Either is also an *UndecidedError if an earlier try of this call may have deleted the
// object.
func (c *Client) DeleteVersion(ctx context.Context, ref Ref, uid types.UID, version string) error {
	path, err := ref.path("")
	if err != nil {
		return err
	}
	options := metav1.DeleteOptions{
		TypeMeta:      metav1.TypeMeta{Kind: "DeleteOptions", APIVersion: "v1"},
		Preconditions: &metav1.Preconditions{ResourceVersion: &version},
	}
	if uid != "" {
		options.Preconditions.UID = &uid
	}
	body, err := json.Marshal(options)
	if err != nil {
		return fmt.Errorf("encoding the deletion of %s: %w", ref, err)
	}
	_, err = c.write(ctx, request{
		doing: "deleting", object: ref.String(), method: http.MethodDelete, path: path,
		contentType: jsonType, body: body,
	})
	return err
}

// write is do for a request whose outcome matters: a failure of unknown outcome is an
// *UndecidedError.
func (c *Client) write(ctx context.Context, r request) (*response, error) {
	if err := ctx.Err(); err != nil {
		return nil, interrupted(r, err, nil)
	}
	var undecided bool
	r.undecided = &undecided
	res, err := c.do(ctx, r)
	if err != nil && undecided {
		return nil, &UndecidedError{Err: err}
	}
	return res, err
}

// isUndecided reports whether a failed try may have reached the server and taken effect.
func isUndecided(err error) bool {
	if server, ok := errors.AsType[*serverError](err); ok {
		return server.code >= http.StatusInternalServerError
	}
	if isPermanentTransport(err) || errors.As(err, new(*SourceError)) {
		return false
	}
	dial, ok := errors.AsType[*net.OpError](err)
	return !ok || dial.Op != "dial"
}

func decodeMetadata(ref Ref, body []byte) (*metav1.PartialObjectMetadata, error) {
	obj := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(body, obj); err != nil {
		return nil, fmt.Errorf("reading the answer for %s: %w", ref, err)
	}
	return obj, nil
}
