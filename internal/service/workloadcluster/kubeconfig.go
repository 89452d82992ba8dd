package workloadcluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// KubeconfigType is the type name of the data source and of the ephemeral resource.
const KubeconfigType = "vnf_capi_workload_kubeconfig"

// kubeconfigModel is what data source and ephemeral resource share.
type kubeconfigModel struct {
	ManagementVIMID types.String         `tfsdk:"management_vim_id"`
	Namespace       types.String         `tfsdk:"namespace"`
	Name            types.String         `tfsdk:"name"`
	WaitTimeout     timetypes.GoDuration `tfsdk:"wait_timeout"`

	Kubeconfig        types.String      `tfsdk:"kubeconfig"`
	Host              types.String      `tfsdk:"host"`
	CACertificate     types.String      `tfsdk:"cluster_ca_certificate"`
	ClientCertificate types.String      `tfsdk:"client_certificate"`
	ClientKey         types.String      `tfsdk:"client_key"`
	Token             types.String      `tfsdk:"token"`
	NotAfter          timetypes.RFC3339 `tfsdk:"not_after"`
}

// kubeconfigAttributes are those of the data source. The ephemeral resource has the same:
// its type of attribute is another one with the same fields.
func kubeconfigAttributes() map[string]schema.StringAttribute {
	named := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Required: true, MarkdownDescription: description, Validators: []validator.String{stringvalidator.LengthAtLeast(1)}}
	}
	read := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}
	secret := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: description}
	}
	return map[string]schema.StringAttribute{
		managementVIM: named("Id of the `vnf_vim` that is the management cluster."),
		"namespace":   named("Namespace of the cluster on the management cluster."),
		"name":        named("Name of the cluster."),
		"wait_timeout": {
			MarkdownDescription: "Time to wait for a kubeconfig with which the workload API answers, for example `10m`; not for a cluster that is missing or being deleted. Defaults to no wait. Plans wait too: take the names from `kubeconfig_ref` of the cluster, which is unknown until the cluster is ready, and leave this out if the same plan repairs the cluster.",
			CustomType:          timetypes.GoDurationType{},
			Validators:          []validator.String{tfutil.NotNegative()},
			Optional:            true,
		},
		"kubeconfig":             secret("Complete kubeconfig, as Cluster API wrote it."),
		"host":                   read("URL of the workload API."),
		"cluster_ca_certificate": read("CA certificate of the workload API, as PEM."),
		"client_certificate":     read("Client certificate, as PEM."),
		"client_key":             secret("Private key of the client certificate, as PEM."),
		"token":                  secret("Bearer token, for control planes that issue one instead of a certificate."),
		"not_after":              {Computed: true, MarkdownDescription: "Time at which the client certificate expires (RFC 3339, UTC).", CustomType: timetypes.RFC3339Type{}},
	}
}

// read fills the model from the management cluster. Without a kubeconfig the values stay null.
func (m *kubeconfigModel) read(ctx context.Context, manager vnfm.ClusterManager, certificate *vnfm.ClientCertificateSpec, diags *diag.Diagnostics) {
	spec := vnfm.KubeconfigSpec{ClientCertificate: certificate, Wait: tfutil.GoDuration(m.WaitTimeout)}
	ref := vnfm.ClusterRef{VIMID: m.ManagementVIMID.ValueString(), Namespace: m.Namespace.ValueString(), Name: m.Name.ValueString()}
	k, err := manager.WorkloadKubeconfig(ctx, ref, spec)
	var missing *vnfm.NotFoundError
	if errors.As(err, &missing) && missing.ID != ref.VIMID {
		// An error would stop the destroy of a cluster whose deletion was interrupted.
		diags.AddWarning("Kubeconfig Not Found", fmt.Sprintf("The management cluster has no Secret %q in namespace %q, so that all values of the kubeconfig are null. "+
			"Cluster API writes the Secret once the endpoint of the cluster is known, and it disappears with the cluster. If the cluster exists and is not being deleted, check the names and management_vim_id, or set wait_timeout.",
			ref.Name+"-kubeconfig", ref.Namespace))
		return
	}
	if err != nil {
		tfutil.AddError(diags, "Read the Kubeconfig of", titled(ref.Name), err, path.Empty())
		return
	}
	m.Kubeconfig, m.Host, m.CACertificate = types.StringValue(k.Raw.Reveal()), types.StringValue(k.Host), tfutil.OptionalString(k.CACertificate)
	m.ClientCertificate, m.ClientKey = tfutil.OptionalString(k.ClientCertificate), tfutil.OptionalString(k.ClientKey.Reveal())
	m.Token, m.NotAfter = tfutil.OptionalString(k.Token.Reveal()), tfutil.Instant(k.NotAfter)
	if certificate == nil {
		expiringKubeconfig.warn(ref.Name, k.NotAfter, diags)
	}
}
