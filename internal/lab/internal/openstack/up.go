package openstack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
)

// UpOptions are the choices of the first start. A lab that runs already keeps its own.
type UpOptions struct {
	// Services are the kinds of the services; those that they need come by themselves. None leaves it to the lab. One that runs gets
	// optional ones that it lacks.
	Services []string
	// Systems are those of servers beside the plain one that the lab is to have. One that runs gets those that it lacks.
	Systems []string
	// Owner is the process that the lab ends with; none for a lab that stays.
	Owner process.Record
}

// ProcessEnter is the verb by which this program becomes another one, see Enter.
const ProcessEnter = "enter"

// Up starts what does not run and returns when the lab can be used. reused tells that everything ran already.
func (l *Lab) Up(ctx context.Context, options UpOptions) (reused bool, err error) {
	if err := able(); err != nil {
		return false, err
	}
	unlock, err := l.Dir.Lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	state, claim, err := l.prepare(ctx, options)
	if err != nil {
		return false, err
	}
	defer func() { _ = claim.Close() }()
	chosen, err := choose(state.Services)
	if err != nil {
		return false, err
	}
	if err := l.decideServers(ctx, state, chosen); err != nil {
		return false, err
	}
	if err := l.decideSystems(ctx, state, options.Systems); err != nil {
		return false, err
	}
	if err := state.Processes.AwaitEnding(ctx); err != nil {
		return false, err
	}
	if state.Ready && len(state.Processes.Missing(processesOf(state, chosen))) == 0 {
		return l.extend(ctx, state, options)
	}
	lacking, err := l.lacking(state, options.Services)
	if err != nil {
		return false, err
	}
	if chosen, err = choose(append(state.Services, lacking...)); err != nil {
		return false, err
	}
	state.Services = kindsOf(chosen)
	state.Systems = union(state.Systems, options.Systems)

	state.Ready = false
	first := len(state.Processes) == 0
	if err := l.start(ctx, state, chosen, claim); err != nil {
		if first {
			err = errors.Join(err, state.Processes.Stop(context.WithoutCancel(ctx), processesOf(state, chosen)))
		}
		return false, errors.Join(err, l.Dir.SaveOpenStack(state))
	}
	state.Ready = true
	if err := l.imagesOfNodes(ctx, state); err != nil {
		return false, err
	}
	if err := environment(l.Dir, state, chosen).writeClouds(); err != nil {
		return false, err
	}
	return false, l.Dir.SaveOpenStack(state)
}

// prepare loads the state of a lab, or makes a new one with its ports.
func (l *Lab) prepare(ctx context.Context, options UpOptions) (*layout.OpenStack, layout.Listeners, error) {
	kinds := options.Services
	if len(kinds) == 0 {
		kinds = kindsOf(usual())
	}
	chosen, err := choose(kinds)
	if err != nil {
		return nil, nil, err
	}
	state, err := l.Dir.LoadOpenStack()
	if err == nil {
		if _, err := l.lacking(state, options.Services); err != nil {
			return nil, nil, err
		}
		if heir := layout.Heir(state.Owner, options.Owner); heir != state.Owner {
			state.Owner = heir
			return state, nil, l.Dir.SaveOpenStack(state)
		}
		return state, nil, nil
	}
	if !layout.IsMissing(err) {
		return nil, nil, err
	}

	ports, claim, err := layout.ChooseOpenStackPorts(ctx)
	if err != nil {
		return nil, nil, err
	}
	state = &layout.OpenStack{Ports: ports, Services: kindsOf(chosen), Owner: options.Owner, Processes: process.Set{}}
	if err := l.Dir.SaveOpenStack(state); err != nil {
		return nil, nil, errors.Join(err, claim.Close())
	}
	return state, claim, nil
}

// start starts the missing processes and returns when all services answer.
func (l *Lab) start(ctx context.Context, state *layout.OpenStack, chosen []service, claim layout.Listeners) error {
	r, err := l.provide(ctx, state, chosen)
	if err != nil {
		return err
	}
	missing := state.Processes.Missing(processesOf(state, chosen))
	var since time.Time
	if len(missing) > 0 {
		since = time.Now()
	}
	for _, name := range missing {
		delete(state.Processes, name)
	}
	if slices.Contains(missing, processServers) {
		if err := l.startServers(ctx, state); err != nil {
			return err
		}
	}
	if err := configure(l.Dir, state, chosen); err != nil {
		return err
	}
	if slices.Contains(missing, processDatabase) {
		init := "--init-file=" + filepath.Join(inside, "etc", databaseInit)
		if err := l.startDatabase(ctx, r, state, claim, init); err != nil {
			return err
		}
	}
	if err := l.startServices(ctx, r, state, chosen, missing, func() error { return nil }); err != nil {
		return err
	}
	return l.ready(ctx, state, chosen, since)
}

// provide sees to the packages, and to what is made once for the lab: its data.
func (l *Lab) provide(ctx context.Context, state *layout.OpenStack, chosen []service) (root, error) {
	r := l.serviceRoot()
	unlock, err := l.lockCache(ctx)
	if err != nil {
		return r, err
	}
	defer unlock()
	if err := r.ensure(ctx, packagesOf(chosen)); err != nil {
		return r, err
	}
	if err := r.links(); err != nil {
		return r, err
	}
	if state.Template == "" {
		t, err := newTemplate(r)
		if err != nil {
			return r, err
		}
		if err := t.ensure(ctx); err != nil {
			return r, err
		}
		if err := t.copyTo(l.Dir, state); err != nil {
			return r, err
		}
	}
	return r, l.provideServers(ctx, state)
}

// lockCache makes the cache, and has other labs wait for what is fetched instead of fetching it too.
func (l *Lab) lockCache(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(l.cache(), 0o755); err != nil { //nolint:gosec // Packages are no secret.
		return nil, fmt.Errorf("making the cache: %w", err)
	}
	return layout.Dir(l.cache()).Lock(ctx)
}

// startDatabase starts the database, which keeps the claim on the ports, and returns when it answers.
func (l *Lab) startDatabase(ctx context.Context, r root, state *layout.OpenStack, claim layout.Listeners, options ...string) error {
	if claim == nil {
		var err error
		if claim, err = state.Ports.Claim(ctx); err != nil {
			return fmt.Errorf("claiming the ports of the lab again: %w", err)
		}
		defer func() { _ = claim.Close() }()
	}
	file, err := claim[0].File()
	if err != nil {
		return fmt.Errorf("handing over port %s: %w", claim[0].Addr(), err)
	}
	defer file.Close() //nolint:errcheck // A duplicate that was only read from.
	if err := l.launch(ctx, processDatabase, r.enter(l.Dir, append(databaseServer(), options...)), state, file); err != nil {
		return err
	}
	return l.until(ctx, state, "the database", func(ctx context.Context) error { return socketReady(ctx, l.Dir, databaseSocket) })
}

// startServices starts those of some programs that are missing and returns when all services answer. The others start
// when Keystone answers, and identified has been called: some of them give up without it.
func (l *Lab) startServices(ctx context.Context, r root, state *layout.OpenStack, chosen []service, missing []string, identified func() error) error {
	for _, s := range chosen {
		if err := l.add(ctx, r, state, s); err != nil {
			return err
		}
		for _, program := range s.programs {
			if !slices.Contains(missing, program.name) {
				continue
			}
			command := program.command(state.Ports, layout.Address(port(state.Ports, s.kind)))
			if err := l.launch(ctx, program.name, r.enter(l.Dir, command), state); err != nil {
				return err
			}
		}
		if s.kind != Identity {
			continue
		}
		if err := l.answering(ctx, state, s); err != nil {
			return err
		}
		if err := identified(); err != nil {
			return err
		}
	}
	for _, s := range chosen {
		if err := l.answering(ctx, state, s); err != nil {
			return err
		}
	}
	return nil
}

// ready waits until all services can be used, of which processes were started since a moment.
func (l *Lab) ready(ctx context.Context, state *layout.OpenStack, chosen []service, since time.Time) error {
	admin, err := login(ctx, address(state.Ports, Identity), UserAdmin, state.Passwords[UserAdmin], "admin")
	if err != nil {
		return err
	}
	for _, s := range chosen {
		if s.reports == nil {
			continue
		}
		base, seen := address(state.Ports, s.kind), map[string]time.Time{}
		if err := l.until(ctx, state, s.name, func(ctx context.Context) error { return s.reports.ready(ctx, admin, base, seen, since) }); err != nil {
			return err
		}
	}
	return nil
}

// answering waits until a service answers.
func (l *Lab) answering(ctx context.Context, state *layout.OpenStack, s service) error {
	if s.internal {
		return nil
	}
	err := l.until(ctx, state, s.name, func(ctx context.Context) error { return answers(ctx, address(state.Ports, s.kind)) })
	if err != nil || s.socket == "" {
		return err
	}
	return l.until(ctx, state, s.socket+" of "+s.name, func(ctx context.Context) error { return socketReady(ctx, l.Dir, s.socket) })
}

// launch starts a process of the lab: this program, as something else.
func (l *Lab) launch(ctx context.Context, name string, args []string, state *layout.OpenStack, files ...*os.File) error {
	record, err := process.StartDetached(process.Spec{
		Path:     l.Executable,
		Args:     args,
		Dir:      string(l.Dir),
		LogFile:  l.Dir.Log(name),
		Files:    files,
		Isolated: true,
	})
	if err != nil {
		return fmt.Errorf("starting %s: %w", name, err)
	}
	l.Log.DebugContext(ctx, "started", "process", name, "pid", record.PID)
	state.Processes[name] = record
	// Saved at once: should this command be killed, the next one knows what runs.
	return l.Dir.SaveOpenStack(state)
}

func (l *Lab) until(ctx context.Context, state *layout.OpenStack, what string, try func(context.Context) error) error {
	return state.Processes.Until(ctx, what, l.Dir.Log, try)
}
