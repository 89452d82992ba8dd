package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/google/uuid"
	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// apiPort is the port of the API server on masters.
const apiPort = 6443

// Endpoint returns the host and port of the API server for clients outside the cluster: the virtual address of its load balancers, the
// load balancer, or the first master.
func (c *Cluster) Endpoint(ctx context.Context) (string, error) {
	if c.LoadBalancer != nil {
		port := strconv.Itoa(c.LoadBalancer.APIPort)
		if c.LoadBalancer.Virtual.IsValid() {
			return net.JoinHostPort(c.LoadBalancer.Virtual.String(), port), nil
		}
		all, err := c.balancers(ctx)
		if err != nil {
			return "", err
		}
		return net.JoinHostPort(all[0].Address, port), nil
	}
	return net.JoinHostPort(c.Nodes(Master)[0].Cluster, strconv.Itoa(apiPort)), nil
}

// vimSpace is the UUID namespace for the ids of VIMs that instances register.
var vimSpace = uuid.MustParse("8f2a6a0e-6c0b-4b57-9a39-0f6f6c1f2a51")

// register registers the cluster as a VIM, always under the same id.
func (c *Cluster) register(ctx context.Context) error {
	raw, err := c.kubeconfig(ctx)
	if err != nil {
		return err
	}
	sum := digest.Keyed(c.Call.DigestKey, raw)
	i := c.Call.Instance
	if c.state.Registered == sum && i.RegisteredVIMID != "" {
		return nil
	}
	name := cmp.Or(c.VIMName, "kubernetes_vim_"+i.ID)
	c.Progress(ctx, "registering the cluster as VIM %q", name)
	id := uuid.NewSHA1(vimSpace, []byte(i.ID)).String()
	v, _, err := c.Call.VIMs.RegisterVIM(ctx, id, vnfm.VIMSpec{
		Name: name, Description: "Kubernetes cluster of VNF instance " + i.Name, Type: vnfm.VIMTypeKubernetes, Kubernetes: &vnfm.KubernetesConnection{},
		Credentials: vnfm.Credentials{vnfm.CredentialKubeconfig: vnfm.Secret(raw)}, Rebuilt: true,
		// This share keeps the VIM if a vnf_vim that shares or has imported it is destroyed.
		Share: vnfm.InstanceShare(i.ID),
	})
	if err != nil {
		return fmt.Errorf("registering the cluster as VIM %q: %w", name, err)
	}
	i.RegisteredVIMID, c.state.Registered = v.ID, sum
	return c.Save(ctx)
}

// deregister removes the VIM before its servers are deleted. A VIM with instances cannot be removed, which also keeps the cluster.
func (c *Cluster) deregister(ctx context.Context) error {
	id := c.Call.Instance.RegisteredVIMID
	if id == "" {
		return nil
	}
	if err := c.Call.VIMs.DeregisterVIM(ctx, id); err != nil {
		return fmt.Errorf("deregistering the VIM that the cluster is: %w", err)
	}
	c.Call.Instance.RegisteredVIMID, c.state.Registered = "", ""
	return c.Save(ctx)
}

// kubeconfig reads the administrator's kubeconfig from a master and replaces its server by Endpoint. Its CA stays, so that clients
// verify the certificate of the API server.
func (c *Cluster) kubeconfig(ctx context.Context) ([]byte, error) {
	n, client, err := c.Living(ctx, nil)
	if err != nil {
		return nil, err
	}
	raw, err := client.ReadFile(ctx, AdminConfig, true)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of the cluster from node %s: %w", n.Name, err)
	}
	endpoint, err := c.Endpoint(ctx)
	if err != nil {
		return nil, err
	}
	var doc map[string]any
	// The error of the parser is left out: it would quote the file.
	if yaml.Unmarshal(raw, &doc) != nil {
		return nil, fmt.Errorf("%s on node %s is not a kubeconfig", AdminConfig, n.Name)
	}
	clusters, _ := doc["clusters"].([]any)
	named := false
	for _, entry := range clusters {
		item, _ := entry.(map[string]any)
		if cluster, ok := item["cluster"].(map[string]any); ok {
			cluster["server"], named = "https://"+endpoint, true
		}
	}
	if !named {
		return nil, fmt.Errorf("%s on node %s names no cluster", AdminConfig, n.Name)
	}
	out, err := yaml.Marshal(doc)
	if err != nil {
		return nil, errors.New("the kubeconfig of the cluster cannot be written")
	}
	return out, nil
}
