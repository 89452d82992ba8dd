package cloud

import (
	"fmt"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// machines are the machines of one template.
type machines struct {
	// controlPlane is set for the control plane, else group is the name of the node group;
	// group is empty if no object refers to the template.
	controlPlane bool
	group        string
}

func (m machines) String() string {
	if m.controlPlane {
		return "the control plane"
	}
	return fmt.Sprintf("node group %q", m.group)
}

// machinesOf returns the machines of the template with a name.
func (q *cloudCheck) machinesOf(template string) machines {
	for _, o := range q.objects {
		switch {
		case o["kind"] == "KubeadmControlPlane" &&
			(forms.StringAt(o, "spec", "machineTemplate", "spec", "infrastructureRef", "name") == template ||
				forms.StringAt(o, "spec", "machineTemplate", "infrastructureRef", "name") == template):
			return machines{controlPlane: true}
		case o["kind"] == "MachineDeployment" && forms.StringAt(o, "spec", "template", "spec", "infrastructureRef", "name") == template:
			return machines{group: strings.TrimPrefix(forms.StringAt(o, "metadata", "name"), q.spec.Name+"-")}
		}
	}
	return machines{}
}

// numberOf returns the initial number of machines.
func (q *cloudCheck) numberOf(m machines) int {
	kind, name, wanted := "KubeadmControlPlane", "", q.spec.ControlPlane.Replicas
	if !m.controlPlane {
		g := q.spec.NodeGroups[m.group]
		kind, name, wanted = "MachineDeployment", q.spec.Name+"-"+m.group, g.Replicas
		if wanted == nil {
			wanted = g.MinReplicas
		}
	}
	if wanted != nil {
		return int(*wanted)
	}
	for _, o := range q.objects {
		if o["kind"] == kind && (m.controlPlane || forms.StringAt(o, "metadata", "name") == name) {
			switch n := forms.Child(o, "spec")["replicas"].(type) {
			case int64:
				return int(n)
			case float64:
				return int(n)
			}
			return 1
		}
	}
	return 0
}

// quota compares the requirements of a new cluster with the remaining quota of the project. It
// ignores a user who may not read the quota: the registration of the VIM warns about that.
func (q *cloudCheck) quota() error {
	has, err := q.client.Quota(q.ctx)
	if openstack.IsForbidden(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, each := range []struct {
		what  string
		room  openstack.Room
		needs int
	}{
		{"instances", has.Instances, q.instances}, {"vCPUs", has.VCPUs, q.vcpus}, {"MiB of memory", has.RAM, q.ram},
	} {
		if left := max(each.room.Most-each.room.Used, 0); each.room.Most >= 0 && each.needs > left {
			q.add(vnfm.SeverityWarning, argument{attribute: "openstack"},
				fmt.Sprintf("the machines need %d %s, and the quota of the project has %d left", each.needs, each.what, left),
				fmt.Sprintf("%d of %d are used: Nova refuses what is above the quota, unless it is raised or others are gone by then", each.room.Used, each.room.Most))
		}
	}
	return nil
}

// flavorAt returns the argument with the flavor of machines.
func (q *cloudCheck) flavorAt(m machines) argument {
	switch {
	case m.controlPlane && q.spec.ControlPlane.Flavor != "":
		return argument{attribute: "control_plane.flavor"}
	case q.spec.NodeGroups[m.group].Flavor != "":
		return argument{attribute: vnfm.AttributeNodeGroups, key: m.group}
	default:
		return q.form()
	}
}

// networksAt returns the argument with the networks of machines.
func (q *cloudCheck) networksAt(m machines) argument {
	switch {
	case m.controlPlane && len(q.spec.ControlPlane.Networks) > 0:
		return argument{attribute: "control_plane.networks"}
	case len(q.spec.NodeGroups[m.group].Networks) > 0:
		return argument{attribute: vnfm.AttributeNodeGroups, key: m.group}
	default:
		return q.form()
	}
}

// versionOf returns the Kubernetes version of machines, which may differ from the version of the cluster; empty if there is none.
func (q *cloudCheck) versionOf(m machines) string {
	for _, o := range q.objects {
		version := ""
		switch {
		case m.controlPlane && o["kind"] == "KubeadmControlPlane":
			version = forms.StringAt(o, "spec", "version")
		case !m.controlPlane && o["kind"] == "MachineDeployment" && forms.StringAt(o, "metadata", "name") == q.spec.Name+"-"+m.group:
			version = forms.StringAt(o, "spec", "template", "spec", "version")
		}
		if version != "" {
			return forms.WithoutV(version)
		}
	}
	return forms.WithoutV(q.spec.KubernetesVersion)
}
