package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// olderClaimsNote is the note of an operation that lists the UIDs of the claims older than the StatefulSets that it creates. Creation
// times do not suffice: they have a resolution of one second, and a claim and the next set may be created within the same second.
const olderClaimsNote = "older claims"

// noteOlderClaims notes the existing claims that match StatefulSets to be created. They do not belong to this instance and stay
// when its creation is rolled back.
func (s *session) noteOlderClaims(ctx context.Context, target []*targetObject) error {
	sets := map[string][]map[string]any{}
	for _, p := range target {
		isNew := p.object != nil && p.live == nil && p.item.Group == statefulSetKind.Group && p.item.Kind == statefulSetKind.Kind
		if isNew && p.object.Field("spec", "volumeClaimTemplates") != nil {
			sets[p.ref.Namespace] = append(sets[p.ref.Namespace], p.object.Content)
		}
	}
	if len(sets) == 0 {
		return nil
	}
	claims, err := s.client.Resource(ctx, claimKind)
	if err != nil {
		return err
	}
	known, err := s.olderClaims()
	if err != nil {
		return err
	}
	before := len(known)
	for _, namespace := range slices.Sorted(maps.Keys(sets)) {
		there, err := s.listMetadata(ctx, claims, namespace, kube.ListOptions{})
		if apierrors.IsForbidden(err) {
			// A creation needs no right to list claims. Deleting claims needs it, and is refused without it.
			continue
		}
		if err != nil {
			return fmt.Errorf("looking for volume claims of earlier instances in namespace %q: %w", namespace, err)
		}
		for i := range there {
			id := string(there[i].UID)
			ofSet := func(set map[string]any) bool { return isClaimOf(set, there[i].Name, there[i].Labels) }
			if slices.ContainsFunc(sets[namespace], ofSet) && !slices.Contains(known, id) {
				known = append(known, id)
			}
		}
	}
	if len(known) == before {
		return nil
	}
	// Strings are always encoded.
	note, _ := json.Marshal(known)
	return s.recorder.SetNote(ctx, olderClaimsNote, string(note))
}

// olderClaims returns the UIDs that noteOlderClaims has noted.
func (s *session) olderClaims() ([]string, error) {
	note := s.recorder.Note(olderClaimsNote)
	if note == "" {
		return nil, nil
	}
	var ids []string
	if err := json.Unmarshal([]byte(note), &ids); err != nil {
		return nil, fmt.Errorf("reading which volume claims were there before the instance: %w", err)
	}
	return ids, nil
}

// statefulSetClaims returns the claims that the instance's StatefulSets created. The controller gives them neither an owner nor the
// label of the instance, so they are recognised by their names and labels. With onlyNew, claims older than their StatefulSet are left
// out: they hold the data of an earlier instance.
func (s *session) statefulSetClaims(ctx context.Context, all []*targetObject, onlyNew bool) ([]*targetObject, error) {
	namespaces := map[string]map[string]bool{}
	found := map[string]bool{}
	for _, p := range all {
		if p.item.Group == statefulSetKind.Group && p.item.Kind == statefulSetKind.Kind {
			if namespaces[p.ref.Namespace] == nil {
				namespaces[p.ref.Namespace] = map[string]bool{}
			}
			namespaces[p.ref.Namespace][p.ref.Name] = true
		}
		if isClaim(p) {
			found[p.ref.Namespace+"/"+p.ref.Name] = true
		}
	}
	var older []string
	if onlyNew {
		var err error
		if older, err = s.olderClaims(); err != nil {
			return nil, err
		}
	}
	var out []*targetObject
	for _, namespace := range slices.Sorted(maps.Keys(namespaces)) {
		sets, err := s.client.Resource(ctx, statefulSetKind)
		if err != nil {
			return nil, err
		}
		claims, err := s.client.Resource(ctx, claimKind)
		if err != nil {
			return nil, err
		}
		list, err := s.client.List(ctx, sets, namespace, kube.ListOptions{})
		if err != nil {
			return nil, err
		}
		there, err := s.listMetadata(ctx, claims, namespace, kube.ListOptions{})
		if err != nil {
			return nil, err
		}
		for i := range there {
			made := slices.ContainsFunc(list, func(set unstructured.Unstructured) bool {
				since := set.GetCreationTimestamp()
				return namespaces[namespace][set.GetName()] && isClaimOf(set.Object, there[i].Name, there[i].Labels) &&
					(!onlyNew || !there[i].CreationTimestamp.Before(&since))
			})
			if !made || found[namespace+"/"+there[i].Name] || slices.Contains(older, string(there[i].UID)) {
				continue
			}
			p := s.objectNamed(kube.Ref{Resource: claims, Namespace: namespace}, there[i].Name, nil)
			p.live = &live{ObjectMeta: there[i].ObjectMeta}
			p.item.UID = string(there[i].UID)
			out = append(out, p)
		}
	}
	return out, nil
}

// isClaimOf reports whether a StatefulSet created a claim. Its name is "<template>-<set>-<ordinal>", and it has the labels of the
// template and of the set's selector.
func isClaimOf(set map[string]any, name string, labels map[string]string) bool {
	setName, _, _ := unstructured.NestedString(set, "metadata", "name")
	templates, _, _ := unstructured.NestedSlice(set, "spec", "volumeClaimTemplates")
	selector, _, _ := unstructured.NestedMap(set, "spec", "selector", "matchLabels")
	for _, item := range templates {
		template, _ := item.(map[string]any)
		templateName, _, _ := unstructured.NestedString(template, "metadata", "name")
		ordinal, ok := strings.CutPrefix(name, templateName+"-"+setName+"-")
		if !ok || ordinal == "" || strings.Trim(ordinal, "0123456789") != "" {
			continue
		}
		own, _, _ := unstructured.NestedMap(template, "metadata", "labels")
		if hasLabels(labels, own) && hasLabels(labels, selector) {
			return true
		}
	}
	return false
}

func hasLabels(labels map[string]string, want map[string]any) bool {
	for name, value := range want {
		if labels[name] != value {
			return false
		}
	}
	return true
}
