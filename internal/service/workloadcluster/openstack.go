package workloadcluster

import (
	"cmp"
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	// secretSuffix is the suffix of the default name of the Secret, as in Magnum.
	secretSuffix = "-cloud-credentials" //nolint:gosec // no credential
	defaultCloud = "openstack"
)

// dnsSubdomain is a name of an object (RFC 1123).
var dnsSubdomain = lazyregexp.New(`^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$`)

// cloudAttributes are the arguments about the OpenStack of the machines.
func cloudAttributes() map[string]schema.Attribute {
	notEmpty := []validator.String{stringvalidator.LengthAtLeast(1)}
	return map[string]schema.Attribute{
		"openstack": schema.SingleNestedAttribute{
			Optional:            true,
			MarkdownDescription: "OpenStack of the machines. The plan checks in OpenStack, if it can be reached, the image, flavors, key pair, networks and quota of the cluster; see [Its OpenStack](../guides/workload-clusters.md#its-openstack). Changing anything here updates in place.",
			Attributes: map[string]schema.Attribute{
				"vim_id": schema.StringAttribute{
					Required:            true,
					MarkdownDescription: "Id of the `vnf_vim` of the OpenStack. If the VIM gets another user, the same apply issues a new application credential in place and deletes the former one; see [Its OpenStack](../guides/workload-clusters.md#its-openstack).",
					Validators:          notEmpty,
				},
				"application_credential": schema.SingleNestedAttribute{
					Optional: true,
					MarkdownDescription: "Own application credential of the cluster in a Secret on the management cluster; `{}` gives it all roles of the user of the VIM. Its secret is in neither state, plan nor logs. " +
						"Changing this issues a new credential or updates its Secret in place, without replacing machines; see [Its OpenStack](../guides/workload-clusters.md#its-openstack).",
					Attributes: map[string]schema.Attribute{
						"roles": schema.SetAttribute{
							Optional: true, ElementType: types.StringType,
							MarkdownDescription: "Names of the roles of the application credential. Defaults to all roles of the user of the VIM in the project. Changing this issues a new application credential in place.",
							Validators:          []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.NoNullValues(), setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1))},
						},
						"rotation_trigger": schema.StringAttribute{
							Optional:            true,
							MarkdownDescription: "Trigger, any string, for example a date; on create it is only recorded. Changing this issues a new application credential in place; removing it does nothing.",
							Validators:          notEmpty,
						},
						"expires_at": schema.StringAttribute{
							Optional: true, CustomType: timetypes.RFC3339Type{},
							MarkdownDescription: "Time in RFC 3339 at which the application credential expires, for example `2027-06-01T00:00:00Z`; the plan rejects a new one whose time has passed. Defaults to never. Changing this issues a new application credential in place.",
						},
						"secret_name": schema.StringAttribute{
							Optional:            true,
							MarkdownDescription: "Name of the Secret in the namespace of the cluster. Defaults to `<name of the cluster>-cloud-credentials`. Changing this updates in place.",
							Validators:          []validator.String{tfutil.Matches(dnsSubdomain, "must be a name of an object: lower case letters, digits, '-' and '.'")},
						},
						"cloud_name": schema.StringAttribute{
							Optional:            true,
							Computed:            true,
							Default:             stringdefault.StaticString(defaultCloud),
							MarkdownDescription: "Name of the cloud in `clouds.yaml`. Defaults to `openstack`. Changing this updates in place.",
							Validators:          notEmpty,
						},
					},
				},
				"cloud_config": cloudConfigAttribute(),
				"deletion_policy": schema.SingleNestedAttribute{
					Optional:            true,
					MarkdownDescription: "Treatment at a destroy of resources that the OpenStack cloud provider in the cluster created: after the machines are gone, and within `timeouts.delete`. The resources are found by the name of the cluster, as set by `--cluster-name`. Changing anything here applies to the next destroy.",
					Attributes: map[string]schema.Attribute{
						"load_balancers": keepOrDelete("Load balancers of Services (`kube_service_<cluster>_…`), their floating IPs and security groups: `keep` or `delete`."),
						"volumes":        keepOrDelete("Volumes of the CSI driver (metadata `cinder.csi.openstack.org/cluster`): `keep` or `delete`. **`delete` loses their data.**"),
					},
				},
			},
		},
		"application_credential_id": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "Id of the application credential of the cluster; null without `openstack.application_credential`.",
		},
		"application_credential_expires_at": schema.StringAttribute{
			Computed: true, CustomType: timetypes.RFC3339Type{},
			MarkdownDescription: "Time at which the application credential of the cluster expires (RFC 3339, UTC), from seven days before with a warning at each refresh; null for one that does not expire.",
		},
	}
}

const (
	policyKeep   = "keep"
	policyDelete = "delete"
)

// keepOrDelete is an entry of a deletion policy.
func keepOrDelete(description string) schema.Attribute {
	return schema.StringAttribute{
		MarkdownDescription: description + " Defaults to `keep`.",
		Optional:            true,
		Computed:            true,
		Default:             stringdefault.StaticString(policyKeep),
		Validators:          []validator.String{stringvalidator.OneOf(policyKeep, policyDelete)},
	}
}

// openstackModel is the argument openstack.
type openstackModel struct {
	VIMID                 types.String                `tfsdk:"vim_id"`
	ApplicationCredential *applicationCredentialModel `tfsdk:"application_credential"`
	CloudConfig           *cloudConfigModel           `tfsdk:"cloud_config"`
	DeletionPolicy        *deletionPolicyModel        `tfsdk:"deletion_policy"`
}

type applicationCredentialModel struct {
	Roles           types.Set         `tfsdk:"roles"`
	RotationTrigger types.String      `tfsdk:"rotation_trigger"`
	ExpiresAt       timetypes.RFC3339 `tfsdk:"expires_at"`
	SecretName      types.String      `tfsdk:"secret_name"`
	CloudName       types.String      `tfsdk:"cloud_name"`
}

type deletionPolicyModel struct {
	LoadBalancers types.String `tfsdk:"load_balancers"`
	Volumes       types.String `tfsdk:"volumes"`
}

// openstack reads the argument of that name, all of which is known.
func (m *model) openstack(ctx context.Context, cluster *vnfm.ClusterSpec, diags *diag.Diagnostics) *vnfm.ClusterOpenStack {
	arguments := tfutil.As[openstackModel](ctx, m.OpenStack, diags)
	cloud := arguments.toDomain(cluster.Name, diags)
	if arguments != nil && arguments.CloudConfig != nil {
		cloud.Config = arguments.CloudConfig.toDomain(ctx, diags)
		if cloud.Credential == nil {
			diags.AddAttributeError(path.Root("openstack").AtName("cloud_config"), "Cloud Configuration Without an Application Credential",
				"openstack.cloud_config writes the application credential of the cluster to the cluster, and it has none. Set openstack.application_credential, {} for one with all roles of the user of the VIM.")
		}
	}
	if cloud != nil && cloud.Credential != nil {
		m.checkSecret(ctx, cluster, cloud.Credential.SecretName, diags)
	}
	return cloud
}

func (m *openstackModel) toDomain(clusterName string, diags *diag.Diagnostics) *vnfm.ClusterOpenStack {
	if m == nil {
		return nil
	}
	cloud := &vnfm.ClusterOpenStack{VIMID: m.VIMID.ValueString()}
	if p := m.DeletionPolicy; p != nil {
		cloud.Cleanup = vnfm.CloudCleanup{LoadBalancers: p.LoadBalancers.ValueString() == policyDelete, Volumes: p.Volumes.ValueString() == policyDelete}
	}
	if c := m.ApplicationCredential; c != nil {
		cloud.Credential = &vnfm.ClusterCredential{
			SecretName: cmp.Or(c.SecretName.ValueString(), clusterName+secretSuffix), CloudName: c.CloudName.ValueString(),
			Roles: tfutil.Strings(c.Roles), RotationTrigger: c.RotationTrigger.ValueString(), ExpiresAt: instantText(c.ExpiresAt, diags),
		}
	}
	return cloud
}

// checkSecret finds another Secret that the form of the cluster names.
func (m *model) checkSecret(ctx context.Context, cluster *vnfm.ClusterSpec, secret string, diags *diag.Diagnostics) {
	refuse := func(at path.Path, other string) {
		diags.AddAttributeError(at, "Conflicting Secrets With Credentials",
			fmt.Sprintf("openstack.application_credential writes the credentials of the cluster into the Secret %q, but this names the Secret %q. Remove it, or set the same name as in openstack.application_credential.secret_name.", secret, other))
	}
	if template := tfutil.As[clusterTemplateModel](ctx, m.ClusterTemplate, diags); template != nil {
		if other := template.CredentialsSecretName.ValueString(); other != "" && other != secret {
			refuse(path.Root("cluster_template").AtName("credentials_secret_name"), other)
		}
	}
	if cluster.Chart != nil {
		if other, ok := cluster.Chart.Values["cloudCredentialsSecretName"].(string); ok && other != secret {
			refuse(path.Root("chart").AtName("values"), other)
		}
	}
}

// setCredential takes over which application credential the record has.
func (m *model) setCredential(i *vnfm.Instance) {
	m.ApplicationCredentialID = tfutil.OptionalString(i.ApplicationCredentialID())
}

// setCredentialExpiry takes over when the application credential expires; nil is a cluster that does not exist.
func (m *model) setCredentialExpiry(s *vnfm.ClusterState) {
	m.ApplicationCredentialExpiresAt = timetypes.NewRFC3339Null()
	if s != nil {
		m.ApplicationCredentialExpiresAt = tfutil.Instant(s.CredentialExpiresAt)
	}
}
