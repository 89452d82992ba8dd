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
	assert.Equal(t, map[string]any{"sizeGiB": float64(20), "availabilityZone": map[string]any{"from": "Machine"}}, at(t, worker, "rootVolume"), "a volume without a zone is in that of its machine")
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
	assert.Equal(t, "data", at(t, worker, "additionalBlockDevices", 0, "name"), "etcd runs on the control plane alone")

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
		"unknown":            {map[string]any{"colour": "blue"}, `additional properties 'colour' not allowed`},
		"addons":             {map[string]any{"addons": map[string]any{"enabled": true}}, `addons.enabled is about one: give its chart in the argument addons of the cluster`},
		"an addon":           {map[string]any{"addons": map[string]any{"monitoring": map[string]any{"enabled": true}}}, `addons.monitoring.enabled is about one`},
		"network driver":     {map[string]any{"addons": map[string]any{"cni": map[string]any{"type": "cilium"}}}, `addons.cni.type is about one`},
		"autoscaler":         {map[string]any{"autoscaler": map[string]any{"image": map[string]any{"tag": "v1"}}}, `autoscaler.image.tag is about the cluster-autoscaler, which this chart runs if autoscaler.enabled is true: set that, or set it to false`},
		"autoscaler, other":  {map[string]any{"autoscaler": map[string]any{"enabled": true, "replicas": 2}}, `additional properties 'replicas' not allowed`},
		"webhook":            {map[string]any{"authWebhook": "azimuth-authorization-webhook"}, `authWebhook "azimuth-authorization-webhook" is of Azimuth: give the AuthorizationConfiguration`},
		"webhook of Azimuth": {map[string]any{"azimuthAuthorizationWebhook": map[string]any{"server": "https://x"}}, `authorization-config among the extraArgs`},
		"encryption":         {map[string]any{"etcd": map[string]any{"encryption": map[string]any{"enabled": true}}}, `name it with etcd.encryption.secretName`},
		"CA of the cloud":    {map[string]any{"cloudCACert": "pem"}, `create a Secret with clouds.yaml and cacert`},
		"no OIDC client":     {map[string]any{"oidc": map[string]any{"issuerUrl": "https://x"}}, `oidc.issuerUrl needs oidc.clientId`},
		"autoscale, no limits": {
			map[string]any{"nodeGroupDefaults": map[string]any{"autoscale": true}}, `node group "upf" has autoscale, which needs machineCountMin and machineCountMax`,
		},
		"device without size": {map[string]any{"controlPlane": map[string]any{"additionalBlockDevices": map[string]any{"scratch": map[string]any{}}}}, `the block device scratch of controlPlane needs a size`},
		"device named etcd":   {map[string]any{"controlPlane": map[string]any{"additionalBlockDevices": map[string]any{"etcd": map[string]any{"size": 1}}}}, `the block device etcd of controlPlane has the name of`},
		"rules and no groups": {map[string]any{"clusterNetworking": map[string]any{"manageSecurityGroups": false, "workerNodesSecurityGroupRules": []any{map[string]any{"name": "a"}}}}, `manageSecurityGroups is false`},
		"no network, and one": {map[string]any{"clusterNetworking": map[string]any{"disableExternalNetwork": true, "externalNetworkId": "public"}}, `externalNetworkId or externalNetworkFilter names one`},
		"label of Kubernetes": {map[string]any{"nodeGroupDefaults": map[string]any{"nodeLabels": map[string]any{"kubernetes.io/x": "1"}}}, `no node gets the label kubernetes.io/x of nodeLabels`},
		"version":             {map[string]any{"controlPlane": map[string]any{"kubernetesVersion": "newest"}}, `does not match pattern`},
		"device of flatcar":   {map[string]any{"osDistro": "flatcar", "etcd": map[string]any{"blockDevice": map[string]any{"size": 1}}}, `which Ignition cannot do`},
		"old spelling":        {map[string]any{"apiServer": map[string]any{"allowedCidrs": []any{"10.0.0.0/8"}}}, `additional properties 'allowedCidrs' not allowed`},
		"distribution":        {map[string]any{"osDistro": "fedora-coreos"}, `value must be one of 'ubuntu', 'debian', 'rocky'`},
		"credentials":         {map[string]any{"clouds": map[string]any{"openstack": map[string]any{}}}, `create a Secret with clouds.yaml and cacert`},
		"registry passwords":  {map[string]any{"registryAuth": map[string]any{"a": map[string]any{}}}, `name it with registryAuthSecretName`},
		"no credentials":      {map[string]any{"cloudCredentialsSecretName": nil}, `cloudCredentialsSecretName is required`},
		"no image":            {map[string]any{"machineImageId": nil}, `machineImage or machineImageId is required`},
		"no flavour":          {map[string]any{"nodeGroupDefaults": map[string]any{"machineFlavor": nil}}, `node group "upf" needs machineFlavor`},
		"volume without size": {map[string]any{"controlPlane": map[string]any{"machineRootVolume": map[string]any{"volumeType": "fast"}}}, `has a machineRootVolume without diskSize`},
		"local volume type":   {map[string]any{"etcd": map[string]any{"blockDevice": map[string]any{"size": 1, "type": "Local", "volumeType": "fast"}}}, `its type is Local`},
		"no load balancer":    {map[string]any{"apiServer": map[string]any{"enableLoadBalancer": false, "allowedCIDRs": []any{"10.0.0.0/8"}}}, `apiServer.enableLoadBalancer is false`},
		"flatcar packages":    {map[string]any{"osDistro": "flatcar", "additionalPackages": []any{"jq"}}, `osDistro flatcar has none`},
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

// arguments returns the arguments in a kubeadm configuration, by name.
func arguments(t *testing.T, list any) map[string]string {
	t.Helper()
	out := map[string]string{}
	items, ok := list.([]any)
	require.True(t, ok, "%v is no list of arguments", list)
	for i := range items {
		out[at(t, items, i, "name").(string)] = at(t, items, i, "value").(string) //nolint:forcetypeassert // a failure of the test
	}
	return out
}

// TestOpenStackNodeLabels: Cluster API carries over the labels of its prefixes, which change in place. Kubelet registers all others and
// the node group; a change of these replaces the machines.
func TestOpenStackNodeLabels(t *testing.T) {
	labels := map[string]any{"tier": 1, "hot": true, "big": 1000650000, "node-role.kubernetes.io/core": "", "n": "x"}
	values := map[string]any{"controlPlane": map[string]any{"nodeLabels": labels}, "nodeGroupDefaults": map[string]any{"nodeLabels": labels}}
	objects := render(t, clustertest.OpenStack(values))
	machine := at(t, objects["MachineDeployment edge-upf"], "spec", "template", "metadata", "labels")
	for name, want := range map[string]string{"tier": "1", "hot": "true", "big": "1000650000", "node-role.kubernetes.io/core": "", "n": "x"} {
		assert.Equal(t, want, at(t, machine, name), name)
	}
	bootstrap := func(objects map[string]map[string]any) string {
		spec := at(t, prefixed(t, objects, "KubeadmConfigTemplate", "edge-upf-"), "spec", "template", "spec")
		return arguments(t, at(t, spec, "joinConfiguration", "nodeRegistration", "kubeletExtraArgs"))["node-labels"]
	}
	assert.Equal(t, "big=1000650000,capi.stackhpc.com/node-group=upf,hot=true,n=x,tier=1", bootstrap(objects))
	assert.Equal(t, "capi.stackhpc.com/node-group=upf", bootstrap(render(t, clustertest.OpenStack(nil))))
	kubeadm := at(t, objects["KubeadmControlPlane edge-control-plane"], "spec", "kubeadmConfigSpec")
	for _, part := range []string{"initConfiguration", "joinConfiguration"} {
		assert.Equal(t, "big=1000650000,capi.stackhpc.com/node-group=control-plane,hot=true,n=x,tier=1", arguments(t, at(t, kubeadm, part, "nodeRegistration", "kubeletExtraArgs"))["node-labels"])
	}
	for label, replaces := range map[string]bool{"node-role.kubernetes.io/other": false, "other": true} {
		labels[label] = "x"
		after := render(t, clustertest.OpenStack(values))
		assert.Equal(t, replaces, !assert.ObjectsAreEqual(names(objects, "KubeadmConfigTemplate"), names(after, "KubeadmConfigTemplate")), label)
		delete(labels, label)
	}
}

// TestOpenStackTaints: Cluster API sets permanent taints, kubelet the taints for the first start.
func TestOpenStackTaints(t *testing.T) {
	spec := clustertest.OpenStack(nil)
	group := spec.NodeGroups["upf"]
	group.Taints = []vnfm.NodeTaint{{Key: "stays", Effect: "NoExecute"}, {Key: "boot", Value: "x", Effect: "NoSchedule", Propagation: "OnInitialization"}}
	spec.NodeGroups["upf"] = group
	objects := render(t, spec)
	assert.Equal(t, []any{map[string]any{"key": "stays", "effect": "NoExecute", "propagation": "Always"}}, at(t, objects["MachineDeployment edge-upf"], "spec", "template", "spec", "taints"))
	bootstrap := at(t, prefixed(t, objects, "KubeadmConfigTemplate", "edge-upf-"), "spec", "template", "spec")
	assert.Equal(t, []any{map[string]any{"key": "boot", "value": "x", "effect": "NoSchedule"}}, at(t, bootstrap, "joinConfiguration", "nodeRegistration", "taints"))
}

// TestOpenStackKubeadm: the kubeadm configuration of the user is merged into the chart's, in the form of either version of Cluster API.
func TestOpenStackKubeadm(t *testing.T) {
	objects := render(t, clustertest.OpenStack(map[string]any{
		"controlPlane": map[string]any{"kubeadmConfigSpec": map[string]any{
			"clusterConfiguration": map[string]any{
				"apiServer": map[string]any{"certSANs": []any{"api.example"}, "extraArgs": []any{map[string]any{"name": "profiling", "value": "false"}, map[string]any{"name": "v", "value": "4"}}},
				"scheduler": map[string]any{"extraArgs": map[string]any{"v": 3}},
			},
			"joinConfiguration":   map[string]any{"nodeRegistration": map[string]any{"kubeletExtraArgs": map[string]any{"node-labels": "mine=1"}}},
			"files":               []any{map[string]any{"path": "/mine", "content": "x"}},
			"preKubeadmCommands":  []any{"echo mine"},
			"postKubeadmCommands": []any{"echo done"},
		}},
		"nodeGroupDefaults":  map[string]any{"kubeadmConfigSpec": map[string]any{"ntp": map[string]any{"servers": []any{"ntp.example"}}}},
		"additionalPackages": []any{"jq"}, "osDistro": "rockylinux", "trustedCAs": map[string]any{"corporate": "pem"},
	}))
	kubeadm := at(t, objects["KubeadmControlPlane edge-control-plane"], "spec", "kubeadmConfigSpec")
	assert.Equal(t, map[string]string{"profiling": "false", "v": "4"}, arguments(t, at(t, kubeadm, "clusterConfiguration", "apiServer", "extraArgs")))
	assert.Equal(t, map[string]string{"bind-address": "0.0.0.0", "cloud-provider": "external"}, arguments(t, at(t, kubeadm, "clusterConfiguration", "controllerManager", "extraArgs")))
	assert.Equal(t, map[string]string{"bind-address": "0.0.0.0", "v": "3"}, arguments(t, at(t, kubeadm, "clusterConfiguration", "scheduler", "extraArgs")))
	assert.Equal(t, "capi.stackhpc.com/node-group=control-plane,mine=1", arguments(t, at(t, kubeadm, "joinConfiguration", "nodeRegistration", "kubeletExtraArgs"))["node-labels"])
	assert.Equal(t, []any{
		"update-ca-trust extract", "systemctl restart containerd", "dnf install --assumeyes jq", "echo mine", "cat /run/kubeadm/kube-proxy-configuration.yaml >> /run/kubeadm/kubeadm.yaml",
	}, at(t, kubeadm, "preKubeadmCommands"))
	assert.Equal(t, "/etc/pki/ca-trust/source/anchors/corporate.crt", at(t, kubeadm, "files", 0, "path"))
	assert.Equal(t, "/mine", at(t, kubeadm, "files", 1, "path"))
	assert.Equal(t, "---\napiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmetricsBindAddress: 0.0.0.0:10249\n", at(t, kubeadm, "files", 2, "content"))
	assert.Equal(t, []any{"ntp.example"}, at(t, prefixed(t, objects, "KubeadmConfigTemplate", "edge-upf-"), "spec", "template", "spec", "ntp", "servers"))
}

// TestOpenStackAutoscaler: the autoscaler runs on the management cluster with the existing kubeconfig, and with the permissions that the
// contract of Cluster API requires.
func TestOpenStackAutoscaler(t *testing.T) {
	t.Parallel()
	for _, off := range []any{nil, map[string]any{}, map[string]any{"enabled": false, "image": map[string]any{"tag": "v1"}}} {
		assert.Empty(t, names(render(t, clustertest.OpenStack(map[string]any{"autoscaler": off})), "Deployment"))
	}
	const name = "edge-autoscaler"
	objects := render(t, clustertest.OpenStack(map[string]any{"autoscaler": map[string]any{"enabled": true}}))
	pod := at(t, objects["Deployment "+name], "spec", "template", "spec")
	assert.Equal(t, name, at(t, pod, "serviceAccountName"))
	assert.Equal(t, "registry.k8s.io/autoscaling/cluster-autoscaler:v1.34.0", at(t, pod, "containers", 0, "image"))
	assert.Equal(t, map[string]any{"secretName": "edge-kubeconfig"}, at(t, pod, "volumes", 0, "secret"))
	assert.Equal(t, []any{
		"--cloud-provider=clusterapi", "--kubeconfig=/mnt/kubeconfig/value", "--clusterapi-cloud-config-authoritative",
		"--node-group-auto-discovery=clusterapi:namespace=core,clusterName=edge", "--cordon-node-before-terminating=true", "--expander=least-waste,random",
		"--skip-nodes-with-custom-controller-pods=false", "--skip-nodes-with-local-storage=false", "--skip-nodes-with-system-pods=true", "--v=4",
	}, at(t, pod, "containers", 0, "args"))
	assert.NotContains(t, pod, "tolerations")
	for _, rule := range at(t, objects["Role "+name], "rules").([]any) { //nolint:forcetypeassert // a failure of the test
		assert.Subset(t, []any{"cluster.x-k8s.io", "infrastructure.cluster.x-k8s.io"}, at(t, rule, "apiGroups"))
		assert.NotContains(t, at(t, rule, "verbs"), "delete")
	}
	assert.Equal(t, []any{map[string]any{"kind": "ServiceAccount", "name": name, "namespace": "core"}}, at(t, objects["RoleBinding "+name], "subjects"))

	pod = at(t, render(t, clustertest.OpenStack(map[string]any{"autoscaler": map[string]any{
		"enabled": "true", "image": map[string]any{"repository": "registry.example/autoscaler", "tag": "v1.35.1"}, "extraArgs": map[string]any{"v": 2, "scan-interval": "30s", "cordon-node-before-terminating": false},
		"tolerations": []any{map[string]any{"operator": "Exists"}},
	}}))["Deployment "+name], "spec", "template", "spec")
	assert.Equal(t, "registry.example/autoscaler:v1.35.1", at(t, pod, "containers", 0, "image"))
	assert.Subset(t, at(t, pod, "containers", 0, "args"), []any{"--v=2", "--scan-interval=30s", "--cordon-node-before-terminating=false", "--expander=least-waste,random"})
	assert.Equal(t, []any{map[string]any{"operator": "Exists"}}, at(t, pod, "tolerations"))
}

// TestOpenStackKeystoneAuth: the API server on each control plane machine gets the webhook after kubeadm.
func TestOpenStackKeystoneAuth(t *testing.T) {
	t.Parallel()
	objects := render(t, clustertest.OpenStack(map[string]any{
		"authWebhook": "k8s-keystone-auth", "controlPlane": map[string]any{"kubeadmConfigSpec": map[string]any{"postKubeadmCommands": []any{"echo mine"}}},
	}))
	kubeadm := at(t, objects["KubeadmControlPlane edge-control-plane"], "spec", "kubeadmConfigSpec")
	assert.Equal(t, []any{
		"cp /etc/kubernetes/manifests/kube-apiserver.yaml /etc/kubernetes/keystone-auth/kube-apiserver.yaml",
		"kubectl kustomize /etc/kubernetes/keystone-auth --output /etc/kubernetes/keystone-auth/patched.yaml",
		"mv /etc/kubernetes/keystone-auth/patched.yaml /etc/kubernetes/manifests/kube-apiserver.yaml", "echo mine",
	}, at(t, kubeadm, "postKubeadmCommands"))
	assert.NotContains(t, arguments(t, at(t, kubeadm, "clusterConfiguration", "apiServer", "extraArgs")), "authorization-mode")
	assert.Equal(t, "/etc/kubernetes/webhooks", at(t, kubeadm, "clusterConfiguration", "apiServer", "extraVolumes", 0, "mountPath"))
	assert.Equal(t, "/etc/kubernetes/webhooks/keystone.yaml", at(t, kubeadm, "files", 0, "path"))
	assert.Contains(t, at(t, kubeadm, "files", 0, "content"), "server: https://127.0.0.1:8443/webhook")
	assert.Equal(t, "/etc/kubernetes/keystone-auth/kustomization.yaml", at(t, kubeadm, "files", 1, "path"))
	for _, argument := range []string{"authentication-token-webhook-config-file=/etc/kubernetes/webhooks/keystone.yaml", "authorization-webhook-config-file=/etc/kubernetes/webhooks/keystone.yaml", "authorization-mode=Webhook"} {
		assert.Contains(t, at(t, kubeadm, "files", 1, "content"), "value: --"+argument)
	}
	assert.NotContains(t, at(t, prefixed(t, objects, "KubeadmConfigTemplate", "edge-upf-"), "spec", "template", "spec"), "postKubeadmCommands")
}

// TestOpenStackUpstreamValues: values of openstack-cluster of capi-helm-charts have the same result in the embedded chart.
func TestOpenStackUpstreamValues(t *testing.T) {
	type values = map[string]any
	const cluster, control, nodes = "OpenStackCluster edge", "KubeadmControlPlane edge-control-plane", "MachineDeployment edge-upf"
	port := func(protocol string) values {
		return values{
			"name": "Worker nodePort " + strings.ToUpper(protocol), "direction": "ingress", "etherType": "IPv4", "protocol": protocol,
			"portRangeMin": float64(30000), "portRangeMax": float64(32767), "remoteIPPrefix": "0.0.0.0/0",
		}
	}
	rule := values{"name": "mine", "direction": "ingress"}
	groups := func(v values) values { return values{"nodeGroupDefaults": v} }
	volume := func(more values) values {
		return values{"type": "Volume", "volume": vnfm.MergeValues(values{"availabilityZone": values{"from": "Machine"}}, more)}
	}
	for name, c := range map[string]struct {
		values values
		// object is the kind and, unless it ends in a digest, the name of the object.
		object string
		path   []any
		want   any
	}{
		"endpoint":                {values{"controlPlaneEndpoint": values{"host": "10.0.0.9", "port": 443}}, cluster, []any{"spec", "controlPlaneEndpoint"}, values{"host": "10.0.0.9", "port": float64(443)}},
		"no external network":     {values{"clusterNetworking": values{"disableExternalNetwork": true}}, cluster, []any{"spec", "disableExternalNetwork"}, true},
		"rules of ovn":            {values{"apiServer": values{"loadBalancerProvider": "ovn"}}, cluster, []any{"spec", "managedSecurityGroups", "workerNodesSecurityGroupRules"}, []any{port("tcp"), port("udp")}},
		"rules, and those of ovn": {values{"apiServer": values{"loadBalancerProvider": "ovn"}, "clusterNetworking": values{"workerNodesSecurityGroupRules": []any{rule, port("udp")}}}, cluster, []any{"spec", "managedSecurityGroups", "workerNodesSecurityGroupRules"}, []any{rule, port("udp"), port("tcp")}},
		"rules of control planes": {values{"clusterNetworking": values{"controlPlaneNodesSecurityGroupRules": []any{rule}}}, cluster, []any{"spec", "managedSecurityGroups", "controlPlaneNodesSecurityGroupRules"}, []any{rule}},
		"name servers":            {values{"clusterNetworking": values{"internalNetwork": values{"dnsNameservers": []any{"1.1.1.1"}}}}, cluster, []any{"spec", "managedSubnets", 0, "dnsNameservers"}, []any{"1.1.1.1"}},
		"older name servers":      {values{"clusterNetworking": values{"dnsNameservers": []any{"1.1.1.1"}}}, cluster, []any{"spec", "managedSubnets", 0, "dnsNameservers"}, []any{"1.1.1.1"}},
		"tags as a text":          {values{"clusterNetworking": values{"internalNetwork": values{"networkFilter": values{"tags": "a,b"}}}}, cluster, []any{"spec", "network"}, values{"filter": values{"tags": []any{"a", "b"}}}},
		"version of a group":      {groups(values{"kubernetesVersion": "v1.33.4"}), nodes, []any{"spec", "template", "spec", "version"}, "v1.33.4"},
		"version of the masters":  {values{"controlPlane": values{"kubernetesVersion": "1.34.1"}}, control, []any{"spec", "version"}, "v1.34.1"},
		"autoscale as a text":     {groups(values{"autoscale": "true", "machineCountMin": 1, "machineCountMax": 4}), nodes, []any{"metadata", "annotations", "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"}, "4"},
		"admission":               {values{"apiServer": values{"admissionConfiguration": values{"PodSecurity": values{"kind": "PodSecurityConfiguration"}}}}, control, []any{"spec", "kubeadmConfigSpec", "files", 0, "content"}, "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- configuration:\n    kind: PodSecurityConfiguration\n  name: PodSecurity"},
		"encryption":              {values{"etcd": values{"encryption": values{"enabled": true, "secretName": "keys"}}}, control, []any{"spec", "kubeadmConfigSpec", "files", 0, "contentFrom"}, values{"secret": values{"name": "keys", "key": "encryption.yaml"}}},
		"device of etcd":          {values{"etcd": values{"blockDevice": values{"size": 10}}}, control, []any{"spec", "kubeadmConfigSpec", "diskSetup", "filesystems", 0, "device"}, "/dev/disk/openstack/by-tag/etcd"},
		"devices of machines":     {values{"etcd": values{"blockDevice": values{"size": 10}}, "controlPlane": values{"additionalBlockDevices": values{"scratch": values{"size": 5, "volumeType": "fast"}}}}, "OpenStackMachineTemplate edge-control-plane-", []any{"spec", "template", "spec", "additionalBlockDevices"}, []any{values{"name": "etcd", "sizeGiB": float64(10), "storage": volume(nil)}, values{"name": "scratch", "sizeGiB": float64(5), "storage": volume(values{"type": "fast"})}}},
		"local device":            {groups(values{"additionalBlockDevices": values{"scratch": values{"size": 5, "type": "Local"}}}), "OpenStackMachineTemplate edge-upf-", []any{"spec", "template", "spec", "additionalBlockDevices"}, []any{values{"name": "scratch", "sizeGiB": float64(5), "storage": values{"type": "Local"}}}},
		"config drive":            {groups(values{"machineConfigDrive": true}), "OpenStackMachineTemplate edge-upf-", []any{"spec", "template", "spec", "configDrive"}, true},
		"metadata of a group":     {values{"machineMetadata": values{"a": "all", "b": 2}, "nodeGroupDefaults": values{"machineMetadata": values{"a": true}}}, "OpenStackMachineTemplate edge-upf-", []any{"spec", "template", "spec", "serverMetadata"}, []any{values{"key": "a", "value": "true"}, values{"key": "b", "value": "2"}}},
		"image by a template":     {values{"machineImageId": nil, "machineImage": "kube-v{{ .Values.kubernetesVersion }}"}, "OpenStackMachineTemplate edge-upf-", []any{"spec", "template", "spec", "image"}, values{"filter": values{"name": "kube-v1.34.0"}}},
		"port by name":            {groups(values{"machineNetworking": values{"ports": []any{values{"network": values{"name": "n6"}}}}}), "OpenStackMachineTemplate edge-upf-", []any{"spec", "template", "spec", "ports"}, []any{values{"network": values{"filter": values{"name": "n6"}}}}},
		"conditions":              {groups(values{"healthCheck": values{"spec": values{"unhealthyConditions": []any{values{"type": "DiskPressure", "status": true, "timeout": "1h"}}, "maxUnhealthy": nil, "unhealthyRange": "[1-3]"}}}), "MachineHealthCheck edge-upf", []any{"spec"}, values{"clusterName": "edge", "selector": values{"matchLabels": values{"capi.stackhpc.com/node-group": "upf"}}, "checks": values{"nodeStartupTimeoutSeconds": float64(1800), "unhealthyNodeConditions": []any{values{"type": "DiskPressure", "status": "True", "timeoutSeconds": float64(3600)}}}, "remediation": values{"triggerIf": values{"unhealthyInRange": "[1-3]"}}}},
		"labels of the cluster":   {values{"clusterLabels": values{"n": 1}, "clusterAnnotations": values{"y": true}}, "Cluster edge", []any{"metadata", "annotations"}, values{"y": "true"}},
		"mirror of a registry":    {values{"registryMirrors": values{"quay.io": []any{"https://mirror.example"}}}, control, []any{"spec", "kubeadmConfigSpec", "files", 0, "content"}, "server = \"https://quay.io\"\n\n[host.\"https://mirror.example\"]\ncapabilities = [\"pull\",\"resolve\"]"},
		"mirror with a path":      {values{"registryMirrors": values{"quay.io": values{"mirrors": []any{"https://mirror.example/v2/quay"}}}}, control, []any{"spec", "kubeadmConfigSpec", "files", 0, "content"}, "server = \"https://quay.io\"\n\n[host.\"https://mirror.example/v2/quay\"]\ncapabilities = [\"pull\",\"resolve\"]\noverride_path = true"},
		"metrics of etcd":         {nil, control, []any{"spec", "kubeadmConfigSpec", "clusterConfiguration", "etcd", "local", "extraArgs", 2}, values{"name": "listen-metrics-urls", "value": "http://0.0.0.0:2381"}},
		"OIDC":                    {values{"oidc": values{"issuerUrl": "https://id.example", "clientId": "k8s"}}, control, []any{"spec", "kubeadmConfigSpec", "clusterConfiguration", "apiServer", "extraArgs", 0}, values{"name": "oidc-client-id", "value": "k8s"}},
		"addons that are off":     {values{"addons": values{"enabled": false, "monitoring": values{"enabled": true}}, "autoscaler": values{"enabled": false, "image": values{"tag": "v1"}}, "authWebhook": "none", "registryAuth": values{}}, control, []any{"spec", "version"}, "v1.34.0"},
		"each addon that is off":  {values{"addons": values{"monitoring": values{"enabled": false, "values": values{"a": "b"}}, "ingress": values{}}, "autoscaler": nil, "authWebhook": nil}, control, []any{"spec", "version"}, "v1.34.0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := render(t, clustertest.OpenStack(c.values))
			object := objects[c.object]
			if object == nil {
				kind, prefix, _ := strings.Cut(c.object, " ")
				object = prefixed(t, objects, kind, prefix)
			}
			assert.Equal(t, c.want, at(t, object, c.path...))
		})
	}
}
