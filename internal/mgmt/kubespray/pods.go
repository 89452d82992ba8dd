package kubespray

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The parameters and the variables of kubespray for the networks of pods and services, with the defaults of kubespray.
const (
	podsParameter      = "master_node.pod_cidr"
	servicesParameter  = "master_node.cluster_cidr"
	variablesParameter = "ansible.group_vars."

	podsVariable     = "kube_pods_subnet"
	servicesVariable = "kube_service_addresses"
	pluginVariable   = "kube_network_plugin"
	prefixVariable   = "kube_network_node_prefix"
	blockVariable    = "calico_pool_blocksize"

	calico        = "calico"
	defaultPrefix = 24
	defaultBlock  = 26
	longestPrefix = 32
)

// checkPods rejects a pod network without room for the greatest number of nodes. kubespray checks this only once servers exist, and
// leaves out the blocks of Calico.
func checkPods(c *vnfm.HookCheck, s *cluster.Settings, problems *vnfm.Problems) {
	if s.Ansible == nil {
		return
	}
	before := len(*problems)
	pods, podsAt := network(s, podsVariable, s.PodCIDR, podsParameter, problems)
	services, servicesAt := network(s, servicesVariable, s.ServiceCIDR, servicesParameter, problems)
	if len(*problems) > before || !pods.IsValid() {
		return
	}
	if own := podsAt == podsParameter && servicesAt == servicesParameter; !own && services.IsValid() && pods.Overlaps(services) {
		*problems = append(*problems, cluster.Problem(vnfm.SeverityError, podsAt, "pods and services need networks of their own", "%s overlaps with %s %s", pods, servicesAt, services))
		return
	}
	name, length := prefixVariable, defaultPrefix
	switch plugin, there := s.Ansible.Variables[pluginVariable]; {
	case plugin == nil && there, isTemplate(plugin):
		return
	case !there, plugin == calico:
		name, length = blockVariable, defaultBlock
	}
	if length = prefixLength(s, name, length, problems); length == 0 || !pods.Addr().Is4() {
		return
	}
	s.CheckRoom(c, cluster.Room{At: podsAt, Pods: pods, Length: length, Why: fmt.Sprintf("each node gets a /%d (%s)", length, name)}, problems)
}

// isTemplate reports whether a variable is a template, whose value only Ansible can compute.
func isTemplate(value any) bool {
	text, _ := value.(string)
	return strings.Contains(text, "{{")
}

// network returns a network of the cluster and the parameter that sets it: a variable of group_vars overrides the parameter of the
// cluster. The prefix is invalid if it is unknown or cannot be parsed.
func network(s *cluster.Settings, variable string, otherwise netip.Prefix, parameter string, problems *vnfm.Problems) (netip.Prefix, string) {
	given, there := s.Ansible.Variables[variable]
	if !there {
		return otherwise, parameter
	}
	at := variablesParameter + variable
	if given == nil || isTemplate(given) {
		return netip.Prefix{}, at
	}
	text, _ := given.(string)
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		*problems = append(*problems, cluster.Problem(vnfm.SeverityError, at, "for example 10.233.64.0/18", "must be a network in CIDR form, not %q", fmt.Sprint(given)))
		return netip.Prefix{}, at
	}
	return prefix.Masked(), at
}

// prefixLength reads a variable with a prefix length; 0 if it is invalid or still unknown.
func prefixLength(s *cluster.Settings, name string, otherwise int, problems *vnfm.Problems) int {
	given, there := s.Ansible.Variables[name]
	switch {
	case !there:
		return otherwise
	case given == nil, isTemplate(given):
		return 0
	}
	// Integers, floats and strings all print whole numbers alike.
	length, err := strconv.Atoi(fmt.Sprint(given))
	if err != nil || length < 1 || length > longestPrefix {
		*problems = append(*problems, cluster.Problem(vnfm.SeverityError, variablesParameter+name, "",
			"must be the length of a prefix, 1 to %d, not %q", longestPrefix, fmt.Sprint(given)))
		return 0
	}
	return length
}
