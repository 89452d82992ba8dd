package vnfm

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"strings"
)

// SSHAccess says how one logs in to a host over SSH. Secrets are in no record in clear.
type SSHAccess struct {
	// Address is left empty where it is found elsewhere.
	Address string `json:"address,omitempty"`
	Port    int    `json:"port,omitempty"`
	User    string `json:"user"`
	// Agent offers the keys of the SSH agent of the machine that runs Terraform.
	Agent bool `json:"agent,omitempty"`
	// HostKeys are lines as in authorized_keys; without any the first key that the host
	// shows is kept, and no other accepted from then on.
	HostKeys []string `json:"host_keys,omitempty"`
	// Strict refuses a host of which no key is given or kept.
	Strict bool       `json:"strict,omitempty"`
	Jump   *SSHAccess `json:"jump,omitempty"`

	Password     Secret `json:"-"`
	SudoPassword Secret `json:"-"`
	PrivateKey   Secret `json:"-"`
	Passphrase   Secret `json:"-"`
}

// secrets are the places of the secrets, by name.
func (a *SSHAccess) secrets(prefix string) map[string]*Secret {
	out := map[string]*Secret{
		prefix + "password": &a.Password, prefix + "sudo_password": &a.SudoPassword,
		prefix + "private_key": &a.PrivateKey, prefix + "passphrase": &a.Passphrase,
	}
	if a.Jump != nil {
		maps.Copy(out, a.Jump.secrets(prefix+"jump."))
	}
	return out
}

// RegistrySpec is a private registry as a user wants it.
type RegistrySpec struct {
	// Name is that of the container.
	Name string `json:"name"`
	// SSH leads to the host. Without an address the host is the server of a VNF instance that
	// has the connection point.
	SSH             SSHAccess `json:"ssh"`
	InstanceID      string    `json:"instance_id,omitempty"`
	ConnectionPoint string    `json:"connection_point,omitempty"`
	// ImagePath is a file of the package, or, when it is absolute, of this machine. Without
	// PackageID the package is that of the instance.
	PackageID string `json:"package_id,omitempty"`
	ImagePath string `json:"image_path,omitempty"`
	// Image is pulled, or chosen of several in the file.
	Image       string `json:"image,omitempty"`
	Runtime     string `json:"runtime,omitempty"`
	Port        int    `json:"port,omitempty"`
	Certificate string `json:"certificate,omitempty"`
	StoragePath string `json:"storage_path,omitempty"`
	NoProxy     string `json:"no_proxy,omitempty"`

	Key        Secret            `json:"-"`
	Users      map[string]Secret `json:"-"`
	HTTPProxy  Secret            `json:"-"`
	HTTPSProxy Secret            `json:"-"`

	// Pins are the keys of hosts that Terraform's state remembers, by their names in Registry.HostKeys. They hold where the record
	// has none.
	Pins map[string]string `json:"-"`
}

const userSecret = "user."

// Secrets are all secrets of the specification by name.
func (s *RegistrySpec) Secrets() map[string]Secret {
	out := map[string]Secret{}
	for name, place := range s.places() {
		if *place != "" {
			out[name] = *place
		}
	}
	for user, password := range s.Users {
		out[userSecret+user] = password
	}
	return out
}

// SetSecrets puts them back.
func (s *RegistrySpec) SetSecrets(secrets map[string]Secret) {
	places := s.places()
	s.Users = nil
	for name, secret := range secrets {
		if user, ok := strings.CutPrefix(name, userSecret); ok {
			if s.Users == nil {
				s.Users = map[string]Secret{}
			}
			s.Users[user] = secret
		} else if place := places[name]; place != nil {
			*place = secret
		}
	}
}

func (s *RegistrySpec) places() map[string]*Secret {
	out := s.SSH.secrets("ssh.")
	out["key"], out["http_proxy"], out["https_proxy"] = &s.Key, &s.HTTPProxy, &s.HTTPSProxy
	return out
}

// RegistryRemoval says how a private registry is removed.
type RegistryRemoval struct {
	// Images removes the images in its storage too.
	Images bool
	// OnUnreachable says what to do when the host cannot be reached. When it is empty, what the VIM says holds whose server the host
	// is, and then DefaultOnUnreachable; empty means OnUnreachableFail.
	OnUnreachable, DefaultOnUnreachable OnUnreachable
	// LeftBehind, when set, is called when the registry is forgotten, with why its host cannot be reached.
	LeftBehind func(reason error)
}

// Registry is the record of a private registry.
type Registry struct {
	ID   string       `json:"id"`
	Spec RegistrySpec `json:"spec"`
	// Address is that of the host.
	Address string        `json:"address"`
	State   RegistryState `json:"state"`
	// HostKeys are the keys of hosts that were met.
	HostKeys map[string]string `json:"host_keys,omitempty"`
}

// RegistryState is what a registry was seen to be.
type RegistryState struct {
	// Ready says that the registry runs and answers, and Drift how it differs from what was asked for.
	Ready bool     `json:"ready"`
	Drift []string `json:"drift,omitempty"`
	// Port and Secure say where it listens, and whether with TLS.
	Port   int  `json:"port"`
	Secure bool `json:"secure,omitempty"`
	// Image identifies the image that the engine runs, System and Engine what it runs on.
	Image  string `json:"image,omitempty"`
	System string `json:"system,omitempty"`
	Engine string `json:"engine,omitempty"`
}

// RegistryHost is the host of a registry, with what belongs to it.
type RegistryHost struct {
	Spec    *RegistrySpec
	Address string
	// Pin is the name under which the key of the host is kept.
	Pin      string
	HostKeys HostKeys
	// Content is where ImagePath is.
	Content fs.FS
	// Begin is called once the host has let the user in, before anything is changed there.
	Begin func(ctx context.Context) error
	// Progress is called with each step.
	Progress func(line string)
}

// ErrNoRegistry says that a host has no registry of that name which this provider has installed.
var ErrNoRegistry = errors.New("this provider has installed no such registry there")

// RegistryDriver installs private registries on hosts. Every method can be called again
// after it was interrupted at any instant and reaches the same end.
type RegistryDriver interface {
	// CheckRegistry finds what is wrong with a specification, offline. Content is nil as
	// long as the image cannot be read.
	CheckRegistry(spec *RegistrySpec, content fs.FS) Problems
	InstallRegistry(ctx context.Context, h *RegistryHost) (*RegistryState, error)
	ReadRegistry(ctx context.Context, h *RegistryHost) (*RegistryState, error)
	// FindRegistry finds the mark that an installation has left on the host, and returns ErrNoRegistry without one. It gives
	// the users of the registry that the specification does not know, without their passwords. A host that is not reached is a
	// *UnreachableError, also without a login.
	FindRegistry(ctx context.Context, h *RegistryHost) (users []string, err error)
	// RemoveRegistry removes the container and what was made for it, and the images in its
	// storage when that is asked for. A host that is not reached is a *UnreachableError, as in FindRegistry.
	RemoveRegistry(ctx context.Context, h *RegistryHost, data bool) error
}
