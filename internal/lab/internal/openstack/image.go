package openstack

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// PropertyKubernetes is the property of an image that says which Kubernetes its nodes bring.
const PropertyKubernetes = "kube_version"

// image is a public image of a lab. It boots nothing: it holds a line of text.
type image struct {
	name       string
	kubernetes string
}

func images() []image {
	return []image{
		{name: "ubuntu-2204-kube-v1.33.1", kubernetes: "v1.33.1"},
		{name: "ubuntu-2204-kube-v1.32.5", kubernetes: "v1.32.5"},
		{name: "ubuntu-22.04"},
	}
}

// fillImages makes the images of a lab and returns their identifiers by name. It may run again on a lab that has them.
func fillImages(ctx context.Context, c *client, glance string) (map[string]string, error) {
	made := map[string]string{}
	for _, image := range images() {
		id, err := ensureImage(ctx, c, glance, image)
		if err != nil {
			return nil, fmt.Errorf("making image %s: %w", image.name, err)
		}
		made[image.name] = id
	}
	return made, nil
}

func ensureImage(ctx context.Context, c *client, glance string, image image) (string, error) {
	type found struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	}
	var list struct {
		Images []found `json:"images"`
	}
	if _, err := c.call(ctx, http.MethodGet, glance+"/v2/images?"+url.Values{"name": {image.name}}.Encode(), nil, &list); err != nil {
		return "", err
	}
	var present found
	if len(list.Images) > 0 {
		present = list.Images[0]
	} else {
		object := map[string]any{"name": image.name, "disk_format": "raw", "container_format": "bare", "visibility": "public"}
		if image.kubernetes != "" {
			object[PropertyKubernetes] = image.kubernetes
		}
		if _, err := c.call(ctx, http.MethodPost, glance+"/v2/images", object, &present); err != nil {
			return "", err
		}
	}
	if present.Status != "queued" {
		return present.ID, nil
	}
	_, err := c.call(ctx, http.MethodPut, glance+"/v2/images/"+present.ID+"/file", []byte("the lab's "+image.name+"\n"), nil)
	return present.ID, err
}
