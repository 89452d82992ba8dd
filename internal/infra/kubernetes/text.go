package kubernetes

import (
	"bytes"
	"context"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Render is Preview with the objects as YAML, as they are applied: with the replicas
// of their VDUs, without the labels and annotations that tell whose they are. The
// values of Secrets are masked.
func (d *Driver) Render(ctx context.Context, t *vnfm.Target) (*vnfm.Rendering, vnfm.Problems) {
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
		content = merged(content, nil)
		setCopied(content, o.scaling.count, o.scaling.path)
	}
	if data, ok := content["data"].(map[string]any); ok && o.isSecret() {
		masked := make(map[string]any, len(data))
		for name := range data {
			masked[name] = vnfm.Secret("").String()
		}
		content = merged(content, map[string]any{"data": masked})
	}
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(content); err != nil {
		return "", fmt.Errorf("writing %s as YAML: %w", o.key, err)
	}
	return b.String(), encoder.Close()
}
