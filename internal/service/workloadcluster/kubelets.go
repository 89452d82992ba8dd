package workloadcluster

import (
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// warnOfKubelets warns of nodes that run another version than Cluster API says.
func warnOfKubelets(name string, s *vnfm.ClusterState, diags *diag.Diagnostics) {
	const most = 5
	others := s.OtherKubelets
	if len(others) == 0 {
		return
	}
	lines := "* " + strings.Join(others[:min(len(others), most)], "\n* ")
	if more := len(others) - most; more > 0 {
		lines += fmt.Sprintf("\n* and %d more", more)
	}
	diags.AddWarning(fmt.Sprintf("Nodes of %s Run Another Version", titled(name)),
		lines+"\n\nKubelet comes with the image of a machine. Name an image of the version that kubernetes_version says, which replaces the machines. "+
			"Where the kubelet of a node was changed by hand, change rollout_after, which does so too.")
}
