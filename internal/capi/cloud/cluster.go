// Package cloud knows the OpenStack that the machines of a workload cluster are in: whether
// it has what the cluster names, which changes its provider rejects, and the application
// credential of the cluster with what is removed at its end.
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
	// Instance is the id that objects of the cluster are labelled with.
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
