package helm

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// volatile are the functions of templates that give something else at every call.
var volatile = []string{
	"ago", "bcrypt", "encryptAES", "genCA", "genCAWithKey", "genPrivateKey", "genSelfSignedCert", "genSelfSignedCertWithKey",
	"genSignedCert", "genSignedCertWithKey", "htpasswd", "now", "randAlpha", "randAlphaNum", "randAscii", "randBytes", "randInt",
	"randNumeric", "shuffle", "uuidv4",
}

// later is how far the clock of a second rendering is ahead: every part of a date is
// another one then, down to the second.
const later = 400*24*time.Hour + time.Hour + time.Minute + time.Second

// probe notes which volatile functions a rendering calls. Whether their results
// matter a second rendering shows: a chart may well make up a password and then
// take the one that it was given.
type probe struct {
	mu    sync.Mutex
	names map[string]bool
	// looked is set when a template has called lookup.
	looked bool
	// shift is how far the clock is ahead.
	shift time.Duration
}

func newProbe() *probe { return &probe{names: map[string]bool{}} }

func newLaterProbe() *probe { return &probe{names: map[string]bool{}, shift: later} }

// functions are those that replace functions of templates.
func (p *probe) functions() template.FuncMap {
	all := sprig.TxtFuncMap()
	out := template.FuncMap{"keys": orderedKeys, "values": orderedValues}
	for _, name := range volatile {
		if f, ok := all[name]; ok {
			out[name] = p.noted(name, reflect.ValueOf(f))
		}
	}
	// The answer is that of `helm template`, which does not ask the cluster either.
	out["lookup"] = func(_, _, _, _ string) map[string]any {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.looked = true
		return map[string]any{}
	}
	out["now"] = func() time.Time { p.note("now"); return time.Now().Add(p.shift) }
	return out
}

func (p *probe) note(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.names[name] = true
}

// noted returns a function that does what f does and is noted when it is called.
func (p *probe) noted(name string, f reflect.Value) any {
	return reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
		p.note(name)
		if f.Type().IsVariadic() {
			return f.CallSlice(args)
		}
		return f.Call(args)
	}).Interface()
}

// used are the volatile functions that were called.
func (p *probe) used() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return sortedKeys(p.names)
}

// orderedKeys is the function keys, whose order is that of the map's memory
// otherwise.
func orderedKeys(dicts ...map[string]any) []string {
	var out []string
	for _, d := range dicts {
		out = append(out, slices.Sorted(maps.Keys(d))...)
	}
	return out
}

// orderedValues is the function values, in the order of the keys.
func orderedValues(dict map[string]any) []any {
	out := make([]any, 0, len(dict))
	for _, key := range sortedKeys(dict) {
		out = append(out, dict[key])
	}
	return out
}

// compare refuses templates whose objects are others at every rendering. Hooks may
// be: they are made again each time and are not part of the plan.
func (c *Chart) compare(first, second *Rendering, output map[string]string, p *probe, ps *vnfm.Problems) {
	used := p.used()
	detail := "plan and apply would differ; set the value in helm_parameters, so that the chart does not generate one"
	if p.looked {
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
		file, line, function := c.findCall(first, name, used)
		*ps = append(*ps, vnfm.Problem{
			File: file, Line: line,
			Summary: fmt.Sprintf("the template renders differently each time: it uses the function %s", function),
			Detail:  detail,
		})
	}
}

// findCall looks where a template calls one of the functions: in its own text, or
// in a helper.
func (c *Chart) findCall(r *Rendering, name string, used []string) (file string, line int, function string) {
	file, function = c.place(name), strings.Join(used, " or ")
	for _, t := range r.chart.Templates {
		if path := r.chart.ChartFullPath() + "/" + t.Name; path != name {
			continue
		}
		at := len(t.Data)
		for _, f := range used {
			if found := regexp.MustCompile(`\b` + f + `\b`).FindIndex(t.Data); found != nil && found[0] < at {
				at, function = found[0], f
				line = 1 + strings.Count(string(t.Data[:at]), "\n")
			}
		}
	}
	return file, line, cmp.Or(function, "of an unknown name")
}
