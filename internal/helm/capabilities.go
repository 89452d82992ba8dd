package helm

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"sync"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// AssumedKubernetes is the version that charts are rendered for when nobody says
// another one: old enough that no cluster under support is older, so that no chart
// uses what the cluster does not have.
const AssumedKubernetes = "v1.34.0"

// stable is the form of versions that are neither alpha nor beta, which Kubernetes
// does not serve by default.
var stable = lazyregexp.New(`^v[0-9]+$`)

// stableVersions are the stable API versions of Kubernetes, each also with its
// kinds: charts ask for both.
var stableVersions = sync.OnceValue(func() common.VersionSet {
	out := common.VersionSet{"apiregistration.k8s.io/v1", "apiregistration.k8s.io/v1/APIService"}
	for gvk := range scheme.Scheme.AllKnownTypes() {
		if gv := gvk.GroupVersion().String(); stable.MatchString(gvk.Version) {
			out = append(out, gv, gv+"/"+gvk.Kind)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
})

// capabilities are what templates see as .Capabilities.
func (o *Options) capabilities() (*common.Capabilities, error) {
	version := cmp.Or(o.KubeVersion, AssumedKubernetes)
	kube, err := common.ParseKubeVersion(version)
	if err != nil {
		return nil, err
	}
	return &common.Capabilities{
		KubeVersion: *kube,
		APIVersions: append(slices.Clone(stableVersions()), o.APIVersions...),
		HelmVersion: common.DefaultCapabilities.HelmVersion,
	}, nil
}

// ValidKubeVersion reports whether a text is a version of Kubernetes.
func ValidKubeVersion(version string) bool {
	_, err := common.ParseKubeVersion(version)
	return err == nil
}

// unfit says that a chart is not for a version of Kubernetes; nil when it is.
func (c *Chart) unfit(made *chart.Chart, version, where string) *vnfm.Problem {
	want := made.Metadata.KubeVersion
	kube, err := common.ParseKubeVersion(version)
	// A vendor's suffix of a version is not a pre-release.
	if want == "" || (err == nil && chartutil.IsCompatibleRange(want, kube.String())) {
		return nil
	}
	return &vnfm.Problem{
		File: path.Join(c.path, "Chart.yaml"),
		//findings:says set helm_kube_version, upgrade the cluster, or use a package whose chart supports it
		Summary: fmt.Sprintf("the chart %s is for Kubernetes %s, and %s", made.Name(), want, where),
	}
}

// Demands reports whether the chart is for certain versions of Kubernetes only.
func (r *Rendering) Demands() bool { return r.chart.Metadata.KubeVersion != "" }

// CheckServer says that the chart is not for the version that an API server has; nil
// when it is. The version that the chart is rendered for is not checked.
func (r *Rendering) CheckServer(vim, version string) *vnfm.Problem {
	p := r.source.unfit(r.chart, version, fmt.Sprintf("VIM %q has %s", vim, version))
	if p != nil {
		p.Detail = "upgrade the cluster, or use a package whose chart supports it"
	}
	return p
}
