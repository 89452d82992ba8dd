package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/controllers"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/proxy"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/stages"
)

// The commands of the control socket.
const (
	commandReady = "ready"
	commandFault = "fault"
)

// The descriptors at which `lab up` hands the listeners over: layout.Listeners, after the three standard ones.
const firstListener = 3

// readHeaderTimeout bounds how long a client of a proxy may take to send its header.
const readHeaderTimeout = 10 * time.Second

// Serve runs the lab's own services until ctx ends or one of them fails: the proxies and the controllers.
// It runs in the directory of the lab.
func (l *Lab) Serve(ctx context.Context) error {
	state, err := l.Dir.LoadState()
	if err != nil {
		return err
	}
	listeners, err := inherited("fault", "basic", "kubelet")
	if err != nil {
		return err
	}
	client, err := serviceClient(l.Dir)
	if err != nil {
		return err
	}
	faulty := proxy.NewFaulty(layout.Address(state.Ports.APIServer()), l.Log)
	basic, err := l.basicProxy(state)
	if err != nil {
		return err
	}
	programs, err := l.programs(state, client)
	if err != nil {
		return err
	}
	kubelet, err := l.podLogs(state, client, programs)
	if err != nil {
		return err
	}
	control, err := listenSocket(ctx, layout.ControlSocket)
	if err != nil {
		return err
	}
	egress, err := listenSocket(ctx, layout.EgressSocket)
	if err != nil {
		return err
	}
	var ready atomic.Bool

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return faulty.Serve(ctx, listeners[0]) })
	group.Go(func() error { return serveHTTPS(ctx, listeners[1], basic) })
	group.Go(func() error { return serveHTTPS(ctx, listeners[2], kubelet) })
	group.Go(func() error {
		return (&proxy.Control{Log: l.Log, Handle: handler(faulty, &ready)}).Serve(ctx, control)
	})
	group.Go(func() error {
		return serveHTTP(ctx, egress, l.httpServer((&proxy.Egress{Find: programs.Find, Log: l.Log}).Handler(), nil))
	})
	group.Go(func() error {
		if err := poll.Until(ctx, "kube-apiserver", func(ctx context.Context) error { return serverReady(ctx, client) }); err != nil {
			return err
		}
		group.Go(func() error { return programs.Run(ctx) })
		return controllers.Run(ctx, client, l.Log, func() { ready.Store(true) })
	})
	return group.Wait()
}

// programs runs the pods whose programs the lab has.
func (l *Lab) programs(state *layout.State, client kubernetes.Interface) (*controllers.Programs, error) {
	authority, err := readPEM(l.Dir.PKI("ca.crt"))
	if err != nil {
		return nil, err
	}
	return controllers.NewPrograms(controllers.ProgramsConfig{
		Client: client, Dir: l.Dir, Folder: l.clusterAPIFile(""),
		Server: endpoint(state.Ports.APIServer()), Authority: authority, Log: l.Log,
	})
}

// handler carries out the commands of the control socket.
func handler(faulty *proxy.Faulty, ready *atomic.Bool) func([]string) (string, error) {
	return func(words []string) (string, error) {
		switch {
		case len(words) == 0:
			return "", errors.New("no command")
		case words[0] == commandReady && ready.Load():
			return commandReady, nil
		case words[0] == commandReady:
			return "", errors.New("the lab's controllers have not read everything yet")
		case words[0] == commandFault && len(words) == 1:
			return faulty.Fault().String(), nil
		case words[0] == commandFault:
			fault, err := proxy.ParseFault(words[1:])
			if err != nil {
				return "", err
			}
			faulty.Set(fault)
			return fault.String(), nil
		default:
			return "", fmt.Errorf("unknown command %q", strings.Join(words, " "))
		}
	}
}

func (l *Lab) basicProxy(state *layout.State) (*http.Server, error) {
	target, roots, server, err := l.front(state, "basic")
	if err != nil {
		return nil, err
	}
	client, err := l.pair("front-proxy-client")
	if err != nil {
		return nil, err
	}
	handler := (&proxy.Basic{
		Target: target, Roots: roots, Client: client,
		Username: userBasic, Password: state.BasicPassword, Groups: []string{groupAdmins},
		Log: l.Log,
	}).Handler()
	return l.httpServer(handler, &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{server}}), nil
}

// front returns what a proxy in front of kube-apiserver needs: its URL, the authorities of the lab, and the certificate of a name.
func (l *Lab) front(state *layout.State, certificate string) (target *url.URL, roots *x509.CertPool, server tls.Certificate, err error) {
	if target, err = url.Parse(endpoint(state.Ports.APIServer())); err != nil {
		return nil, nil, server, fmt.Errorf("building the URL of kube-apiserver: %w", err)
	}
	if roots, err = l.authorities(); err != nil {
		return nil, nil, server, err
	}
	server, err = l.pair(certificate)
	return target, roots, server, err
}

func (l *Lab) podLogs(state *layout.State, client kubernetes.Interface, programs *controllers.Programs) (*http.Server, error) {
	kwok, err := url.Parse("http://" + layout.Address(state.Ports.Kwok()))
	if err != nil {
		return nil, fmt.Errorf("building the URL of KWOK: %w", err)
	}
	roots, err := l.authorities()
	if err != nil {
		return nil, err
	}
	server, err := l.pair("kubelet")
	if err != nil {
		return nil, err
	}
	handler := (&proxy.PodLogs{Kwok: kwok, Log: l.Log, File: programs.LogFile, Model: func(ctx context.Context, namespace, name, container string) (string, string, error) {
		pod, err := client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return "", "", fmt.Errorf("reading pod %s/%s: %w", namespace, name, err)
		}
		model, err := stages.ModelOf(pod, container)
		return stages.ModelNamespace, model, err
	}}).Handler()
	return l.httpServer(handler, &tls.Config{
		MinVersion:   tls.VersionTLS12,
		Certificates: []tls.Certificate{server},
		// As a kubelet without anonymous access: only the API server has such a certificate.
		ClientAuth: tls.RequireAndVerifyClientCert,
		ClientCAs:  roots,
	}), nil
}

func (l *Lab) httpServer(handler http.Handler, config *tls.Config) *http.Server {
	return &http.Server{
		Handler:           handler,
		TLSConfig:         config,
		ReadHeaderTimeout: readHeaderTimeout,
		ErrorLog:          slog.NewLogLogger(l.Log.Handler(), slog.LevelWarn),
	}
}

func (l *Lab) authorities() (*x509.CertPool, error) {
	data, err := readPEM(l.Dir.PKI("ca.crt"))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("%s holds no certificate", l.Dir.PKI("ca.crt"))
	}
	return pool, nil
}

func (l *Lab) pair(name string) (tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(l.Dir.PKI(name+".crt"), l.Dir.PKI(name+".key"))
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("reading the certificate %q of the lab: %w", name, err)
	}
	return pair, nil
}

func serveHTTPS(ctx context.Context, listener net.Listener, server *http.Server) error {
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving on %s: %w", listener.Addr(), err)
	}
	return nil
}

func serveHTTP(ctx context.Context, listener net.Listener, server *http.Server) error {
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving on %s: %w", listener.Addr(), err)
	}
	return nil
}

// inherited takes over the listeners that `lab up` has opened.
func inherited(names ...string) ([]net.Listener, error) {
	listeners := make([]net.Listener, 0, len(names))
	for i, name := range names {
		file := os.NewFile(uintptr(firstListener+i), name) //nolint:gosec // A small positive number.
		listener, err := net.FileListener(file)
		if err != nil {
			return nil, fmt.Errorf("taking over the listener %q: `lab serve` is started by `lab up`: %w", name, err)
		}
		if err := file.Close(); err != nil {
			return nil, fmt.Errorf("taking over the listener %q: %w", name, err)
		}
		listeners = append(listeners, listener)
	}
	return listeners, nil
}

// listenSocket opens a socket in the working directory, and replaces one that a killed predecessor has left.
func listenSocket(ctx context.Context, name string) (net.Listener, error) {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("removing the old %s: %w", name, err)
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "unix", name)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", name, err)
	}
	if err := os.Chmod(name, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("protecting %s: %w", name, err), listener.Close())
	}
	return listener, nil
}
