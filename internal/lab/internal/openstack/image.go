package openstack

import (
	"context"
	"fmt"
	"net/http"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
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

// fillImages makes the images of a lab.
func fillImages(ctx context.Context, admin *client, state *layout.OpenStack) error {
	state.Images = map[string]string{}
	for _, image := range images() {
		id, err := makeImage(ctx, admin, address(state.Ports, Image)+"/v2/images", image)
		if err != nil {
			return fmt.Errorf("making image %s: %w", image.name, err)
		}
		state.Images[image.name] = id
	}
	return nil
}

func makeImage(ctx context.Context, c *client, collection string, image image) (string, error) {
	object := map[string]any{"name": image.name, "disk_format": "raw", "container_format": "bare", "visibility": "public"}
	if image.kubernetes != "" {
		object[PropertyKubernetes] = image.kubernetes
	}
	var made struct {
		ID string `json:"id"`
	}
	if _, err := c.call(ctx, http.MethodPost, collection, object, &made); err != nil {
		return "", err
	}
	_, err := c.call(ctx, http.MethodPut, collection+"/"+made.ID+"/file", []byte("the lab's "+image.name+"\n"), nil)
	return made.ID, err
}
