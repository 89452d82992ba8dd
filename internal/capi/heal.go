package capi

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// groupControlPlane is the group name of control plane machines, which belong to no node group.
const groupControlPlane = "control-plane"

// Heal replaces the named machines. If none is named, it applies everything again and
// replaces all machines that are older than the operation.
func (o *overlay) Heal(ctx context.Context, t *vnfm.Target, h vnfm.HealSpec, r vnfm.Recorder) error {
	c, err := o.cluster(t)
	if err != nil {
		return err
	}
	if h.EntireInstance() {
		if err := o.Apply(ctx, t, r); err != nil {
			return err
		}
	}
	watched, failures := c.watchFailures(ctx, r)
	failures.heals = true
	failures.begin(watched, allMachines)
	if h.EntireInstance() {
		err = c.rollOut(watched, h.Began, r)
	} else {
		err = c.replaceMachines(watched, h.VNFCIDs, r)
	}
	if err = failures.reason(err); err != nil {
		return c.explainError(ctx, o.addFault(ctx, t, err))
	}
	return nil
}

// replaceMachines has the named machines replaced by their owners: machines of node groups
// concurrently, machines of the control plane one at a time, because etcd must keep its
// majority. A missing machine has been replaced already.
func (c *cluster) replaceMachines(ctx context.Context, names []string, r vnfm.Recorder) error {
	machines, err := c.listOf(ctx, "Machine")
	if err != nil {
		return err
	}
	var workers, control []*unstructured.Unstructured
	count := 0
	for i := range machines {
		m := &machines[i]
		named, ofControlPlane := slices.Contains(names, m.GetName()), c.groupOfMachine(m) == groupControlPlane
		if ofControlPlane {
			count++
		}
		switch {
		case named && ofControlPlane:
			control = append(control, m)
		case named:
			workers = append(workers, m)
		}
	}
	if len(control) > 0 && count == 1 {
		return &vnfm.InvalidError{Problems: vnfm.Problems{{
			Attribute: "heal.machine_names",
			Summary:   fmt.Sprintf("machine %q is the whole control plane", control[0].GetName()),
			Detail:    "deleting it would delete what the cluster has stored; a heal that names no machine replaces it after another one has joined",
		}}}
	}
	if err := c.removeMachines(ctx, workers, r); err != nil {
		return err
	}
	for _, m := range control {
		if err := c.removeMachines(ctx, []*unstructured.Unstructured{m}, r); err != nil {
			return err
		}
	}
	// An interrupted heal may have left machines that are not ready yet.
	return c.awaitReady(ctx, r)
}

// removeMachines requests the replacement of machines, and waits until the machines are deleted and the
// cluster is ready again.
func (c *cluster) removeMachines(ctx context.Context, machines []*unstructured.Unstructured, r vnfm.Recorder) error {
	if len(machines) == 0 {
		return nil
	}
	all, err := c.ofCluster(ctx, "Machine")
	if err != nil {
		return err
	}
	for _, m := range machines {
		if err := c.requestReplacement(ctx, all.Resource, m); err != nil {
			return err
		}
	}
	r.Progress(ctx, fmt.Sprintf("waiting for %d machines of %s to be replaced", len(machines), c))
	err = c.client.Until(ctx, []kube.Selection{all}, func(objects []map[string]*unstructured.Unstructured) (bool, error) {
		return !slices.ContainsFunc(machines, func(m *unstructured.Unstructured) bool { return objects[0][m.GetName()] != nil }), nil
	})
	if err != nil {
		return fmt.Errorf("waiting for machines of %s to be removed: %w", c, err)
	}
	return c.awaitReady(ctx, r)
}

// requestReplacement has the owner of a machine replace it. A control plane machine that a MachineHealthCheck
// selects is marked for remediation: the control plane provider then waits until etcd can lose the member, and
// moves the leadership. Every other machine is deleted: remediation of a node group would only delete it as
// well, within the limits of the health check.
func (c *cluster) requestReplacement(ctx context.Context, resource kube.Resource, m *unstructured.Unstructured) error {
	if c.groupOfMachine(m) == groupControlPlane {
		checks, err := c.listOf(ctx, "MachineHealthCheck")
		if err != nil {
			return err
		}
		if slices.ContainsFunc(checks, func(check unstructured.Unstructured) bool { return selectsMachine(&check, m) }) {
			return c.mark(ctx, []*unstructured.Unstructured{m}, &c.instance, annotationRemediate)
		}
	}
	return c.client.Delete(ctx, kube.Ref{Resource: resource, Namespace: c.namespace, Name: m.GetName()}, kube.DeleteOptions{UID: m.GetUID()})
}

// selectsMachine reports whether a MachineHealthCheck selects a machine.
func selectsMachine(check, m *unstructured.Unstructured) bool {
	given, found, err := unstructured.NestedMap(check.Object, "spec", "selector")
	if !found || err != nil {
		return false
	}
	var s metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(given, &s); err != nil {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(&s)
	return err == nil && !selector.Empty() && selector.Matches(labels.Set(m.GetLabels()))
}

// rollOut has the control plane and the node groups replace all machines older than a time,
// by their rollout strategies. A group with the strategy OnDelete keeps its machines.
func (c *cluster) rollOut(ctx context.Context, after time.Time, r vnfm.Recorder) error {
	own, err := c.getCluster(ctx)
	if err != nil {
		return err
	}
	if own == nil {
		return fmt.Errorf("there is no Cluster %s/%s", c.namespace, c.name)
	}
	after = after.UTC().Truncate(time.Second)
	if ref, found, err := c.ref(ctx, own, "spec", "controlPlaneRef"); err != nil {
		return err
	} else if found {
		if err := c.setRollout(ctx, ref, after); err != nil {
			return err
		}
	}
	groups, err := c.listOf(ctx, "MachineDeployment")
	if err != nil {
		return err
	}
	resource, err := c.kind(ctx, group, "MachineDeployment")
	if err != nil {
		return err
	}
	for i := range groups {
		if err := c.setRollout(ctx, kube.Ref{Resource: resource, Namespace: c.namespace, Name: groups[i].GetName()}, after); err != nil {
			return err
		}
	}
	all, err := c.ofCluster(ctx, "Machine")
	if err != nil {
		return err
	}
	r.Progress(ctx, fmt.Sprintf("waiting for all machines of %s to be replaced", c))
	err = c.client.Until(ctx, []kube.Selection{all}, func(objects []map[string]*unstructured.Unstructured) (bool, error) {
		for _, m := range objects[0] {
			if m.GetCreationTimestamp().Time.Before(after) && !c.keepsMachines(c.groupOfMachine(m)) {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the machines of %s that were made before %s to be replaced: %w", c, after.Format(time.RFC3339), err)
	}
	return c.awaitReady(ctx, r)
}

// setRollout writes the time with the field manager of restarts, so that no later apply removes it.
func (c *cluster) setRollout(ctx context.Context, ref kube.Ref, after time.Time) error {
	spec := map[string]any{"rollout": map[string]any{"after": after.Format(time.RFC3339)}}
	if ref.Resource.GVK.Version == "v1beta1" {
		spec = map[string]any{"rolloutAfter": after.Format(time.RFC3339)}
	}
	version, kind := ref.Resource.GVK.ToAPIVersionAndKind()
	_, err := c.client.Apply(ctx, ref, map[string]any{
		"apiVersion": version, "kind": kind, "metadata": map[string]any{"namespace": ref.Namespace, "name": ref.Name}, "spec": spec,
	}, kube.ApplyOptions{FieldManager: kube.RestartFieldManager, Force: true})
	return err
}

// keepsMachines reports whether a node group replaces a machine only when the machine is deleted.
func (c *cluster) keepsMachines(name string) bool {
	g := c.spec.NodeGroups[name]
	return g.Rollout != nil && g.Rollout.Type == "OnDelete"
}
