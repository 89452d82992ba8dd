package vim

import (
	"cmp"
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kubeconfig"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// resourceModel is the resource as Terraform sees it.
type resourceModel struct {
	commonModel
	OnUnreachable types.String   `tfsdk:"on_unreachable"`
	Timeouts      timeouts.Value `tfsdk:"timeouts"`
}

// commonModel is what the resource and the data source share.
type commonModel struct {
	ID          types.String      `tfsdk:"id"`
	Name        types.String      `tfsdk:"name"`
	Description types.String      `tfsdk:"description"`
	Type        types.String      `tfsdk:"type"`
	CreatedAt   timetypes.RFC3339 `tfsdk:"created_at"`
	Kubernetes  types.Object      `tfsdk:"kubernetes"`
	OpenStack   types.Object      `tfsdk:"openstack"`
	observed
}

// connectionModel is the part of a connection that is no secret.
type connectionModel struct {
	Endpoint              types.String `tfsdk:"endpoint"`
	CACertificate         types.String `tfsdk:"ca_certificate"`
	InsecureSkipTLSVerify types.Bool   `tfsdk:"insecure_skip_tls_verify"`
	TLSServerName         types.String `tfsdk:"tls_server_name"`
	ProxyURL              types.String `tfsdk:"proxy_url"`
	DefaultNamespace      types.String `tfsdk:"default_namespace"`
	Username              types.String `tfsdk:"username"`
	ClientCertificate     types.String `tfsdk:"client_certificate"`
	KubeconfigContext     types.String `tfsdk:"kubeconfig_context"`
	KubeconfigRef         types.Object `tfsdk:"kubeconfig_ref"`
	TokenFile             types.String `tfsdk:"token_file"`
	Exec                  types.Object `tfsdk:"exec"`
}

type kubernetesModel struct {
	connectionModel
	BearerToken          types.String `tfsdk:"bearer_token"`
	BearerTokenWO        types.String `tfsdk:"bearer_token_wo"`
	BearerTokenWOVersion types.Int64  `tfsdk:"bearer_token_wo_version"`
	Password             types.String `tfsdk:"password"`
	PasswordWO           types.String `tfsdk:"password_wo"`
	PasswordWOVersion    types.Int64  `tfsdk:"password_wo_version"`
	ClientKey            types.String `tfsdk:"client_key"`
	ClientKeyWO          types.String `tfsdk:"client_key_wo"`
	ClientKeyWOVersion   types.Int64  `tfsdk:"client_key_wo_version"`
	Kubeconfig           types.String `tfsdk:"kubeconfig"`
	KubeconfigWO         types.String `tfsdk:"kubeconfig_wo"`
	KubeconfigWOVersion  types.Int64  `tfsdk:"kubeconfig_wo_version"`
}

// kubernetesTypes are the types of the attribute kubernetes of the resource.
func kubernetesTypes() map[string]attr.Type {
	return schema.SingleNestedAttribute{Attributes: kubernetesAttributes()}.GetType().(basetypes.ObjectType).AttrTypes //nolint:forcetypeassert // A nested attribute is an object.
}

func (m *commonModel) kubernetes(ctx context.Context) (*kubernetesModel, diag.Diagnostics) {
	var k kubernetesModel
	diags := tfutil.Into(ctx, m.Kubernetes, &k)
	return &k, diags
}

// credentials implements connection.
func (k *kubernetesModel) credentials() map[string]types.String {
	return map[string]types.String{
		vnfm.CredentialBearerToken: tfutil.SecretValue(k.BearerToken, k.BearerTokenWO),
		vnfm.CredentialPassword:    tfutil.SecretValue(k.Password, k.PasswordWO),
		vnfm.CredentialClientKey:   tfutil.SecretValue(k.ClientKey, k.ClientKeyWO),
		vnfm.CredentialKubeconfig:  tfutil.SecretValue(k.Kubeconfig, k.KubeconfigWO),
	}
}

// fill implements connection.
func (k *kubernetesModel) fill(spec *vnfm.VIMSpec) {
	spec.Type = vnfm.VIMTypeKubernetes
	spec.Kubernetes = &vnfm.KubernetesConnection{
		Endpoint:              k.Endpoint.ValueString(),
		CACertificate:         k.CACertificate.ValueString(),
		InsecureSkipTLSVerify: k.InsecureSkipTLSVerify.ValueBool(),
		TLSServerName:         k.TLSServerName.ValueString(),
		ProxyURL:              k.ProxyURL.ValueString(),
		DefaultNamespace:      k.DefaultNamespace.ValueString(),
		Username:              k.Username.ValueString(),
		ClientCertificate:     k.ClientCertificate.ValueString(),
		KubeconfigContext:     k.KubeconfigContext.ValueString(),
		KubeconfigRef:         attrs.ClusterRef(k.KubeconfigRef),
		TokenFile:             k.TokenFile.ValueString(),
		Exec:                  attrs.Exec(k.Exec),
	}
}

// place implements connection.
func (k *kubernetesModel) place() vnfm.VIMPlace {
	p := vnfm.VIMPlace{Type: vnfm.VIMTypeKubernetes}
	switch text := k.credentials()[vnfm.CredentialKubeconfig]; {
	case tfutil.Set(k.Endpoint):
		p.Endpoint = k.Endpoint.ValueString()
	case k.Endpoint.IsNull() && tfutil.Set(text) && !k.KubeconfigContext.IsUnknown():
		if c, err := kubeconfig.Parse(text.ValueString(), k.KubeconfigContext.ValueString()); err == nil {
			p.Endpoint = c.Host
		}
	}
	return p
}

// spec returns what a configuration says of a VIM. It must be called on the
// configuration: plan and state have no write-only values.
func (m *commonModel) spec(ctx context.Context) (vnfm.VIMSpec, diag.Diagnostics) {
	spec := vnfm.VIMSpec{Name: m.Name.ValueString(), Description: m.Description.ValueString()}
	c, _, diags := m.connection(ctx)
	if diags.HasError() || c == nil {
		return spec, diags
	}
	c.fill(&spec)
	spec.Credentials = known(c.credentials())
	return spec, diags
}

// spec is commonModel.spec, with what the resource alone has.
func (m *resourceModel) spec(ctx context.Context) (vnfm.VIMSpec, diag.Diagnostics) {
	spec, diags := m.commonModel.spec(ctx)
	spec.OnUnreachable = vnfm.OnUnreachable(m.OnUnreachable.ValueString())
	return spec, diags
}

// describesSame reports whether two models say the same of a VIM, whatever was seen of it.
func (m *commonModel) describesSame(other *commonModel) bool {
	return m.Name.Equal(other.Name) && m.Description.Equal(other.Description) && m.connectsSame(other)
}

// connectsSame reports whether two models say the same of where a VIM is.
func (m *commonModel) connectsSame(other *commonModel) bool {
	return m.Kubernetes.Equal(other.Kubernetes) && m.OpenStack.Equal(other.OpenStack)
}

// setComputed fills what is not known yet of a plan.
func (m *commonModel) setComputed(v *vnfm.VIM) {
	m.ID = types.StringValue(v.ID)
	m.Type = types.StringValue(string(v.Type))
	if m.CreatedAt.IsUnknown() {
		m.CreatedAt = tfutil.Instant(v.CreatedAt)
	}
	m.fillUnknown(v)
}

// setRecord takes over what is no connection.
func (m *commonModel) setRecord(v *vnfm.VIM) {
	m.ID = types.StringValue(v.ID)
	m.Name = types.StringValue(v.Name)
	m.Description = tfutil.OptionalString(v.Description)
	m.Type = types.StringValue(string(v.Type))
	m.CreatedAt = tfutil.Instant(v.CreatedAt)
	m.observed = observedOf(v)
}

// fromVIM takes the record over. Secrets and versions stay as they are: the record
// has none. So does all that another configuration may have described otherwise which shares the VIM: two would change it for ever.
func (m *resourceModel) fromVIM(ctx context.Context, v *vnfm.VIM) diag.Diagnostics {
	own := m.commonModel
	m.setRecord(v)
	if imported := own.Name.IsNull(); v.Shared && !imported {
		m.Name, m.Description = own.Name, own.Description
		return nil
	}
	m.OpenStack = openstackValue(v.OpenStack, m.OpenStack, openstackTypes())
	if v.Kubernetes == nil {
		m.Kubernetes = types.ObjectNull(kubernetesTypes())
		return nil
	}
	k := &kubernetesModel{}
	if !m.Kubernetes.IsNull() {
		var diags diag.Diagnostics
		if k, diags = m.kubernetes(ctx); diags.HasError() {
			return diags
		}
	}
	k.connectionModel = connectionOf(v.Kubernetes, k.Exec)
	var diags diag.Diagnostics
	m.Kubernetes, diags = types.ObjectValueFrom(ctx, kubernetesTypes(), k)
	return diags
}

// connectionOf is the connection in a record; exec is the argument of that name before.
func connectionOf(c *vnfm.KubernetesConnection, exec types.Object) connectionModel {
	return connectionModel{
		Endpoint:              tfutil.OptionalString(c.Endpoint),
		CACertificate:         tfutil.OptionalString(c.CACertificate),
		InsecureSkipTLSVerify: types.BoolValue(c.InsecureSkipTLSVerify),
		TLSServerName:         tfutil.OptionalString(c.TLSServerName),
		ProxyURL:              tfutil.OptionalString(c.ProxyURL),
		DefaultNamespace:      types.StringValue(cmp.Or(c.DefaultNamespace, vnfm.DefaultNamespace)),
		Username:              tfutil.OptionalString(c.Username),
		ClientCertificate:     tfutil.OptionalString(c.ClientCertificate),
		KubeconfigContext:     tfutil.OptionalString(c.KubeconfigContext),
		KubeconfigRef:         attrs.ClusterRefValue(c.KubeconfigRef),
		TokenFile:             tfutil.OptionalString(c.TokenFile),
		Exec:                  attrs.ExecValue(c.Exec, exec),
	}
}
