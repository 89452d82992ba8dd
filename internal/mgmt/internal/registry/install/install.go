package install

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Limits of long steps: waiting for another apt, downloads over the network.
const (
	lockPatience    = 10 * time.Minute
	packagesTimeout = 30 * time.Minute
	imageTimeout    = 30 * time.Minute
)

// machines are the supported architectures: the name in images by the name of uname.
var machines = map[string]string{"x86_64": "amd64", "aarch64": "arm64"}

// installer installs one registry on one host.
type installer struct {
	Config
	engine
	client *remote.Client
	report func(line string)
	// found is the state of the host, note the record of an earlier installation.
	found *hostState
	note  note
}

// Apply installs or updates a registry and waits until it answers. It can be repeated after an interruption at any instant, and changes
// nothing on a host that is up to date. report gets each step before it begins.
func Apply(ctx context.Context, client *remote.Client, c Config, report func(line string)) (State, error) {
	i := &installer{Config: c.completed(), client: client, report: report}
	i.engine = engines[i.Runtime]
	if err := i.install(ctx); err != nil {
		return State{}, fmt.Errorf("installing the registry %s on %s: %w", i.Name, client.Name(), err)
	}
	return i.state(), nil
}

func (i *installer) install(ctx context.Context) error {
	if err := i.readHost(ctx); err != nil {
		return err
	}
	before := i.note
	if err := i.found.supported(i.client.Name()); err != nil {
		return err
	}
	if err := i.installEngine(ctx); err != nil {
		return err
	}
	if err := i.installImage(ctx); err != nil {
		return err
	}
	files, err := i.writeFiles(ctx)
	if err != nil {
		return err
	}
	if err := i.runContainer(ctx, files); err != nil {
		return err
	}
	if err := i.ready(ctx); err != nil {
		return err
	}
	return i.forgetImage(ctx, before)
}

// readHost reads the state of the host and the note.
func (i *installer) readHost(ctx context.Context) (err error) {
	if i.found, err = i.inspect(ctx, i.client, i.Config); err != nil {
		return err
	}
	if i.found.files[fileNote] == "" {
		return nil
	}
	text, err := i.read(ctx, i.file(fileNote))
	if err != nil || text == nil {
		return err
	}
	if err := json.Unmarshal(text, &i.note); err != nil {
		// The note only avoids repeated work, so an unreadable one is ignored.
		i.note = note{}
	}
	return nil
}

// read returns the content of a file of root; nil if it does not exist.
func (i *installer) read(ctx context.Context, name string) ([]byte, error) {
	content, err := i.client.ReadFile(ctx, name, true)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return content, nil
}

// supported returns an error for a host on which a registry cannot be installed.
func (s *hostState) supported(host string) error {
	name := cmp.Or(s.system, "a system without /etc/os-release")
	if s.id != "debian" && s.id != "ubuntu" {
		return fmt.Errorf("%s runs %s, but a registry can be installed on Debian and Ubuntu only; use an image of one of them for the server", host, name)
	}
	if machines[s.machine] == "" {
		return fmt.Errorf("%s is a machine of type %s, but a registry can be installed on x86_64 (amd64) and aarch64 (arm64) only", host, s.machine)
	}
	if !s.systemd {
		return fmt.Errorf("%s runs %s without systemd, which is needed to start the registry when the host starts", host, name)
	}
	return nil
}

func (i *installer) do(ctx context.Context, c call) error {
	_, err := i.client.Run(ctx, i.command(c))
	return err
}

// ask is do for a function whose output is needed.
func (i *installer) ask(ctx context.Context, what string, function ...string) (string, error) {
	return i.client.Answer(ctx, i.command(call{what: what, function: function}))
}

// log runs a function that prints a log, and returns the last lines for the end of an error.
func (i *installer) log(ctx context.Context, otherwise string, function ...string) string {
	result, err := i.client.Run(ctx, i.command(call{what: "read a log", function: append(function, strconv.Itoa(logLines)), secrets: i.secrets()}))
	if err != nil || strings.TrimSpace(result.Stdout) == "" {
		return otherwise
	}
	return "; the end of its log:\n" + lastLines(result.Stdout, logLines)
}

// logLines is the number of lines of a log in an error.
const logLines = 20

// installEngine installs the engine if it is missing, configures its proxy and starts it.
func (i *installer) installEngine(ctx context.Context) error {
	restart, err := i.writeProxy(ctx)
	if err != nil {
		return err
	}
	if !i.found.present {
		i.report(fmt.Sprintf("installing %s by apt-get", i.Runtime))
		err := i.do(ctx, call{
			what:     fmt.Sprintf("install the packages of %s", i.Runtime),
			function: append([]string{"install_packages", strconv.Itoa(int(lockPatience.Seconds()))}, i.packages...),
			env:      i.Proxy.environment(), secrets: i.secrets(), timeout: packagesTimeout,
		})
		if err != nil {
			return fmt.Errorf("%s is missing and cannot be installed from the packages of %s; a registry is run by docker or podman: install one of them on the host, and set runtime to it: %w", i.Runtime, i.found.system, err)
		}
	} else if restart && i.found.version != "" {
		i.report("restarting docker with its proxy")
		if err := i.do(ctx, call{what: "restart Docker with its proxy", function: []string{"systemctl", "restart", "docker.service"}}); err != nil {
			return err
		}
	}
	if i.found.version != "" {
		return nil
	}
	return i.startEngine(ctx)
}

// startEngine starts the engine and reads the host again.
func (i *installer) startEngine(ctx context.Context) error {
	if i.service != "" {
		i.report("starting " + i.service)
		if err := i.do(ctx, call{what: "start " + i.service, function: []string{"service", i.service}}); err != nil {
			return fmt.Errorf("%s does not start: %w%s", i.service, err, i.serviceLog(ctx))
		}
	}
	// A stopped engine lists no containers, so one of an earlier run is found only here.
	if err := i.readHost(ctx); err != nil {
		return err
	}
	if i.found.version == "" {
		return fmt.Errorf("%s is installed and does not answer%s", i.Runtime, i.serviceLog(ctx))
	}
	return nil
}

// serviceLog returns the end of the log of the engine, for the end of an error.
func (i *installer) serviceLog(ctx context.Context) string {
	if i.service == "" {
		return ""
	}
	return i.log(ctx, "", "unit_logs", i.service)
}

// environment returns the environment variables for programs that download.
func (p Proxy) environment() map[string]string {
	out := map[string]string{}
	for name, value := range map[string]string{"http_proxy": p.HTTP.Reveal(), "https_proxy": p.HTTPS.Reveal(), "no_proxy": p.No} {
		if value != "" {
			out[name], out[strings.ToUpper(name)] = value, value
		}
	}
	return out
}

// writeProxy configures the proxy of the Docker daemon, which pulls images, and reports whether the daemon must be restarted. The
// variables are in a file because every user of the host can read the environment in a unit.
func (i *installer) writeProxy(ctx context.Context) (restart bool, err error) {
	if i.Runtime != Docker {
		return false, nil
	}
	environment := i.Proxy.environment()
	if len(environment) == 0 {
		if i.found.files[fileProxy] == "" {
			return false, nil
		}
		if err := i.do(ctx, call{what: "take the proxy from Docker", function: []string{"forget", i.dropIn(), i.file(fileProxy)}}); err != nil {
			return false, err
		}
		return true, nil
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(environment)) {
		b.WriteString(name + "=" + environment[name] + "\n")
	}
	changed, err := i.write(ctx, i.file(fileProxy), []byte(b.String()))
	if err != nil {
		return false, err
	}
	dropped, err := i.client.WriteFile(ctx, remote.File{
		Path: i.dropIn(), Content: []byte("[Service]\nEnvironmentFile=" + i.file(fileProxy) + "\n"), Mode: 0o644, Sudo: true, MkdirAll: true,
	})
	if err != nil {
		return false, err
	}
	if err := i.do(ctx, call{what: "have systemd read its units", function: []string{"systemctl", "daemon-reload"}}); err != nil && (changed || dropped) {
		return false, err
	}
	return changed || dropped, nil
}

// write writes a file of the folder, readable by root alone.
func (i *installer) write(ctx context.Context, name string, content []byte) (changed bool, err error) {
	changed, err = i.client.WriteFile(ctx, remote.File{Path: name, Content: content, Mode: 0o600, Sudo: true, MkdirAll: true})
	if err != nil {
		return false, err
	}
	return changed, nil
}

// writeNote saves the note on the host.
func (i *installer) writeNote(ctx context.Context) error {
	text, err := json.MarshalIndent(i.note, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the note of the registry: %w", err)
	}
	_, err = i.write(ctx, i.file(fileNote), append(text, '\n'))
	return err
}

// runContainer creates or starts the container, unless it is up to date and running.
func (i *installer) runContainer(ctx context.Context, files map[string]string) error {
	wanted := i.spec(i.note, files)
	digest := wanted.digest()
	if i.found.container && i.found.digest == "" {
		return &vnfm.ConflictError{
			Object: fmt.Sprintf("the container %s on %s", i.Name, i.client.Name()), Owner: "somebody else",
			Detail: "it was not made by this provider; remove it there, or give the registry another name",
		}
	}
	if i.found.digest == digest && i.found.running {
		if i.note.Container != nil && i.note.Container.digest() == digest {
			return nil
		}
		// The note is missing or describes another container.
		i.note.Container = &wanted
		return i.writeNote(ctx)
	}
	if err := i.freePort(); err != nil {
		return err
	}
	if i.found.digest == digest {
		i.report("starting the container " + i.Name)
		err := i.do(ctx, call{what: "start the container " + i.Name, function: []string{"begin", i.Name, i.unit()}})
		return err
	}
	if err := i.do(ctx, call{what: "make the folder " + i.StoragePath, function: []string{"mkdir", "-p", "-m", "0700", i.StoragePath}}); err != nil {
		return err
	}
	if err := i.removeOld(ctx); err != nil {
		return err
	}
	i.note.Container = &wanted
	if err := i.writeNote(ctx); err != nil {
		return err
	}
	i.report("making the container " + i.Name)
	if i.Runtime == Docker {
		if err := i.do(ctx, call{what: "make the container " + i.Name, function: append([]string{"create"}, i.dockerArguments(wanted, digest)...)}); err != nil {
			return err
		}
	} else {
		_, err := i.client.WriteFile(ctx, remote.File{Path: i.unitFile(), Content: i.unitText(wanted, digest), Mode: 0o644, Sudo: true, MkdirAll: true})
		if err != nil {
			return err
		}
	}
	err := i.do(ctx, call{what: "start the container " + i.Name, function: []string{"begin", i.Name, i.unit()}})
	return err
}

// removeOld removes the former container, also from another engine.
func (i *installer) removeOld(ctx context.Context) error {
	before := i.Runtime
	if i.note.Container != nil {
		before = i.note.Container.Runtime
	}
	for _, runtime := range slices.Compact([]Runtime{before, i.Runtime}) {
		if runtime == i.Runtime && !i.found.container {
			continue
		}
		i.report("removing the former container " + i.Name)
		if err := i.removeContainer(ctx, engines[runtime]); err != nil {
			return err
		}
	}
	return nil
}

// freePort returns an error if another program listens on the port. If the registry runs there, the listener is the registry.
func (i *installer) freePort() error {
	ours := i.found.running && i.note.Container != nil && i.note.Container.Port == i.Port ||
		i.note.Container != nil && i.note.Container.Runtime != i.Runtime && i.note.Container.Port == i.Port
	if i.found.listener == "" || ours {
		return nil
	}
	return fmt.Errorf("port %d of %s is in use by %s: end that program, or give the registry another port", i.Port, i.client.Name(), i.found.listener)
}
