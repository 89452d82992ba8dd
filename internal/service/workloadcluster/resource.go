// Package workloadcluster holds the resource and the data sources for workload
// clusters of Cluster API, and those that hand out their kubeconfigs.
package workloadcluster

import (
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ResourceType is the type name of the resource.
const ResourceType = "vnf_capi_workload_cluster"

// managementVIM is the argument that names the management cluster.
const managementVIM = "management_vim_id"

// NewResource returns the resource. A machine takes minutes, and machines are replaced
// one after the other: its operations may take longer than those of an instance.
func NewResource() resource.Resource { return base.NewInstanceResource[model](config()) }

func config() base.Config {
	return base.Config{
		Type: ResourceType, Title: "Workload Cluster", Noun: "workload cluster", VIMNoun: "management cluster", VIMAttribute: managementVIM,
		CreateVerb: "Create", RemoveVerb: "Remove", IncompleteSummary: "Is Not Ready Yet",
		// A cluster that another tool has made has them, and no id.
		Identity: base.Identity{
			{Name: managementVIM, Description: "Id of the vnf_vim that is the management cluster."},
			{Name: "namespace", Description: "Namespace of the Cluster object."},
			{Name: "name", Description: "Name of the Cluster object."},
		},
		Fixed:       []string{managementVIM, "name"},
		ContentPath: path.Empty(),
		CreateLimit: 60 * time.Minute, ReadLimit: 2 * time.Minute, UpdateLimit: 90 * time.Minute, DeleteLimit: 60 * time.Minute,
		Schema:            resourceSchema,
		IDDescription:     "Id of the cluster in the store.",
		AdoptDescription:  "Whether to adopt an existing cluster that no configuration manages. If `false`, an existing cluster is an error. Defaults to `false`. Changing this applies to the next operation.",
		CompletedStatus:   base.StatusReady,
		StatusDescription: " `DELETING` and `DELETED` if the refresh finds the Cluster being deleted, or missing: the next apply creates it again, and a destroy continues.",
		Owns:              func(i *vnfm.Instance) bool { return i.Cluster != nil },
	}
}

// titled names a cluster in the summary of a diagnostic.
func titled(name string) string { return fmt.Sprintf("Workload Cluster %q", name) }
