package translate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// annotationNetworks requests additional networks from Multus.
const annotationNetworks = "k8s.v1.cni.cncf.io/networks"

func (tr *translation) podMetadata(v *vnfm.VDU) map[string]any {
	meta := map[string]any{"labels": tr.labels(v)}
	if len(v.Workload.Networks) > 0 {
		meta["annotations"] = map[string]any{annotationNetworks: strings.Join(v.Workload.Networks, ", ")}
	}
	return meta
}

func (tr *translation) podSpec(v *vnfm.VDU, ref WorkloadRef) map[string]any {
	w := v.Workload
	spec := map[string]any{}
	var containers []any
	for i := range w.Containers {
		containers = append(containers, tr.container(v, ref, &w.Containers[i]))
	}
	spec["containers"] = containers
	tr.checkExclusiveCPUs(v)
	if volumes := append(tr.storageVolumes(v), hugePageVolumes(w)...); len(volumes) > 0 {
		spec["volumes"] = volumes
	}
	if len(w.NodeLabels) > 0 {
		selector := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(w.NodeLabels)) {
			tr.checkLabel(v.Place, "node requirement", key, w.NodeLabels[key])
			selector[key] = w.NodeLabels[key]
		}
		spec["nodeSelector"] = selector
	}
	if affinity := tr.affinity(v); len(affinity) > 0 {
		spec["affinity"] = affinity
	}
	return spec
}

// imageReference matches image references: host, path, tag, digest.
var imageReference = lazyregexp.New(`^([a-zA-Z0-9.-]+(:[0-9]+)?/)?[a-z0-9]+([._/-]+[a-z0-9]+)*(:[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127})?(@sha256:[0-9a-f]{64})?$`)

func (tr *translation) container(v *vnfm.VDU, ref WorkloadRef, c *vnfm.Container) map[string]any {
	name := containerName(c)
	tr.name(c.Place, "container", name)
	switch {
	case c.Image == "":
		tr.problem(c.Place, fmt.Sprintf("the container %q has no image", c.ID),
			"give it an artifact of type tosca.artifacts.nfv.SwImage whose file is the reference of an image, or whose properties have its name and version")
	case !imageReference.MatchString(c.Image):
		tr.problem(c.Place, fmt.Sprintf("the image %q of the container %q is not a reference of an image", c.Image, c.ID),
			"a reference looks like registry.example.com/core/amf:1.0.0")
	}
	out := map[string]any{"name": name, "image": c.Image}
	if len(c.Command) > 0 {
		out["command"] = jsonList(c.Command)
	}
	if len(c.Args) > 0 {
		out["args"] = jsonList(c.Args)
	}
	var ports []any
	for _, p := range c.Ports {
		port := map[string]any{"containerPort": int64(p.Number), "protocol": p.Protocol}
		if p.Name != "" {
			tr.checkPortName(c.Place, p.Name)
			port["name"] = p.Name
		}
		ports = append(ports, port)
	}
	if len(ports) > 0 {
		out["ports"] = ports
	}
	if len(c.Config) > 0 {
		out["envFrom"] = []any{map[string]any{"configMapRef": map[string]any{"name": configMapName(ref, name)}}}
	}
	if resources := tr.resources(c); len(resources) > 0 {
		out["resources"] = resources
	}
	if mounts := append(tr.storageMounts(v), hugePageMounts(v.Workload, c)...); len(mounts) > 0 {
		out["volumeMounts"] = mounts
	}
	return out
}

func containerName(c *vnfm.Container) string {
	if c.Name != "" {
		return kubernetesName(c.Name)
	}
	return kubernetesName(c.ID)
}

func (tr *translation) checkPortName(at vnfm.Place, name string) {
	if faults := validation.IsValidPortName(name); len(faults) > 0 {
		tr.problem(at, fmt.Sprintf("%q cannot be the name of a port", name), strings.Join(faults, "; ")+"; rename it in the VNFD")
	}
}

func configMapName(ref WorkloadRef, container string) string { return ref.Name + "-" + container }

// configMaps makes a ConfigMap for each container that has settings.
func (tr *translation) configMaps(v *vnfm.VDU, ref WorkloadRef) {
	for i := range v.Workload.Containers {
		c := &v.Workload.Containers[i]
		if len(c.Config) == 0 {
			continue
		}
		data := make(map[string]any, len(c.Config))
		for key, text := range c.Config {
			data[key] = text
		}
		tr.add(c.Place, map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": tr.metadata(v, configMapName(ref, containerName(c))), "data": data,
		})
	}
}
