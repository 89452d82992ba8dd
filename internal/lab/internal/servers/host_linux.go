package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
)

// Options are the arguments of a host.
type Options struct {
	// Socket is where it is asked, Data the folder of its servers, Volumes that of their volumes, Image the root that servers
	// share. Systems is a folder with a link to the layer of each system that servers can have.
	Socket, Data, Volumes, Image, Systems string
	// Balancers is the folder of load balancers, BalancersSeen the same for programs of the root of services. Enter begins a command
	// line of this program that becomes such a program.
	Balancers, BalancersSeen string
	Enter                    []string
	// Services are the ports of services of the machine that nodes reach as the machine does; nil for none.
	Services func() ([]int, error)
	// Octet is that of the lab when it was started before, see Networks.
	Octet int
	Log   *slog.Logger
}

// host runs servers.
type host struct {
	Options
	networks *networks
	groups   *controlGroups

	mu      sync.Mutex
	servers map[string]*server
	// balancing is held while something is done with a load balancer, mu too while their list changes.
	balancing sync.Mutex
	balancers map[string]*balancer
	// floating is held while floating addresses change.
	floating sync.Mutex
}

// definitionFile is the name of the file of a server's definition, in its folder.
const definitionFile = "server.json"

// Serve runs servers until ctx ends. This process must be the first one of a process namespace, and have a mount namespace:
// with it end all servers.
func Serve(ctx context.Context, options Options) error {
	if err := own(); err != nil {
		return err
	}
	if err := raiseLimit("fs/inotify/max_user_instances", watchers); err != nil {
		options.Log.Warn("more than a few servers with systemd may not boot", "error", err)
	}
	// The holder of the lock knows that this host has ended; before that, what is left of an earlier one is removed.
	lock, err := lockFile(filepath.Join(filepath.Dir(options.Socket), LockFile))
	if err != nil {
		return err
	}
	defer lock.Close() //nolint:errcheck // It was only locked.
	networks, err := newNetworks(ctx, options.Octet)
	if err != nil {
		return err
	}
	h := &host{
		Options: options, networks: networks, groups: &controlGroups{name: uplinkName(networks.octet)},
		servers: map[string]*server{}, balancers: map[string]*balancer{},
	}
	if err := h.load(); err != nil { //nolint:contextcheck // Work on a server goes on when the requester is gone.
		return err
	}
	if err := errors.Join(h.loadBalancers(), h.loadFloating()); err != nil {
		return err
	}
	if err := os.Remove(h.Socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the socket of an earlier host: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", h.Socket)
	if err != nil {
		return fmt.Errorf("opening the socket of the host: %w", err)
	}
	web := &http.Server{Handler: h.handler(), ReadHeaderTimeout: requestTimeout}
	stop := context.AfterFunc(ctx, func() { _ = web.Close() })
	defer stop()
	if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the host of servers: %w", err)
	}
	return nil
}

// own keeps mounts to this process, and shows it the processes of its namespace.
func own() error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("%w: keeping mounts to this process: %w", ErrUnable, err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("%w: showing its processes to the host of servers: %w", ErrUnable, err)
	}
	return nil
}

// watchers is how many watchers of files all servers together need: one with systemd and Docker has about ten, all belong
// to root, whose limit is often 128, and systemd ends at once when it gets none.
const watchers = 2048

// raiseLimit sees to it that a limit of the machine is high enough. It is left so: others may rely on it by the time of the end.
func raiseLimit(name string, least int) error {
	text, err := os.ReadFile("/proc/sys/" + name)
	if err != nil {
		return fmt.Errorf("reading the limit %s: %w", name, err)
	}
	if now, err := strconv.Atoi(strings.TrimSpace(string(text))); err != nil || now >= least {
		return err //nolint:wrapcheck // It names the text.
	}
	return setting(name, strconv.Itoa(least))
}

// load finds the servers of a host that has ended, and starts those again that ran.
func (h *host) load() error {
	files, err := filepath.Glob(filepath.Join(h.Data, "*", definitionFile))
	if err != nil {
		return fmt.Errorf("looking for servers: %w", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("reading a server: %w", err)
		}
		s := &server{host: h}
		if err := json.Unmarshal(data, &s.definition); err != nil {
			return fmt.Errorf("reading %s: %w", file, err)
		}
		h.servers[s.definition.ID] = s
		if !s.definition.Running {
			continue
		}
		if err := s.start(); err != nil {
			h.Log.Error("cannot start a server again", "server", s.definition.ID, "error", err)
		}
	}
	return nil
}

// define makes a server, which does not run yet.
func (h *host) define(definition Definition) error {
	definition.Booted, definition.Running = false, false
	if err := definition.check(); err != nil {
		return &problem{http.StatusBadRequest, err}
	}
	if _, err := h.layers(definition); err != nil {
		return &problem{http.StatusBadRequest, err}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.servers[definition.ID] != nil {
		return &problem{http.StatusConflict, fmt.Errorf("server %s is there already", definition.ID)}
	}
	s := &server{host: h, definition: definition}
	if err := os.MkdirAll(s.folder(), 0o700); err != nil {
		return fmt.Errorf("making the folder of the server: %w", err)
	}
	if err := s.save(); err != nil {
		return err
	}
	h.servers[definition.ID] = s
	return nil
}

// template is the folder that /var/lib/containerd of the servers of a system begins as.
func (h *host) template(system string) (string, error) {
	folder, err := os.Readlink(filepath.Join(h.Systems, TemplateLink(system)))
	if err != nil {
		return "", fmt.Errorf("finding the images of containers: %w", err)
	}
	return folder, nil
}

// layers are the folders of which the root of a server is made, the uppermost first.
func (h *host) layers(d Definition) ([]string, error) {
	if d.System == "" {
		return []string{h.Image}, nil
	}
	layer, err := os.Readlink(filepath.Join(h.Systems, d.System))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the lab does not have the system %q of the image: `lab openstack up --systems %[1]s` fetches it", d.System)
	}
	if err != nil {
		return nil, fmt.Errorf("finding the system of the image: %w", err)
	}
	if made, err := findSystem(d.System); err != nil || !made.node {
		return []string{layer, h.Image}, err
	}
	programs, err := os.Readlink(filepath.Join(h.Systems, ProgramsLink(d.System, d.Version)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the lab does not have the version %q of Kubernetes of the image", d.Version)
	}
	if err != nil {
		return nil, fmt.Errorf("finding the programs of the system: %w", err)
	}
	return []string{programs, layer, h.Image}, nil
}

// find is the server of an identifier.
func (h *host) find(id string) (*server, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.servers[id]; s != nil {
		return s, nil
	}
	return nil, &problem{http.StatusNotFound, fmt.Errorf("there is no server %s", id)}
}

// remove ends a server and deletes what there is of it. None is left of it where there was none.
func (h *host) remove(id string) error {
	s, err := h.find(id)
	if err != nil {
		return nil //nolint:nilerr // It is gone.
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.stop(0); err != nil {
		return err
	}
	if err := os.RemoveAll(s.folder()); err != nil {
		return fmt.Errorf("deleting the folder of server %s: %w", id, err)
	}
	h.mu.Lock()
	delete(h.servers, id)
	h.mu.Unlock()
	return h.leave(s.definition.Interfaces)
}

// leave removes the bridges of networks that neither a server nor a load balancer is on any more.
func (h *host) leave(cards []Interface) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	used := map[string]bool{}
	for _, s := range h.servers {
		for _, card := range s.definition.Interfaces {
			used[card.Network] = true
		}
	}
	for _, b := range h.balancers {
		used[b.Interface.Network] = true
	}
	for _, card := range cards {
		if used[card.Network] {
			continue
		}
		if err := h.networks.drop(card); err != nil {
			return err
		}
	}
	return nil
}

// list is all servers in the order of their names.
func (h *host) list() []Status {
	h.mu.Lock()
	servers := slices.Collect(maps.Values(h.servers))
	h.mu.Unlock()
	list := []Status{}
	for _, s := range servers {
		list = append(list, s.status())
	}
	slices.SortFunc(list, func(a, b Status) int { return compare(a.Name, b.Name) })
	return list
}

func (s *server) folder() string { return folder(s.host.Data, s.definition.ID) }

// systemSuffix is that of the folder beside a volume with what the servers wrote that booted from it. It lasts as long as the
// volume: config/python/lab_volume.py deletes and copies it.
const systemSuffix = ".system"

// writes is the folder of what the server writes: that of the volume that it boots from, else its own.
func (s *server) writes() string {
	if s.definition.Root != "" {
		return filepath.Join(s.host.Volumes, s.definition.Root+systemSuffix)
	}
	return s.folder()
}

func (s *server) save() error {
	data, err := json.Marshal(s.definition)
	if err != nil {
		return fmt.Errorf("encoding the server: %w", err)
	}
	return layout.WriteFile(filepath.Join(s.folder(), definitionFile), data)
}
