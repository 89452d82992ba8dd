package kubernetes

import (
	"context"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Resources implements vnfm.InfraDriver. It returns the pods of the VDUs' workloads, found by owner references, in the order of VDU and
// name. A missing workload has no pods.
func (d *Driver) Resources(ctx context.Context, t *vnfm.Target) (*vnfm.ResourceInfo, error) {
	s, err := d.open(ctx, t, nil)
	if err != nil {
		return nil, err
	}
	vdus, err := s.podsOfVDUs(ctx)
	if err != nil {
		return nil, err
	}
	out := &vnfm.ResourceInfo{}
	for _, v := range vdus {
		for i := range v.pods {
			out.VNFCs = append(out.VNFCs, vnfcOf(v.id, &v.pods[i]))
		}
	}
	slices.SortFunc(out.VNFCs, func(a, b vnfm.VNFC) int { return strings.Compare(a.ID+" "+a.Namespace, b.ID+" "+b.Namespace) })
	return out, nil
}

// vduPods is a VDU with its workload and its existing pods.
type vduPods struct {
	id       string
	workload *targetObject
	pods     []corev1.Pod
}

// podsOfVDUs reads the pods of all VDUs, in the order of the VDUs' ids.
func (s *session) podsOfVDUs(ctx context.Context) ([]*vduPods, error) {
	vdus, err := s.resolveVDUs(ctx)
	if err != nil {
		return nil, err
	}
	return vdus, s.readPods(ctx, vdus, vdus)
}

// resolveVDUs resolves the workloads of all VDUs, in the order of the VDUs' ids, without reading them.
func (s *session) resolveVDUs(ctx context.Context) ([]*vduPods, error) {
	workloads, err := s.workloads(ctx)
	if err != nil {
		return nil, err
	}
	ids := map[*render.Object]string{}
	for id, o := range s.rendering.VDUs {
		ids[o] = id
	}
	var out []*vduPods
	for _, p := range workloads {
		out = append(out, &vduPods{id: ids[p.object], workload: p})
	}
	return out, nil
}

// readWorkloads reads the workloads of VDUs.
func (s *session) readWorkloads(ctx context.Context, vdus []*vduPods) error {
	workloads := make([]*targetObject, 0, len(vdus))
	for _, v := range vdus {
		workloads = append(workloads, v.workload)
	}
	return s.readLive(ctx, workloads, readOptions{selector: instanceSelector(s.target.Instance.ID), content: isPod, keepContent: true})
}

// readPods reads the workloads of the unread VDUs and, concurrently, the pods of vdus, whose workloads are also unread or were read
// before. A failure to read the pods of a namespace without an existing workload is ignored.
func (s *session) readPods(ctx context.Context, unread, vdus []*vduPods) error {
	kinds := map[string][]schema.GroupKind{}
	for _, v := range vdus {
		if !isPod(v.workload) {
			namespace := v.workload.ref.Namespace
			kinds[namespace] = append(kinds[namespace], v.workload.ref.Resource.GVK.GroupKind())
		}
	}
	namespaces := slices.Sorted(maps.Keys(kinds))
	pods, failed := make([]*kube.Pods, len(namespaces)), make([]error, len(namespaces))
	g, reading := errgroup.WithContext(ctx)
	for i, namespace := range namespaces {
		g.Go(func() error {
			pods[i], failed[i] = s.client.ReadPods(reading, namespace, kinds[namespace])
			return nil
		})
	}
	g.Go(func() error { return s.readWorkloads(reading, unread) })
	if err := g.Wait(); err != nil {
		return err
	}
	owners := map[string]map[types.UID]string{}
	for _, v := range vdus {
		p := v.workload
		switch {
		case p.live == nil:
		case isPod(p):
			pod, err := podOf(p.live.content)
			if err != nil {
				return err
			}
			v.pods = []corev1.Pod{*pod}
		default:
			if owners[p.ref.Namespace] == nil {
				owners[p.ref.Namespace] = map[types.UID]string{}
			}
			owners[p.ref.Namespace][p.live.UID] = v.id
		}
	}
	for i, namespace := range namespaces {
		if owners[namespace] == nil {
			continue
		}
		if failed[i] != nil {
			return failed[i]
		}
		found, err := pods[i].Of(ctx, owners[namespace])
		if err != nil {
			return err
		}
		for _, v := range vdus {
			if v.workload.ref.Namespace == namespace {
				v.pods = append(v.pods, found[v.id]...)
			}
		}
	}
	return nil
}

// workloads returns the workloads of the VDUs. It leaves out workloads whose kind does not exist any more.
func (s *session) workloads(ctx context.Context) ([]*targetObject, error) {
	var objects []*render.Object
	for _, id := range slices.Sorted(maps.Keys(s.rendering.VDUs)) {
		objects = append(objects, s.rendering.VDUs[id])
	}
	out, err := s.existingObjects(ctx, objects)
	if err != nil {
		return nil, err
	}
	return out, s.resolveReplicasPaths(ctx, out)
}

func podOf(content map[string]any) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, pod)
	return pod, err
}

// vnfcID returns the id of a pod's VNF component.
func vnfcID(vdu, pod string) string { return vdu + "-" + pod }

// podIsReady reports whether a pod is ready and is not being deleted.
func podIsReady(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// vnfcOf describes a pod as a VNF component.
func vnfcOf(vdu string, pod *corev1.Pod) vnfm.VNFC {
	c := vnfm.VNFC{
		ID:        vnfcID(vdu, pod.Name),
		VDUID:     vdu,
		Resource:  pod.Name,
		Namespace: pod.Namespace,
		Node:      pod.Spec.NodeName,
		State:     string(pod.Status.Phase),
		Message:   pod.Status.Message,
		Ready:     podIsReady(pod),
		CreatedAt: pod.CreationTimestamp.UTC(),
	}
	for _, ip := range pod.Status.PodIPs {
		c.Addresses = append(c.Addresses, ip.IP)
	}
	for i := range pod.Spec.Volumes {
		if claim := pod.Spec.Volumes[i].PersistentVolumeClaim; claim != nil {
			c.Volumes = append(c.Volumes, claim.ClaimName)
		}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse && c.Message == "" {
			c.State, c.Message = condition.Reason, condition.Message
		}
	}
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			c.Restarts += int(statuses[i].RestartCount)
			if w := statuses[i].State.Waiting; w != nil && w.Reason != "" && w.Reason != "PodInitializing" {
				c.State, c.Message = w.Reason, w.Message
			}
		}
	}
	if pod.Status.Reason != "" {
		c.State = pod.Status.Reason
	}
	if pod.DeletionTimestamp != nil {
		c.State = "Terminating"
	}
	return c
}
