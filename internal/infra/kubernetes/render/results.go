package render

import (
	"fmt"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Make is Render for an apply: results of random functions that a chart calls for the first
// time are made, and saved with those of the target.
func Make(b *budget.Budget, t *vnfm.Target) (*Rendering, vnfm.Problems) {
	return render(b, t, true, nil)
}

// markLater marks the objects of a package of which not all is known.
func (r *Rendering) markLater(p *vnfm.Package) {
	if p.Complete() {
		return
	}
	r.namesLater = p.NamesLater
	for _, o := range r.Objects {
		o.later = slices.Contains(p.Later, vnfm.ObjectName(o.GVK.GroupVersion().String(), o.GVK.Kind, o.Name))
	}
}

// planResults finds, in a plan, results that would be too large for where the target keeps them.
func (r *Rendering) planResults(t *vnfm.Target) vnfm.Problems {
	if r == nil || r.Release == nil || t.Results == nil {
		return nil
	}
	if err := t.Results.Plan(r.Release.ResultsSize); err != nil {
		return vnfm.Problems{{Summary: err.Error()}}
	}
	return nil
}

// renderChart renders a chart with the results of the target, of which none are known without
// keeps but those that were made. A target that has none takes a chart without random
// functions. It returns nil with a problem.
func renderChart(b *budget.Budget, t *vnfm.Target, c *helm.Chart, o *helm.Options, keeps bool, ps *vnfm.Problems) *helm.Rendering {
	var rendered *helm.Rendering
	var problems vnfm.Problems
	o.New, o.Restores = t.Instance.Generation == 0, t.Restores
	if o.Recorded = t.Recorded; t.Results == nil {
		rendered, problems = c.Render(b.Context(), *o)
	} else if o.Regenerate = t.Regenerate; keeps {
		err := t.Results.Update(b.Context(), func(data []byte) []byte {
			o.Random, o.Results, o.Before = helm.RandomKept, data, t.Results.Before()
			if rendered, problems = c.Render(b.Context(), *o); rendered == nil {
				return nil
			}
			return rendered.Results
		})
		if err != nil {
			//findings:says say in the values what the chart makes up, or apply again when the store answers
			problems = append(problems, vnfm.Problem{Summary: fmt.Sprintf("the results of random functions cannot be saved: %v", err)})
		}
	} else {
		o.Random, o.Results, o.Before = helm.RandomPlanned, t.Results.Data(), t.Results.Before()
		rendered, problems = c.Render(b.Context(), *o)
	}
	if *ps = append(*ps, problems...); problems.HasErrors() {
		return nil
	}
	return rendered
}
