package servers

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
)

// Balancer is a load balancer as Octavia's driver wants it: an HAProxy in a network namespace of its own, with the card of a port.
type Balancer struct {
	ID        string    `json:"id"`
	Interface Interface `json:"interface"`
	// Config is HAProxy's.
	Config string `json:"config"`
}

// balancer is one of a host's.
type balancer struct {
	Balancer
	space netns.NsHandle
	// process is the HAProxy that runs, ended is closed when it has ended.
	process *exec.Cmd
	ended   chan struct{}
}

// The files of a load balancer in its folder: its definition, HAProxy's configuration, one that is not checked yet, and HAProxy's log.
const (
	balancerFile   = "balancer.json"
	balancerConfig = "haproxy.cfg"
	balancerNew    = "new.cfg"
	balancerLog    = "haproxy.log"
)

// balancerRestart is the pause before a load balancer is started again that has ended.
const balancerRestart = time.Second

// balance makes a load balancer, or gives one another configuration.
func (h *host) balance(wanted Balancer) error {
	if !identifier.MatchString(wanted.ID) {
		return &problem{http.StatusBadRequest, fmt.Errorf("a load balancer cannot have the id %q", wanted.ID)}
	}
	if err := wanted.Interface.check(); err != nil {
		return &problem{http.StatusBadRequest, err}
	}
	h.balancing.Lock()
	defer h.balancing.Unlock()
	if err := h.writeBalancer(wanted); err != nil {
		return err
	}
	if b := h.balancers[wanted.ID]; b != nil {
		// One that has ended is about to be started with this configuration.
		if err := b.process.Process.Signal(syscall.SIGUSR2); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("having HAProxy read its configuration: %w", err)
		}
		return nil
	}
	return h.startBalancer(wanted)
}

// writeBalancer writes the files of a load balancer, if HAProxy takes the configuration.
func (h *host) writeBalancer(wanted Balancer) error {
	folder := filepath.Join(h.Balancers, wanted.ID)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("making the folder of the load balancer: %w", err)
	}
	if err := layout.WriteFile(filepath.Join(folder, balancerNew), []byte(wanted.Config)); err != nil {
		return err
	}
	if err := h.run(h.networks.space, "", "haproxy", "-c", "-q", "-f", h.seen(wanted.ID, balancerNew)); err != nil {
		return &problem{http.StatusBadRequest, err}
	}
	if err := os.Rename(filepath.Join(folder, balancerNew), filepath.Join(folder, balancerConfig)); err != nil {
		return fmt.Errorf("replacing the configuration of the load balancer: %w", err)
	}
	data, err := json.Marshal(wanted)
	if err != nil {
		return fmt.Errorf("encoding the load balancer: %w", err)
	}
	return layout.WriteFile(filepath.Join(folder, balancerFile), data)
}

// seen is the path of a file of a load balancer as its HAProxy sees it.
func (h *host) seen(id, name string) string {
	return filepath.Join(h.BalancersSeen, id, name)
}

// startBalancer makes the network of a load balancer and starts it.
func (h *host) startBalancer(wanted Balancer) error {
	space, err := newSpace()
	if err != nil {
		return err
	}
	b := &balancer{Balancer: wanted, space: space}
	err = h.connectBalancer(b)
	if err == nil {
		err = h.launchBalancer(b)
	}
	if err != nil {
		return errors.Join(err, h.networks.unplug(b.Interface), space.Close(), h.leave([]Interface{b.Interface}))
	}
	h.mu.Lock()
	h.balancers[b.ID] = b
	h.mu.Unlock()
	return nil
}

func (h *host) connectBalancer(b *balancer) error {
	in, err := netlink.NewHandleAt(b.space)
	if err != nil {
		return fmt.Errorf("reaching the network of the load balancer: %w", err)
	}
	defer in.Close()
	lo, err := in.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("finding the loopback interface of the load balancer: %w", err)
	}
	if err := in.LinkSetUp(lo); err != nil {
		return fmt.Errorf("starting the loopback interface of the load balancer: %w", err)
	}
	return h.plug(b.Interface, b.space)
}

// launchBalancer starts the HAProxy of a load balancer, and another one whenever it ends.
func (h *host) launchBalancer(b *balancer) error {
	log, err := os.OpenFile(filepath.Join(h.Balancers, b.ID, balancerLog), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening the log of the load balancer: %w", err)
	}
	defer log.Close() //nolint:errcheck // HAProxy has a descriptor of its own.
	command := h.program("haproxy", "-W", "-db", "-f", h.seen(b.ID, balancerConfig))
	command.Stdout, command.Stderr = log, log
	if err := within(b.space, command.Start); err != nil {
		return fmt.Errorf("starting HAProxy: %w", err)
	}
	b.process, b.ended = command, make(chan struct{})
	go h.watchBalancer(b, command, b.ended)
	return nil
}

func (h *host) watchBalancer(b *balancer, process *exec.Cmd, ended chan struct{}) {
	err := process.Wait()
	close(ended)
	<-time.After(balancerRestart)
	h.balancing.Lock()
	defer h.balancing.Unlock()
	if h.balancers[b.ID] != b {
		return
	}
	h.Log.Warn("a load balancer has ended", "load balancer", b.ID, "error", err)
	if err := h.launchBalancer(b); err != nil {
		h.Log.Error("cannot start a load balancer again", "load balancer", b.ID, "error", err)
	}
}

// removeBalancer ends a load balancer and deletes what there is of it. None is left of it where there was none.
func (h *host) removeBalancer(id string) error {
	if !identifier.MatchString(id) {
		return nil
	}
	h.balancing.Lock()
	defer h.balancing.Unlock()
	if b := h.balancers[id]; b != nil {
		h.mu.Lock()
		delete(h.balancers, id)
		h.mu.Unlock()
		_ = b.process.Process.Kill()
		<-b.ended
		if err := errors.Join(h.networks.unplug(b.Interface), b.space.Close(), h.leave([]Interface{b.Interface})); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(filepath.Join(h.Balancers, id)); err != nil { //nolint:gosec // An identifier.
		return fmt.Errorf("deleting the folder of load balancer %s: %w", id, err)
	}
	return nil
}

// loadBalancers starts those of a host that has ended.
func (h *host) loadBalancers() error {
	files, err := filepath.Glob(filepath.Join(h.Balancers, "*", balancerFile))
	if err != nil {
		return fmt.Errorf("looking for load balancers: %w", err)
	}
	h.balancing.Lock()
	defer h.balancing.Unlock()
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("reading a load balancer: %w", err)
		}
		var b Balancer
		if err := json.Unmarshal(data, &b); err != nil {
			return fmt.Errorf("reading %s: %w", file, err)
		}
		if err := h.startBalancer(b); err != nil {
			h.Log.Error("cannot start a load balancer again", "load balancer", b.ID, "error", err)
		}
	}
	return nil
}
