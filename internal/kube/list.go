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
	// AtMost has a list of more objects end in ErrMore; 0 is no bound.
	AtMost int
}

// ErrMore is returned for a list of more objects than it may have.
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
	var out []unstructured.Unstructured
	version, err := listPages(ctx, c, r, namespace, o, jsonType, utiljson.Unmarshal, func(fields *map[string]any) error {
		out = append(out, unstructured.Unstructured{Object: ofKind(*fields, r)})
		return nil
	}, func() { out = nil })
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
	var out []metav1.PartialObjectMetadata
	version, err := listPages(ctx, c, r, namespace, o, metadataList+","+jsonType, json.Unmarshal, func(obj *metav1.PartialObjectMetadata) error {
		obj.TypeMeta = metav1.TypeMeta{Kind: r.GVK.Kind, APIVersion: r.GVK.GroupVersion().String()}
		out = append(out, *obj)
		return nil
	}, func() { out = nil })
	return out, version, err
}

// decodeItem decodes an object of a kind that is in an answer of another one.
func decodeItem(raw json.RawMessage, r Resource, into *unstructured.Unstructured) error {
	fields := map[string]any{}
	if err := utiljson.Unmarshal(raw, &fields); err != nil {
		return err
	}
	into.Object = ofKind(fields, r)
	return nil
}

// ofKind completes the fields of an item of a list: those of built-in kinds carry no kind of
// their own, which unstructured objects need.
func ofKind(fields map[string]any, r Resource) map[string]any {
	if fields == nil {
		fields = map[string]any{}
	}
	fields["kind"] = r.GVK.Kind
	fields["apiVersion"] = r.GVK.GroupVersion().String()
	return fields
}

// listPages reads a list page by page and returns its resource version. A page is decoded once, its items are those of item. A list
// that expires between two pages is begun again, after a call of reset.
func listPages[T any](
	ctx context.Context, c *Client, r Resource, namespace string, o ListOptions, accept string, decode func([]byte, any) error, item func(*T) error, reset func(),
) (string, error) {
	object := "the objects of kind " + r.GVK.Kind
	if namespace != "" {
		object += " in namespace " + namespace
	}
	query := o.query()
	query.Set("limit", strconv.Itoa(cmp.Or(o.AtMost, pageSize)))
	for {
		res, err := c.do(ctx, request{
			doing: "listing", object: object,
			method: http.MethodGet, path: r.collectionPath(namespace), query: query, accept: accept,
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
		case o.AtMost > 0:
			return "", fmt.Errorf("listing %s: %w", object, ErrMore)
		}
		query.Set("continue", page.Metadata.Continue)
	}
}
