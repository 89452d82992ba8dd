package servers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/vishvananda/netns"
)

// server is one of a host's.
type server struct {
	host *host
	// mu is held while something is done with the server. Readers of its state alone take state.
	mu         sync.Mutex
	definition Definition

	state   sync.Mutex
	process *running
}

// running is the first process of a server.
type running struct {
	command *exec.Cmd
	// ended is closed when it has, and all that it started with it.
	ended chan struct{}
	// disks are those of the server's volumes.
	disks disks
	// stop is the signal on which it ends in order.
	stop syscall.Signal
	// group is its control group; empty for none.
	group string
	// node is one of a system of nodes; doors are those of it.
	node  bool
	doors doors
}

// restarts is the exit code with which a server asks to be started again.
const restarts = 3

// halts is the signal on which systemd ends in order: SIGRTMIN+3.
const halts = syscall.Signal(34 + 3)

// restart tells whether a server that has ended asked to be started again. One of systemd restarts its machine, and the
// kernel, for which that is a process namespace, ends its first process with this signal.
func (r *running) restart() bool {
	status, ok := r.command.ProcessState.Sys().(syscall.WaitStatus)
	return ok && (status.ExitStatus() == restarts || (status.Signaled() && status.Signal() == syscall.SIGHUP))
}

// console is the file of what a server says while it starts.
const console = "console.log"

// current is the process of a server that runs.
func (s *server) current() *running {
	s.state.Lock()
	defer s.state.Unlock()
	return s.process
}

func (s *server) status() Status {
	return Status{ID: s.definition.ID, Name: s.definition.Name, Running: s.current() != nil}
}

// start starts a server that does not run, and returns when its first process does.
func (s *server) start() error {
	if s.current() != nil {
		return nil
	}
	var first *firstBoot
	if !s.definition.Booted {
		var err error
		if first, err = s.prepare(); err != nil {
			return err
		}
	}
	process, err := s.launch()
	if err != nil {
		return err
	}
	s.state.Lock()
	s.process = process
	s.state.Unlock()
	go s.watch(process)
	if first != nil {
		for _, line := range first.passwords {
			if err := s.setPassword(line); err != nil {
				return err
			}
		}
	}
	s.definition.Booted, s.definition.Running = true, true
	return s.save()
}

// launch starts the first process of a server with its network.
func (s *server) launch() (_ *running, err error) {
	log, err := os.OpenFile(filepath.Join(s.folder(), console), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the console: %w", err)
	}
	defer log.Close() //nolint:errcheck // The server has a descriptor of its own.
	problems, report, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	defer problems.Close() //nolint:errcheck // It was read.
	process := &running{ended: make(chan struct{}), stop: syscall.SIGTERM}
	for _, volume := range s.definition.Volumes {
		if err := process.disks.open(s.host, volume); err != nil {
			return nil, errors.Join(err, report.Close(), process.disks.closeAll())
		}
	}
	command, err := s.command(process)
	if err != nil {
		return nil, errors.Join(err, report.Close(), process.disks.closeAll())
	}
	command.Stdout, command.Stderr, command.ExtraFiles = log, log, []*os.File{report}
	hold, err := command.StdinPipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a pipe: %w", err), report.Close(), process.disks.closeAll())
	}
	err = s.host.groups.start(command, process.group)
	_ = report.Close()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting the server: %w", err), process.disks.closeAll())
	}
	process.command = command
	if err := s.connect(process); err != nil {
		return nil, errors.Join(err, process.doors.close(), s.kill(process))
	}
	_ = hold.Close()
	if problem, err := io.ReadAll(problems); err != nil || len(problem) > 0 {
		return nil, errors.Join(fmt.Errorf("starting the server: %s", problem), err, process.doors.close(), s.kill(process))
	}
	return process, nil
}

// command is what boots a server.
func (s *server) command(process *running) (*exec.Cmd, error) {
	layers, err := s.host.layers(s.definition)
	if err != nil {
		return nil, err
	}
	made := system{}
	if s.definition.System != "" {
		if made, err = findSystem(s.definition.System); err != nil {
			return nil, err
		}
	}
	options := BootOptions{
		Layers: layers, Folder: s.folder(), Written: s.writes(), Hostname: s.definition.Hostname,
		System: s.definition.System, Disks: process.disks.nodesFlag(s.definition.Volumes),
	}
	if made.managed {
		process.stop, process.group = halts, s.definition.ID
		options.Group = filepath.Join(s.host.groups.name, process.group)
	}
	if process.node = made.node; made.node {
		if options.Template, err = s.host.template(made.name); err != nil {
			return nil, err
		}
	}
	command := exec.Command("/proc/self/exe", append([]string{ProcessBoot}, options.args()...)...) //nolint:gosec,noctx // This program, which outlives the request.
	command.SysProcAttr = &syscall.SysProcAttr{
		Setsid:     true,
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC | syscall.CLONE_NEWNET,
	}
	return command, nil
}

// connect gives a server that starts its network.
func (s *server) connect(process *running) error {
	space, err := netns.GetFromPid(process.command.Process.Pid)
	if err != nil {
		return fmt.Errorf("finding the network of the server: %w", err)
	}
	defer space.Close() //nolint:errcheck // It was only reached through.
	for _, card := range s.definition.Interfaces {
		if err := s.host.plug(card, space); err != nil {
			return err
		}
	}
	if !process.node || s.host.Services == nil {
		return nil
	}
	ports, err := s.host.Services()
	if err != nil {
		return err
	}
	process.doors, err = openDoors(space, ports)
	return err
}

// plug connects a card, one at a time: two might make the bridge of their network.
func (h *host) plug(card Interface, space netns.NsHandle) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.networks.plug(card, space)
}

// kill ends a process that nobody watches yet.
func (s *server) kill(process *running) error {
	err := process.command.Process.Kill()
	_ = process.command.Wait()
	return errors.Join(err, process.disks.closeAll(), s.host.groups.remove(process.group))
}

// watch waits for the end of a server, and starts one again that asked for it.
func (s *server) watch(process *running) {
	_ = process.command.Wait()
	if err := process.doors.close(); err != nil {
		s.host.Log.Error("cannot close the ports of a server", "server", s.definition.ID, "error", err)
	}
	if err := process.disks.closeAll(); err != nil {
		s.host.Log.Error("cannot put the volumes of a server away", "server", s.definition.ID, "error", err)
	}
	if err := s.host.groups.remove(process.group); err != nil {
		s.host.Log.Error("cannot remove the control group of a server", "server", s.definition.ID, "error", err)
	}
	s.state.Lock()
	asked := s.process == process
	if asked {
		s.process = nil
	}
	s.state.Unlock()
	close(process.ended)
	if !asked || !process.restart() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.host.find(s.definition.ID); err != nil {
		return
	}
	if err := s.start(); err != nil {
		s.host.Log.Error("cannot start a server again", "server", s.definition.ID, "error", err)
	}
}

// stop ends a server: it is asked to, and after a while made to.
func (s *server) stop(grace time.Duration) error {
	s.state.Lock()
	process := s.process
	// Watchers see that it was meant to end.
	s.process = nil
	s.state.Unlock()
	if process != nil {
		process.end(grace)
	}
	if !s.definition.Running {
		return nil
	}
	s.definition.Running = false
	return s.save()
}

func (r *running) end(grace time.Duration) {
	if grace > 0 {
		_ = r.command.Process.Signal(r.stop)
		select {
		case <-r.ended:
			return
		case <-time.After(grace):
		}
	}
	_ = r.command.Process.Kill()
	<-r.ended
}

// attach gives a server another card, at once when it runs.
func (s *server) attach(card Interface) error {
	if slices.ContainsFunc(s.definition.Interfaces, func(has Interface) bool { return has.Port == card.Port }) {
		return nil
	}
	if process := s.current(); process != nil {
		space, err := netns.GetFromPid(process.command.Process.Pid)
		if err != nil {
			return fmt.Errorf("finding the network of the server: %w", err)
		}
		defer space.Close() //nolint:errcheck // It was only reached through.
		if err := s.host.plug(card, space); err != nil {
			return err
		}
	}
	s.setInterfaces(append(slices.Clone(s.definition.Interfaces), card))
	return s.save()
}

// detach takes the card of a port away.
func (s *server) detach(port string) error {
	at := slices.IndexFunc(s.definition.Interfaces, func(has Interface) bool { return has.Port == port })
	if at < 0 {
		return nil
	}
	card := s.definition.Interfaces[at]
	if err := s.host.networks.unplug(card); err != nil {
		return err
	}
	s.setInterfaces(slices.Delete(slices.Clone(s.definition.Interfaces), at, at+1))
	if err := s.save(); err != nil {
		return err
	}
	return s.host.leave([]Interface{card})
}

// setInterfaces replaces the cards, which the host looks at for all servers.
func (s *server) setInterfaces(cards []Interface) {
	s.host.mu.Lock()
	defer s.host.mu.Unlock()
	s.definition.Interfaces = cards
}

// setPassword gives a user of a server that runs a password: the line is "user:password".
func (s *server) setPassword(line string) error {
	process := s.current()
	if process == nil {
		return fmt.Errorf("server %s does not run", s.definition.ID)
	}
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, "/usr/sbin/chpasswd", "--crypt-method", "SHA512")
	command.Stdin = strings.NewReader(line + "\n")
	command.SysProcAttr = &syscall.SysProcAttr{Chroot: fmt.Sprintf("/proc/%d/root", process.command.Process.Pid)}
	command.Dir = "/"
	if output, err := command.CombinedOutput(); err != nil {
		user, _, _ := strings.Cut(line, ":")
		return fmt.Errorf("setting the password of %s: %w: %s", user, err, output)
	}
	return nil
}
