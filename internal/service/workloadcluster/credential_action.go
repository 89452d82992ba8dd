package workloadcluster

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// NewCredentialAction returns the action vnf_rotate_credential.
func NewCredentialAction() action.Action {
	return &base.Action{
		Type: "vnf_rotate_credential", Verb: "Rotate Credential of", Title: "Workload Cluster",
		Description: "Issues another application credential of OpenStack for a workload cluster, once, updates its Secret in place, rolls out what reads it, and deletes the former one. " +
			"A cluster whose configuration has `openstack.application_credential.rotation_trigger` is an error: change that argument, which does the same with any version of Terraform or OpenTofu.",
		Subject: "cluster_id", SubjectDescription: "Id of the `vnf_capi_workload_cluster`.",
		Act: func(context.Context, tfsdk.Config, *diag.Diagnostics) vnfm.Act {
			return vnfm.Act{RotateCredential: true}
		},
	}
}
