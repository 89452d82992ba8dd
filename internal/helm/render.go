package helm

import (
	"context"
	"fmt"
	"maps"
	"path"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	release "helm.sh/helm/v4/pkg/release/v1"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"

	"github.com/nfv-iac/terraform-provider-vnf/internal/document"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Options say what a chart is rendered as.
type Options struct {
	Release, Namespace string
	// Values are laid over those of the chart.
	Values map[string]any
	// Secrets are the ways to those of Values, by keys and indices, that no text may repeat.
	Secrets [][]string
	// Attribute and Key are the argument that gives Values, for what is wrong with them, and
	// SecretAttribute and Key the one that gives Secrets.
	Attribute, SecretAttribute, Key string
	// KubeVersion is the version of Kubernetes that templates see; empty means
	// AssumedKubernetes. APIVersions are there besides the stable ones of Kubernetes.
	KubeVersion string
	APIVersions []string
	// Random says what becomes of functions that give something else at every call. Results
	// are those that are remembered, as an earlier Rendering.Results has them, and Regenerate,
	// unless it is nil, says which of them are made again.
	Random     Randomness
	Results    []byte
	Regenerate *vnfm.RegenerateSpec
	// Before are the Results as they were before the update that renders: whatever it changes is one revision. Nil stands for Results.
	Before []byte
	// New is set for a release that was never deployed, which is installed. Restores renders inputs as the revision that they were.
	New, Restores bool
	// Lookup finds what templates look up; nil finds nothing but recorded Secrets. Asks is set when there is one, and Found are its
	// answers so far.
	Lookup func(ctx context.Context, wanted []Lookup) ([]Found, error)
	Asks   bool
	Found  map[string][]byte
	// Recorded is the manifest of an adopted release, installed from the chart before. Unless there are Results, what it shows of results is
	// taken for remembered.
	Recorded string
}

// Manifest is one document of YAML, or one file of them, that a chart gives.
type Manifest struct {
	// File is the template, as a path inside the package.
	File string
	Text string
	// Later is set when the text depends on results of functions that are not made yet.
	Later bool
}

// Rendering is a chart as rendered.
type Rendering struct {
	options Options
	source  *Chart
	// chart is without its sub-charts, whose names, after its own, are in names.
	chart *chart.Chart
	names []string
	// CRDs are the files of the chart's crds/ directories.
	CRDs []Manifest
	// Manifests are the objects of the release, in the order in which Helm
	// would install them.
	Manifests []Manifest
	Hooks     []*Hook
	// NamesLater is set when it depends on results of functions that are not made yet which
	// objects there are.
	NamesLater bool
	// Results are what the next rendering is to remember, with RandomKept; nil for nothing.
	// ResultsSize is how many bytes they will have, with RandomPlanned.
	Results     []byte
	ResultsSize int
	// ForeignSecrets are the values of Secrets of others that templates have looked up. Unanswered is set when a lookup has no answer.
	ForeignSecrets []string
	Unanswered     bool
	// Unknown is set in a plan in which the chart cannot be rendered without these answers: it has no objects then.
	Unknown bool

	// sources are the manifests by the names of their templates, as records have them.
	sources []templateOutput
	notes   string
	shown   []string
}

// ShownSecrets are the paths of values that schemas of the chart declare to be secret and that
// are none of Options.Secrets.
func (r *Rendering) ShownSecrets() []string { return r.shown }

// ReleaseName is the name of the release.
func (r *Rendering) ReleaseName() string { return r.options.Release }

// Chart is the name and the version of the chart.
func (r *Rendering) Chart() (name, version string) { return r.chart.Name(), r.chart.Metadata.Version }

// templateOutput is what a template gives.
type templateOutput struct {
	Name, Content string
	// Identity is version, kind and name of the object.
	Identity string
}

// ChartNames are the names of the chart and of its sub-charts that are enabled, the
// outer ones first, as their templates see them.
func (r *Rendering) ChartNames() []string { return r.names }

func namesOf(made *chart.Chart) []string {
	var names []string
	for level := []*chart.Chart{made}; len(level) > 0; {
		var next []*chart.Chart
		for _, c := range level {
			names = append(names, c.Name())
			next = append(next, c.Dependencies()...)
		}
		level = next
	}
	return names
}

// render renders the chart in this process. Every problem is reported with the file of the
// package, and the line, as far as Helm tells them. The lookups are returned in any case.
func (c *Chart) render(o Options) (*Rendering, lookups, vnfm.Problems) {
	var ps vnfm.Problems
	caps, err := o.capabilities()
	if err != nil {
		//findings:says write helm_kube_version as three numbers, for example 1.34.0
		ps.Errorf(c.path, 0, 0, "%q is not a version of Kubernetes", o.KubeVersion)
		return nil, lookups{}, ps
	}
	known, revision, err := c.remembered(&o)
	if err != nil {
		c.problem(&ps, err)
		return nil, lookups{}, ps
	}
	now := time.Now()
	in := func(p pass) (*Rendering, map[string]string, *calls) {
		k := newCalls(&o, known, revision, p, now)
		if p == settling && o.Random == RandomPlanned {
			k.standing = map[string]*Call{}
		}
		r, output := c.renderOnce(o, caps, k, &ps)
		return r, output, k
	}
	r, output, k := in(scanning)
	if k.volatile() && !ps.HasErrors() {
		if o.Random != RandomRefused && o.Recorded != "" && len(o.Results) == 0 {
			known = c.seeds(o, caps, revision, now, &ps)
		}
		r, output, k = in(settling)
	}
	looked := k.lookups(r)
	if !ps.HasErrors() && k.stoodIn {
		again, _, _ := in(varying)
		switch {
		case ps.HasErrors():
		case o.Random == RandomRefused:
			c.refuse(r, again, output, k, &ps)
		default:
			r.markLater(again)
		}
	}
	if ps.HasErrors() {
		return nil, looked, ps
	}
	c.warnExpiry(k, &ps)
	c.warnExponents(&o, r, &ps)
	c.warnBooleans(&o, r, &ps)
	k.warnUnselected(&ps)
	if o.Random != RandomRefused {
		if err := r.remember(k); err != nil {
			c.problem(&ps, err)
		}
	}
	return r, looked, ps
}

// remembered unpacks the chart and reads what is remembered, and as which revision the chart is rendered.
func (c *Chart) remembered(o *Options) (*Results, Revision, error) {
	known, err := decodeResults(o.Results)
	before := known
	if err == nil && o.Before != nil {
		before, err = decodeResults(o.Before)
	}
	if err == nil {
		err = c.unpack()
	}
	if err != nil {
		return nil, Revision{}, err
	}
	inputs, err := c.inputs(o)
	return known, known.revision(o, before, inputs), err
}

// remember notes the results that the next rendering is to remember or, in a plan, how large they will be: what stands in for a result
// has its size, or is smaller.
func (r *Rendering) remember(k *calls) error {
	maps.Copy(k.used, k.standing)
	packed, err := k.after(r).encode()
	if k.options.Random == RandomKept {
		r.Results = packed
	} else {
		r.ResultsSize = len(packed)
	}
	return err
}

// renderOnce renders the chart once. The output is that of every template by name.
func (c *Chart) renderOnce(o Options, caps *common.Capabilities, k *calls, ps *vnfm.Problems) (*Rendering, map[string]string) {
	made, err := c.assemble()
	if err != nil {
		c.problem(ps, err)
		return nil, nil
	}
	if p := c.unfit(made, caps.KubeVersion.Version, "is rendered for "+caps.KubeVersion.Version); p != nil {
		p.Detail = "set the parameter helm_kube_version to render the chart for another version"
		*ps = append(*ps, *p)
		return nil, nil
	}
	config := copied(o.Values) // which dependencies change
	if err := chartutil.ProcessDependencies(made, config); err != nil {
		c.problem(ps, err)
		return nil, nil
	}
	n := k.revision.Number
	as := common.ReleaseOptions{Name: o.Release, Namespace: o.Namespace, Revision: n, IsInstall: n == 1, IsUpgrade: n > 1}
	values, err := util.ToRenderValuesWithSchemaValidation(made, config, as, caps, true)
	if err != nil {
		c.problem(ps, err)
		return nil, nil
	}
	merged, err := values.Table("Values")
	if err != nil {
		merged = common.Values{}
	}
	if c.checkSchemas(made, o, merged.AsMap(), ps); ps.HasErrors() {
		return nil, nil
	}
	restore := func() {}
	if k.pass != scanning {
		// The places in errors are those of the templates as they are.
		restore = markFiles(made)
	}
	// The context is for requests of Helm's own lookup. The process of a rendering ends by its own limits.
	output, err := engine.Engine{CustomTemplateFuncs: k.functions()}.RenderWithContext(context.Background(), made, values)
	restore()
	if err != nil {
		c.problem(ps, err)
		return nil, nil
	}
	if err := checkSize(made, output); err != nil {
		c.problem(ps, err)
		return nil, nil
	}
	r := &Rendering{options: o, chart: made, names: namesOf(made), source: c, shown: shownSecrets(made, o)}
	r.takeNotes(output)
	if err := r.sort(c, output); err != nil {
		c.problem(ps, err)
		return nil, nil
	}
	for _, crd := range made.CRDObjects() {
		r.CRDs = append(r.CRDs, Manifest{File: c.place(crd.Filename), Text: string(crd.File.Data)})
	}
	return r, output
}

// checkSize refuses a chart that gives too much, before anything of it is parsed.
func checkSize(made *chart.Chart, output map[string]string) error {
	size := 0
	for _, text := range output {
		size += len(text)
	}
	for _, crd := range made.CRDObjects() {
		size += len(crd.File.Data)
	}
	if size > maxOutput {
		return fmt.Errorf("the chart renders %d MiB of objects, and at most %d are allowed", size>>20, maxOutput>>20)
	}
	return nil
}

// notesFile is the template whose output is for people.
const notesFile = "NOTES.txt"

func (r *Rendering) takeNotes(output map[string]string) {
	for name, text := range output {
		if path.Base(name) != notesFile {
			continue
		}
		if name == path.Join(r.chart.Name(), "templates", notesFile) {
			r.notes = text
		}
		delete(output, name)
	}
}

// sort tells objects from hooks, both in the order of their kinds.
func (r *Rendering) sort(c *Chart, output map[string]string) error {
	hooks, manifests, err := releaseutil.SortManifests(output, nil, releaseutil.InstallOrder)
	if err != nil {
		return err
	}
	for _, m := range manifests {
		identity := ""
		if m.Head != nil && m.Head.Metadata != nil {
			identity = m.Head.Version + " " + m.Head.Kind + " " + m.Head.Metadata.Name
		}
		r.sources = append(r.sources, templateOutput{m.Name, m.Content, identity})
		// Helm ends each document with a line break when it installs the whole text. A block of text at the end of an object is another
		// value without it.
		r.Manifests = append(r.Manifests, Manifest{File: c.place(m.Name), Text: m.Content + "\n"})
	}
	for _, h := range hooks {
		r.Hooks = append(r.Hooks, newHook(c, h))
	}
	return nil
}

// manifest is the text that Helm keeps of the objects of a release.
func (r *Rendering) manifest() string {
	var b strings.Builder
	for _, m := range r.sources {
		fmt.Fprintf(&b, "---\n# Source: %s\n%s\n", m.Name, m.Content)
	}
	return b.String()
}

// records are the hooks as Helm keeps them.
func (r *Rendering) records() []*release.Hook {
	out := make([]*release.Hook, 0, len(r.Hooks))
	for _, h := range r.Hooks {
		out = append(out, h.record)
	}
	return out
}

// copied copies values.
func copied(values map[string]any) map[string]any {
	out, _ := document.Clone(values).(map[string]any)
	if out == nil {
		return map[string]any{}
	}
	return out
}

// plainMap copies values as plain does.
func plainMap(values map[string]any) map[string]any {
	copied, _ := plain(values).(map[string]any)
	if copied == nil {
		return map[string]any{}
	}
	return copied
}
