// Package privateregistry installs private registries on hosts over SSH, for the resource vnf_private_registry and as a management driver.
package privateregistry

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/hosts"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/registry/install"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Installer implements vnfm.RegistryDriver.
type Installer struct{}

var _ vnfm.RegistryDriver = Installer{}

// NewInstaller returns the driver of the resource.
func NewInstaller() Installer { return Installer{} }

// CheckRegistry implements vnfm.RegistryDriver.
func (Installer) CheckRegistry(spec *vnfm.RegistrySpec, content fs.FS) vnfm.Problems {
	var problems vnfm.Problems
	h := login(spec.SSH, spec.SSH.Address)
	if h.Address == "" {
		// The address of an instance is unknown at plan time.
		h.Address = "192.0.2.1"
	}
	if err := h.Check(); err != nil {
		problems = append(problems, vnfm.Problem{Attribute: "ssh", Summary: strings.TrimPrefix(err.Error(), "host 192.0.2.1: "),
			Detail: "it is needed to log in to the host of the registry"})
	}
	cfg, err := configOf(spec, content)
	if err != nil {
		return append(problems, vnfm.Problem{Attribute: "image_path", Summary: err.Error()})
	}
	for _, p := range cfg.Check() {
		p.Attribute = argument(p.Attribute)
		problems = append(problems, p)
	}
	return problems
}

// argument is the path of an attribute of install.Config in the schema of the resource.
func argument(attribute string) string {
	switch attribute {
	case "certificate", "key":
		return "tls." + attribute
	case "image":
		return "container_image"
	case "proxy.http", "proxy.https", "proxy.no":
		return "proxy." + map[string]string{"proxy.http": "http_proxy", "proxy.https": "https_proxy", "proxy.no": "no_proxy"}[attribute]
	default:
		return attribute
	}
}

// InstallRegistry implements vnfm.RegistryDriver.
func (Installer) InstallRegistry(ctx context.Context, h *vnfm.RegistryHost) (*vnfm.RegistryState, error) {
	c, cfg, err := open(ctx, h, h.Content, hosts.Patience)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	if err := h.Begin(ctx); err != nil {
		return nil, err
	}
	state, err := install.Apply(ctx, c, cfg, h.Progress)
	if err != nil {
		return nil, err
	}
	return stateOf(state), nil
}

// ReadRegistry implements vnfm.RegistryDriver.
func (Installer) ReadRegistry(ctx context.Context, h *vnfm.RegistryHost) (*vnfm.RegistryState, error) {
	c, cfg, err := open(ctx, h, h.Content, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	state, err := install.Read(ctx, c, cfg)
	if err != nil {
		return nil, err
	}
	return stateOf(state), nil
}

// FindRegistry implements vnfm.RegistryDriver.
func (Installer) FindRegistry(ctx context.Context, h *vnfm.RegistryHost) ([]string, error) {
	c, cfg, err := reach(ctx, h)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	return install.Find(ctx, c, cfg)
}

// RemoveRegistry implements vnfm.RegistryDriver.
func (Installer) RemoveRegistry(ctx context.Context, h *vnfm.RegistryHost, data bool) error {
	c, cfg, err := reach(ctx, h)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	return install.Remove(ctx, c, cfg, data)
}

// reach is open for a host that may be deleted for good, which is a *vnfm.UnreachableError. An incomplete login is enough to detect that.
func reach(ctx context.Context, h *vnfm.RegistryHost) (*remote.Client, install.Config, error) {
	to := host(h)
	gone := func(err error) error {
		return &vnfm.UnreachableError{Peer: "host " + h.Address, Err: err}
	}
	if err := to.Check(); err != nil {
		if silent := remote.Probe(ctx, to); remote.IsGone(silent) {
			return nil, install.Config{}, gone(silent)
		}
		return nil, install.Config{}, err
	}
	c, cfg, err := open(ctx, h, nil, 0)
	if remote.IsGone(err) {
		err = gone(err)
	}
	return c, cfg, err
}

// open connects to the host of a registry and returns its configuration. A nil content leaves the image archive out.
func open(ctx context.Context, h *vnfm.RegistryHost, content fs.FS, patience time.Duration) (*remote.Client, install.Config, error) {
	cfg, err := configOf(h.Spec, content)
	if err != nil {
		return nil, cfg, err
	}
	c, err := remote.Dial(ctx, host(h), patience)
	return c, cfg, err
}

func stateOf(s install.State) *vnfm.RegistryState {
	return &vnfm.RegistryState{Ready: s.Ready, Drift: s.Drift, Port: s.Port, Image: s.Image, System: s.System, Engine: s.EngineVersion}
}

// host returns the address and login of the host of a registry.
func host(h *vnfm.RegistryHost) remote.Host {
	out := login(h.Spec.SSH, h.Address)
	out.Pins, out.PinName = h.HostKeys, h.Pin
	if out.Jump != nil {
		out.Jump.Pins, out.Jump.PinName = h.HostKeys, "host/"+out.Jump.Address
	}
	return out
}

func login(a vnfm.SSHAccess, address string) remote.Host {
	h := remote.Host{
		Address: address, Port: a.Port, User: a.User, Agent: a.Agent, HostKeys: a.HostKeys, Strict: a.Strict,
		Password: a.Password, SudoPassword: a.SudoPassword, PrivateKey: a.PrivateKey, Passphrase: a.Passphrase,
	}
	if a.Jump != nil {
		through := login(*a.Jump, a.Jump.Address)
		h.Jump = &through
	}
	return h
}

// configOf returns the configuration for a specification. A nil content leaves the image archive out.
func configOf(spec *vnfm.RegistrySpec, content fs.FS) (install.Config, error) {
	cfg := install.Config{
		Name: spec.Name, Runtime: install.Runtime(spec.Runtime), Image: spec.Image, Port: spec.Port, Certificate: spec.Certificate, Key: spec.Key,
		Users: spec.Users, StoragePath: spec.StoragePath, Proxy: install.Proxy{HTTP: spec.HTTPProxy, HTTPS: spec.HTTPSProxy, No: spec.NoProxy},
	}
	if spec.ImagePath == "" || content == nil {
		return cfg, nil
	}
	file := spec.ImagePath
	if !path.IsAbs(file) {
		file = path.Clean(file)
	}
	open := func() (io.ReadCloser, error) { return content.Open(file) }
	f, err := open()
	if errors.Is(err, fs.ErrNotExist) {
		return cfg, fmt.Errorf("there is no file %s", spec.ImagePath)
	}
	if err != nil {
		return cfg, fmt.Errorf("opening %s: %w", spec.ImagePath, err)
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	if err != nil {
		return cfg, fmt.Errorf("reading %s: %w", spec.ImagePath, err)
	}
	cfg.Archive = &install.Archive{Path: spec.ImagePath, Open: open, Digest: digest.Sum(sum), Size: size}
	return cfg, nil
}
