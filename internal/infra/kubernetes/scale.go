package kubernetes

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Scale sets the replicas of VDUs whose number differs from the target, and waits until the workloads are ready. It changes nothing
// else. It leaves replicas to their autoscaler, except to stop and to start. If values of the chart set the counts, it applies
// everything, because the chart may use a count elsewhere too.
func (d *Driver) Scale(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	s, err := d.open(ctx, t, r)
	if err != nil {
		return err
	}
	if release := s.rendering.Release; release != nil && len(release.CountValues) > 0 {
		return s.locked(ctx, s.apply)
	}
	return s.locked(ctx, func(ctx context.Context) error { return s.besideKept(ctx, s.scale) })
}

// besideKept does work and writes the instance's Secret concurrently. The work changes no digest and no result, so it does not depend
// on the Secret.
func (s *session) besideKept(ctx context.Context, work func(context.Context) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.applyKept(ctx) })
	g.Go(func() error { return work(ctx) })
	return g.Wait()
}

// Leaving implements vnfm.InfraDriver: the workloads choose the pods that they delete.
func (d *Driver) Leaving(context.Context, *vnfm.Target) ([]string, error) { return nil, nil }

// Replacing implements vnfm.InfraDriver: the workloads replace their pods.
func (d *Driver) Replacing(context.Context, *vnfm.Target) ([]vnfm.Replacement, error) {
	return nil, nil
}

func (s *session) scale(ctx context.Context) error {
	workloads, err := s.workloads(ctx)
	if err != nil {
		return err
	}
	options := readOptions{selector: instanceSelector(s.target.Instance.ID), content: func(*targetObject) bool { return true }}
	if err := s.readLive(ctx, workloads, options); err != nil {
		return err
	}
	if err := s.leaveReplicas(ctx, workloads); err != nil {
		return err
	}
	// The following repair creates missing workloads with their counts.
	workloads = slices.DeleteFunc(workloads, func(p *targetObject) bool {
		if p.live == nil {
			s.recorder.Missing()
		}
		return p.live == nil
	})
	var changed []*targetObject
	for _, p := range workloads {
		if needsReplicas(p) {
			changed = append(changed, p)
		}
	}
	if err := s.markForDeletion(ctx, changed); err != nil {
		return err
	}
	err = s.each(ctx, len(changed), false, func(ctx context.Context, i int) error {
		p := changed[i]
		s.progress(ctx, "scaling %s to %d", p, p.object.Scaling.Count)
		if err := s.setReplicas(ctx, p, p.object.Scaling.Count, true); err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.awaitWorkloads(ctx, slices.DeleteFunc(workloads, func(p *targetObject) bool { return p.live.ready }))
}

// annotationDeletionCost is the order in which the ReplicaSet controller deletes pods, the lowest cost first.
const annotationDeletionCost = "controller.kubernetes.io/pod-deletion-cost"

// lowestDeletionCost is the lowest possible cost.
var lowestDeletionCost = strconv.Itoa(math.MinInt32)

// markForDeletion marks the named VNFCs of workloads that are scaled in, so that they are deleted first. It marks none unless all of
// them can be deleted.
func (s *session) markForDeletion(ctx context.Context, changed []*targetObject) error {
	shrinking := map[*targetObject]int64{}
	for _, p := range changed {
		if now := p.live.replicas; now != nil && *now > p.object.Scaling.Count {
			shrinking[p] = *now - p.object.Scaling.Count
		}
	}
	if len(s.target.ScaleInVNFCIDs) == 0 || len(shrinking) == 0 {
		return nil
	}
	vdus, err := s.podsOfVDUs(ctx)
	if err != nil {
		return err
	}
	var marked []*corev1.Pod
	var problems vnfm.Problems
	for _, v := range vdus {
		for p, lost := range shrinking {
			if p.object == v.workload.object {
				marked = append(marked, s.selectPods(v, lost, &problems)...)
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
	return s.each(ctx, len(marked), false, func(ctx context.Context, i int) error {
		ref := kube.Ref{Resource: resource, Namespace: marked[i].Namespace, Name: marked[i].Name}
		return s.client.PatchMetadata(ctx, ref, nil, map[string]*string{annotationDeletionCost: &lowestDeletionCost})
	})
}

// selectPods returns the named pods of a VDU that is scaled in.
func (s *session) selectPods(v *vduPods, lost int64, problems *vnfm.Problems) []*corev1.Pod {
	refuse := func(summary, detail string) {
		*problems = append(*problems, vnfm.Problem{Attribute: "scale_in_vnfc_ids", Summary: summary, Detail: detail})
	}
	var out []*corev1.Pod
	there := map[string]*corev1.Pod{}
	for i := range v.pods {
		there[vnfcID(v.id, v.pods[i].Name)] = &v.pods[i]
	}
	for _, id := range s.target.ScaleInVNFCIDs {
		if vnfm.VDUOf(id, maps.Keys(s.rendering.VDUs)) != v.id {
			continue
		}
		// An earlier run of a resumed scale operation deleted a missing pod.
		if pod, ok := there[id]; ok {
			out = append(out, pod)
		}
	}
	kind := v.workload.item.Kind
	switch {
	case len(out) > 0 && kind != "Deployment" && kind != "ReplicaSet":
		refuse(fmt.Sprintf("the VNFCs of VDU %q to remove cannot be chosen", v.id), fmt.Sprintf("it is a %s, which chooses them itself", kind))
	case int64(len(out)) > lost:
		refuse(fmt.Sprintf("VDU %q loses %d VNFCs, but %d are named", v.id, lost, len(out)), "name at most as many as the scale-in removes")
	}
	return out
}
