package connect

import (
	"context"
	_ "embed" // the script
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

// script defines shell functions.
//
//go:embed node.sh
var script string

// Files that others write too.
const (
	containerdConfig = "/etc/containerd/config.toml"
	daemonConfig     = "/etc/docker/daemon.json"
	dockerAuth       = "/root/.docker/config.json"
	kubeletAuth      = "/var/lib/kubelet/config.json"
	hostsFile        = "/etc/hosts"
	// cloud-init can be configured to write /etc/hosts from hostsTemplate at each boot.
	hostsTemplate = "/etc/cloud/templates/hosts.debian.tmpl"
)

// Files that the provider alone writes.
const (
	recordFile     = "/var/lib/terraform-provider-vnf/registries.json"
	crioRegistries = "/etc/containers/registries.conf.d/90-terraform-provider-vnf.conf"
	crioDropIn     = "/etc/crio/crio.conf.d/90-terraform-provider-vnf.conf"
	crioAuth       = "/etc/crio/terraform-provider-vnf-auth.json"
)

// The folders of certificates, by server.
const (
	dockerCerts     = "/etc/docker/certs.d"
	containersCerts = "/etc/containers/certs.d"
	containerdCerts = "/etc/containerd/certs.d"
)

// timeout bounds one command on a node.
const timeout = 2 * time.Minute

// file is a file on a node.
type file struct {
	content []byte
	mode    fs.FileMode
	owner   string
}

// node is the state of a node before changes.
type node struct {
	containerd, docker, crio bool
	// kubelet says that the folder of the kubelet exists.
	kubelet bool
	// files are the existing files that others write too, and the record.
	files map[string]file
	// effective is the configuration as containerd reads it, with its imports.
	effective string
	// globalAuth is the configured file of CRI-O for logins.
	globalAuth string
	record     record
}

// record lists the files and entries on a node that the provider has written.
type record struct {
	// Files are files that the provider alone writes.
	Files []string `json:"files,omitempty"`
	// Insecure are entries of Docker's daemon.json.
	Insecure []string `json:"insecure,omitempty"`
	// Logins are servers by the file that has a login for them.
	Logins map[string][]string `json:"logins,omitempty"`
	// Hosts are the files with a block of ours.
	Hosts []string `json:"hosts,omitempty"`
	// Pending are actions that services still need.
	Pending []action `json:"pending,omitempty"`
}

// worker changes one node.
type worker struct {
	client *remote.Client
	report func(line string)
	// changed are the changes so far.
	changed []string
}

func command(what string, stdin io.Reader, function ...string) remote.Command {
	return remote.Command{What: what, Script: script + "\n\"$@\"\n", Args: function, Stdin: stdin, Sudo: true, Timeout: timeout}
}

func (w *worker) do(ctx context.Context, what string, function ...string) error {
	_, err := w.client.Run(ctx, command(what, nil, function...))
	return err
}

// ask is do for a function whose output is needed.
func (w *worker) ask(ctx context.Context, what string, stdin io.Reader, function ...string) (string, error) {
	return w.client.Answer(ctx, command(what, stdin, function...))
}

// look reads all files and settings that the plan depends on.
func (w *worker) look(ctx context.Context) (*node, error) {
	files := []string{recordFile, containerdConfig, daemonConfig, dockerAuth, kubeletAuth, crioAuth, hostsFile, hostsTemplate}
	out, err := w.ask(ctx, "look for the container runtime", nil, append([]string{"inspect"}, files...)...)
	if err != nil {
		return nil, err
	}
	n := &node{files: map[string]file{}}
	kubeletUses := ""
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimRight(line, "\n"), "=")
		switch name {
		case "docker":
			n.docker = true
		case "crio":
			n.crio = true
		case "containerd":
			n.containerd = true
		case "kubelet":
			kubeletUses = value
		case "kubelet_folder":
			n.kubelet = true
		case "global_auth_file":
			n.globalAuth = value
		}
		if path, ok := strings.CutPrefix(name, "stat:"); ok {
			if n.files[path], err = w.readFile(ctx, path, value); err != nil {
				return nil, err
			}
		}
	}
	if n.globalAuth != "" && n.globalAuth != crioAuth {
		if n.files[n.globalAuth], err = w.readFile(ctx, n.globalAuth, "600 "); err != nil {
			return nil, err
		}
	}
	if n.docker && kubeletUses != "containerd" {
		// Only Docker uses this containerd, and restarting containerd would restart Docker.
		n.containerd = false
	}
	if n.containerd {
		if n.effective, err = w.ask(ctx, "read the configuration of containerd", nil, "effective"); err != nil {
			return nil, err
		}
		if err := w.lookAtMirrors(ctx, n); err != nil {
			return nil, err
		}
	}
	if present, ok := n.files[recordFile]; ok {
		if err := json.Unmarshal(present.content, &n.record); err != nil {
			return nil, fmt.Errorf("the record %s cannot be read (%w): remove it, and the connections are made again", recordFile, err)
		}
	}
	return n, nil
}

// lookAtMirrors reads the hosts.toml of each registry with mirrors in the configuration of containerd.
func (w *worker) lookAtMirrors(ctx context.Context, n *node) error {
	settings, err := readContainerd(n.effective)
	if err != nil || settings.configPath != "" {
		// planFor reports the error.
		return nil //nolint:nilerr // as above
	}
	for _, name := range settings.mirrors {
		if n.files[hostsTOMLOf(name)], err = w.readFile(ctx, hostsTOMLOf(name), "644 "); err != nil {
			return err
		}
	}
	return nil
}

// readFile reads a file. stat has its mode and owner; a file that no longer exists is empty.
func (w *worker) readFile(ctx context.Context, path, stat string) (file, error) {
	mode, owner, _ := strings.Cut(stat, " ")
	bits, err := strconv.ParseUint(mode, 8, 12)
	if err != nil {
		return file{}, fmt.Errorf("the mode %q of %s cannot be read: %w", mode, path, err)
	}
	content, err := w.client.ReadFile(ctx, path, true)
	if errors.Is(err, fs.ErrNotExist) {
		content = nil
	} else if err != nil {
		return file{}, err
	}
	return file{content: content, mode: fs.FileMode(bits), owner: owner}, nil
}
