package workloadcluster

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The defaults are those of the manifests of cloud-provider-openstack.
const (
	defaultConfigNamespace = "kube-system"
	defaultConfigSecret    = "cloud-config" //nolint:gosec // no credential
)

// cloudConfigAttribute is the argument openstack.cloud_config.
func cloudConfigAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "Secret **on the workload cluster** with the application credential of the cluster as `cloud.conf`, which the cloud controller manager and the CSI drivers of OpenStack read; `{}` takes the names of their manifests. " +
			"Changing anything here, and each new application credential, updates the Secret in place and rolls out what reads it; see [The cloud provider of a cluster](../guides/addons-on-workload-clusters.md#the-cloud-provider-of-a-cluster).",
		Attributes: map[string]schema.Attribute{
			"namespace": schema.StringAttribute{
				Optional: true, Computed: true, Default: stringdefault.StaticString(defaultConfigNamespace),
				MarkdownDescription: "Namespace of the Secret, created if it does not exist. Defaults to `kube-system`. Changing this writes another Secret and deletes the former one.",
				Validators:          []validator.String{tfutil.Namespace()},
			},
			"secret_name": schema.StringAttribute{
				Optional: true, Computed: true, Default: stringdefault.StaticString(defaultConfigSecret),
				MarkdownDescription: "Name of the Secret. Defaults to `cloud-config`. Changing this writes another Secret and deletes the former one.",
				Validators:          []validator.String{tfutil.Matches(dnsSubdomain, "must be a name of an object: lower case letters, digits, '-' and '.'")},
			},
			"settings": schema.MapAttribute{
				Optional: true, ElementType: types.MapType{ElemType: types.StringType},
				MarkdownDescription: "Further entries of `cloud.conf` by section and key, for example `{ LoadBalancer = { lb-provider = \"ovn\" } }`; they are not for secrets. Defaults to none. Changing this updates the Secret in place.",
			},
		},
	}
}

// cloudConfigModel is the argument openstack.cloud_config.
type cloudConfigModel struct {
	Namespace  types.String `tfsdk:"namespace"`
	SecretName types.String `tfsdk:"secret_name"`
	Settings   types.Map    `tfsdk:"settings"`
}

// toDomain reads the argument, all of which is known, and reports settings that cloud.conf cannot have.
func (m *cloudConfigModel) toDomain(ctx context.Context, diags *diag.Diagnostics) *vnfm.ClusterCloudConfig {
	out := &vnfm.ClusterCloudConfig{Namespace: m.Namespace.ValueString(), SecretName: m.SecretName.ValueString()}
	if m.Settings.IsNull() {
		return out
	}
	diags.Append(m.Settings.ElementsAs(ctx, &out.Settings, false)...)
	at := path.Root("openstack").AtName("cloud_config").AtName("settings")
	for _, section := range slices.Sorted(maps.Keys(out.Settings)) {
		for _, key := range slices.Sorted(maps.Keys(out.Settings[section])) {
			if reason := openstack.CheckCloudConf(section, key, out.Settings[section][key]); reason != "" {
				diags.AddAttributeError(at.AtMapKey(section).AtMapKey(key), "Invalid Entry of cloud.conf", reason+".")
			}
		}
	}
	return out
}
