package kube

import (
	"context"
	"encoding/json"
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
}

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
	version, err := c.listPages(ctx, r, namespace, o, jsonType, func(raw json.RawMessage) error {
		var obj unstructured.Unstructured
		if err := decodeItem(raw, r, &obj); err != nil {
			return err
		}
		out = append(out, obj)
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
	version, err := c.listPages(ctx, r, namespace, o, metadataList+","+jsonType, func(raw json.RawMessage) error {
		var obj metav1.PartialObjectMetadata
		if err := json.Unmarshal(raw, &obj); err != nil {
			return err
		}
		obj.TypeMeta = metav1.TypeMeta{Kind: r.GVK.Kind, APIVersion: r.GVK.GroupVersion().String()}
		out = append(out, obj)
		return nil
	}, func() { out = nil })
	return out, version, err
}

// decodeItem decodes an item of a list. Items of built-in kinds carry no kind of
// their own, which unstructured objects need.
func decodeItem(raw json.RawMessage, r Resource, into *unstructured.Unstructured) error {
	fields := map[string]any{}
	if err := utiljson.Unmarshal(raw, &fields); err != nil {
		return err
	}
	fields["kind"] = r.GVK.Kind
	fields["apiVersion"] = r.GVK.GroupVersion().String()
	into.Object = fields
	return nil
}

// listPages reads a list page by page and returns its resource version. A list
// that expires between two pages is begun again, after a call of reset.
func (c *Client) listPages(ctx context.Context, r Resource, namespace string, o ListOptions, accept string, item func(json.RawMessage) error, reset func()) (string, error) {
	object := "the objects of kind " + r.GVK.Kind
	if namespace != "" {
		object += " in namespace " + namespace
	}
	query := o.query()
	query.Set("limit", strconv.Itoa(pageSize))
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
			Metadata metav1.ListMeta   `json:"metadata"`
			Items    []json.RawMessage `json:"items"`
		}
		if err := json.Unmarshal(res.body, &page); err != nil {
			return "", fmt.Errorf("reading the answer to listing %s: %w", object, err)
		}
		for _, raw := range page.Items {
			if err := item(raw); err != nil {
				return "", fmt.Errorf("reading the answer to listing %s: %w", object, err)
			}
		}
		if page.Metadata.Continue == "" {
			return page.Metadata.ResourceVersion, nil
		}
		query.Set("continue", page.Metadata.Continue)
	}
}
