package kubernetes

import (
	"bytes"
	"context"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Preview renders the target offline: what its VDUs and objects will be. Problems
// that are errors leave no preview.
func Preview(ctx context.Context, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
	r, ps := render(budget.New(ctx, budget.Limits{}), t)
	if ps.HasErrors() {
		return nil, ps
	}
	return r.preview(t), ps
}

// preview is what the target will consist of.
func (r *rendering) preview(t *vnfm.Target) *vnfm.Preview {
	preview := &vnfm.Preview{
		FlavourID:   t.Flavour.ID,
		LevelID:     t.Instance.LevelID,
		ScaleStatus: t.Instance.ScaleStatus,
		VDUs:        r.states,
		Objects:     r.digests(),

		NamespaceNeeded: namespaceNeeded(t, r),
	}
	if r.release != nil {
		for _, way := range r.release.ShownSecrets() {
			preview.ShownSecrets = append(preview.ShownSecrets, paramValues+"."+way)
		}
	}
	if t.Package.Descriptor != nil {
		preview.VNFDID = t.Package.Descriptor.ID
	}
	return preview
}

// namespaceNeeded reports whether the objects are others as soon as the namespace of
// the instance is known: those of a chart name it.
func namespaceNeeded(t *vnfm.Target, r *rendering) bool {
	_, given := t.Instance.AdditionalParams[paramNamespace]
	return r.release != nil && !given && t.VIM == nil && t.Instance.Namespace == ""
}

// digests maps the identity of each object as written to its digest, and so it does
// with the release of a chart.
func (r *rendering) digests() map[string]string {
	out := make(map[string]string, len(r.objects)+1)
	for _, o := range r.objects {
		out[o.key] = o.digest
	}
	if r.release != nil {
		out[r.release.key()] = r.release.digest
	}
	return out
}

// YAML is Preview with the objects as YAML, as they are applied: with the replicas of
// their VDUs, without the labels and annotations that tell whose they are. The values of
// Secrets are masked.
func YAML(ctx context.Context, t *vnfm.Target) (*vnfm.Rendering, vnfm.Problems) {
	r, ps := render(budget.New(ctx, budget.Limits{}), t)
	if ps.HasErrors() {
		return nil, ps
	}
	out := &vnfm.Rendering{Preview: *r.preview(t), Contents: make(map[string]string, len(r.objects))}
	for _, o := range r.objects {
		text, err := o.text()
		if err != nil {
			o.problem(&ps, err.Error(), "")
			return nil, ps
		}
		out.Contents[o.key] = text
	}
	return out, ps
}

// text renders an object for people.
func (o *object) text() (string, error) {
	content := o.content
	if o.scaling != nil && o.scaling.ours() {
		content = kube.Merged(content, nil)
		kube.SetNested(content, o.scaling.count, o.scaling.path...)
	}
	if data, ok := content["data"].(map[string]any); ok && o.isSecret() {
		masked := make(map[string]any, len(data))
		for name := range data {
			masked[name] = vnfm.Secret("").String()
		}
		content = kube.Merged(content, map[string]any{"data": masked})
	}
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(content); err != nil {
		return "", fmt.Errorf("writing %s as YAML: %w", o.key, err)
	}
	return b.String(), encoder.Close()
}
