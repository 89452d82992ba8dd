package cluster

import (
	"fmt"
	"net/netip"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfd"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Room is a pod network, which is split among the nodes.
type Room struct {
	// At is the path of the parameter with the network, below Param.
	At   string
	Pods netip.Prefix
	// Length is the prefix length of the part of a node, Why the reason for that length.
	Length int
	Why    string
	// Severity is the severity of a network that is too small.
	Severity vnfm.Severity
}

// CheckRoom reports a pod network without room for the greatest number of nodes that the cluster can have.
func (s *Settings) CheckRoom(c *vnfm.HookCheck, r Room, problems *vnfm.Problems) {
	nodes := s.greatest(c)
	if !r.Pods.IsValid() || nodes == 0 {
		return
	}
	// 2^16 parts are always enough, and 2^128 addresses overflow an int.
	room := 0
	if extra := r.Length - r.Pods.Bits(); extra >= 0 {
		room = 1 << min(extra, 16)
	}
	if room >= nodes {
		return
	}
	needed := r.Length
	for 1<<(r.Length-needed) < nodes {
		needed--
	}
	*problems = append(*problems, Problem(r.Severity, r.At, fmt.Sprintf("%s: give a network of /%d or larger", r.Why, needed),
		"%s has room for %s, and the cluster can have %d", r.Pods, nodesText(room), nodes))
}

// greatest returns the number of nodes of the cluster at its highest scale levels; 0 if unknown.
func (s *Settings) greatest(c *vnfm.HookCheck) int {
	most, n := vnfd.MaxCounts(c.Flavour), 0
	for _, vdu := range []string{s.Master.Access.VDU, s.Worker.Access.VDU} {
		if vdu == "" {
			return 0
		}
		n += max(most[vdu], c.Counts[vdu])
	}
	return n
}

func nodesText(n int) string {
	switch n {
	case 0:
		return "no node"
	case 1:
		return "1 node"
	default:
		return fmt.Sprintf("%d nodes", n)
	}
}

// Problem is a finding in the parameters, at a path below Param.
func Problem(severity vnfm.Severity, at, detail, format string, args ...any) vnfm.Problem {
	return vnfm.Problem{
		Severity: severity, Attribute: vnfm.AttributeParams, Key: Param, Summary: Param + "." + at + " " + fmt.Sprintf(format, args...), Detail: detail,
	}
}
