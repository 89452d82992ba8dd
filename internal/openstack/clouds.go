package openstack

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The files of a Secret that Cluster API Provider OpenStack and OpenStack's own tools read.
const (
	FileClouds = "clouds.yaml"
	FileCA     = "cacert"
)

// cloudsFile is a clouds.yaml, as far as it is read and written.
type cloudsFile struct {
	Clouds map[string]cloud `yaml:"clouds"`
}

type cloud struct {
	Auth       cloudAuth `yaml:"auth"`
	AuthType   string    `yaml:"auth_type,omitempty"`
	RegionName string    `yaml:"region_name,omitempty"`
	Interface  string    `yaml:"interface,omitempty"`
	// EndpointType is an older name of Interface.
	EndpointType       string `yaml:"endpoint_type,omitempty"`
	IdentityAPIVersion any    `yaml:"identity_api_version,omitempty"`
	Verify             *bool  `yaml:"verify,omitempty"`
	CACert             string `yaml:"cacert,omitempty"`
	Profile            string `yaml:"profile,omitempty"`
	Vendor             string `yaml:"cloud,omitempty"`
	Insecure           bool   `yaml:"insecure,omitempty"`
	// Regions are those of a cloud that has several, each its name or a mapping with it.
	Regions []any `yaml:"regions,omitempty"`
	// Rest is what the file says besides, which is looked at for what would be left undone.
	Rest map[string]any `yaml:",inline"`
}

type cloudAuth struct {
	AuthURL                     string `yaml:"auth_url,omitempty"`
	Username                    string `yaml:"username,omitempty"`
	UserID                      string `yaml:"user_id,omitempty"`
	Password                    string `yaml:"password,omitempty"`
	Token                       string `yaml:"token,omitempty"`
	UserDomainName              string `yaml:"user_domain_name,omitempty"`
	UserDomainID                string `yaml:"user_domain_id,omitempty"`
	ProjectName                 string `yaml:"project_name,omitempty"`
	ProjectID                   string `yaml:"project_id,omitempty"`
	ProjectDomainName           string `yaml:"project_domain_name,omitempty"`
	ProjectDomainID             string `yaml:"project_domain_id,omitempty"`
	DomainName                  string `yaml:"domain_name,omitempty"`
	DomainID                    string `yaml:"domain_id,omitempty"`
	ApplicationCredentialID     string `yaml:"application_credential_id,omitempty"`
	ApplicationCredentialName   string `yaml:"application_credential_name,omitempty"`
	ApplicationCredentialSecret string `yaml:"application_credential_secret,omitempty"`
}

// parseClouds reads one cloud of a clouds.yaml: the named one, or the only one. No error
// repeats what the file says but the names of clouds.
func parseClouds(text, name string) (*cloud, error) {
	var file cloudsFile
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		return nil, errors.New("it is not valid YAML, or not a clouds.yaml, which has a mapping clouds from names to clouds")
	}
	names := slices.Sorted(maps.Keys(file.Clouds))
	switch {
	case len(names) == 0:
		return nil, errors.New("it has no clouds")
	case name == "" && len(names) > 1:
		return nil, fmt.Errorf("it has several clouds, but cloud names none of them: %s", strings.Join(names, ", "))
	case name == "":
		name = names[0]
	}
	c, ok := file.Clouds[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("it has no cloud %q; its clouds are %s", name, strings.Join(names, ", "))
	case c.Profile != "" || c.Vendor != "":
		return nil, fmt.Errorf("cloud %q refers to a profile, which is in another file: copy its settings into the cloud", name)
	case c.CACert != "":
		return nil, fmt.Errorf("cloud %q names a file of CA certificates (cacert), but no other file is read: give the certificates as ca_certificate, and remove cacert", name)
	}
	return &c, c.check(name)
}

// authTypes are the names of the ways of authentication, as keystoneauth has them.
var authTypes = map[string]string{
	"": "", "password": vnfm.CredentialPassword, "v3password": vnfm.CredentialPassword, "token": vnfm.CredentialToken, "v3token": vnfm.CredentialToken,
	"v3applicationcredential": vnfm.CredentialApplicationSecret,
}

// check refuses what would have a secret sent to another server than the file means, or
// otherwise.
func (c *cloud) check(name string) error {
	way, ok := authTypes[c.AuthType]
	if !ok {
		return fmt.Errorf("cloud %q has the auth_type %q, which is not supported; supported are %s",
			name, c.AuthType, strings.Join(slices.Sorted(maps.Keys(authTypes))[1:], ", "))
	}
	for other, value := range map[string]string{
		vnfm.CredentialPassword: c.Auth.Password, vnfm.CredentialToken: c.Auth.Token, vnfm.CredentialApplicationSecret: c.Auth.ApplicationCredentialSecret,
	} {
		if way != "" && value != "" && other != way {
			return fmt.Errorf("cloud %q has the auth_type %q, but the credentials of another one: keep one of them", name, c.AuthType)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.Rest)) {
		switch {
		case strings.HasSuffix(key, "_endpoint_override"), strings.HasSuffix(key, "_endpoint"):
			return fmt.Errorf("cloud %q sets the address of a service (%s), but addresses come from the catalogue only: remove it, or choose another interface", name, key)
		case key == "cert", key == "key":
			return fmt.Errorf("cloud %q names a file of a client certificate (%s), but no other file is read", name, key)
		}
	}
	return nil
}

// regions are the names of the regions that the cloud lists.
func (c *cloud) regions() []string {
	var out []string
	for _, region := range c.Regions {
		if described, ok := region.(map[string]any); ok {
			region = described["name"]
		}
		out = append(out, fmt.Sprint(region))
	}
	return out
}

// fillFrom takes from a cloud what the connection does not say.
func (a *access) fillFrom(c *cloud) {
	fill := func(dst *string, src ...string) {
		for _, text := range src {
			if *dst == "" {
				*dst = text
			}
		}
	}
	auth := c.Auth
	fill(&a.AuthURL, auth.AuthURL)
	fill(&a.Region, c.RegionName)
	fill(&a.Interface, c.Interface, c.EndpointType)
	if a.Username == "" && a.UserID == "" {
		a.Username, a.UserID = auth.Username, auth.UserID
	}
	fill(&a.UserDomainName, auth.UserDomainName, auth.DomainName)
	fill(&a.UserDomainID, auth.UserDomainID, auth.DomainID)
	if a.ProjectName == "" && a.ProjectID == "" {
		a.ProjectName, a.ProjectID = auth.ProjectName, auth.ProjectID
	}
	fill(&a.ProjectDomainName, auth.ProjectDomainName, auth.DomainName)
	fill(&a.ProjectDomainID, auth.ProjectDomainID, auth.DomainID)
	fill(&a.ApplicationCredentialID, auth.ApplicationCredentialID)
	fill(&a.ApplicationCredentialName, auth.ApplicationCredentialName)
	fill(&a.password, auth.Password)
	fill(&a.secret, auth.ApplicationCredentialSecret)
	fill(&a.token, auth.Token)
}

// unverified is how the cloud says that the certificates of its services stay unverified;
// empty when it does not.
func (c *cloud) unverified() string {
	switch {
	case c.Verify != nil && !*c.Verify:
		return "verify: false"
	case c.Verify == nil && c.Insecure:
		return "insecure: true"
	default:
		return ""
	}
}

// CloudsYAML writes the clouds.yaml of one application credential.
func CloudsYAML(name string, c vnfm.OpenStackConnection, id string, secret vnfm.Secret) (vnfm.Secret, error) {
	verify := !c.InsecureSkipTLSVerify
	text, err := yaml.Marshal(cloudsFile{Clouds: map[string]cloud{name: {
		Auth:     cloudAuth{AuthURL: c.AuthURL, ApplicationCredentialID: id, ApplicationCredentialSecret: secret.Reveal()},
		AuthType: "v3applicationcredential", RegionName: c.Region, Interface: c.Interface, IdentityAPIVersion: 3, Verify: &verify,
	}}})
	if err != nil {
		return "", errors.New("writing a clouds.yaml failed")
	}
	return vnfm.Secret(text), nil
}

// ReadCloudsYAML returns the application credential that a clouds.yaml holds.
func ReadCloudsYAML(text, name string) (id string, secret vnfm.Secret, err error) {
	c, err := parseClouds(text, name)
	if err != nil {
		return "", "", err
	}
	return c.Auth.ApplicationCredentialID, vnfm.Secret(c.Auth.ApplicationCredentialSecret), nil
}

// Resolved is a connection as it is used: that of a clouds.yaml is in it.
func Resolved(cfg Config) (vnfm.OpenStackConnection, error) {
	a, err := resolve(cfg)
	if err != nil {
		return vnfm.OpenStackConnection{}, err
	}
	return a.OpenStackConnection, nil
}

// SecretsIn returns the secrets that a clouds.yaml holds, of all its clouds.
func SecretsIn(text string) []string {
	var file cloudsFile
	if yaml.Unmarshal([]byte(text), &file) != nil {
		return nil
	}
	var out []string
	for _, c := range file.Clouds {
		for _, secret := range []string{c.Auth.Password, c.Auth.Token, c.Auth.ApplicationCredentialSecret} {
			if secret != "" {
				out = append(out, secret)
			}
		}
	}
	return out
}
