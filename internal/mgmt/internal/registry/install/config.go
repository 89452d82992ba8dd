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

// The engines. Docker supervises its containers itself. A systemd unit runs the container of Podman, in the network of the host.
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
	// Name is the name of the container; empty means defaultName.
	Name string
	// Runtime is the engine; empty means Docker.
	Runtime Runtime
	// Archive is the file with the image; nil means that the image is pulled.
	Archive *Archive
	// Image is the reference to pull, by default defaultImage, or selects an image of the Archive.
	Image string
	// Port is the port of the registry on all addresses of the host; 0 means DefaultPort.
	Port int
	// Certificate is a PEM chain, the certificate of the server first, and Key its key. If both are empty, the registry uses HTTP.
	Certificate string
	Key         vnfm.Secret
	// Users are the passwords by user; empty means that the registry needs no login.
	Users map[string]vnfm.Secret
	// StoragePath is the folder of the images on the host; empty means /var/lib/<name>.
	StoragePath string
	Proxy       Proxy
}

// Proxy is the HTTP proxy for packages and images. The URLs may contain a password.
type Proxy struct {
	HTTP, HTTPS vnfm.Secret
	// No is a comma-separated list of hosts that bypass the proxy.
	No string
}

// Archive is a file with images in the format of `docker save`, or an OCI layout in a tar archive; both may be compressed by gzip.
type Archive struct {
	// Path is the path in the package, for messages.
	Path string
	// Open opens the file from its beginning. It can be called repeatedly.
	Open func() (io.ReadCloser, error)
	// Digest is the digest of the file, "sha256:" and hexadecimal. Size is in bytes.
	Digest string
	Size   int64
}

// completed returns the config with its defaults.
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

// source identifies the image before the host has it: the digest of its archive and the selected image, or the reference to pull.
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

// folder holds the files of the registry on the host, readable by root alone.
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

// unit is the name of the systemd unit that runs the container of Podman.
func (c Config) unit() string { return "registry-" + c.Name + ".service" }

func (c Config) unitFile() string { return "/etc/systemd/system/" + c.unit() }

// dropIn is the path of the systemd drop-in with the proxy of the Docker daemon.
func (c Config) dropIn() string {
	return "/etc/systemd/system/docker.service.d/registry-" + c.Name + ".conf"
}

// environment is the environment of the registry. It contains paths and no secrets. The port is the one inside the container: only with
// Docker does the container have a network of its own.
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

// Mount points of the folders of the host in the container.
const (
	insideStorage = "/var/lib/registry"
	insideFolder  = "/etc/private-registry"
)

// secrets are the secrets of the config, masked in the output of the host.
func (c Config) secrets() []vnfm.Secret {
	out := []vnfm.Secret{c.Key, c.Proxy.HTTP, c.Proxy.HTTPS}
	for _, name := range slices.Sorted(maps.Keys(c.Users)) {
		out = append(out, c.Users[name])
	}
	return slices.DeleteFunc(out, func(s vnfm.Secret) bool { return s == "" })
}
