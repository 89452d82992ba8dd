package cluster

import (
	"context"
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
)

// serviceConfig is how the lab itself reaches the API server, without a client-side limit.
func serviceConfig(dir layout.Dir) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", dir.Kubeconfig(kubeconfigService))
	if err != nil {
		return nil, fmt.Errorf("reading the lab's own kubeconfig: %w", err)
	}
	config.QPS = -1
	config.UserAgent = "lab"
	return config, nil
}

func serviceClient(dir layout.Dir) (*kubernetes.Clientset, error) {
	config, err := serviceConfig(dir)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the lab's client: %w", err)
	}
	return client, nil
}

// serverReady asks the API server whether it is ready.
func serverReady(ctx context.Context, client kubernetes.Interface) error {
	if _, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx); err != nil {
		return fmt.Errorf("kube-apiserver is not ready: %w", err)
	}
	return nil
}
