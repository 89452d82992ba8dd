package kubernetes

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Scale sets the replicas of the VDUs that have another number than the target
// asks for and waits until they are reached. Nothing else is touched. Replicas
// that an autoscaler decides on are left to it, except to stop and to start. Of a
// chart whose values say the counts everything is applied: what else a chart makes
// of a count is its own affair.
func (d *Driver) Scale(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	s, err := d.open(ctx, t, r)
	if err != nil {
		return err
	}
	if release := s.rendering.release; release != nil && len(release.replicas) > 0 {
		return s.locked(ctx, s.apply)
	}
	return s.locked(ctx, s.scale)
}

// Leaving implements vnfm.InfraDriver: which pods go is the workload's own choice.
func (d *Driver) Leaving(context.Context, *vnfm.Target) ([]string, error) { return nil, nil }

func (s *session) scale(ctx context.Context) error {
	workloads, err := s.workloads(ctx)
	if err != nil {
		return err
	}
	options := surveyOptions{selector: instanceSelector(s.target.Instance.ID), whole: func(*placement) bool { return true }}
	if err := s.survey(ctx, workloads, options); err != nil {
		return err
	}
	// What is gone comes back, at its count, with the repair that follows.
	workloads = slices.DeleteFunc(workloads, func(p *placement) bool { return p.live == nil })
	var changed []*placement
	for _, p := range workloads {
		if wantsCount(p) {
			changed = append(changed, p)
		}
	}
	if err := s.condemn(ctx, changed); err != nil {
		return err
	}
	err = s.each(ctx, len(changed), false, func(ctx context.Context, i int) error {
		p := changed[i]
		s.progress(ctx, "scaling %s to %d", p, p.object.scaling.count)
		if err := s.setReplicas(ctx, p, p.object.scaling.count, true); err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	var refs []kube.Ref
	for _, p := range workloads {
		if !p.live.ready {
			refs = append(refs, p.ref)
		}
	}
	return s.client.WaitReady(ctx, refs, s.waitOptions(ctx, instanceSelector(s.target.Instance.ID)))
}

// annotationDeletionCost is what the controller of ReplicaSets goes by when it
// chooses the pods that are to go: the cheapest ones first.
const annotationDeletionCost = "controller.kubernetes.io/pod-deletion-cost"

// cheapest is the lowest cost that there is.
var cheapest = strconv.Itoa(math.MinInt32)

// condemn marks the named VNFCs of the workloads that lose some, so that they are
// the ones that go. Nothing is marked unless all of them can go.
func (s *session) condemn(ctx context.Context, changed []*placement) error {
	shrinking := map[*placement]int64{}
	for _, p := range changed {
		if now := p.live.replicas; now != nil && *now > p.object.scaling.count {
			shrinking[p] = *now - p.object.scaling.count
		}
	}
	if len(s.target.ScaleInVNFCIDs) == 0 || len(shrinking) == 0 {
		return nil
	}
	vdus, err := s.population(ctx)
	if err != nil {
		return err
	}
	var condemned []*corev1.Pod
	var problems vnfm.Problems
	for _, v := range vdus {
		for p, lost := range shrinking {
			if p.object == v.workload.object {
				condemned = append(condemned, s.victims(v, lost, &problems)...)
			}
		}
	}
	if err := problems.Err(); err != nil {
		return err
	}
	resource, err := s.client.Resource(ctx, podKind)
	if err != nil {
		return err
	}
	return s.each(ctx, len(condemned), false, func(ctx context.Context, i int) error {
		ref := kube.Ref{Resource: resource, Namespace: condemned[i].Namespace, Name: condemned[i].Name}
		return s.client.PatchMetadata(ctx, ref, nil, map[string]*string{annotationDeletionCost: &cheapest})
	})
}

// victims returns the named pods of a VDU that loses some.
func (s *session) victims(v *populated, lost int64, problems *vnfm.Problems) []*corev1.Pod {
	refuse := func(summary, detail string) {
		*problems = append(*problems, vnfm.Problem{Attribute: "scale_in_vnfc_ids", Summary: summary, Detail: detail})
	}
	var out []*corev1.Pod
	there := map[string]*corev1.Pod{}
	for i := range v.pods {
		there[vnfcID(v.id, v.pods[i].Name)] = &v.pods[i]
	}
	for _, id := range s.target.ScaleInVNFCIDs {
		if vnfm.VDUOf(id, maps.Keys(s.rendering.vdus)) != v.id {
			continue
		}
		// One that is not there has gone already, with a scale that is continued.
		if pod, ok := there[id]; ok {
			out = append(out, pod)
		}
	}
	kind := v.workload.item.Kind
	switch {
	case len(out) > 0 && kind != "Deployment" && kind != "ReplicaSet":
		refuse(fmt.Sprintf("the VNFCs of VDU %q that go cannot be chosen", v.id), fmt.Sprintf("it is a %s, which chooses by itself", kind))
	case int64(len(out)) > lost:
		refuse(fmt.Sprintf("VDU %q loses %d VNFCs, and %d are named", v.id, lost, len(out)), "name as many as go, or fewer")
	}
	return out
}
