package forms

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// chart is the form of a Helm chart. The arguments of a cluster become values of the chart by the names in chartPlaces. The chart
// "openstack-cluster" of capi-helm-charts and the embedded charts have these names.
type chart struct {
	*vnfm.ClusterChart
	unsettled *Unsettled
}

const attributeChart = "chart"

func (f chart) objects(spec *vnfm.ClusterSpec, ps *vnfm.Problems) []map[string]any {
	if f.isEmbedded() && spec.APIVersion == "v1beta1" {
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
	// Rendering has a time limit of its own, and vnfm.ClusterDriver passes no context.
	ctx := context.Background()
	loaded, err := helm.Load(ctx, fsys, path)
	if err != nil {
		*ps = append(*ps, vnfm.Problem{Attribute: attributeChart, Summary: "the chart cannot be read", Detail: err.Error() + "; helm lint shows more"})
		return nil
	}
	values := f.values(loaded, spec, ps)
	if values == nil {
		return nil
	}
	rendered := f.render(ctx, loaded, spec, values, ps)
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
			*ps = append(*ps, vnfm.Problem{
				Attribute: attributeChart, Summary: "the rendered objects of the chart cannot be read",
				Detail: err.Error() + "; compare what helm template renders with these values",
			})
			return nil
		}
		if objects = append(objects, decoded...); m.Later {
			f.unsettled.add(decoded)
		}
	}
	f.unsettled.NamesLater = rendered.NamesLater
	f.findExternalNetwork(spec, objects, ps)
	f.findFlavors(objects)
	f.checkNodeLabels(spec, objects, ps)
	return objects
}

// isEmbedded reports whether the chart is embedded in the provider.
func (f chart) isEmbedded() bool { return f.Name != "" && !f.Fetched() }

// check reports arguments that no chart has a value for.
func (f chart) check(spec *vnfm.ClusterSpec, ps *vnfm.Problems) {
	u := unusedArguments{ps: ps, form: "a chart", detail: "set the corresponding value of the chart in chart.values"}
	cp := &spec.ControlPlane
	u.cluster("control_plane", map[string]bool{"annotations": len(cp.Annotations) > 0, "class_variables": len(cp.Variables) > 0})
	for _, name := range SortedKeys(spec.NodeGroups) {
		g := spec.NodeGroups[name]
		u.group(name, map[string]bool{"class": g.Class != "", "annotations": len(g.Annotations) > 0, "class_variables": len(g.Variables) > 0})
	}
	if f.hasKubelets() {
		refuseLabels(spec, ps)
		refuseTaints(spec, ps)
	}
}

// locate returns the file system of the chart and the path in it.
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
