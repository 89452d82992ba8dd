package lcm

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/addons"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/multivim"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/vims"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
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
	// own is the infra driver of the instance's own VIM; nil until the VIM is looked up, and where there is none for its type.
	own vnfm.InfraDriver
}

// resolveIn finds flavour, level and counts of a request in its package.
func resolveIn(p *vnfm.Package, spec vnfm.InstanceSpec) (*resolution, vnfm.Problems) {
	var problems vnfm.Problems
	r := &resolution{pkg: p}
	r.flavour = chooseFlavour(p.Descriptor, spec.FlavourID, &problems)
	if r.flavour == nil {
		return nil, problems
	}
	if spec.Cluster == nil {
		// The names of a cluster's machines tell nothing.
		checkHeal(r.flavour, spec.Heal, &problems)
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
	var more vnfm.Problems
	r.scaleStatus, r.counts, more = vnfd.Scaled(r.flavour, r.levelID, spec.ScaleLevels)
	if problems = append(problems, more...); problems.HasErrors() {
		return nil, problems
	}
	if spec.OperationalState == vnfm.Stopped {
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
	ids := make([]string, 0, len(d.Flavours))
	for i := range d.Flavours {
		if d.Flavours[i].ID == id {
			return &d.Flavours[i]
		}
		ids = append(ids, d.Flavours[i].ID)
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

// The arguments that problems of named VNFCs are about.
const (
	attributeHealVNFCs    = "heal.vnfc_ids"
	attributeHealVDUs     = "heal.vdu_ids"
	attributeHealMachines = "heal.machine_names"
	attributeScaleIn      = "scale_in_vnfc_ids"
)

// checkHeal finds what cannot be healed whatever the VIM holds.
func checkHeal(f *vnfm.Flavour, want *vnfm.HealSpec, problems *vnfm.Problems) {
	if want == nil {
		return
	}
	vdus := f.VDUIDs()
	refuse := func(attribute, summary, more string) {
		*problems = append(*problems, vnfm.Problem{Attribute: attribute, Summary: summary, Detail: "its VDUs are " + vnfm.QuotedNames(vdus) + more})
	}
	for _, id := range want.VDUIDs {
		if !slices.Contains(vdus, id) {
			refuse(attributeHealVDUs, "deployment flavour "+strconv.Quote(f.ID)+" has no VDU "+strconv.Quote(id), "")
		}
	}
	for _, id := range want.VNFCIDs {
		if f.VDUOf(id) == "" {
			refuse(attributeHealVNFCs, "VNFC "+strconv.Quote(id)+" is of no VDU of deployment flavour "+strconv.Quote(f.ID),
				"; the id of a VNFC begins with its VDU, as the data source vnf_instance shows it")
		}
	}
}

// mapLevels returns the level and the scale levels of an instance in the names of
// another VNFD, as its VnfPackageChange policies map them (SOL001 6.10.13): an
// aspect that has another name goes on at its level. Without a policy for the VNFD
// that the instance follows all names are the same.
func mapLevels(i *vnfm.Instance, to *vnfm.Descriptor) (levelID string, scaleLevels map[string]int) {
	at := slices.IndexFunc(to.PackageChanges, func(c vnfm.PackageChange) bool {
		return c.DestinationDescriptorID == to.ID && slices.Contains(c.SourceDescriptorIDs, i.VNFDID) &&
			(len(c.SourceFlavourIDs) == 0 || slices.Contains(c.SourceFlavourIDs, i.FlavourID))
	})
	if at < 0 {
		return i.LevelID, i.ScaleLevels
	}
	name := func(kind, id string) string {
		for _, m := range to.PackageChanges[at].Mappings {
			if m.ComponentType == kind && m.SourceID == id {
				return m.DestinationID
			}
		}
		return id
	}
	if len(i.ScaleLevels) > 0 {
		scaleLevels = make(map[string]int, len(i.ScaleLevels))
		for aspect, level := range i.ScaleLevels {
			scaleLevels[name("scaling_aspect", aspect)] = level
		}
	}
	return name("instantiation_level", i.LevelID), scaleLevels
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

// describeNew is describe for an instance that is created or recovered: what triggers ask for is not to be done to it.
func describeNew(i *vnfm.Instance, spec vnfm.InstanceSpec, r *resolution) {
	describe(i, spec, r)
	if spec.Heal != nil {
		i.HealTrigger = spec.Heal.Trigger
	}
	if spec.RotationTrigger != "" {
		i.Rotation = &vnfm.Rotation{Trigger: spec.RotationTrigger, Done: true}
	}
	noteTriggers(i, &spec)
}

// specOf reads the spec back out of a record.
func specOf(i *vnfm.Instance) vnfm.InstanceSpec {
	cluster := i.Cluster
	if cluster != nil {
		own := *cluster
		own.Results, own.MakeResults, own.Regenerate = i.Results, false, nil
		cluster = &own
	}
	return vnfm.InstanceSpec{
		Name: i.Name, Description: i.Description, Metadata: i.Metadata,
		VIMID: i.VIMID, PackageID: i.PackageID, Cluster: cluster, FlavourID: i.FlavourID, LevelID: i.LevelID,
		Connections: i.Connections, Links: i.Links, ScaleLevels: i.ScaleLevels, Namespace: i.Namespace, AdditionalParams: i.AdditionalParams,
		OperationalState: i.OperationalState, Readiness: i.Readiness, Arguments: i.Arguments,
	}
}

// keyOf is the natural key of a prepared spec: what identifies an instance for its users.
func keyOf(spec vnfm.InstanceSpec) string {
	key := spec.VIMID + "/" + spec.Namespace + "/" + spec.Name
	if spec.Cluster != nil {
		// A workload cluster and a VNF instance may have the same name.
		return clusterGroup + ":" + key
	}
	return key
}

// findByKey returns the record of the instance that has the natural key of a prepared spec, or nil.
func findByKey(ctx context.Context, s store.Store, spec vnfm.InstanceSpec) (*records.Entry[vnfm.Instance], error) {
	found, err := records.List[vnfm.Instance](ctx, s, store.Query{Kind: store.KindInstance, Key: keyOf(spec)})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// newInstance is a record that is not stored yet, with the identity that spec gives.
func newInstance(id string, spec vnfm.InstanceSpec) *records.Entry[vnfm.Instance] {
	now := time.Now().UTC()
	return &records.Entry[vnfm.Instance]{
		Rec:   store.Record{Kind: store.KindInstance, ID: id, Key: keyOf(spec), Owner: spec.VIMID},
		Value: vnfm.Instance{ID: id, Name: spec.Name, VIMID: spec.VIMID, Namespace: spec.Namespace, Cluster: spec.Cluster, CreatedAt: now, UpdatedAt: now},
	}
}

// describedInstance is an instance of which there is no record, as a spec and its resolution say.
func describedInstance(id string, spec vnfm.InstanceSpec, r *resolution) *vnfm.Instance {
	en := newInstance(id, spec)
	describe(&en.Value, spec, r)
	return &en.Value
}

// checkUnchangeable checks that spec does not ask for what only a new instance can have.
func checkUnchangeable(ctx context.Context, s store.Store, i *vnfm.Instance, spec vnfm.InstanceSpec) error {
	vim := func(id string) string { return vims.NameOf(ctx, s, id) }
	if spec.VIMID != i.VIMID {
		return fmt.Errorf("%s %q is on VIM %q and cannot move to VIM %q: it must be replaced", i.Noun(), i.Name, vim(i.VIMID), vim(spec.VIMID))
	}
	if spec.Namespace != i.Namespace {
		return fmt.Errorf("%s %q is in namespace %q and cannot move to %q: it must be replaced", i.Noun(), i.Name, i.Namespace, spec.Namespace)
	}
	return multivim.CheckConnectionsStay(i, spec, vim)
}
