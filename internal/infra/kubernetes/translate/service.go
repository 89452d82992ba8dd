package translate

import (
	"fmt"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// headlessName is the name of the Service that gives the pods of a StatefulSet their DNS names.
func headlessName(name string) string { return name + "-headless" }

// services makes the Services in front of a VDU.
func (tr *translation) services(v *vnfm.VDU, ref WorkloadRef) {
	for i := range v.Workload.Services {
		s := &v.Workload.Services[i]
		name := ref.Name
		if s.Name != "" {
			name, _ = tr.name(s.Place, "connection point", tr.qualifiedName(v, s.Name))
		}
		spec := map[string]any{"selector": selectorOf(ref.Name), "ports": tr.servicePorts(v, s)}
		if s.Type != "" {
			spec["type"] = s.Type
		}
		tr.add(s.Place, map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": tr.metadata(v, name), "spec": spec})
	}
	if ref.Kind != "StatefulSet" {
		return
	}
	name, _ := tr.name(v.Place, "VDU", headlessName(ref.Name))
	tr.add(v.Place, map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": tr.metadata(v, name),
		"spec": map[string]any{"clusterIP": "None", "selector": selectorOf(ref.Name)},
	})
}

// servicePorts sets the target of each port: the target in the VNFD, else the container port of the same name, else the same
// number.
func (tr *translation) servicePorts(v *vnfm.VDU, s *vnfm.Service) []any {
	var ports []any
	for _, p := range s.Ports {
		name := p.Name
		if name == "" {
			name = fmt.Sprintf("%s-%d", strings.ToLower(p.Protocol), p.Number)
		}
		name = kubernetesName(name)
		var target any = int64(p.Number)
		switch {
		case p.Target != 0:
			target = int64(p.Target)
		case p.Name != "" && hasPort(v.Workload, p.Name):
			target = p.Name
		}
		ports = append(ports, map[string]any{"name": name, "protocol": p.Protocol, "port": int64(p.Number), "targetPort": target})
	}
	return ports
}

func hasPort(w *vnfm.Workload, name string) bool {
	for i := range w.Containers {
		for _, p := range w.Containers[i].Ports {
			if p.Name == name {
				return true
			}
		}
	}
	return false
}

// autoscaler makes the autoscaler of a VDU that scales with its load.
func (tr *translation) autoscaler(v *vnfm.VDU, ref WorkloadRef) {
	a := v.Workload.Autoscaling
	if a == nil {
		return
	}
	if ref.Kind != "Deployment" && ref.Kind != "StatefulSet" {
		tr.problem(a.Place, fmt.Sprintf("VDU %q is a %s, which cannot be scaled by its load", v.ID, ref.Kind), "only a Deployment or a StatefulSet can be scaled")
		return
	}
	for i := range v.Workload.Containers {
		if c := &v.Workload.Containers[i]; c.Resources.CPURequest == 0 {
			tr.problem(c.Place, fmt.Sprintf("the container %q requests no CPU, so that the load of VDU %q cannot be measured", c.ID, v.ID),
				"the target of a scaling policy is a share of the CPUs that all containers of the VDU request")
		}
	}
	tr.add(a.Place, map[string]any{
		"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": tr.metadata(v, ref.Name),
		"spec": map[string]any{
			"scaleTargetRef": map[string]any{"apiVersion": workloadAPI[ref.Kind], "kind": ref.Kind, "name": ref.Name},
			"minReplicas":    int64(a.Min),
			"maxReplicas":    int64(a.Max),
			"metrics": []any{map[string]any{"type": "Resource", "resource": map[string]any{
				"name": "cpu", "target": map[string]any{"type": "Utilization", "averageUtilization": int64(a.CPUPercent)},
			}}},
		},
	})
}
