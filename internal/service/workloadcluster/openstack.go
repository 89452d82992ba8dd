package workloadcluster

import (
	"cmp"
	"context"
	"fmt"
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	// secretSuffix ends the name of the Secret when none is given, as Magnum's does.
	secretSuffix = "-cloud-credentials" //nolint:gosec // no credential
	defaultCloud = "openstack"
)

// dnsSubdomain is a name of an object (RFC 1123).
var dnsSubdomain = regexp.MustCompile(`^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$`)

// cloudAttributes are about the OpenStack that the machines are in.
func cloudAttributes() map[string]schema.Attribute {
	notEmpty := []validator.String{stringvalidator.LengthAtLeast(1)}
	flag := func(description string) schema.Attribute {
		return schema.BoolAttribute{Optional: true, MarkdownDescription: description + " Default `false`."}
	}
	return map[string]schema.Attribute{
		"openstack": schema.SingleNestedAttribute{
			Optional: true,
			MarkdownDescription: "The OpenStack that the machines of the cluster are in. At plan time it is asked, when it can be reached, for the image, flavours, key pair and networks that the cluster names, " +
				"whether the image has the version of Kubernetes, and whether the quota of Nova has room for a new cluster. Of a `topology` these are what its class makes of the variables, as far as the management cluster can be asked and the patches of the class are inline.",
			Attributes: map[string]schema.Attribute{
				"vim_id": schema.StringAttribute{
					Required:            true,
					MarkdownDescription: "Id of the `vnf_vim` that is the OpenStack. A change to another user of the same project makes a new application credential, in place.",
					Validators:          notEmpty,
				},
				"application_credential": schema.SingleNestedAttribute{
					Optional: true,
					MarkdownDescription: "Gives the cluster an application credential of its own, `application_credential = {}` one with all roles of the VIM's user. It is made with the authentication of the VIM, tried, and written into a Secret on the management cluster " +
						"(`clouds.yaml`, `cacert`), from where Cluster API Provider OpenStack reads it, before the objects of the cluster are made; it is removed after them. Its secret is in the Secret alone: in no state, plan or log. " +
						"Charts and cluster templates are told the name of the Secret. A template of clusterctl has it as `${OPENSTACK_CLOUD_SECRET_NAME}`, and the cloud as `${OPENSTACK_CLOUD}`; a topology names it in the variable of its class that becomes `identityRef`: `{ name = \"<name of the cluster>-cloud-credentials\", cloudName = \"openstack\" }`. The plan warns where objects of the cluster name another Secret. " +
						"A new one takes the place of the old one in place, without replacing machines, when `rotate` changes, when the VIM has another user, or when Keystone refuses the present one, which a refresh finds out and the plan shows: made, tried, written, and the old one removed once the cluster is ready. " +
						"What copied the credential into the cluster, such as the cloud provider, follows in its own time.",
					Attributes: map[string]schema.Attribute{
						"roles": schema.ListAttribute{
							Optional: true, ElementType: types.StringType,
							MarkdownDescription: "Names of the roles that the application credential has. Default are all that the VIM's user has in the project. A change makes a new one.",
							Validators:          []validator.List{listvalidator.SizeAtLeast(1), listvalidator.UniqueValues(), listvalidator.NoNullValues()},
						},
						"rotate": schema.StringAttribute{
							Optional:            true,
							MarkdownDescription: "Any text, for example a date. A change makes a new application credential.",
							Validators:          notEmpty,
						},
						"secret_name": schema.StringAttribute{
							Optional:            true,
							MarkdownDescription: "Name of the Secret in the namespace of the cluster. Default is `<name of the cluster>-cloud-credentials`.",
							Validators:          []validator.String{stringvalidator.RegexMatches(dnsSubdomain, "must be a name of an object: lower case letters, digits, '-' and '.'")},
						},
						"cloud_name": schema.StringAttribute{
							Optional:            true,
							MarkdownDescription: "Name of the cloud in the clouds.yaml. Default is `openstack`.",
							Validators:          notEmpty,
						},
					},
				},
				"cleanup": schema.SingleNestedAttribute{
					Optional: true,
					MarkdownDescription: "What OpenStack's cloud provider in the cluster made and nobody removes, is removed when the cluster is destroyed, once its machines are gone, as far as the time of the destroy reaches. " +
						"It is found by the names and marks that the cloud provider gives it, which have the cluster's name as `--cluster-name` tells it.",
					Attributes: map[string]schema.Attribute{
						"load_balancers": flag("Whether load balancers of Services are removed (`kube_service_<cluster>_…`), with their floating addresses."),
						"volumes":        flag("Whether volumes of the storage driver are removed (metadata `cinder.csi.openstack.org/cluster`). **What is on them is lost.**"),
					},
				},
			},
		},
		"application_credential_id": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "Id of the application credential of the cluster; null when it has none of its own.",
		},
	}
}

// openstackModel is the argument openstack.
type openstackModel struct {
	VIMID                 types.String                `tfsdk:"vim_id"`
	ApplicationCredential *applicationCredentialModel `tfsdk:"application_credential"`
	Cleanup               *cleanupModel               `tfsdk:"cleanup"`
}

type applicationCredentialModel struct {
	Roles      types.List   `tfsdk:"roles"`
	Rotate     types.String `tfsdk:"rotate"`
	SecretName types.String `tfsdk:"secret_name"`
	CloudName  types.String `tfsdk:"cloud_name"`
}

type cleanupModel struct {
	LoadBalancers types.Bool `tfsdk:"load_balancers"`
	Volumes       types.Bool `tfsdk:"volumes"`
}

// openstack reads the argument of that name, all of which is known.
func (m *model) openstack(ctx context.Context, cluster *vnfm.ClusterSpec, diags *diag.Diagnostics) *vnfm.ClusterOpenStack {
	cloud := tfutil.As[openstackModel](ctx, m.OpenStack, diags).toDomain(cluster.Name)
	if cloud != nil && cloud.Credential != nil {
		m.checkSecret(ctx, cluster, cloud.Credential.SecretName, diags)
	}
	return cloud
}

func (m *openstackModel) toDomain(clusterName string) *vnfm.ClusterOpenStack {
	if m == nil {
		return nil
	}
	cloud := &vnfm.ClusterOpenStack{VIMID: m.VIMID.ValueString()}
	if c := m.Cleanup; c != nil {
		cloud.Cleanup = vnfm.CloudCleanup{LoadBalancers: c.LoadBalancers.ValueBool(), Volumes: c.Volumes.ValueBool()}
	}
	if c := m.ApplicationCredential; c != nil {
		cloud.Credential = &vnfm.ClusterCredential{
			SecretName: cmp.Or(c.SecretName.ValueString(), clusterName+secretSuffix), CloudName: cmp.Or(c.CloudName.ValueString(), defaultCloud),
			Roles: tfutil.Strings(c.Roles), Rotate: c.Rotate.ValueString(),
		}
	}
	return cloud
}

// checkSecret finds another Secret that the form of the cluster names.
func (m *model) checkSecret(ctx context.Context, cluster *vnfm.ClusterSpec, secret string, diags *diag.Diagnostics) {
	refuse := func(at path.Path, other string) {
		diags.AddAttributeError(at, "Two Secrets with Credentials",
			fmt.Sprintf("openstack.application_credential writes the credentials of the cluster into the Secret %q, and the Secret %q is named here. Leave this out, or give the same name as openstack.application_credential.secret_name.", secret, other))
	}
	if template := tfutil.As[clusterTemplateModel](ctx, m.ClusterTemplate, diags); template != nil {
		if other := template.CredentialsSecret.ValueString(); other != "" && other != secret {
			refuse(path.Root("cluster_template").AtName("credentials_secret"), other)
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
