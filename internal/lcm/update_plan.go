package lcm

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/addons"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/hooks"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/multivim"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The parameters of a HEAL operation that say whose it is. That of a repair has no
// trigger.
const (
	paramCause   = "cause"
	paramTrigger = "trigger"
)

// paramConfigures marks the operation that has management drivers work with other
// parameters.
const paramConfigures = "management_params"

// action is what an operation of an update does. Several actions have one type of operation: a HEAL may be a repair, the
// replacement of VNFCs, or a new kubeconfig.
type action string

const (
	actionFinish           action = "run the last hook of"
	actionRotateKubeconfig action = "regenerate the kubeconfig"
	actionModify           action = "modify the record"
	actionApplyReadiness   action = "apply new readiness rules"
	actionRename           action = "rename"
	actionChangePackage    action = "change package, flavour or parameters"
	actionConnect          action = "change external connectivity"
	actionOperate          action = "start or stop"
	actionScale            action = "scale"
	actionHeal             action = "replace VNFCs"
	actionRepair           action = "repair"
	actionConfigure        action = "configure"
	actionSendCredentials  action = "send credentials"
)

// leaving says which VNFCs leave with an operation, for the management drivers at its hooks.
type leaving string

const (
	leavingScaledIn leaving = "scaled in"
	leavingHealed   leaving = "healed"
	// leavingReplaced are those that the VIM replaces, or makes again in their place, because they are to be others; leavingBroken are
	// these, after they were changed outside of Terraform, and those that do not work.
	leavingReplaced leaving = "replaced"
	leavingBroken   leaving = "broken"
)

// plannedOperation is one LCM operation of an update, as data: it can be shown before it runs.
type plannedOperation struct {
	Action action
	Type   vnfm.OperationType
	// Params are the parameters of its occurrence.
	Params map[string]any
	// Resumes says that it continues the occurrence that an earlier update did not finish.
	Resumes bool
	// Anew says that this occurrence was to lead elsewhere. It ends as FAILED, and another one continues its work.
	Anew bool
	// TakesBack says that it continues it in order to restore what the record has.
	TakesBack bool
	// OnlyIfDrifted says that it runs only when an object differs from what was applied, which was not observed yet.
	OnlyIfDrifted bool
	// Leaving says which VNFCs leave with it, and Changes what it does to those of each VDU.
	Leaving leaving
	Changes hooks.Changes
	// Status is that of the instance when it has completed.
	Status vnfm.InstanceStatus
	// spec and to are what it leads to.
	spec vnfm.InstanceSpec
	to   *resolution
}

// updatePlan is what an update does, in its order.
type updatePlan struct {
	operations []plannedOperation
	// abandons says that the unfinished occurrence serves none of them and is given up.
	abandons bool
}

// planInput is everything that decides what an update does.
type planInput struct {
	// record is the instance as its record stands, and secrets are the secret parameters that it was applied with.
	record  vnfm.Instance
	secrets map[string]any
	// unfinished is the operation that an earlier update did not finish, or nil.
	unfinished *vnfm.Operation
	// spec is the request, and wanted what the package says about it.
	spec   vnfm.InstanceSpec
	wanted *resolution
	// kubeconfigExpired says that the kubeconfig of a workload cluster has expired.
	kubeconfigExpired bool
	// configured is the digest of the parameters of management drivers in the request.
	configured string
	// observed says that drift was looked for, and drift what was found.
	observed bool
	drift    []string
	// broken says that VNFCs are not healthy that the request has healed. present is then the instance as its record
	// stands, nil when its package cannot be read.
	broken  bool
	present *present
}

// present is an instance as its record stands, as a request and what its package says about it.
type present struct {
	spec vnfm.InstanceSpec
	to   *resolution
}

// planUpdate returns the operations that lead an instance from its record to a request. It is a function of its input
// alone: the executor and a preview of the operations use the same list.
//
// An expired kubeconfig comes first, since nothing that has to reach the workload API would end with it. Heal comes after
// what changes the instance, so that what is replaced is replaced by what is wanted. A heal of what is broken comes before
// that: the changes would wait for it.
func planUpdate(in planInput) updatePlan {
	p := &planner{planInput: in, record: in.record, secrets: in.secrets, unfinished: in.unfinished}
	p.finish()
	if in.kubeconfigExpired {
		p.rotateKubeconfig()
	}
	if p.healsFirst() {
		p.heal()
	}
	p.modify()
	p.changePackage()
	p.connect()
	p.operate()
	p.scale()
	p.heal()
	p.repair()
	p.configure()
	p.rotateKubeconfig()
	p.sendCredentials()
	return updatePlan{operations: p.operations, abandons: p.unfinished != nil}
}

// planner is a plan in the making. Its fields shadow those of the input where an operation changes them.
type planner struct {
	planInput

	record     vnfm.Instance
	secrets    map[string]any
	unfinished *vnfm.Operation
	operations []plannedOperation
	// applied says that an operation has applied all objects: there is nothing to repair.
	applied bool
	// repaired says that nothing is left that an earlier operation did not finish.
	repaired bool
}

// add appends an operation. It resumes the unfinished one when that is the same.
func (p *planner) add(o plannedOperation) {
	if o.Resumes = p.continues(o.Type, o.Params); o.Resumes {
		o.Anew = p.leadsElsewhere(o.Type, o.Params)
		p.unfinished = nil
	}
	o.Changes = changesOf(&p.record, &o)
	o.Status = vnfm.StatusInstantiated
	if !p.applied && !p.repaired && (o.Type == vnfm.OpModifyInfo || p.unfinished != nil) {
		// Leftovers of an earlier operation are repaired only after this one.
		o.Status = p.record.Status
	}
	p.record.Status = o.Status
	p.operations = append(p.operations, o)
}

// continues reports whether an operation continues the unfinished one. A heal with another
// trigger, or of other VNFCs, is an operation of its own. A repair finishes any HEAL.
func (p *planner) continues(kind vnfm.OperationType, params map[string]any) bool {
	if p.unfinished == nil || p.unfinished.Type != kind {
		return false
	}
	if _, asked := params[paramTrigger]; !asked {
		return true
	}
	was, now := maps.Clone(p.unfinished.Parameters), maps.Clone(params)
	delete(was, paramCause)
	delete(now, paramCause)
	return sameParams(was, now)
}

// leadsElsewhere reports whether the unfinished operation has another target than one of the same type that continues it. HEAL and
// MODIFY_INFO finish whatever one of their type has left.
func (p *planner) leadsElsewhere(kind vnfm.OperationType, params map[string]any) bool {
	if kind == vnfm.OpHeal || kind == vnfm.OpModifyInfo || len(p.unfinished.Parameters) == 0 {
		return false
	}
	was, now := maps.Clone(p.unfinished.Parameters), maps.Clone(params)
	// The record has the target itself where only the end of the operation was not written.
	delete(was, paramFromPackage)
	delete(now, paramFromPackage)
	return !sameParams(was, now)
}

// finish ends an operation of which nothing but the last hook is left: it is not done again in another one, whose hooks
// would not know what it did.
func (p *planner) finish() {
	if p.unfinished == nil || p.unfinished.Notes[noteWorked] == "" {
		return
	}
	o := plannedOperation{
		Action: actionFinish, Type: p.unfinished.Type, Params: p.unfinished.Parameters, Resumes: true, Status: vnfm.StatusInstantiated, spec: p.spec, to: p.wanted,
	}
	o.Changes = changesOf(&p.record, &o)
	p.operations = append(p.operations, o)
	p.record.Status, p.unfinished = vnfm.StatusInstantiated, nil
}

// modify changes what only the record holds. A new name is written to the objects, which show it, and after a change of readiness
// rules it waits by them at once, unless a change of the package comes next, which does both: the rules may speak of kinds that only
// it brings.
func (p *planner) modify() {
	i, want := &p.record, p.spec
	sameName, sameRules := i.Name == want.Name, slices.Equal(i.Readiness, want.Readiness)
	if sameName && i.Description == want.Description && maps.Equal(i.Metadata, want.Metadata) && sameRules {
		return
	}
	o := plannedOperation{
		Action: actionModify, Type: vnfm.OpModifyInfo, Params: map[string]any{"name": want.Name, "description": want.Description, "metadata": want.Metadata},
		spec: p.spec, to: p.wanted,
	}
	if (!sameName || !sameRules) && !p.packageDiffers() {
		o.Action, p.applied = actionApplyReadiness, true
		if !sameName {
			o.Action = actionRename
		}
		o.spec, o.to = p.atPresentLevels(i.OperationalState)
	}
	p.add(o)
	i.Name, i.Description, i.Metadata, i.Readiness = want.Name, want.Description, want.Metadata, want.Readiness
}

// changePackage applies another package, flavour or other parameters at the scale levels of the record; the wanted levels
// follow in an operation of their own. What the record has is applied again when a change that failed half-way is taken back.
func (p *planner) changePackage() {
	differs := p.packageDiffers()
	if !differs && !p.takenBack(vnfm.OpChangePackage, vnfm.OpChangeFlavour) {
		return
	}
	i, kind := &p.record, vnfm.OpChangePackage
	switch {
	case !differs:
		kind = p.unfinished.Type
	case i.PackageID == p.spec.PackageID && i.FlavourID != p.wanted.flavour.ID:
		kind = vnfm.OpChangeFlavour
	}
	spec, to := p.atPresentLevels(i.OperationalState)
	p.applied = true
	p.add(plannedOperation{
		Action: actionChangePackage, Type: kind, Leaving: leavingReplaced, TakesBack: !differs, spec: spec, to: to,
		Params: map[string]any{paramFromPackage: i.PackageID, paramPackage: spec.PackageID, paramFlavour: to.flavour.ID},
	})
	describe(i, spec, to)
	noteTriggers(i, &spec)
	p.secrets = p.spec.InfraSecrets
}

// takenBack reports whether a change of one of these types is unfinished, given a request that does not ask for one: objects may be as
// that change has them.
func (p *planner) takenBack(kinds ...vnfm.OperationType) bool {
	return !p.applied && p.unfinished != nil && slices.Contains(kinds, p.unfinished.Type)
}

// packageDiffers reports whether package, flavour, parameters or the parts of the instance are to change, or results of random
// functions.
func (p *planner) packageDiffers() bool {
	i := &p.record
	return p.spec.Regenerate != nil && p.spec.Regenerate.Trigger != i.RegenerateTrigger || addons.Regenerates(i, p.spec.Cluster) ||
		i.PackageID != p.spec.PackageID || i.FlavourID != p.wanted.flavour.ID ||
		!sameParams(i.AdditionalParams, p.spec.AdditionalParams) || !sameParams(p.secrets, p.spec.InfraSecrets) ||
		!multivim.SameConnections(i, p.spec) || !addons.Same(i, p.spec) || !maps.Equal(i.Links.Managed, p.spec.Links.Managed)
}

// atPresentLevels is the request at the scale levels of the record, which a scale of its own changes afterwards. A new VNFD
// that does not know them is taken at the wanted ones at once.
func (p *planner) atPresentLevels(state vnfm.OperationalState) (vnfm.InstanceSpec, *resolution) {
	spec := p.spec
	spec.LevelID, spec.ScaleLevels = mapLevels(&p.record, p.wanted.pkg.Descriptor)
	spec.OperationalState = state
	to, problems := resolveIn(p.wanted.pkg, spec)
	if problems.HasErrors() {
		return p.spec, p.wanted
	}
	return spec, to
}

// connect changes the networks of external connection points.
func (p *planner) connect() {
	same := sameExternal(p.record.Links, p.spec.Links)
	if same && !p.takenBack(vnfm.OpChangeExtConn) {
		return
	}
	spec, to := p.atPresentLevels(p.record.OperationalState)
	p.applied = true
	p.add(plannedOperation{
		Action: actionConnect, Type: vnfm.OpChangeExtConn, Params: map[string]any{vnfm.AttributeExternalLinks: p.spec.Links.External},
		Leaving: leavingReplaced, TakesBack: same, spec: spec, to: to,
	})
	describe(&p.record, spec, to)
}

// operate starts or stops the VNFCs.
func (p *planner) operate() {
	if p.record.OperationalState == p.spec.OperationalState {
		return
	}
	spec, to := p.atPresentLevels(p.spec.OperationalState)
	p.add(plannedOperation{
		Action: actionOperate, Type: vnfm.OpOperate, Params: map[string]any{"change_state_to": string(p.spec.OperationalState)}, spec: spec, to: to,
	})
	describe(&p.record, spec, to)
}

// scale brings the scaling aspects to the wanted levels.
func (p *planner) scale() {
	i := &p.record
	if i.LevelID == p.wanted.levelID && maps.Equal(i.ScaleStatus, p.wanted.scaleStatus) {
		return
	}
	kind, params := scaleRequest(i, p.wanted)
	p.add(plannedOperation{Action: actionScale, Type: kind, Params: params, Leaving: leavingScaledIn, spec: p.spec, to: p.wanted})
	describe(i, p.spec, p.wanted)
}

// scaleRequest says what SOL003 would call the change: SCALE for steps of one aspect, SCALE_TO_LEVEL for everything else.
func scaleRequest(i *vnfm.Instance, r *resolution) (vnfm.OperationType, map[string]any) {
	changed := map[string]int{}
	for aspect, level := range r.scaleStatus {
		if i.ScaleStatus[aspect] != level {
			changed[aspect] = level - i.ScaleStatus[aspect]
		}
	}
	if i.LevelID == r.levelID && len(changed) == 1 {
		for aspect, steps := range changed {
			direction := "SCALE_OUT"
			if steps < 0 {
				direction, steps = "SCALE_IN", -steps
			}
			return vnfm.OpScale, map[string]any{"type": direction, "aspect_id": aspect, "number_of_steps": steps}
		}
	}
	return vnfm.OpScaleToLevel, map[string]any{"instantiation_level_id": r.levelID, "scale_info": r.scaleStatus}
}

// healsFirst reports whether the heal comes before all changes: it is asked for VNFCs that are not healthy. After a change of
// the objects that failed, what is replaced would come back as that has left it: the change, which may be corrected by now,
// comes first. A workload cluster replaces machines only after its changes, which replace them as well.
func (p *planner) healsFirst() bool {
	if !p.broken || p.spec.Cluster != nil {
		return false
	}
	if p.changesObjects() && p.present == nil {
		return false
	}
	if p.unfinished == nil {
		return p.record.Status == vnfm.StatusInstantiated
	}
	return !slices.Contains([]vnfm.OperationType{vnfm.OpChangePackage, vnfm.OpChangeFlavour, vnfm.OpChangeExtConn}, p.unfinished.Type)
}

// changesObjects reports whether the objects are to change in more than their number.
func (p *planner) changesObjects() bool {
	return p.packageDiffers() || !sameExternal(p.record.Links, p.spec.Links)
}

// heal replaces the VNFCs that the request names, once for each trigger: by what the record has while the objects are still
// to change, else by what is wanted.
func (p *planner) heal() {
	want := p.spec.Heal
	if want == nil || want.Trigger == p.record.HealTrigger {
		return
	}
	spec, to := p.spec, p.wanted
	if p.present != nil && p.changesObjects() {
		spec, to = p.present.spec, p.present.to
		spec.Heal = want
	}
	params := map[string]any{paramCause: want.Cause, paramTrigger: want.Trigger}
	if len(want.VNFCIDs) > 0 {
		params["vnfc_ids"] = want.VNFCIDs
	}
	if len(want.VDUIDs) > 0 {
		params["vdu_ids"] = want.VDUIDs
	}
	if want.Storage {
		params["replace_volumes"] = true
	}
	p.applied = p.applied || want.EntireInstance()
	p.add(plannedOperation{Action: actionHeal, Type: vnfm.OpHeal, Params: params, Leaving: leavingHealed, spec: spec, to: to})
	p.record.HealTrigger = want.Trigger
}

// repair applies the objects that differ from what was applied, and all of them after an operation that was interrupted.
// Management drivers that were interrupted at other parameters leave the objects as they were.
func (p *planner) repair() {
	defer func() { p.repaired = true }()
	if p.applied {
		return
	}
	o := plannedOperation{
		Action: actionRepair, Type: vnfm.OpHeal, Params: map[string]any{paramCause: "an earlier operation was interrupted"},
		Leaving: leavingBroken, spec: p.spec, to: p.wanted,
	}
	if p.record.Status == vnfm.StatusInstantiated && p.unfinished == nil || configures(p.unfinished) {
		if p.observed && len(p.drift) == 0 {
			return
		}
		o.OnlyIfDrifted = !p.observed
		o.Params = map[string]any{paramCause: "changed outside of Terraform: " + strings.Join(p.drift, "; ")}
	}
	p.repaired = true
	p.add(o)
}

// configures reports whether an operation has management drivers work with other parameters.
func configures(o *vnfm.Operation) bool {
	return o != nil && o.Type == vnfm.OpModifyInfo && o.Parameters[paramConfigures] == true
}

// configure has the management drivers of an instance work with parameters that have changed.
func (p *planner) configure() {
	if p.record.ConfiguredDigest == p.configured {
		return
	}
	p.add(plannedOperation{Action: actionConfigure, Type: vnfm.OpModifyInfo, Params: map[string]any{paramConfigures: true}, spec: p.spec, to: p.wanted})
	p.record.ConfiguredDigest = p.configured
}

// rotateKubeconfig has the kubeconfig of a workload cluster made again, once for each trigger. It comes last: only a
// cluster that is whole makes a new one.
func (p *planner) rotateKubeconfig() {
	i, trigger := &p.record, p.spec.RotationTrigger
	if trigger == "" || i.Cluster == nil || i.Rotation != nil && i.Rotation.Trigger == trigger && i.Rotation.Done {
		return
	}
	p.add(plannedOperation{
		Action: actionRotateKubeconfig, Type: vnfm.OpHeal, Params: map[string]any{paramCause: "kubeconfig_rotation_trigger", paramTrigger: trigger}, spec: p.spec, to: p.wanted,
	})
	i.Rotation = &vnfm.Rotation{Trigger: trigger, Done: true}
}

// sendCredentials sends credentials to a sink that is new or another one; the end of any operation sends them as well.
func (p *planner) sendCredentials() {
	i, sink := &p.record, p.spec.Sink
	if sink == nil || len(p.operations) > 0 {
		return
	}
	paused := i.Cluster != nil && i.Cluster.IsPaused()
	// A recovered record does not know the connections: they were sent before.
	moved := len(i.Deliveries) == 0 && !paused && !i.Recovered
	for _, d := range i.Deliveries {
		moved = moved || d.URL != sink.URL
	}
	if moved {
		p.add(plannedOperation{Action: actionSendCredentials, Type: vnfm.OpModifyInfo, Params: map[string]any{"credentials_sink": sink.URL}, spec: p.spec, to: p.wanted})
	}
}

func sameParams(a, b map[string]any) bool {
	return (len(a) == 0 && len(b) == 0) || reflect.DeepEqual(normalise(a), normalise(b))
}

func sameExternal(a, b vnfm.Links) bool {
	return len(a.External)+len(b.External) == 0 || reflect.DeepEqual(a.External, b.External)
}
