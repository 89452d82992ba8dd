// Command cloud is a cloud controller manager for clusters on OpenStack: Kubernetes' own framework with what it needs of
// OpenStack. It stands in for that of cloud-provider-openstack, whose module is not to be had: it reads the same cloud.conf,
// names things in OpenStack as that does, and knows some of its settings and annotations.
package main

import (
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/util/wait"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/app"
	"k8s.io/cloud-provider/app/config"
	"k8s.io/cloud-provider/names"
	"k8s.io/cloud-provider/options"
	"k8s.io/component-base/cli"
	cliflag "k8s.io/component-base/cli/flag"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // metrics of clients.
	_ "k8s.io/component-base/metrics/prometheus/version"  // build information in metrics.
)

func main() {
	cloudprovider.RegisterCloudProvider(providerName, newCloud)
	arguments, err := options.NewCloudControllerManagerOptions()
	if err != nil {
		fail(err)
	}
	command := app.NewCloudControllerManagerCommand(arguments, initialize, app.DefaultInitFuncConstructors, names.CCMControllerAliases(), cliflag.NamedFlagSets{}, wait.NeverStop)
	os.Exit(cli.Run(command))
}

// initialize makes the cloud of a configuration.
func initialize(config *config.CompletedConfig) cloudprovider.Interface {
	given := config.ComponentConfig.KubeCloudShared.CloudProvider
	cloud, err := cloudprovider.InitCloudProvider(given.Name, given.CloudConfigFile)
	if err != nil {
		fail(err)
	}
	if cloud == nil {
		fail(fmt.Errorf("--cloud-provider is %q, not %s", given.Name, providerName))
	}
	return cloud
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
