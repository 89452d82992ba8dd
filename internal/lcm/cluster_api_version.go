package lcm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// clusterGroup is the API group of Cluster API's own kinds, and clusterVersions its
// versions that are known, the preferred one first.
const clusterGroup = "cluster.x-k8s.io"

var clusterVersions = []string{"v1beta2", "v1beta1"}

// clusterAPIVersion returns the version of Cluster API that generated objects are written in:
// the preferred one of those that the record of the VIM has. Where the record knows no Cluster
// API and ask is set, the VIM is asked: Cluster API may have been installed after the
// registration. Without ask the error is a NotFoundError, so that a plan can go on without it.
func (e *Engine) clusterAPIVersion(ctx context.Context, vim *vnfm.VIM, ask bool) (string, error) {
	if version := servedClusterVersion(vim.APIGroups); version != "" {
		return version, nil
	}
	if !ask {
		return "", &vnfm.NotFoundError{Kind: "Cluster API on VIM", ID: vim.ID}
	}
	live, err := e.CheckRegisteredVIM(ctx, vim.ID, 0)
	if err != nil {
		return "", err
	}
	version := servedClusterVersion(live.APIGroups)
	if version == "" {
		return "", fmt.Errorf("VIM %q is not a management cluster: it serves none of the known versions of %s (%s); install Cluster API there first, for example with a VNF package",
			vim.Name, clusterGroup, strings.Join(clusterVersions, ", "))
	}
	return version, nil
}

func servedClusterVersion(groups []string) string {
	for _, v := range clusterVersions {
		if slices.Contains(groups, clusterGroup+"/"+v) {
			return v
		}
	}
	return ""
}
