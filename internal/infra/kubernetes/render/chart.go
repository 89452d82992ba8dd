package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Labels and annotations that Helm sets on the objects of a release. Helm's command can take over only objects that have them.
const (
	labelManagedBy             = "app.kubernetes.io/managed-by"
	AnnotationReleaseName      = "meta.helm.sh/release-name"
	AnnotationReleaseNamespace = "meta.helm.sh/release-namespace"
	// AnnotationResourcePolicy with the value PolicyKeep keeps an object when its release is deleted.
	AnnotationResourcePolicy = "helm.sh/resource-policy"
	PolicyKeep               = "keep"
)

// chart is a Helm chart in the package. It implements source.
type chart struct {
	path   string
	params *chartParams
}

// ChartRelease is the release of a chart: hooks, values and record, without the objects.
type ChartRelease struct {
	*helm.Rendering
	Hooks []*Hook
	// CountValues maps VDU ids to the paths of the values for their counts.
	CountValues map[string]string
	// Tested is set when a revision counts as deployed only if its tests succeed.
	Tested bool
	Digest string
	// given are the values in helm_parameters without secrets, defaults the values of the chart.
	given, defaults map[string]any
	// shown are the parameters other than helm_parameters that contain secrets in clear.
	shown []string
}

// Hook is a hook of a chart with its object.
type Hook struct {
	*helm.Hook
	Object *Object
}

func (c *chart) manifests(b *budget.Budget, t *vnfm.Target, r *Rendering, ps *vnfm.Problems) []manifest {
	loaded, err := helm.Load(b.Context(), t.Package.ContentIn(b.Context()), c.path)
	if err != nil {
		ps.Errorf(c.path, 0, 0, "%v", err)
		return nil
	}
	values, secrets := c.params.valuesFor(t, ps)
	options := helm.Options{
		Release: c.params.release, Namespace: r.namespace, Values: values, Secrets: secrets,
		KubeVersion: c.params.kubeVersion, APIVersions: c.params.apiVersions,
		Lookup: r.lookup, Attribute: vnfm.AttributeParams, SecretAttribute: vnfm.AttributeSecretParams, Key: paramValues,
	}
	if options.Release == "" {
		options.Release = helm.ReleaseName(cmp.Or(t.Instance.Name, productName(t.Package)))
	}
	if ps.HasErrors() {
		return nil
	}
	rendered := renderChart(b, t, loaded, &options, r.keeps, ps)
	if rendered == nil {
		return nil
	}
	r.namesLater = rendered.NamesLater
	r.Release = &ChartRelease{Rendering: rendered, CountValues: c.params.replicas, Tested: c.params.tested, given: c.params.values, shown: c.params.shown}
	if inputs, err := loaded.Inputs(); err == nil && len(c.params.values) > 0 {
		r.Release.defaults = inputs.Defaults
	}
	r.Release.readHooks(b, ps)
	var out []manifest
	for _, definition := range rendered.CRDs {
		for _, m := range decodeRendered(b, definition.File, definition.Text, ps) {
			m.shared = true
			m.annotate("annotations", map[string]any{AnnotationResourcePolicy: PolicyKeep})
			out = append(out, m)
		}
	}
	for _, template := range rendered.Manifests {
		for _, m := range decodeRendered(b, template.File, template.Text, ps) {
			m.annotate("labels", map[string]any{labelManagedBy: "Helm"})
			m.annotate("annotations", map[string]any{AnnotationReleaseName: options.Release, AnnotationReleaseNamespace: options.Namespace})
			m.later = template.Later
			out = append(out, m)
		}
	}
	return out
}

// productName is the name of a release that is rendered without an instance.
func productName(p *vnfm.Package) string {
	if p.Descriptor == nil {
		return ""
	}
	return p.Descriptor.ProductName
}

// annotate sets labels or annotations. It ignores metadata that is not a mapping, which renderObject reports.
func (m *manifest) annotate(field string, entries map[string]any) {
	meta, ok := m.Content["metadata"].(map[string]any)
	if !ok {
		return
	}
	if old, isMap := meta[field].(map[string]any); meta[field] == nil || isMap {
		meta[field] = kube.Merged(old, entries)
	}
}

// readHooks renders the objects of the hooks that run.
func (c *ChartRelease) readHooks(b *budget.Budget, ps *vnfm.Problems) {
	for _, h := range c.Rendering.Hooks {
		if !h.Runs(c.Tested) {
			continue
		}
		for _, m := range decodeRendered(b, h.File, h.Text, ps) {
			if o := renderObject(&m, ps); o != nil {
				c.Hooks = append(c.Hooks, &Hook{Hook: h, Object: o})
			}
		}
	}
}

// checkCount checks that the value in CountValues sets the replicas of a VDU.
func (c *ChartRelease) checkCount(vdu string, o *Object, replicas any, count int, ps *vnfm.Problems) {
	name, ok := c.CountValues[vdu]
	if !ok || replicas == nil || replicas == int64(count) {
		return
	}
	badParam(ps, paramValueNames, fmt.Sprintf("names a value %q that is not the count of VDU %q", name, vdu),
		fmt.Sprintf("with that value at %d, %s (%s) has %v replicas", count, o.Key, o.Place(), replicas))
}

// workloadNames are the possible names of a VDU's workload: the name of the VDU, alone and combined with the names of the
// release, the chart and its sub-charts. Charts for Tacker append the name of the release.
func (c *ChartRelease) workloadNames(vdu *vnfm.VDU) []string {
	release := c.ReleaseName()
	out := []string{vdu.Name, release + "-" + vdu.Name, vdu.Name + "-" + release}
	for _, chart := range c.ChartNames() {
		if name := release + "-" + chart + "-" + vdu.Name; !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if strings.Contains(release, vdu.Name) {
		// Charts do not repeat their name if the name of the release contains it.
		out = append(out, release)
	}
	return out
}

// nameLabels are the labels with which charts distinguish their workloads.
var nameLabels = []string{"app.kubernetes.io/component", "app.kubernetes.io/name"}

// running names the Jobs and pods of the hooks at some events, in their order. Other objects of hooks do not run.
func (c *ChartRelease) running(events ...helm.Event) []string {
	var out []string
	for _, e := range events {
		for _, h := range c.HooksAt(e) {
			at := slices.IndexFunc(c.Hooks, func(own *Hook) bool { return own.Hook == h })
			if at < 0 || !slices.Contains([]string{"Job", "Pod"}, c.Hooks[at].Object.GVK.Kind) {
				continue
			}
			o := c.Hooks[at].Object
			out = append(out, fmt.Sprintf("%s hook %s %s", e, o.GVK.Kind, o.Name))
		}
	}
	return out
}

// HookObjects are the objects of all hooks.
func (r *Rendering) HookObjects() []*Object {
	if r.Release == nil {
		return nil
	}
	out := make([]*Object, 0, len(r.Release.Hooks))
	for _, h := range r.Release.Hooks {
		out = append(out, h.Object)
	}
	return out
}

// The release of a chart is listed among the objects of its instance, although its records are Secrets: a plan then shows
// changes by Helm's command, and the next apply reverts them in a new revision.

// releaseKind is the kind of a release in the list of objects.
const releaseKind = "helm.sh/v1/Release"

// Key is the identity of the release among the objects.
func (c *ChartRelease) Key() string { return releaseKind + " " + c.ReleaseName() }

// Record is the desired record of the release.
func (c *ChartRelease) Record() *helm.Release {
	return c.Release(1, time.Time{}, helm.Deployed, "")
}

// setDigest computes the digest of the release over chart, values and objects. The digest is keyed because values may be secrets.
func (c *ChartRelease) setDigest(key []byte) error {
	content, err := c.Record().Content()
	if err != nil {
		return err
	}
	c.Digest = digest.Short(key, content)
	return nil
}
