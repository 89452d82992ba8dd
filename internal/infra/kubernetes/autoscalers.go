package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/drift"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// An autoscaler of another owner sets the replicas of its workload, like an autoscaler of the package. The autoscalers of a namespace
// are listed once, and only if a workload's replicas differ from the target. KEDA creates a HorizontalPodAutoscaler per ScaledObject.

// autoscaler is a HorizontalPodAutoscaler that is not of the instance.
type autoscaler struct {
	name   string
	scales render.ScaleTarget
	// fromZero is set when it is KEDA's.
	fromZero bool
}

// foreignAutoscalers returns the foreign autoscalers of a namespace. Without the right to list autoscalers it returns none.
func (s *session) foreignAutoscalers(ctx context.Context, namespace string) ([]autoscaler, error) {
	s.autoscalersMu.Lock()
	defer s.autoscalersMu.Unlock()
	if found, known := s.autoscalers[namespace]; known {
		return found, nil
	}
	var list []unstructured.Unstructured
	r, err := s.client.Kind(ctx, schema.GroupKind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"})
	if err == nil {
		list, err = s.client.List(ctx, r, namespace, kube.ListOptions{})
	}
	if err != nil && !errors.As(err, new(*kube.UnknownKindError)) && !apierrors.IsForbidden(err) && !s.kindIsGone(err) {
		return nil, fmt.Errorf("looking for autoscalers in namespace %s: %w", namespace, err)
	}
	var found []autoscaler
	for i := range list {
		scales, ok := render.ScaleTargetOf(list[i].Object)
		if !ok || list[i].GetDeletionTimestamp() != nil || list[i].GetLabels()[labelInstance] == s.target.Instance.ID {
			continue
		}
		a := autoscaler{name: render.ObjectKey(r.GVK, namespace, list[i].GetName()), scales: scales}
		var own bool
		for _, owner := range list[i].GetOwnerReferences() {
			a.fromZero = a.fromZero || strings.HasPrefix(owner.APIVersion, "keda.sh/")
			own = own || slices.ContainsFunc(s.target.Instance.Inventory, func(i vnfm.InventoryItem) bool { return i.UID == string(owner.UID) })
		}
		if !own {
			found = append(found, a)
		}
	}
	if s.autoscalers == nil {
		s.autoscalers = map[string][]autoscaler{}
	}
	s.autoscalers[namespace] = found
	return found, nil
}

// foreignAutoscalerOf returns the foreign autoscaler that sets the replicas of a workload instead of the target; nil if there is none.
// For a workload that the target stops it returns nil: an autoscaler does not prevent the stop.
func (s *session) foreignAutoscalerOf(ctx context.Context, p *targetObject) (*autoscaler, error) {
	if _, wanted := p.object.Replicas(); p.shared || wanted != nil && *wanted == 0 || p.object.Scaling != nil && !p.object.Scaling.DriverOwned() {
		return nil, nil
	}
	all, err := s.foreignAutoscalers(ctx, p.ref.Namespace)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(a autoscaler) bool { return a.scales.Is(p.object) })
	if i < 0 {
		return nil, nil
	}
	s.autoscalersMu.Lock()
	defer s.autoscalersMu.Unlock()
	if s.autoscaled == nil {
		s.autoscaled = map[string]string{}
	}
	s.autoscaled[p.String()] = all[i].name
	return &all[i], nil
}

// autoscaledProblems returns one warning about all workloads whose replicas are left to foreign autoscalers.
func (s *session) autoscaledProblems() vnfm.Problems {
	if len(s.autoscaled) == 0 {
		return nil
	}
	var lines []string
	for _, workload := range slices.Sorted(maps.Keys(s.autoscaled)) {
		lines = append(lines, workload+": "+s.autoscaled[workload])
	}
	return vnfm.Problems{{
		Severity: vnfm.SeverityWarning,
		Summary:  fmt.Sprintf("autoscalers that are not of the instance decide on replicas on VIM %q", s.target.VIM.Name),
		Detail: strings.Join(lines, "\n") + "\nThe replicas of these workloads are left to them, whatever package and scale levels say. " +
			"Make the autoscaler an object of the package, or delete it for the replicas to be those of the package.",
	}}
}

// hasOtherReplicas reports whether a write of a workload would change its replicas.
func hasOtherReplicas(p *targetObject) (bool, error) {
	if p.object == nil || p.live == nil || p.live.replicas == nil {
		return false, nil
	}
	path, wanted := p.object.Replicas()
	if wanted != nil {
		return *wanted != *p.live.replicas, nil
	}
	return drift.OwnsPath(p.live.ManagedFields, path, kube.FieldManager)
}

// leaveReplicas leaves the replicas of workloads to their foreign autoscalers, with a warning.
func (s *session) leaveReplicas(ctx context.Context, all []*targetObject) error {
	others := map[*render.Object]*render.Object{}
	for _, p := range all {
		differs, err := hasOtherReplicas(p)
		if err != nil {
			return err
		}
		if !differs {
			continue
		}
		a, err := s.foreignAutoscalerOf(ctx, p)
		if err != nil {
			return err
		}
		if a == nil {
			continue
		}
		own := p.object
		p.object = own.LeftToAutoscaler(a.fromZero)
		others[own] = p.object
	}
	if len(others) > 0 {
		s.rendering = s.rendering.With(others)
		s.warn(s.autoscaledProblems())
	}
	return nil
}

// conflictsWithAutoscaler reports whether a conflict is about replicas of the manifest that a foreign autoscaler has set.
func (s *session) conflictsWithAutoscaler(ctx context.Context, p *targetObject, conflict *kube.ConflictError) (bool, error) {
	path, _ := p.object.Replicas()
	if !slices.ContainsFunc(conflict.Conflicts, func(c kube.FieldConflict) bool { return c.Field == "."+strings.Join(path, ".") }) {
		return false, nil
	}
	a, err := s.foreignAutoscalerOf(ctx, p)
	return a != nil, err
}
