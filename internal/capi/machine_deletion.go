package capi

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Annotations that mark single machines for Cluster API: for deletion when their group is
// scaled in, and for remediation by their owner. Cluster API ignores the value; ours is the
// id of the instance, which distinguishes our marks from others.
const (
	annotationDelete    = clusterv1.DeleteMachineAnnotation
	annotationRemediate = clusterv1.RemediateMachineAnnotation
)

// markForDeletion marks the named machines of groups that are scaled in, and removes marks
// that an abandoned operation left on other machines. It runs before the groups are scaled
// in, so that a process that is killed in between leaves only marks.
func (c *cluster) markForDeletion(ctx context.Context) error {
	own, err := c.getCluster(ctx)
	if err != nil || own == nil || own.GetLabels()[vnfm.InstanceLabel] != c.instance {
		return err
	}
	machines, err := c.byGroup(ctx)
	if err != nil {
		return err
	}
	losses, err := c.losses(ctx)
	if err != nil {
		return err
	}
	var toMark, toUnmark []*unstructured.Unstructured
	var problems vnfm.Problems
	for _, name := range slices.Sorted(maps.Keys(machines)) {
		named := c.spec.NodeGroups[name].ScaleInMachineNames
		var chosen []*unstructured.Unstructured
		fresh := 0
		for _, m := range machines[name] {
			switch marked := c.marked(m, annotationDelete); {
			case m.GetDeletionTimestamp() != nil:
			case slices.Contains(named, m.GetName()):
				chosen = append(chosen, m)
				if !marked {
					fresh++
				}
			case marked, c.marked(m, annotationRemediate):
				toUnmark = append(toUnmark, m)
			}
		}
		if fresh > 0 && int64(len(chosen)) > losses[name] {
			problems = append(problems, vnfm.Problem{
				Attribute: vnfm.AttributeNodeGroups, Key: name,
				Summary: fmt.Sprintf("node group %q loses %d machines, and %d are named in scale_in_machine_names", name, max(losses[name], 0), len(chosen)),
				Detail:  "name as many as go, or fewer",
			})
		}
		toMark = append(toMark, chosen...)
	}
	if err := problems.Err(); err != nil {
		return err
	}
	if err := c.mark(ctx, toUnmark, nil, annotationDelete, annotationRemediate); err != nil {
		return err
	}
	return c.mark(ctx, toMark, &c.instance, annotationDelete)
}

// marked reports whether this instance has set an annotation of a machine.
func (c *cluster) marked(m *unstructured.Unstructured, annotation string) bool {
	return m.GetAnnotations()[annotation] == c.instance
}

func (c *cluster) mark(ctx context.Context, machines []*unstructured.Unstructured, value *string, annotations ...string) error {
	if len(machines) == 0 {
		return nil
	}
	resource, err := c.kind(ctx, group, "Machine")
	if err != nil {
		return err
	}
	values := map[string]*string{}
	for _, a := range annotations {
		values[a] = value
	}
	for _, m := range machines {
		err := c.client.PatchMetadata(ctx, kube.Ref{Resource: resource, Namespace: c.namespace, Name: m.GetName()}, nil, values)
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// byGroup returns the machines of each node group.
func (c *cluster) byGroup(ctx context.Context) (map[string][]*unstructured.Unstructured, error) {
	list, err := c.listOf(ctx, "Machine")
	if err != nil {
		return nil, err
	}
	out := map[string][]*unstructured.Unstructured{}
	for i := range list {
		name := c.groupOfMachine(&list[i])
		out[name] = append(out[name], &list[i])
	}
	return out, nil
}

// losses returns the number of machines that each node group with fixed replicas loses; nil if no group names machines.
func (c *cluster) losses(ctx context.Context) (map[string]int64, error) {
	if !c.namesRemovals() {
		return nil, nil
	}
	list, err := c.listOf(ctx, "MachineDeployment")
	if err != nil {
		return nil, err
	}
	out := map[string]int64{}
	for i := range list {
		name := c.nodeGroupOf(&list[i])
		if n := c.spec.NodeGroups[name].Replicas; n != nil {
			has, _, _ := unstructured.NestedInt64(list[i].Object, "spec", "replicas")
			out[name] = has - *n
		}
	}
	return out, nil
}

func (c *cluster) namesRemovals() bool {
	for _, g := range c.spec.NodeGroups {
		if len(g.ScaleInMachineNames) > 0 {
			return true
		}
	}
	return false
}

// awaitMarkedMachines waits, after the groups were scaled in, until no marked machine is being
// deleted. Remaining machines lose their mark.
func (c *cluster) awaitMarkedMachines(ctx context.Context, r vnfm.Recorder) error {
	if c.spec.IsPaused() || !c.namesRemovals() {
		return nil
	}
	all, err := c.ofCluster(ctx, "Machine")
	if err != nil {
		return err
	}
	r.Progress(ctx, fmt.Sprintf("waiting for the named machines of %s to be removed", c))
	var left []*unstructured.Unstructured
	err = c.client.Until(ctx, []kube.Selection{all}, func(objects []map[string]*unstructured.Unstructured) (bool, error) {
		left = nil
		for _, m := range objects[0] {
			if !c.marked(m, annotationDelete) {
				continue
			}
			if m.GetDeletionTimestamp() != nil {
				return false, nil
			}
			left = append(left, m)
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the named machines of %s to be removed: %w", c, err)
	}
	return c.mark(ctx, left, nil, annotationDelete)
}

// lookLimit bounds the lookups of a plan.
const lookLimit = 10 * time.Second

// checkMachineNames reports named machines that do not exist.
func (c *cluster) checkMachineNames(ctx context.Context) (vnfm.Problems, error) {
	if !c.namesRemovals() {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	machines, err := c.byGroup(ctx)
	if err != nil {
		return nil, err
	}
	var problems vnfm.Problems
	for _, name := range forms.SortedKeys(c.spec.NodeGroups) {
		var has []string
		for _, m := range machines[name] {
			has = append(has, m.GetName())
		}
		slices.Sort(has)
		for _, machine := range c.spec.NodeGroups[name].ScaleInMachineNames {
			if !slices.Contains(has, machine) {
				problems = append(problems, vnfm.Problem{
					Attribute: vnfm.AttributeNodeGroups, Key: name,
					Summary: fmt.Sprintf("node group %q has no machine %q", name, machine), Detail: "its machines are " + strings.Join(has, ", "),
				})
			}
		}
	}
	return problems, nil
}
