package openstack

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/servers"
)

// The kinds of servers of a lab: processes that look like machines, or nothing at all.
const (
	ServersContainers = "containers"
	ServersNone       = "none"
)

// processServers is the process that runs servers.
const processServers = "servers"

// The folders of servers and of load balancers in the data of a lab, and that of what servers are made of in the cache.
const (
	serversFolder   = "servers"
	balancersFolder = "balancers"
	serverCache     = "server"
)

// imageRoot is the one that servers share.
func (l *Lab) imageRoot() root {
	r := l.serviceRoot()
	r.cache = filepath.Join(r.cache, serverCache)
	return r
}

// decideServers finds out, at the first start of a lab that has Nova, what can be behind its servers.
func (l *Lab) decideServers(ctx context.Context, state *layout.OpenStack, chosen []service) error {
	if state.Servers != "" || !slices.ContainsFunc(chosen, func(s service) bool { return s.kind == Compute }) {
		return nil
	}
	probe := exec.CommandContext(ctx, l.Executable, servers.ProcessProbe, "--folder", l.Dir.Path("tmp", "probe")) //nolint:gosec // This program.
	process.Isolate(probe)
	state.Servers = ServersContainers
	if output, err := probe.CombinedOutput(); err != nil {
		state.Servers, state.ServersReason = ServersNone, strings.TrimSpace(string(output))
		l.Log.WarnContext(ctx, "nothing will be behind the servers of the lab", "reason", state.ServersReason)
	}
	return l.Dir.SaveOpenStack(state)
}

// provideServers sees to the image of servers.
func (l *Lab) provideServers(ctx context.Context, state *layout.OpenStack) error {
	if state.Servers != ServersContainers {
		return nil
	}
	image := l.imageRoot()
	if err := image.ensure(ctx, servers.Packages()); err != nil {
		return err
	}
	if err := servers.WriteImage(image.path()); err != nil {
		return err
	}
	return l.provideSystems(ctx, state.Systems)
}

// startServers starts what runs servers, and learns which addresses are the lab's.
func (l *Lab) startServers(ctx context.Context, state *layout.OpenStack) error {
	command := []string{
		servers.ProcessHost, "--dir", string(l.Dir), "--image", l.imageRoot().path(), "--systems", l.systemsFolder(),
		"--octet", strconv.Itoa(state.Octet),
	}
	if err := l.launch(ctx, processServers, command, state); err != nil {
		return err
	}
	err := l.until(ctx, state, "the host of servers", func(ctx context.Context) error {
		place, err := l.askServers(ctx)
		if err != nil {
			return err
		}
		state.Octet = place.Octet
		return l.Dir.SaveOpenStack(state)
	})
	if err != nil || len(state.Systems) == 0 {
		return err
	}
	return l.startSweeper(state)
}

// askServers asks what runs servers where it is.
func (l *Lab) askServers(ctx context.Context) (servers.Place, error) {
	c := &http.Client{Timeout: requestTimeout, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialSocket(ctx, l.Dir.Path("run", servers.Socket))
		},
	}}
	var place servers.Place
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://servers/", nil)
	if err != nil {
		return place, fmt.Errorf("making the request: %w", err)
	}
	response, err := c.Do(request)
	if err != nil {
		return place, fmt.Errorf("asking the host of servers: %w", err)
	}
	defer response.Body.Close() //nolint:errcheck // It was read.
	if err := json.NewDecoder(response.Body).Decode(&place); err != nil {
		return place, fmt.Errorf("reading the answer of the host of servers: %w", err)
	}
	return place, nil
}

// dialSocket connects to a unix socket. Its path may be longer than a socket's name: it is reached through the
// descriptor of its folder.
func dialSocket(ctx context.Context, path string) (net.Conn, error) {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer folder.Close() //nolint:errcheck // It was only looked up.
	return (&net.Dialer{}).DialContext(ctx, "unix", fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), filepath.Base(path)))
}

// ServeServers runs the servers of a lab until ctx ends: this process is then processServers.
func (l *Lab) ServeServers(ctx context.Context, image, systems string, octet int) error {
	// Relative, for the path of a socket is short.
	if err := os.Chdir(string(l.Dir)); err != nil {
		return fmt.Errorf("entering the directory of the lab: %w", err)
	}
	return servers.Serve(ctx, servers.Options{
		Socket: filepath.Join("run", servers.Socket), Data: l.Dir.Path("data", serversFolder), Volumes: l.Dir.Path("data", volumesFolder),
		Image: image, Systems: systems, Octet: octet, Log: l.Log,
		Balancers: l.Dir.Path("data", balancersFolder), BalancersSeen: filepath.Join(inside, "data", balancersFolder),
		Enter: l.serviceRoot().enter(l.Dir, nil), Services: l.servicePorts,
	})
}

// servicePorts are those of the services of the catalogue, also of those that a lab may get later.
func (l *Lab) servicePorts() ([]int, error) {
	state, err := l.Dir.LoadOpenStack()
	if err != nil {
		return nil, err
	}
	var ports []int
	for _, s := range services() {
		if !s.internal {
			ports = append(ports, port(state.Ports, s.kind))
		}
	}
	return ports, nil
}

// computeDriver is Nova's driver of the servers of a lab.
func computeDriver(state *layout.OpenStack) string {
	if state.Servers == ServersContainers {
		return "lab.ContainerDriver"
	}
	return "lab.Driver"
}
