package cloud

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// cloudLimit bounds the look at an OpenStack that a plan takes.
const cloudLimit = 20 * time.Second

// The minimum that kubeadm asks of a machine.
const (
	leastVCPUs = 2
	leastRAM   = 2048
)

// Checker asks the OpenStack of workload clusters about what they name.
type Checker struct {
	Clouds *openstack.Pool
	// Cluster returns the cluster of a target on its management cluster.
	Cluster func(t *vnfm.Target) (*Cluster, error)
}

// Check looks up the resources that the objects of a cluster name in its OpenStack. A missing
// resource is a warning when it is given by name, since the same apply may make it, and an
// error when it is given by id. A cloud that does not answer is one warning.
func (k *Checker) Check(ctx context.Context, t *vnfm.Target) vnfm.Problems {
	problems, err := k.query(ctx, t, false)
	if err != nil {
		detail := err.Error()
		if isEdited(err) {
			detail += "; find out who edited the store, and register the VIM again"
		}
		return append(problems, vnfm.Problem{
			Severity: vnfm.SeverityWarning, Attribute: "openstack",
			Summary: fmt.Sprintf("workload cluster %q was not tried on its OpenStack", t.Instance.Cluster.Name), Detail: detail,
		})
	}
	return problems
}

// AddProblems adds to an error of an operation what the OpenStack lacks. Of an image or a
// flavor that went after the plan Cluster API Provider OpenStack tells in its log alone,
// and of credentials that are refused as well.
func (k *Checker) AddProblems(ctx context.Context, t *vnfm.Target, err error) error {
	if t.Instance.Cluster.OpenStack == nil || errors.Is(ctx.Err(), context.Canceled) || IsExplained(err) {
		return err
	}
	problems, silence := k.query(context.WithoutCancel(ctx), t, true)
	for _, p := range problems {
		err = fmt.Errorf("%w\n* %s: %s", err, p.Summary, p.Detail)
	}
	switch {
	case silence == nil:
	case isEdited(silence):
		// The advice follows from the type of the error.
		err = fmt.Errorf("%w\n* its OpenStack was not asked: %w", err, silence)
	default:
		err = fmt.Errorf("%w\n* its OpenStack does not answer: %s", err, silence.Error())
	}
	return err
}

func isEdited(err error) bool {
	_, ok := errors.AsType[*vnfm.EditedError](err)
	return ok
}

// IsExplained reports whether an error needs no explanation by the cluster or its OpenStack:
// the request was wrong, or somebody else owns an object.
func IsExplained(err error) bool {
	var invalid *vnfm.InvalidError
	var conflict *vnfm.ConflictError
	return errors.As(err, &invalid) || errors.As(err, &conflict)
}

// query asks the OpenStack of a cluster, or only for what is absent there.
func (k *Checker) query(ctx context.Context, t *vnfm.Target, absentOnly bool) (vnfm.Problems, error) {
	ctx, cancel := context.WithTimeout(ctx, cloudLimit)
	defer cancel()
	spec := t.Instance.Cluster
	q := &cloudCheck{ctx: ctx, spec: spec, absentOnly: absentOnly}
	var err error
	if q.objects, err = k.cloudObjects(ctx, t); err == nil {
		if !absentOnly {
			q.checkIdentities()
		}
		var vim *vnfm.VIM
		var creds vnfm.Credentials
		if vim, creds, err = t.Access(ctx, spec.OpenStack.VIMID); errors.Is(err, vnfm.ErrNotFound) {
			// It is registered by the same apply.
			return q.problems, nil
		}
		if err == nil {
			q.client, err = k.Clouds.Client(vim.Name, vim.OpenStack, creds)
		}
	}
	if err == nil {
		err = q.checkObjects()
	}
	if err == nil && !absentOnly && q.instances > 0 && t.Instance.ID == "" && !t.AdoptExisting {
		// Machines of a cluster that is there are among what is used.
		err = q.quota()
	}
	return q.problems, err
}

// cloudObjects are the objects of a cluster that name what is in its OpenStack: its own,
// or those that Cluster API makes of its topology.
func (k *Checker) cloudObjects(ctx context.Context, t *vnfm.Target) ([]map[string]any, error) {
	if t.Instance.Cluster.Topology != nil {
		c, err := k.Cluster(t)
		if err != nil {
			return nil, err
		}
		return c.classObjects(ctx)
	}
	text, err := fs.ReadFile(t.Package.Content, forms.ManifestFile)
	if err != nil {
		return nil, err
	}
	return forms.Decode(string(text))
}

// cloudCheck collects what an OpenStack says of the objects of a cluster.
type cloudCheck struct {
	ctx      context.Context //nolint:containedctx // It lives as long as one call.
	client   *openstack.Client
	spec     *vnfm.ClusterSpec
	objects  []map[string]any
	problems vnfm.Problems
	// absentOnly leaves out how what is there suits the cluster.
	absentOnly bool
	// The machines need these, as far as it is known.
	instances, vcpus, ram int
}

// checkObjects looks for everything that is named, each thing once.
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

// argument is the argument that something comes from.
type argument struct{ attribute, key string }

// form is the argument in which the form of the cluster is.
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

// machines are those that one template is for.
type machines struct {
	// controlPlane is set for the control plane, else group is the name of a node group;
	// it is empty when no object refers to the template.
	controlPlane bool
	group        string
}

func (m machines) String() string {
	if m.controlPlane {
		return "the control plane"
	}
	return fmt.Sprintf("node group %q", m.group)
}

// machinesOf are those whose template has a name.
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

// numberOf is how many machines are made at first.
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

// quota compares what a new cluster needs with what is left to the project. Where the user
// may not read it, registering the VIM has told.
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

// flavorAt is the argument that has the flavor of machines.
func (q *cloudCheck) flavorAt(m machines) argument {
	switch {
	case m.controlPlane && q.spec.ControlPlane.Flavor != "":
		return argument{attribute: "control_plane.flavor"}
	case q.spec.NodeGroups[m.group].Flavor != "":
		return argument{attribute: forms.AttributeNodeGroups, key: m.group}
	default:
		return q.form()
	}
}

// networksAt is the argument that has the networks of machines.
func (q *cloudCheck) networksAt(m machines) argument {
	switch {
	case m.controlPlane && len(q.spec.ControlPlane.Networks) > 0:
		return argument{attribute: "control_plane.networks"}
	case len(q.spec.NodeGroups[m.group].Networks) > 0:
		return argument{attribute: forms.AttributeNodeGroups, key: m.group}
	default:
		return q.form()
	}
}

func (q *cloudCheck) cluster(spec map[string]any) error {
	given := q.spec.Network
	if given == nil {
		given = &vnfm.ClusterNetwork{}
	}
	// at is the argument of the network that has something, or else the form.
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
			// Its name is one in a network that is not known here.
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

// external looks for the network that floating IPs come from. By a name Cluster API Provider
// OpenStack finds external ones only, by an id any.
func (q *cloudCheck) external(param any, at argument) error {
	id, name := byOf(param)
	if id != "" {
		_, err := q.network(param, at)
		return err
	}
	return lookFor(q, "external network", "", name, at, q.client.ExternalNetworks, nil)
}

// network looks for a network, and returns its id when there is one.
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
		if f.VCPUs < leastVCPUs || f.RAM < leastRAM {
			q.add(vnfm.SeverityWarning, at, fmt.Sprintf("flavor %q of %s has %d vCPU and %d MiB of memory", f.Name, who, f.VCPUs, f.RAM),
				fmt.Sprintf("kubeadm refuses a control plane of less than %d vCPU, and needs %d MiB for any machine", leastVCPUs, leastRAM))
		}
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

// versionOf is the version of Kubernetes of machines, which may be another one than the cluster's; empty for none.
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

// image compares the version of Kubernetes that an image says with that of its machines.
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

// lookFor finds one thing, and hands it to then.
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

// flavorOf is what the flavor of a machine is found by. Version v1beta1 of Cluster API Provider OpenStack has two fields, and v1beta2 a parameter.
func flavorOf(spec map[string]any) (id, name string) {
	if _, isParameter := spec["flavor"].(map[string]any); isParameter {
		return byOf(spec["flavor"])
	}
	return forms.StringAt(spec, "flavorID"), forms.StringAt(spec, "flavor")
}

// byOf is what a parameter of Cluster API Provider OpenStack finds something by. Other
// filters than a name alone are its own affair.
func byOf(param any) (id, name string) {
	p, _ := param.(map[string]any)
	if filter, _ := p["filter"].(map[string]any); len(filter) == 1 {
		name = forms.StringAt(filter, "name")
	}
	return forms.StringAt(p, "id"), name
}
