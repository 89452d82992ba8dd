package vnfm

import "context"

// Target is everything that an infra driver needs to know of an instance: the
// state that it must bring about.
type Target struct {
	VIM         *VIM
	Credentials Credentials
	Instance    *Instance
	// SecretParams are laid into the additional parameters of the instance, see Params.
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
	// DigestKey keys the digests of what holds secrets. A preview can do without: it leaves
	// those digests empty.
	DigestKey []byte
	// Concurrency bounds the requests in flight.
	Concurrency int
	// Access opens a further VIM that the target names.
	Access func(ctx context.Context, vimID string) (*VIM, Credentials, error)
	// Hooks are called while the target is applied.
	Hooks ApplyHooks
}

// ApplyHooks are the functions that an infra driver calls while it applies a target, in the
// order of the fields. A function that is nil is not called. An error of one ends the apply:
// nothing is written or removed after it. The Kubernetes driver calls all of them, the
// OpenStack driver BeforePrune alone.
type ApplyHooks struct {
	// AfterNamespaces is called once the namespaces, the definitions of kinds and what else
	// the first wave consists of are ready, before any other object is written.
	AfterNamespaces func(ctx context.Context) error
	// Defer selects the objects whose change waits for BeforeDeferred. It is asked about
	// objects that exist: new ones are made at once.
	Defer func(item *InventoryItem) bool
	// BeforeDeferred is called in each wave that has deferred objects, once all others of the
	// wave are written. The deferred ones are written when it returns. It is set when Defer is.
	BeforeDeferred func(ctx context.Context) error
	// AfterWrite is called once everything is written, before the driver waits until it is
	// ready: the objects may wait for what the function does.
	AfterWrite func(ctx context.Context) error
	// BeforePrune is called once everything is ready by the rules of the driver, before the
	// driver removes what the target does not have any more. It may wait for more.
	BeforePrune func(ctx context.Context) error
}

// The arguments that give the parameters of a target.
const (
	AttributeParams       = "additional_params"
	AttributeSecretParams = "additional_params_wo"
)

// Params are the additional parameters of the instance with the secret ones.
func (t *Target) Params() map[string]any {
	return LaidInto(t.Instance.AdditionalParams, t.SecretParams)
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

// Recorder is how a driver tells the engine what it made and how far it is.
type Recorder interface {
	// SaveInventory stores the inventory. It is called before the objects that
	// it names are made, and again when their UIDs are known.
	SaveInventory(ctx context.Context, items []InventoryItem) error
	// Progress says in one line what is being waited for.
	Progress(ctx context.Context, line string)
	// Keep stores a note with the operation, which Kept returns, also to who continues
	// the operation, until it is over: what the driver has set out to do, where the VIM
	// does not tell afterwards. Kept is empty for a key without a note.
	Keep(ctx context.Context, key, note string) error
	Kept(key string) string
}

// VIMDriver knows one type of VIM.
type VIMDriver interface {
	// CheckVIM reaches the VIM, authenticates and looks what it offers.
	CheckVIM(ctx context.Context, spec VIMSpec) (VIMCheck, error)
}

// InfraDriver makes a VIM hold what an instance asks for. Every method can be
// called again after it was interrupted at any instant and reaches the same end.
type InfraDriver interface {
	VIMDriver
	// Preview renders offline: neither VIM nor Credentials of the target are used. It ends with ctx,
	// which is then among the problems.
	Preview(ctx context.Context, t *Target) (*Preview, Problems)
	// Render is Preview with the objects themselves, which no plan needs.
	Render(ctx context.Context, t *Target) (*Rendering, Problems)
	// DryRun asks the VIM, within a few seconds, what it would refuse of the objects
	// with these keys, and changes nothing. What it would refuse whatever else is
	// done is an error; what may be otherwise by then, and a VIM that does not tell,
	// is a warning.
	DryRun(ctx context.Context, t *Target, keys []string) (Problems, error)
	// Apply brings the VIM to the target (all objects, all counts), waits until
	// it is ready and prunes what the inventory has and the target has not.
	Apply(ctx context.Context, t *Target, r Recorder) error
	// Scale changes the counts only and waits until they are reached. What is gone behind
	// the manager's back it may leave to an Apply, which follows. Of the VDUs
	// that lose VNFCs the named ones go; when they cannot, that is an *InvalidError
	// before anything is done.
	Scale(ctx context.Context, t *Target, r Recorder) error
	// Leaving names the VNFCs that Scale would take away of an instance that is as its
	// record says; none where the VIM chooses by itself. It changes nothing.
	Leaving(ctx context.Context, t *Target) ([]string, error)
	// Heal replaces VNFCs and waits until their successors are ready. A VNFC that
	// is not there has been replaced already.
	Heal(ctx context.Context, t *Target, h HealSpec, r Recorder) error
	// Observe compares the VIM with what was applied. With an error it returns what it
	// could see all the same, or nil.
	Observe(ctx context.Context, t *Target) (*Observation, error)
	// Resources looks what the instance has. An instance of which nothing is there has none.
	Resources(ctx context.Context, t *Target) (*ResourceInfo, error)
	// DigestKey reads the key that Apply keeps on the VIM beside the objects of an instance,
	// for whoever has lost its record; nil when none is there, ErrKeyLost when it cannot be read.
	DigestKey(ctx context.Context, t *Target) ([]byte, error)
	// CheckTermination is a *StrandedError when objects of others could not live, and
	// not go either, without the instance. It changes nothing; whether the rest of a
	// termination succeeds it does not tell.
	CheckTermination(ctx context.Context, t *Target, s TerminateSpec) error
	// Terminate removes what the inventory and the instance's label name. Package
	// and Flavour of the target are nil when the package has been lost.
	Terminate(ctx context.Context, t *Target, s TerminateSpec, r Recorder) error
}
