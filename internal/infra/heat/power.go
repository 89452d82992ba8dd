package heat

import (
	"context"
	"fmt"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// power turns the servers of the instance on or off, as its operational state asks for,
// and waits until Nova is done.
func (s *session) power(ctx context.Context, stack *openstack.Stack) error {
	if s.target.Instance.OperationalState == vnfm.Stopped {
		return s.turn(ctx, stack, openstack.ServerShutoff, s.client.StopServer)
	}
	return s.turn(ctx, stack, openstack.ServerActive, s.client.StartServer)
}

// turn brings all servers of the stack to a status. Each request to Nova is sent once.
func (s *session) turn(ctx context.Context, stack *openstack.Stack, status string, ask func(context.Context, *openstack.Server) error) error {
	l := &live{stack: stack}
	var err error
	if l.resources, err = s.client.StackResources(ctx, stack); err != nil {
		return err
	}
	asked := map[string]bool{}
	var waiting []string
	err = waitUntil(ctx, func(ctx context.Context) (bool, error) {
		servers, err := s.client.Servers(ctx)
		if err != nil {
			return false, err
		}
		waiting = nil
		for i := range l.resources {
			r := &l.resources[i]
			server := servers[r.PhysicalID]
			if r.Type != serverType || server == nil || server.Status == status {
				continue
			}
			if server.Status == openstack.ServerError {
				return false, fmt.Errorf("server %s (%s) is in ERROR: %s", server.Name, server.ID, server.Fault.Message)
			}
			waiting = append(waiting, fmt.Sprintf("server %s (%s) is %s", server.Name, server.ID, server.Status))
			if server.Task == "" && !asked[server.ID] && isStill(server) {
				if err := ask(ctx, server); err != nil {
					return false, err
				}
				asked[server.ID] = true
			}
		}
		if len(waiting) > 0 {
			s.progress(ctx, "waiting for servers to be "+status+": "+waiting[0])
		}
		return len(waiting) == 0, nil
	})
	if err != nil && len(waiting) > 0 && ctx.Err() != nil {
		return fmt.Errorf("waiting for servers to be %s: %w; %s", status, err, strings.Join(waiting[:min(len(waiting), maxReasons)], ", "))
	}
	return err
}

// isStill reports whether a server is in one of the states between which it is turned on
// and off, and not on its way somewhere else.
func isStill(s *openstack.Server) bool {
	return s.Status == openstack.ServerActive || s.Status == openstack.ServerShutoff
}
