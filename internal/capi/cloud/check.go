package cloud

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The minimum that kubeadm requires of a machine; leastRAM is in MiB.
const (
	leastVCPUs = 2
	leastRAM   = 2048
)

// cloudCheck compares the objects of a cluster with its OpenStack, and collects the problems.
type cloudCheck struct {
	ctx      context.Context //nolint:containedctx // It lives as long as one call.
	client   *openstack.Client
	spec     *vnfm.ClusterSpec
	objects  []map[string]any
	problems vnfm.Problems
	// absentOnly limits the check to missing resources.
	absentOnly bool
	// small are the flavors that are too small, by id.
	small map[string]*smallFlavor
	// The known requirements of the machines; ram is in MiB.
	instances, vcpus, ram int
}

// checkObjects looks up all resources that the objects name.
func (q *cloudCheck) checkObjects() error {
	for _, o := range q.objects {
		if forms.GroupOf(forms.StringAt(o, "apiVersion")) != forms.GroupInfrastructure {
			continue
		}
		var err error
		switch spec, _ := o["spec"].(map[string]any); o["kind"] {
		case "OpenStackCluster":
			err = q.cluster(spec)
		case "OpenStackMachineTemplate":
			err = q.machine(q.machinesOf(forms.StringAt(o, "metadata", "name")), forms.Child(forms.Child(spec, "template"), "spec"))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// argument is the argument to which a problem is attached.
type argument struct{ attribute, key string }

// form returns the argument with the form of the cluster.
func (q *cloudCheck) form() argument {
	switch {
	case q.spec.Template != nil:
		return argument{attribute: "clusterctl_template.content"}
	case q.spec.Chart != nil:
		return argument{attribute: "chart.values"}
	default:
		return argument{attribute: "topology"}
	}
}

func (q *cloudCheck) add(severity vnfm.Severity, at argument, summary, detail string) {
	p := vnfm.Problem{Severity: severity, Attribute: at.attribute, Key: at.key, Summary: summary, Detail: detail}
	if !slices.Contains(q.problems, p) {
		q.problems = append(q.problems, p)
	}
}

func (q *cloudCheck) cluster(spec map[string]any) error {
	given := q.spec.Network
	if given == nil {
		given = &vnfm.ClusterNetwork{}
	}
	// at returns the argument of the network if it is given, else the form.
	at := func(name string, isGiven bool) argument {
		if isGiven {
			return argument{attribute: "network." + name}
		}
		return q.form()
	}
	if err := q.external(spec["externalNetwork"], at("external", given.External != nil)); err != nil {
		return err
	}
	network, err := q.network(spec["network"], at("internal", given.Internal != nil))
	if err != nil {
		return err
	}
	subnets, _ := spec["subnets"].([]any)
	for _, each := range subnets {
		id, name := byOf(each)
		if id == "" && network == "" && spec["network"] != nil {
			// Names of subnets are looked up in their network, which is unknown here.
			continue
		}
		look := func(ctx context.Context, id, name string) ([]openstack.Named, error) {
			return q.client.Subnets(ctx, network, id, name)
		}
		if err := lookFor(q, "subnet", id, name, at("internal_subnet", given.Subnet != nil), look, nil); err != nil {
			return err
		}
	}
	return nil
}

// external looks up the network of floating IPs. Cluster API Provider OpenStack finds any
// network by id, but only external networks by name.
func (q *cloudCheck) external(param any, at argument) error {
	id, name := byOf(param)
	if id != "" {
		_, err := q.network(param, at)
		return err
	}
	return lookFor(q, "external network", "", name, at, q.client.ExternalNetworks, nil)
}

// network looks up a network, and returns its id if exactly one is found.
func (q *cloudCheck) network(param any, at argument) (string, error) {
	id, name := byOf(param)
	found := ""
	err := lookFor(q, "network", id, name, at, func(ctx context.Context, id, name string) ([]openstack.Named, error) {
		all, err := q.client.Networks(ctx, id, name)
		if len(all) == 1 {
			found = all[0].ID
		}
		return all, err
	}, nil)
	return found, err
}

func (q *cloudCheck) machine(who machines, spec map[string]any) error {
	at := q.flavorAt(who)
	number := q.numberOf(who)
	q.instances += number
	flavorID, flavor := flavorOf(spec)
	err := lookFor(q, "flavor", flavorID, flavor, at, q.client.Flavors, func(f openstack.Flavor) {
		q.vcpus += number * f.VCPUs
		q.ram += number * f.RAM
		q.checkFlavor(f, who, at)
	})
	if err != nil {
		return err
	}
	id, name := byOf(spec["image"])
	check := func(i openstack.Image) { q.image(i, q.versionOf(who)) }
	if err := lookFor(q, "image", id, name, q.form(), q.client.Images, check); err != nil {
		return err
	}
	if key := forms.StringAt(spec, "sshKeyName"); key != "" {
		err := lookFor(q, "key pair", "", key, q.form(), func(ctx context.Context, _, name string) ([]openstack.Named, error) {
			return q.client.Keypairs(ctx, name)
		}, nil)
		if err != nil {
			return err
		}
	}
	ports, _ := spec["ports"].([]any)
	for _, each := range ports {
		port, _ := each.(map[string]any)
		if _, err := q.network(port["network"], q.networksAt(who)); err != nil {
			return err
		}
	}
	return nil
}

// smallFlavor is a flavor that is too small for its machines, with the argument that names it and the index of its warning.
type smallFlavor struct {
	users   []string
	at      argument
	problem int
}

// checkFlavor warns once of each flavor that kubeadm would reject. The number of vCPUs does not matter for node groups.
func (q *cloudCheck) checkFlavor(f openstack.Flavor, who machines, at argument) {
	worker := !who.controlPlane && who.group != ""
	if f.RAM >= leastRAM && (worker || f.VCPUs >= leastVCPUs) {
		return
	}
	if q.small == nil {
		q.small = map[string]*smallFlavor{}
	}
	small := q.small[f.ID]
	if small == nil {
		small = &smallFlavor{at: at, problem: len(q.problems)}
		q.small[f.ID], q.problems = small, append(q.problems, vnfm.Problem{})
	}
	if !slices.Contains(small.users, who.String()) {
		small.users = append(small.users, who.String())
	}
	q.problems[small.problem] = vnfm.Problem{
		Severity: vnfm.SeverityWarning, Attribute: small.at.attribute, Key: small.at.key,
		Summary: fmt.Sprintf("flavor %q of %s has %d vCPU and %d MiB of memory", f.Name, strings.Join(small.users, " and "), f.VCPUs, f.RAM),
		Detail:  fmt.Sprintf("kubeadm refuses a control plane of less than %d vCPU, and needs %d MiB for any machine", leastVCPUs, leastRAM),
	}
}

// image compares the Kubernetes version in the properties of an image with the version of its machines.
func (q *cloudCheck) image(i openstack.Image, wanted string) {
	switch {
	case i.Status != "" && i.Status != "active":
		q.add(vnfm.SeverityWarning, q.form(), fmt.Sprintf("image %q is %s", i.Name, i.Status), "no machine can be made of it until it is active")
	case wanted == "":
	case i.KubeVersion == "":
		q.add(vnfm.SeverityWarning, q.form(), fmt.Sprintf("image %q does not say which version of Kubernetes it has", i.Name),
			fmt.Sprintf("its property kube_version is missing, so that nobody can tell whether it has %s", wanted))
	case forms.WithoutV(i.KubeVersion) != wanted:
		q.add(vnfm.SeverityError, argument{attribute: "kubernetes_version"}, fmt.Sprintf("image %q has Kubernetes %s, not %s", i.Name, forms.WithoutV(i.KubeVersion), wanted),
			"kubelet and kubeadm come with the image: name one whose property kube_version is kubernetes_version")
	}
}

// lookFor looks up one resource. It calls then with the resource if exactly one is found.
func lookFor[T any](q *cloudCheck, kind, id, name string, at argument, look func(ctx context.Context, id, name string) ([]T, error), then func(T)) error {
	if id == "" && name == "" {
		return nil
	}
	all, err := look(q.ctx, id, name)
	switch {
	case err != nil:
		return err
	case len(all) > 1:
		q.add(vnfm.SeverityError, at, fmt.Sprintf("there are %d of the %s %q", len(all), kind, name), "give the id of the one that is meant")
	case len(all) == 1 && then != nil && !q.absentOnly:
		then(all[0])
	case len(all) == 0 && id != "":
		q.add(vnfm.SeverityError, at, fmt.Sprintf("there is no %s with the id %s in the OpenStack", kind, id), "check the id, and that the project may see it")
	case len(all) == 0:
		q.add(vnfm.SeverityWarning, at, fmt.Sprintf("there is no %s %q in the OpenStack", kind, name), "check the name, unless the same apply makes it: without it no machine comes up")
	}
	return nil
}

// flavorOf returns id or name of the flavor of a machine. Version v1beta1 of Cluster API Provider OpenStack has two fields, and
// v1beta2 a parameter.
func flavorOf(spec map[string]any) (id, name string) {
	if _, isParameter := spec["flavor"].(map[string]any); isParameter {
		return byOf(spec["flavor"])
	}
	return forms.StringAt(spec, "flavorID"), forms.StringAt(spec, "flavor")
}

// byOf returns id or name in a parameter of Cluster API Provider OpenStack. Filters other than
// a name alone are not checked.
func byOf(param any) (id, name string) {
	p, _ := param.(map[string]any)
	if filter, _ := p["filter"].(map[string]any); len(filter) == 1 {
		name = forms.StringAt(filter, "name")
	}
	return forms.StringAt(p, "id"), name
}
