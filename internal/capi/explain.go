package capi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/cloud"
	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube/readiness"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	// explainLimit bounds the diagnosis after a timeout. explainQuickly bounds the diagnosis
	// after an interrupt, which must not keep the user waiting.
	explainLimit   = 10 * time.Second
	explainQuickly = 700 * time.Millisecond
	// maxMachines is the maximum number of machines in a diagnosis.
	maxMachines = 3
)

// explainError adds to an error of an operation the conditions that keep the cluster from
// becoming ready, from the Cluster down to its unhealthy machines.
func (c *cluster) explainError(ctx context.Context, err error) error {
	if cloud.IsExplained(err) {
		return err
	}
	if chain := c.conditionChain(ctx, err.Error()); chain != "" {
		return fmt.Errorf("%w%s", err, chain)
	}
	return err
}

// conditionChain returns the most specific conditions, one line for each object that text
// does not name already; empty when there are none.
func (c *cluster) conditionChain(ctx context.Context, text string) string {
	limit := explainLimit
	if errors.Is(ctx.Err(), context.Canceled) {
		limit = explainQuickly
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	own, err := c.getCluster(ctx)
	if err != nil || own == nil {
		return ""
	}
	warnings, _ := c.client.LastWarnings(ctx, c.namespace, c.began)
	var lines []string
	for _, obj := range c.explaining(ctx, own) {
		if strings.Contains(text, objectName(obj)) {
			continue
		}
		if line := lastWords(obj, warnings[obj.GetUID()]); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "\n* " + strings.Join(lines, "\n* ")
}

// explaining returns the readable objects whose conditions may explain the state of a Cluster: from the Cluster itself down to the
// infrastructure of its unhealthy machines.
func (c *cluster) explaining(ctx context.Context, own *unstructured.Unstructured) []*unstructured.Unstructured {
	out := []*unstructured.Unstructured{own}
	add := func(obj *unstructured.Unstructured, err error) {
		if err == nil && obj != nil {
			out = append(out, obj)
		}
	}
	add(c.referred(ctx, own, "spec", "infrastructureRef"))
	add(c.referred(ctx, own, "spec", "controlPlaneRef"))
	groups, err := c.listOf(ctx, "MachineDeployment")
	for i := range groups {
		add(&groups[i], err)
	}
	machines, err := c.listOf(ctx, "Machine")
	if err != nil {
		return out
	}
	for _, m := range unhealthyMachines(machines) {
		add(m, nil)
		infrastructure, err := c.referred(ctx, m, "spec", "infrastructureRef")
		if server := c.readServer(ctx, infrastructure); err == nil && server != nil {
			// The OpenStackMachine does not report the state of its server until the server runs.
			add(server, nil)
			if ready, _, _ := unstructured.NestedBool(server.Object, "status", "ready"); !ready {
				continue
			}
		}
		add(infrastructure, err)
	}
	return out
}

// lastWords returns one line on an unhealthy object: its most specific condition, and the newest warning of its events.
func lastWords(obj *unstructured.Unstructured, warning string) string {
	line := worstCondition(obj)
	switch {
	case warning == "":
		return line
	case line == "":
		return objectName(obj) + ": " + warning
	case strings.Contains(line, warning):
		return line
	}
	return line + "; " + warning
}

// readServer returns the OpenStackServer of a machine; nil for machines of other providers.
// Cluster API Provider OpenStack reports rejections by Nova on this object alone.
func (c *cluster) readServer(ctx context.Context, machine *unstructured.Unstructured) *unstructured.Unstructured {
	if machine == nil || machine.GetKind() != kindOpenStackMachine {
		return nil
	}
	r, err := c.kind(ctx, forms.GroupInfrastructure, "OpenStackServer")
	if err != nil {
		return nil
	}
	server, err := c.client.Get(ctx, kube.Ref{Resource: r, Namespace: machine.GetNamespace(), Name: machine.GetName()})
	if err != nil {
		return nil
	}
	return server
}

// unhealthyMachines returns the first maxMachines machines that are unavailable or being deleted.
// The oldest are first, because they have waited longest.
func unhealthyMachines(all []unstructured.Unstructured) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for i := range all {
		if readiness.ClusterCondition(&all[i], clusterv1.AvailableCondition).Status != "True" || all[i].GetDeletionTimestamp() != nil {
			out = append(out, &all[i])
		}
	}
	slices.SortStableFunc(out, func(a, b *unstructured.Unstructured) int {
		return a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time)
	})
	return out[:min(len(out), maxMachines)]
}

// explainingConditions are the conditions that give a cause, the most specific first. Summaries such as
// Available are last, because they repeat other conditions.
var explainingConditions = []string{
	clusterv1.DeletingCondition, clusterv1.PausedCondition, clusterv1.MachineOwnerRemediatedCondition, clusterv1.ClusterTopologyReconciledCondition,
	// Of Cluster API Provider OpenStack.
	"OpenStackAuthenticationSucceeded", "InstanceReady",
	clusterv1.BootstrapConfigReadyCondition, clusterv1.InfrastructureReadyCondition,
	// Of the control plane of kubeadm.
	"CertificatesAvailable", "Initialized",
	clusterv1.ClusterControlPlaneInitializedCondition, clusterv1.MachineNodeHealthyCondition,
	"EtcdClusterHealthy", "ControlPlaneComponentsHealthy",
	clusterv1.MachinesReadyCondition, clusterv1.ClusterRemoteConnectionProbeCondition, clusterv1.ScalingUpCondition, clusterv1.RollingOutCondition,
	clusterv1.ClusterControlPlaneAvailableCondition, clusterv1.ClusterWorkersAvailableCondition, clusterv1.ReadyCondition, clusterv1.AvailableCondition,
}

func objectName(obj *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s/%s", obj.GetKind(), obj.GetNamespace(), obj.GetName())
}

// worstCondition returns one line on the most specific unhealthy condition of an object, with
// its finalizers if it is being deleted; empty for a healthy object.
func worstCondition(obj *unstructured.Unstructured) string {
	who := objectName(obj)
	if at := obj.GetDeletionTimestamp(); at != nil {
		who += fmt.Sprintf(" is being deleted since %s, finalizers %s", at.UTC().Format(time.RFC3339), strings.Join(obj.GetFinalizers(), ", "))
	}
	conditions := map[string]vnfm.Condition{}
	for _, c := range readiness.ClusterConditions(obj) {
		conditions[c.Type] = c
	}
	for _, kind := range explainingConditions {
		c, ok := conditions[kind]
		if ok && c.Status == readiness.BadWhen(kind) && (c.Message != "" || c.Reason != "") {
			line := fmt.Sprintf("%s: %s is %s (%s)", who, c.Type, c.Status, c.Reason)
			if c.Message == "" {
				return line
			}
			return line + ": " + readiness.OneLine(c.Message)
		}
	}
	if _, message := failureReason(obj); message != "" {
		return who + ": " + readiness.OneLine(message)
	}
	if obj.GetDeletionTimestamp() != nil {
		return who
	}
	return ""
}
