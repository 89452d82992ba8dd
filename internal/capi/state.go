package capi

import (
	"cmp"
	"context"
	"net"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube/readiness"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Look implements vnfm.ClusterDriver.
func (d *Driver) Look(ctx context.Context, management *vnfm.VIM, credentials vnfm.Credentials, ref vnfm.ClusterRef) (*vnfm.ClusterState, []vnfm.VNFC, error) {
	c, err := d.referred(management, credentials, ref)
	if err != nil {
		return nil, nil, err
	}
	s, machines, err := c.state(ctx)
	if err != nil {
		return nil, nil, err
	}
	if s == nil {
		return nil, nil, &vnfm.NotFoundError{Kind: "workload cluster", ID: ref.Namespace + "/" + ref.Name}
	}
	return s, c.vnfcs(machines), err
}

// List implements vnfm.ClusterDriver.
func (d *Driver) List(ctx context.Context, management *vnfm.VIM, credentials vnfm.Credentials, namespace string) ([]vnfm.ClusterRef, error) {
	c, err := d.referred(management, credentials, vnfm.ClusterRef{Namespace: namespace})
	if err != nil {
		return nil, err
	}
	r, err := c.kind(ctx, group, "Cluster")
	if err != nil {
		return nil, err
	}
	clusters, err := c.client.List(ctx, r, namespace, kube.ListOptions{})
	if err != nil {
		return nil, err
	}
	refs := make([]vnfm.ClusterRef, len(clusters))
	for i := range clusters {
		refs[i] = vnfm.ClusterRef{VIMID: management.ID, Namespace: clusters[i].GetNamespace(), Name: clusters[i].GetName()}
	}
	slices.SortFunc(refs, func(a, b vnfm.ClusterRef) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return refs, nil
}

// state reads the state of the workload cluster and its machines from the management cluster; nil if there is no
// Cluster. All other objects are read concurrently. Machines are left out if the account may not read them.
func (c *cluster) state(ctx context.Context) (*vnfm.ClusterState, []unstructured.Unstructured, error) {
	own, err := c.getCluster(ctx)
	if err != nil || own == nil {
		return nil, nil, err
	}
	s := &vnfm.ClusterState{
		Phase: text(own, "status", "phase"), Available: readiness.ClusterCondition(own, clusterv1.AvailableCondition).Status == "True",
		Paused: readiness.ClusterCondition(own, clusterv1.PausedCondition).Status == "True", Endpoint: endpoint(own),
		Conditions: readiness.ClusterConditions(own), NodeGroups: map[string]vnfm.GroupState{}, FailureDomains: failureDomains(own),
		InstanceID: own.GetLabels()[vnfm.InstanceLabel],
	}
	if specPaused, _, _ := unstructured.NestedBool(own.Object, "spec", "paused"); specPaused {
		s.Paused = true
	}
	if at := own.GetDeletionTimestamp(); at != nil {
		s.DeletingSince, s.Finalizers = at.Time, own.GetFinalizers()
	}
	var (
		machines []unstructured.Unstructured
		parts    errgroup.Group
	)
	parts.Go(func() error { return c.readControlPlane(ctx, own, s) })
	parts.Go(func() error { return c.readNodeGroups(ctx, s) })
	parts.Go(func() (err error) {
		if machines, err = c.listOf(ctx, "Machine"); apierrors.IsForbidden(err) {
			return nil
		}
		return err
	})
	parts.Go(func() (err error) {
		s.AuthoritiesNotAfter, err = c.authoritiesNotAfter(ctx)
		return err
	})
	parts.Go(func() error { return c.readAccess(ctx, s) })
	if err := parts.Wait(); err != nil {
		return nil, nil, err
	}
	s.ControlPlaneNotAfter = machinesNotAfter(machines)
	for i := range machines {
		if other := otherKubelet(&machines[i]); other != "" {
			s.OtherKubelets = append(s.OtherKubelets, other)
		}
	}
	return s, machines, nil
}

func (c *cluster) readControlPlane(ctx context.Context, own *unstructured.Unstructured, s *vnfm.ClusterState) error {
	controlPlane, err := c.referred(ctx, own, "spec", "controlPlaneRef")
	if err != nil || controlPlane == nil {
		return err
	}
	s.ControlPlane = readiness.MachineCounts(controlPlane)
	s.ControlPlane.Version = text(controlPlane, "spec", "version")
	s.Version = runningVersion(controlPlane)
	return nil
}

func (c *cluster) readNodeGroups(ctx context.Context, s *vnfm.ClusterState) error {
	groups, err := c.listOf(ctx, "MachineDeployment")
	for i := range groups {
		g := readiness.MachineCounts(&groups[i])
		g.Version = text(&groups[i], "spec", "template", "spec", "version")
		s.NodeGroups[c.nodeGroupOf(&groups[i])] = g
	}
	return err
}

// readAccess reads CA and expiry from the kubeconfig, if there is one.
func (c *cluster) readAccess(ctx context.Context, s *vnfm.ClusterState) error {
	k, err := c.readKubeconfig(ctx)
	if err == nil {
		s.CACertificate, s.KubeconfigNotAfter = k.CACertificate, k.NotAfter.UTC().Truncate(time.Second)
	} else if !apierrors.IsNotFound(err) {
		return err
	}
	return nil
}

// runningVersion returns the lowest version that a control plane runs.
func runningVersion(controlPlane *unstructured.Unstructured) string {
	if v := text(controlPlane, "status", "version"); v != "" {
		return v
	}
	versions, _, _ := unstructured.NestedSlice(controlPlane.Object, "status", "versions")
	for _, v := range versions {
		// The versions are in ascending order.
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

// failureDomains reads the list of v1beta2, or the map of v1beta1.
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

// machines returns the machines of the cluster as VNFCs. Their node group is the VDU.
func (c *cluster) machines(ctx context.Context) ([]vnfm.VNFC, error) {
	list, err := c.listOf(ctx, "Machine")
	return c.vnfcs(list), err
}

func (c *cluster) vnfcs(list []unstructured.Unstructured) []vnfm.VNFC {
	out := make([]vnfm.VNFC, 0, len(list))
	for i := range list {
		m := &list[i]
		ready := readiness.ClusterCondition(m, clusterv1.ReadyCondition)
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
	return out
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
