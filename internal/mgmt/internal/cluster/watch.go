package cluster

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Watch implements vnfm.Watcher: it reports load balancers whose forwarded node ports differ from the current Services of the cluster.
func (d Driver) Watch(ctx context.Context, call *vnfm.HookCall) (map[string]string, error) {
	var problems vnfm.Problems
	s := Read(call.Params, false, call.Package, call.Flavour, d.Own, &problems)
	if problems.HasErrors() || s.LoadBalancer == nil || !s.LoadBalancer.FollowServices {
		// Check and Run report invalid parameters.
		return nil, nil
	}
	c, err := openCluster(call, s, d.NewInstaller())
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if c.unrecorded {
		return nil, nil
	}
	if err := c.find(ctx); err != nil {
		return nil, err
	}
	found, err := c.services(ctx)
	if err != nil {
		return nil, err
	}
	ports, _ := s.LoadBalancer.forwarded(found)
	if slices.Equal(ports, c.state.ServicePorts) {
		return nil, nil
	}
	text := fmt.Sprintf("the load balancer passes on %s of Services, which have %s", portNames(c.state.ServicePorts), portNames(ports))
	return map[string]string{s.LoadBalancer.Access.VDU: text}, nil
}

func portNames(ports []int) string {
	if len(ports) == 0 {
		return "no node ports"
	}
	words := make([]string, 0, len(ports))
	for _, port := range ports {
		words = append(words, strconv.Itoa(port))
	}
	return "node ports " + strings.Join(words, " ")
}
