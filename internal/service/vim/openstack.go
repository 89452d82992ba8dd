package vim

import (
	"errors"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// openstackArgument is a text of a connection to an OpenStack that is no secret.
type openstackArgument struct {
	name        string
	description string
	field       func(*vnfm.OpenStackConnection) *string
}

const updatesInPlace = " Changing this checks the connection and updates the VIM in place."

// openstackArguments are all texts of a connection: schema, reading and writing follow
// this list.
var openstackArguments = []openstackArgument{
	{"auth_url", "URL of Keystone, with or without `/v3`, for example `https://cloud.example:5000/v3`. It is required unless a clouds.yaml gives it.",
		func(c *vnfm.OpenStackConnection) *string { return &c.AuthURL }},
	{"region", "Region of the cloud. Without it the first endpoint of the catalogue is taken, whatever its region is.",
		func(c *vnfm.OpenStackConnection) *string { return &c.Region }},
	{"interface", "Endpoints of the catalogue that are used: `public`, `internal` or `admin`. The default is `public`.",
		func(c *vnfm.OpenStackConnection) *string { return &c.Interface }},
	{"ca_certificate", "CA certificates that the certificates of the services are verified with, as PEM. Without it the roots of the system are used.",
		func(c *vnfm.OpenStackConnection) *string { return &c.CACertificate }},
	{"username", "Name of the user, together with `password`, or with `application_credential_name`.",
		func(c *vnfm.OpenStackConnection) *string { return &c.Username }},
	{"user_id", "Id of the user, in the place of `username` and its domain.",
		func(c *vnfm.OpenStackConnection) *string { return &c.UserID }},
	{"user_domain_name", "Name of the domain of the user. Without it and `user_domain_id` the domain with the id `default` is meant.",
		func(c *vnfm.OpenStackConnection) *string { return &c.UserDomainName }},
	{"user_domain_id", "Id of the domain of the user.",
		func(c *vnfm.OpenStackConnection) *string { return &c.UserDomainID }},
	{"project_name", "Name of the project. A password needs a project; a token is taken as it is without one, and an application credential has its own.",
		func(c *vnfm.OpenStackConnection) *string { return &c.ProjectName }},
	{"project_id", "Id of the project, in the place of `project_name` and its domain.",
		func(c *vnfm.OpenStackConnection) *string { return &c.ProjectID }},
	{"project_domain_name", "Name of the domain of the project. Without it and `project_domain_id` the domain with the id `default` is meant.",
		func(c *vnfm.OpenStackConnection) *string { return &c.ProjectDomainName }},
	{"project_domain_id", "Id of the domain of the project.",
		func(c *vnfm.OpenStackConnection) *string { return &c.ProjectDomainID }},
	{"application_credential_id", "Id of an application credential, together with `application_credential_secret`.",
		func(c *vnfm.OpenStackConnection) *string { return &c.ApplicationCredentialID }},
	{"application_credential_name", "Name of an application credential, with the user whose it is, in the place of its id.",
		func(c *vnfm.OpenStackConnection) *string { return &c.ApplicationCredentialName }},
	{"cloud", "Name of the cloud of the clouds.yaml. It can be left out when there is only one.",
		func(c *vnfm.OpenStackConnection) *string { return &c.Cloud }},
}

// openstackSecrets are the secret arguments of an OpenStack VIM.
var openstackSecrets = []tfutil.Secret{
	{Name: vnfm.CredentialPassword, Description: "Password of the user."},
	{Name: vnfm.CredentialApplicationSecret, Description: "Secret of the application credential."},
	{Name: vnfm.CredentialToken, Description: "Token of Keystone. It expires, and nothing renews it."},
	{Name: vnfm.CredentialCloudsYAML, Description: "Text of a whole clouds.yaml, which must hold everything itself: no profile and no file of certificates."},
}

// openstackAttribute is the connection to an OpenStack.
func openstackAttribute() schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "Connection to one region and project of an OpenStack, in the place of `kubernetes`. Exactly one way of authentication is set: a user with its password, " +
			"an application credential with its secret, a token, or a whole clouds.yaml, of which the other arguments replace single values. Nothing is ever read from variables of the environment or from the home directory. " +
			"Workload clusters get application credentials of their own with it: a VIM that authenticates with an application credential itself needs an unrestricted one for that. " +
			"Debian's and other patched Keystones refuse Heat's stacks to application credentials: use a password where Heat is. " +
			"Changing anything inside checks the connection and replaces it in place.",
		Attributes: openstackAttributes(),
	}
}

func openstackAttributes() map[string]schema.Attribute {
	attributes := map[string]schema.Attribute{
		"insecure_skip_tls_verify": schema.BoolAttribute{
			Optional: true,
			MarkdownDescription: "Whether the certificates of the services are accepted without verification. The default is `false`. It cannot be `true` together with `ca_certificate`." +
				updatesInPlace,
		},
	}
	for _, a := range openstackArguments {
		attributes[a.name] = schema.StringAttribute{
			Optional: true, MarkdownDescription: a.description + updatesInPlace,
			Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
		}
	}
	for _, s := range openstackSecrets {
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
	for _, s := range openstackSecrets {
		out[s.Name] = tfutil.SecretValue(o.text(s.Name), o.text(s.Name+tfutil.WriteOnlySuffix))
	}
	return out
}

// fill implements connection.
func (o openstackModel) fill(spec *vnfm.VIMSpec) {
	c := &vnfm.OpenStackConnection{}
	for _, a := range openstackArguments {
		*a.field(c) = o.text(a.name).ValueString()
	}
	insecure, _ := o["insecure_skip_tls_verify"].(types.Bool)
	c.InsecureSkipTLSVerify = insecure.ValueBool()
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
	for _, a := range openstackArguments {
		values[a.name] = tfutil.OptionalString(*a.field(c))
	}
	insecure, _ := values["insecure_skip_tls_verify"].(types.Bool)
	values["insecure_skip_tls_verify"] = tfutil.OptionalBool(c.InsecureSkipTLSVerify, insecure)
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
