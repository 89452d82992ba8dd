package attrs

import (
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// OpenStackArgument is a text of a connection to an OpenStack that is no secret.
type OpenStackArgument struct {
	Name string
	// Description says what it is in whole sentences.
	Description string
	Field       func(*vnfm.OpenStackConnection) *string
}

// OpenStackSwitch is a boolean of a connection to an OpenStack.
type OpenStackSwitch struct {
	Name        string
	Description string
	Field       func(*vnfm.OpenStackConnection) *bool
}

// OpenStackSwitches are all booleans of a connection, as OpenStackArguments are its texts.
func OpenStackSwitches() []OpenStackSwitch {
	return []OpenStackSwitch{
		{"insecure_skip_tls_verify", "Whether the certificates of the services are accepted without verification. The default is `false`, also where a clouds.yaml has `verify: false`. It cannot be `true` together with `ca_certificate`.",
			func(c *vnfm.OpenStackConnection) *bool { return &c.InsecureSkipTLSVerify }},
		{"allow_http_endpoints", "Whether services may be used that the catalogue has at `http` although `auth_url` is `https`: they get the token, and the secrets of templates, unencrypted. The default is `false`.",
			func(c *vnfm.OpenStackConnection) *bool { return &c.AllowHTTPEndpoints }},
	}
}

// OpenStackArguments are all texts of a connection: schema, reading and writing follow
// this list wherever a connection is configured.
func OpenStackArguments() []OpenStackArgument {
	return []OpenStackArgument{
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
}

// OpenStackSecrets are the secret arguments of a connection to an OpenStack.
func OpenStackSecrets() []tfutil.Secret {
	return []tfutil.Secret{
		{Name: vnfm.CredentialPassword, Description: "Password of the user."},
		{Name: vnfm.CredentialApplicationSecret, Description: "Secret of the application credential."},
		{Name: vnfm.CredentialToken, Description: "Token of Keystone. It expires, and nothing renews it."},
		{Name: vnfm.CredentialCloudsYAML, Description: "Text of a whole clouds.yaml, which must hold everything itself: no profile and no file of certificates."},
	}
}
