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

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// pageSize is the number of objects that one LIST request returns.
const pageSize = 500

// ListOptions select objects by the server's own selectors; empty selects all.
type ListOptions struct {
	LabelSelector string
	FieldSelector string
	// AtMost bounds the number of objects: a longer list ends in ErrMore; 0 is no bound.
	AtMost int
}

// ErrMore is returned for a list longer than ListOptions.AtMost.
var ErrMore = errors.New("there are more objects")

func (o ListOptions) query() url.Values {
	q := url.Values{}
	if o.LabelSelector != "" {
		q.Set("labelSelector", o.LabelSelector)
	}
	if o.FieldSelector != "" {
		q.Set("fieldSelector", o.FieldSelector)
	}
	return q
}

// List returns the objects of a kind in a namespace, "" for all namespaces.
func (c *Client) List(ctx context.Context, r Resource, namespace string, o ListOptions) ([]unstructured.Unstructured, error) {
	out, _, err := c.ListVersion(ctx, r, namespace, o)
	return out, err
}

// ListVersion is List, and returns the resource version of the list as well.
func (c *Client) ListVersion(ctx context.Context, r Resource, namespace string, o ListOptions) ([]unstructured.Unstructured, string, error) {
	items, version, err := listAll[map[string]any](ctx, c, listRequest{resource: r, namespace: namespace, options: o, decode: utiljson.Unmarshal})
	var out []unstructured.Unstructured
	for _, fields := range items {
		out = append(out, unstructured.Unstructured{Object: ofKind(fields, r)})
	}
	return out, version, err
}

// ListMetadata returns the metadata, managed fields included, of the objects of a
// kind in a namespace, "" for all namespaces.
func (c *Client) ListMetadata(ctx context.Context, r Resource, namespace string, o ListOptions) ([]metav1.PartialObjectMetadata, error) {
	out, _, err := c.ListMetadataVersion(ctx, r, namespace, o)
	return out, err
}

// ListMetadataVersion is ListMetadata, and returns the resource version of the list as well.
func (c *Client) ListMetadataVersion(ctx context.Context, r Resource, namespace string, o ListOptions) ([]metav1.PartialObjectMetadata, string, error) {
	out, version, err := listAll[metav1.PartialObjectMetadata](ctx, c, listRequest{resource: r, namespace: namespace, options: o, accept: metadataList + "," + jsonType})
	for i := range out {
		out[i].TypeMeta = metav1.TypeMeta{Kind: r.GVK.Kind, APIVersion: r.GVK.GroupVersion().String()}
	}
	return out, version, err
}

// decodeItem decodes an object of kind r inside another answer, such as an event of a watch.
func decodeItem(raw json.RawMessage, r Resource, into *unstructured.Unstructured) error {
	fields := map[string]any{}
	if err := utiljson.Unmarshal(raw, &fields); err != nil {
		return err
	}
	into.Object = ofKind(fields, r)
	return nil
}

// ofKind sets the kind of a list item: items of built-in kinds lack it, and unstructured objects
// need it.
func ofKind(fields map[string]any, r Resource) map[string]any {
	if fields == nil {
		fields = map[string]any{}
	}
	fields["kind"] = r.GVK.Kind
	fields["apiVersion"] = r.GVK.GroupVersion().String()
	return fields
}

// listRequest asks for the objects of a kind in a namespace, "" for all namespaces.
type listRequest struct {
	resource  Resource
	namespace string
	options   ListOptions
	// accept is the media type of the answer; empty is JSON.
	accept string
	// decode decodes a page; nil is json.Unmarshal.
	decode func([]byte, any) error
}

// listAll returns the items of a list, and its resource version.
func listAll[T any](ctx context.Context, c *Client, l listRequest) ([]T, string, error) {
	var out []T
	version, err := listPages(ctx, c, l, func(item *T) error {
		out = append(out, *item)
		return nil
	}, func() { out = nil })
	return out, version, err
}

// listPages reads a list page by page, calls item with each object, and returns the resource
// version of the list. A list that expires between two pages starts again, after a call of reset.
func listPages[T any](ctx context.Context, c *Client, l listRequest, item func(*T) error, reset func()) (string, error) {
	decode := l.decode
	if decode == nil {
		decode = json.Unmarshal
	}
	object := "the objects of kind " + l.resource.GVK.Kind
	if l.namespace != "" {
		object += " in namespace " + l.namespace
	}
	query := l.options.query()
	query.Set("limit", strconv.Itoa(cmp.Or(l.options.AtMost, pageSize)))
	for {
		res, err := c.do(ctx, request{
			doing: "listing", object: object,
			method: http.MethodGet, path: l.resource.collectionPath(l.namespace), query: query, accept: cmp.Or(l.accept, jsonType),
			metadata: l.accept != "",
		})
		if apierrors.IsResourceExpired(err) && query.Has("continue") {
			query.Del("continue")
			reset()
			continue
		}
		if err != nil {
			return "", err
		}
		var page struct {
			Metadata metav1.ListMeta `json:"metadata"`
			Items    []T             `json:"items"`
		}
		if err := decode(res.body, &page); err != nil {
			return "", fmt.Errorf("reading the answer to listing %s: %w", object, err)
		}
		for i := range page.Items {
			if err := item(&page.Items[i]); err != nil {
				return "", fmt.Errorf("reading the answer to listing %s: %w", object, err)
			}
		}
		switch {
		case page.Metadata.Continue == "":
			return page.Metadata.ResourceVersion, nil
		case l.options.AtMost > 0:
			return "", fmt.Errorf("listing %s: %w", object, ErrMore)
		}
		query.Set("continue", page.Metadata.Continue)
	}
}
