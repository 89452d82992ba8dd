package capi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/clustertest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func TestOpenStackPlaces(t *testing.T) {
	objects := render(t, clustertest.Placed(clustertest.OpenStack(nil)))
	c := objects["OpenStackCluster edge"]
	assert.Equal(t, map[string]any{"filter": map[string]any{"name": "tenant", "tags": []any{"core", "edge"}}}, at(t, c, "spec", "network"))
	assert.Equal(t, []any{"10.0.0.0/12"}, at(t, objects["Cluster edge"], "spec", "clusterNetwork", "pods", "cidrBlocks"))
	assert.Equal(t, []any{map[string]any{"id": clustertest.UUID}}, at(t, c, "spec", "subnets"))
	assert.Equal(t, map[string]any{"filter": map[string]any{"name": "public"}}, at(t, c, "spec", "externalNetwork"))
	assert.Equal(t, false, at(t, c, "spec", "controlPlaneOmitAvailabilityZone"))
	assert.Equal(t, []any{"a", "b"}, at(t, c, "spec", "controlPlaneAvailabilityZones"))
	assert.Contains(t, at(t, objects["KubeadmControlPlane edge-control-plane"], "spec", "machineTemplate", "metadata", "labels"), "node-role.kubernetes.io/core")
	control := at(t, prefixed(t, objects, "OpenStackMachineTemplate", "edge-control-plane-"), "spec", "template", "spec")
	assert.Equal(t, map[string]any{"sizeGiB": float64(40), "type": "fast", "availabilityZone": map[string]any{"from": "Name", "name": "nova"}}, at(t, control, "rootVolume"))
	assert.NotContains(t, control, "ports")
	worker := at(t, prefixed(t, objects, "OpenStackMachineTemplate", "edge-upf-"), "spec", "template", "spec")
	assert.Equal(t, map[string]any{"sizeGiB": float64(20)}, at(t, worker, "rootVolume"))
	assert.Equal(t, []any{
		map[string]any{},
		map[string]any{"network": map[string]any{"id": clustertest.UUID}},
		map[string]any{
			"network":  map[string]any{"filter": map[string]any{"name": "n6", "tags": []any{"external"}}},
			"fixedIPs": []any{map[string]any{"subnet": map[string]any{"filter": map[string]any{"name": "n6-v4"}}}},
		},
	}, at(t, worker, "ports"))
	assert.Equal(t, "nova", at(t, objects["MachineDeployment edge-upf"], "spec", "template", "spec", "failureDomain"))
}

// prefixed returns the only object of a kind whose name begins with a prefix.
func prefixed(t *testing.T, objects map[string]map[string]any, kind, prefix string) map[string]any {
	t.Helper()
	var found []string
	for _, key := range names(objects, kind) {
		if strings.HasPrefix(key, kind+" "+prefix) {
			found = append(found, key)
		}
	}
	require.Len(t, found, 1)
	return objects[found[0]]
}

func TestOpenStackLeast(t *testing.T) {
	objects := render(t, clustertest.OpenStack(nil))
	assert.Len(t, objects, 9)
	c := objects["OpenStackCluster edge"]
	assert.Equal(t, "infrastructure.cluster.x-k8s.io/v1beta1", c["apiVersion"])
	assert.Equal(t, map[string]any{
		"identityRef":                      map[string]any{"name": "cloud", "cloudName": "openstack"},
		"managedSubnets":                   []any{map[string]any{"cidr": "192.168.3.0/24"}},
		"managedSecurityGroups":            map[string]any{"allowAllInClusterTraffic": true},
		"apiServerLoadBalancer":            map[string]any{"enabled": true},
		"apiServerPort":                    float64(6443),
		"disableAPIServerFloatingIP":       false,
		"controlPlaneOmitAvailabilityZone": true,
	}, c["spec"])
	machine := prefixed(t, objects, "OpenStackMachineTemplate", "edge-upf-")
	assert.Equal(t, map[string]any{"flavor": "m1.medium", "image": map[string]any{"id": clustertest.UUID}}, at(t, machine, "spec", "template", "spec"))
	assert.Contains(t, at(t, machine, "metadata", "labels"), "clusterctl.cluster.x-k8s.io/move")
	assert.Equal(t, at(t, machine, "metadata", "name"),
		at(t, objects["MachineDeployment edge-upf"], "spec", "template", "spec", "infrastructureRef", "name"))
	kcp := objects["KubeadmControlPlane edge-control-plane"]
	assert.EqualValues(t, 3, at(t, kcp, "spec", "replicas"))
	assert.Equal(t, "{{ local_hostname }}", at(t, kcp, "spec", "kubeadmConfigSpec", "initConfiguration", "nodeRegistration", "name"))
	assert.EqualValues(t, 1200, at(t, kcp, "spec", "remediation", "retryPeriodSeconds"))
	assert.EqualValues(t, 300, at(t, kcp, "spec", "machineTemplate", "spec", "deletion", "nodeDrainTimeoutSeconds"))
}

// TestOpenStackExternalNetwork: the external network is found by id, name or tags.
func TestOpenStackExternalNetwork(t *testing.T) {
	for name, c := range map[string]struct {
		by   vnfm.CloudResource
		want map[string]any
	}{
		"id":   {vnfm.CloudResource{ID: clustertest.UUID}, map[string]any{"id": clustertest.UUID}},
		"name": {vnfm.CloudResource{Name: "internet"}, map[string]any{"filter": map[string]any{"name": "internet"}}},
		"tags": {
			vnfm.CloudResource{Name: "internet", Tags: []string{"edge"}},
			map[string]any{"filter": map[string]any{"name": "internet", "tags": []any{"edge"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			spec := clustertest.OpenStack(map[string]any{})
			spec.Network = &vnfm.ClusterNetwork{External: &c.by}
			assert.Equal(t, c.want, at(t, render(t, spec)["OpenStackCluster edge"], "spec", "externalNetwork"))
		})
	}
}

func TestOpenStackEverything(t *testing.T) {
	objects := render(t, clustertest.OpenStack(clustertest.Everything()))
	c := objects["OpenStackCluster edge"]
	assert.Equal(t, map[string]any{"filter": map[string]any{"name": "public"}}, at(t, c, "spec", "externalNetwork"))
	assert.Equal(t, map[string]any{"filter": map[string]any{"name": "tenant"}}, at(t, c, "spec", "network"))
	assert.Equal(t, []any{map[string]any{"id": clustertest.UUID}}, at(t, c, "spec", "subnets"))
	assert.NotContains(t, c["spec"], "managedSubnets")
	assert.Equal(t, map[string]any{"enabled": true, "provider": "ovn", "allowedCIDRs": []any{"10.0.0.0/8"}}, at(t, c, "spec", "apiServerLoadBalancer"))
	assert.Equal(t, true, at(t, c, "spec", "disableAPIServerFloatingIP"))

	spec := at(t, prefixed(t, objects, "OpenStackMachineTemplate", "edge-control-plane-"), "spec", "template", "spec")
	assert.Equal(t, "node-1.34", at(t, spec, "image", "filter", "name"))
	assert.Equal(t, clustertest.UUID, at(t, spec, "flavorID"))
	assert.NotContains(t, spec, "flavor")
	assert.Equal(t, map[string]any{"sizeGiB": float64(40), "type": "fast", "availabilityZone": map[string]any{"from": "Name", "name": "nova"}}, at(t, spec, "rootVolume"))
	assert.Equal(t, "fast", at(t, spec, "additionalBlockDevices", 0, "storage", "volume", "type"))
	worker := at(t, prefixed(t, objects, "OpenStackMachineTemplate", "edge-upf-"), "spec", "template", "spec")
	assert.Equal(t, []any{map[string]any{}, map[string]any{"network": map[string]any{"filter": map[string]any{"name": "storage"}}, "securityGroups": []any{}}}, at(t, worker, "ports"))
	assert.NotContains(t, worker, "additionalBlockDevices", "etcd runs on the control plane alone")

	kubeadm := at(t, objects["KubeadmControlPlane edge-control-plane"], "spec", "kubeadmConfigSpec")
	assert.Equal(t, "/var/lib/etcd/data", at(t, kubeadm, "clusterConfiguration", "etcd", "local", "dataDir"))
	assert.Equal(t, []any{"LABEL=etcd", "/var/lib/etcd"}, at(t, kubeadm, "mounts", 0))
	assert.Equal(t, "/etc/containerd/certs.d/docker.io/hosts.toml", at(t, kubeadm, "files", 0, "path"))
	assert.Equal(t, "server = \"https://registry-1.docker.io\"\n\n[host.\"https://mirror.example/v2/hub\"]\ncapabilities = [\"pull\",\"resolve\"]\noverride_path = true", at(t, kubeadm, "files", 0, "content"))
	assert.Equal(t, map[string]any{
		"path": "/var/lib/kubelet/config.json", "owner": "root:root", "permissions": "0600",
		"contentFrom": map[string]any{"secret": map[string]any{"name": "registries", "key": ".dockerconfigjson"}},
	}, at(t, kubeadm, "files", 2))
	assert.Contains(t, at(t, kubeadm, "preKubeadmCommands"), "DEBIAN_FRONTEND=noninteractive apt-get install --yes nfs-common jq")
	assert.EqualValues(t, 5400, at(t, objects["KubeadmControlPlane edge-control-plane"], "spec", "machineTemplate", "spec", "deletion", "nodeDrainTimeoutSeconds"))
	assert.Equal(t, "Oldest", at(t, objects["MachineDeployment edge-upf"], "spec", "deletion", "order"))

	set := objects["ClusterResourceSet edge"]
	assert.Equal(t, []any{map[string]any{"kind": "Secret", "name": "cloud-config"}, map[string]any{"kind": "ConfigMap", "name": "edge-calico"}}, at(t, set, "spec", "resources"))
	for key, value := range forms.Child(forms.Child(forms.Child(set, "spec"), "clusterSelector"), "matchLabels") {
		assert.Equal(t, value, at(t, objects["Cluster edge"], "metadata", "labels", key), "the set finds the cluster")
	}
}

func TestOpenStackFlatcar(t *testing.T) {
	kubeadm := at(t, render(t, clustertest.OpenStack(map[string]any{"osDistro": "flatcar"}))["KubeadmControlPlane edge-control-plane"], "spec", "kubeadmConfigSpec")
	assert.Equal(t, "ignition", at(t, kubeadm, "format"))
	assert.Equal(t, "${COREOS_OPENSTACK_HOSTNAME}", at(t, kubeadm, "joinConfiguration", "nodeRegistration", "name"))
	assert.Contains(t, at(t, kubeadm, "preKubeadmCommands"), "envsubst < /etc/kubeadm.yml > /etc/kubeadm.yml.tmp")
}

// Machines are replaced when, and only when, their description changes.
func TestOpenStackTemplatesAreNamedByContent(t *testing.T) {
	before := render(t, clustertest.OpenStack(nil))
	for name, c := range map[string]struct {
		values    map[string]any
		machines  bool
		bootstrap bool
	}{
		"key":          {map[string]any{"machineSSHKeyName": "other"}, true, false},
		"trusted CA":   {map[string]any{"trustedCAs": map[string]any{"a": "pem"}}, false, true},
		"health check": {map[string]any{"nodeGroupDefaults": map[string]any{"healthCheck": map[string]any{"enabled": false}}}, false, false},
		"credentials":  {map[string]any{"cloudCredentialsSecretName": "rotated"}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			after := render(t, clustertest.OpenStack(c.values))
			assert.Equal(t, c.machines, !assert.ObjectsAreEqual(names(before, "OpenStackMachineTemplate"), names(after, "OpenStackMachineTemplate")))
			assert.Equal(t, c.bootstrap, !assert.ObjectsAreEqual(names(before, "KubeadmConfigTemplate"), names(after, "KubeadmConfigTemplate")))
		})
	}
}

func TestOpenStackProblems(t *testing.T) {
	for name, c := range map[string]struct {
		values map[string]any
		want   string
	}{
		"unknown":             {map[string]any{"colour": "blue"}, `additional properties 'colour' not allowed`},
		"not served":          {map[string]any{"addons": map[string]any{"enabled": true}}, `additional properties 'addons' not allowed`},
		"old spelling":        {map[string]any{"apiServer": map[string]any{"allowedCidrs": []any{"10.0.0.0/8"}}}, `additional properties 'allowedCidrs' not allowed`},
		"distribution":        {map[string]any{"osDistro": "fedora-coreos"}, `value must be one of 'ubuntu', 'flatcar'`},
		"credentials":         {map[string]any{"clouds": map[string]any{"openstack": map[string]any{}}}, `create a Secret with clouds.yaml and cacert`},
		"registry passwords":  {map[string]any{"registryAuth": map[string]any{"a": map[string]any{}}}, `name it with registryAuthSecretName`},
		"no credentials":      {map[string]any{"cloudCredentialsSecretName": nil}, `cloudCredentialsSecretName is required`},
		"no image":            {map[string]any{"machineImageId": nil}, `machineImage or machineImageId is required`},
		"no flavour":          {map[string]any{"nodeGroupDefaults": map[string]any{"machineFlavor": nil}}, `node group "upf" needs machineFlavor`},
		"volume without size": {map[string]any{"controlPlane": map[string]any{"machineRootVolume": map[string]any{"volumeType": "fast"}}}, `has a machineRootVolume without diskSize`},
		"local volume type":   {map[string]any{"etcd": map[string]any{"blockDevice": map[string]any{"size": 1, "type": "Local", "volumeType": "fast"}}}, `its type is Local`},
		"no load balancer":    {map[string]any{"apiServer": map[string]any{"enableLoadBalancer": false, "allowedCIDRs": []any{"10.0.0.0/8"}}}, `apiServer.enableLoadBalancer is false`},
		"flatcar packages":    {map[string]any{"osDistro": "flatcar", "additionalPackages": []any{"jq"}}, `flatcar has no package manager`},
		"package and command": {map[string]any{"additionalPackages": []any{"jq; reboot"}}, `does not match pattern`},
		"duration":            {map[string]any{"controlPlane": map[string]any{"nodeDrainTimeout": "500ms"}}, `does not match pattern`},
	} {
		t.Run(name, func(t *testing.T) {
			_, problems := New(nil, nil).Package(clustertest.OpenStack(c.values))
			require.True(t, problems.HasErrors())
			assert.Contains(t, problems[0].String(), c.want)
			assert.True(t, strings.HasPrefix(problems[0].Attribute, "chart"), problems[0].Attribute)
		})
	}
}
