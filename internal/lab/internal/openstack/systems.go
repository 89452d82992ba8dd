package openstack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/servers"
)

// systemsFolder is the folder of a lab with links to the layers of the systems that its servers can have, and to the archives
// of archives. The lab has only the systems that are linked there, even if the cache has more.
const systemsFolder = "systems"

// processSweeper is the name of the log of the sweeper.
const processSweeper = "sweeper"

func (l *Lab) systemsFolder() string { return l.Dir.Path(systemsFolder) }

// systemRoot is the one of a system: the layer of what it has beyond the image of all servers.
func (l *Lab) systemRoot(system string) root {
	r, image := l.serviceRoot(), l.imageRoot()
	r.cache, r.under = filepath.Join(r.cache, serverCache+"-"+system), image.status()
	return r
}

// union has the words of two lists, each once and in order.
func union(one, other []string) []string {
	all := append(slices.Clone(one), other...)
	slices.Sort(all)
	return slices.Compact(all)
}

// decideSystems finds out whether a lab can have the systems that are wanted for its servers.
func (l *Lab) decideSystems(ctx context.Context, state *layout.OpenStack, wanted []string) error {
	for _, name := range wanted {
		if _, err := servers.SystemPackages(name); err != nil {
			return err
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	switch state.Servers {
	case "":
		return fmt.Errorf("systems are those of servers, and the lab has no service %q", Compute)
	case ServersNone:
		return fmt.Errorf("%w: nothing is behind the servers of the lab: %s", ErrUnable, state.ServersReason)
	}
	if slices.Contains(wanted, servers.SystemKubernetes) {
		if _, err := os.Stat(filepath.Join(filepath.Dir(l.Executable), nodesFolder, nodeSums)); err != nil {
			return fmt.Errorf("%w: system %s: `make bin/nodes` builds its programs: %w", ErrUnable, servers.SystemKubernetes, err)
		}
	}
	probe := exec.CommandContext(ctx, l.Executable, servers.ProcessProbe, "--managed") //nolint:gosec // This program.
	process.Isolate(probe)
	output, err := probe.CombinedOutput()
	for _, name := range wanted {
		if err != nil && servers.Managed(name) {
			return fmt.Errorf("%w: system %s: %s", ErrUnable, name, strings.TrimSpace(string(output)))
		}
	}
	return nil
}

// extend gives a lab that runs the services and systems that it lacks. reused tells that it had them.
func (l *Lab) extend(ctx context.Context, state *layout.OpenStack, options UpOptions) (reused bool, err error) {
	lacking, err := l.lacking(state, options.Services)
	if err != nil {
		return false, err
	}
	if len(lacking) > 0 {
		if err := l.extendServices(ctx, state, lacking); err != nil {
			return false, err
		}
	}
	all := union(state.Systems, options.Systems)
	if slices.Equal(all, union(state.Systems, nil)) {
		return len(lacking) == 0, nil
	}
	unlock, err := l.lockCache(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	if err := l.provideSystems(ctx, all); err != nil {
		return false, err
	}
	state.Systems = all
	return false, errors.Join(l.startSweeper(state), l.imagesOfNodes(ctx, state))
}

// provideSystems sees to the layers of systems, and to what is made with them.
func (l *Lab) provideSystems(ctx context.Context, systems []string) error {
	if len(systems) == 0 {
		return nil
	}
	if err := os.MkdirAll(l.systemsFolder(), 0o700); err != nil {
		return fmt.Errorf("making the folder of systems: %w", err)
	}
	for _, name := range systems {
		if err := l.provideSystem(ctx, name); err != nil {
			return fmt.Errorf("making the system %s of servers: %w", name, err)
		}
	}
	if slices.Contains(systems, servers.SystemKubernetes) {
		if err := l.provideNodes(ctx); err != nil {
			return fmt.Errorf("making the system %s of servers: %w", servers.SystemKubernetes, err)
		}
	}
	if !slices.Contains(systems, servers.SystemDocker) {
		return nil
	}
	return l.provideArchives(ctx)
}

func (l *Lab) provideSystem(ctx context.Context, name string) error {
	packages, err := servers.SystemPackages(name)
	if err != nil {
		return err
	}
	layer := l.systemRoot(name)
	if err := layer.ensure(ctx, packages); err != nil {
		return err
	}
	list, err := os.ReadFile(layer.status())
	if err != nil {
		return fmt.Errorf("reading the list of packages: %w", err)
	}
	if err := servers.WriteSystem(layer.path(), name, list); err != nil {
		return err
	}
	return link(layer.path(), filepath.Join(l.systemsFolder(), name))
}

// startSweeper starts the process that waits for the end of the one that runs servers, however it ends, and removes what does
// not end with it.
func (l *Lab) startSweeper(state *layout.OpenStack) error {
	if state.Sweeper.Alive() {
		// That of an earlier one has not got its turn: it waits for this one, too.
		return l.Dir.SaveOpenStack(state)
	}
	record, err := process.StartDetached(process.Spec{
		Path:     l.Executable,
		Args:     []string{servers.ProcessSweep, "--lock", l.Dir.Path("run", servers.LockFile), "--octet", strconv.Itoa(state.Octet)},
		Dir:      string(l.Dir),
		LogFile:  l.Dir.Log(processSweeper),
		Isolated: true,
	})
	if err != nil {
		return fmt.Errorf("starting what sweeps after servers: %w", err)
	}
	state.Sweeper = record
	return l.Dir.SaveOpenStack(state)
}

// sweep waits until all is removed that the process that ran servers has left.
func (l *Lab) sweep(ctx context.Context, state *layout.OpenStack) error {
	if state.Octet == 0 || len(state.Systems) == 0 {
		return nil
	}
	if err := l.startSweeper(state); err != nil {
		return err
	}
	return poll.Until(ctx, "the removal of what servers have left, see "+l.Dir.Log(processSweeper), func(context.Context) error {
		if state.Sweeper.Alive() {
			return errors.New("it is not over")
		}
		return nil
	})
}
