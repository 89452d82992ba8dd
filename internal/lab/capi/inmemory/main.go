// Command inmemory is the infrastructure provider of Cluster API's own tests, reduced to its in-memory machines. The
// upstream program serves the workload clusters at ports that cannot be changed, so that a machine has room for one, and
// it asks for a container runtime. The controllers, the webhooks and the workload API servers are upstream's.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/feature"
	"sigs.k8s.io/cluster-api/test/infrastructure/container"
	"sigs.k8s.io/cluster-api/test/infrastructure/docker/controllers"
	"sigs.k8s.io/cluster-api/test/infrastructure/docker/webhooks"
	inmemoryruntime "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime"
	inmemoryserver "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/server"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
)

// host is where the API servers of the workload clusters are reached.
const host = "127.0.0.1"

// workers is how many objects of a kind are worked on at once.
const workers = 10

// options are the flags. Those that the other managers have too bear the same names.
type options struct {
	kubeconfig          string
	healthAddr          string
	webhookPort         int
	webhookCertDir      string
	webhookCertName     string
	webhookKeyName      string
	debugPort           int32
	firstPort, lastPort int32
}

func main() {
	var o options
	// Not the flags of package flag: controller-runtime has put a --kubeconfig of its own there.
	flags := pflag.NewFlagSet("inmemory", pflag.ExitOnError)
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the management cluster")
	flags.IntVar(&o.webhookPort, "webhook-port", 9443, "port of the webhooks")
	flags.StringVar(&o.webhookCertDir, "webhook-cert-dir", "", "folder of the certificate and the key of the webhooks")
	flags.StringVar(&o.webhookCertName, "webhook-cert-name", "tls.crt", "file of the certificate")
	flags.StringVar(&o.webhookKeyName, "webhook-key-name", "tls.key", "file of the key")
	flags.Int32Var(&o.debugPort, "debug-port", inmemoryserver.DefaultDebugPort, "port that tells which workload clusters there are")
	flags.Int32Var(&o.firstPort, "first-port", inmemoryserver.DefaultMinPort, "port of the first workload cluster")
	flags.Int32Var(&o.lastPort, "last-port", inmemoryserver.DefaultMaxPort, "port of the last workload cluster")
	flags.StringVar(&o.healthAddr, "health-addr", ":9440", "address of the health checks")
	for _, name := range []string{"diagnostics-address", "insecure-diagnostics", "leader-elect"} {
		flags.String(name, "", "of upstream's program; without effect")
		flags.Lookup(name).NoOptDefVal = "true"
	}
	flags.IntP("v", "v", 0, "of upstream's program; without effect")
	feature.MutableGates.AddFlag(flags)
	_ = flags.Parse(os.Args[1:]) // pflag.ExitOnError: there is no error to return.

	ctrl.SetLogger(klog.Background())
	if err := run(ctrl.SetupSignalHandler(), o); err != nil {
		fmt.Fprintf(os.Stderr, "inmemory: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	manager, err := newManager(o)
	if err != nil {
		return err
	}
	cache, err := newClusterCache(ctx, manager)
	if err != nil {
		return err
	}
	scheme, err := workloadScheme()
	if err != nil {
		return err
	}
	memory := inmemoryruntime.NewManager(scheme)
	if err := memory.Start(ctx); err != nil {
		return fmt.Errorf("starting the store of the workload clusters: %w", err)
	}
	servers, err := inmemoryserver.NewWorkloadClustersMux(memory, host, inmemoryserver.CustomPorts{
		MinPort: o.firstPort, MaxPort: o.lastPort, DebugPort: o.debugPort,
	})
	if err != nil {
		return fmt.Errorf("starting the API servers of the workload clusters: %w", err)
	}
	if err := addControllers(ctx, manager, cache, memory, servers); err != nil {
		return err
	}
	if err := addWebhooks(manager); err != nil {
		return err
	}
	answers := manager.GetWebhookServer().StartedChecker()
	if err := errors.Join(manager.AddReadyzCheck("webhook", answers), manager.AddHealthzCheck("webhook", answers)); err != nil {
		return fmt.Errorf("adding the health checks: %w", err)
	}
	return manager.Start(ctx)
}

// noContainers is the container runtime that the controllers ask for and do not use for machines in memory.
type noContainers struct{ container.Runtime }

func addControllers(ctx context.Context, manager ctrl.Manager, cache clustercache.ClusterCache, memory inmemoryruntime.Manager, servers *inmemoryserver.WorkloadClustersMux) error {
	options := controller.Options{MaxConcurrentReconciles: workers}
	if err := (&controllers.DevClusterReconciler{
		Client: manager.GetClient(), ContainerRuntime: noContainers{}, InMemoryManager: memory, APIServerMux: servers,
	}).SetupWithManager(ctx, manager, options); err != nil {
		return fmt.Errorf("making the controller of DevClusters: %w", err)
	}
	if err := (&controllers.DevMachineReconciler{
		Client: manager.GetClient(), ContainerRuntime: noContainers{}, InMemoryManager: memory, APIServerMux: servers, ClusterCache: cache,
	}).SetupWithManager(ctx, manager, options); err != nil {
		return fmt.Errorf("making the controller of DevMachines: %w", err)
	}
	return nil
}

// addWebhooks serves those of the Docker kinds too: they are in the manifests, and an object of such a kind can then be
// made, although nothing comes of it.
func addWebhooks(manager ctrl.Manager) error {
	for _, webhook := range []interface{ SetupWebhookWithManager(ctrl.Manager) error }{
		&webhooks.DevCluster{}, &webhooks.DevClusterTemplate{}, &webhooks.DevMachine{}, &webhooks.DevMachineTemplate{},
		&webhooks.DockerCluster{}, &webhooks.DockerClusterTemplate{}, &webhooks.DockerMachine{}, &webhooks.DockerMachineTemplate{},
	} {
		if err := webhook.SetupWebhookWithManager(manager); err != nil {
			return fmt.Errorf("making the webhook %T: %w", webhook, err)
		}
	}
	return nil
}

func newClusterCache(ctx context.Context, manager ctrl.Manager) (clustercache.ClusterCache, error) {
	secrets, err := client.New(manager.GetConfig(), client.Options{
		HTTPClient: manager.GetHTTPClient(),
		Cache:      &client.CacheOptions{Reader: manager.GetCache()},
	})
	if err != nil {
		return nil, fmt.Errorf("making the client that reads kubeconfigs: %w", err)
	}
	cache, err := clustercache.SetupWithManager(ctx, manager, clustercache.Options{
		SecretClient: secrets,
		Client:       clustercache.ClientOptions{UserAgent: userAgent, Cache: clustercache.ClientCacheOptions{DisableFor: uncached()}},
	}, controller.Options{MaxConcurrentReconciles: workers})
	if err != nil {
		return nil, fmt.Errorf("making the cache of workload clusters: %w", err)
	}
	return cache, nil
}
