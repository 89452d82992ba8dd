package forms

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Names of parts of the results of a cluster: the results of its chart, and the salt of its digest. No add-on can have these names.
const (
	chartPart = ""
	saltPart  = " salt"
)

// render renders the chart with the results of random functions in the specification. It returns nil after an error.
func (f chart) render(ctx context.Context, loaded *helm.Chart, spec *vnfm.ClusterSpec, values map[string]any, ps *vnfm.Problems) *helm.Rendering {
	o := helm.Options{
		Release: spec.Name, Namespace: spec.Namespace, Values: helm.FileValues(values), Attribute: attributeChart + ".values", Regenerate: spec.Regenerate,
		// A cluster is not a Helm release: each rendering is one of an installation.
		New: true,
	}
	results := spec.Results.Part(chartPart)
	var rendered *helm.Rendering
	var problems vnfm.Problems
	var err error
	switch {
	case results == nil:
		rendered, problems = loaded.Render(ctx, o)
	case spec.MakeResults:
		o.Random = helm.RandomKept
		if err = salt(ctx, spec); err != nil {
			break
		}
		err = results.Update(ctx, func(data []byte) []byte {
			o.Results = data
			if rendered, problems = loaded.Render(ctx, o); rendered == nil {
				return nil
			}
			return rendered.Results
		})
	default:
		o.Random, o.Results = helm.RandomPlanned, results.Data()
		if rendered, problems = loaded.Render(ctx, o); rendered != nil {
			if err := results.Plan(rendered.ResultsSize); err != nil {
				problems = append(problems, vnfm.Problem{Summary: err.Error()})
			}
		}
	}
	if err != nil {
		//findings:says say in the values what the chart makes up, or apply again when the store answers
		problems = append(problems, vnfm.Problem{Summary: fmt.Sprintf("the results of random functions cannot be saved: %v", err)})
	}
	for _, p := range problems {
		if p.Attribute == "" {
			p.Attribute = attributeChart
		}
		*ps = append(*ps, p)
	}
	if problems.HasErrors() {
		return nil
	}
	return rendered
}

// add records objects whose content is unknown.
func (u *Unsettled) add(objects []map[string]any) {
	for _, o := range objects {
		u.Later = append(u.Later, vnfm.ObjectName(StringAt(o, "apiVersion"), StringAt(o, "kind"), StringAt(o, "metadata", "name")))
	}
}

// salt creates the salt of a cluster whose chart generates secrets, so that they cannot be guessed from the digest of the cluster.
func salt(ctx context.Context, spec *vnfm.ClusterSpec) error {
	return spec.Results.Part(saltPart).Update(ctx, func(data []byte) []byte {
		if len(data) > 0 {
			return nil
		}
		made := make([]byte, 16)
		// It never fails.
		_, _ = rand.Read(made)
		return made
	})
}

// Salt returns the salt for the digest of a cluster; nil unless its chart has generated results.
func Salt(spec *vnfm.ClusterSpec) []byte { return spec.Results.Part(saltPart).Data() }
