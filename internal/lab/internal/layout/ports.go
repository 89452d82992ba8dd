package layout

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// The ports of a lab are neighbours in a block. Blocks lie below the range from which Linux, macOS and Windows take
// the ports of outgoing connections, so that no client of the machine can sit on one by chance.
const (
	firstBlock    = 22000
	blockSize     = 16
	blocks        = 600
	blockAttempts = 100
)

// Ports is the block of a lab, named by its first port.
type Ports int

// Fault is the port of the proxy whose connections can be cut and delayed.
func (p Ports) Fault() int { return int(p) }

// Basic is the port of the proxy that checks HTTP basic authentication.
func (p Ports) Basic() int { return int(p) + 1 }

// Kubelet is the port the API server asks for the logs of pods.
func (p Ports) Kubelet() int { return int(p) + 2 }

// APIServer is the port of kube-apiserver.
func (p Ports) APIServer() int { return int(p) + 3 }

// EtcdClient is the port etcd serves kube-apiserver on.
func (p Ports) EtcdClient() int { return int(p) + 4 }

// EtcdPeer is the port etcd would serve other members on.
func (p Ports) EtcdPeer() int { return int(p) + 5 }

// ControllerManager is the health and metrics port of kube-controller-manager.
func (p Ports) ControllerManager() int { return int(p) + 6 }

// Scheduler is the health and metrics port of kube-scheduler.
func (p Ports) Scheduler() int { return int(p) + 7 }

// Kwok is the port of KWOK's kubelet server.
func (p Ports) Kwok() int { return int(p) + 8 }

// OlderClusterAPI is the port of the proxy that hides the newest version of Cluster API's kinds.
func (p Ports) OlderClusterAPI() int { return int(p) + 9 }

// ours are the ports that the lab itself listens on, the others are those of the programs it starts.
func (p Ports) ours() []int { return []int{p.Fault(), p.Basic(), p.Kubelet()} }

func (p Ports) theirs() []int {
	return []int{p.APIServer(), p.EtcdClient(), p.EtcdPeer(), p.ControllerManager(), p.Scheduler(), p.Kwok(), p.OlderClusterAPI()}
}

// Host is the address of everything in a lab.
const Host = "127.0.0.1"

// Address is a port on the loopback interface. All parts of the lab listen there alone.
func Address(port int) string { return net.JoinHostPort(Host, strconv.Itoa(port)) }

// Listeners are the open ports Fault, Basic and Kubelet, in this order.
type Listeners []*net.TCPListener

// Close closes all of them.
func (l Listeners) Close() error {
	var errs []error
	for _, listener := range l {
		errs = append(errs, listener.Close())
	}
	return errors.Join(errs...)
}

// ChoosePorts finds a block of free ports. The returned listeners hold the lab's own ports of it, the first of which
// is the claim on the block: two labs that start at the same moment cannot get the same one.
func ChoosePorts(ctx context.Context) (Ports, Listeners, error) {
	return chooseBlock(ctx, Ports.Listen, Ports.theirs)
}

// chooseBlock finds a block of free ports: some it opens with claim, the others it finds closed.
func chooseBlock[P ~int](ctx context.Context, claim func(P, context.Context) (Listeners, error), neighbours func(P) []int) (P, Listeners, error) {
	var errs []error
	for range blockAttempts {
		ports := P(firstBlock + blockSize*rand.IntN(blocks)) //nolint:gosec // Any number does, nobody guards against guessing it.
		listeners, err := claim(ports, ctx)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if err := probe(ctx, neighbours(ports)); err != nil {
			errs = append(errs, err, listeners.Close())
			continue
		}
		return ports, listeners, nil
	}
	return 0, nil, fmt.Errorf("no %d free ports in a row after %d attempts: %w", blockSize, blockAttempts, errors.Join(errs[:min(3, len(errs))]...))
}

// Listen opens the lab's own ports of a block.
func (p Ports) Listen(ctx context.Context) (Listeners, error) { return listenAll(ctx, p.ours()) }

func listenAll(ctx context.Context, ports []int) (Listeners, error) {
	opened := make(Listeners, 0, len(ports))
	for _, port := range ports {
		listener, err := listen(ctx, port)
		if err != nil {
			return nil, errors.Join(err, opened.Close())
		}
		opened = append(opened, listener)
	}
	return opened, nil
}

// FreePorts returns ports that nobody listens on at the moment. Somebody may by the time they are used: then
// the caller tries again.
func FreePorts(ctx context.Context, count int) ([]int, error) {
	ports := make([]int, 0, count)
	for range count {
		listener, err := listen(ctx, 0)
		if err != nil {
			return nil, err
		}
		// Kept open meanwhile, so that none comes twice.
		defer listener.Close() //nolint:errcheck // Nothing was accepted on it.
		address, ok := listener.Addr().(*net.TCPAddr)
		if !ok {
			return nil, fmt.Errorf("%s is not a TCP address", listener.Addr())
		}
		ports = append(ports, address.Port)
	}
	return ports, nil
}

func listen(ctx context.Context, port int) (*net.TCPListener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", Address(port))
	if err != nil {
		return nil, fmt.Errorf("opening port %d: %w", port, err)
	}
	tcp, ok := listener.(*net.TCPListener)
	if !ok {
		return nil, errors.Join(fmt.Errorf("opening port %d: a %T is not a TCP listener", port, listener), listener.Close())
	}
	return tcp, nil
}

func probe(ctx context.Context, ports []int) error {
	var config net.ListenConfig
	for _, port := range ports {
		listener, err := config.Listen(ctx, "tcp", Address(port))
		if err != nil {
			return fmt.Errorf("port %d is taken: %w", port, err)
		}
		if err := listener.Close(); err != nil {
			return fmt.Errorf("releasing port %d: %w", port, err)
		}
	}
	return nil
}
