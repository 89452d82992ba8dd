package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
)

// ApplyOptions modify a server-side apply.
type ApplyOptions struct {
	// FieldManager owns the fields of the object; empty means the constant FieldManager.
	FieldManager string
	// Force takes over fields that other managers own.
	Force bool
	// DryRun makes the server do everything but store the object. The answer must be a current one,
	// so failures are retried for a short time only.
	DryRun bool
	// Subresource is "scale" or "status", empty for the object itself.
	Subresource string
}

// FieldConflict is one field that another manager owns.
type FieldConflict struct {
	Manager string
	// Field is the path as the server writes it, for example ".spec.replicas".
	Field string
}

// ConflictError means that an apply would change fields that other managers own.
type ConflictError struct {
	Ref       Ref
	Conflicts []FieldConflict
	// Dropped is set if the manifest no longer has the fields.
	Dropped bool
	Err     error
}

func (e *ConflictError) Error() string {
	parts := make([]string, 0, len(e.Conflicts))
	for _, c := range e.Conflicts {
		parts = append(parts, fmt.Sprintf("%s (owned by %q)", c.Field, c.Manager))
	}
	if e.Dropped {
		return fmt.Sprintf("%s: other managers own fields that the manifest has dropped: %s; have them drop the fields, or take them over with force_conflicts", e.Ref, strings.Join(parts, ", "))
	}
	return fmt.Sprintf("%s: other managers own fields that the manifest sets: %s; remove the fields from the manifest, or take them over with force_conflicts", e.Ref, strings.Join(parts, ", "))
}

func (e *ConflictError) Unwrap() error { return e.Err }

// Apply creates or changes an object by server-side apply and returns the stored object. The server
// rejects unknown and duplicate fields (strict field validation). Fields of other managers are a
// *ConflictError; transient failures are retried within ctx.
func (c *Client) Apply(ctx context.Context, ref Ref, obj map[string]any, o ApplyOptions) (*unstructured.Unstructured, error) {
	path, err := ref.path(o.Subresource)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(obj)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", ref, err)
	}
	manager := cmp.Or(o.FieldManager, FieldManager)
	query := url.Values{
		"fieldManager":    {manager},
		"force":           {strconv.FormatBool(o.Force)},
		"fieldValidation": {metav1.FieldValidationStrict},
	}
	r := request{
		doing: "applying", object: ref.String(),
		method: http.MethodPatch, path: path, query: query,
		contentType: applyPatchType, body: body,
		sensitive: secretRedactor(ref.Resource, obj), writes: true,
	}
	if o.DryRun {
		query.Set("dryRun", metav1.DryRunAll)
		once := c.retry.once()
		r.policy = &once
	}
	res, err := c.do(ctx, r)
	if err != nil {
		return nil, conflictOf(ref, err)
	}
	return decodeObject(ref, res.body)
}

// TryCreate asks the server whether it would create an object, without storing it. A valid object
// with an existing name is an error for which apierrors.IsAlreadyExists is true.
func (c *Client) TryCreate(ctx context.Context, ref Ref, obj map[string]any) error {
	body, err := json.Marshal(obj)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", ref, err)
	}
	once := c.retry.once()
	_, err = c.do(ctx, request{
		doing: "trying to create", object: ref.String(),
		method: http.MethodPost, path: ref.Resource.collectionPath(ref.Namespace),
		query:       url.Values{"fieldManager": {FieldManager}, "fieldValidation": {metav1.FieldValidationStrict}, "dryRun": {metav1.DryRunAll}},
		contentType: jsonType, accept: metadataObject + "," + jsonType, body: body,
		sensitive: secretRedactor(ref.Resource, obj), policy: &once,
	})
	return err
}

// Get reads an object.
func (c *Client) Get(ctx context.Context, ref Ref) (*unstructured.Unstructured, error) {
	return read(ctx, c, ref, decodeObject)
}

// read reads and decodes an object.
func read[T any](ctx context.Context, c *Client, ref Ref, decode func(Ref, []byte) (*T, error)) (*T, error) {
	path, err := ref.path("")
	if err != nil {
		return nil, err
	}
	res, err := c.do(ctx, request{doing: "reading", object: ref.String(), method: http.MethodGet, path: path})
	if err != nil {
		return nil, err
	}
	return decode(ref, res.body)
}

func decodeObject(ref Ref, body []byte) (*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{}
	if err := obj.UnmarshalJSON(body); err != nil {
		return nil, fmt.Errorf("reading the answer for %s: %w", ref, err)
	}
	return obj, nil
}

// DeleteOptions modify a deletion.
type DeleteOptions struct {
	// UID is the UID of the object to delete; empty means any object of the name.
	UID types.UID
	// ResourceVersion is the version of the object to delete; empty means any. With a version,
	// conflicts are returned and not retried.
	ResourceVersion string
	// GracePeriod is in seconds; nil means the kind's default.
	GracePeriod *int64
	// Propagation is the treatment of dependents; empty means the kind's default.
	Propagation metav1.DeletionPropagation
}

// encode returns the body of the request.
func (o DeleteOptions) encode() ([]byte, error) {
	options := metav1.DeleteOptions{
		TypeMeta:           metav1.TypeMeta{Kind: "DeleteOptions", APIVersion: "v1"},
		GracePeriodSeconds: o.GracePeriod,
	}
	if o.UID != "" || o.ResourceVersion != "" {
		options.Preconditions = &metav1.Preconditions{}
		if o.UID != "" {
			options.Preconditions.UID = &o.UID
		}
		if o.ResourceVersion != "" {
			options.Preconditions.ResourceVersion = &o.ResourceVersion
		}
	}
	if o.Propagation != "" {
		options.PropagationPolicy = &o.Propagation
	}
	return json.Marshal(options)
}

// Delete removes an object. A missing object, or one with another UID than the given one, is
// success.
func (c *Client) Delete(ctx context.Context, ref Ref, o DeleteOptions) error {
	path, err := ref.path("")
	if err != nil {
		return err
	}
	body, err := o.encode()
	if err != nil {
		return fmt.Errorf("encoding the deletion of %s: %w", ref, err)
	}
	r := request{
		doing: "deleting", object: ref.String(),
		method: http.MethodDelete, path: path, contentType: jsonType, body: body,
	}
	for tries := 1; ; tries++ {
		_, err = c.do(ctx, r)
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case !apierrors.IsConflict(err), o.ResourceVersion != "":
			return err
		}
		// The cause of the conflict is the UID, or a concurrent change.
		if o.UID != "" {
			same, lookErr := c.isThere(ctx, ref, o.UID)
			if lookErr != nil || !same {
				return lookErr
			}
		}
		if tries == c.retry.attempts {
			return err
		}
		if sleepErr := poll.Sleep(ctx, c.retry.backoff(tries)); sleepErr != nil {
			return fmt.Errorf("deleting %s: %w; the last answer was: %w", ref, sleepErr, err)
		}
	}
}

// DeleteCollection removes the objects of a kind in a namespace that match a selector, with one
// request. If it fails, it may have removed some.
func (c *Client) DeleteCollection(ctx context.Context, r Resource, namespace, labelSelector string, o DeleteOptions) error {
	body, err := o.encode()
	if err != nil {
		return fmt.Errorf("encoding the deletion of objects of kind %s: %w", r.GVK.Kind, err)
	}
	_, err = c.do(ctx, request{
		doing: "deleting", object: "the objects of kind " + r.GVK.Kind,
		method: http.MethodDelete, path: r.collectionPath(namespace), query: url.Values{"labelSelector": {labelSelector}},
		// The answer lists the objects: their contents need not travel, and a Secret's must not.
		contentType: jsonType, accept: metadataList + "," + jsonType, body: body,
	})
	return err
}

// isThere reports whether the object of that name has that UID.
func (c *Client) isThere(ctx context.Context, ref Ref, uid types.UID) (bool, error) {
	obj, err := c.Get(ctx, ref)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return obj.GetUID() == uid, nil
}

// PatchMetadata sets labels and annotations, and removes those whose value is nil.
func (c *Client) PatchMetadata(ctx context.Context, ref Ref, labels, annotations map[string]*string) error {
	path, err := ref.path("")
	if err != nil {
		return err
	}
	body, err := metadataPatch(ref, map[string]any{}, labels, annotations)
	if err != nil {
		return err
	}
	_, err = c.do(ctx, request{
		doing: "changing the metadata of", object: ref.String(),
		method: http.MethodPatch, path: path, query: url.Values{"fieldManager": {FieldManager}},
		contentType: mergePatchType, accept: metadataObject, body: body, writes: true,
	})
	return err
}

// metadataPatch encodes a merge patch of metadata with labels and annotations.
func metadataPatch(ref Ref, metadata map[string]any, labels, annotations map[string]*string) ([]byte, error) {
	if len(labels) > 0 {
		metadata["labels"] = labels
	}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	body, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return nil, fmt.Errorf("encoding the metadata of %s: %w", ref, err)
	}
	return body, nil
}

// SetManagedFields replaces the managed fields of an object in the given version, and nothing else.
// An object that has changed since is a conflict.
func (c *Client) SetManagedFields(ctx context.Context, ref Ref, version string, entries []metav1.ManagedFieldsEntry) error {
	path, err := ref.path("")
	if err != nil {
		return err
	}
	body, err := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/managedFields", "value": entries},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": version},
	})
	if err != nil {
		return fmt.Errorf("encoding the owners of the fields of %s: %w", ref, err)
	}
	_, err = c.do(ctx, request{
		doing: "taking over fields of", object: ref.String(),
		method: http.MethodPatch, path: path, query: url.Values{"fieldManager": {FieldManager}},
		contentType: jsonPatchType, accept: metadataObject, body: body,
	})
	return err
}

// conflictOf converts the server's report of foreign fields to a *ConflictError.
func conflictOf(ref Ref, err error) error {
	var server *serverError
	if !errors.As(err, &server) {
		return err
	}
	if conflicts := fieldConflicts(&server.ErrStatus); len(conflicts) > 0 {
		return &ConflictError{Ref: ref, Conflicts: conflicts, Err: err}
	}
	return err
}

// conflictManager finds the manager in `conflict with "kubectl" using apps/v1`.
var conflictManager = lazyregexp.New(`conflict with ("(?:[^"\\]|\\.)*")`)

func fieldConflicts(s *metav1.Status) []FieldConflict {
	if s.Reason != metav1.StatusReasonConflict || s.Details == nil {
		return nil
	}
	var out []FieldConflict
	for _, cause := range s.Details.Causes {
		if cause.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		f := FieldConflict{Manager: "unknown", Field: cause.Field}
		if m := conflictManager.FindStringSubmatch(cause.Message); m != nil {
			if name, err := strconv.Unquote(m[1]); err == nil {
				f.Manager = name
			}
		}
		out = append(out, f)
	}
	return out
}
