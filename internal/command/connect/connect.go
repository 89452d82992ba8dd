// Package connect says how commands reach a VIM: a cluster by a kubeconfig, a cloud by OpenStack's environment or a clouds.yaml.
package connect

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// EnvKubeconfig is the environment variable with the path of a kubeconfig.
const EnvKubeconfig = "KUBECONFIG"

// UserAgent is sent with every request.
func UserAgent(release string) string { return "terraform-provider-vnf/" + release }

// Kubernetes are the flags that say which cluster is meant.
type Kubernetes struct{ path, context string }

// Flags adds the flags to a command.
func (k *Kubernetes) Flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&k.path, "kubeconfig", "", "`FILE` with the kubeconfig of the cluster; by default the one that "+EnvKubeconfig+" names")
	cmd.Flags().StringVar(&k.context, "context", "", "`NAME` of the context of the kubeconfig; by default its current context")
}

// Given reports whether a flag names a cluster.
func (k *Kubernetes) Given() bool { return k.path != "" || k.context != "" }

// Spec is the VIM that the cluster would be. Every error is one of usage.
func (k *Kubernetes) Spec() (vnfm.VIMSpec, error) {
	path := k.path
	if path == "" {
		path = os.Getenv(EnvKubeconfig)
	}
	if path == "" {
		return vnfm.VIMSpec{}, cli.Usagef("no cluster is named: give --kubeconfig FILE, or set %s to the path of one file", EnvKubeconfig)
	}
	if _, err := os.Stat(path); err != nil { //nolint:gosec // the user names the file
		return vnfm.VIMSpec{}, cli.Usagef("reading the kubeconfig: %w", err)
	}
	return vnfm.VIMSpec{
		Name: path, Type: vnfm.VIMTypeKubernetes, Credentials: vnfm.Credentials{},
		Kubernetes: &vnfm.KubernetesConnection{KubeconfigPath: path, KubeconfigContext: k.context},
	}, nil
}

// Client is a client of the cluster. Every error is one of usage.
func (k *Kubernetes) Client(release string) (*kube.Client, error) {
	spec, err := k.Spec()
	if err != nil {
		return nil, err
	}
	client, err := kube.New(kube.Config{
		Connection: *spec.Kubernetes, Credentials: spec.Credentials, UserAgent: UserAgent(release),
		Peer: vnfm.Peer{Name: "the Kubernetes cluster of " + spec.Name, Settings: spec.Name},
	})
	return client, cli.Usage(OneLine(err))
}

// OneLine joins the lines of an error with several problems.
func OneLine(err error) error {
	if err == nil || !strings.Contains(err.Error(), "\n") {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
}

// OpenStack are the flags that say which cloud is meant.
type OpenStack struct{ cloud, file string }

// Flags adds the flags to a command.
func (o *OpenStack) Flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.file, "os-clouds", "", "`FILE` with the clouds; by default the clouds.yaml of the machine, or the one that OS_CLIENT_CONFIG_FILE names")
	cmd.Flags().StringVar(&o.cloud, "os-cloud", "", "`NAME` of a cloud of the machine's clouds.yaml; by default OS_CLOUD and the other variables OS_* say which cloud is meant")
}

// envClouds is the environment variable with the path of a clouds.yaml.
const envClouds = "OS_CLIENT_CONFIG_FILE"

// Given reports whether a flag names a cloud.
func (o *OpenStack) Given() bool { return o.cloud != "" || o.file != "" }

// Set reports whether the environment names a cloud.
func Set() bool { return os.Getenv("OS_CLOUD") != "" || os.Getenv("OS_AUTH_URL") != "" }

func (o *OpenStack) getenv(name string) string {
	if name == envClouds && o.file != "" {
		return o.file
	}
	return os.Getenv(name)
}

// Spec is the VIM that the project would be. Every error is one of usage.
func (o *OpenStack) Spec() (vnfm.VIMSpec, error) {
	if !o.Given() && !Set() {
		return vnfm.VIMSpec{}, cli.Usagef("no cloud is named: give --os-cloud NAME, or set OS_CLOUD, or OS_AUTH_URL with the other variables of OpenStack's clients")
	}
	if o.cloud == "" && o.file != "" {
		return vnfm.VIMSpec{}, cli.Usagef("--os-clouds goes with --os-cloud NAME, which says which cloud of the file is meant")
	}
	connection, credentials, err := openstack.FromMachine(vnfm.OpenStackConnection{Cloud: o.cloud}, vnfm.Credentials{}, !o.Given(), o.getenv)
	if err == nil && connection.Cloud != "" && credentials[vnfm.CredentialCloudsYAML] == "" {
		err = fmt.Errorf("looking for cloud %q: the clouds.yaml is empty", connection.Cloud)
	}
	if err != nil {
		return vnfm.VIMSpec{}, cli.Usage(err)
	}
	name := connection.Cloud
	if name == "" {
		name = connection.AuthURL
	}
	return vnfm.VIMSpec{Name: name, Type: vnfm.VIMTypeOpenStack, OpenStack: &connection, Credentials: credentials}, nil
}

// Client is a client of the cloud. Every error is one of usage.
func (o *OpenStack) Client(release string) (*openstack.Client, error) {
	spec, err := o.Spec()
	if err != nil {
		return nil, err
	}
	client, err := openstack.New(openstack.Config{
		Connection: *spec.OpenStack, Credentials: spec.Credentials, UserAgent: UserAgent(release),
		Peer: vnfm.Peer{Name: "the OpenStack cloud " + spec.Name, Settings: spec.Name},
	})
	return client, cli.Usage(OneLine(err))
}
