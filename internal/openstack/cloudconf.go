package openstack

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The file of cloud-provider-openstack, which its cloud controller manager and its CSI drivers read, is in the format of
// gcfg: sections in brackets, then keys with quoted values (cloud-provider-openstack, "Config openstack-cloud-controller-manager").
const (
	// FileCloudConf is its key in a Secret.
	FileCloudConf = "cloud.conf"
	// sectionGlobal has the address and the credentials.
	sectionGlobal = "Global"
	// defaultCAFile is where the manifests and charts of the cloud controller manager mount the Secret.
	defaultCAFile = "/etc/config/" + FileCA
	keyCAFile     = "ca-file"
)

var (
	// confSection is a section, or one with a name of its own, such as `LoadBalancerClass "internal"`.
	confSection = lazyregexp.New(`^[A-Za-z][A-Za-z0-9-]*( "[^"\\\[\]\n]+")?$`)
	confKey     = lazyregexp.New(`^[A-Za-z][A-Za-z0-9-]*$`)
)

// ownKeys are those of the section Global that follow from the VIM and the application credential.
var ownKeys = []string{
	"auth-url", "region", "os-endpoint-type", "tls-insecure", "application-credential-id", "application-credential-name", "application-credential-secret",
	"username", "user-id", "password", "tenant-id", "tenant-name", "domain-id", "domain-name", "tenant-domain-id", "tenant-domain-name",
	"user-domain-id", "user-domain-name", "trust-id", "trustee-id", "trustee-password", "use-clouds", "clouds-file", "cloud", "cert-file", "key-file",
}

// CheckCloudConf returns why a section, or with a key an entry of it, cannot be set; empty when it can.
func CheckCloudConf(section, key, value string) string {
	switch {
	case !confSection.MatchString(section):
		return fmt.Sprintf("%q is not a section of cloud.conf: letters, digits and '-', for example LoadBalancer or LoadBalancerClass \"internal\"", section)
	case !confKey.MatchString(key):
		return fmt.Sprintf("%q is not a key of cloud.conf: letters, digits and '-', for example lb-provider", key)
	case strings.EqualFold(section, sectionGlobal) && slices.Contains(ownKeys, strings.ToLower(key)):
		return fmt.Sprintf("%s of section Global follows from the VIM and its application credential", key)
	case strings.ContainsAny(value, "\n\r"):
		return "a value of cloud.conf is one line"
	}
	return ""
}

// CloudConf writes the cloud.conf of one application credential, with further settings by section and key, which CheckCloudConf
// accepts. The certificate of the CA, if there is one, is read from where the charts of cloud-provider-openstack mount the Secret,
// unless the settings say ca-file.
func CloudConf(c vnfm.OpenStackConnection, id string, secret vnfm.Secret, settings map[string]map[string]string) vnfm.Secret {
	global := map[string]string{
		"auth-url": c.AuthURL, "application-credential-id": id, "application-credential-secret": secret.Reveal(),
	}
	set := func(key, value string) {
		if value != "" {
			global[key] = value
		}
	}
	set("region", c.Region)
	set("os-endpoint-type", c.Interface)
	if c.CACertificate != "" {
		set(keyCAFile, defaultCAFile)
	}
	if c.InsecureSkipTLSVerify {
		set("tls-insecure", "true")
	}
	sections := map[string]map[string]string{sectionGlobal: global}
	for section, entries := range settings {
		if strings.EqualFold(section, sectionGlobal) {
			for key, value := range entries {
				global[strings.ToLower(key)] = value
			}
			continue
		}
		sections[section] = entries
	}
	names := slices.Sorted(maps.Keys(sections))
	// The credentials come first, for a person who reads it.
	names = append([]string{sectionGlobal}, slices.DeleteFunc(names, func(name string) bool { return name == sectionGlobal })...)
	var text strings.Builder
	for _, name := range names {
		fmt.Fprintf(&text, "[%s]\n", name)
		for _, key := range slices.Sorted(maps.Keys(sections[name])) {
			fmt.Fprintf(&text, "%s=%s\n", key, quoteConf(sections[name][key]))
		}
	}
	return vnfm.Secret(text.String())
}

// quoteConf quotes a value for gcfg, which knows the escapes \" and \\ alone.
func quoteConf(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}
