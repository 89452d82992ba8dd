package helm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	release "helm.sh/helm/v4/pkg/release/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/helper"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// A chart decides how long Helm's libraries work and how much memory they take: a template may
// loop, and an archive unpacks to a hundred times its size. So it is done in a helper
// process, and only texts come back.

// process is the function of the helper process.
var process = helper.New("helm", work)

func init() { process.Serve() }

// The limits of one task: those of the first MiB that is sent, and what each further
// MiB adds. The largest charts in use need less than half of the memory and, where page faults are quick, a sixth of the time.
const (
	firstMebibyte   = 1 << 20
	timeOfFirst     = 5 * time.Second
	timeOfFurther   = 5 * time.Second
	memoryOfFirst   = 192 << 20
	memoryOfFurther = 32 << 20
	// timeOfKeys is for a rendering that makes keys: one of RSA with 4096 bits takes a second.
	timeOfKeys = 30 * time.Second
)

func limitsFor(size int64) helper.Limits {
	further := max(0, size-firstMebibyte)
	return helper.Limits{
		CPU:    timeOfFirst + time.Duration(int64(timeOfFurther)/firstMebibyte*further),
		Memory: memoryOfFirst + memoryOfFurther/firstMebibyte*further,
	}
}

// limitsAre tells the user of the limits.
const limitsAre = "a chart has 5 s of processor time and 192 MiB of memory, and more when its files are larger than 1 MiB; look for a loop or a very long string in its templates and values"

// maxOutput bounds the texts that a chart gives, in bytes. A cluster takes none of
// more than 1.5 MiB as one object.
const maxOutput = 16 << 20

// task is what the helper process is to do.
type task struct {
	Do    action
	Chart sentChart
	// Options are for rendering. Their values, and those that are filled into Text, are
	// in Values as JSON: gob knows no null.
	Options Options
	Text    string
	Values  []byte
}

type action int

const (
	describing action = iota
	rendering
	filling
)

type sentChart struct {
	Path    string
	Archive []byte
	Files   []*archive.BufferedFile
}

// result is what came of a task.
type result struct {
	// Failed is the error of describing and filling, Problems are those of rendering.
	Failed   string
	Problems vnfm.Problems

	Described vnfm.Chart
	// Defaults are the values of the chart itself as JSON, Schema is what they and others have to meet.
	Defaults, Schema []byte
	Text             string
	Rendering        sentRendering
	// Lookups are set also where the chart fails.
	Lookups lookups
}

// sentRendering are the parts of a Rendering.
type sentRendering struct {
	// Chart is the chart as a record of a release has it.
	Chart           []byte
	Names           []string
	CRDs, Manifests []Manifest
	Sources         []templateOutput
	Hooks           []*release.Hook
	Notes           string
	Shown           []string
	NamesLater      bool
	Results         []byte
	ResultsSize     int
}

// work does a task. It runs in the helper process.
func work(t task) (r result) {
	values, err := received(t.Values)
	if err != nil {
		return result{Failed: err.Error()}
	}
	c := &Chart{path: t.Chart.Path, archive: t.Chart.Archive, files: t.Chart.Files}
	switch t.Do {
	case filling:
		r.Text, err = fill(t.Text, plainMap(values))
	case describing:
		var made *chart.Chart
		if made, err = c.assemble(); err == nil {
			r.Described = vnfm.Chart{Name: made.Name(), Version: made.Metadata.Version, AppVersion: made.Metadata.AppVersion}
			r.Schema = made.Schema
			r.Defaults, err = json.Marshal(made.Values)
		}
	case rendering:
		t.Options.Values = values
		var made *Rendering
		if made, r.Lookups, r.Problems = c.render(t.Options); made != nil {
			r.Rendering, err = made.sent()
		}
	}
	if err != nil {
		r.Failed = budget.Clip(err.Error())
	}
	r.Problems = r.Problems.Capped(mostProblems)
	for i := range r.Problems {
		p := &r.Problems[i]
		p.Summary, p.Detail = budget.Clip(p.Summary), budget.Clip(p.Detail)
	}
	return r
}

// mostProblems is how many problems of a chart are listed.
const mostProblems = 100

func (r *Rendering) sent() (sentRendering, error) {
	out := sentRendering{
		Names: r.names, CRDs: r.CRDs, Manifests: r.Manifests, Sources: r.sources, Hooks: r.records(), Notes: r.notes, Shown: r.shown,
		NamesLater: r.NamesLater, Results: r.Results, ResultsSize: r.ResultsSize,
	}
	var err error
	out.Chart, err = json.Marshal(r.chart)
	return out, err
}

// decoded reads JSON without a loss of digits.
func decoded[T any](text []byte) (out T, err error) {
	if len(text) == 0 {
		return out, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&out)
	return out, err
}

// ask has the helper process do a task.
func (c *Chart) ask(ctx context.Context, t task) (result, error) {
	t.Chart = sentChart{c.path, c.archive, c.files}
	size := int64(len(c.archive))
	for _, f := range c.files {
		size += int64(len(f.Data))
	}
	limits := limitsFor(size)
	if t.Options.Random == RandomKept {
		limits.CPU += timeOfKeys
	}
	return process.Call(ctx, limits, t)
}

// describe reads name and version of the chart.
func (c *Chart) describe(ctx context.Context) error {
	r, err := c.ask(ctx, task{Do: describing})
	switch limit := new(helper.LimitError); {
	case errors.As(err, &limit):
		return fmt.Errorf("reading the chart %w: %s", err, limitsAre)
	case err != nil:
		return err
	case r.Failed != "":
		return errors.New(r.Failed)
	}
	c.described, c.defaults, c.schema = r.Described, r.Defaults, r.Schema
	return nil
}

// Render renders the chart. Every problem is reported with the file of the package, and
// the line, as far as Helm tells them.
func (c *Chart) Render(ctx context.Context, o Options) (*Rendering, vnfm.Problems) {
	var notFound vnfm.Problems
	failed := map[string]error{}
	o.Asks = o.Lookup != nil
	for round := 0; ; round++ {
		made, wanted, ps := c.renderWith(ctx, o)
		if o.Lookup != nil && round < maxLookupRounds && o.search(ctx, wanted, failed, &notFound) {
			continue
		}
		later := o.unanswered(c, wanted, failed, &notFound)
		if later && ps.HasErrors() {
			// With the answers the template need not fail.
			made = c.unknown(o)
			for i := range ps {
				ps[i].Severity = vnfm.SeverityWarning
			}
		}
		if ps = append(ps, notFound...); ps.HasErrors() {
			return nil, ps
		}
		made.NamesLater, made.Unanswered = made.NamesLater || later, len(failed) > 0
		return made, ps
	}
}

// unknown is a rendering of which nothing is known before the apply.
func (c *Chart) unknown(o Options) *Rendering {
	return &Rendering{
		options: o, source: c, Unknown: true,
		chart: &chart.Chart{Metadata: &chart.Metadata{Name: c.described.Name, Version: c.described.Version}},
	}
}

// renderWith renders the chart with the answers of lookup that there are.
func (c *Chart) renderWith(ctx context.Context, o Options) (*Rendering, []Lookup, vnfm.Problems) {
	var ps vnfm.Problems
	t := task{Do: rendering, Options: o}
	t.Options.Values, t.Options.Lookup = nil, nil
	var err error
	if t.Values, err = sent(o.Values); err != nil {
		ps = append(ps, vnfm.Problem{Attribute: o.Attribute, Key: o.Key, Summary: fmt.Sprintf("the values cannot be given to the chart: %v", err), Detail: "give values that JSON has"})
		return nil, nil, ps
	}
	r, err := c.ask(ctx, t)
	switch limit := new(helper.LimitError); {
	case errors.As(err, &limit):
		ps = append(ps, vnfm.Problem{File: c.path, Summary: fmt.Sprintf("rendering the chart %v", err), Detail: limitsAre})
	case err != nil:
		//findings:says helm template with the same values shows more
		ps.Errorf(c.path, 0, 0, "cannot be rendered: %v", err)
	case r.Failed != "":
		//findings:says helm template with the same values shows more
		ps.Errorf(c.path, 0, 0, "cannot be rendered: %s", r.Failed)
	}
	vnfm.Conceal(ctx, r.Lookups.Secrets...)
	if ps = hide(append(ps, r.Problems...), r.Lookups.Secrets); ps.HasErrors() {
		return nil, r.Lookups.Wanted, ps
	}
	made, err := decoded[*chart.Chart](r.Rendering.Chart)
	if err != nil {
		//findings:says helm template with the same values shows more
		ps.Errorf(c.path, 0, 0, "cannot be rendered: %v", err)
		return nil, r.Lookups.Wanted, ps
	}
	out := &Rendering{
		options: o, source: c, chart: made, names: r.Rendering.Names, sources: r.Rendering.Sources, notes: r.Rendering.Notes, shown: r.Rendering.Shown,
		CRDs: r.Rendering.CRDs, Manifests: r.Rendering.Manifests, NamesLater: r.Rendering.NamesLater,
		Results: r.Rendering.Results, ResultsSize: r.Rendering.ResultsSize, ForeignSecrets: r.Lookups.Secrets,
	}
	for _, h := range r.Rendering.Hooks {
		out.Hooks = append(out.Hooks, newHook(c, h))
	}
	return out, r.Lookups.Wanted, ps
}

// hide returns problems without secrets: a template may put what it has looked up into its error.
func hide(ps vnfm.Problems, secrets []string) vnfm.Problems {
	mask := vnfm.NewMask(secrets...)
	for i := range ps {
		ps[i].Summary, ps[i].Detail = mask.Hide(ps[i].Summary), mask.Hide(ps[i].Detail)
	}
	return ps
}

// Fill fills values into one text that is not part of a chart, such as a patch of a
// ClusterClass: with the functions that templates of charts have as well, but for those
// that give something else at every call.
func Fill(ctx context.Context, text string, values map[string]any) (string, error) {
	sent, err := json.Marshal(values)
	if err != nil {
		return "", fmt.Errorf("filling the template: %w", err)
	}
	r, err := process.Call(ctx, limitsFor(int64(len(text))), task{Do: filling, Text: text, Values: sent})
	switch {
	case err != nil:
		return "", fmt.Errorf("filling the template: %w", err)
	case r.Failed != "":
		return "", errors.New(r.Failed)
	}
	return r.Text, nil
}
