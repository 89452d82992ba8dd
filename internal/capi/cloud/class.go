package cloud

import (
	"context"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// Cluster API creates the objects of a topology from the templates and patches of its class and
// the variables. Before the cluster exists, the resources of an OpenStack that these objects name
// are known only after applying the patches, which classObjects does. A field is ignored if a
// patch gives it a value that cannot be computed yet.

// classObjects returns the OpenStack objects that the class gives a topology: the OpenStackCluster,
// and the templates of machines with the objects that refer to them. It returns none for a missing
// class, which another check reports.
func (c *Cluster) classObjects(ctx context.Context) ([]map[string]any, error) {
	class, err := c.class(ctx)
	if err != nil || class == nil {
		return nil, err
	}
	patches, _, _ := unstructured.NestedSlice(class.Object, "spec", "patches")
	for _, each := range patches {
		patch, _ := each.(map[string]any)
		external, _ := patch["external"].(map[string]any)
		if forms.StringAt(external, "generatePatchesExtension") != "" || forms.StringAt(external, "generateExtension") != "" {
			return nil, fmt.Errorf("the ClusterClass %s/%s is patched by an extension (patch %q), so that the flavors and images of its machines cannot be determined",
				class.GetNamespace(), class.GetName(), forms.StringAt(patch, "name"))
		}
	}
	f := classRenderer{Cluster: c, class: class, patches: patches}
	spec, _ := class.Object["spec"].(map[string]any)
	if err := f.infrastructure(ctx, forms.Child(spec, "infrastructure")); err != nil {
		return nil, err
	}
	if err := f.controlPlane(ctx, forms.Child(forms.Child(spec, "controlPlane"), "machineInfrastructure")); err != nil {
		return nil, err
	}
	return f.objects, f.nodeGroups(ctx, forms.Child(spec, "workers"))
}

// ClassIsMissing reports whether the ClusterClass of the topology does not exist. It is false if the
// class cannot be read.
func (c *Cluster) ClassIsMissing(ctx context.Context) bool {
	class, err := c.class(ctx)
	return err == nil && class == nil
}

// class returns the ClusterClass of the topology; nil if there is none.
func (c *Cluster) class(ctx context.Context) (*unstructured.Unstructured, error) {
	r, err := c.Client.Kind(ctx, schema.GroupKind{Group: forms.Group, Kind: "ClusterClass"})
	if err != nil {
		return nil, fmt.Errorf("looking up the kind ClusterClass of %s: %w", forms.Group, err)
	}
	namespace := c.Spec.Topology.ClassNamespace
	if namespace == "" {
		namespace = c.Namespace
	}
	class, err := c.Client.Get(ctx, kube.Ref{Resource: r, Namespace: namespace, Name: c.Spec.Topology.Class})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return class, err
}

// classRenderer collects the objects of a topology.
type classRenderer struct {
	*Cluster
	class   *unstructured.Unstructured
	patches []any
	objects []map[string]any
}

// template reads a template to which a class refers, in either version of its API; nil if it is
// for another infrastructure, or missing.
func (f *classRenderer) template(ctx context.Context, part map[string]any) (map[string]any, error) {
	ref, ok := part["templateRef"].(map[string]any)
	if !ok {
		ref, _ = part["ref"].(map[string]any)
	}
	apiVersion, kind := forms.StringAt(ref, "apiVersion"), forms.StringAt(ref, "kind")
	if forms.GroupOf(apiVersion) != forms.GroupInfrastructure || (kind != "OpenStackClusterTemplate" && kind != "OpenStackMachineTemplate") {
		return nil, nil
	}
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, err
	}
	r, err := f.Client.Resource(ctx, gv.WithKind(kind))
	if err != nil {
		return nil, err
	}
	obj, err := f.Client.Get(ctx, kube.Ref{Resource: r, Namespace: f.class.GetNamespace(), Name: forms.StringAt(ref, "name")})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return obj.Object, nil
}

func (f *classRenderer) infrastructure(ctx context.Context, part map[string]any) error {
	object, err := f.template(ctx, part)
	if err != nil || object == nil {
		return err
	}
	p := &patchTarget{object: object, infrastructure: true, values: f.values(nil, nil)}
	p.apply(ctx, f.patches)
	f.objects = append(f.objects, map[string]any{
		"apiVersion": object["apiVersion"], "kind": "OpenStackCluster", "metadata": map[string]any{"name": f.Name},
		"spec": forms.Child(forms.Child(forms.Child(object, "spec"), "template"), "spec"),
	})
	return nil
}

func (f *classRenderer) controlPlane(ctx context.Context, part map[string]any) error {
	object, err := f.template(ctx, part)
	if err != nil || object == nil {
		return err
	}
	builtin := map[string]any{"version": forms.WithV(f.Spec.KubernetesVersion)}
	forms.SetInt(builtin, "replicas", f.Spec.ControlPlane.Replicas)
	p := &patchTarget{object: object, controlPlane: true, values: f.values(f.Spec.ControlPlane.Variables, map[string]any{"controlPlane": builtin})}
	p.apply(ctx, f.patches)
	name := f.Name + "-control-plane"
	f.addTemplate(p.object, name, map[string]any{
		"kind": "KubeadmControlPlane", "spec": map[string]any{"machineTemplate": map[string]any{"infrastructureRef": map[string]any{"name": name}}},
	})
	return nil
}

func (f *classRenderer) nodeGroups(ctx context.Context, workers map[string]any) error {
	classes := map[string]map[string]any{}
	list, _ := workers["machineDeployments"].([]any)
	for _, each := range list {
		class, _ := each.(map[string]any)
		part, ok := class["infrastructure"].(map[string]any)
		if !ok {
			part = forms.Child(forms.Child(class, "template"), "infrastructure")
		}
		object, err := f.template(ctx, part)
		if err != nil {
			return err
		}
		classes[forms.StringAt(class, "class")] = object
	}
	for _, group := range forms.SortedKeys(f.Spec.NodeGroups) {
		g := f.Spec.NodeGroups[group]
		object := classes[g.Class]
		if object == nil {
			continue
		}
		builtin := map[string]any{"version": forms.WithV(f.Spec.KubernetesVersion), "class": g.Class, "topologyName": group}
		forms.SetInt(builtin, "replicas", g.Replicas)
		p := &patchTarget{object: runtime.DeepCopyJSON(object), class: g.Class, values: f.values(g.Variables, map[string]any{"machineDeployment": builtin})}
		p.apply(ctx, f.patches)
		name := f.Name + "-" + group
		f.addTemplate(p.object, name, map[string]any{
			"kind": "MachineDeployment", "metadata": map[string]any{"name": name},
			"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{"name": name}}}},
		})
	}
	return nil
}

// addTemplate adds a template of machines under a name, and the object that refers to it.
func (f *classRenderer) addTemplate(template map[string]any, name string, referrer map[string]any) {
	template["metadata"] = map[string]any{"name": name}
	f.objects = append(f.objects, template, referrer)
}

// values returns the variables for patches: the variables of the topology, overridden by the
// variables of a control plane or node group, and the builtin variables of Cluster API.
func (f *classRenderer) values(own, builtin map[string]any) map[string]any {
	given := maps.Clone(f.Spec.Topology.Variables)
	if given == nil {
		given = map[string]any{}
	}
	maps.Copy(given, own)
	definitions, _, _ := unstructured.NestedSlice(f.class.Object, "spec", "variables")
	for _, each := range definitions {
		definition, _ := each.(map[string]any)
		name, form := forms.StringAt(definition, "name"), forms.Child(forms.Child(definition, "schema"), "openAPIV3Schema")
		forms.Set(given, name, withDefaults(given[name], form))
	}
	builtins := map[string]any{"cluster": map[string]any{
		"name": f.Name, "namespace": f.Namespace, "topology": map[string]any{"version": forms.WithV(f.Spec.KubernetesVersion), "class": f.Spec.Topology.Class},
	}}
	maps.Copy(builtins, builtin)
	given["builtin"] = builtins
	return given
}

// withDefaults returns the value of a variable with the defaults of its schema.
func withDefaults(value any, form map[string]any) any {
	if value == nil {
		value = runtime.DeepCopyJSONValue(form["default"])
	}
	object, ok := value.(map[string]any)
	properties, _ := form["properties"].(map[string]any)
	if !ok || len(properties) == 0 {
		return value
	}
	out := maps.Clone(object)
	for name := range properties {
		inner, _ := properties[name].(map[string]any)
		if v := withDefaults(object[name], inner); v != nil {
			out[name] = v
		}
	}
	return out
}
