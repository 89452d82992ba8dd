package render

import (
	"fmt"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Make is Render for an apply: it makes the missing results of random functions of a chart and saves them in the target's Results.
func Make(b *budget.Budget, t *vnfm.Target) (*Rendering, vnfm.Problems) {
	return render(b, t, true, nil)
}

// markLater marks objects of a package whose content is not completely known.
func (r *Rendering) markLater(p *vnfm.Package) {
	if p.Complete() {
		return
	}
	r.namesLater = p.NamesLater
	for _, o := range r.Objects {
		o.later = slices.Contains(p.Later, vnfm.ObjectName(o.GVK.GroupVersion().String(), o.GVK.Kind, o.Name))
	}
}

// planResults reports at plan time results that are too large to be saved.
func (r *Rendering) planResults(t *vnfm.Target) vnfm.Problems {
	if r == nil || r.Release == nil || t.Results == nil {
		return nil
	}
	if err := t.Results.Plan(r.Release.ResultsSize); err != nil {
		return vnfm.Problems{{Summary: err.Error()}}
	}
	return nil
}

// renderChart renders a chart with the Results of the target. With keeps it makes and saves missing results; without keeps objects
// that depend on missing results are unknown. A target with nil Results accepts only charts without random functions. The rendering
// is nil if there is an error.
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
