package capi

import (
	"context"
	"net"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Look implements vnfm.ClusterDriver.
func (d *Driver) Look(ctx context.Context, management *vnfm.VIM, credentials vnfm.Credentials, ref vnfm.ClusterRef) (*vnfm.ClusterState, []vnfm.VNFC, error) {
	c, err := d.referred(management, credentials, ref)
	if err != nil {
		return nil, nil, err
	}
	s, err := c.state(ctx)
	if err != nil {
		return nil, nil, err
	}
	if s == nil {
		return nil, nil, &vnfm.NotFoundError{Kind: "workload cluster", ID: ref.Namespace + "/" + ref.Name}
	}
	machines, err := c.machines(ctx)
	return s, machines, err
}

// state reads what the management cluster says of the workload cluster; nil when
// there is none.
func (c *cluster) state(ctx context.Context) (*vnfm.ClusterState, error) {
	own, err := c.getCluster(ctx)
	if err != nil || own == nil {
		return nil, err
	}
	s := &vnfm.ClusterState{
		Phase: text(own, "status", "phase"), Available: kube.ClusterCondition(own, clusterv1.AvailableCondition).Status == "True",
		Paused: kube.ClusterCondition(own, clusterv1.PausedCondition).Status == "True", Endpoint: endpoint(own),
		Conditions: kube.ClusterConditions(own), NodeGroups: map[string]vnfm.GroupState{}, FailureDomains: failureDomains(own),
		InstanceID: own.GetLabels()[vnfm.InstanceLabel],
	}
	if specPaused, _, _ := unstructured.NestedBool(own.Object, "spec", "paused"); specPaused {
		s.Paused = true
	}
	controlPlane, err := c.referred(ctx, own, "spec", "controlPlaneRef")
	if err != nil {
		return nil, err
	}
	if controlPlane != nil {
		s.ControlPlane = kube.MachineCounts(controlPlane)
		s.ControlPlane.Version = text(controlPlane, "spec", "version")
		s.Version = runningVersion(controlPlane)
	}
	groups, err := c.listOf(ctx, "MachineDeployment")
	if err != nil {
		return nil, err
	}
	for i := range groups {
		g := kube.MachineCounts(&groups[i])
		g.Version = text(&groups[i], "spec", "template", "spec", "version")
		s.NodeGroups[c.nodeGroupOf(&groups[i])] = g
	}
	if s.AuthoritiesNotAfter, err = c.authoritiesNotAfter(ctx); err != nil {
		return nil, err
	}
	if s.ControlPlaneNotAfter, err = c.controlPlaneNotAfter(ctx); err != nil {
		return nil, err
	}
	k, err := c.readKubeconfig(ctx)
	if err == nil {
		s.CACertificate, s.KubeconfigNotAfter = k.CACertificate, k.NotAfter.UTC().Truncate(time.Second)
	} else if !apierrors.IsNotFound(err) {
		return nil, err
	}
	return s, nil
}

// runningVersion is the version that a control plane runs.
func runningVersion(controlPlane *unstructured.Unstructured) string {
	if v := text(controlPlane, "status", "version"); v != "" {
		return v
	}
	versions, _, _ := unstructured.NestedSlice(controlPlane.Object, "status", "versions")
	for _, v := range versions {
		// They are in ascending order.
		if fields, ok := v.(map[string]any); ok {
			name, _ := fields["version"].(string)
			return name
		}
	}
	return ""
}

func endpoint(own *unstructured.Unstructured) string {
	host := text(own, "spec", "controlPlaneEndpoint", "host")
	port, _, _ := unstructured.NestedInt64(own.Object, "spec", "controlPlaneEndpoint", "port")
	if host == "" || port == 0 {
		return ""
	}
	return "https://" + net.JoinHostPort(host, strconv.FormatInt(port, 10))
}

// failureDomains are a list in version v1beta2 and a map before.
func failureDomains(own *unstructured.Unstructured) []string {
	list, isList, err := unstructured.NestedSlice(own.Object, "status", "failureDomains")
	if isList && err == nil {
		var out []string
		for _, d := range list {
			if fields, ok := d.(map[string]any); ok {
				if name, ok := fields["name"].(string); ok {
					out = append(out, name)
				}
			}
		}
		return out
	}
	m, _, _ := unstructured.NestedMap(own.Object, "status", "failureDomains")
	return forms.SortedKeys(m)
}

// machines are the machines of the cluster as VNFCs: a node group is a VDU.
func (c *cluster) machines(ctx context.Context) ([]vnfm.VNFC, error) {
	list, err := c.listOf(ctx, "Machine")
	if err != nil {
		return nil, err
	}
	out := make([]vnfm.VNFC, 0, len(list))
	for i := range list {
		m := &list[i]
		ready := kube.ClusterCondition(m, clusterv1.ReadyCondition)
		v := vnfm.VNFC{
			ID: m.GetName(), VDUID: c.groupOfMachine(m), Resource: m.GetName(), Namespace: m.GetNamespace(),
			Node: text(m, "status", "nodeRef", "name"), State: text(m, "status", "phase"),
			Ready: ready.Status == "True", CreatedAt: m.GetCreationTimestamp().Time,
		}
		if !v.Ready {
			v.Message = ready.Message
		}
		addresses, _, _ := unstructured.NestedSlice(m.Object, "status", "addresses")
		for _, a := range addresses {
			if fields, ok := a.(map[string]any); ok {
				if address, ok := fields["address"].(string); ok {
					v.Addresses = append(v.Addresses, address)
				}
			}
		}
		out = append(out, v)
	}
	return out, nil
}

func (c *cluster) groupOfMachine(m *unstructured.Unstructured) string {
	labels := m.GetLabels()
	if _, ok := labels[labelControl]; ok {
		return groupControlPlane
	}
	if name := labels[labelNodeGroup]; name != "" {
		return name
	}
	return c.nodeGroupOf(&unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": labels[labelOfGroup]}}})
}
