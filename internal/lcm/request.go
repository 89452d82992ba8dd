package lcm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/addons"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/multivim"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/parameters"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/vims"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// prepare opens the store, looks up what a spec names and checks what it asks for. The namespace of the
// spec is completed: it may come from the VIM.
func (e *Engine) prepare(ctx context.Context, spec *vnfm.InstanceSpec) (store.Store, *resolution, error) {
	s, r, problems, err := e.resolveSpec(ctx, spec)
	if err != nil {
		return nil, nil, err
	}
	if r == nil {
		return s, nil, problems.Err()
	}
	if r.own != nil && spec.Cluster == nil && !problems.HasErrors() {
		drivers, err := driversOf(ctx, r.own, spec, func(ctx context.Context, id string) (vnfm.InfraDriver, *vnfm.VIM, vnfm.Credentials, error) {
			d, err := e.registeredDriver(ctx, id)
			return d, nil, nil, err
		})
		if err != nil {
			return nil, nil, err
		}
		problems = append(problems, e.checkTaken(ctx, drivers, spec, r)...)
	}
	e.checkHooks(r, spec, nil, &problems)
	return s, r, problems.Err()
}

// resolveSpec is prepare without a check of the parameters of management drivers. When the VIM is registered and something else is
// missing, it returns the store beside the error.
func (e *Engine) resolveSpec(ctx context.Context, spec *vnfm.InstanceSpec) (store.Store, *resolution, vnfm.Problems, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	vim, err := vims.Get(ctx, s, spec.VIMID)
	if err != nil {
		return nil, nil, nil, err
	}
	if spec.Cluster != nil {
		if err := e.completeCluster(ctx, s, vim, spec, true); err != nil {
			return s, nil, nil, err
		}
	}
	r, problems, err := e.resolve(ctx, *spec)
	if err != nil || r == nil {
		return s, nil, problems, err
	}
	if d, err := e.vims.Driver(vim.Type); err == nil {
		// A missing driver is reported when the VIM is opened.
		r.own = d
	}
	e.splitParams(r.flavour, spec)
	if !problems.HasErrors() {
		spec.Namespace, spec.PackageID = e.namespaceOf(*spec, vim), r.pkg.ID
	}
	return s, r, problems, nil
}

// driversOf are the infra drivers of the VIMs of a specification.
func driversOf(ctx context.Context, own vnfm.InfraDriver, spec *vnfm.InstanceSpec, lookup multivim.Lookup) (multivim.Drivers, error) {
	out := multivim.Drivers{Own: own, Further: map[string]vnfm.InfraDriver{}}
	for _, name := range slices.Sorted(maps.Keys(spec.Connections)) {
		d, _, _, err := lookup(ctx, spec.Connections[name].VIMID)
		if err != nil {
			return out, fmt.Errorf("VIM connection %q: %w", name, err)
		}
		out.Further[name] = d
	}
	return out, nil
}

// checkTaken finds what no VIM of an instance takes: of a specification whose parameters are parted.
func (e *Engine) checkTaken(ctx context.Context, drivers multivim.Drivers, spec *vnfm.InstanceSpec, r *resolution) vnfm.Problems {
	problems := multivim.CheckKinds(drivers, r.flavour, *spec)
	return append(problems, e.params.Check(ctx, &parameters.Request{
		Package: r.pkg, Flavour: r.flavour, Drivers: drivers.All(), Params: spec.AdditionalParams, Secrets: spec.InfraSecrets,
		Skipped: e.management().Skipped(r.flavour, spec.UnknownDrivers),
	})...)
}

// resolve looks up package, flavour, level and counts. It needs no VIM.
func (e *Engine) resolve(ctx context.Context, spec vnfm.InstanceSpec) (*resolution, vnfm.Problems, error) {
	p, problems, err := e.packageFor(ctx, spec)
	if err != nil || problems.HasErrors() {
		return nil, problems, err
	}
	r, more := resolveIn(p, spec)
	return r, append(problems, more...), nil
}

// packageFor returns the package of a spec: the one that was onboarded, or, for a
// workload cluster, the one that is made of its specification.
func (e *Engine) packageFor(ctx context.Context, spec vnfm.InstanceSpec) (*vnfm.Package, vnfm.Problems, error) {
	if spec.Cluster == nil {
		p, err := e.catalog.PackageOf(ctx, spec.PackageID)
		return p, nil, err
	}
	d, err := e.clusters()
	if err != nil {
		return nil, nil, err
	}
	cluster := *spec.Cluster
	if cluster.Results == nil {
		cluster.Results = vnfm.NewResults(nil)
	}
	if c := cluster.Chart; c != nil && c.Fetched() {
		fetched := *c
		content, files, err := e.catalog.ChartContent(ctx, &c.ChartSource)
		if err != nil {
			return nil, nil, err
		}
		fetched.Archive, fetched.File = content, files[0].Path
		cluster.Chart = &fetched
	}
	p, problems := d.Package(&cluster)
	return p, append(problems, vnfm.CheckAddons(addons.Wanted(cluster.Addons))...), nil
}

// namespaceOf is the namespace of an instance: its own, that of the parameters
// (Tacker's users give it there), the VIM's default.
func (e *Engine) namespaceOf(spec vnfm.InstanceSpec, vim *vnfm.VIM) string {
	if spec.Namespace != "" {
		return spec.Namespace
	}
	if d, ok := e.cfg.Drivers[vim.Type]; ok {
		if ns, ok := spec.AdditionalParams[d.Params().Namespace].(string); ok && ns != "" {
			return ns
		}
	}
	return vim.DefaultNamespace()
}

// resolveConnections completes the VIM connections of a spec, all of whose VIMs must be registered.
func (e *Engine) resolveConnections(ctx context.Context, s store.Store, spec *vnfm.InstanceSpec, present map[string]vnfm.Connection) error {
	known, err := connectedVIMs(ctx, s, spec.Connections)
	if err != nil {
		return err
	}
	return e.completeConnections(spec, known, present)
}

// connectedVIMs are the registered VIMs of connections, by the names of these. The first that is not registered is an error that wraps
// vnfm.ErrNotFound; the others are returned all the same.
func connectedVIMs(ctx context.Context, s store.Store, connections map[string]vnfm.Connection) (map[string]*vnfm.VIM, error) {
	known := make(map[string]*vnfm.VIM, len(connections))
	var missing error
	for _, name := range slices.Sorted(maps.Keys(connections)) {
		vim, err := vims.Get(ctx, s, connections[name].VIMID)
		if err == nil {
			known[name] = vim
			continue
		}
		err = fmt.Errorf("VIM connection %q: %w", name, err)
		if !errors.Is(err, vnfm.ErrNotFound) {
			return nil, err
		}
		if missing == nil {
			missing = err
		}
	}
	return known, missing
}

// completeConnections fills the namespaces that were left out: an instance that is there keeps those that it has, else the VIM's default
// is taken. Two parts of an instance must not be in one place, where they would take each other's objects away. Connections of VIMs that
// are not known are left as they are.
func (e *Engine) completeConnections(spec *vnfm.InstanceSpec, known map[string]*vnfm.VIM, present map[string]vnfm.Connection) error {
	if len(spec.Connections) == 0 {
		return nil
	}
	resolved := make(map[string]vnfm.Connection, len(spec.Connections))
	places := map[string]string{spec.VIMID + "/" + spec.Namespace: "the instance itself"}
	for _, name := range slices.Sorted(maps.Keys(spec.Connections)) {
		c := spec.Connections[name]
		if c.Namespace == "" && present[name].VIMID == c.VIMID {
			c.Namespace = present[name].Namespace
		}
		vim := known[name]
		if vim == nil {
			resolved[name] = c
			continue
		}
		c.Namespace = e.namespaceOf(vnfm.InstanceSpec{Namespace: c.Namespace}, vim)
		place := c.VIMID + "/" + c.Namespace
		if other, twice := places[place]; twice {
			taken := vnfm.Problem{
				Attribute: vnfm.AttributeConnections, Key: name,
				Summary: "namespace " + strconv.Quote(c.Namespace) + " of VIM " + strconv.Quote(vim.Name) + " is already used by " + other,
				Detail:  "give the VIM connection another VIM or namespace",
			}
			if c.Namespace == "" {
				taken.Summary = "VIM " + strconv.Quote(vim.Name) + " is already used by " + other
				taken.Detail = "a VIM without namespaces has one part of an instance; give the VIM connection another VIM"
			}
			return &vnfm.InvalidError{Problems: vnfm.Problems{taken}}
		}
		places[place] = "VIM connection " + strconv.Quote(name)
		resolved[name] = c
	}
	spec.Connections = resolved
	return nil
}

// checkCredentials opens the credentials of all VIMs of a request. Those that cannot be opened
// end it here, before it is an operation.
func (e *Engine) checkCredentials(ctx context.Context, spec *vnfm.InstanceSpec) error {
	if _, _, err := e.vims.Open(ctx, spec.VIMID); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Connections)) {
		if _, _, err := e.vims.Open(ctx, spec.Connections[name].VIMID); err != nil {
			return fmt.Errorf("VIM connection %q: %w", name, err)
		}
	}
	return nil
}

// completeCluster fills what a workload cluster's specification leaves to its
// management cluster: the namespace, and the version of Cluster API that generated
// objects are written in, see clusterAPIVersion.
func (e *Engine) completeCluster(ctx context.Context, s store.Store, vim *vnfm.VIM, spec *vnfm.InstanceSpec, ask bool) (err error) {
	cluster := *spec.Cluster
	spec.Cluster = &cluster
	spec.Namespace = e.namespaceOf(*spec, vim)
	cluster.Namespace = spec.Namespace
	if cluster.OpenStack, err = e.completeCloud(ctx, s, cluster.OpenStack); err != nil {
		return err
	}
	if err := e.completeNames(ctx, s, spec); err != nil {
		return err
	}
	if cluster.APIVersion == "" {
		cluster.APIVersion, err = e.clusterAPIVersion(ctx, vim, ask)
	}
	return err
}

// completeCloud fills what a workload cluster's part in an OpenStack leaves to the VIM: the
// owner of its application credential, and how Keystone is reached.
func (e *Engine) completeCloud(ctx context.Context, s store.Store, spec *vnfm.ClusterOpenStack) (*vnfm.ClusterOpenStack, error) {
	if spec == nil {
		return nil, nil
	}
	vim, err := e.vims.Connection(ctx, s, spec.VIMID)
	if err != nil {
		return nil, err
	}
	if vim.OpenStack == nil || vim.Cloud == nil {
		return nil, &vnfm.InvalidError{Problems: vnfm.Problems{{
			Attribute: "openstack.vim_id", Summary: "VIM " + strconv.Quote(vim.Name) + " is not an OpenStack VIM", Detail: "give the id of a vnf_vim with the argument openstack",
		}}}
	}
	cloud := *spec
	cloud.UserID, cloud.ProjectID = vim.Cloud.UserID, vim.Cloud.ProjectID
	cloud.OwnerLater = e.vims.Changes(spec.VIMID)
	at := vim.OpenStack
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", []string{vim.Endpoint, vim.Cloud.Region, at.Interface, at.CACertificate, strconv.FormatBool(at.InsecureSkipTLSVerify)}))
	cloud.Access = hex.EncodeToString(sum[:8])
	return &cloud, nil
}

// completeNames tells a workload cluster's specification how the cluster is at present.
func (e *Engine) completeNames(ctx context.Context, s store.Store, spec *vnfm.InstanceSpec) error {
	d, err := e.clusters()
	if err != nil {
		return err
	}
	en, err := findByKey(ctx, s, *spec)
	if err != nil {
		return err
	}
	var present *vnfm.ClusterSpec
	if en != nil {
		present = en.Value.Cluster
	}
	d.CarryOver(spec.Cluster, present)
	return nil
}
