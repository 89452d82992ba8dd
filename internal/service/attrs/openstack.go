package attrs

import (
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// OpenStackArgument is a string argument of a connection to an OpenStack that is not a secret.
type OpenStackArgument struct {
	Name string
	// Description consists of whole sentences.
	Description string
	Field       func(*vnfm.OpenStackConnection) *string
}

// OpenStackSwitch is a boolean of a connection to an OpenStack.
type OpenStackSwitch struct {
	Name        string
	Description string
	Field       func(*vnfm.OpenStackConnection) *bool
}

// OpenStackSwitches are all boolean arguments of a connection.
func OpenStackSwitches() []OpenStackSwitch {
	return []OpenStackSwitch{
		{"insecure_skip_tls_verify", "Whether to accept the services without verification of their certificates, instead of `ca_certificate`. Defaults to `false`, also if a clouds.yaml has `verify: false`.",
			func(c *vnfm.OpenStackConnection) *bool { return &c.InsecureSkipTLSVerify }},
		{"allow_http_endpoints", "Whether to use services that the catalogue has at `http` although `auth_url` is `https`: they get the token, and the secrets of templates, unencrypted. Defaults to `false`.",
			func(c *vnfm.OpenStackConnection) *bool { return &c.AllowHTTPEndpoints }},
	}
}

// OpenStackArguments are all string arguments of a connection. Schema, reading and writing
// follow this list.
func OpenStackArguments() []OpenStackArgument {
	return []OpenStackArgument{
		{"auth_url", "URL of Keystone, with or without `/v3`, for example `https://cloud.example:5000/v3`. It is required unless a clouds.yaml contains it.",
			func(c *vnfm.OpenStackConnection) *string { return &c.AuthURL }},
		{"region", "Region of the cloud. Defaults to the region of the first endpoint of the catalogue.",
			func(c *vnfm.OpenStackConnection) *string { return &c.Region }},
		{"interface", "Endpoints of the catalogue to use: `public`, `internal` or `admin`. Defaults to the interface of the clouds.yaml, else `public`.",
			func(c *vnfm.OpenStackConnection) *string { return &c.Interface }},
		{"ca_certificate", "PEM CA bundle used to verify the services. Defaults to the CA bundle of the system.",
			func(c *vnfm.OpenStackConnection) *string { return &c.CACertificate }},
		{"username", "Name of the user, for `password` or `application_credential_name`.",
			func(c *vnfm.OpenStackConnection) *string { return &c.Username }},
		{"user_id", "Id of the user, instead of `username` and its domain.",
			func(c *vnfm.OpenStackConnection) *string { return &c.UserID }},
		{"user_domain_name", "Name of the domain of the user. Defaults to the domain with the id `default`, unless `user_domain_id` is set.",
			func(c *vnfm.OpenStackConnection) *string { return &c.UserDomainName }},
		{"user_domain_id", "Id of the domain of the user.",
			func(c *vnfm.OpenStackConnection) *string { return &c.UserDomainID }},
		{"project_name", "Name of the project. A password requires a project; a token may have none, and an application credential has its own.",
			func(c *vnfm.OpenStackConnection) *string { return &c.ProjectName }},
		{"project_id", "Id of the project, instead of `project_name` and its domain.",
			func(c *vnfm.OpenStackConnection) *string { return &c.ProjectID }},
		{"project_domain_name", "Name of the domain of the project. Defaults to the domain with the id `default`, unless `project_domain_id` is set.",
			func(c *vnfm.OpenStackConnection) *string { return &c.ProjectDomainName }},
		{"project_domain_id", "Id of the domain of the project.",
			func(c *vnfm.OpenStackConnection) *string { return &c.ProjectDomainID }},
		{"application_credential_id", "Id of an application credential, with `application_credential_secret`.",
			func(c *vnfm.OpenStackConnection) *string { return &c.ApplicationCredentialID }},
		{"application_credential_name", "Name of an application credential, with its user, instead of its id.",
			func(c *vnfm.OpenStackConnection) *string { return &c.ApplicationCredentialName }},
		{"cloud", "Name of the cloud in the clouds.yaml. Defaults to the only cloud.",
			func(c *vnfm.OpenStackConnection) *string { return &c.Cloud }},
	}
}

// OpenStackSecrets are the secret arguments of a connection to an OpenStack.
func OpenStackSecrets() []tfutil.Secret {
	return []tfutil.Secret{
		{Name: vnfm.CredentialPassword, Description: "Password of the user."},
		{Name: vnfm.CredentialApplicationSecret, Description: "Secret of the application credential."},
		{Name: vnfm.CredentialToken, Description: "Keystone token. It expires and is not renewed."},
		{Name: vnfm.CredentialCloudsYAML, Description: "Complete clouds.yaml with all values inline: no profile and no certificate files."},
	}
}
