package kubernetes

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Heal replaces the pods of the named VNFCs, of all VNFCs of the named VDUs, or of the
// whole instance after everything was applied again, and waits until the new ones are
// ready. The owner of the pods replaces them; a bare Pod is created again from the package,
// never from what the server holds.
//
// Named VNFCs are replaced at the same time. A VDU is restarted by the update strategy of
// its workload. A kind without an update strategy, and a StatefulSet whose claims are
// replaced as well, lose one pod after the other.
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
	// Pods of a workload that replaces them by itself need not be known.
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
			// It is not named.
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

// restartable reports whether a workload replaces its pods by itself when its pod
// template changes.
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

// restart marks the pod templates of workloads and waits until all pods follow them. A
// template that already has the mark of this operation is not changed. The roll-out of a
// StatefulSet would wait for pods that are not ready, so that these are deleted.
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
