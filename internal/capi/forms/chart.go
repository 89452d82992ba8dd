package forms

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// chart is the form of a Helm chart. The arguments of a cluster become
// values by the names that the chart "openstack-cluster" of capi-helm-charts has, so
// that either that chart or the embedded one takes them.
type chart struct {
	*vnfm.ClusterChart
	unsettled *Unsettled
}

const attributeChart = "chart"

func (f chart) objects(spec *vnfm.ClusterSpec, ps *vnfm.Problems) []map[string]any {
	if f.Name != "" && !f.Fetched() && spec.APIVersion == "v1beta1" {
		*ps = append(*ps, vnfm.Problem{
			Attribute: attributeChart, Summary: fmt.Sprintf("the embedded chart %q is for v1beta2 of Cluster API, and the management cluster serves v1beta1 alone", f.Name),
			Detail: "upgrade Cluster API to 1.11 or later, or give a chart of that version as path",
		})
		return nil
	}
	if f.check(spec, ps); ps.HasErrors() {
		return nil
	}
	fsys, path := f.locate()
	// A chart has the time that its rendering may take, and the port of drivers no context.
	ctx := context.Background()
	loaded, err := helm.Load(ctx, fsys, path)
	if err != nil {
		*ps = append(*ps, vnfm.Problem{Attribute: attributeChart, Summary: "the chart cannot be read", Detail: err.Error()})
		return nil
	}
	rendered := f.render(ctx, loaded, spec, ps)
	if rendered == nil {
		return nil
	}
	if len(rendered.Hooks) > 0 {
		*ps = append(*ps, vnfm.Problem{
			Attribute: attributeChart, Summary: "the chart has hooks",
			Detail: "hooks are for applications and are not run for a workload cluster; use a chart without them",
		})
	}
	var objects []map[string]any
	for _, m := range slices.Concat(rendered.CRDs, rendered.Manifests) {
		decoded, err := Decode(m.Text)
		if err != nil {
			*ps = append(*ps, vnfm.Problem{Attribute: attributeChart, Summary: "the rendered objects of the chart cannot be read", Detail: err.Error()})
			return nil
		}
		if objects = append(objects, decoded...); m.Later {
			f.unsettled.add(decoded)
		}
	}
	f.unsettled.NamesLater = rendered.NamesLater
	return objects
}

// locate returns the file system and the path of the chart in it.
func (f chart) locate() (fs.FS, string) {
	switch {
	case f.Archive != nil:
		return f.Archive, f.File
	case f.Name != "":
		return embedded, "charts/" + f.Name
	}
	clean := filepath.Clean(f.Path)
	return os.DirFS(filepath.Dir(clean)), filepath.Base(clean)
}

// values are the user's, overridden by the arguments of the cluster.
func (f chart) values(spec *vnfm.ClusterSpec) map[string]any {
	arguments := map[string]any{}
	Set(arguments, "kubernetesVersion", WithoutV(spec.KubernetesVersion))
	Set(arguments, "clusterAnnotations", texts(spec.Annotations))
	Set(arguments, "clusterLabels", texts(spec.Labels))
	Set(arguments, "kubeNetwork", network(spec.Network))
	Set(arguments, "clusterNetworking", chartNetworking(spec.Network))
	if cloud := spec.OwnCredential(); cloud != nil {
		arguments["cloudCredentialsSecretName"], arguments["cloudName"] = cloud.SecretName, cloud.CloudName
	}
	controlPlane := map[string]any{}
	SetInt(controlPlane, "machineCount", spec.ControlPlane.Replicas)
	Set(controlPlane, "machineFlavor", spec.ControlPlane.Flavor)
	Set(controlPlane, "rolloutAfter", spec.RolloutAfter)
	chartHealthCheck(controlPlane, spec.ControlPlane.HealthCheck)
	chartDeletion(controlPlane, spec.ControlPlane.Deletion)
	Set(controlPlane, "nodeLabels", texts(spec.ControlPlane.Labels))
	chartPlace(controlPlane, &spec.ControlPlane.MachinePlace)
	if domains := spec.ControlPlane.FailureDomains; len(domains) > 0 {
		// They mean nothing to the chart while the cloud is left to choose.
		controlPlane["failureDomains"], controlPlane["omitFailureDomain"] = listed(domains), false
	}
	Set(arguments, "controlPlane", controlPlane)
	var groups []any
	for _, name := range slices.Sorted(maps.Keys(spec.NodeGroups)) {
		groups = append(groups, chartGroup(spec, name))
	}
	Set(arguments, "nodeGroups", groups)
	return vnfm.MergeValues(f.Values, arguments)
}

// check finds what the values of no chart say.
func (f chart) check(spec *vnfm.ClusterSpec, ps *vnfm.Problems) {
	u := unusedArguments{ps: ps, form: "a chart", detail: "set the corresponding value of the chart in chart.values"}
	cp := &spec.ControlPlane
	u.cluster("control_plane", map[string]bool{"annotations": len(cp.Annotations) > 0, "class_variables": len(cp.Variables) > 0})
	if n := spec.Network; n != nil && n.External != nil && n.External.ID == "" && (f.Name == "" || f.Fetched()) {
		*ps = append(*ps, vnfm.Problem{
			Attribute: "network.external", Summary: "a chart that is not embedded takes the external network by its id alone", Detail: "give the id of the network",
		})
	}
	for _, name := range SortedKeys(spec.NodeGroups) {
		g := spec.NodeGroups[name]
		u.group(name, map[string]bool{"class": g.Class != "", "annotations": len(g.Annotations) > 0, "class_variables": len(g.Variables) > 0})
	}
}

func chartGroup(spec *vnfm.ClusterSpec, name string) map[string]any {
	g := spec.NodeGroups[name]
	out := map[string]any{"name": name}
	if g.Autoscaled() {
		out["autoscale"], out["machineCountMin"], out["machineCountMax"] = true, *g.MinReplicas, *g.MaxReplicas
	} else {
		SetInt(out, "machineCount", g.Replicas)
	}
	Set(out, "machineFlavor", g.Flavor)
	Set(out, "failureDomain", g.FailureDomain)
	Set(out, "nodeLabels", texts(g.Labels))
	Set(out, "rolloutAfter", spec.RolloutAfter)
	if len(g.Taints) > 0 {
		out["nodeTaints"] = taints(g.Taints)
	}
	chartHealthCheck(out, g.HealthCheck)
	chartDeletion(out, g.Deletion)
	chartPlace(out, &g.MachinePlace)
	if r := g.Rollout; r != nil {
		strategy := map[string]any{}
		Set(strategy, "type", r.Type)
		rolling := map[string]any{}
		Set(rolling, "maxSurge", intOrPercent(r.MaxSurge))
		Set(rolling, "maxUnavailable", intOrPercent(r.MaxUnavailable))
		Set(strategy, "rollingUpdate", rolling)
		Set(out, "rolloutStrategy", strategy)
	}
	return out
}

func chartHealthCheck(out map[string]any, h *vnfm.HealthCheck) {
	if h == nil {
		return
	}
	spec := map[string]any{}
	Set(spec, "maxUnhealthy", intOrPercent(h.MaxUnhealthy))
	putSeconds(spec, "nodeStartupTimeout", h.NodeStartupTimeout)
	putSeconds(spec, "unhealthyTimeout", h.UnhealthyTimeout)
	check := map[string]any{"enabled": h.Enabled}
	Set(check, "spec", spec)
	out["healthCheck"] = check
}

func chartDeletion(out map[string]any, d *vnfm.MachineDeletion) {
	if d == nil {
		return
	}
	for name, limit := range map[string]*time.Duration{
		"nodeDrainTimeout": d.NodeDrainTimeout, "nodeVolumeDetachTimeout": d.NodeVolumeDetachTimeout, "nodeDeletionTimeout": d.NodeDeletionTimeout,
	} {
		if limit != nil {
			out[name] = inSeconds(*limit)
		}
	}
}
