package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/flavors"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	corev1 "k8s.io/api/core/v1"
	cloudprovider "k8s.io/cloud-provider"
)

// instances are the servers that nodes are.
type instances struct{ *cloud }

// InstanceExists tells whether the server of a node is there.
func (i instances) InstanceExists(ctx context.Context, node *corev1.Node) (bool, error) {
	server, err := i.find(ctx, node)
	return server != nil, err
}

// InstanceShutdown tells whether the server of a node was stopped.
func (i instances) InstanceShutdown(ctx context.Context, node *corev1.Node) (bool, error) {
	server, err := i.find(ctx, node)
	if err == nil && server == nil {
		err = cloudprovider.InstanceNotFound
	}
	return err == nil && server.Status == "SHUTOFF", err
}

// InstanceMetadata is what the server of a node says of it.
func (i instances) InstanceMetadata(ctx context.Context, node *corev1.Node) (*cloudprovider.InstanceMetadata, error) {
	server, err := i.find(ctx, node)
	if err != nil {
		return nil, err
	}
	if server == nil {
		return nil, cloudprovider.InstanceNotFound
	}
	addresses, err := addressesOf(server)
	if err != nil {
		return nil, err
	}
	flavor, err := i.flavor(ctx, server)
	if err != nil {
		return nil, err
	}
	return &cloudprovider.InstanceMetadata{
		ProviderID: providerName + ":///" + server.ID, InstanceType: flavor, NodeAddresses: addresses,
		Zone: server.AvailabilityZone, Region: i.settings.Global.Region,
	}, nil
}

// find is the server of a node: that of its providerID, else the one of its name. It is nil when there is none.
func (i instances) find(ctx context.Context, node *corev1.Node) (*servers.Server, error) {
	if node.Spec.ProviderID != "" {
		id := node.Spec.ProviderID[strings.LastIndex(node.Spec.ProviderID, "/")+1:]
		server, err := servers.Get(ctx, i.compute, id).Extract()
		if gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading server %s: %w", id, err)
		}
		return server, nil
	}
	pages, err := servers.List(i.compute, servers.ListOpts{Name: "^" + regexp.QuoteMeta(node.Name) + "$"}).AllPages(ctx)
	if err != nil {
		return nil, fmt.Errorf("looking for server %s: %w", node.Name, err)
	}
	found, err := servers.ExtractServers(pages)
	if err != nil {
		return nil, fmt.Errorf("looking for server %s: %w", node.Name, err)
	}
	if len(found) > 1 {
		return nil, fmt.Errorf("%d servers are called %s", len(found), node.Name)
	}
	if len(found) == 0 {
		return nil, nil
	}
	return &found[0], nil
}

// addressesOf are those of a server, network by network.
func addressesOf(server *servers.Server) ([]corev1.NodeAddress, error) {
	text, err := json.Marshal(server.Addresses)
	if err != nil {
		return nil, fmt.Errorf("encoding the addresses of server %s: %w", server.ID, err)
	}
	networks := map[string][]struct {
		Address string `json:"addr"`
		Kind    string `json:"OS-EXT-IPS:type"`
	}{}
	if err := json.Unmarshal(text, &networks); err != nil {
		return nil, fmt.Errorf("reading the addresses of server %s: %w", server.ID, err)
	}
	var out []corev1.NodeAddress
	for _, name := range slices.Sorted(maps.Keys(networks)) {
		for _, address := range networks[name] {
			kind := corev1.NodeInternalIP
			if address.Kind == "floating" {
				kind = corev1.NodeExternalIP
			}
			out = append(out, corev1.NodeAddress{Type: kind, Address: address.Address})
		}
	}
	return out, nil
}

// flavor is the name of a server's flavor, which newer versions of Nova's API say themselves.
func (i instances) flavor(ctx context.Context, server *servers.Server) (string, error) {
	if name, ok := server.Flavor["original_name"].(string); ok {
		return name, nil
	}
	id, _ := server.Flavor["id"].(string)
	flavor, err := flavors.Get(ctx, i.compute, id).Extract()
	if gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
		return id, nil
	}
	if err != nil {
		return "", fmt.Errorf("reading the flavor of server %s: %w", server.ID, err)
	}
	return flavor.Name, nil
}
