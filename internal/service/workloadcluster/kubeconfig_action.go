package workloadcluster

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// NewKubeconfigAction returns the action vnf_rotate_kubeconfig.
func NewKubeconfigAction() action.Action {
	return &base.Action{
		Type: "vnf_rotate_kubeconfig", Verb: "Rotate Kubeconfig of", Title: "Workload Cluster",
		Description: "Has the kubeconfig of a workload cluster made again, once: it deletes the Secret `<cluster>-kubeconfig` and waits until the workload API answers with the new one. " +
			"The old client certificate stays valid until it expires: Kubernetes revokes no client certificates. A `credentials_sink` is not sent the new one, which `kubeconfig_rotation_trigger` of the resource does, with any version of Terraform or OpenTofu.",
		Subject: "cluster_id", SubjectDescription: "Id of the `vnf_capi_workload_cluster`.",
		Act: func(context.Context, tfsdk.Config, *diag.Diagnostics) vnfm.Act {
			return vnfm.Act{RotateKubeconfig: true}
		},
	}
}
