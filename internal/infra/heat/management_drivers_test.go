package heat

import (
	"context"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/clusterscript"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/kubespray"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/playbook"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/privateregistry"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/script"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/hooktest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/kubespraytest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/porttest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/sshtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestDriversFindServers: each management driver finds the servers of the stack by the connection points of its parameters, whatever
// form the templates have. No server answers, so that each driver ends where it dials: the error has the address.
func TestDriversFindServers(t *testing.T) {
	t.Parallel()
	port := porttest.Free(t)
	login := func(point string, more map[string]any) map[string]any {
		out := map[string]any{"ssh_cp_name": point, "username": "root", "password": "x", "port": int64(port), "boot_timeout": "1ms"}
		for name, value := range more {
			out[name] = value
		}
		return out
	}
	tree := kubespraytest.Shape(t, "2.28")
	kubespraytest.Record(t, tree, "2.16.4", "")
	host := sshtest.New(t, sshtest.Options{Env: []string{"HOME=" + t.TempDir()}}).Host()
	cluster := func(more map[string]any) map[string]any {
		params := map[string]any{
			"master_node":       login("masterNode_CP1", map[string]any{"nic_cp_name": "masterNode_CP2", "cluster_cp_name": "masterNode_CP1", "aspect_id": "master_instance"}),
			"worker_node":       login("workerNode_CP1", map[string]any{"nic_cp_name": "workerNode_CP2", "aspect_id": "worker_instance"}),
			"external_lb_param": login("externalLB_CP1", nil),
		}
		for name, value := range more {
			params[name] = value
		}
		return map[string]any{"k8s_cluster_installation_param": params}
	}
	access := map[string]any{"masterNode": login("masterNode_CP2", nil), "workerNode": login("workerNode_CP2", nil), "externalLB": login("externalLB_CP2", nil)}
	nodes := map[string]string{"masterNode": "masterNode_CP1", "workerNode": "workerNode_CP1"}
	all := map[string]string{"masterNode": "masterNode_CP2", "workerNode": "workerNode_CP2", "externalLB": "externalLB_CP2"}
	for name, c := range map[string]struct {
		driver vnfm.ManagementDriver
		// file is the artifact of the hook, dialled the connection point of each VDU that is dialled.
		file    string
		params  map[string]any
		dialled map[string]string
	}{
		"kubespray": {kubespray.New(), "", cluster(map[string]any{"ansible": map[string]any{
			"ip_address": host.Address, "port": int64(host.Port), "username": host.User, "password": host.Password.Reveal(),
			"kubespray_root_path": tree, "transferring_inventory_path": t.TempDir(),
		}}), nodes},
		"script of a cluster": {clusterscript.New(), "", cluster(map[string]any{"script_path": "Scripts/setup.sh"}), nodes},
		"private registry":    {privateregistry.New(), "", map[string]any{"private_registry_installation_param": login("externalLB_CP1", nil)}, map[string]string{"externalLB": "externalLB_CP1"}},
		"script":              {script.New(), "Scripts/setup.sh", map[string]any{"ssh_access": access}, all},
		"playbook": {playbook.New(), "Ansible/site.yml", map[string]any{
			"ssh_access": access, "ansible_host": map[string]any{"ip_address": "192.0.2.1", "username": "ansible", "password": "x"},
		}, all},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for form, files := range templates() {
				target := clusterTarget(files)
				_, vnfcs := deployed(t, target)
				recorder := &hooktest.Recorder{}
				call := &vnfm.HookCall{
					Hook:      vnfm.Hook{Name: "instantiate_end", Implementation: vnfm.Implementation{Artifact: "own", File: c.file}},
					Operation: vnfm.OpInstantiate, End: true, Params: c.params, Instance: target.Instance, Flavour: target.Flavour, Request: &vnfm.InstanceSpec{},
					Package:   &vnfm.Package{Content: fstest.MapFS{"Scripts/setup.sh": {Data: []byte("true")}, "Ansible/site.yml": {Data: []byte("- hosts: all\n")}}},
					Resources: func(context.Context) (*vnfm.ResourceInfo, error) { return &vnfm.ResourceInfo{VNFCs: vnfcs}, nil },
					Recorder:  recorder, HostKeys: recorder, State: recorder, VIMs: recorder, DigestKey: []byte("key"),
				}
				err := c.driver.Run(t.Context(), call)
				require.Error(t, err, form)
				found := 0
				for _, v := range vnfcs {
					if point := c.dialled[v.VDUID]; point != "" {
						found++
						require.ErrorContains(t, err, fmt.Sprintf("VNFC %s: ", v.ID), form)
						require.ErrorContains(t, err, fmt.Sprintf("root@%s:%d", v.ConnectionPoints[point][0], port), form)
					}
				}
				require.NotZero(t, found)
			}
		})
	}
}
