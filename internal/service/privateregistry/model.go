package privateregistry

import (
	"context"
	"net"
	"slices"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// model is the resource as Terraform has it.
type model struct {
	ID                 types.String   `tfsdk:"id"`
	Name               types.String   `tfsdk:"name"`
	Host               types.String   `tfsdk:"host"`
	InstanceID         types.String   `tfsdk:"instance_id"`
	InstanceGeneration types.Int64    `tfsdk:"instance_generation"`
	ConnectionPoint    types.String   `tfsdk:"ssh_cp_name"`
	SSH                types.Object   `tfsdk:"ssh"`
	ImagePath          types.String   `tfsdk:"image_path"`
	PackageID          types.String   `tfsdk:"package_id"`
	ContainerImage     types.String   `tfsdk:"container_image"`
	Runtime            types.String   `tfsdk:"runtime"`
	Port               types.Int64    `tfsdk:"port"`
	TLS                types.Object   `tfsdk:"tls"`
	Users              types.Map      `tfsdk:"users"`
	UsersWO            types.Map      `tfsdk:"users_wo"`
	UsersWOVersion     types.Int64    `tfsdk:"users_wo_version"`
	StoragePath        types.String   `tfsdk:"storage_path"`
	DeletionPolicy     types.Object   `tfsdk:"deletion_policy"`
	Proxy              types.Object   `tfsdk:"proxy"`
	OnUnreachable      types.String   `tfsdk:"on_unreachable"`
	Timeouts           timeouts.Value `tfsdk:"timeouts"`

	Operations     types.List   `tfsdk:"operations"`
	Status         types.String `tfsdk:"status"`
	Drift          types.List   `tfsdk:"drift"`
	PinnedHostKeys types.Map    `tfsdk:"pinned_host_keys"`
	installed
}

// installed is what an installation has led to.
type installed struct {
	Address         types.String `tfsdk:"address"`
	Server          types.String `tfsdk:"server"`
	URL             types.String `tfsdk:"url"`
	ImageID         types.String `tfsdk:"image_id"`
	OperatingSystem types.String `tfsdk:"operating_system"`
	RuntimeVersion  types.String `tfsdk:"runtime_version"`
}

// sshModel is how one logs in.
type sshModel struct {
	loginModel
	SudoPassword          types.String `tfsdk:"sudo_password"`
	SudoPasswordWO        types.String `tfsdk:"sudo_password_wo"`
	SudoPasswordWOVersion types.Int64  `tfsdk:"sudo_password_wo_version"`
	JumpHost              types.Object `tfsdk:"jump_host"`
}

// jumpModel is a jump host.
type jumpModel struct {
	loginModel
	Address types.String `tfsdk:"address"`
}

type loginModel struct {
	Username            types.String `tfsdk:"username"`
	Port                types.Int64  `tfsdk:"port"`
	UseAgent            types.Bool   `tfsdk:"use_agent"`
	HostKeyPolicy       types.String `tfsdk:"host_key_policy"`
	HostKeys            types.Set    `tfsdk:"host_keys"`
	Password            types.String `tfsdk:"password"`
	PasswordWO          types.String `tfsdk:"password_wo"`
	PasswordWOVersion   types.Int64  `tfsdk:"password_wo_version"`
	PrivateKey          types.String `tfsdk:"private_key"`
	PrivateKeyWO        types.String `tfsdk:"private_key_wo"`
	PrivateKeyWOVersion types.Int64  `tfsdk:"private_key_wo_version"`
	Passphrase          types.String `tfsdk:"passphrase"`
	PassphraseWO        types.String `tfsdk:"passphrase_wo"`
	PassphraseWOVersion types.Int64  `tfsdk:"passphrase_wo_version"`
}

type tlsModel struct {
	Certificate  types.String `tfsdk:"certificate"`
	Key          types.String `tfsdk:"key"`
	KeyWO        types.String `tfsdk:"key_wo"`
	KeyWOVersion types.Int64  `tfsdk:"key_wo_version"`
}

type proxyModel struct {
	NoProxy             types.String `tfsdk:"no_proxy"`
	HTTPProxy           types.String `tfsdk:"http_proxy"`
	HTTPProxyWO         types.String `tfsdk:"http_proxy_wo"`
	HTTPProxyWOVersion  types.Int64  `tfsdk:"http_proxy_wo_version"`
	HTTPSProxy          types.String `tfsdk:"https_proxy"`
	HTTPSProxyWO        types.String `tfsdk:"https_proxy_wo"`
	HTTPSProxyWOVersion types.Int64  `tfsdk:"https_proxy_wo_version"`
}

// deletionPolicyModel is what happens to what the registry holds.
type deletionPolicyModel struct {
	Images types.String `tfsdk:"images"`
}

// removesImages reports whether a destroy removes the images too.
func (m *model) removesImages(ctx context.Context, diags *diag.Diagnostics) bool {
	policy := tfutil.As[deletionPolicyModel](ctx, m.DeletionPolicy, diags)
	return policy != nil && policy.Images.ValueString() == imagesDelete
}

func secret(plain, writeOnly types.String) vnfm.Secret {
	return vnfm.Secret(tfutil.SecretValue(plain, writeOnly).ValueString())
}

// access reads a login. It must come from the configuration, which alone has the
// write-only values.
func (m *loginModel) access() vnfm.SSHAccess {
	out := vnfm.SSHAccess{
		User: m.Username.ValueString(), Port: int(m.Port.ValueInt64()), Agent: m.UseAgent.ValueBool(), Strict: m.HostKeyPolicy.ValueString() == hostKeyStrict,
		Password: secret(m.Password, m.PasswordWO), PrivateKey: secret(m.PrivateKey, m.PrivateKeyWO), Passphrase: secret(m.Passphrase, m.PassphraseWO),
	}
	out.HostKeys = tfutil.Strings(m.HostKeys)
	slices.Sort(out.HostKeys)
	return out
}

// known reports whether everything is known that a check needs. Identifiers may come
// later.
func (m *model) known(ctx context.Context) bool {
	for _, v := range []attr.Value{m.Name, m.SSH, m.ImagePath, m.ContainerImage, m.Runtime, m.Port, m.TLS, m.Users, m.UsersWO, m.StoragePath, m.Proxy} {
		if !tfutil.FullyKnown(ctx, v) {
			return false
		}
	}
	return true
}

// spec reads the configuration.
func (m *model) spec(ctx context.Context, diags *diag.Diagnostics) vnfm.RegistrySpec {
	s := vnfm.RegistrySpec{
		Name: m.Name.ValueString(), InstanceID: m.InstanceID.ValueString(), ConnectionPoint: m.ConnectionPoint.ValueString(),
		PackageID: m.PackageID.ValueString(), ImagePath: m.ImagePath.ValueString(), Image: m.ContainerImage.ValueString(),
		Runtime: m.Runtime.ValueString(), Port: int(m.Port.ValueInt64()), StoragePath: m.StoragePath.ValueString(),
		Pins: tfutil.Texts(m.PinnedHostKeys),
	}
	var ssh sshModel
	if diags.Append(tfutil.Into(ctx, m.SSH, &ssh)...); diags.HasError() {
		return s
	}
	s.SSH = ssh.access()
	s.SSH.Address, s.SSH.SudoPassword = m.Host.ValueString(), secret(ssh.SudoPassword, ssh.SudoPasswordWO)
	if tfutil.Set(ssh.JumpHost) {
		var jump jumpModel
		diags.Append(tfutil.Into(ctx, ssh.JumpHost, &jump)...)
		through := jump.access()
		through.Address = jump.Address.ValueString()
		s.SSH.Jump = &through
	}
	if tfutil.Set(m.TLS) {
		var tls tlsModel
		diags.Append(tfutil.Into(ctx, m.TLS, &tls)...)
		s.Certificate, s.Key = tls.Certificate.ValueString(), secret(tls.Key, tls.KeyWO)
	}
	for user, password := range tfutil.Merged(tfutil.Texts(m.Users), tfutil.Texts(m.UsersWO)) {
		if s.Users == nil {
			s.Users = map[string]vnfm.Secret{}
		}
		s.Users[user] = vnfm.Secret(password)
	}
	if tfutil.Set(m.Proxy) {
		var proxy proxyModel
		diags.Append(tfutil.Into(ctx, m.Proxy, &proxy)...)
		s.NoProxy, s.HTTPProxy, s.HTTPSProxy = proxy.NoProxy.ValueString(), secret(proxy.HTTPProxy, proxy.HTTPProxyWO), secret(proxy.HTTPSProxy, proxy.HTTPSProxyWO)
	}
	return s
}

// secretsOf are the texts that must not show up.
func secretsOf(s *vnfm.RegistrySpec) []string {
	var out []string
	for _, secret := range s.Secrets() {
		out = append(out, secret.Reveal())
	}
	return out
}

// set takes over what the registry was seen to be.
func (m *model) set(ctx context.Context, r *vnfm.Registry, diags *diag.Diagnostics) {
	m.ID, m.Address = types.StringValue(r.ID), types.StringValue(r.Address)
	server := net.JoinHostPort(r.Address, strconv.Itoa(r.Spec.Port))
	scheme := "http://"
	if r.Spec.Certificate != "" {
		scheme = "https://"
	}
	m.Server, m.URL = types.StringValue(server), types.StringValue(scheme+server)
	m.ImageID, m.OperatingSystem, m.RuntimeVersion = types.StringValue(r.State.Image), types.StringValue(r.State.System), tfutil.Version(r.State.Engine)
	m.Status = types.StringValue(statusReady)
	if !r.State.Ready || len(r.State.Drift) > 0 {
		m.Status = types.StringValue(statusDrifted)
	}
	drift := r.State.Drift
	if drift == nil {
		drift = []string{}
	}
	list, more := types.ListValueFrom(ctx, types.StringType, drift)
	diags.Append(more...)
	m.Drift, m.PinnedHostKeys = list, tfutil.StringMap(r.HostKeys)
}

// setUnknown says that what an installation leads to is not known yet.
func (m *model) setUnknown() {
	m.Status, m.Drift, m.PinnedHostKeys = types.StringUnknown(), types.ListUnknown(types.StringType), types.MapUnknown(types.StringType)
	for _, v := range []*types.String{&m.Address, &m.Server, &m.URL, &m.ImageID, &m.OperatingSystem, &m.RuntimeVersion} {
		*v = types.StringUnknown()
	}
}
