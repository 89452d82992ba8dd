package helm

import (
	"regexp"
	"slices"
	"sync"

	"helm.sh/helm/v4/pkg/chart/common"
	"k8s.io/client-go/kubernetes/scheme"
)

// AssumedKubernetes is the version that charts are rendered for when nobody says
// another one: old enough that no cluster under support is older, so that no chart
// uses what the cluster does not have.
const AssumedKubernetes = "v1.34.0"

// stable is the form of versions that are neither alpha nor beta, which Kubernetes
// does not serve unless it is told to.
var stable = regexp.MustCompile(`^v[0-9]+$`)

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
	version := o.KubeVersion
	if version == "" {
		version = AssumedKubernetes
	}
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
