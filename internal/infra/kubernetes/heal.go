package kubernetes

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Heal replaces the pods of the named VNFCs, of all VNFCs of the named VDUs, or of the whole instance after applying it again. It
// waits until the new pods are ready. The owner of the pods replaces them. A bare Pod is recreated from the package, never from its
// live state.
//
// Named VNFCs are replaced concurrently. A VDU is restarted with the update strategy of its workload. The pods of a kind without an
// update strategy, and of a StatefulSet whose claims are replaced too, are replaced one by one.
func (d *Driver) Heal(ctx context.Context, t *vnfm.Target, h vnfm.HealSpec, r vnfm.Recorder) error {
	s, err := d.open(ctx, t, r)
	if err != nil {
		return err
	}
	return s.locked(ctx, func(ctx context.Context) error {
		if h.EntireInstance() {
			s.beforeReady = func(ctx context.Context) error { return s.replaceVNFCs(ctx, &h) }
			return s.apply(ctx)
		}
		return s.besideKept(ctx, func(ctx context.Context) error { return s.replaceVNFCs(ctx, &h) })
	})
}

// replaceVNFCs replaces the pods that a heal names.
func (s *session) replaceVNFCs(ctx context.Context, h *vnfm.HealSpec) error {
	vdus, err := s.resolveVDUs(ctx)
	if err != nil {
		return err
	}
	entirely := func(v *vduPods) bool { return h.EntireInstance() || slices.Contains(h.VDUIDs, v.id) }
	// A restart keeps the claims of the pods.
	restarts := func(v *vduPods) bool {
		return entirely(v) && restartable(v.workload) && (!h.Storage || v.workload.item.Kind != statefulSetKind.Kind)
	}
	// The pods of a workload that replaces them itself need not be read.
	byHand := slices.DeleteFunc(slices.Clone(vdus), func(v *vduPods) bool { return restarts(v) || !entirely(v) && len(h.VNFCIDs) == 0 })
	if err := s.readPods(ctx, vdus, byHand); err != nil {
		return err
	}
	var restarted, replaced []*vduPods
	for _, v := range vdus {
		switch {
		case v.workload.live == nil:
			// The repair that follows creates it.
			s.recorder.Missing()
		case restarts(v):
			restarted = append(restarted, v)
		case entirely(v):
			replaced = append(replaced, v)
		case len(h.VNFCIDs) == 0:
			// The heal does not name this VDU.
		default:
			o, err := s.planReplacement(ctx, v, h.Storage, func(pod *corev1.Pod) bool { return slices.Contains(h.VNFCIDs, vnfcID(v.id, pod.Name)) })
			if err != nil {
				return err
			}
			if err := s.replacePods(ctx, v, o, o.remaining(v)); err != nil {
				return err
			}
		}
	}
	if err := s.restart(ctx, restarted, h.ID); err != nil {
		return err
	}
	for _, v := range replaced {
		if err := s.replaceOneByOne(ctx, v, h.Storage); err != nil {
			return err
		}
	}
	return nil
}

// restartable reports whether a workload replaces its pods itself when its pod template changes.
func restartable(p *targetObject) bool {
	if p.item.Group != "apps" {
		return false
	}
	switch p.item.Kind {
	case "Deployment":
		return true
	case "StatefulSet", "DaemonSet":
		return p.object.Field("spec", "updateStrategy", "type") != "OnDelete"
	default:
		return false
	}
}

// restart marks the pod templates of workloads and waits until all pods follow them. The mark is the id of the operation, so a
// repeated restart changes nothing. The roll-out of a StatefulSet would wait for unready pods, so they are deleted.
func (s *session) restart(ctx context.Context, vdus []*vduPods, mark string) error {
	var workloads []*targetObject
	for _, v := range vdus {
		workloads = append(workloads, v.workload)
	}
	err := s.each(ctx, len(vdus), false, func(ctx context.Context, i int) error {
		p := workloads[i]
		s.progress(ctx, "restarting %s", p)
		body := applyIdentity(p)
		kube.SetNested(body, mark, "spec", "template", "metadata", "annotations", annotationHealed)
		obj, err := s.client.Apply(ctx, p.ref, body, kube.ApplyOptions{FieldManager: kube.RestartFieldManager, Force: true})
		if err != nil {
			return err
		}
		p.see(obj, false)
		if !isStatefulSet(p) {
			return nil
		}
		return s.unblockSet(ctx, p, 0)
	})
	if err != nil {
		return err
	}
	return s.awaitWorkloads(ctx, workloads)
}
