package cloud

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Cluster API Provider OpenStack compares the whole specification of an OpenStackCluster
// with the one before, where "not set" and "false" differ, and rejects all but a few
// changes. Machine templates are immutable: another template needs another name.

// changeable are the mutable fields of an OpenStackCluster (webhooks of v0.14 for v1beta1
// and of v0.15 for v1beta2), including the fields below them.
var changeable = []string{
	"identityRef", "bastion", "controlPlaneAvailabilityZones", "controlPlaneOmitAvailabilityZone",
	"apiServerLoadBalancer.allowedCIDRs", "apiServerLoadBalancer.monitor",
	"managedSecurityGroups.allNodesSecurityGroupRules", "managedSecurityGroups.controlPlaneNodesSecurityGroupRules",
	"managedSecurityGroups.workerNodesSecurityGroupRules", "managedSecurityGroups.allowAllInClusterTraffic",
	// The names of v1beta2.
	"apiServer.managedLoadBalancer.allowedCIDRs", "apiServer.managedLoadBalancer.monitor", "managedSecurityGroups.clusterNodesSecurityGroupRules",
}

// settable are fields that can be set as long as they have no value.
var settable = []string{"controlPlaneEndpoint", "apiServerFixedIP", "apiServerPort", "apiServer.fixedIP", "apiServer.port", "managedSecurityGroups"}

// ImmutableChanges reports changes of objects that the webhook of their provider rejects, by field. The dry run of the infra driver
// reports rejections by the API server itself.
func (c *Cluster) ImmutableChanges(ctx context.Context, t *vnfm.Target) vnfm.Problems {
	text, err := fs.ReadFile(t.Package.Content, forms.ManifestFile)
	if err != nil {
		return nil
	}
	objects, err := forms.Decode(string(text))
	if err != nil {
		return nil
	}
	q := &cloudCheck{spec: c.Spec}
	var ps vnfm.Problems
	for _, o := range objects {
		kind := forms.StringAt(o, "kind")
		gv, err := schema.ParseGroupVersion(forms.StringAt(o, "apiVersion"))
		if err != nil || gv.Group != forms.GroupInfrastructure || (kind != "OpenStackCluster" && kind != "OpenStackMachineTemplate") {
			continue
		}
		if p := c.immutableChange(ctx, gv.WithKind(kind), o, q.form(), t.ReplaceObjects); p != nil {
			ps = append(ps, *p)
		}
	}
	return ps
}

func (c *Cluster) immutableChange(ctx context.Context, gvk schema.GroupVersionKind, o map[string]any, at argument, replaced []string) *vnfm.Problem {
	r, err := c.Client.Resource(ctx, gvk)
	if err != nil {
		return nil
	}
	name := forms.StringAt(o, "metadata", "name")
	ref := kube.Ref{Resource: r, Namespace: c.Namespace, Name: name}
	live, err := c.Client.Get(ctx, ref)
	if err != nil {
		return nil
	}
	key := fmt.Sprintf("%s/%s %s", gvk.GroupVersion(), gvk.Kind, name)
	if slices.Contains(replaced, key) {
		return nil
	}
	meta := maps.Clone(forms.Child(o, "metadata"))
	meta["namespace"] = c.Namespace
	body := maps.Clone(o)
	body["metadata"] = meta
	_, err = c.Client.Apply(ctx, ref, body, kube.ApplyOptions{Force: true, DryRun: true})
	// The answer of the webhook counts, because each version of the provider accepts more changes. A rejection does not name the
	// immutable fields, so that they are computed here.
	if err == nil {
		return nil
	}
	if refusal, _ := kube.RefusalOf(err); refusal != kube.RefusedForNow {
		return nil
	}
	before, wanted := simulateApply(live, mapAt(o, "spec"))
	var refused []string
	for _, d := range differences("", before, wanted) {
		if gvk.Kind == "OpenStackMachineTemplate" || !d.allowed() {
			refused = append(refused, d.String())
		}
	}
	if len(refused) == 0 {
		return nil
	}
	advice := "set them back; a cluster that has them otherwise is another one: destroy it, or have it replaced (terraform apply -replace)"
	if gvk.Kind == "OpenStackMachineTemplate" {
		advice = "give the template another name, here and in what refers to it: machines are then replaced one after the other"
	}
	return &vnfm.Problem{
		Attribute: at.attribute, Key: at.key,
		Summary: fmt.Sprintf("Cluster API Provider OpenStack does not let %s be changed", ref),
		Detail:  strings.Join(refused, "; ") + ": " + advice,
	}
}

// difference is a field that would change.
type difference struct {
	path          string
	before, after any
}

func (d difference) String() string {
	return fmt.Sprintf("spec.%s is %s and would be %s", d.path, shown(d.before), shown(d.after))
}

// shown writes a value so that "not set" differs from an empty value.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "not set"
	case string:
		return fmt.Sprintf("%q", v)
	default:
		return fmt.Sprint(v)
	}
}

// allowed reports whether the webhook accepts the change in an OpenStackCluster.
func (d difference) allowed() bool {
	within := func(fields []string) bool {
		return slices.ContainsFunc(fields, func(f string) bool { return d.path == f || strings.HasPrefix(d.path, f+".") })
	}
	if within(changeable) || (d.before == nil && within(settable)) {
		return true
	}
	return d.path == "managedSubnets" && sameButNameservers(d.before, d.after)
}

// sameButNameservers compares managed subnets without their name servers, which may change.
func sameButNameservers(a, b any) bool {
	stripped := func(v any) []any {
		list, _ := v.([]any)
		out := make([]any, 0, len(list))
		for _, each := range list {
			subnet, _ := each.(map[string]any)
			subnet = maps.Clone(subnet)
			delete(subnet, "dnsNameservers")
			out = append(out, subnet)
		}
		return out
	}
	return reflect.DeepEqual(stripped(a), stripped(b))
}

// differences returns the fields in which two objects differ, in order. Lists are compared as a whole.
func differences(at string, before, after map[string]any) []difference {
	names := map[string]bool{}
	for name := range before {
		names[name] = true
	}
	for name := range after {
		names[name] = true
	}
	var out []difference
	for _, name := range slices.Sorted(maps.Keys(names)) {
		path := strings.TrimPrefix(at+"."+name, ".")
		a, wasMap := before[name].(map[string]any)
		b, isMap := after[name].(map[string]any)
		switch {
		case wasMap && isMap:
			out = append(out, differences(path, a, b)...)
		case !reflect.DeepEqual(before[name], after[name]):
			out = append(out, difference{path, before[name], after[name]})
		}
	}
	return out
}
