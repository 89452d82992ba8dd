package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/drift"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// changeError is the refusal to change an immutable field of an object. The API server would accept the content for a new object.
type changeError struct {
	key string
	err error
}

func (e *changeError) Error() string { return fmt.Sprintf("%v; %s", e.err, e.advice()) }

func (e *changeError) advice() string {
	return fmt.Sprintf("Kubernetes does not allow a change of this field: give the object another name, or name it in replace_objects (%q) so that it is deleted and created again", e.key)
}

func (e *changeError) Unwrap() error { return e.err }

// changeRefused returns a *changeError if a refused change would be accepted as a creation, else the refusal. It tries the creation
// without storing it. The API server checks last whether an object of that name exists, so "already exists" means that it accepts
// the content.
func (s *session) changeRefused(ctx context.Context, p *targetObject, body map[string]any, refusal error) error {
	err := s.client.TryCreate(ctx, p.ref, body)
	if apierrors.IsInvalid(err) && sharesField(err, refusal) || err != nil && !apierrors.IsInvalid(err) && !apierrors.IsAlreadyExists(err) {
		return refusal
	}
	return &changeError{key: p.item.Key, err: refusal}
}

// sharesField reports whether two refusals are about the same field. A creation can be refused for a value that the object itself
// occupies, such as the node port of a Service.
func sharesField(a, b error) bool {
	fields := func(err error) (out []string) {
		var status apierrors.APIStatus
		if errors.As(err, &status) && status.Status().Details != nil {
			for _, cause := range status.Status().Details.Causes {
				out = append(out, cause.Field)
			}
		}
		return out
	}
	others := fields(b)
	return slices.ContainsFunc(fields(a), func(field string) bool { return slices.Contains(others, field) })
}

// runsOnce reports whether an object is a bare Pod or a Job, which run once, with the specification that they were created with.
func runsOnce(p *targetObject) bool {
	return isPod(p) || p.item.Group == "batch" && p.item.Kind == "Job"
}

// replaceable reports whether an object that cannot be changed may be deleted and created again. Jobs, bare Pods and bindings store no
// data. The user names other objects in replace_objects.
func (s *session) replaceable(p *targetObject) bool {
	binding := p.item.Group == "rbac.authorization.k8s.io" && (p.item.Kind == "RoleBinding" || p.item.Kind == "ClusterRoleBinding")
	return runsOnce(p) || binding || slices.Contains(s.target.ReplaceObjects, p.item.Key)
}

// replace deletes an object and creates it again.
func (s *session) replace(ctx context.Context, p *targetObject, body map[string]any) (*unstructured.Unstructured, error) {
	s.progress(ctx, "replacing %s, which cannot be changed in place", p)
	propagation := metav1.DeletePropagationForeground
	keeps, err := s.keepsPods(ctx, p)
	if err != nil {
		return nil, err
	}
	if keeps {
		propagation = metav1.DeletePropagationOrphan
		if err := s.expandClaims(ctx, p); err != nil {
			return nil, err
		}
	}
	if err := s.client.Delete(ctx, p.ref, kube.DeleteOptions{UID: p.live.UID, Propagation: propagation}); err != nil {
		return nil, err
	}
	if err := s.client.WaitGone(ctx, []kube.Ref{p.ref}, s.waitOptions(ctx, "")); err != nil {
		return nil, fmt.Errorf("waiting until the former %s is gone, to create it again: %w", p, err)
	}
	return s.client.Apply(ctx, p.ref, body, kube.ApplyOptions{FieldManager: kube.FieldManager})
}

// keepsPods reports whether an object is a StatefulSet with the selector of the former one, whose pods it adopts.
func (s *session) keepsPods(ctx context.Context, p *targetObject) (bool, error) {
	if gvkOf(&p.item).GroupKind() != statefulSetKind.GroupKind() {
		return false, nil
	}
	former, err := s.client.Get(ctx, p.ref)
	if err != nil {
		return false, err
	}
	selector, _, _ := unstructured.NestedMap(former.Object, "spec", "selector")
	return reflect.DeepEqual(any(selector), p.object.Field("spec", "selector")), nil
}

// takeOverDefaults takes over maps that the API server has filled with defaults for a value that the body changes, such as
// rollingUpdate of a Deployment whose strategy becomes Recreate. Without an owner, no apply would remove them. With the driver as
// owner, the next apply does. taken is set if there are any.
func (s *session) takeOverDefaults(ctx context.Context, p *targetObject, body map[string]any) (taken bool, err error) {
	err = s.changeOwners(ctx, p, func(obj *unstructured.Unstructured) ([]metav1.ManagedFieldsEntry, error) {
		paths, err := drift.FormerDefaults(body, obj.Object, p.live.ManagedFields)
		if err != nil || len(paths) == 0 {
			return nil, err
		}
		taken = true
		return drift.TakeOver(p.live.ManagedFields, paths)
	})
	return taken, err
}
