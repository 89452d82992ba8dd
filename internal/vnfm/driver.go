package vnfm

import (
	"context"
	"slices"
)

// Target is everything that an infra driver needs to know of an instance: its wanted state.
type Target struct {
	VIM         *VIM
	Credentials Credentials
	Instance    *Instance
	// SecretParams are merged over the additional parameters of the instance, see Params.
	SecretParams map[string]any
	Package      *Package
	Flavour      *Flavour
	// Part says what of the instance this VIM has; nil means everything.
	Part *Part
	// Counts is the number of VNFCs per VDU id, all zero when stopped.
	Counts         map[string]int
	ForceConflicts bool
	AdoptExisting  bool
	ReplaceObjects []string
	ScaleInVNFCIDs []string
	// AvailabilityZones and Warn are those of the InstanceSpec.
	AvailabilityZones []string
	Warn              func(Problem)
	// DigestKey keys the digests of what holds secrets. A preview can do without: it leaves
	// those digests empty.
	DigestKey []byte
	// Results are those of random functions of the chart; a chart that depends on any is refused without. Regenerate says which
	// are made again.
	Results    *Results
	Regenerate *RegenerateSpec
	// Restores is set when the target is what an instance was before an operation that failed: its chart is rendered as it was then.
	Restores bool
	// Recorded is the manifest of the Helm release that the instance takes over, which may show results.
	Recorded string
	// Arguments returns the arguments of the instance, which Apply and Scale keep on the VIM beside its objects for Find. Nil
	// keeps none.
	Arguments func(ctx context.Context) ([]byte, error)
	// Compared says that a rendering is only compared with another one: Render leaves out the contents as texts.
	Compared bool
	// Concurrency bounds the requests in flight.
	Concurrency int
	// Yields reports, when an instance that is not made yet is tried, whether another instance
	// may be gone by then, with all that it has. Nil means that none is.
	Yields func(ctx context.Context, instanceID string) bool
	// Access opens a VIM that the target names: a further one, or in a preview its own.
	Access func(ctx context.Context, vimID string) (*VIM, Credentials, error)
	// FormerAccess is the access to a further VIM that a user of it had before this run gave it another one. It is false for a
	// user whose credentials this run never had.
	FormerAccess func(vimID, userID string) (*VIM, Credentials, bool)
	// Held are VNFCs, among those that Replacing names, which an Apply of the OpenStack driver leaves as they are: they are
	// replaced by a later one.
	Held []string
	// Steps run while the target is applied, those of a stage in the order of the list.
	Steps []Step
	// Defer selects, among the objects that exist, those that are written after the steps of BeforeDeferred; nil selects none.
	Defer func(item *InventoryItem) bool
}

// Replacement is a VNFC that becomes another one, or the same with nothing left on it, because its definition is another one.
type Replacement struct {
	// VNFC is its id before.
	VNFC string
	// AtOnce is set of one that no Apply can leave as it is.
	AtOnce bool
}

// Stage is a point of an apply at which an infra driver runs the steps that were inserted there.
type Stage string

// The stages in the order in which an apply reaches them. The Kubernetes driver has all of them, the OpenStack driver
// BeforePrune alone.
const (
	// AfterNamespaces is reached once the objects of the first wave (namespaces, definitions of kinds) are ready, before any
	// other object of the target is written.
	AfterNamespaces Stage = "after namespaces"
	// BeforeDeferred is reached in each wave that has deferred objects, once all others of the wave are written.
	BeforeDeferred Stage = "before deferred"
	// AfterWrite is reached once everything is written, before the driver waits for readiness: the objects may wait for the
	// steps.
	AfterWrite Stage = "after write"
	// BeforePrune is reached once everything is ready by the rules of the driver, before the driver removes the objects that
	// the target does not have any more. A step may wait for more.
	BeforePrune Stage = "before prune"
)

// Step is a piece of work at a stage of an apply. An error ends the apply: no later step runs, and no object of the target
// is written or removed after it.
type Step struct {
	At Stage
	// Name names the step in logs and traces.
	Name string
	Run  func(ctx context.Context) error
}

// Insert inserts steps, in their order, before those of the target: a driver nearer to the VIM inserts later and runs first.
func (t *Target) Insert(steps ...Step) { t.Steps = slices.Concat(steps, t.Steps) }

// The arguments that give the parameters of a target.
const (
	AttributeParams       = "additional_params"
	AttributeSecretParams = "additional_params_wo"
)

// AttributeZones is the argument that gives the availability zones of a target.
const AttributeZones = "availability_zones"

// Params are the additional parameters of the instance with the secret ones.
func (t *Target) Params() map[string]any {
	return MergeDeep(t.Instance.AdditionalParams, t.SecretParams)
}

// Secret reports whether a parameter, or something inside it, is a secret.
func (t *Target) Secret(name string) bool {
	_, ok := t.SecretParams[name]
	return ok
}

// Blame names the argument that gives a parameter in the problems of it that name
// additional_params, where that is additional_params_wo alone.
func (t *Target) Blame(ps Problems) {
	for n := range ps {
		if _, plain := t.Instance.AdditionalParams[ps[n].Key]; !plain && ps[n].Attribute == AttributeParams && t.Secret(ps[n].Key) {
			ps[n].Attribute = AttributeSecretParams
		}
	}
}

// InfraParams declare what of a request an infra driver takes: its additional parameters, and arguments that only some kinds of
// infrastructure have. A driver reads the parameters that it takes, and leaves all others alone.
type InfraParams struct {
	// Driver is how problems refer to the driver: "the Kubernetes driver". Two VIMs are of one kind when their drivers have the
	// same name.
	Driver string
	// Names are the parameters that it reads, but not those that a package declares. Translated are further ones, of OpenStack
	// Tacker, that it understands and does not offer.
	Names, Translated []string
	// Ignored are parameters of OpenStack Tacker that need nothing to be done, with the reason.
	Ignored map[string]string
	// Namespace gives the namespace of an instance, ChartValues the values of a chart, and
	// ChartKubernetesVersion the version of Kubernetes that a chart is rendered for. A driver
	// without such a parameter leaves it empty; without Namespace its VIMs have none.
	Namespace              string
	ChartValues            string
	ChartKubernetesVersion string
	// Manifests is set when the driver applies manifests and charts of a package, Links when it connects VNFCs to the networks that
	// an instance is given.
	Manifests, Links bool
}

// Recorder takes what a driver reports of a running operation.
type Recorder interface {
	// SaveInventory stores the inventory. It is called before the objects that
	// it names are made, and again when their UIDs are known.
	SaveInventory(ctx context.Context, items []InventoryItem) error
	// Progress reports in one line what the driver does or waits for.
	Progress(ctx context.Context, line string)
	// SetNote stores a note with the operation until it is over, for the driver that runs or
	// continues it: what it has set out to do, where the VIM does not tell afterwards.
	SetNote(ctx context.Context, key, note string) error
	// Note returns the note of a key; it is empty for a key without one.
	Note(key string) string
	// Missing says that a resource is gone which the operation would have changed. Drift is then looked for after the operation,
	// and repaired.
	Missing()
}

// VIMDriver knows one type of VIM.
type VIMDriver interface {
	// CheckVIM connects to the VIM, authenticates and reads what it offers.
	CheckVIM(ctx context.Context, spec VIMSpec) (VIMCheck, error)
}

// InfraDriver creates and changes the resources of instances on one type of VIM. Every method
// can be called again after an interruption at any instant and reaches the same result.
type InfraDriver interface {
	VIMDriver
	// Params declares the additional parameters of the driver.
	Params() InfraParams
	// PackageParams are the additional parameters that a package itself declares for the driver, in a deployment flavour; ok is
	// false when that cannot be read, of which the driver tells when it renders.
	PackageParams(ctx context.Context, p *Package, f *Flavour) (names []string, ok bool)
	// Supports reports whether a package has, in a deployment flavour, what the driver
	// instantiates.
	Supports(p *Package, f *Flavour) bool
	// Preview renders offline: neither VIM nor Credentials of the target are used, but for what a chart looks up on the VIM. It ends with
	// ctx, which is then among the problems.
	Preview(ctx context.Context, t *Target) (*Preview, Problems)
	// Render is Preview with the objects themselves, which no plan needs.
	Render(ctx context.Context, t *Target) (*Rendering, Problems)
	// DryRun asks the VIM, within a few seconds, which of the objects with these keys it would
	// reject, and what stays of those that leave the instance, and changes nothing. A rejection that nothing else in the apply can cure is an
	// error; any other, and a VIM that does not answer, is a warning.
	DryRun(ctx context.Context, t *Target, keys []string) (Problems, error)
	// Apply brings the VIM to the target (all objects, all counts), waits until
	// it is ready and prunes what the inventory has and the target has not.
	Apply(ctx context.Context, t *Target, r Recorder) error
	// Scale changes the counts and waits until they are reached. It may leave drift to the Apply
	// that follows. A VDU that is scaled in loses the VNFCs that the target names; an
	// *InvalidError before any change says that it cannot.
	Scale(ctx context.Context, t *Target, r Recorder) error
	// Leaving names the VNFCs that Scale would remove from an instance that is as its record
	// says; none where the VIM chooses. It changes nothing.
	Leaving(ctx context.Context, t *Target) ([]string, error)
	// Replacing names the VNFCs that Apply would replace, beside those that Leaving names; none where the VIM chooses. It
	// changes nothing.
	Replacing(ctx context.Context, t *Target) ([]Replacement, error)
	// Heal replaces VNFCs and waits until the new ones are ready. A missing VNFC counts as
	// replaced.
	Heal(ctx context.Context, t *Target, h HealSpec, r Recorder) error
	// Observe compares the VIM with what was applied. With an error it returns what it
	// could see all the same, or nil.
	Observe(ctx context.Context, t *Target) (*Observation, error)
	// Resources lists the resources of the instance; none when nothing of it exists.
	Resources(ctx context.Context, t *Target) (*ResourceInfo, error)
	// DigestKey reads the key that Apply keeps on the VIM beside the objects of an instance,
	// to restore a lost record; nil when none is there, ErrKeyLost when it cannot be read.
	DigestKey(ctx context.Context, t *Target) ([]byte, error)
	// Recover finds what the VIM has of an instance whose record the store has lost, and saves it as the inventory. It
	// changes nothing on the VIM.
	Recover(ctx context.Context, t *Target, r Recorder) error
	// Find finds the instances of a place on the VIM of the target, which has no package. It changes nothing. A place whose
	// name somebody else has is a *ConflictError. A place without id and name is all of them, in its namespace or in those that may be listed.
	Find(ctx context.Context, t *Target, p InstancePlace) ([]FoundInstance, error)
	// CheckTermination returns a *StrandedError when objects of others could not be deleted any
	// more without the instance. It changes nothing, and checks nothing else of a termination.
	CheckTermination(ctx context.Context, t *Target, s TerminateSpec) error
	// Terminate removes what the inventory and the instance's label name. Package and Flavour of
	// the target are nil when the package has been lost.
	Terminate(ctx context.Context, t *Target, s TerminateSpec, r Recorder) error
}
