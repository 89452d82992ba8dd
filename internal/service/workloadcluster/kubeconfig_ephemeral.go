package workloadcluster

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var _ ephemeral.EphemeralResourceWithConfigure = (*KubeconfigEphemeral)(nil)

// KubeconfigEphemeral is the ephemeral resource vnf_capi_workload_kubeconfig.
type KubeconfigEphemeral struct{ data *tfutil.ProviderData }

// NewKubeconfigEphemeral returns the ephemeral resource.
func NewKubeconfigEphemeral() ephemeral.EphemeralResource { return &KubeconfigEphemeral{} }

// ephemeralModel is the ephemeral resource as Terraform has it.
type ephemeralModel struct {
	kubeconfigModel
	CertificateRequest types.Object `tfsdk:"certificate_request"`
}

// certificateModel is the argument certificate_request.
type certificateModel struct {
	CommonName    types.String         `tfsdk:"common_name"`
	Organizations types.Set            `tfsdk:"organizations"`
	TTL           timetypes.GoDuration `tfsdk:"ttl"`
}

func (m *certificateModel) toDomain(ctx context.Context, diags *diag.Diagnostics) *vnfm.ClientCertificateSpec {
	if m == nil {
		return nil
	}
	spec := &vnfm.ClientCertificateSpec{CommonName: m.CommonName.ValueString(), TTL: tfutil.GoDuration(m.TTL)}
	if tfutil.Set(m.Organizations) {
		diags.Append(m.Organizations.ElementsAs(ctx, &spec.Organizations, false)...)
	}
	if spec.TTL <= 0 {
		// The rule of the schema knows no value that was unknown when it ran.
		diags.AddAttributeError(path.Root("certificate_request").AtName("ttl"), "Invalid Duration", "certificate_request.ttl must be a duration of more than 0s, for example \"1h\".")
	}
	return spec
}

// Metadata implements ephemeral.EphemeralResource.
func (e *KubeconfigEphemeral) Metadata(_ context.Context, _ ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = KubeconfigType
}

// Configure implements ephemeral.EphemeralResourceWithConfigure.
func (e *KubeconfigEphemeral) Configure(_ context.Context, req ephemeral.ConfigureRequest, resp *ephemeral.ConfigureResponse) {
	e.data = tfutil.Configure(req.ProviderData, &resp.Diagnostics)
}

// Schema implements ephemeral.EphemeralResource.
func (e *KubeconfigEphemeral) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	attributes := map[string]schema.Attribute{}
	for name, a := range kubeconfigAttributes() {
		attributes[name] = schema.StringAttribute(a)
	}
	attributes["certificate_request"] = schema.SingleNestedAttribute{
		Optional:            true,
		MarkdownDescription: "Signs a client certificate with the CA of the cluster instead of using the administrator's: short-lived, with the RBAC rights of its name and groups. The management cluster must keep the CA with its key in the Secret `<cluster>-ca`. Each opening signs a new certificate, which cannot be revoked before it expires.",
		Attributes: map[string]schema.Attribute{
			"common_name": schema.StringAttribute{
				Required: true, MarkdownDescription: "Name of the user.", Validators: []validator.String{stringvalidator.LengthBetween(1, 64)},
			},
			"organizations": schema.SetAttribute{
				Optional: true, ElementType: types.StringType,
				Validators:          []validator.Set{setvalidator.NoNullValues(), setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1)), boundGroups{}},
				MarkdownDescription: "Groups of the user. Bind a group of your own to the necessary rights: a binding can be removed while a certificate is valid. `system:masters` bypasses RBAC and keeps all rights until the certificate expires.",
			},
			"ttl": schema.StringAttribute{
				Required: true, MarkdownDescription: "Lifetime of the certificate, limited by the CA, for example `1h`. The duration of one apply is sufficient, since each run signs a new certificate.",
				CustomType: timetypes.GoDurationType{}, Validators: []validator.String{tfutil.Positive()},
			},
		},
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads the kubeconfig of a workload cluster from the management cluster, in the plan and again in the apply. It enters neither state nor plan. Its values are null while there is no kubeconfig.",
		Attributes:          attributes,
	}
}

// groupOfAll is the group that an API server asks no authorizer about.
const groupOfAll = "system:masters"

// boundGroups warns of the group whose rights nobody can take away.
type boundGroups struct{}

// Description implements validator.Describer.
func (boundGroups) Description(context.Context) string {
	return "groups whose rights are bound by RBAC"
}

// MarkdownDescription implements validator.Describer.
func (v boundGroups) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

// ValidateSet implements validator.Set.
func (boundGroups) ValidateSet(_ context.Context, req validator.SetRequest, resp *validator.SetResponse) {
	if slices.ContainsFunc(req.ConfigValue.Elements(), types.StringValue(groupOfAll).Equal) {
		resp.Diagnostics.AddAttributeWarning(req.Path, "Certificate With Irrevocable Rights",
			"A certificate of the group "+groupOfAll+" bypasses RBAC: its holder has all rights until it expires. "+
				"Bind a group of your own to the rights that are needed; kubeadm binds kubeadm:cluster-admins to those of an administrator.")
	}
}

// Open implements ephemeral.EphemeralResource.
func (e *KubeconfigEphemeral) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var config ephemeralModel
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Config, &config)...)
	manager := e.data.RequireManager(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	certificate := tfutil.As[certificateModel](ctx, config.CertificateRequest, &resp.Diagnostics).toDomain(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if config.read(ctx, manager, certificate, &resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.Result.Set(ctx, &config)...)
}
