package helm

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// markLater marks the objects that differ in another rendering. Where even their names differ,
// nothing is known of them.
func (r *Rendering) markLater(other *Rendering) {
	r.NamesLater = len(r.sources) != len(other.sources)
	for i := range r.sources {
		if r.NamesLater || r.sources[i].Identity != other.sources[i].Identity {
			r.NamesLater = true
			return
		}
		r.Manifests[i].Later = r.sources[i].Content != other.sources[i].Content
	}
}

// refuse refuses templates whose objects differ in another rendering. Hooks may: they are made
// again each time and are not part of the plan.
func (c *Chart) refuse(first, second *Rendering, output map[string]string, k *calls, ps *vnfm.Problems) {
	called := k.called()
	detail := "plan and apply would differ; set the value in helm_parameters, so that the chart does not generate one"
	if k.looked {
		detail += "; lookup finds nothing, because charts are rendered without access to the cluster"
	}
	texts := func(r *Rendering) map[string]string {
		out := map[string]string{}
		for _, m := range r.sources {
			out[m.Name] += "---\n" + m.Content
		}
		return out
	}
	one, two := texts(first), texts(second)
	for _, name := range sortedKeys(output) {
		if one[name] == two[name] {
			continue
		}
		file, line, function := c.findCall(first, name, called)
		*ps = append(*ps, vnfm.Problem{
			File: file, Line: line,
			Summary: fmt.Sprintf("the template renders differently each time: it uses the function %s", function),
			Detail:  detail,
		})
	}
}

// findCall looks where a template calls one of the functions: in its own text, or
// in a helper.
func (c *Chart) findCall(r *Rendering, name string, called []string) (file string, line int, function string) {
	file, function = c.place(name), strings.Join(called, " or ")
	for _, t := range r.chart.Templates {
		if path := r.chart.ChartFullPath() + "/" + t.Name; path != name {
			continue
		}
		at := len(t.Data)
		for _, f := range called {
			if found := regexp.MustCompile(`\b` + f + `\b`).FindIndex(t.Data); found != nil && found[0] < at {
				at, function = found[0], f
				line = 1 + strings.Count(string(t.Data[:at]), "\n")
			}
		}
	}
	return file, line, cmp.Or(function, "of an unknown name")
}
