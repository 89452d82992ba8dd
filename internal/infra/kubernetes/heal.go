package kubernetes

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Heal replaces the pods of the named VNFCs, of all VNFCs of the named VDUs, or of
// the whole instance after everything was applied again, and waits until the new
// ones are ready. Pods are replaced by whoever owns them; a bare Pod is made anew
// from the package, never from what the server holds.
//
// Named VNFCs are replaced at the same time. A VDU is restarted as its workload's
// update strategy says; one whose kind has none loses one pod after the other.
func (d *Driver) Heal(ctx context.Context, t *vnfm.Target, h vnfm.HealSpec, r vnfm.Recorder) error {
	s, err := d.open(t, r)
	if err != nil {
		return err
	}
	return s.locked(ctx, func(ctx context.Context) error { return s.heal(ctx, &h) })
}

func (s *session) heal(ctx context.Context, h *vnfm.HealSpec) error {
	if h.Whole() {
		if err := s.apply(ctx); err != nil {
			return err
		}
	}
	vdus, err := s.population(ctx)
	if err != nil {
		return err
	}
	var restarted, replaced []*populated
	for _, v := range vdus {
		switch {
		case v.workload.live == nil:
			// It is gone altogether, which an apply puts right and not a heal.
		case h.Whole() || slices.Contains(h.VDUIDs, v.id):
			if restartable(v.workload) {
				restarted = append(restarted, v)
			} else {
				replaced = append(replaced, v)
			}
		default:
			named := slices.DeleteFunc(slices.Clone(v.pods), func(pod corev1.Pod) bool { return !slices.Contains(h.VNFCIDs, vnfcID(v.id, pod.Name)) })
			if err := s.replacePods(ctx, v, named); err != nil {
				return err
			}
		}
	}
	if err := s.restart(ctx, restarted, h.ID); err != nil {
		return err
	}
	for _, v := range replaced {
		for i := range v.pods {
			if err := s.replacePods(ctx, v, v.pods[i:i+1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// restartable reports whether a workload replaces its pods by itself when its pod
// template changes.
func restartable(p *placement) bool {
	if p.item.Group != "apps" {
		return false
	}
	switch p.item.Kind {
	case "Deployment":
		return true
	case "StatefulSet", "DaemonSet":
		strategy, _ := nested(p.object.content, "spec", "updateStrategy", "type")
		return strategy != "OnDelete"
	default:
		return false
	}
}

// restart marks the pod templates of workloads and waits until all pods follow
// them. A template that has the mark of this operation already is not changed.
func (s *session) restart(ctx context.Context, vdus []*populated, mark string) error {
	var refs []kube.Ref
	err := s.each(ctx, len(vdus), false, func(ctx context.Context, i int) error {
		p := vdus[i].workload
		s.progress(ctx, "restarting %s", p)
		body := identified(p)
		setCopied(body, mark, []string{"spec", "template", "metadata", "annotations", annotationHealed})
		_, err := s.client.Apply(ctx, p.ref, body, kube.ApplyOptions{FieldManager: kube.RestartFieldManager, Force: true})
		return err
	})
	if err != nil {
		return err
	}
	for _, v := range vdus {
		refs = append(refs, v.workload.ref)
	}
	return s.client.WaitReady(ctx, refs, s.waitOptions(ctx, instanceSelector(s.target.Instance.ID)))
}

// replacePods deletes pods of one VDU at the same time and waits for the new ones.
func (s *session) replacePods(ctx context.Context, v *populated, pods []corev1.Pod) error {
	if len(pods) == 0 {
		return nil
	}
	if isPod(v.workload) {
		return s.remake(ctx, v.workload)
	}
	resource, err := s.client.Resource(ctx, podKind)
	if err != nil {
		return err
	}
	r := kube.Replacement{Namespace: v.workload.ref.Namespace, Old: map[types.UID]string{}, Workloads: []kube.Ref{v.workload.ref}}
	for i := range pods {
		r.Old[pods[i].UID] = pods[i].Name
	}
	// An autoscaler may want fewer meanwhile.
	if scaling := v.workload.object.scaling; scaling == nil || scaling.ours() {
		r.Ready = expected(v.pods, r.Old)
	}
	err = s.each(ctx, len(pods), true, func(ctx context.Context, i int) error {
		s.progress(ctx, "replacing pod %s/%s of VDU %s", pods[i].Namespace, pods[i].Name, v.id)
		return s.client.Delete(ctx, kube.Ref{Resource: resource, Namespace: pods[i].Namespace, Name: pods[i].Name}, kube.DeleteOptions{UID: pods[i].UID})
	})
	if err != nil {
		return err
	}
	return s.client.WaitReplaced(ctx, r, s.waitOptions(ctx, ""))
}

// expected is how many ready pods each controller has in the end: one for each that
// is replaced, and those that are ready now. Others that are not are no reason to wait.
func expected(pods []corev1.Pod, old map[types.UID]string) map[types.UID]int {
	out := map[types.UID]int{}
	for i := range pods {
		owner := metav1.GetControllerOf(&pods[i])
		if owner == nil {
			continue
		}
		if _, goes := old[pods[i].UID]; goes || podIsReady(&pods[i]) {
			out[owner.UID]++
		}
	}
	return out
}

// remake deletes a bare Pod and makes it anew from the package.
func (s *session) remake(ctx context.Context, p *placement) error {
	body := p.object.body(s.target, p.ref.Namespace, nil)
	if _, err := s.replace(ctx, p, body, kube.ApplyOptions{}); err != nil {
		return s.explainWrite(p, err)
	}
	return s.client.WaitReady(ctx, []kube.Ref{p.ref}, s.waitOptions(ctx, instanceSelector(s.target.Instance.ID)))
}
