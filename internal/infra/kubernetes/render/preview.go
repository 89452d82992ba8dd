package render

import (
	"bytes"
	"context"
	"fmt"
	"maps"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/fielddiff"
	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Preview renders the target offline. It returns no preview if a problem is an error.
func (k *Renderings) Preview(ctx context.Context, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
	r, ps := k.Render(ctx, t)
	if r != nil && r.Release != nil && !ps.HasErrors() {
		if p := r.Release.CheckRecord(); p != nil {
			ps = append(ps, *p)
		}
	}
	if ps.HasErrors() {
		return nil, ps
	}
	return r.preview(t), ps
}

// preview describes the rendered target.
func (r *Rendering) preview(t *vnfm.Target) *vnfm.Preview {
	preview := &vnfm.Preview{
		FlavourID:   t.Flavour.ID,
		LevelID:     t.Instance.LevelID,
		ScaleStatus: t.Instance.ScaleStatus,
		VDUs:        maps.Clone(r.States),
		Objects:     r.digests(),

		NamespaceNeeded: namespaceNeeded(t, r),
		NamesLater:      r.namesLater,
	}
	if r.Release != nil {
		preview.ShownSecrets = append(preview.ShownSecrets, r.Release.shown...)
		for _, way := range r.Release.ShownSecrets() {
			preview.ShownSecrets = append(preview.ShownSecrets, paramValues+"."+way)
		}
	}
	if t.Package.Descriptor != nil {
		preview.VNFDID = t.Package.Descriptor.ID
	}
	return preview
}

// namespaceNeeded reports whether the objects depend on an unknown namespace: templates of a chart can use the namespace of the
// release.
func namespaceNeeded(t *vnfm.Target, r *Rendering) bool {
	_, given := t.Instance.AdditionalParams[paramNamespace]
	return r.Release != nil && !given && t.VIM == nil && t.Instance.Namespace == ""
}

// digests maps the identity of each object, and of the release of a chart, to its digest.
func (r *Rendering) digests() map[string]string {
	out := make(map[string]string, len(r.Objects)+1)
	for _, o := range r.Objects {
		out[o.Key] = o.Digest
	}
	if r.Release != nil {
		out[r.Release.Key()] = r.Release.Digest
	}
	return out
}

// YAML is Preview with the applied objects as YAML: with the replicas of their VDUs, without the labels and annotations of the
// driver. The values of Secrets and the tokens of reviews are masked. Unknown fields and missing required ones are warnings.
func (k *Renderings) YAML(ctx context.Context, t *vnfm.Target) (*vnfm.Rendering, vnfm.Problems) {
	r, ps := k.Render(ctx, t)
	if ps.HasErrors() {
		return nil, ps
	}
	out := &vnfm.Rendering{Preview: *r.preview(t), Contents: make(map[string]string, len(r.Objects))}
	for _, o := range r.Objects {
		if t.Compared {
			break
		}
		text, err := o.text()
		if err != nil {
			o.Problem(&ps, err.Error(), "")
			return nil, ps
		}
		out.Contents[o.Key] = text
		ps = append(ps, o.warnings...)
	}
	out.Fields, out.Units = r.fields(t.DigestKey), r.units(t.Counts, t.ReplaceObjects)
	out.Kept = r.kept()
	if c := r.Release; c != nil {
		out.Revision = c.Digest
		out.Created = vnfm.RenderedHooks{Before: c.running(helm.PreInstall), After: c.running(helm.PostInstall, helm.Test)}
		out.Upgraded = vnfm.RenderedHooks{Before: c.running(helm.PreUpgrade), After: c.running(helm.PostUpgrade, helm.Test)}
	}
	return out, ps
}

// fields maps keys to objects, and to the release, for comparisons. Objects that are not completely known are left out.
func (r *Rendering) fields(key []byte) map[string]any {
	out := make(map[string]any, len(r.Objects)+1)
	for _, o := range r.Objects {
		if !o.later {
			out[o.Key] = o.compared(key)
		}
	}
	if r.Release != nil {
		chart, version := r.Release.Chart()
		out[r.Release.Key()] = map[string]any{"chart": chart, "version": version}
	}
	return out
}

// kept are the objects that stay when they leave the package, and the StatefulSets whose volume claims stay.
func (r *Rendering) kept() map[string]string {
	out := map[string]string{}
	for _, o := range r.Objects {
		switch group := o.GVK.GroupKind().String(); {
		case group == "PersistentVolumeClaim", o.Field("metadata", "annotations", AnnotationResourcePolicy) == PolicyKeep:
			out[o.Key] = o.Key
		case group == "StatefulSet.apps" && o.Field("spec", "volumeClaimTemplates") != nil &&
			o.Field("spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted") != "Delete":
			out[o.Key] = "volume claims of " + o.Key
		}
	}
	return out
}

// compared is the content of an object with keyed digests for the values of a Secret.
func (o *Object) compared(key []byte) any {
	data, ok := o.Content["data"].(map[string]any)
	if !ok || !o.isSecret() {
		return o.Content
	}
	digests := make(map[string]any, len(data))
	for name, value := range data {
		digests[name] = fielddiff.Secret("")
		if len(key) > 0 {
			digests[name] = fielddiff.Secret(digest.Keyed(key, []byte(fmt.Sprint(value))))
		}
	}
	return kube.Merged(o.Content, map[string]any{"data": digests})
}

// text is the YAML of an object.
func (o *Object) text() (string, error) {
	content := o.Content
	if o.Scaling != nil && o.Scaling.DriverOwned() {
		content = kube.Merged(content, nil)
		kube.SetNested(content, o.Scaling.Count, o.Scaling.Path...)
	}
	if data, ok := content["data"].(map[string]any); ok && o.isSecret() {
		masked := make(map[string]any, len(data))
		for name := range data {
			masked[name] = vnfm.Secret("").String()
		}
		content = kube.Merged(content, map[string]any{"data": masked})
	}
	if o.GVK.Kind == "TokenReview" && o.IsRequest() {
		content = kube.Merged(content, nil)
		kube.SetNested(content, vnfm.Secret("").String(), "spec", "token")
	}
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(content); err != nil {
		return "", fmt.Errorf("writing %s as YAML: %w", o.Key, err)
	}
	return b.String(), encoder.Close()
}
