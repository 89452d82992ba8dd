package connect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
)

// plan is the desired state of a node.
type plan struct {
	// files are the files to write, in order: certificates before the files that use them.
	files []wanted
	// gone are files of ours to remove.
	gone []string
	// record is the record after the changes.
	record record
}

// wanted is the desired state of one file.
type wanted struct {
	path    string
	content []byte
	mode    fs.FileMode
	owner   string
	// ours says that the provider alone writes the file. Its content and mode are compared with the node.
	ours bool
	// after is the action that a change of the file needs.
	after action
}

// action is a restart or reload that makes a service read a changed file.
type action string

const (
	nothing           action = ""
	restartContainerd action = "restart containerd"
	reloadDocker      action = "reload docker"
	reloadCRIO        action = "reload crio"
	restartCRIO       action = "restart crio"
)

// planFor returns the plan for the connections of a node, without requests to the node.
func planFor(n *node, connections []Connection) (*plan, error) {
	p := &plan{record: record{Logins: map[string][]string{}}}
	if len(connections) > 0 && !n.containerd && !n.docker && !n.crio {
		return nil, fmt.Errorf("no container runtime is running there: containerd, Docker or CRI-O must run before registries are connected")
	}
	for _, step := range []func(*node, []Connection) error{p.hosts, p.containerd, p.docker, p.crio, p.kubelet} {
		if err := step(n, connections); err != nil {
			return nil, err
		}
	}
	for _, former := range n.record.Files {
		if !slices.Contains(p.record.Files, former) {
			p.gone = append(p.gone, former)
		}
	}
	slices.Sort(p.record.Files)
	return p, nil
}

// pending are the actions for the changes of the plan, and for the changes of an interrupted run.
func (p *plan) pending(n *node) []action {
	out := slices.Clone(n.record.Pending)
	for _, f := range p.files {
		out = append(out, f.after)
	}
	for _, name := range p.gone {
		switch name {
		case crioRegistries:
			out = append(out, reloadCRIO)
		case crioDropIn:
			out = append(out, restartCRIO)
		}
	}
	runs := map[action]bool{restartContainerd: n.containerd, reloadDocker: n.docker, reloadCRIO: n.crio, restartCRIO: n.crio}
	out = slices.DeleteFunc(out, func(a action) bool { return !runs[a] })
	slices.Sort(out)
	return slices.Compact(out)
}

// own adds a file that the provider alone writes.
func (p *plan) own(name string, content []byte, mode fs.FileMode, after action) {
	p.files = append(p.files, wanted{path: name, content: content, mode: mode, ours: true, after: after})
	p.record.Files = append(p.record.Files, name)
}

// merge adds a file that others write too, unless the node has the same content. Nil content removes the file.
func (p *plan) merge(n *node, name string, content []byte, mode fs.FileMode, after action) {
	present, there := n.files[name]
	switch {
	case content == nil && there && len(present.content) > 0:
		p.files = append(p.files, wanted{path: name, after: after})
	case !bytes.Equal(content, present.content):
		w := wanted{path: name, content: content, mode: mode, after: after}
		if there {
			w.owner = present.owner
			if mode != secretMode {
				w.mode = present.mode
			}
		}
		p.files = append(p.files, w)
	case mode == secretMode && there && present.mode&0o077 != 0:
		p.files = append(p.files, wanted{path: name, content: content, mode: mode, owner: present.owner, after: nothing})
	}
}

// secretMode is the mode of files with logins.
const secretMode = fs.FileMode(0o600)

func (p *plan) hosts(n *node, connections []Connection) error {
	lines := hostsLines(connections)
	for _, name := range []string{hostsFile, hostsTemplate} {
		present, there := n.files[name]
		if !there {
			continue
		}
		text, err := withHosts(string(present.content), lines)
		if err != nil {
			return fmt.Errorf("%s cannot be edited: %w", name, err)
		}
		p.merge(n, name, []byte(text), 0o644, nothing)
		if len(lines) > 0 {
			p.record.Hosts = append(p.record.Hosts, name)
		}
	}
	return nil
}

func (p *plan) containerd(n *node, connections []Connection) error {
	if !n.containerd || len(connections) == 0 {
		return nil
	}
	effective := n.effective
	if effective == "" {
		effective = string(n.files[containerdConfig].content)
	}
	settings, err := readContainerd(effective)
	if err != nil {
		return fmt.Errorf("the configuration of containerd cannot be read: %w", err)
	}
	if settings.disabled {
		// This containerd pulls no images of pods.
		return nil
	}
	folder := settings.configPath
	if folder == "" {
		folder = containerdCerts
		text := string(n.files[containerdConfig].content)
		switch {
		case len(settings.former) == 0:
		case settings.sole && n.describes(settings.mirrors):
			if text, err = withoutMirrors(text, settings.plugin); err != nil {
				return fmt.Errorf("registry.mirrors cannot be removed from %s: %w; remove it there", containerdConfig, err)
			}
		default:
			return fmt.Errorf("%s has %s, which containerd refuses beside config_path: describe these registries in %s/<server>/hosts.toml, and remove the entries",
				containerdConfig, settings.former[0], containerdCerts)
		}
		text, err := withConfigPath(text, folder)
		if err != nil {
			return fmt.Errorf("config_path cannot be set in %s: %w; set it there to %q in the table registry of the plugin %s", containerdConfig, err, folder, settings.plugin)
		}
		p.merge(n, containerdConfig, []byte(text), 0o644, restartContainerd)
	}
	for _, c := range connections {
		at := path.Join(folder, c.Server)
		if c.Certificate != "" {
			p.own(path.Join(at, "ca.crt"), []byte(c.Certificate), 0o644, nothing)
		}
		p.own(path.Join(at, "hosts.toml"), hostsTOML(c, at), secretMode, nothing)
	}
	return nil
}

// describes reports whether each of the registries has a file in the future config_path. Up to v2.26 kubespray writes both forms, and
// configures containerd with the former one.
func (n *node) describes(registries []string) bool {
	for _, name := range registries {
		if len(n.files[hostsTOMLOf(name)].content) == 0 {
			return false
		}
	}
	return true
}

// hostsTOMLOf is the path of the file of a registry in containerdCerts.
func hostsTOMLOf(registry string) string { return path.Join(containerdCerts, registry, "hosts.toml") }

func (p *plan) docker(n *node, connections []Connection) error {
	var insecure []string
	if n.docker {
		for _, c := range connections {
			switch {
			case c.Type == HTTP:
				insecure = append(insecure, c.Server)
			case c.Certificate != "":
				p.own(path.Join(dockerCerts, c.Server, "ca.crt"), []byte(c.Certificate), 0o644, nothing)
			}
		}
	}
	if n.docker || len(n.record.Insecure) > 0 {
		text, added, err := withInsecure(n.files[daemonConfig].content, insecure, n.record.Insecure)
		if err != nil {
			return fmt.Errorf("%s cannot be read: %w", daemonConfig, err)
		}
		p.merge(n, daemonConfig, text, 0o644, reloadDocker)
		p.record.Insecure = added
	}
	return p.logins(n, connections, dockerAuth, n.docker)
}

func (p *plan) crio(n *node, connections []Connection) error {
	auth := cmp.Or(n.globalAuth, crioAuth)
	if n.crio {
		if conf := registriesConf(connections); conf != nil {
			p.own(crioRegistries, conf, 0o644, reloadCRIO)
		}
		for _, c := range connections {
			if c.Certificate != "" {
				p.own(path.Join(containersCerts, c.Server, "ca.crt"), []byte(c.Certificate), 0o644, nothing)
			}
		}
		if auth == crioAuth && len(loginsOf(connections)) > 0 {
			p.own(crioDropIn, fmt.Appendf(nil, "%s\n[crio.image]\nglobal_auth_file = %q\n", mark, crioAuth), 0o644, restartCRIO)
		}
	}
	return p.logins(n, connections, auth, n.crio)
}

// kubelet writes the logins for the kubelet, which sends them with each pull. The kubelet reads the file again every five minutes.
func (p *plan) kubelet(n *node, connections []Connection) error {
	return p.logins(n, connections, kubeletAuth, n.kubelet)
}

// logins writes the logins into a file. If used is false, it removes them.
func (p *plan) logins(n *node, connections []Connection, name string, used bool) error {
	former := n.record.Logins[name]
	var logins map[string]string
	if used {
		logins = loginsOf(connections)
	}
	if len(logins) == 0 && len(former) == 0 {
		return nil
	}
	text, added, err := withLogins(n.files[name].content, logins, former)
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", name, err)
	}
	p.merge(n, name, text, secretMode, nothing)
	if len(added) > 0 {
		p.record.Logins[name] = added
	}
	return nil
}

func loginsOf(connections []Connection) map[string]string {
	out := map[string]string{}
	for _, c := range connections {
		if basic := c.basic(); basic != "" {
			out[c.Server] = basic
		}
	}
	return out
}

// with returns the union of the records before and after a change: a run that resumes an interrupted one finds all files and entries
// that may be ours.
func (r record) with(other record) record {
	out := record{
		Files: union(r.Files, other.Files), Insecure: union(r.Insecure, other.Insecure), Hosts: union(r.Hosts, other.Hosts), Logins: map[string][]string{},
	}
	for name := range maps.Keys(r.Logins) {
		out.Logins[name] = union(r.Logins[name], other.Logins[name])
	}
	for name := range maps.Keys(other.Logins) {
		out.Logins[name] = union(r.Logins[name], other.Logins[name])
	}
	out.Pending = union(r.Pending, other.Pending)
	return out
}

func union[T cmp.Ordered](a, b []T) []T {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

func (r record) empty() bool {
	return len(r.Files)+len(r.Insecure)+len(r.Logins)+len(r.Hosts) == 0
}

func (r record) text() []byte {
	// Encoding lists of strings cannot fail.
	text, _ := json.MarshalIndent(r, "", "  ")
	return append(text, '\n')
}
