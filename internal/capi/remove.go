package capi

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube/readiness"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// remove deletes the Cluster and waits for its removal. A Cluster of another owner is left
// alone. machinesGone is called once, when all machines are deleted and the infrastructure
// is not.
func (c *cluster) remove(ctx context.Context, r vnfm.Recorder, machinesGone func(context.Context)) error {
	own, err := c.getCluster(ctx)
	if err != nil || own == nil {
		return err
	}
	if own.GetLabels()[vnfm.InstanceLabel] != c.instance {
		return nil
	}
	if paused, _, _ := unstructured.NestedBool(own.Object, "spec", "paused"); paused {
		return fmt.Errorf("%s is paused, and Cluster API removes nothing of a paused cluster: resume it with kubectl --namespace %s patch cluster %s --type merge --patch '{\"spec\":{\"paused\":false}}', "+
			"or set paused = false and apply, with force_conflicts = true if somebody else has paused it; then destroy", c, c.namespace, c.name)
	}
	resource, err := c.kind(ctx, group, "Cluster")
	if err != nil {
		return err
	}
	ref := kube.Ref{Resource: resource, Namespace: c.namespace, Name: c.name}
	r.Progress(ctx, "removing "+c.String())
	if err := c.client.Delete(ctx, ref, kube.DeleteOptions{UID: own.GetUID()}); err != nil {
		return err
	}
	last := own
	reported := ""
	err = c.client.Until(ctx, []kube.Selection{selectOne(ref)}, func(objects []map[string]*unstructured.Unstructured) (bool, error) {
		obj := objects[0][c.name]
		if obj == nil || obj.GetUID() != own.GetUID() {
			return true, nil
		}
		last = obj
		if d := readiness.ClusterCondition(obj, clusterv1.DeletingCondition); d.Message != "" && d.Message != reported {
			reported = d.Message
			r.Progress(ctx, "removing "+c.String()+": "+readiness.OneLine(d.Message))
		}
		if machinesGone != nil && readiness.ClusterCondition(obj, clusterv1.DeletingCondition).Reason == clusterv1.ClusterDeletingWaitingForInfrastructureDeletionReason {
			machinesGone(ctx)
			machinesGone = nil
		}
		return false, c.undeletable(ctx, ref, obj)
	})
	if err == nil || isFinal(err) {
		return err
	}
	reason := "it does not say what it waits for"
	if d := readiness.ClusterCondition(last, clusterv1.DeletingCondition); d.Message != "" || d.Reason != "" {
		reason = fmt.Sprintf("%s: %s", d.Reason, readiness.OneLine(d.Message))
	}
	return fmt.Errorf("%s is still being deleted (%w); Cluster API says %s%s", c, err, reason, c.conditionChain(ctx, ""))
}
