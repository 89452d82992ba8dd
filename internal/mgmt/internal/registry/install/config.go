package install

import (
	"cmp"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Runtime is the engine that runs the registry.
type Runtime string

// The engines. Docker supervises its containers itself; a container of Podman is run by a unit of systemd, in the network of the host.
const (
	Docker Runtime = "docker"
	Podman Runtime = "podman"
)

// Defaults of the parameters.
const (
	defaultName  = "private_registry"
	defaultImage = "docker.io/library/registry:3"
	DefaultPort  = 5000
)

// Config is the desired state of a registry.
type Config struct {
	// Name is that of the container; empty is defaultName.
	Name string
	// Runtime is Docker when it is empty.
	Runtime Runtime
	// Archive is the file that the image comes from. Without it the image is pulled.
	Archive *Archive
	// Image is what is pulled, defaultImage when it is empty, or which one of an Archive
	// is meant that holds several.
	Image string
	// Port is where the registry listens on the host, on all its addresses; 0 is
	// DefaultPort.
	Port int
	// Certificate is a PEM chain, the server's own first, and Key its key. Without both the
	// registry is served over HTTP.
	Certificate string
	Key         vnfm.Secret
	// Users are the passwords by user; without any the registry asks for none.
	Users map[string]vnfm.Secret
	// StoragePath is the folder of the images on the host, /var/lib/<name> when it is empty.
	StoragePath string
	Proxy       Proxy
}

// Proxy is how the host reaches packages and images. The URLs may hold a password.
type Proxy struct {
	HTTP, HTTPS vnfm.Secret
	// No lists, separated by commas, what is reached without it.
	No string
}

// Archive is a file with images, as `docker save` writes it, or an OCI layout in a tar
// archive; both may be compressed by gzip.
type Archive struct {
	// Path is its name in messages: that of the file in its package.
	Path string
	// Open opens it from its beginning, as often as it is called.
	Open func() (io.ReadCloser, error)
	// Digest is that of the file, "sha256:" and hexadecimal, and Size its bytes.
	Digest string
	Size   int64
}

// completed is the config with its defaults.
func (c Config) completed() Config {
	c.Name = cmp.Or(c.Name, defaultName)
	c.Runtime = cmp.Or(c.Runtime, Docker)
	if c.Archive == nil {
		c.Image = cmp.Or(c.Image, defaultImage)
		c.Image = canonical(c.Image)
	}
	if c.Port == 0 {
		c.Port = DefaultPort
	}
	c.StoragePath = cmp.Or(c.StoragePath, "/var/lib/"+c.Name)
	return c
}

// source is what the image is known by before it is there: the digest of its archive, and
// which one of it, or the reference that is pulled.
func (c Config) source() string {
	if c.Archive == nil {
		return c.Image
	}
	if c.Image == "" {
		return c.Archive.Digest
	}
	return c.Archive.Digest + " " + c.Image
}

// Secure reports whether the registry is served over HTTPS.
func (c Config) Secure() bool { return c.Certificate != "" }

// folder holds the files of the registry on the host, where root alone enters.
func (c Config) folder() string { return "/etc/private-registry/" + c.Name }

func (c Config) file(name string) string { return path.Join(c.folder(), name) }

// The files in the folder.
const (
	fileCertificate = "tls.crt"
	fileKey         = "tls.key"
	fileUsers       = "htpasswd"
	fileProxy       = "proxy.env"
	fileNote        = "note.json"
)

// unit is the name of the unit of systemd that runs the container of Podman.
func (c Config) unit() string { return "registry-" + c.Name + ".service" }

func (c Config) unitFile() string { return "/etc/systemd/system/" + c.unit() }

// dropIn leads the daemon of Docker to its proxy.
func (c Config) dropIn() string {
	return "/etc/systemd/system/docker.service.d/registry-" + c.Name + ".conf"
}

// environment is that of the registry: where things are, and nothing secret. The address
// is that in the container, which has a network of its own with Docker alone.
func (c Config) environment() []string {
	listen := c.Port
	if c.Runtime == Docker {
		listen = DefaultPort
	}
	env := map[string]string{
		"REGISTRY_HTTP_ADDR":                        ":" + strconv.Itoa(listen),
		"REGISTRY_STORAGE_FILESYSTEM_ROOTDIRECTORY": insideStorage,
		"REGISTRY_STORAGE_DELETE_ENABLED":           "true",
		"OTEL_TRACES_EXPORTER":                      "none",
	}
	if c.Secure() {
		env["REGISTRY_HTTP_TLS_CERTIFICATE"] = path.Join(insideFolder, fileCertificate)
		env["REGISTRY_HTTP_TLS_KEY"] = path.Join(insideFolder, fileKey)
	}
	if len(c.Users) > 0 {
		env["REGISTRY_AUTH"] = "htpasswd"
		env["REGISTRY_AUTH_HTPASSWD_REALM"] = "private registry"
		env["REGISTRY_AUTH_HTPASSWD_PATH"] = path.Join(insideFolder, fileUsers)
	}
	out := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}

// Where the folders of the host are in the container.
const (
	insideStorage = "/var/lib/registry"
	insideFolder  = "/etc/private-registry"
)

// Secrets are all that the config holds, to be masked in what the host says.
func (c Config) secrets() []vnfm.Secret {
	out := []vnfm.Secret{c.Key, c.Proxy.HTTP, c.Proxy.HTTPS}
	for _, name := range slices.Sorted(maps.Keys(c.Users)) {
		out = append(out, c.Users[name])
	}
	return slices.DeleteFunc(out, func(s vnfm.Secret) bool { return s == "" })
}
