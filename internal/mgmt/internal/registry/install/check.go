package install

import (
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var nameForm = lazyregexp.New(`^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,62}$`)

// maxPassword is the number of bytes of a password that bcrypt uses.
const maxPassword = 72

// systemFolders cannot hold the images of a registry: they belong to the host.
var systemFolders = []string{
	"/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/media", "/mnt", "/opt", "/proc", "/root", "/run", "/sbin", "/srv", "/sys", "/tmp",
	"/usr", "/var", "/var/lib", "/var/lib/containerd", "/var/lib/containers", "/var/lib/docker",
}

// Check validates a config without a host. The attributes of its problems are name, runtime, image, image_path, port, certificate, key,
// users (with the user as Key), storage_path, proxy.http, proxy.https and proxy.no. Check reads the archive.
func (c Config) Check() vnfm.Problems {
	var ps vnfm.Problems
	refuse := func(attribute, summary, detail string) {
		ps = append(ps, vnfm.Problem{Attribute: attribute, Summary: summary, Detail: detail})
	}
	if c.Name != "" && !nameForm.MatchString(c.Name) {
		refuse("name", fmt.Sprintf("%q cannot be the name of a container", c.Name),
			"a name has letters, digits, underscores, points and dashes, begins with a letter or digit, and is 63 characters long at most")
	}
	if c.Runtime != "" && c.Runtime != Docker && c.Runtime != Podman {
		refuse("runtime", fmt.Sprintf("there is no runtime %q", string(c.Runtime)), "a registry is run by docker or podman")
	}
	if c.Port < 0 || c.Port > 65535 {
		refuse("port", fmt.Sprintf("%d is not a TCP port", c.Port), "a port is 1 to 65535")
	} else if c.Port == 22 {
		refuse("port", "port 22 is that of SSH", "the host is reached through it; the registry listens on another one, usually 5000")
	}
	if folder := c.StoragePath; folder != "" {
		switch {
		case !strings.HasPrefix(folder, "/") || path.Clean(folder) != folder || strings.ContainsAny(folder, ":,\n\"'\\$%"):
			refuse("storage_path", fmt.Sprintf("%q is not a usable path", folder), "it is absolute, has no \"..\" and no slash at its end, and none of : , quotes, $, % and \\")
		case slices.Contains(systemFolders, folder):
			refuse("storage_path", fmt.Sprintf("%s belongs to the system of the host", folder), "give the registry a folder of its own, for example "+path.Join(folder, "registry"))
		}
	}
	c.checkImage(refuse)
	c.checkCertificate(refuse)
	c.checkUsers(&ps)
	c.Proxy.check(refuse)
	return ps
}

func (c Config) checkImage(refuse func(attribute, summary, detail string)) {
	if c.Image != "" {
		if err := checkReference(c.Image); err != nil {
			refuse("image", "the image cannot be used", err.Error())
			return
		}
	}
	if c.Archive == nil {
		return
	}
	found, err := c.Archive.read()
	if err != nil {
		refuse("image_path", c.Archive.Path+" is not a file that `docker save` made", err.Error())
		return
	}
	if _, _, err := found.choose(c.Image); err != nil {
		refuse("image_path", "the image of the registry is ambiguous", fmt.Sprintf("%s: %s", c.Archive.Path, err))
		return
	}
	if found.layout && (c.Runtime == "" || c.Runtime == Docker) {
		refuse("image_path", c.Archive.Path+" is an OCI layout, which Docker reads only from version 25", "make the file with docker save, or use runtime podman")
	}
}

func (c Config) checkCertificate(refuse func(attribute, summary, detail string)) {
	switch {
	case c.Certificate == "" && c.Key == "":
		return
	case c.Certificate == "":
		refuse("certificate", "there is a key and no certificate", "HTTPS needs both, HTTP neither")
		return
	case c.Key == "":
		refuse("key", "there is a certificate and no key", "HTTPS needs both, HTTP neither")
		return
	}
	certificate, err := leaf(c.Certificate)
	if err != nil {
		refuse("certificate", "the certificate cannot be used", err.Error())
		return
	}
	if err := valid(certificate, time.Now()); err != nil {
		refuse("certificate", "the certificate cannot be used", err.Error())
	}
	if len(certificate.DNSNames)+len(certificate.IPAddresses) == 0 {
		refuse("certificate", "the certificate has no name that a client would accept", "clients check only its subject alternative names: the host names and addresses by which the registry is reached")
	}
	if err := checkKey(c.Certificate, c.Key.Reveal()); err != nil {
		refuse("key", "the key cannot be used", err.Error())
	}
}

func (c Config) checkUsers(ps *vnfm.Problems) {
	for _, user := range slices.Sorted(maps.Keys(c.Users)) {
		refuse := func(summary, detail string) {
			*ps = append(*ps, vnfm.Problem{Attribute: "users", Key: user, Summary: summary, Detail: detail})
		}
		if user == "" || strings.ContainsAny(user, ":\n\r\x00") {
			refuse(fmt.Sprintf("%q cannot be the name of a user", user), "a name is not empty and has no colon and no line break")
		}
		switch password := c.Users[user].Reveal(); {
		case password == "":
			refuse(fmt.Sprintf("user %q has no password", user), "anybody who knows the name could log in; give a password, or remove the user")
		case len(password) > maxPassword:
			refuse(fmt.Sprintf("the password of user %q is too long", user), fmt.Sprintf("it has %d bytes, and only the first %d are compared", len(password), maxPassword))
		case strings.ContainsAny(password, "\n\r\x00"):
			refuse(fmt.Sprintf("the password of user %q has a line break", user), "clients cannot send it")
		}
	}
}

func (p Proxy) check(refuse func(attribute, summary, detail string)) {
	for _, of := range []struct {
		attribute string
		value     vnfm.Secret
	}{{"proxy.http", p.HTTP}, {"proxy.https", p.HTTPS}} {
		if of.value == "" {
			continue
		}
		// The error of the parser quotes the URL, which may contain a password.
		u, err := url.Parse(of.value.Reveal())
		switch {
		case err != nil || u.Host == "" || u.Hostname() == "":
			refuse(of.attribute, "the proxy is not a valid URL", "the form is http://[user:password@]host:port, with the port as a number, and with %XX for what is special in a password")
		case u.Scheme != "http" && u.Scheme != "https":
			refuse(of.attribute, fmt.Sprintf("a proxy cannot have the scheme %q", u.Scheme), "the form is http://[user:password@]host:port")
		case strings.ContainsAny(of.value.Reveal(), "\n\r\"'\\$` "):
			refuse(of.attribute, "the proxy has characters that are not allowed in a URL", "write them as %XX")
		}
	}
	if strings.ContainsAny(p.No, "\n\r\"'\\$` ") {
		refuse("proxy.no", "the list of hosts that are reached without the proxy has a space, a quote or a line break", "separate names and addresses by commas only")
	}
}
