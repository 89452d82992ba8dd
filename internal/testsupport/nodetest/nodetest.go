// Package nodetest is a VNF instance whose servers are hosts of the test, for tests of management drivers that make a Kubernetes
// cluster of them.
package nodetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/hooktest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/hosttest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/porttest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Param is the additional parameter that says what the cluster is.
const Param = "k8s_cluster_installation_param"

// Instance is an instance, and all that a driver has in hand at its hooks.
type Instance struct {
	*hooktest.Recorder
	Call *vnfm.HookCall
	// Hosts are the servers by the ids of their VNFCs, also those that are gone.
	Hosts map[string]*hosttest.Host
	// Port is that of SSH on all of them.
	Port int

	driver   vnfm.ManagementDriver
	network  string
	programs map[string]string
	has      *vnfm.ResourceInfo
}

// New returns an instance without servers, which get addresses of a network of the loopback interface, "127.0.6.", and programs, as
// hosttest has them. The parameters say how one logs in to masters and workers.
func New(t testing.TB, id, network string, driver vnfm.ManagementDriver, programs map[string]string) *Instance {
	t.Helper()
	i := &Instance{
		Recorder: &hooktest.Recorder{}, Hosts: map[string]*hosttest.Host{}, Port: porttest.Free(t), has: &vnfm.ResourceInfo{},
		driver: driver, network: network, programs: programs,
	}
	login := func(aspect, point string) map[string]any {
		return map[string]any{"aspect_id": aspect, "ssh_cp_name": point, "username": "root", "password": "debian", "port": int64(i.Port)}
	}
	i.Call = &vnfm.HookCall{
		Params: map[string]any{Param: map[string]any{
			"master_node": login("master_instance", "masterNode_CP1"), "worker_node": login("worker_instance", "workerNode_CP2"),
		}},
		Instance: &vnfm.Instance{ID: id, Name: "core"}, Flavour: Flavour(), Package: &vnfm.Package{Content: fstest.MapFS{}},
		Resources: func(context.Context) (*vnfm.ResourceInfo, error) { return i.has, nil },
		Recorder:  i, HostKeys: i, State: i, VIMs: i, DigestKey: []byte("key"),
	}
	return i
}

// Flavour has masters and workers.
func Flavour() *vnfm.Flavour {
	return &vnfm.Flavour{
		ID: "simple", VDUs: []vnfm.VDU{{ID: "masterNode"}, {ID: "workerNode"}},
		ConnectionPoints: []vnfm.ConnectionPoint{{ID: "masterNode_CP1", VDUID: "masterNode"}, {ID: "workerNode_CP2", VDUID: "workerNode"}},
		Aspects:          []vnfm.ScalingAspect{{ID: "master_instance"}, {ID: "worker_instance"}},
	}
}

// Params are the parameters of the cluster.
func (i *Instance) Params() map[string]any {
	params, _ := i.Call.Params[Param].(map[string]any)
	return params
}

// Below is an object of the parameters of the cluster.
func (i *Instance) Below(name string) map[string]any {
	object, _ := i.Params()[name].(map[string]any)
	return object
}

// Master adds a server that is a master; last is the last byte of its address.
func (i *Instance) Master(t testing.TB, id string, last int) *hosttest.Host {
	t.Helper()
	return i.Server(t, id, "masterNode", "masterNode_CP1", last)
}

// Worker adds a server that is a worker.
func (i *Instance) Worker(t testing.TB, id string, last int) *hosttest.Host {
	t.Helper()
	return i.Server(t, id, "workerNode", "workerNode_CP2", last)
}

// Server adds a server of a VDU.
func (i *Instance) Server(t testing.TB, id, vdu, point string, last int) *hosttest.Host {
	t.Helper()
	address := fmt.Sprintf("%s%d", i.network, last)
	i.Hosts[id] = hosttest.NewAt(t, address, i.Port, i.programs)
	i.has.VNFCs = append(i.has.VNFCs, vnfm.VNFC{
		ID: id, VDUID: vdu, State: "ACTIVE", Addresses: []string{address}, ConnectionPoints: map[string][]string{point: {address}},
	})
	return i.Hosts[id]
}

// VNFCs are the servers that there are.
func (i *Instance) VNFCs() []vnfm.VNFC { return i.has.VNFCs }

// Gone takes a server away.
func (i *Instance) Gone(id string) {
	i.has.VNFCs = slices.DeleteFunc(i.has.VNFCs, func(c vnfm.VNFC) bool { return c.ID == id })
}

// Each writes a file of all hosts.
func (i *Instance) Each(t testing.TB, path, content string) {
	t.Helper()
	for _, h := range i.Hosts {
		h.Write(t, path, content)
	}
}

// At runs the driver at the start or the end of an operation that takes some VNFCs away.
func (i *Instance) At(t testing.TB, kind vnfm.OperationType, end bool, leaving ...string) error {
	t.Helper()
	i.Call.Operation, i.Call.End, i.Call.Leaving = kind, end, leaving
	return i.driver.Run(t.Context(), i.Call)
}
