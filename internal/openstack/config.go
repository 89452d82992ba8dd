package openstack

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/nfv-iac/terraform-provider-vnf/internal/endpoint"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Config says how to reach one OpenStack, and as whom.
type Config struct {
	// Connection and Credentials are those of the VIM. Nothing else is read: no OS_
	// variables, no clouds.yaml of the home directory.
	Connection  vnfm.OpenStackConnection
	Credentials vnfm.Credentials
	// UserAgent is sent with every request, "terraform-provider-vnf/<version>".
	UserAgent string
	// VIM is the name of the VIM, for errors.
	VIM string
	// Peer is set for what is not a VIM.
	Peer vnfm.Peer
}

func (c Config) peer() vnfm.Peer { return cmp.Or(c.Peer, vnfm.VIMPeer(c.VIM, c.Connection.PerRun)) }

// defaultDomain is the id of the domain of users and projects that name none.
const defaultDomain = "default"

// interfaces are those of the catalogue that can be asked for.
var interfaces = []string{"public", "internal", "admin"}

// access is a Config after a clouds.yaml was resolved: one Keystone and exactly one way
// of authentication.
type access struct {
	vnfm.OpenStackConnection
	password, secret, token string
}

// resolve lays the connection over a clouds.yaml, if there is one, and checks what
// comes of it. It returns a *vnfm.InvalidError that names every wrong argument.
func resolve(cfg Config) (*access, error) {
	var problems vnfm.Problems
	a := &access{OpenStackConnection: cfg.Connection}
	a.password = cfg.Credentials[vnfm.CredentialPassword].Reveal()
	a.secret = cfg.Credentials[vnfm.CredentialApplicationSecret].Reveal()
	a.token = strings.TrimSpace(cfg.Credentials[vnfm.CredentialToken].Reveal())
	if text := cfg.Credentials[vnfm.CredentialCloudsYAML].Reveal(); text != "" {
		cloud, err := parseClouds(text, cfg.Connection.Cloud)
		if err != nil {
			problems.Invalid(vnfm.CredentialCloudsYAML, "the clouds.yaml cannot be used", err.Error())
			return nil, problems.Err()
		}
		a.fillFrom(cloud)
		if regions := cloud.regions(); a.Region == "" && len(regions) > 1 {
			problems.Invalid(vnfm.CredentialCloudsYAML, "the clouds.yaml has several regions: "+strings.Join(regions, ", "), "choose one by region, or by region_name in the cloud")
		} else if a.Region == "" && len(regions) == 1 {
			a.Region = regions[0]
		}
		if setting := cloud.unverified(); setting != "" && a.CACertificate == "" && !a.InsecureSkipTLSVerify {
			problems.Invalid("insecure_skip_tls_verify", fmt.Sprintf("the clouds.yaml leaves the certificates of the cloud unverified (%s)", setting),
				"give the CA as ca_certificate, or set insecure_skip_tls_verify = true where the network is trusted")
		}
	}
	a.AuthURL = checkAuthURL(a.AuthURL, &problems)
	a.checkWays(&problems)
	if a.Interface == "" {
		a.Interface = interfaces[0]
	}
	a.Interface = strings.TrimSuffix(a.Interface, "URL")
	if !slices.Contains(interfaces, a.Interface) {
		problems.Invalid("interface", fmt.Sprintf("there is no interface %q", a.Interface), "the interfaces of a catalogue are "+strings.Join(interfaces, ", "))
	}
	if a.CACertificate != "" && !x509.NewCertPool().AppendCertsFromPEM([]byte(a.CACertificate)) {
		problems.Invalid("ca_certificate", "the CA certificate holds no certificate in PEM form", "it begins with -----BEGIN CERTIFICATE-----")
	}
	if a.CACertificate != "" && a.InsecureSkipTLSVerify {
		problems.Invalid("insecure_skip_tls_verify", "a CA certificate is given although nothing is verified", "remove one of ca_certificate and insecure_skip_tls_verify")
	}
	return a, problems.Err()
}

// checkWays refuses anything but one way of authentication, and halves of one.
func (a *access) checkWays(problems *vnfm.Problems) {
	var ways []string
	for name, value := range map[string]string{
		vnfm.CredentialPassword: a.password, vnfm.CredentialApplicationSecret: a.secret, vnfm.CredentialToken: a.token,
	} {
		if value != "" {
			ways = append(ways, name)
		}
	}
	slices.Sort(ways)
	switch {
	case len(ways) == 0:
		problems.Invalid(vnfm.CredentialPassword, "no credentials are given",
			"set exactly one of username with password, an application credential with its secret, token, or clouds_yaml")
		return
	case len(ways) > 1:
		problems.Invalid(ways[1], "several ways of authentication are given: "+strings.Join(ways, ", "), "keep one of them")
		return
	}
	hasUser, hasProject := a.Username != "" || a.UserID != "", a.ProjectName != "" || a.ProjectID != ""
	switch ways[0] {
	case vnfm.CredentialPassword:
		if !hasUser {
			problems.Invalid("username", "a password is given without a user", "set username or user_id")
		}
		if !hasProject {
			problems.Invalid("project_name", "no project is given", "set project_name or project_id: all resources belong to a project")
		}
	case vnfm.CredentialApplicationSecret:
		switch {
		case a.ApplicationCredentialID == "" && a.ApplicationCredentialName == "":
			problems.Invalid("application_credential_id", "a secret is given without its application credential", "set application_credential_id, or application_credential_name with the user")
		case a.ApplicationCredentialID == "" && !hasUser:
			problems.Invalid("username", "an application credential is named without its user", "set username or user_id, or give application_credential_id instead of the name")
		case hasProject:
			problems.Invalid("project_name", "a project is given with an application credential", "an application credential belongs to the project that it was created in; remove the project")
		}
	}
}

func checkAuthURL(text string, problems *vnfm.Problems) string {
	if u, err := url.Parse(text); err == nil && u.User != nil {
		// Without the name of the argument: Terraform would quote its line, and the password in it.
		problems.Invalid("", "the auth_url contains a user name or password", "use username and password")
		return text
	}
	u := endpoint.Check("auth_url", text, "give the URL of Keystone, for example https://cloud.example:5000/v3", problems)
	if u != nil && strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/v2.0") {
		problems.Invalid("auth_url", "the auth_url is that of version 2 of Keystone, which no longer exists", "give that of version 3, or omit the version")
	}
	return text
}

// options are what gophercloud authenticates with.
func (a *access) options() *gophercloud.AuthOptions {
	o := &gophercloud.AuthOptions{
		IdentityEndpoint: a.AuthURL,
		Password:         a.password, TokenID: a.token,
		ApplicationCredentialID: a.ApplicationCredentialID, ApplicationCredentialName: a.ApplicationCredentialName, ApplicationCredentialSecret: a.secret,
		AllowReauth: a.token == "",
	}
	if a.token == "" && a.ApplicationCredentialID == "" {
		o.Username, o.UserID = a.Username, a.UserID
		if a.UserID == "" {
			o.DomainID, o.DomainName = domain(a.UserDomainID, a.UserDomainName)
		} else {
			o.Username = ""
		}
	}
	switch {
	case a.secret != "":
	case a.ProjectID != "":
		o.Scope = &gophercloud.AuthScope{ProjectID: a.ProjectID}
	case a.ProjectName != "":
		o.Scope = &gophercloud.AuthScope{ProjectName: a.ProjectName}
		o.Scope.DomainID, o.Scope.DomainName = domain(a.ProjectDomainID, a.ProjectDomainName)
	}
	return o
}

// domain is one of the two by which a domain is named, the default one when neither is.
func domain(id, name string) (byID, byName string) {
	switch {
	case id != "":
		return id, ""
	case name != "":
		return "", name
	default:
		return defaultDomain, ""
	}
}

// secrets are the texts that must not show up anywhere.
func (a *access) secrets() []string { return []string{a.password, a.secret, a.token} }
