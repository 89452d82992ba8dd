package main

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	infrav1beta1 "sigs.k8s.io/cluster-api/test/infrastructure/docker/api/v1beta1"
	infrav1 "sigs.k8s.io/cluster-api/test/infrastructure/docker/api/v1beta2"
	cloudv1 "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/cloud/api/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

const userAgent = "cluster-api-inmemory"

// newManager is a manager without metrics and leader election: there is one, and nobody measures it.
func newManager(o options) (ctrl.Manager, error) {
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config.QPS, config.UserAgent = -1, userAgent
	scheme, err := newScheme(clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, infrav1beta1.AddToScheme, infrav1.AddToScheme, clusterv1.AddToScheme)
	if err != nil {
		return nil, err
	}
	// Of all Secrets those of clusters alone: the cache of workload clusters reads their kubeconfigs.
	ofCluster, err := labels.NewRequirement(clusterv1.ClusterNameLabel, selection.Exists, nil)
	if err != nil {
		return nil, fmt.Errorf("selecting the Secrets of clusters: %w", err)
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                 scheme,
		HealthProbeBindAddress: o.healthAddr,
		Metrics:                metricsserver.Options{BindAddress: "0"},
		Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{
			&corev1.Secret{}: {Label: labels.NewSelector().Add(*ofCluster)},
		}},
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: uncached(), Unstructured: true}},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: host, Port: o.webhookPort,
			CertDir: o.webhookCertDir, CertName: o.webhookCertName, KeyName: o.webhookKeyName,
		}),
	})
	if err != nil {
		return nil, fmt.Errorf("making the manager: %w", err)
	}
	return manager, nil
}

// uncached are the kinds that are read afresh, as upstream does.
func uncached() []client.Object { return []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}} }

// workloadScheme has the kinds that a workload cluster in memory serves.
func workloadScheme() (*runtime.Scheme, error) {
	return newScheme(cloudv1.AddToScheme, corev1.AddToScheme, appsv1.AddToScheme, rbacv1.AddToScheme, storagev1.AddToScheme,
		apiextensionsv1.AddToScheme, policyv1.AddToScheme)
}

func newScheme(groups ...func(*runtime.Scheme) error) (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range groups {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("registering the kinds: %w", err)
		}
	}
	return scheme, nil
}
