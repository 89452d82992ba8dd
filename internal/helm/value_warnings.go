package helm

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// exact is where floating-point numbers end to have each whole number.
const exact = 1 << 53

// warnExponents warns of numbers that templates write with an exponent. Helm reads the numbers of values as floating-point numbers, and
// {{ .Values.imsi }} makes 2.0893e+14 of a large one, which toYaml and int64 do not.
func (c *Chart) warnExponents(o *Options, r *Rendering, ps *vnfm.Problems) {
	report := func(at vnfm.Problem) func(way []string, f float64) {
		return func(way []string, f float64) {
			text := fmt.Sprint(f)
			if !strings.Contains(text, "e+") {
				return
			}
			file := r.fileWith(text)
			if file == "" {
				return
			}
			p := at
			p.Severity, p.Summary = vnfm.SeverityWarning, fmt.Sprintf("the number %s is written with an exponent in %s", strings.Join(way, "."), file)
			secret := p.File == "" && o.secret(way)
			if secret {
				p.Attribute = o.SecretAttribute
			}
			p.Detail = "put it in quotes, which keeps its digits"
			if !secret && f < exact {
				p.Detail = fmt.Sprintf("the template makes %s of it; write %q", text, strconv.FormatFloat(f, 'f', -1, 64))
			}
			*ps = append(*ps, p)
		}
	}
	eachNumber(o.Values, nil, report(vnfm.Problem{Attribute: o.Attribute, Key: o.Key}))
	eachNumber(r.chart.Values, nil, report(vnfm.Problem{File: path.Join(c.path, "values.yaml")}))
}

// fileWith returns the first template whose output has a number, empty for none.
func (r *Rendering) fileWith(number string) string {
	for _, m := range r.Manifests {
		if strings.Contains(m.Text, number) {
			return m.File
		}
	}
	for _, h := range r.Hooks {
		if strings.Contains(h.Text, number) {
			return h.File
		}
	}
	return ""
}

// eachNumber calls do for each number that a template gets as a floating-point number, with the way to it by keys and indices.
func eachNumber(value any, way []string, do func(way []string, f float64)) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			eachNumber(v[name], append(way, name), do)
		}
	case []any:
		for i, each := range v {
			eachNumber(each, append(way, strconv.Itoa(i)), do)
		}
	case float64:
		do(way, v)
	}
}

// warnBooleans warns of a text "false" where the chart has a boolean: templates take each text that is not empty for true. Terraform makes
// such texts of the booleans in a map of strings.
func (c *Chart) warnBooleans(o *Options, r *Rendering, ps *vnfm.Problems) {
	var walk func(given, own map[string]any, way []string)
	walk = func(given, own map[string]any, way []string) {
		for _, name := range slices.Sorted(maps.Keys(given)) {
			at := append(slices.Clone(way), name)
			switch own := own[name].(type) {
			case map[string]any:
				below, _ := given[name].(map[string]any)
				walk(below, own, at)
			case bool:
				if given[name] != "false" {
					continue
				}
				p := vnfm.Problem{Severity: vnfm.SeverityWarning, Attribute: o.Attribute, Key: o.Key}
				if o.secret(at) {
					p.Attribute = o.SecretAttribute
				}
				p.Summary = fmt.Sprintf("the value %s is the text \"false\", and a boolean in the chart", strings.Join(at, "."))
				p.Detail = "a template takes each text that is not empty for true; write false without quotes, and not in a map of strings, of whose booleans Terraform makes texts"
				*ps = append(*ps, p)
			}
		}
	}
	walk(o.Values, r.chart.Values, nil)
}
