package install

import (
	"context"
	_ "embed" // the scripts
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The scripts define functions of the shell, the same of each engine.
var (
	//go:embed scripts/common.sh
	commonScript string
	//go:embed scripts/packages.sh
	packagesScript string
	//go:embed scripts/docker.sh
	dockerScript string
	//go:embed scripts/podman.sh
	podmanScript string
)

// engine is what one runtime takes.
type engine struct {
	script string
	// packages are the distribution's. One that ends in a question mark is installed where
	// there is such a package.
	packages []string
	// service is the unit of the daemon; podman has none.
	service string
}

// The certificates of authorities are for images that are pulled.
var engines = map[Runtime]engine{
	Docker: {script: dockerScript, packages: []string{"ca-certificates", "docker.io", "docker-cli?"}, service: "docker.service"},
	Podman: {script: podmanScript, packages: []string{"ca-certificates", "podman"}},
}

// callTimeout bounds what asks the engine or systemd for something short.
const callTimeout = 3 * time.Minute

// call is one function of the scripts to be run as root.
type call struct {
	what string
	// function and its arguments, none of them secret.
	function []string
	env      map[string]string
	timeout  time.Duration
	secrets  []vnfm.Secret
}

// command is what runs a function with the scripts of an engine.
func (e engine) command(c call) remote.Command {
	if c.timeout == 0 {
		c.timeout = callTimeout
	}
	return remote.Command{
		What: c.what, Script: commonScript + packagesScript + e.script + "\n\"$@\"\n", Args: c.function, Env: c.env,
		Sudo: true, Timeout: c.timeout, Secrets: c.secrets,
	}
}

// lastLines are the last lines of a text.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// hostState is what is on a host, before anything is done.
type hostState struct {
	id, system, machine string
	systemd             bool
	// files are the SHA-256 of those in the folder of the registry by their names.
	files map[string]string
	// listener is the program that listens on the port; empty is none.
	listener string
	// present says that the engine is installed, version that it answers.
	present bool
	version string
	// container says that there is one of the name, running that it runs; digest is
	// empty for one that is not ours.
	container, running bool
	digest             string
	restarts, status   string
}

// inspect reads the state of a host.
func (e engine) inspect(ctx context.Context, client *remote.Client, c Config) (*hostState, error) {
	out, err := client.Answer(ctx, e.command(call{what: "look for the registry", function: []string{"inspect", c.Name, c.folder(), strconv.Itoa(c.Port), c.unit()}}))
	if err != nil {
		return nil, fmt.Errorf("reading what is installed on %s: %w", client.Name(), err)
	}
	values := pairs(out)
	s := &hostState{
		id: values["id"], system: values["system"], machine: values["machine"], systemd: values["systemd"] == "true",
		files: map[string]string{}, listener: values["listener"],
		present: values["present"] == "true", version: values["version"],
		container: values["container"] == "true", running: values["running"] == "true", digest: values["digest"],
		restarts: values["restarts"], status: values["status"],
	}
	for name, value := range values {
		if file, ok := strings.CutPrefix(name, "file:"); ok {
			s.files[file] = value
		}
	}
	return s, nil
}

// pairs reads lines of the form name=value.
func pairs(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "="); ok {
			out[name] = value
		}
	}
	return out
}
