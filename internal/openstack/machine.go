package openstack

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// maxCloudsFile bounds a clouds.yaml, in bytes.
const maxCloudsFile = 1 << 20

// FromMachine completes a connection with what this machine has: with environment the OS_*
// variables, and the clouds.yaml in which a cloud is named. What is set already wins. No error
// repeats a value but names.
func FromMachine(c vnfm.OpenStackConnection, credentials vnfm.Credentials, environment bool, getenv func(string) string) (vnfm.OpenStackConnection, vnfm.Credentials, error) {
	out := maps.Clone(credentials)
	if environment {
		if err := fillFromEnvironment(&c, out, getenv); err != nil {
			return c, nil, err
		}
	}
	if c.Cloud == "" || out[vnfm.CredentialCloudsYAML] != "" {
		return c, out, nil
	}
	text, err := readClouds(getenv)
	if err != nil {
		return c, nil, fmt.Errorf("looking for cloud %q: %w", c.Cloud, err)
	}
	out[vnfm.CredentialCloudsYAML] = vnfm.Secret(text)
	return c, out, nil
}

// fillFromEnvironment fills what is not set from the variables that OpenStack's own tools read.
func fillFromEnvironment(c *vnfm.OpenStackConnection, credentials vnfm.Credentials, getenv func(string) string) error {
	for name, field := range map[string]*string{
		"OS_CLOUD": &c.Cloud, "OS_AUTH_URL": &c.AuthURL, "OS_REGION_NAME": &c.Region, "OS_INTERFACE": &c.Interface,
		"OS_USERNAME": &c.Username, "OS_USER_ID": &c.UserID, "OS_USER_DOMAIN_NAME": &c.UserDomainName, "OS_USER_DOMAIN_ID": &c.UserDomainID,
		"OS_PROJECT_NAME": &c.ProjectName, "OS_PROJECT_ID": &c.ProjectID,
		"OS_PROJECT_DOMAIN_NAME": &c.ProjectDomainName, "OS_PROJECT_DOMAIN_ID": &c.ProjectDomainID,
		"OS_APPLICATION_CREDENTIAL_ID": &c.ApplicationCredentialID, "OS_APPLICATION_CREDENTIAL_NAME": &c.ApplicationCredentialName,
	} {
		*field = cmp.Or(*field, getenv(name))
	}
	if len(credentials) == 0 {
		for name, variable := range map[string]string{
			vnfm.CredentialPassword: "OS_PASSWORD", vnfm.CredentialApplicationSecret: "OS_APPLICATION_CREDENTIAL_SECRET", vnfm.CredentialToken: "OS_TOKEN",
		} {
			if secret := getenv(variable); secret != "" {
				credentials[name] = vnfm.Secret(secret)
			}
		}
	}
	if file := getenv("OS_CACERT"); file != "" && c.CACertificate == "" && !c.InsecureSkipTLSVerify {
		pem, err := os.ReadFile(filepath.Clean(file))
		if err != nil {
			return fmt.Errorf("reading the CA certificates that OS_CACERT names: %w", err)
		}
		c.CACertificate = string(pem)
	}
	if c.Cloud == "" && c.AuthURL == "" {
		return errors.New("from_environment is true, but neither OS_CLOUD nor OS_AUTH_URL is set in the environment of Terraform")
	}
	return nil
}

// readClouds reads the clouds.yaml of this machine from the first place that has one.
func readClouds(getenv func(string) string) (string, error) {
	places := []string{FileClouds}
	if home := getenv("HOME"); home != "" {
		places = append(places, filepath.Join(home, ".config", "openstack", FileClouds))
	}
	places = append(places, filepath.Join("/etc/openstack", FileClouds))
	if named := getenv("OS_CLIENT_CONFIG_FILE"); named != "" {
		places = []string{named}
	}
	for _, place := range places {
		info, err := os.Stat(place)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return "", err
		case info.Size() > maxCloudsFile:
			return "", fmt.Errorf("%s is larger than %d bytes", place, maxCloudsFile)
		}
		text, err := os.ReadFile(filepath.Clean(place))
		return string(text), err
	}
	return "", fmt.Errorf("there is no clouds.yaml at %s: give its content as clouds_yaml, or its path in OS_CLIENT_CONFIG_FILE", strings.Join(places, ", "))
}
