package workloadcluster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/chartsource"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// addonProfile is an add-on that is named: its source, its namespace and its values follow from the profile and the cluster, and the
// arguments of the add-on override each of them.
type addonProfile struct {
	name string
	// repository, chart and version are the source of the chart at its vendor.
	repository, chart, version string
	namespace                  string
	// values are those of the chart for a cluster. A missing argument of the cluster is a text that says which.
	values func(c *vnfm.ClusterSpec) (values map[string]any, missing string)
}

const cloudProviderCharts = "https://kubernetes.github.io/cloud-provider-openstack"

// addonProfiles are all profiles by name. The guide of add-ons has the same table.
var addonProfiles = []addonProfile{
	{"calico", "https://docs.tigera.io/calico/charts", "tigera-operator", "v3.30.2", "tigera-operator", calicoValues},
	{"cilium", "https://helm.cilium.io", "cilium", "1.17.5", "kube-system", ciliumValues},
	{"flannel", "https://flannel-io.github.io/flannel", "flannel", "v0.27.0", "kube-flannel", flannelValues},
	{"metrics-server", "https://kubernetes-sigs.github.io/metrics-server", "metrics-server", "3.12.2", "kube-system", metricsServerValues},
	{"openstack-cinder-csi", cloudProviderCharts, "openstack-cinder-csi", "2.34.1", "kube-system", cinderValues},
	{"openstack-cloud-controller-manager", cloudProviderCharts, "openstack-cloud-controller-manager", "2.34.1", "kube-system", cloudControllerValues},
}

// profileNames are the names of the profiles, sorted.
func profileNames() []string {
	out := make([]string, 0, len(addonProfiles))
	for _, p := range addonProfiles {
		out = append(out, p.name)
	}
	return out
}

// profile is that of an add-on; nil for one without.
func (m *addonModel) profile() *addonProfile {
	at := slices.IndexFunc(addonProfiles, func(p addonProfile) bool { return p.name == m.Profile.ValueString() })
	if at < 0 {
		return nil
	}
	return &addonProfiles[at]
}

// source is the model of a profile's chart.
func (p *addonProfile) source() *chartsource.Model {
	m := &chartsource.Model{}
	m.Repository, m.Name, m.Version = types.StringValue(p.repository), types.StringValue(p.chart), types.StringValue(p.version)
	return m
}

// valuesFor are the values of a profile, overridden by those that the add-on gives.
func (p *addonProfile) valuesFor(name string, c *vnfm.ClusterSpec, given map[string]any, diags *diag.Diagnostics) map[string]any {
	values, missing := p.values(c)
	if missing != "" {
		diags.AddAttributeError(path.Root(vnfm.AttributeAddons).AtMapKey(name), "Missing Argument for an Add-on Profile",
			fmt.Sprintf("Add-on %q of profile %q needs %s", name, p.name, missing))
		return nil
	}
	return vnfm.MergeValues(values, given)
}

func podCIDRs(c *vnfm.ClusterSpec) []string {
	if c.Network == nil {
		return nil
	}
	return c.Network.PodCIDRs
}

// calicoValues leave out the address pools if the cluster does not say its pod network: the operator takes that of kubeadm.
func calicoValues(c *vnfm.ClusterSpec) (map[string]any, string) {
	network := map[string]any{"bgp": "Disabled"}
	var pools []any
	for _, cidr := range podCIDRs(c) {
		pools = append(pools, map[string]any{"cidr": cidr, "encapsulation": "VXLAN"})
	}
	if len(pools) > 0 {
		network["ipPools"] = pools
	}
	return map[string]any{"installation": map[string]any{"cni": map[string]any{"type": "Calico"}, "calicoNetwork": network}}, ""
}

func ciliumValues(*vnfm.ClusterSpec) (map[string]any, string) {
	return map[string]any{"ipam": map[string]any{"mode": "kubernetes"}}, ""
}

func flannelValues(c *vnfm.ClusterSpec) (map[string]any, string) {
	values := map[string]any{}
	for _, cidr := range podCIDRs(c) {
		key := "podCidr"
		if strings.Contains(cidr, ":") {
			key = "podCidrv6"
		}
		values[key] = cidr
	}
	if len(values) == 0 {
		return nil, "the pod network of the cluster. Set network.pod_cidrs."
	}
	return values, ""
}

// metricsServerValues accept the certificates of kubelets, which kubeadm has them sign themselves.
func metricsServerValues(*vnfm.ClusterSpec) (map[string]any, string) {
	return map[string]any{"args": []any{"--kubelet-insecure-tls"}}, ""
}

const needsCloudConfig = "the credentials of the OpenStack on the cluster. Set openstack.application_credential and openstack.cloud_config."

func cloudControllerValues(c *vnfm.ClusterSpec) (map[string]any, string) {
	config := c.CloudConfig()
	if config == nil {
		return nil, needsCloudConfig
	}
	return map[string]any{
		"secret":       map[string]any{"enabled": true, "create": false, "name": config.SecretName},
		"cluster":      map[string]any{"name": c.Name},
		"nodeSelector": map[string]any{"node-role.kubernetes.io/control-plane": ""},
		"tolerations": []any{
			map[string]any{"key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "true", "effect": "NoSchedule"},
			map[string]any{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"},
		},
	}, ""
}

// cinderValues mount the Secret a second time where cloud.conf expects the certificate of the CA.
func cinderValues(c *vnfm.ClusterSpec) (map[string]any, string) {
	config := c.CloudConfig()
	if config == nil {
		return nil, needsCloudConfig
	}
	mount := func(at string) any {
		return map[string]any{"name": "cloud-config", "mountPath": at, "readOnly": true}
	}
	return map[string]any{
		"secret":    map[string]any{"enabled": true, "create": false, "name": config.SecretName, "filename": "cloud.conf"},
		"clusterID": c.Name,
		"csi":       map[string]any{"plugin": map[string]any{"volumeMounts": []any{mount("/etc/kubernetes"), mount("/etc/config")}}},
	}, ""
}
