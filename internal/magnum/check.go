package magnum

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var (
	versionForm = lazyregexp.New(`^v?[0-9]+\.[0-9]+\.[0-9]+$`)
	uuidForm    = lazyregexp.New(`^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$`)
)

// distributions are the values of os_distro that nodes can be made of: the systems of image-builder.
var distributions = []string{"ubuntu", "debian", "rocky", "rockylinux", "almalinux", "centos", "rhel", "ol", "oraclelinux", "photon", "opensuse", "sles", "flatcar"}

// attributeLabels is where a template has its labels.
const attributeLabels = "labels"

// Check finds what is wrong with a template whatever a cluster says.
func (t *Template) Check(ps *vnfm.Problems) {
	refuse := func(attribute, summary, detail string) {
		*ps = append(*ps, vnfm.Problem{Attribute: attribute, Summary: summary, Detail: detail})
	}
	if !versionForm.MatchString(t.Image.KubeVersion) {
		refuse("image.kube_version", fmt.Sprintf("%q is not a valid version of Kubernetes", t.Image.KubeVersion), "a version has three numbers, for example 1.34.0")
	}
	if v := t.KubernetesVersion; v != "" && withoutV(v) != withoutV(t.Image.KubeVersion) {
		refuse("kubernetes_version", fmt.Sprintf("the image has Kubernetes %s, not %s", withoutV(t.Image.KubeVersion), withoutV(v)),
			"kubelet and kubeadm come with the image, so that its property kube_version and kubernetes_version are the same; name another image, or leave kubernetes_version out")
	}
	if !slices.Contains(distributions, t.Image.OSDistro) {
		refuse("image.os_distro", fmt.Sprintf("nodes cannot be made of %q", t.Image.OSDistro), "the property os_distro of the image is one of "+strings.Join(distributions, ", "))
	}
	if t.NetworkDriver != "" && !t.hasAddons() {
		refuse("network_driver", fmt.Sprintf("the embedded chart %q installs no network driver", t.Chart.Name),
			"give its manifests as workloadManifests in a document of chart.values, or use a chart with addons: chart.path, chart.repository or chart.oci")
	}
	if len(t.VolumeTypes) > 0 && !t.hasAddons() {
		refuse("volume_types", fmt.Sprintf("the embedded chart %q installs no storage driver", t.Chart.Name),
			"give its manifests as workloadManifests in a document of chart.values, or use a chart with addons: chart.path, chart.repository or chart.oci")
	}
	t.checkVolumeTypes(ps)
	given := ReadLabels(t.Labels, attributeLabels, ps)
	if _, ok := given["fixed_subnet_cidr"]; ok && (t.FixedNetwork != "" || t.FixedSubnet != "") {
		*ps = append(*ps, vnfm.Problem{
			Attribute: attributeLabels, Key: "fixed_subnet_cidr", Summary: "the addresses of a network that exists are not to be chosen",
			Detail: "fixed_subnet_cidr is for a network that is made; leave it out, or fixed_network and fixed_subnet",
		})
	}
	t.checkLabels(given, attributeLabels, ps)
}

// checkVolumeTypes finds volume types whose storage classes have no name, or the same one.
func (t *Template) checkVolumeTypes(ps *vnfm.Problems) {
	names := map[string]string{}
	for _, kind := range t.VolumeTypes {
		name := sanitised(kind)
		other, taken := names[name]
		if name != "" && !taken {
			names[name] = kind
			continue
		}
		summary := fmt.Sprintf("no storage class can be named after the volume type %q", kind)
		if taken && name != "" {
			summary = fmt.Sprintf("the storage classes of the volume types %q and %q would both be named %q", other, kind, name)
		}
		*ps = append(*ps, vnfm.Problem{
			Attribute: "volume_types", Summary: summary,
			Detail: "a name is the type in lower case letters and digits, with hyphens for all else; leave the type out, and give its storage class in chart.values",
		})
	}
}

// isEmbedded reports whether the chart is one of those that need no download.
func (t *Template) isEmbedded() bool { return t.Chart.Path == "" && !t.Chart.Fetched() }

// hasAddons reports whether the chart installs applications on the cluster. Those that
// are embedded do not.
func (t *Template) hasAddons() bool { return !t.isEmbedded() }

// checkLabels finds labels that do not go together, or not with the chart.
func (t *Template) checkLabels(l Labels, attribute string, ps *vnfm.Problems) {
	refuse := func(name, summary, detail string) {
		*ps = append(*ps, vnfm.Problem{Attribute: attribute, Key: name, Summary: summary, Detail: detail})
	}
	for name := range sorted(l) {
		known := labels[name]
		if !known.addon || t.hasAddons() {
			continue
		}
		if wanted, isBoolean := parseBool(l[name]); known.off == "" || !isBoolean || wanted {
			refuse(name, fmt.Sprintf("the embedded chart %q has no addons, which label %q is about", t.Chart.Name, name),
				"leave it out, or use a chart with addons: chart.path, chart.repository or chart.oci")
		}
	}
	size := l.count("etcd_blockdevice_size", 0)
	for _, name := range []string{"etcd_blockdevice_type", "etcd_blockdevice_volume_type", "etcd_blockdevice_volume_az"} {
		_, given := l[name]
		switch {
		case given && size == 0:
			refuse(name, "etcd has no block device", fmt.Sprintf("label %q is about it; give etcd_blockdevice_size as well", name))
		case given && name != "etcd_blockdevice_type" && l["etcd_blockdevice_type"] == "local":
			refuse(name, "the block device of etcd is local and no volume", fmt.Sprintf("leave %q out, or etcd_blockdevice_type", name))
		}
	}
	if _, given := l["boot_volume_type"]; given && l.count("boot_volume_size", 0) == 0 {
		refuse("boot_volume_type", "machines have no boot volume", "a volume has a size: give boot_volume_size as well; without it the disk of the flavor is used")
	}
	if algorithm := l["octavia_lb_algorithm"]; algorithm != "" && isOVN(l) != (algorithm == ovnAlgorithm) {
		refuse("octavia_lb_algorithm", fmt.Sprintf("the provider %s has no algorithm %s", l.text("octavia_provider", defaultProvider), algorithm),
			"ovn knows SOURCE_IP_PORT alone, and no other provider knows it")
	}
	if l.boolean("keystone_auth_enabled", false) && t.hasAddons() && t.Keystone == nil {
		refuse("keystone_auth_enabled", "it is not known where Keystone is", "give keystone.auth_url and keystone.project_id")
	}
}
