package heat

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// DryRun asks the VIM what it would refuse: types of resources that the user may not use, ports and
// zones that are not what the request says, whether it has flavors and images, which is a warning since they may come with the same apply, and
// whether Heat takes the template. A new instance may not have the name of one whose stack is there.
func (d *Driver) DryRun(ctx context.Context, t *vnfm.Target, keys []string) (vnfm.Problems, error) {
	if len(keys) == 0 || t.Part.Empty() {
		return nil, nil
	}
	s, err := d.open(ctx, t, nil)
	if err != nil {
		return nil, err
	}
	var refused vnfm.Problems
	for _, check := range []func(context.Context) (vnfm.Problems, error){s.takenName, s.foreignStack, s.checkTypes, s.checkPorts, s.checkZones} {
		found, err := check(ctx)
		if refused = append(refused, found...); err != nil {
			return refused, err
		}
	}
	if refused.HasErrors() {
		return refused, nil
	}
	problems, err := s.validate(ctx)
	return append(refused, problems...), err
}

// previewName is the name of a stack that is only described to Heat. No instance has it.
const previewName = stackPrefix + "preview"

// validate asks whether the VIM has flavors and images, and whether Heat takes the template. Of a new stack Heat is asked more: whether
// there is what its values name, such as flavors, networks and key pairs. That is a warning, since they may come with the same apply.
func (s *session) validate(ctx context.Context) (vnfm.Problems, error) {
	assets, ps, err := s.assets(ctx, nil, true)
	if err != nil {
		return nil, err
	}
	for i := range ps {
		ps[i].Severity = vnfm.SeverityWarning
	}
	if len(ps) > 0 {
		// Heat looks for them too, and would say the same in other words.
		return ps, nil
	}
	for key, demand := range s.source.Demands(s.request) {
		if demand.Image != nil && assets[key].ImageID == "" {
			// An image that the package brings is not there yet: Heat would refuse that.
			return nil, nil
		}
	}
	s.request.Assets = assets
	stack, problems := s.source.Stack(s.request)
	if problems.HasErrors() {
		return problems, nil
	}
	request := openstack.StackRequest{
		Name: previewName, StackContent: openstack.StackContent{Template: stack.Template, Files: stack.Files, Parameters: stack.Parameters},
	}
	var missing error
	if s.target.Instance.ID == "" {
		if missing = s.client.PreviewStack(ctx, request); missing == nil {
			return ps, nil
		}
	}
	err = s.client.ValidateStack(ctx, request)
	if openstack.IsBadRequest(err) {
		ps = append(ps, vnfm.Problem{Summary: stackKey(s.target.Instance) + " would be rejected by Heat", Detail: err.Error() + "; correct the template or the argument that it names"})
		return ps, nil
	}
	if openstack.IsForbidden(err) {
		err = &vnfm.RightsError{Doing: fmt.Sprintf("having Heat validate the template on VIM %q", s.target.VIM.Name), Err: err}
	}
	if err == nil && openstack.IsBadRequest(missing) {
		ps = append(ps, vnfm.Problem{
			Severity: vnfm.SeverityWarning, Summary: stackKey(s.target.Instance) + " would be rejected by Heat as the VIM is now",
			Detail: missing.Error() + "; correct the argument or the template, unless the same apply makes what is missing",
		})
	}
	return ps, err
}

// checkTypes finds resources of types that Heat's policy keeps from the user, such as OS::Nova::Flavor: Heat validates them, and
// refuses the stack. It is a warning where a condition may leave the resource out, or Heat does not say that the type is the reason.
func (s *session) checkTypes(ctx context.Context) (ps vnfm.Problems, _ error) {
	uses := s.source.Uses()
	types := make([]string, 0, len(uses))
	for _, u := range uses {
		types = append(types, u.Type)
	}
	slices.Sort(types)
	if types = slices.Compact(types); len(types) == 0 {
		return nil, nil
	}
	refused, err := s.client.RefusedTypes(ctx, types)
	if openstack.IsForbidden(err) || openstack.IsNotFound(err) {
		// Without the list nothing is known; the validation says what the user may not do.
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, u := range uses {
		i := slices.IndexFunc(refused, func(r openstack.TypeRefusal) bool { return r.Type == u.Type })
		if i < 0 {
			continue
		}
		p := vnfm.Problem{
			File: u.Place.File, Line: u.Place.Line, Column: u.Place.Column,
			Summary: fmt.Sprintf("resource %q has the type %s, which the user of VIM %q may not use", u.Resource, u.Type, s.target.VIM.Name),
			Detail: fmt.Sprintf("%v; have an administrator allow it (the rule resource_types:%s of Heat's policy), register the VIM with a user who may, or use a package whose templates do without it",
				refused[i].Err, u.Type),
		}
		if u.Conditional || !refused[i].Sure {
			p.Severity = vnfm.SeverityWarning
		}
		ps = append(ps, p)
	}
	return ps, nil
}

// checkPorts finds ports of the request that are in another network, or lack a subnet or an address that the request gives them. A
// port that Neutron does not list may be one of another project that is shared with this one: nothing is said of it.
func (s *session) checkPorts(ctx context.Context) (ps vnfm.Problems, _ error) {
	var ports map[string]*openstack.Port
	for _, name := range slices.Sorted(maps.Keys(s.target.Instance.Links.External)) {
		link := s.target.Instance.Links.External[name]
		for _, id := range slices.Sorted(maps.Keys(link.ExtCPs)) {
			cp := link.ExtCPs[id]
			if cp.LinkPortID == "" {
				continue
			}
			if ports == nil {
				var err error
				if ports, err = s.client.Ports(ctx); err != nil {
					return nil, err
				}
			}
			port := ports[cp.LinkPortID]
			if port == nil {
				continue
			}
			if lacks := portLacks(port, link.ResourceID, cp.IPAddresses); len(lacks) > 0 {
				ps = append(ps, vnfm.Problem{
					Attribute: vnfm.AttributeExternalLinks, Key: name,
					Summary: fmt.Sprintf("port %q, the link_port_id of connection point %q, %s", port.ID, id, strings.Join(lacks, ", and ")),
					Detail:  fmt.Sprintf("%s; give another port, or correct resource_id and ip_addresses", describePort(port)),
				})
			}
		}
	}
	return ps, nil
}

// portLacks says what a port does not have of what a request gives it.
func portLacks(port *openstack.Port, network string, wanted []vnfm.IPAddress) (lacks []string) {
	if port.Network != network {
		lacks = append(lacks, fmt.Sprintf("is not in network %q", network))
	}
	for _, ip := range wanted {
		has := func(address string) bool {
			return slices.ContainsFunc(port.Fixed, func(f openstack.FixedIP) bool {
				return (ip.SubnetID == "" || f.Subnet == ip.SubnetID) && (address == "" || sameAddress(f.Address, address))
			})
		}
		switch {
		case len(ip.FixedAddresses) == 0 && !has(""):
			lacks = append(lacks, fmt.Sprintf("has no address in subnet %q", ip.SubnetID))
		case len(ip.FixedAddresses) > 0 && !has(ip.FixedAddresses[0]):
			lacks = append(lacks, "does not have address "+ip.FixedAddresses[0])
		}
	}
	return lacks
}

// sameAddress compares two ways of writing an address.
func sameAddress(a, b string) bool {
	left, leftErr := netip.ParseAddr(a)
	right, rightErr := netip.ParseAddr(b)
	return leftErr == nil && rightErr == nil && left.Unmap() == right.Unmap()
}

func describePort(port *openstack.Port) string {
	words := make([]string, 0, len(port.Fixed))
	for _, f := range port.Fixed {
		words = append(words, fmt.Sprintf("%s in subnet %q", f.Address, f.Subnet))
	}
	if len(words) == 0 {
		words = append(words, "no address")
	}
	return fmt.Sprintf("it is in network %q and has %s", port.Network, strings.Join(words, ", "))
}
