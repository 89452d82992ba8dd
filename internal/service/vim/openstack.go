package vim

import (
	"errors"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const updatesInPlace = " Changing this checks the connection and updates the VIM in place."

// openstackAttribute is the connection to an OpenStack.
func openstackAttribute() schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "Connection to one region and project of an OpenStack, instead of `kubernetes`. Exactly one way of authentication is set: a user with its password, " +
			"an application credential with its secret, a token, or a clouds.yaml, whose values the other arguments override. Environment variables and the home directory are never read. " +
			"To issue application credentials for workload clusters, a VIM that itself authenticates with an application credential needs an unrestricted one. " +
			"Patched versions of Keystone, such as Debian's, do not let application credentials create Heat stacks: use a password for a VIM of VNF instances. " +
			"Changing anything here checks the connection and updates it in place.",
		Attributes: openstackAttributes(),
	}
}

func openstackAttributes() map[string]schema.Attribute {
	attributes := map[string]schema.Attribute{}
	for _, s := range attrs.OpenStackSwitches() {
		attributes[s.Name] = schema.BoolAttribute{
			Optional: true, Computed: true, Default: booldefault.StaticBool(false), MarkdownDescription: s.Description + updatesInPlace,
		}
	}
	for _, a := range attrs.OpenStackArguments() {
		attributes[a.Name] = schema.StringAttribute{
			Optional: true, MarkdownDescription: a.Description + updatesInPlace,
			Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
		}
	}
	for _, s := range attrs.OpenStackSecrets() {
		s.AddTo(attributes)
	}
	return attributes
}

// openstackTypes are the types of the attribute openstack of the resource.
func openstackTypes() map[string]attr.Type {
	return openstackAttribute().GetType().(basetypes.ObjectType).AttrTypes //nolint:forcetypeassert // A nested attribute is an object.
}

// openstackModel is the attribute openstack with its attributes by name.
type openstackModel map[string]attr.Value

func (o openstackModel) text(name string) types.String {
	v, _ := o[name].(types.String)
	return v
}

// credentials implements connection.
func (o openstackModel) credentials() map[string]types.String {
	out := map[string]types.String{}
	for _, s := range attrs.OpenStackSecrets() {
		out[s.Name] = tfutil.SecretValue(o.text(s.Name), o.text(s.Name+tfutil.WriteOnlySuffix))
	}
	return out
}

// proofs are the secrets of an authentication. Another one does not make it that of another user.
var proofs = []string{vnfm.CredentialPassword, vnfm.CredentialApplicationSecret}

// mayBeOther reports whether two connections may lead to another user or endpoint: they differ in more than the password of a user or
// the secret of an application credential.
func (o openstackModel) mayBeOther(before openstackModel) bool {
	for name, value := range o {
		proof := slices.ContainsFunc(proofs, func(p string) bool { return name == p || strings.HasPrefix(name, p+tfutil.WriteOnlySuffix) })
		if !proof && !value.Equal(before[name]) {
			return true
		}
	}
	return false
}

// fill implements connection.
func (o openstackModel) fill(spec *vnfm.VIMSpec) {
	c := &vnfm.OpenStackConnection{}
	for _, a := range attrs.OpenStackArguments() {
		*a.Field(c) = o.text(a.Name).ValueString()
	}
	for _, s := range attrs.OpenStackSwitches() {
		on, _ := o[s.Name].(types.Bool)
		*s.Field(c) = on.ValueBool()
	}
	spec.Type, spec.OpenStack = vnfm.VIMTypeOpenStack, c
}

// validate implements connection. What is known is judged once all is.
func (o openstackModel) validate(path.Path) diag.Diagnostics {
	var diags diag.Diagnostics
	for _, v := range o {
		if v.IsUnknown() {
			return diags
		}
	}
	spec := vnfm.VIMSpec{Credentials: known(o.credentials())}
	o.fill(&spec)
	_, err := openstack.Resolved(openstack.Config{Connection: *spec.OpenStack, Credentials: spec.Credentials})
	var invalid *vnfm.InvalidError
	if errors.As(inConnection(spec, err), &invalid) {
		diags.Append(tfutil.Problems(invalid.Problems, path.Empty())...)
	}
	return diags
}

// place implements connection.
func (o openstackModel) place() vnfm.VIMPlace {
	p := vnfm.VIMPlace{Type: vnfm.VIMTypeOpenStack}
	for _, v := range o {
		if v.IsUnknown() {
			return p
		}
	}
	spec := vnfm.VIMSpec{Credentials: known(o.credentials())}
	o.fill(&spec)
	c, err := openstack.Resolved(openstack.Config{Connection: *spec.OpenStack, Credentials: spec.Credentials})
	if err != nil {
		return p
	}
	v := vnfm.VIM{Type: p.Type, OpenStack: &c}
	return v.Place()
}

// openstackValue writes a connection, of which secrets and what says nothing are those
// of before.
func openstackValue(c *vnfm.OpenStackConnection, prior types.Object, attributeTypes map[string]attr.Type) types.Object {
	if c == nil {
		return types.ObjectNull(attributeTypes)
	}
	values := make(map[string]attr.Value, len(attributeTypes))
	before := prior.Attributes()
	for name, t := range attributeTypes {
		if v, ok := before[name]; ok {
			values[name] = v
			continue
		}
		values[name] = nullOf(t)
	}
	for _, a := range attrs.OpenStackArguments() {
		values[a.Name] = tfutil.OptionalString(*a.Field(c))
	}
	for _, s := range attrs.OpenStackSwitches() {
		values[s.Name] = types.BoolValue(*s.Field(c))
	}
	return types.ObjectValueMust(attributeTypes, values)
}

// nullOf is the null of a type that connections have.
func nullOf(t attr.Type) attr.Value {
	switch t {
	case types.BoolType:
		return types.BoolNull()
	case types.Int64Type:
		return types.Int64Null()
	default:
		return types.StringNull()
	}
}
