package cloud

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/cloudtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	balancersAt = "/octavia/v2/lbaas/loadbalancers"
	volumesAt   = "/volume/v3/" + cloudtest.ProjectID + "/volumes"
	addressesAt = "/network/v2.0/floatingips"
	groupsAt    = "/network/v2.0/security-groups"
)

// littered returns a cloud with leftovers of two clusters, and resources of no cluster.
func littered(t *testing.T, wanted vnfm.CloudCleanup) (*cloudtest.Cloud, *Cleanup, *[]string) {
	t.Helper()
	cloud := cloudtest.New(t)
	for _, name := range []string{"kube_service_edge_core_upf", "kube_service_edge_core_amf", "kube_service_edge-2_core_upf", "mine"} {
		cloud.Put(balancersAt, map[string]any{"id": name, "name": name, "provisioning_status": "ACTIVE", "vip_port_id": "port-" + name})
	}
	cloud.Put(addressesAt, map[string]any{"id": "a", "description": "Floating IP for Kubernetes external service core/upf from cluster edge"})
	cloud.Put(addressesAt, map[string]any{"id": "b", "description": "of the company"})
	for name, description := range map[string]string{
		"lb-sg-1": "Security Group for core/upf Service LoadBalancer in cluster edge", "lb-sg-2": "Security Group for core/upf Service LoadBalancer in cluster edge-2", "web": "of the company",
	} {
		cloud.Put(groupsAt, map[string]any{"id": name, "name": name, "description": description})
	}
	for name, cluster := range map[string]string{"pvc-1": "edge", "pvc-2": "edge-2"} {
		cloud.Put(volumesAt, map[string]any{"id": name, "name": name, "status": "available", "metadata": map[string]any{"cinder.csi.openstack.org/cluster": cluster}})
	}
	spec := &vnfm.ClusterSpec{Name: "edge", OpenStack: &vnfm.ClusterOpenStack{VIMID: "cloud", Cleanup: wanted}}
	target := &vnfm.Target{
		Instance: &vnfm.Instance{ID: "0815", Cluster: spec},
		Access: func(context.Context, string) (*vnfm.VIM, vnfm.Credentials, error) {
			return &vnfm.VIM{Name: "cloud", OpenStack: &vnfm.OpenStackConnection{AuthURL: cloud.URL, Username: "nfv_user", ProjectName: cloudtest.Project}},
				vnfm.Credentials{vnfm.CredentialPassword: "devstack"}, nil
		},
	}
	a := NewCredential(&Cluster{Spec: spec, Name: "edge", Namespace: "core", Instance: "0815"}, openstack.NewPool("test/1"), target, NewInventory(target, &tape{}))
	var left []string
	c := NewCleanup(a, func(object, reason string) { left = append(left, object+": "+reason) })
	c.every = 10 * time.Millisecond
	return cloud, c, &left
}

func namesAt(cloud *cloudtest.Cloud, collection string) string {
	var names []string
	for _, o := range cloud.Has(collection) {
		name, _ := o["id"].(string)
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func TestCleanupRemovesWhatIsTheClusters(t *testing.T) {
	cloud, c, left := littered(t, vnfm.CloudCleanup{LoadBalancers: true, Volumes: true})
	c.Begin(t.Context())
	assert.Equal(t, "kube_service_edge-2_core_upf mine", namesAt(cloud, balancersAt), "they go while the network waits for them")
	assert.Equal(t, "b", namesAt(cloud, addressesAt))
	c.Finish(t.Context())
	assert.Equal(t, "pvc-2", namesAt(cloud, volumesAt))
	assert.Equal(t, "lb-sg-2 web", namesAt(cloud, groupsAt))
	assert.Empty(t, *left)
}

func TestCleanupIsAskedFor(t *testing.T) {
	cloud, c, _ := littered(t, vnfm.CloudCleanup{})
	c.Begin(t.Context())
	c.Finish(t.Context())
	assert.Empty(t, cloud.Requests())
	cloud, c, _ = littered(t, vnfm.CloudCleanup{Volumes: true})
	c.Begin(t.Context())
	c.Finish(t.Context())
	assert.Len(t, cloud.Has(balancersAt), 4)
	assert.Len(t, cloud.Has(groupsAt), 3)
	assert.Len(t, cloud.Has(volumesAt), 1)
}

// A failed removal is reported, and the other objects are removed all the same.
func TestCleanupSaysWhatStays(t *testing.T) {
	cloud, c, left := littered(t, vnfm.CloudCleanup{LoadBalancers: true, Volumes: true})
	cloud.Refuse(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodDelete && strings.HasPrefix(r.URL.Path, "/volume/") {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"badRequest": {"code": 400, "message": "Volume status must be available or error, but current status is: in-use."}}`))
			return true
		}
		return false
	})
	c.Finish(t.Context())
	require.Len(t, *left, 1)
	assert.Contains(t, (*left)[0], "1 volumes were left: removing volume pvc-1: ")
	assert.Contains(t, (*left)[0], "current status is: in-use.")
	assert.Equal(t, "kube_service_edge-2_core_upf mine", namesAt(cloud, balancersAt))
}

// Without time there is none for it.
func TestCleanupNeedsTime(t *testing.T) {
	cloud, c, left := littered(t, vnfm.CloudCleanup{LoadBalancers: true})
	ctx, cancel := context.WithTimeout(t.Context(), cleanupReserve-time.Second)
	defer cancel()
	c.Finish(ctx)
	require.Len(t, *left, 1)
	assert.Contains(t, (*left)[0], "deadline exceeded")
	assert.Len(t, cloud.Has(balancersAt), 4)
}
