// Package cloud handles the OpenStack of the machines of a workload cluster: it checks that the
// resources exist that the cluster names, reports changes that the infrastructure provider
// rejects, manages the application credential of the cluster, and cleans up when the cluster
// is destroyed.
package cloud

import (
	"encoding/base64"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Cluster is a workload cluster on its management cluster.
type Cluster struct {
	Client *kube.Client
	Spec   *vnfm.ClusterSpec
	// Instance is the id of the instance, the label of all objects of the cluster.
	Instance  string
	Namespace string
	Name      string
}

func (c *Cluster) String() string { return fmt.Sprintf("workload cluster %s/%s", c.Namespace, c.Name) }

// SecretValue returns one decoded value of a Secret.
func SecretValue(secret *unstructured.Unstructured, key string) (string, error) {
	encoded, _, _ := unstructured.NestedString(secret.Object, "data", key)
	plain, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(plain) == 0 {
		return "", fmt.Errorf("Secret %s/%s has no usable value %q", secret.GetNamespace(), secret.GetName(), key) //nolint:staticcheck,revive // the name of a kind
	}
	return string(plain), nil
}
