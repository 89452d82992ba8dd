package lcm_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// driver is an infra driver whose VIM is a map. Real VIMs are driven in the tests
// of the drivers; here the engine's records are what is looked at, and faults at
// exact points, which no real VIM makes on request.
type driver struct {
	mu      sync.Mutex
	objects map[string]string
	counts  map[string]int
	calls   []string
	heals   []vnfm.HealSpec
	// kept are the notes that the heals found, healed the packages that they worked with, vnfcs what there is to be healed.
	kept, healed, vnfcs []string
	// replacing is what an Apply replaces, held what Apply and Scale left as it is, scaledIn what Scale was told to remove.
	replacing      []vnfm.Replacement
	held, scaledIn [][]string
	// broken says that what there is to be healed is not ready.
	broken  bool
	cluster string
	// seen are the parameters of the last target that something was done with, or that was
	// looked at, and shown what a preview says of them.
	seen  map[string]any
	shown []string
	// found are the instances that the VIM tells of.
	found map[string]vnfm.FoundInstance
	// stranded are objects that stand against a termination.
	stranded []string
	// fail, when set, is asked before each method and in the middle of Apply.
	fail func(point string) error
	// observing, when set, is called when something is looked at.
	observing func()
	// missing has a heal find that something is gone.
	missing bool
	// taken are the parameters that the package declares.
	taken []string
	// yields is given the function of the target that a dry run is for.
	yields func(func(context.Context, string) bool)
}

func (d *driver) at(point string) error {
	d.mu.Lock()
	d.calls = append(d.calls, point)
	fail := d.fail
	d.mu.Unlock()
	if fail != nil {
		return fail(point)
	}
	return nil
}

func (*driver) Params() vnfm.InfraParams {
	return vnfm.InfraParams{Driver: "the driver of the test", Namespace: "namespace", ChartValues: "helm_parameters", ChartKubernetesVersion: "helm_kube_version"}
}

// PackageParams has every parameter taken, unless the test says which.
func (d *driver) PackageParams(context.Context, *vnfm.Package, *vnfm.Flavour) ([]string, bool) {
	return d.taken, d.taken != nil
}

func (*driver) Supports(p *vnfm.Package, f *vnfm.Flavour) bool { return p.HasContainers(f) }

func (d *driver) CheckVIM(context.Context, vnfm.VIMSpec) (vnfm.VIMCheck, error) {
	return vnfm.VIMCheck{ServerVersion: "v1.36.3", ClusterUID: d.cluster}, d.at("check")
}

func rendered(t *vnfm.Target) map[string]string {
	out := map[string]string{
		"v1/ConfigMap a":       fmt.Sprintf("%.15s", t.Package.Digest),
		"apps/v1/Deployment b": "sha256:0",
	}
	if len(t.SecretParams) > 0 {
		text, err := json.Marshal(t.Params())
		if err != nil {
			panic(err)
		}
		out["apps/v1/Deployment b"] = fmt.Sprintf("sha256:%x", sha256.Sum256(text))
	}
	return out
}

// saw notes with what it was called.
func (d *driver) saw(t *vnfm.Target) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen = t.Params()
}

func (d *driver) Preview(_ context.Context, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
	return &vnfm.Preview{Objects: rendered(t), ShownSecrets: d.shown}, nil
}

func (d *driver) Render(_ context.Context, t *vnfm.Target) (*vnfm.Rendering, vnfm.Problems) {
	return &vnfm.Rendering{Preview: vnfm.Preview{Objects: rendered(t)}, Contents: rendered(t)}, nil
}

func (d *driver) DryRun(_ context.Context, t *vnfm.Target, keys []string) (vnfm.Problems, error) {
	var ps vnfm.Problems
	for _, key := range keys {
		ps.Warnf("", 0, 0, "%s in %s as %q", key, t.Instance.Namespace, t.Instance.ID)
	}
	if d.yields != nil {
		d.yields(t.Yields)
	}
	return ps, d.at("dry run")
}

func (d *driver) Apply(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	d.saw(t)
	d.mu.Lock()
	d.held = append(d.held, t.Held)
	d.mu.Unlock()
	r.Progress(ctx, fmt.Sprint("applying with ", t.Params()))
	if err := d.at("apply"); err != nil {
		return err
	}
	var items []vnfm.InventoryItem
	for key := range rendered(t) {
		items = append(items, vnfm.InventoryItem{Key: key})
	}
	if err := r.SaveInventory(ctx, items); err != nil {
		return err
	}
	if err := d.at("first write"); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(rendered(t))) {
		d.mu.Lock()
		d.objects[key] = rendered(t)[key]
		d.mu.Unlock()
		if err := d.at("wrote " + key); err != nil {
			return err
		}
	}
	d.mu.Lock()
	d.counts = t.Counts
	d.mu.Unlock()
	if t.Arguments != nil {
		if err := d.keep(ctx, t); err != nil {
			return err
		}
	}
	return d.at("applied")
}

// keep has the VIM tell of the instance from now on.
func (d *driver) keep(ctx context.Context, t *vnfm.Target) error {
	text, err := t.Arguments(ctx)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.found == nil {
		d.found = map[string]vnfm.FoundInstance{}
	}
	d.found[t.Instance.ID] = vnfm.FoundInstance{ID: t.Instance.ID, Name: t.Instance.Name, Namespace: t.Instance.Namespace, Arguments: text}
	return nil
}

func (d *driver) Scale(_ context.Context, t *vnfm.Target, _ vnfm.Recorder) error {
	d.saw(t)
	d.mu.Lock()
	d.held, d.scaledIn = append(d.held, t.Held), append(d.scaledIn, t.ScaleInVNFCIDs)
	d.mu.Unlock()
	if err := d.at("scale"); err != nil {
		return err
	}
	d.counts = t.Counts
	return nil
}

func (d *driver) Leaving(_ context.Context, t *vnfm.Target) ([]string, error) {
	var out []string
	for n := len(d.vnfcs); n > t.Counts["VDU1"]; n-- {
		out = append(out, d.vnfcs[n-1])
	}
	return out, nil
}

func (d *driver) Replacing(context.Context, *vnfm.Target) ([]vnfm.Replacement, error) {
	return d.replacing, nil
}

func (d *driver) Heal(ctx context.Context, t *vnfm.Target, h vnfm.HealSpec, r vnfm.Recorder) error {
	d.saw(t)
	d.mu.Lock()
	d.heals = append(d.heals, h)
	d.kept = append(d.kept, r.Note("begun"))
	d.healed = append(d.healed, t.Package.ID)
	d.mu.Unlock()
	if err := r.SetNote(ctx, "begun", h.ID); err != nil {
		return err
	}
	if d.missing {
		r.Missing()
	}
	return d.at("heal")
}

func (d *driver) Observe(_ context.Context, t *vnfm.Target) (*vnfm.Observation, error) {
	d.saw(t)
	if d.observing != nil {
		d.observing()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return &vnfm.Observation{Objects: maps.Clone(d.objects)}, nil
}

func (d *driver) Resources(context.Context, *vnfm.Target) (*vnfm.ResourceInfo, error) {
	out := &vnfm.ResourceInfo{}
	for _, id := range d.vnfcs {
		out.VNFCs = append(out.VNFCs, vnfm.VNFC{ID: id, Ready: !d.broken})
	}
	return out, nil
}

func (d *driver) DigestKey(context.Context, *vnfm.Target) ([]byte, error) { return nil, nil }

func (d *driver) Recover(ctx context.Context, _ *vnfm.Target, r vnfm.Recorder) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var items []vnfm.InventoryItem
	for _, key := range slices.Sorted(maps.Keys(d.objects)) {
		items = append(items, vnfm.InventoryItem{Key: key, UID: "uid of " + key})
	}
	return r.SaveInventory(ctx, items)
}

func (d *driver) Find(_ context.Context, _ *vnfm.Target, p vnfm.InstancePlace) ([]vnfm.FoundInstance, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []vnfm.FoundInstance
	for _, id := range slices.Sorted(maps.Keys(d.found)) {
		if one := d.found[id]; p.ID == id || (p.Name == one.Name && p.Namespace == one.Namespace) || p.ID+p.Name == "" {
			out = append(out, one)
		}
	}
	return out, nil
}

func (d *driver) CheckTermination(_ context.Context, t *vnfm.Target, _ vnfm.TerminateSpec) error {
	if len(d.stranded) > 0 {
		return &vnfm.StrandedError{Instance: t.Instance.Name, Objects: d.stranded}
	}
	return nil
}

func (d *driver) Terminate(ctx context.Context, t *vnfm.Target, _ vnfm.TerminateSpec, r vnfm.Recorder) error {
	d.saw(t)
	if err := d.at("terminate"); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.objects = map[string]string{}
	return r.SaveInventory(ctx, nil)
}

// env is an engine over a real store, with one VIM and one package.
type env struct {
	*lcm.Engine
	driver  *driver
	dir     string
	vimID   string
	pkg     *vnfm.Package
	sources string
	// clusters, when set, makes workload clusters, and management runs at hooks.
	clusters vnfm.ClusterDriver
	// cloud, when set, is the driver of OpenStack VIMs.
	cloud      vnfm.InfraDriver
	management map[string]vnfm.ManagementDriver
	// params come with a run.
	params vnfm.RunParams
	// vault, when set, keeps the keys.
	vault seal.Vault
}

func newEnv(t *testing.T) *env {
	t.Helper()
	return newEnvAt(t, t.TempDir())
}

// newEnvAt is newEnv with its store in a directory.
func newEnvAt(t *testing.T, dir string) *env {
	t.Helper()
	w := &env{driver: &driver{objects: map[string]string{}, vnfcs: []string{"VDU1-1", "VDU1-2"}}, dir: dir, sources: t.TempDir()}
	w.Engine = w.open(t)
	w.vimID = register(t, w.Engine, vaultVIM())
	w.pkg = w.onboard(t, "1.0")
	return w
}

// open returns another engine on the same store, as another process has it.
func (w *env) open(t *testing.T) *lcm.Engine {
	t.Helper()
	return w.openWith(t, onKubernetes(w.driver))
}

func (w *env) openWith(t *testing.T, drivers map[vnfm.VIMType]vnfm.InfraDriver) *lcm.Engine {
	t.Helper()
	if w.cloud != nil {
		drivers[vnfm.VIMTypeOpenStack] = w.cloud
	}
	return newEngine(t, w.dir, lcm.Config{
		Keyring: keyring(t, seal.Source{DefaultKeyFile: filepath.Join(w.dir, "key.txt"), Vault: w.vault}),
		Drivers: drivers, Clusters: w.clusters, Management: w.management, Params: w.params,
	}, nil)
}

func (w *env) onboard(t *testing.T, version string) *vnfm.Package {
	t.Helper()
	dir := filepath.Join(w.sources, version)
	writePackage(t, dir, version)
	return onboardAs(t, w.Engine, "test", dir)
}

func writePackage(t *testing.T, dir, version string) {
	t.Helper()
	files := map[string]string{
		"TOSCA-Metadata/TOSCA.meta": "TOSCA-Meta-File-Version: 1.0\nCSAR-Version: 1.1\nCreated-By: test\nEntry-Definitions: Definitions/vnfd.yaml\n\nName: Files/a.yaml\nContent-Type: application/yaml\n",
		"Files/a.yaml":              "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  version: \"" + version + "\"\n",
		"Definitions/vnfd.yaml":     fmt.Sprintf(vnfdText, version),
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
}

const vnfdText = `tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    VNF:
      type: tosca.nodes.nfv.VNF
      properties:
        descriptor_id: test
        descriptor_version: "%[1]s"
        provider: example
        product_name: test
        software_version: "%[1]s"
        vnfm_info: ["Tacker"]
        flavour_id: default
        flavour_description: default
    VDU1:
      type: tosca.nodes.nfv.Vdu.Compute
      properties:
        name: b
        description: b
        vdu_profile: {min_number_of_instances: 1, max_number_of_instances: 5}
  policies:
    - aspects:
        type: tosca.policies.nfv.ScalingAspects
        properties:
          aspects:
            workers: {name: workers, description: workers, max_scale_level: 3, step_deltas: [one]}
    - initial:
        type: tosca.policies.nfv.VduInitialDelta
        properties: {initial_delta: {number_of_instances: 1}}
        targets: [VDU1]
    - deltas:
        type: tosca.policies.nfv.VduScalingAspectDeltas
        properties: {aspect: workers, deltas: {one: {number_of_instances: 1}}}
        targets: [VDU1]
    - levels:
        type: tosca.policies.nfv.InstantiationLevels
        properties:
          levels:
            small: {description: small, scale_info: {workers: {scale_level: 0}}}
            large: {description: large, scale_info: {workers: {scale_level: 2}}}
          default_level: small
`

func (w *env) spec() vnfm.InstanceSpec {
	return vnfm.InstanceSpec{
		Name: "core", VIMID: w.vimID, PackageID: w.pkg.ID,
		OperationalState: vnfm.Started, OnFailure: vnfm.OnFailureResume,
	}
}

func (w *env) operations(t *testing.T, id string) []string {
	t.Helper()
	occs, err := w.Operations(t.Context(), id)
	require.NoError(t, err)
	var out []string
	for _, occ := range occs {
		out = append(out, string(occ.Type)+" "+string(occ.State))
	}
	return out
}

func (w *env) mustInstantiate(t *testing.T, spec vnfm.InstanceSpec) *vnfm.Instance {
	t.Helper()
	i, err := w.Instantiate(t.Context(), spec)
	require.NoError(t, err)
	return i
}

func (w *env) mustUpdate(t *testing.T, id string, spec vnfm.InstanceSpec) *vnfm.Instance {
	t.Helper()
	i, err := w.Update(t.Context(), id, spec)
	require.NoError(t, err)
	return i
}
