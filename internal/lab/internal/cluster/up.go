package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/client-go/kubernetes"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/nodes"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/proxy"
)

// UpOptions are the choices of the first start. A lab that runs already keeps its own.
type UpOptions struct {
	// Nodes is the number of worker nodes; nil leaves it to the lab.
	Nodes *int
	// NoAudit leaves out the audit log.
	NoAudit bool
	// ClusterAPI adds Cluster API. It can be added to a lab that runs, and stays.
	ClusterAPI bool
	// ControlPlane is a program with kube-apiserver, kube-controller-manager and kube-scheduler of another version, which takes the
	// name of one of them as its first argument; empty for those that are linked in.
	ControlPlane string
	// Owner is the process that the lab ends with; none for a lab that stays.
	Owner process.Record
}

// Up starts what does not run and returns when the lab can be used. reused tells that everything ran already.
func (l *Lab) Up(ctx context.Context, options UpOptions) (reused bool, err error) {
	if options.Nodes != nil && (*options.Nodes < 0 || *options.Nodes > nodes.Max) {
		return false, fmt.Errorf("a lab has 0 to %d nodes, not %d", nodes.Max, *options.Nodes)
	}
	unlock, err := l.Dir.Lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()

	state, listeners, err := l.prepare(ctx, options)
	if err != nil {
		return false, err
	}
	defer func() { _ = listeners.Close() }()
	reused, err = l.upControlPlane(ctx, state, listeners)
	if err != nil || (state.ClusterAPI == nil && !options.ClusterAPI) {
		return reused, err
	}
	complete, err := l.upClusterAPI(ctx, state)
	return reused && complete, err
}

func (l *Lab) upControlPlane(ctx context.Context, state *layout.State, listeners layout.Listeners) (reused bool, err error) {
	client, err := serviceClient(l.Dir)
	if err != nil {
		return false, err
	}
	if state.Ready && len(l.missing(state)) == 0 && serverReady(ctx, client) == nil {
		return true, nil
	}

	state.Ready = false
	first := len(state.Processes) == 0
	if err := l.start(ctx, state, listeners, client); err != nil {
		if first {
			err = errors.Join(err, state.Processes.Stop(context.WithoutCancel(ctx), processes()))
		}
		return false, errors.Join(err, l.Dir.SaveState(state))
	}
	state.Ready = true
	return false, l.Dir.SaveState(state)
}

// prepare loads the state of a lab, or makes a new one with its ports and files.
func (l *Lab) prepare(ctx context.Context, options UpOptions) (*layout.State, layout.Listeners, error) {
	state, err := l.Dir.LoadState()
	if err == nil {
		if options.Nodes != nil && *options.Nodes != state.Nodes {
			return nil, nil, fmt.Errorf("the lab in %s has %d nodes, not %d: stop it first with `lab down --dir %s`", l.Dir, state.Nodes, *options.Nodes, l.Dir)
		}
		return state, nil, l.inherit(state, options.Owner)
	}
	if !layout.IsMissing(err) {
		return nil, nil, err
	}

	state = &layout.State{Nodes: DefaultNodes, Audit: !options.NoAudit, ControlPlane: options.ControlPlane, Owner: options.Owner, Processes: process.Set{}}
	if options.Nodes != nil {
		state.Nodes = *options.Nodes
	}
	ports, listeners, err := layout.ChoosePorts(ctx)
	if err != nil {
		return nil, nil, err
	}
	state.Ports = ports
	if err := writeMaterial(l.Dir, state); err != nil {
		return nil, nil, errors.Join(err, listeners.Close())
	}
	if err := l.Dir.SaveState(state); err != nil {
		return nil, nil, errors.Join(err, listeners.Close())
	}
	return state, listeners, nil
}

// inherit gives a lab whose owner has ended the one who starts it now.
func (l *Lab) inherit(state *layout.State, starting process.Record) error {
	heir := layout.Heir(state.Owner, starting)
	if heir == state.Owner {
		return nil
	}
	state.Owner = heir
	return l.Dir.SaveState(state)
}

// missing names the processes that do not run.
func (l *Lab) missing(state *layout.State) []string {
	return state.Processes.Missing(processes())
}

// start starts the missing processes, each as soon as what it needs is there, and waits until the lab can be used.
func (l *Lab) start(ctx context.Context, state *layout.State, listeners layout.Listeners, client kubernetes.Interface) error {
	missing := l.missing(state)
	for _, name := range missing {
		delete(state.Processes, name)
	}
	for _, name := range missing {
		if name == processControllerManager || name == processScheduler || name == processKwok {
			// They give up when there is no API server.
			if err := l.wait(ctx, state, "kube-apiserver", func(ctx context.Context) error { return serverReady(ctx, client) }); err != nil {
				return err
			}
		}
		if err := l.startOne(ctx, name, state, listeners); err != nil {
			return err
		}
	}

	if err := l.wait(ctx, state, "kube-apiserver", func(ctx context.Context) error { return serverReady(ctx, client) }); err != nil {
		return err
	}
	version, err := client.Discovery().ServerVersion()
	if err != nil {
		return fmt.Errorf("reading the version of kube-apiserver: %w", err)
	}
	state.KubernetesVersion = version.GitVersion
	if err := bootstrap(ctx, client, l.Dir, state); err != nil {
		return err
	}
	return l.wait(ctx, state, "the lab", func(ctx context.Context) error {
		if err := usable(ctx, client, state.Nodes); err != nil {
			return err
		}
		_, err := l.control(ctx, commandReady)
		return err
	})
}

func (l *Lab) startOne(ctx context.Context, name string, state *layout.State, listeners layout.Listeners) error {
	spec := process.Spec{
		Path:    l.Executable,
		Args:    append([]string{"run", name}, arguments(name, l.Dir, state)...),
		Dir:     string(l.Dir),
		LogFile: l.Dir.Log(name),
	}
	if state.ControlPlane != "" && slices.Contains(controlPlane(), name) {
		spec.Path, spec.Args = state.ControlPlane, spec.Args[1:]
	}
	if name == ProcessServe {
		spec.Args = append([]string{ProcessServe}, arguments(name, l.Dir, state)...)
		if listeners == nil {
			var err error
			if listeners, err = state.Ports.Listen(ctx); err != nil {
				return fmt.Errorf("opening the ports of the lab again: %w", err)
			}
			defer func() { _ = listeners.Close() }()
		}
		for _, listener := range listeners {
			file, err := listener.File()
			if err != nil {
				return fmt.Errorf("handing over port %s: %w", listener.Addr(), err)
			}
			defer file.Close() //nolint:errcheck // A duplicate that was only read from.
			spec.Files = append(spec.Files, file)
		}
	}
	return l.launch(ctx, name, spec, state)
}

// launch starts a process of the lab.
func (l *Lab) launch(ctx context.Context, name string, spec process.Spec, state *layout.State) error {
	record, err := process.StartDetached(spec)
	if err != nil {
		return fmt.Errorf("starting %s: %w", name, err)
	}
	l.Log.DebugContext(ctx, "started", "process", name, "pid", record.PID)
	state.Processes[name] = record
	// Saved at once: should this command be killed, the next one knows what runs.
	return l.Dir.SaveState(state)
}

// wait waits for something, and gives up at once when one of the lab's processes has died.
func (l *Lab) wait(ctx context.Context, state *layout.State, what string, try func(context.Context) error) error {
	return state.Processes.Until(ctx, what, l.Dir.Log, try)
}

// control sends a command to `lab serve`.
func (l *Lab) control(ctx context.Context, words ...string) (string, error) {
	socket, err := l.controlSocket()
	if err != nil {
		return "", err
	}
	return proxy.Command(ctx, socket, words...)
}

// controlSocket is the path of the control socket, short enough for one: relative to the working directory when the lab
// lies below that, else to the directory of the lab, which then becomes the working directory.
func (l *Lab) controlSocket() (string, error) {
	working, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the working directory: %w", err)
	}
	if below, err := filepath.Rel(working, l.Dir.Path(layout.ControlSocket)); err == nil && filepath.IsLocal(below) && len(below) <= layout.SocketPath {
		return below, nil
	}
	if err := os.Chdir(string(l.Dir)); err != nil {
		return "", fmt.Errorf("entering the directory of the lab: %w", err)
	}
	return layout.ControlSocket, nil
}

// Fault sends a fault to the proxy of the lab and returns what the proxy does from now on.
func (l *Lab) Fault(ctx context.Context, words []string) (string, error) {
	if len(words) > 0 {
		if _, err := proxy.ParseFault(words); err != nil {
			return "", err
		}
	}
	return l.control(ctx, append([]string{commandFault}, words...)...)
}
