package render

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/translate"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// source is the form in which the package describes the objects of an instance.
type source interface {
	// manifests returns the objects as written, with their places. It adds what else the
	// source has to the rendering.
	manifests(b *budget.Budget, t *vnfm.Target, r *Rendering, ps *vnfm.Problems) []manifest
}

// sourceOf returns the source that package and parameters select, or nil with the problem.
func sourceOf(t *vnfm.Target, p *params, ps *vnfm.Problems) source {
	_, files := t.Instance.AdditionalParams[paramFiles]
	charts := t.Flavour.MCIOPs
	switch {
	case files && len(p.chart.given) > 0:
		badParam(ps, p.chart.given[0], "contradicts "+paramFiles, "an instance consists of manifests or of a chart")
	case files:
		return manifestFiles(p.files)
	case slices.Contains(p.chart.given, paramChart):
		// A chart that is not in the package was reported above.
		return p.chart.source(p.chart.path)
	case len(charts) == 1:
		return p.chart.source(charts[0].File)
	case len(charts) > 1:
		*ps = append(*ps, vnfm.Problem{
			Summary: fmt.Sprintf("deployment flavour %q has %d charts (Mciop nodes), but an instance consists of one", t.Flavour.ID, len(charts)),
			Detail:  fmt.Sprintf("choose with additional_params[%q]; they are %s", paramChart, mciopFiles(charts)),
		})
	case len(p.chart.given) > 0:
		badParam(ps, p.chart.given[0], "is for a chart, but the VNFD names none", fmt.Sprintf("%s says which one it is; %s", paramChart, chartsOf(t.Package)))
	case len(p.files) > 0:
		return manifestFiles(p.files)
	case translate.DescribesContainers(t.Flavour):
		return &containers{params: p}
	default:
		*ps = append(*ps, vnfm.Problem{
			Summary: fmt.Sprintf("package %q lists no Kubernetes manifest", t.Package.Name),
			Detail: fmt.Sprintf("list the manifests as artifacts of the package, or name them in additional_params[%q], or a chart in additional_params[%q]; "+
				"or describe the containers of the VDUs in the VNFD", paramFiles, paramChart),
		})
	}
	return nil
}

// source returns the chart at a path as source; nil for no path.
func (p *chartParams) source(file string) source {
	if file == "" {
		return nil
	}
	return &chart{path: file, params: p}
}

func mciopFiles(all []vnfm.MCIOP) string {
	files := make([]string, 0, len(all))
	for _, m := range all {
		files = append(files, m.File)
	}
	return strings.Join(files, ", ")
}

// manifestFiles are the paths of Kubernetes manifests in the package.
type manifestFiles []string

func (files manifestFiles) manifests(b *budget.Budget, t *vnfm.Target, _ *Rendering, ps *vnfm.Problems) []manifest {
	var out []manifest
	content := t.Package.ContentIn(b.Context())
	for _, file := range files {
		out = append(out, readManifests(b, content, file, ps)...)
	}
	return out
}

// containers is a VNFD that describes the containers of its VDUs.
type containers struct {
	params *params
}

func (c *containers) manifests(_ *budget.Budget, t *vnfm.Target, _ *Rendering, ps *vnfm.Problems) []manifest {
	made, workloads := translate.Manifests(t, c.params.mapping, ps)
	c.params.mapping = workloads
	out := make([]manifest, 0, len(made))
	for _, m := range made {
		out = append(out, manifest{file: m.Place.File, node: &yaml.Node{Line: m.Place.Line, Column: m.Place.Column}, content: m.Content})
	}
	return out
}
