package heat

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/hot"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// serverType is the type of resource that a VNFC is.
const serverType = "OS::Nova::Server"

// component is a VNFC: a server of the stack.
type component struct {
	vdu string
	// resource is the server's in its stack, root the resource of the top-level stack that
	// it is, or is below.
	resource *openstack.StackResource
	root     string
	// server is nil when Nova does not have it (any more).
	server *openstack.Server
}

// id is that of the VNFC, as Tacker's users know it.
func (c *component) id() string { return c.vdu + "-" + c.resource.PhysicalID }

// components finds the VNFCs of the VDUs in the order of VDU, age and id. A resource that
// has no server yet, or none any more by Heat's own knowledge, is one without a server.
func (s *session) components(l *live) []*component {
	if l == nil || s.source == nil {
		return nil
	}
	vdus := l.owners(s.source)
	var out []*component
	for i := range l.resources {
		r := &l.resources[i]
		if r.Type != serverType {
			continue
		}
		root := l.rootOf(r)
		vdu, ok := vdus(root, r)
		if !ok {
			continue
		}
		out = append(out, &component{vdu: vdu, resource: r, root: root, server: l.servers[r.PhysicalID]})
	}
	slices.SortFunc(out, func(a, b *component) int {
		if order := strings.Compare(a.vdu, b.vdu); order != 0 {
			return order
		}
		if order := a.resource.CreatedAt.Compare(b.resource.CreatedAt.Time); order != 0 {
			return order
		}
		return strings.Compare(a.id(), b.id())
	})
	return out
}

// owners tells which VDU a server is of, by the resource of the top-level stack that it is
// in: a copy of the VDU, or its group. A group with several VDUs in its members has their
// servers by their names.
func (l *live) owners(source *hot.Source) func(root string, server *openstack.StackResource) (string, bool) {
	byRoot := map[string][]string{}
	for id, vdu := range source.VDUs {
		if vdu.Form == hot.Grouped {
			byRoot[vdu.Resource] = append(byRoot[vdu.Resource], id)
		}
	}
	return func(root string, server *openstack.StackResource) (string, bool) {
		switch grouped := byRoot[root]; {
		case len(grouped) == 1:
			return grouped[0], true
		case len(grouped) > 1:
			return server.Name, slices.Contains(grouped, server.Name)
		}
		for id, vdu := range source.VDUs {
			if vdu.Form == hot.Kept && vdu.Resource == root {
				return id, true
			}
		}
		stem, number, ok := cutLast(root, "-")
		if !ok || strings.Trim(number, "0123456789") != "" {
			return "", false
		}
		for id, vdu := range source.VDUs {
			if vdu.Form == hot.Copied && vdu.Resource == stem {
				return id, true
			}
		}
		return "", false
	}
}

func cutLast(text, separator string) (before, after string, ok bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}

// rootOf is the name of the resource of the top-level stack that a resource is, or is in.
func (l *live) rootOf(r *openstack.StackResource) string {
	for range 10 {
		if r.StackID() == l.stack.ID {
			return r.Name
		}
		above := l.holder(r.StackID())
		if above == nil {
			break
		}
		r = above
	}
	return ""
}

// holder is the resource that a nested stack is.
func (l *live) holder(stackID string) *openstack.StackResource {
	for i := range l.resources {
		if l.resources[i].PhysicalID == stackID {
			return &l.resources[i]
		}
	}
	return nil
}

// portType is the type of resource that a connection point of a VNFC is.
const portType = "OS::Neutron::Port"

// networkType is the type of resource that an internal virtual link is.
const networkType = "OS::Neutron::Net"

// Resources implements vnfm.InfraDriver: the servers of the VDUs in the order of VDU and age,
// and the networks of the stack and those that its internal virtual links were given. It
// takes four requests, however many there are.
func (d *Driver) Resources(ctx context.Context, t *vnfm.Target) (*vnfm.ResourceInfo, error) {
	s, err := d.open(ctx, t, nil)
	if err != nil {
		return nil, err
	}
	out := &vnfm.ResourceInfo{}
	stack, err := s.find(ctx)
	if err != nil || stack == nil {
		return out, err
	}
	l := &live{stack: stack}
	if err := s.readMembers(ctx, l); err != nil {
		return nil, err
	}
	if l.ports == nil {
		// The stack may have none but those that it was given.
		if l.ports, err = s.client.Ports(ctx); err != nil {
			return nil, err
		}
	}
	points := l.connectionPoints(l.ports, s.source)
	addGivenPorts(points, l.ports, t.Instance.Links)
	for _, c := range s.components(l) {
		v := c.vnfc()
		v.ConnectionPoints = points[c.resource.PhysicalID]
		out.VNFCs = append(out.VNFCs, v)
	}
	out.VirtualLinks = maps.Clone(t.Instance.Links.Managed)
	for i := range l.resources {
		if r := &l.resources[i]; r.Type == networkType && r.PhysicalID != "" {
			if out.VirtualLinks == nil {
				out.VirtualLinks = map[string]string{}
			}
			out.VirtualLinks[r.Name] = r.PhysicalID
		}
	}
	return out, nil
}

// connectionPoints are the addresses of the ports that are resources of the stack, by
// server and by the name that the template has for the port, which is the connection point's.
func (l *live) connectionPoints(ports map[string]*openstack.Port, source *hot.Source) map[string]map[string][]string {
	out := map[string]map[string][]string{}
	for i := range l.resources {
		r := &l.resources[i]
		port := ports[r.PhysicalID]
		if r.Type != portType || port == nil || port.Device == "" {
			continue
		}
		if out[port.Device] == nil {
			out[port.Device] = map[string][]string{}
		}
		name := r.Name
		if source != nil && r.StackID() == l.stack.ID {
			name = source.NameOf(name)
		}
		out[port.Device][name] = port.Addresses()
	}
	return out
}

// addGivenPorts adds the addresses of the ports that connection points were given: these are no resources of the stack. A port that
// Neutron does not list may be one of another project that is shared with this one.
func addGivenPorts(points map[string]map[string][]string, ports map[string]*openstack.Port, links vnfm.Links) {
	for _, link := range links.External {
		for id, cp := range link.ExtCPs {
			port := ports[cp.LinkPortID]
			if cp.LinkPortID == "" || port == nil || port.Device == "" {
				continue
			}
			if points[port.Device] == nil {
				points[port.Device] = map[string][]string{}
			}
			points[port.Device][id] = port.Addresses()
		}
	}
}

func (c *component) vnfc() vnfm.VNFC {
	out := vnfm.VNFC{ID: c.id(), VDUID: c.vdu, Resource: c.resource.Name, State: c.resource.Status, Message: c.resource.Reason, CreatedAt: c.resource.CreatedAt.Time}
	if c.server == nil {
		if c.resource.PhysicalID != "" {
			out.State, out.Message = vnfm.VNFCGone, "Nova no longer has the server"
		}
		return out
	}
	out.Resource, out.State, out.Message = c.server.Name, c.server.Status, c.server.Fault.Message
	out.Zone = c.server.Zone
	out.Node, out.Addresses = c.server.Zone, append(c.server.Fixed(), c.server.Floating()...)
	if c.server.Host != "" {
		out.Node = c.server.Host
	}
	for _, volume := range c.server.Volumes {
		out.Volumes = append(out.Volumes, volume.ID)
	}
	out.Ready = c.server.Status == openstack.ServerActive && !c.resource.Failed()
	return out
}
