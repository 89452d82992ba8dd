package instance

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

// compoundKinds are the kinds of Kubernetes whose names have several words, by their names in lower case.
var compoundKinds = func() map[string]string {
	out := map[string]string{}
	for kind := range strings.FieldsSeq("ConfigMap CronJob CustomResourceDefinition DaemonSet EndpointSlice HorizontalPodAutoscaler LimitRange " +
		"NetworkPolicy PersistentVolume PersistentVolumeClaim PodDisruptionBudget PriorityClass ReplicaSet ReplicationController ResourceQuota RoleBinding " +
		"ClusterRole ClusterRoleBinding ServiceAccount StatefulSet StorageClass VolumeAttachment") {
		out[strings.ToLower(kind)] = kind
	}
	return out
}()

// rightKind is a kind in lower case as manifests write it.
func rightKind(kind string) string {
	group, name := "", kind
	if i := strings.LastIndexByte(kind, '/'); i >= 0 {
		group, name = kind[:i+1], kind[i+1:]
	}
	if right := compoundKinds[strings.ToLower(name)]; right != "" {
		return group + right
	}
	if name == "" {
		return kind
	}
	return group + strings.ToUpper(name[:1]) + name[1:]
}

// kindRule is the rule for a kind with its API group.
type kindRule struct{}

// Description implements validator.Describer.
func (kindRule) Description(context.Context) string {
	return "must be group/Kind, for example apps/Deployment, or Kind for the core group"
}

// MarkdownDescription implements validator.Describer.
func (v kindRule) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

// ValidateString implements validator.String.
func (v kindRule) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	text := req.ConfigValue.ValueString()
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() || groupKind.MatchString(text) {
		return
	}
	detail := fmt.Sprintf("%q %s.", text, v.Description(ctx))
	if right := rightKind(text); right != text && groupKind.MatchString(right) {
		detail = fmt.Sprintf("%q is written as in manifests: %q.", text, right)
	}
	resp.Diagnostics.AddAttributeError(req.Path, "Invalid Kind", detail)
}
