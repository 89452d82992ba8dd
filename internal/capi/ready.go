package capi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube/readiness"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// awaitReady waits until the cluster meets its specification: the Cluster, its control plane
// and every node group are ready by the rules of their kinds and have the requested version
// and number of machines, the kubelets have the versions of their machines, and the workload
// API answers.
// The condition Available of the Cluster is not enough: it stays True during a rolling upgrade.
func (c *cluster) awaitReady(ctx context.Context, r vnfm.Recorder) error {
	if c.spec.IsPaused() {
		return nil
	}
	own, err := c.awaitReferences(ctx)
	if err != nil {
		return err
	}
	selections := []kube.Selection{own.selection}
	groups, err := c.ofCluster(ctx, "MachineDeployment")
	if err != nil {
		return err
	}
	machines, err := c.ofCluster(ctx, "Machine")
	if err != nil {
		return err
	}
	sets, err := c.ofCluster(ctx, "MachineSet")
	if err != nil {
		return err
	}
	selections = append(selections, groups, machines, sets)
	if own.controlPlane != nil {
		selections = append(selections, selectOne(*own.controlPlane))
	}
	last := ""
	var others []string
	err = c.client.Until(ctx, selections, func(objects []map[string]*unstructured.Unstructured) (bool, error) {
		waiting := c.firstUnready(objects)
		if waiting == "" {
			others = otherKubelets(objects[2])
			return true, nil
		}
		if waiting != last {
			last = waiting
			r.Progress(ctx, "waiting for "+waiting)
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for %s: %w", c, err)
	}
	if len(others) > 0 {
		if err := c.awaitKubelets(ctx, machines, true); err != nil {
			return err
		}
	}
	return c.awaitWorkloadAPI(ctx, r)
}

// references are a Cluster and its control plane; controlPlane is nil if the Cluster has none.
type references struct {
	selection    kube.Selection
	controlPlane *kube.Ref
}

// awaitReferences waits until the control plane of the cluster is known. The topology
// controller sets the reference of a cluster with a topology. Another cluster may have none.
func (c *cluster) awaitReferences(ctx context.Context) (references, error) {
	r, err := c.kind(ctx, group, "Cluster")
	if err != nil {
		return references{}, err
	}
	out := references{selection: selectOne(kube.Ref{Resource: r, Namespace: c.namespace, Name: c.name})}
	err = c.client.Until(ctx, []kube.Selection{out.selection}, func(objects []map[string]*unstructured.Unstructured) (bool, error) {
		own := objects[0][c.name]
		if own == nil {
			return false, nil
		}
		ref, ok, err := c.ref(ctx, own, "spec", "controlPlaneRef")
		if err != nil {
			return false, err
		}
		if ok {
			out.controlPlane = &ref
			return true, nil
		}
		_, isTopology, _ := unstructured.NestedMap(own.Object, "spec", "topology")
		return !isTopology, nil
	})
	if err != nil {
		return out, fmt.Errorf("waiting for the control plane of %s: %w", c, err)
	}
	return out, nil
}

func selectOne(ref kube.Ref) kube.Selection {
	return kube.Selection{Resource: ref.Resource, Namespace: ref.Namespace, Options: kube.ListOptions{FieldSelector: "metadata.name=" + ref.Name}}
}

// firstUnready describes the first object that is not as specified; empty if there is none. The
// objects are the Cluster, the node groups, the machines, their sets and the control plane.
func (c *cluster) firstUnready(objects []map[string]*unstructured.Unstructured) string {
	own := objects[0][c.name]
	if own == nil {
		return fmt.Sprintf("Cluster %s/%s", c.namespace, c.name)
	}
	if len(objects) > 4 {
		if s := c.controlPlaneUnready(objects[4]); s != "" {
			return s
		}
	}
	if s := c.nodeGroupsUnready(objects[1]); s != "" {
		return s
	}
	if s := c.machinesOutdated(objects[2]); s != "" {
		return s
	}
	if s := c.machineSetsOutdated(objects[1], objects[3]); s != "" {
		return s
	}
	return unready(own)
}

func unready(obj *unstructured.Unstructured) string {
	v := readiness.Of(obj, nil)
	if v.Ready {
		return ""
	}
	return fmt.Sprintf("%s %s/%s: %s", obj.GetKind(), obj.GetNamespace(), obj.GetName(), v.Message)
}

func (c *cluster) controlPlaneUnready(objects map[string]*unstructured.Unstructured) string {
	for _, obj := range objects {
		if s := versionDiffers(obj, forms.WithV(c.spec.KubernetesVersion), "spec", "version"); s != "" {
			return s
		}
		if n := c.spec.ControlPlane.Replicas; n != nil {
			if s := replicasDiffer(obj, *n); s != "" {
				return s
			}
		}
		return unready(obj)
	}
	return "the control plane to be made"
}

func (c *cluster) nodeGroupsUnready(objects map[string]*unstructured.Unstructured) string {
	byName := map[string]*unstructured.Unstructured{}
	for _, obj := range objects {
		byName[c.nodeGroupOf(obj)] = obj
	}
	for _, name := range slices.Sorted(maps.Keys(c.spec.NodeGroups)) {
		g, obj := c.spec.NodeGroups[name], byName[name]
		if obj == nil {
			return fmt.Sprintf("node group %q to be made", name)
		}
		if s := versionDiffers(obj, forms.WithV(c.spec.KubernetesVersion), "spec", "template", "spec", "version"); s != "" {
			return s
		}
		if g.Replicas != nil {
			if s := replicasDiffer(obj, *g.Replicas); s != "" {
				return s
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		_, wanted := c.spec.NodeGroups[name]
		if c.spec.Topology != nil && !wanted {
			return fmt.Sprintf("node group %q to be removed", name)
		}
		if s := unready(byName[name]); s != "" {
			return s
		}
	}
	return ""
}

// machinesOutdated finds a machine of a node group that has another version. The counts of the
// group do not show it: they are stale for a moment after a change of the version.
func (c *cluster) machinesOutdated(machines map[string]*unstructured.Unstructured) string {
	for _, name := range forms.SortedKeys(machines) {
		group := c.groupOfMachine(machines[name])
		if _, ours := c.spec.NodeGroups[group]; !ours || c.keepsMachines(group) {
			continue
		}
		if s := versionDiffers(machines[name], forms.WithV(c.spec.KubernetesVersion), "spec", "version"); s != "" {
			return s
		}
	}
	return ""
}

// machineSetsOutdated finds a machine set of a node group that is not ready, or that still has machines of
// another template than the group. The counts of the group do not show it: they are sums over the sets, and
// the counts of a set are stale for a moment after a change of its replicas.
func (c *cluster) machineSetsOutdated(groups, sets map[string]*unstructured.Unstructured) string {
	for _, name := range forms.SortedKeys(sets) {
		set := sets[name]
		group := c.groupOfMachine(set)
		if _, ours := c.spec.NodeGroups[group]; !ours || c.keepsMachines(group) || set.GetDeletionTimestamp() != nil {
			continue
		}
		if s := unready(set); s != "" {
			return s
		}
		if n, _, _ := unstructured.NestedInt64(set.Object, "spec", "replicas"); n == 0 {
			continue
		}
		for _, obj := range groups {
			path := []string{"spec", "template", "spec", "infrastructureRef", "name"}
			if has, wants := text(set, path...), text(obj, path...); c.nodeGroupOf(obj) == group && has != wants {
				return fmt.Sprintf("%s %s/%s: its machines are made of template %s and become ones of %s", obj.GetKind(), obj.GetNamespace(), obj.GetName(), has, wants)
			}
		}
	}
	return ""
}

func versionDiffers(obj *unstructured.Unstructured, want string, path ...string) string {
	if has := text(obj, path...); want != "" && has != want {
		return fmt.Sprintf("%s %s/%s: its version is %s and becomes %s", obj.GetKind(), obj.GetNamespace(), obj.GetName(), has, want)
	}
	return ""
}

func replicasDiffer(obj *unstructured.Unstructured, want int64) string {
	has, _, _ := unstructured.NestedInt64(obj.Object, "spec", "replicas")
	if has != want {
		return fmt.Sprintf("%s %s/%s: it has %d replicas and gets %d", obj.GetKind(), obj.GetNamespace(), obj.GetName(), has, want)
	}
	return ""
}

const (
	// answerEvery is the pause between two tries of a workload API.
	answerEvery = time.Second
	// answerLimit bounds one try.
	answerLimit = 10 * time.Second
)

// awaitWorkloadAPI waits until the workload API accepts the kubeconfig of the cluster. The
// rejection of an expired kubeconfig is an answer as well: the cluster is healthy, and readers
// of the kubeconfig get that error.
func (c *cluster) awaitWorkloadAPI(ctx context.Context, r vnfm.Recorder) error {
	_, err := c.awaitKubeconfig(ctx, func(err error) {
		if r != nil {
			r.Progress(ctx, fmt.Sprintf("waiting for the workload API of %s: %v", c, err))
		}
	})
	var expired *vnfm.ExpiredError
	if errors.As(err, &expired) {
		return nil
	}
	return err
}
