package heat

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
)

// portInUse finds the port in what Nova says when it refuses one.
var portInUse = lazyregexp.New(`Port ([0-9a-f-]{36}) is still in use`)

// detachPorts takes ports of the stack that Nova refused from the servers that they are attached to, and which the stack does not have any
// more. Heat does so itself when it replaces a server, but not for one in ERROR, and not for one whose creation no engine has seen to its
// end: it has no note of the ports of that. Nova detaches nothing from a server in ERROR: it is deleted, as Heat would do afterwards. The
// next try of Heat finds the ports free; what fails here is for that try to tell.
func (s *session) detachPorts(ctx context.Context, stack *openstack.Stack, failure error) {
	var failed *stackError
	if !errors.As(failure, &failed) {
		return
	}
	wanted := portsInUse(failed)
	if len(wanted) == 0 {
		return
	}
	resources, err := s.client.StackResources(ctx, stack)
	if err != nil {
		return
	}
	ports, err := s.client.Ports(ctx)
	if err != nil {
		return
	}
	for _, p := range strandedPorts(wanted, resources, ports) {
		s.progress(ctx, fmt.Sprintf("port %s is detached from server %s, which stack %s replaces", p.ID, p.Device, stack.Name))
		err := s.client.DetachPort(ctx, p.Device, p.ID)
		if openstack.IsConflict(err) {
			s.progress(ctx, fmt.Sprintf("server %s, which stack %s replaces, is deleted", p.Device, stack.Name))
			err = s.client.DeleteServer(ctx, p.Device)
		}
		if err != nil {
			s.progress(ctx, err.Error())
		}
	}
}

// portsInUse are the ids of the ports that Nova refused.
func portsInUse(failed *stackError) []string {
	var out []string
	for _, reason := range failed.reasons {
		for _, m := range portInUse.FindAllStringSubmatch(reason, -1) {
			out = append(out, m[1])
		}
	}
	return out
}

// strandedPorts are those of the wanted ports that are resources of the stack, and attached to a server that is none any more.
func strandedPorts(wanted []string, resources []openstack.StackResource, ports map[string]*openstack.Port) []*openstack.Port {
	has := func(id string) bool {
		return slices.ContainsFunc(resources, func(r openstack.StackResource) bool { return r.PhysicalID == id && !r.Failed() })
	}
	var out []*openstack.Port
	for _, id := range wanted {
		if p := ports[id]; p != nil && p.Device != "" && has(id) && !has(p.Device) {
			out = append(out, p)
		}
	}
	return out
}
