package openstack

import (
	"context"
	"fmt"
	"net/http"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/servers"
)

// PropertyKubernetes is the property of an image that says which Kubernetes its nodes bring. Those of a system of nodes have that one.
const PropertyKubernetes = "kube_version"

// PropertySystem is the property of an image that says which system its servers have; they have the plain one without.
const PropertySystem = "lab_system"

// image is a public image of a lab. It boots nothing: it holds a line of text.
type image struct {
	name       string
	kubernetes string
	system     string
}

func images() []image {
	return []image{
		{name: "ubuntu-2204-kube-v1.33.1", kubernetes: "v1.33.1"},
		{name: "ubuntu-2204-kube-v1.32.5", kubernetes: "v1.32.5"},
		{name: "ubuntu-22.04"},
		{name: "ubuntu-22.04-docker", system: servers.SystemDocker},
		{name: "ubuntu-22.04-ansible", system: servers.SystemAnsible},
	}
}

// fillImages makes the images of a lab.
func fillImages(ctx context.Context, f *filling) error {
	f.state.Images = map[string]string{}
	for _, image := range images() {
		id, err := makeImage(ctx, f.admin, address(f.state.Ports, Image)+"/v2/images", image)
		if err != nil {
			return fmt.Errorf("making image %s: %w", image.name, err)
		}
		f.state.Images[image.name] = id
	}
	return nil
}

func makeImage(ctx context.Context, c *client, collection string, image image) (string, error) {
	object := map[string]any{"name": image.name, "disk_format": "raw", "container_format": "bare", "visibility": "public"}
	if image.kubernetes != "" {
		object[PropertyKubernetes] = image.kubernetes
	}
	if image.system != "" {
		object[PropertySystem] = image.system
	}
	var made identified
	if _, err := c.call(ctx, http.MethodPost, collection, object, &made); err != nil {
		return "", err
	}
	_, err := c.call(ctx, http.MethodPut, collection+"/"+made.ID+"/file", []byte("the lab's "+image.name+"\n"), nil)
	return made.ID, err
}
