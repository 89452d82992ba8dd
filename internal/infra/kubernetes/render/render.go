// Package render makes the objects of a VNF instance from the Kubernetes manifests or the Helm chart of its package, or from a VNFD
// that describes containers. It checks the parameters of the instance, binds each VDU to its workload and computes digests. It
// works offline, except for lookups of charts: the same target gives the same objects on every machine.
package render

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/translate"
	"github.com/nfv-iac/terraform-provider-vnf/internal/manifests"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Render makes the objects of a target from their source, binds the VDUs to their workloads and computes the digests. It needs
// neither the VIM nor its credentials. The budget limits the cost of reading.
func Render(b *budget.Budget, t *vnfm.Target) (*Rendering, vnfm.Problems) {
	return render(b, t, false, nil)
}

// lookup answers the lookups of a chart; a nil lookup finds nothing.
type lookup func(ctx context.Context, wanted []helm.Lookup) ([]helm.Found, error)

// render is Render, or Make if keeps is set.
func render(b *budget.Budget, t *vnfm.Target, keeps bool, find lookup) (*Rendering, vnfm.Problems) {
	var ps vnfm.Problems
	if t.Package.Content == nil {
		//findings:says apply the vnf_package again, which puts the content into the store
		ps.Errorf("", 0, 0, "the content of package %q is not available", t.Package.ID)
		return nil, ps
	}
	p := readParams(t, &ps)
	r := &Rendering{namespace: InstanceNamespace(t), keeps: keeps, lookup: find, Definitions: map[schema.GroupKind]*Definition{}}
	if src := sourceOf(t, &p, &ps); src != nil {
		for _, m := range src.manifests(b, t, r, &ps) {
			if o := renderObject(&m, &ps); o != nil {
				r.Objects = append(r.Objects, o)
			}
		}
	}
	r.markLater(t.Package)
	for _, o := range r.Objects {
		if d := DefinitionOf(o); d != nil {
			r.Definitions[schema.GroupKind{Group: d.Group, Kind: d.Kind}] = d
		}
	}
	r.nameRequests()
	moved := r.overrideNamespace(p.namespace)
	r.checkDuplicates(&ps)
	t.Blame(ps)
	if ps.HasErrors() {
		// Later checks would repeat these problems: a VDU whose manifest cannot be read has no workload either.
		return r, ps
	}
	if r.Release != nil && r.Release.Unknown {
		return r, ps
	}
	r.dropIgnored(p.ignored, &ps)
	if len(t.AvailabilityZones) > 0 && t.Part == nil {
		ps.Invalid(vnfm.AttributeZones, "a Kubernetes VIM has no availability zones of servers", "remove the argument: nodes are chosen by the manifests or the VNFD")
	}
	r.bindVDUs(t, p.mapping, &ps)
	r.bindAutoscaled(t, &ps)
	r.markConfiguration(t.DigestKey, &ps)
	r.setRules(t.Instance.Readiness, &ps)
	r.setDigests(t, &ps)
	r.selectPart(t.Part, &ps)
	r.warnMoved(moved, p.namespace, &ps)
	return r, ps
}

// source is the description of an instance's objects: manifests, a chart or a VNFD.
type source interface {
	// manifests returns the objects as written, with their places. It adds the release of a chart to the rendering.
	manifests(b *budget.Budget, t *vnfm.Target, r *Rendering, ps *vnfm.Problems) []manifest
}

// sourceOf returns the source that package and parameters select, or nil with a problem.
func sourceOf(t *vnfm.Target, p *params, ps *vnfm.Problems) source {
	_, files := t.Instance.AdditionalParams[paramFiles]
	charts := t.Flavour.MCIOPs
	switch {
	case files && len(p.chart.given) > 0:
		badParam(ps, p.chart.given[0], "contradicts "+paramFiles, "an instance consists of manifests or of a chart")
	case files:
		return manifestFiles(p.files)
	case p.chart.refused:
	case slices.Contains(p.chart.given, paramChart):
		// Reading the parameter has already reported a chart that is not in the package.
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

// HasChart reports whether the source of an instance is a chart.
func HasChart(t *vnfm.Target) bool {
	var ps vnfm.Problems
	p := readParams(t, &ps)
	_, ok := sourceOf(t, &p, &ps).(*chart)
	return ok
}

// source returns the chart at a path as source; nil if the path is empty.
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
	type read struct {
		manifests []manifest
		problems  vnfm.Problems
	}
	content := t.Package.ContentIn(b.Context())
	all := budget.Each(b, len(files), func(b *budget.Budget, i int) (out read) {
		out.manifests = asWritten(manifests.Read(b, content, files[i], &out.problems))
		return out
	})
	var out []manifest
	for _, file := range all {
		out, *ps = append(out, file.manifests...), append(*ps, file.problems...)
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
		out = append(out, manifest{Manifest: manifests.Manifest{
			File: m.Place.File, Node: &yaml.Node{Line: m.Place.Line, Column: m.Place.Column}, Content: m.Content,
		}})
	}
	return out
}

// Decode returns the objects of a rendered template without unreadable documents.
func Decode(b *budget.Budget, file, text string) []*Object {
	var out []*Object
	var ps vnfm.Problems
	for _, m := range decodeRendered(b, file, text, &ps) {
		if o := renderObject(&m, &ps); o != nil {
			out = append(out, o)
		}
	}
	return out
}

// checkDuplicates rejects two manifests of the same object with different contents. Equal manifests become one: charts repeat an
// object that two templates need.
func (r *Rendering) checkDuplicates(ps *vnfm.Problems) {
	seen := make(map[Identity]*Object, len(r.Objects))
	r.Objects = slices.DeleteFunc(r.Objects, func(o *Object) bool {
		id := Identity{o.GVK.Group, o.GVK.Kind, o.namespace, o.Name}
		if id.Namespace == "" {
			id.Namespace = r.namespace
		}
		first, twice := seen[id]
		if !twice {
			seen[id] = o
			return false
		}
		if reflect.DeepEqual(first.Content, o.Content) {
			return true
		}
		o.Problem(ps, fmt.Sprintf("%s is defined twice", o.Key), "the first one is in "+first.Place())
		return false
	})
}

// setDigests computes the digests of all objects.
func (r *Rendering) setDigests(t *vnfm.Target, ps *vnfm.Problems) {
	later := r.namesLater
	for _, o := range slices.Concat(r.Objects, r.HookObjects()) {
		if o.later {
			later = true
			continue
		}
		// A template can write a secret into any object.
		secret := len(t.SecretParams) > 0 || r.Release != nil && len(r.Release.ForeignSecrets) > 0
		o.keyed = o.keyed || secret
		sum, err := objectDigest(o, t.DigestKey)
		if err != nil {
			o.Problem(ps, err.Error(), "")
			continue
		}
		if secret && sum != "" {
			sum = digest.Short(t.DigestKey, []byte(sum))
		}
		if o.IsRequest() && sum != "" {
			sum = vnfm.Posted + sum
		}
		o.Digest = sum
	}
	if r.Release == nil || len(t.DigestKey) == 0 || later {
		return
	}
	if err := r.Release.setDigest(t.DigestKey); err != nil {
		ps.Errorf("", 0, 0, "%v", err)
	}
}

// UsesDigestKey reports whether a digest of the rendering depends on the key.
func (r *Rendering) UsesDigestKey() bool {
	return r.Release != nil || slices.ContainsFunc(r.Objects, func(o *Object) bool { return o.keyed })
}
