package lcm

import (
	"context"
	"maps"
	"strconv"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/addons"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/multivim"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfd"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// resolution is a spec with everything that its package says about it.
type resolution struct {
	pkg         *vnfm.Package
	flavour     *vnfm.Flavour
	levelID     string
	scaleStatus map[string]int
	counts      map[string]int
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

// resolveIn finds flavour, level and counts of a request in its package.
func resolveIn(p *vnfm.Package, spec vnfm.InstanceSpec) (*resolution, vnfm.Problems) {
	var problems vnfm.Problems
	r := &resolution{pkg: p}
	r.flavour = chooseFlavour(p.Descriptor, spec.FlavourID, &problems)
	if r.flavour == nil {
		return nil, problems
	}
	checkLinks(r.flavour, spec.Links, &problems)
	if multivim.CheckConnections(p, r.flavour, spec.Connections, &problems); problems.HasErrors() {
		return nil, problems
	}
	r.levelID = spec.LevelID
	if r.levelID == "" {
		r.levelID = r.flavour.DefaultLevelID
	} else if r.flavour.Level(r.levelID) == nil {
		problems = append(problems, vnfm.Problem{
			Attribute: "instantiation_level_id",
			Summary:   "deployment flavour " + strconv.Quote(r.flavour.ID) + " has no instantiation level " + strconv.Quote(r.levelID),
			Detail:    "it has " + vnfm.QuotedNames(r.flavour.LevelIDs()),
		})
		return nil, problems
	}
	status, more := vnfd.ScaleStatus(r.flavour, r.levelID, spec.ScaleLevels)
	if more.HasErrors() {
		return nil, append(problems, attribute(more, "scale_levels")...)
	}
	counts, more := vnfd.Counts(r.flavour, r.levelID, spec.ScaleLevels)
	problems = append(problems, attribute(more, "scale_levels")...)
	if problems.HasErrors() {
		return nil, problems
	}
	if spec.Cluster == nil {
		// The names of a cluster's machines tell nothing.
		checkHeal(r.flavour, spec.Heal, &problems)
	}
	if problems.HasErrors() {
		return nil, problems
	}
	r.scaleStatus, r.counts = status, counts
	if spec.OperationalState == vnfm.Stopped {
		r.counts = maps.Clone(counts)
		for id := range r.counts {
			r.counts[id] = 0
		}
	}
	return r, problems
}

func chooseFlavour(d *vnfm.Descriptor, id string, problems *vnfm.Problems) *vnfm.Flavour {
	if id == "" {
		id = d.DefaultFlavourID
	}
	if id == "" && len(d.Flavours) == 1 {
		id = d.Flavours[0].ID
	}
	if f := d.Flavour(id); f != nil {
		return f
	}
	ids := make([]string, 0, len(d.Flavours))
	for _, f := range d.Flavours {
		ids = append(ids, f.ID)
	}
	p := vnfm.Problem{Attribute: "flavour_id", Detail: "the package has " + vnfm.QuotedNames(ids)}
	if id == "" {
		p.Summary = "the VNFD has several deployment flavours and no default: one must be chosen"
	} else {
		p.Summary = "VNFD " + strconv.Quote(d.ID) + " has no deployment flavour " + strconv.Quote(id)
	}
	*problems = append(*problems, p)
	return nil
}

// attribute names the argument that problems without a place are about.
func attribute(ps vnfm.Problems, name string) vnfm.Problems {
	for i := range ps {
		if ps[i].Attribute == "" && ps[i].File == "" {
			ps[i].Attribute = name
		}
	}
	return ps
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

// describe writes into an instance what a spec and its resolution say. The
// instance's identity, status and inventory are not touched.
func describe(i *vnfm.Instance, spec vnfm.InstanceSpec, r *resolution) {
	i.Name, i.Description, i.Metadata = spec.Name, spec.Description, spec.Metadata
	i.PackageID, i.VNFDID, i.Cluster = r.pkg.ID, r.pkg.Descriptor.ID, addons.WantedCluster(i, spec.Cluster)
	i.FlavourID, i.LevelID = r.flavour.ID, r.levelID
	i.ScaleLevels, i.ScaleStatus = spec.ScaleLevels, r.scaleStatus
	i.AdditionalParams = spec.AdditionalParams
	i.OperationalState = spec.OperationalState
	i.Connections, i.Links = multivim.PlannedConnections(i, spec), spec.Links
	i.Readiness = spec.Readiness
	if len(spec.Arguments) > 0 {
		i.Arguments = spec.Arguments
	}
}

// specOf reads the spec back out of a record.
func specOf(i *vnfm.Instance) vnfm.InstanceSpec {
	return vnfm.InstanceSpec{
		Name: i.Name, Description: i.Description, Metadata: i.Metadata,
		VIMID: i.VIMID, PackageID: i.PackageID, Cluster: i.Cluster, FlavourID: i.FlavourID, LevelID: i.LevelID,
		Connections: i.Connections, Links: i.Links, ScaleLevels: i.ScaleLevels, Namespace: i.Namespace, AdditionalParams: i.AdditionalParams,
		OperationalState: i.OperationalState, Readiness: i.Readiness, Arguments: i.Arguments,
	}
}

// target composes what a driver needs, without the VIM.
func (e *Engine) target(i *vnfm.Instance, r *resolution, spec vnfm.InstanceSpec) *vnfm.Target {
	return &vnfm.Target{
		Instance: i, SecretParams: spec.InfraSecrets, Package: r.pkg, Flavour: r.flavour, Counts: r.counts,
		ForceConflicts: spec.ForceConflicts, AdoptExisting: spec.AdoptExisting, ReplaceObjects: spec.ReplaceObjects,
		ScaleInVNFCIDs: spec.ScaleInVNFCIDs, ParamOwners: e.paramOwners, DigestKey: i.DigestKey, Concurrency: e.cfg.Concurrency,
	}
}
