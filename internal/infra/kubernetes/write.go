package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// write brings one object to the target and notes what the server then holds.
func (s *session) write(ctx context.Context, p *placement) error {
	if p.object == nil {
		return s.makeHome(ctx, p)
	}
	if p.foreign {
		p.ready = true
		return nil
	}
	needed, repair, err := s.needsWrite(p)
	if err != nil {
		return err
	}
	if needed {
		if err := s.writeMain(ctx, p, repair); err != nil {
			return err
		}
	}
	if wantsCount(p) {
		if err := s.setReplicas(ctx, p, p.object.Scaling.Count, true); err != nil {
			return err
		}
		p.ready = p.live.ready
	} else if !needed {
		p.ready = !hasReadiness(p) || p.live.ready
	}
	p.item.UID = string(p.live.UID)
	return s.disown(ctx, p)
}

// needsWrite reports whether an object has to be written. It is a repair when its
// content is what was applied last: all fields that it lost were the driver's.
func (s *session) needsWrite(p *placement) (needed, repair bool, err error) {
	if p.live == nil {
		return true, false, nil
	}
	if !s.belongs(p) || p.live.Annotations[annotationDigest] != p.object.Digest {
		return true, false, nil
	}
	if p.live.Labels[labelInstance] != s.target.Instance.ID {
		return true, true, nil
	}
	missing, err := s.lost(p)
	return len(missing) > 0, true, err
}

// lost returns the fields of an object that was applied and that the driver does
// not own any more, as far as the live metadata does not show the same value.
func (s *session) lost(p *placement) ([]Unowned, error) {
	set, err := Owned(p.live.ManagedFields, kube.FieldManager)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p, err)
	}
	body := applyBody(p.object, s.target, p.ref.Namespace, nil)
	missing := slices.DeleteFunc(FindUnowned(body, set), func(u Unowned) bool {
		return s.metadataHolds(p, u)
	})
	return SplitLists(missing, p.live.ManagedFields)
}

// metadataHolds reports whether a label or annotation is still what was applied.
// The package that an object was last applied from may be an earlier one, and the
// instance may have been renamed since.
func (s *session) metadataHolds(p *placement, u Unowned) bool {
	fields := u.Path.Fields()
	if len(fields) != 3 || fields[0] != "metadata" {
		return false
	}
	var value string
	var present bool
	switch fields[1] {
	case "labels":
		value, present = p.live.Labels[fields[2]]
	case "annotations":
		value, present = p.live.Annotations[fields[2]]
	}
	if fields[2] == annotationPackage || fields[2] == annotationInstance {
		return present
	}
	return present && value == u.Value
}

// writeMain applies the object as the main manager.
func (s *session) writeMain(ctx context.Context, p *placement, repair bool) error {
	o := p.object
	var replicas *int64
	if o.Scaling != nil {
		if p.live == nil {
			replicas = &o.Scaling.Count
		} else if err := s.handOver(ctx, p, kube.FieldManager); err != nil {
			return err
		}
	}
	if err := s.markTaken(ctx, p); err != nil {
		return err
	}
	options := kube.ApplyOptions{FieldManager: kube.FieldManager, Force: repair || s.target.ForceConflicts}
	if options.Force && p.live != nil {
		if err := s.displace(ctx, p); err != nil {
			return s.explainWrite(p, err)
		}
	}
	body := applyBody(o, s.target, p.ref.Namespace, replicas)
	obj, err := s.client.Apply(ctx, p.ref, body, options)
	var conflict *kube.ConflictError
	if errors.As(err, &conflict) && s.onlyOurs(conflict) {
		options.Force = true
		obj, err = s.client.Apply(ctx, p.ref, body, options)
	}
	if isUnchangeable(err) && p.live != nil && s.replaceable(p) {
		obj, err = s.replace(ctx, p, body, options)
	}
	if apierrors.IsInvalid(err) && p.live != nil && !options.Force {
		err = s.orIntrusion(ctx, p, err)
	}
	if err != nil {
		return s.explainWrite(p, err)
	}
	p.live = liveOf(p, obj, false)
	p.ready = p.live.ready
	return nil
}

// replaceable reports whether an object may be deleted and made anew when it
// cannot be changed: a Job of another version is another run, a bare Pod keeps
// nothing, and others are what the user says.
func (s *session) replaceable(p *placement) bool {
	return isPod(p) || (p.item.Group == "batch" && p.item.Kind == "Job") || slices.Contains(s.target.ReplaceObjects, p.item.Key)
}

// replace deletes an object that cannot be changed and makes it anew.
func (s *session) replace(ctx context.Context, p *placement, body map[string]any, o kube.ApplyOptions) (*unstructured.Unstructured, error) {
	s.progress(ctx, "replacing %s, which Kubernetes does not let be changed", p)
	if err := s.client.Delete(ctx, p.ref, kube.DeleteOptions{UID: p.live.UID, Propagation: metav1.DeletePropagationForeground}); err != nil {
		return nil, err
	}
	if err := s.client.WaitGone(ctx, []kube.Ref{p.ref}, s.waitOptions(ctx, "")); err != nil {
		return nil, err
	}
	return s.client.Apply(ctx, p.ref, body, o)
}

// onlyOurs reports whether all conflicting fields are those of a manager of ours:
// replicas that the VNFD does not decide on any more, or what an admission
// webhook changed in a request of ours. Helm's command is no stranger to the
// objects of a chart.
func (s *session) onlyOurs(e *kube.ConflictError) bool {
	return len(e.Conflicts) > 0 && !slices.ContainsFunc(e.Conflicts, func(c kube.FieldConflict) bool {
		ours := c.Manager == kube.FieldManager || c.Manager == kube.ScaleFieldManager || (c.Manager == helmManager && s.rendering.Release != nil)
		return !ours
	})
}

// unchangeable are parts of the messages by which the API server refuses to change
// a field of an object that exists.
var unchangeable = []string{"immutable", "updates to statefulset spec", "pod updates may not change", "may not change once set"}

// isUnchangeable reports whether the API server refused to change a field of an
// object that exists.
func isUnchangeable(err error) bool {
	return apierrors.IsInvalid(err) && slices.ContainsFunc(unchangeable, func(text string) bool { return strings.Contains(err.Error(), text) })
}

// explainWrite says where the object is written and, for a field that cannot be
// changed, what to do.
func (s *session) explainWrite(p *placement, err error) error {
	err = fmt.Errorf("%s (%s): %w", p, p.object.Place(), err)
	if p.live != nil && isUnchangeable(err) {
		return fmt.Errorf("%w; %s", err, howToChange(p.item.Key))
	}
	return err
}

// howToChange is said of an object with a field that the API server does not let be
// changed.
func howToChange(key string) string {
	return fmt.Sprintf("Kubernetes does not let this field be changed: give the object another name, or name it in replace_objects (%q) so that it is deleted and made anew", key)
}
