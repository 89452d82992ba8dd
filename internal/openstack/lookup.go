package openstack

import (
	"context"
	"fmt"
	"maps"
	"net/url"
)

// A lookup finds an object by its id, or else by its name. A missing object gives no
// result and no error.

// Image is an image of Glance.
type Image struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status"`
	// KubeVersion and OSDistro are properties by which an image says what nodes it makes.
	KubeVersion string `json:"kube_version"`
	OSDistro    string `json:"os_distro"`
}

// Flavor is a flavor of Nova.
type Flavor struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	RAM   int    `json:"ram"`
	VCPUs int    `json:"vcpus"`
	Disk  int    `json:"disk"`
	// ExtraSpecs are there where AllFlavors made it.
	ExtraSpecs map[string]string `json:"extra_specs"`
}

// Named is something that is known by id and name alone.
type Named struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Images finds images.
func (c *Client) Images(ctx context.Context, id, name string) ([]Image, error) {
	doing := looking("image", id, name)
	if id != "" {
		var one Image
		return found(&one, c.do(ctx, call{doing: doing, service: ServiceImage, path: "/images/" + url.PathEscape(id), out: &one}))
	}
	return list[Image](ctx, c, call{doing: doing, service: ServiceImage, path: "/images", query: url.Values{"name": {name}}}, "images")
}

// Flavors finds flavors. Nova has no search for a name.
func (c *Client) Flavors(ctx context.Context, id, name string) ([]Flavor, error) {
	doing := looking("flavor", id, name)
	if id != "" {
		var one struct {
			Flavor Flavor `json:"flavor"`
		}
		err := c.do(ctx, call{doing: doing, service: ServiceCompute, path: "/flavors/" + url.PathEscape(id), out: &one})
		return found(&one.Flavor, err)
	}
	all, err := list[Flavor](ctx, c, call{doing: doing, service: ServiceCompute, path: "/flavors/detail"}, "flavors")
	var out []Flavor
	for _, f := range all {
		if f.Name == name {
			out = append(out, f)
		}
	}
	return out, err
}

// Keypairs finds key pairs of the user.
func (c *Client) Keypairs(ctx context.Context, name string) ([]Named, error) {
	// Its id is a number, and nothing is found by it.
	var one struct {
		Keypair struct {
			Name string `json:"name"`
		} `json:"keypair"`
	}
	err := c.do(ctx, call{doing: looking("key pair", "", name), service: ServiceCompute, path: "/os-keypairs/" + url.PathEscape(name), out: &one})
	return found(&Named{Name: one.Keypair.Name}, err)
}

// Room is how much of something a project may have, and has. Without a limit Most is below
// zero.
type Room struct{ Most, Used int }

// Quota is what servers need of the quota of their project.
type Quota struct {
	// RAM is in MiB.
	Instances, VCPUs, RAM Room
}

// Quota reads the quota of Nova and what of it is used.
func (c *Client) Quota(ctx context.Context) (*Quota, error) {
	var got struct {
		Limits struct {
			Absolute map[string]int `json:"absolute"`
		} `json:"limits"`
	}
	if err := c.do(ctx, call{doing: "reading the quota", service: ServiceCompute, path: "/limits", out: &got}); err != nil {
		return nil, err
	}
	room := func(most, used string) Room {
		r := Room{Most: -1, Used: got.Limits.Absolute[used]}
		if m, ok := got.Limits.Absolute[most]; ok {
			r.Most = m
		}
		return r
	}
	return &Quota{
		Instances: room("maxTotalInstances", "totalInstancesUsed"),
		VCPUs:     room("maxTotalCores", "totalCoresUsed"),
		RAM:       room("maxTotalRAMSize", "totalRAMUsed"),
	}, nil
}

// Networks finds networks.
func (c *Client) Networks(ctx context.Context, id, name string) ([]Named, error) {
	return c.neutron(ctx, "network", id, name, nil)
}

// ExternalNetworks finds networks that floating IPs come from.
func (c *Client) ExternalNetworks(ctx context.Context, id, name string) ([]Named, error) {
	return c.neutron(ctx, "network", id, name, url.Values{"router:external": {"true"}})
}

// Subnets finds subnets of a network, or of all networks when that is empty.
func (c *Client) Subnets(ctx context.Context, network, id, name string) ([]Named, error) {
	query := url.Values{}
	if network != "" {
		query.Set("network_id", network)
	}
	return c.neutron(ctx, "subnet", id, name, query)
}

func (c *Client) neutron(ctx context.Context, kind, id, name string, more url.Values) ([]Named, error) {
	query := url.Values{"name": {name}}
	if id != "" {
		// Neutron answers a search, so that what is not there is no error.
		query = url.Values{"id": {id}}
	}
	maps.Copy(query, more)
	return list[Named](ctx, c, call{doing: looking(kind, id, name), service: ServiceNetwork, path: "/" + kind + "s", query: query}, kind+"s")
}

func looking(kind, id, name string) string {
	if id != "" {
		return fmt.Sprintf("looking for %s %s", kind, id)
	}
	return fmt.Sprintf("looking for %s %q", kind, name)
}

// found makes a list of one, or none when it is not there.
func found[T any](one *T, err error) ([]T, error) {
	if IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []T{*one}, nil
}
