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

// The scripts define shell functions, the same ones for each engine.
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

// engine has the scripts, packages and service of one runtime.
type engine struct {
	script string
	// packages are packages of the distribution. A question mark at the end makes a package optional: it is installed if it exists.
	packages []string
	// service is the unit of the daemon; podman has none.
	service string
}

// Pulling images needs ca-certificates.
var engines = map[Runtime]engine{
	Docker: {script: dockerScript, packages: []string{"ca-certificates", "docker.io", "docker-cli?"}, service: "docker.service"},
	Podman: {script: podmanScript, packages: []string{"ca-certificates", "podman"}},
}

// callTimeout bounds short calls of the engine or systemd.
const callTimeout = 3 * time.Minute

// call is a call of a function of the scripts, as root.
type call struct {
	what string
	// function is the name with the arguments, without secrets.
	function []string
	env      map[string]string
	timeout  time.Duration
	secrets  []vnfm.Secret
}

// command returns the command that runs a function of the scripts of an engine.
func (e engine) command(c call) remote.Command {
	if c.timeout == 0 {
		c.timeout = callTimeout
	}
	return remote.Command{
		What: c.what, Script: commonScript + packagesScript + e.script + "\n\"$@\"\n", Args: c.function, Env: c.env,
		Sudo: true, Timeout: c.timeout, Secrets: c.secrets,
	}
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// hostState is the state of a host before changes.
type hostState struct {
	id, system, machine string
	systemd             bool
	// files are the SHA-256 digests of the files in the folder of the registry, by name.
	files map[string]string
	// listener is the program that listens on the port; empty if there is none.
	listener string
	// present says that the engine is installed. version is empty if the engine does not answer.
	present bool
	version string
	// container says that a container of the name exists, running that it runs. digest is empty for a foreign container.
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
