package magnum

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
)

// Defaults of Magnum.
const (
	defaultProvider   = "amphora"
	defaultSubnetCIDR = "10.0.0.0/24"
	ovnAlgorithm      = "SOURCE_IP_PORT"
	otherAlgorithm    = "ROUND_ROBIN"
)

// Choices are what a cluster says for itself, over its template.
type Choices struct {
	Keypair      string
	FixedNetwork string
	FixedSubnet  string
	// CredentialsSecret is the Secret with clouds.yaml; empty is Magnum's name for it.
	CredentialsSecret string
	Labels            map[string]string
}

// values are those of the chart, but what every form of cluster has: the version,
// flavors, counts and node groups.
func (t *Template) values(cluster string, c Choices, l Labels) map[string]any {
	out := map[string]any{
		"osDistro":                   t.Image.OSDistro,
		"cloudCredentialsSecretName": cmp.Or(c.CredentialsSecret, cluster+"-cloud-credentials"),
		"apiServer":                  apiServer(l),
		"clusterNetworking":          t.networking(c, l),
		"controlPlane":               machines(l),
		"nodeGroupDefaults":          workers(l),
	}
	if t.Image.ID != "" {
		out["machineImageId"] = t.Image.ID
	} else {
		out["machineImage"] = t.Image.Name
	}
	if keypair := cmp.Or(c.Keypair, t.Keypair); keypair != "" {
		out["machineSSHKeyName"] = keypair
	}
	if device := etcdDevice(l); device != nil {
		out["etcd"] = map[string]any{"blockDevice": device}
	}
	if t.hasAddons() {
		out["addons"] = t.addons(l)
		if l.boolean("keystone_auth_enabled", false) {
			out["authWebhook"] = "k8s-keystone-auth"
		}
	}
	return out
}

func apiServer(l Labels) map[string]any {
	out := map[string]any{
		"enableLoadBalancer":   true,
		"loadBalancerProvider": l.text("octavia_provider", defaultProvider),
		"associateFloatingIP":  l.boolean("master_lb_floating_ip_enabled", true),
	}
	if cidrs := l["api_master_lb_allowed_cidrs"]; cidrs != "" {
		// Magnum's driver writes allowedCidrs, which no chart reads since 0.11.
		out["allowedCIDRs"] = texts(list(cidrs))
	}
	return out
}

func (t *Template) networking(c Choices, l Labels) map[string]any {
	internal := map[string]any{"nodeCidr": l.text("fixed_subnet_cidr", defaultSubnetCIDR)}
	if network := cmp.Or(c.FixedNetwork, t.FixedNetwork); network != "" {
		internal["networkFilter"] = by(network)
	}
	if subnet := cmp.Or(c.FixedSubnet, t.FixedSubnet); subnet != "" {
		internal["subnetFilter"] = by(subnet)
	}
	out := map[string]any{"internalNetwork": internal}
	if t.ExternalNetwork != "" && !t.findsExternalNetwork() {
		out["externalNetworkId"] = t.ExternalNetwork
	}
	if len(t.DNSNameservers) > 0 {
		out["dnsNameservers"] = texts(t.DNSNameservers)
	}
	return out
}

// machines are the values that control plane and nodes have in common.
func machines(l Labels) map[string]any {
	out := map[string]any{"healthCheck": map[string]any{"enabled": l.boolean("auto_healing_enabled", true)}}
	volume := map[string]any{}
	if size := l.count("boot_volume_size", 0); size > 0 {
		volume["diskSize"] = size
	}
	if kind := l["boot_volume_type"]; kind != "" {
		volume["volumeType"] = kind
	}
	if len(volume) > 0 {
		out["machineRootVolume"] = volume
	}
	return out
}

func workers(l Labels) map[string]any {
	out := machines(l)
	if names := strings.Fields(l["extra_network_names"]); len(names) > 0 {
		// The first port is in the cluster's own network.
		ports := []any{map[string]any{}}
		for _, name := range names {
			ports = append(ports, map[string]any{
				"network": map[string]any{"filter": map[string]any{"name": name}}, "securityGroups": []any{},
			})
		}
		out["machineNetworking"] = map[string]any{"ports": ports}
	}
	return out
}

func etcdDevice(l Labels) map[string]any {
	size := l.count("etcd_blockdevice_size", 0)
	if size == 0 {
		return nil
	}
	if l["etcd_blockdevice_type"] == "local" {
		return map[string]any{"size": size, "type": "Local"}
	}
	out := map[string]any{"size": size, "type": "Volume"}
	if kind := l["etcd_blockdevice_volume_type"]; kind != "" {
		out["volumeType"] = kind
	}
	if zone := l["etcd_blockdevice_volume_az"]; zone != "" {
		out["availabilityZone"] = zone
	}
	return out
}

func (t *Template) addons(l Labels) map[string]any {
	provider, algorithm := l.text("octavia_provider", defaultProvider), otherAlgorithm
	if isOVN(l) {
		algorithm = ovnAlgorithm
	}
	openstack := map[string]any{
		"cloudConfig": map[string]any{"LoadBalancer": map[string]any{
			"lb-provider": provider, "lb-method": l.text("octavia_lb_algorithm", algorithm), "create-monitor": l.boolean("octavia_lb_healthcheck", true),
		}},
	}
	if classes := t.storageClasses(l); len(classes) > 0 {
		openstack["csiCinder"] = classes
	}
	if l.boolean("keystone_auth_enabled", false) && t.Keystone != nil {
		openstack["k8sKeystoneAuth"] = map[string]any{
			"enabled": true, "values": map[string]any{"openstackAuthUrl": t.Keystone.AuthURL, "projectId": t.Keystone.ProjectID},
		}
	}
	out := map[string]any{
		"openstack":           openstack,
		"monitoring":          map[string]any{"enabled": l.boolean("monitoring_enabled", false)},
		"kubernetesDashboard": map[string]any{"enabled": l.boolean("kube_dashboard_enabled", true)},
		// Nobody would remove the load balancer of an ingress.
		"ingress": map[string]any{"enabled": false},
	}
	if t.NetworkDriver != "" {
		out["cni"] = map[string]any{"type": t.NetworkDriver}
	}
	return out
}

// storageClasses are one for each volume type. Without types the labels are for the class that the chart has by default.
func (t *Template) storageClasses(l Labels) map[string]any {
	if len(t.VolumeTypes) == 0 {
		class := map[string]any{}
		for name, label := range classLabels {
			if text, given := l[label]; given {
				class[name] = text
			}
		}
		if _, given := l[labelExpansion]; given {
			class["allowVolumeExpansion"] = l.boolean(labelExpansion, true)
		}
		if len(class) == 0 {
			return nil
		}
		return map[string]any{"defaultStorageClass": class}
	}
	classes := make([]any, 0, len(t.VolumeTypes))
	for _, kind := range t.VolumeTypes {
		classes = append(classes, map[string]any{
			"name": sanitised(kind), "volumeType": kind, "enabled": true,
			"reclaimPolicy":        l.text(classLabels["reclaimPolicy"], "Retain"),
			"volumeBindingMode":    l.text(classLabels["volumeBindingMode"], "WaitForFirstConsumer"),
			"allowVolumeExpansion": l.boolean(labelExpansion, true),
			"fstype":               l.text(classLabels["fstype"], "ext4"),
			"availabilityZone":     l.text(classLabels["availabilityZone"], "nova"),
		})
	}
	return map[string]any{"defaultStorageClass": classes[0], "additionalStorageClasses": classes[1:]}
}

// classLabels are the labels for fields of storage classes that are texts.
var classLabels = map[string]string{
	"reclaimPolicy": "csi_cinder_reclaim_policy", "volumeBindingMode": "csi_cinder_volume_binding_mode",
	"fstype": "csi_cinder_fstype", "availabilityZone": "csi_cinder_availability_zone",
}

const labelExpansion = "csi_cinder_allow_volume_expansion"

func isOVN(l Labels) bool { return strings.EqualFold(l["octavia_provider"], "ovn") }

// by is what a network or subnet is found by.
func by(text string) map[string]any {
	if uuidForm.MatchString(text) {
		return map[string]any{"id": text}
	}
	return map[string]any{"name": text}
}

var unsafe = lazyregexp.New(`[^a-z0-9]+`)

// sanitised makes a name for Kubernetes of any text.
func sanitised(text string) string {
	return strings.Trim(unsafe.ReplaceAllString(strings.ToLower(text), "-"), "-")
}

func texts(list []string) []any {
	out := make([]any, 0, len(list))
	for _, text := range list {
		out = append(out, text)
	}
	return out
}

func sorted[V any](m map[string]V) iter.Seq[string] {
	return slices.Values(slices.Sorted(maps.Keys(m)))
}
