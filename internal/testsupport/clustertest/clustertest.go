// Package clustertest has specifications of workload clusters for tests.
package clustertest

import (
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Number returns a pointer to a number.
func Number(n int64) *int64 { return &n }

// Seconds returns a pointer to a duration of n seconds.
func Seconds(n int64) *time.Duration {
	d := time.Duration(n) * time.Second
	return &d
}

// UUID is an id of everything in the cloud.
const UUID = "e63ca1a0-f69d-4fbf-b306-310857b1afe5"

// OpenStack is a cluster of the embedded chart "openstack" with values over the
// least that it needs.
func OpenStack(values map[string]any) *vnfm.ClusterSpec {
	least := map[string]any{
		"cloudCredentialsSecretName": "cloud", "machineImageId": UUID,
		"controlPlane": map[string]any{"machineFlavor": "m1.large"}, "nodeGroupDefaults": map[string]any{"machineFlavor": "m1.medium"},
	}
	return &vnfm.ClusterSpec{
		Name: "edge", Namespace: "core", KubernetesVersion: "v1.34.0",
		Chart:      &vnfm.ClusterChart{ChartSource: vnfm.ChartSource{Name: "openstack"}, Values: vnfm.MergeValues(least, values)},
		NodeGroups: map[string]vnfm.NodeGroup{"upf": {Replicas: Number(2)}},
	}
}

// Everything are values that use all of the chart at once.
func Everything() map[string]any {
	return map[string]any{
		"machineImageId": nil, "machineImage": "node-1.34", "machineSSHKeyName": "ops", "machineMetadata": map[string]any{"owner": "core"},
		"workloadManifests":   map[string]any{"calico": "kind: Namespace\napiVersion: v1\nmetadata: {name: calico}\n"},
		"workloadSecretNames": []any{"cloud-config"},
		"oidc":                map[string]any{"issuerUrl": "https://id.example", "clientId": "k8s"},
		"clusterLabels":       map[string]any{"n": 1, "hot": true},
		"clusterNetworking": map[string]any{
			"workerNodesSecurityGroupRules": []any{map[string]any{
				"name": "mine", "direction": "ingress", "etherType": "IPv4", "protocol": "tcp", "portRangeMin": 80, "portRangeMax": 81, "remoteManagedGroups": []any{"worker"},
			}},
			"controlPlaneNodesSecurityGroupRules": []any{map[string]any{"name": "mine", "direction": "egress", "etherType": "IPv4", "remoteIPPrefix": "0.0.0.0/0"}},
			"externalNetworkId":                   "public",
			"internalNetwork":                     map[string]any{"networkFilter": map[string]any{"name": "tenant"}, "subnetFilter": map[string]any{"id": UUID}},
		},
		"registryMirrors": map[string]any{
			"docker.io": []any{"https://mirror.example/v2/hub"},
			"quay.io":   map[string]any{"mirrors": []any{map[string]any{"url": "https://mirror.example", "skipVerify": true, "capabilities": []any{"pull"}}}},
		},
		"trustedCAs": map[string]any{"corporate": "-----BEGIN CERTIFICATE-----\n"}, "additionalPackages": []any{"nfs-common", "jq"},
		"registryAuthSecretName": "registries",
		"etcd": map[string]any{
			"blockDevice": map[string]any{"size": 10, "volumeType": "fast", "availabilityZone": "nova"}, "encryption": map[string]any{"enabled": true, "secretName": "keys"},
		},
		"apiServer": map[string]any{
			"loadBalancerProvider": "ovn", "allowedCIDRs": []any{"10.0.0.0/8"}, "associateFloatingIP": false, "fixedIP": "10.0.0.10", "port": 443,
			"admissionConfiguration": map[string]any{"PodSecurity": map[string]any{"apiVersion": "pod-security.admission.config.k8s.io/v1", "kind": "PodSecurityConfiguration"}},
		},
		"controlPlane": map[string]any{
			"omitFailureDomain": false, "failureDomains": []any{"a", "b"}, "certificatesExpiryDays": 30, "serverGroupId": UUID,
			"machineRootVolume": map[string]any{"diskSize": 40, "volumeType": "fast", "availabilityZone": "nova"}, "nodeDrainTimeout": "1h30m",
			"machineFlavor": UUID, "nodeLabels": map[string]any{"tier": 1, "node-role.kubernetes.io/core": ""}, "machineMetadata": map[string]any{"part": "control"},
			"additionalBlockDevices": map[string]any{"scratch": map[string]any{"size": 5, "type": "Local"}},
			"kubeadmConfigSpec": map[string]any{
				"initConfiguration": map[string]any{"skipPhases": []any{"addon/kube-proxy"}}, "postKubeadmCommands": []any{"echo done"},
				"clusterConfiguration": map[string]any{"apiServer": map[string]any{"extraArgs": map[string]any{"profiling": false}, "certSANs": []any{"api.example"}}},
			},
			"healthCheck": map[string]any{"spec": map[string]any{
				"unhealthyRange": "[0-1]", "unhealthyConditions": []any{map[string]any{"type": "DiskPressure", "status": "True", "timeout": "10m0s"}},
			}},
		},
		"nodeGroupDefaults": map[string]any{
			"machineNetworking": map[string]any{"ports": []any{
				map[string]any{}, map[string]any{"network": map[string]any{"filter": map[string]any{"name": "storage"}}, "securityGroups": []any{}},
			}},
			"rolloutStrategy": map[string]any{"rollingUpdate": map[string]any{"deletePolicy": "Oldest"}},
			"failureDomain":   "nova", "machineConfigDrive": true,
			"additionalBlockDevices": map[string]any{"data": map[string]any{"size": 5}},
			"nodeTaints":             []any{map[string]any{"key": "boot", "effect": "NoSchedule", "propagation": "OnInitialization"}},
			"kubeadmConfigSpec":      map[string]any{"ntp": map[string]any{"servers": []any{"ntp.example"}, "enabled": true}},
		},
	}
}

// Placed are arguments that say all that there is to say of volumes and networks.
func Placed(spec *vnfm.ClusterSpec) *vnfm.ClusterSpec {
	spec.Network = &vnfm.ClusterNetwork{
		PodCIDRs: []string{"10.0.0.0/12"}, External: &vnfm.CloudResource{Name: "public"}, Subnet: &vnfm.CloudResource{ID: UUID},
		Internal: &vnfm.CloudResource{Name: "tenant", Tags: []string{"core", "edge"}},
	}
	spec.ControlPlane.FailureDomains = []string{"a", "b"}
	spec.ControlPlane.Labels = map[string]string{"node-role.kubernetes.io/core": ""}
	spec.ControlPlane.RootVolume = &vnfm.RootVolume{SizeGiB: 40, Type: "fast", AvailabilityZone: "nova"}
	g := spec.NodeGroups["upf"]
	g.FailureDomain, g.RootVolume = "nova", &vnfm.RootVolume{SizeGiB: 20}
	g.Networks = []vnfm.MachineNetwork{
		{},
		{CloudResource: vnfm.CloudResource{ID: UUID}},
		{CloudResource: vnfm.CloudResource{Name: "n6", Tags: []string{"external"}}, Subnet: &vnfm.CloudResource{Name: "n6-v4"}},
	}
	spec.NodeGroups["upf"] = g
	return spec
}
