package lcm_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
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
	// kept are the notes that the heals found, vnfcs what there is to be healed.
	kept, vnfcs []string
	cluster     string
	// seen are the parameters of the last target that something was done with, or that was
	// looked at, and shown what a preview says of them.
	seen  map[string]any
	shown []string
	// stranded are objects that stand against a termination.
	stranded []string
	// fail, when set, is asked before each method and in the middle of Apply.
	fail func(point string) error
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
	return vnfm.InfraParams{Namespace: "namespace", ChartValues: "helm_parameters", ChartKubernetesVersion: "helm_kube_version"}
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
	return ps, d.at("dry run")
}

func (d *driver) Apply(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	d.saw(t)
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
	return d.at("applied")
}

func (d *driver) Scale(_ context.Context, t *vnfm.Target, _ vnfm.Recorder) error {
	d.saw(t)
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

func (d *driver) Heal(ctx context.Context, t *vnfm.Target, h vnfm.HealSpec, r vnfm.Recorder) error {
	d.saw(t)
	d.mu.Lock()
	d.heals = append(d.heals, h)
	d.kept = append(d.kept, r.Note("begun"))
	d.mu.Unlock()
	if err := r.SetNote(ctx, "begun", h.ID); err != nil {
		return err
	}
	return d.at("heal")
}

func (d *driver) Observe(_ context.Context, t *vnfm.Target) (*vnfm.Observation, error) {
	d.saw(t)
	d.mu.Lock()
	defer d.mu.Unlock()
	return &vnfm.Observation{Objects: maps.Clone(d.objects)}, nil
}

func (d *driver) Resources(context.Context, *vnfm.Target) (*vnfm.ResourceInfo, error) {
	out := &vnfm.ResourceInfo{}
	for _, id := range d.vnfcs {
		out.VNFCs = append(out.VNFCs, vnfm.VNFC{ID: id})
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

func (d *driver) CheckTermination(_ context.Context, t *vnfm.Target, _ vnfm.TerminateSpec) error {
	if len(d.stranded) > 0 {
		return &vnfm.StrandedError{Instance: t.Instance.Name, Objects: d.stranded}
	}
	return nil
}

func (d *driver) Terminate(_ context.Context, t *vnfm.Target, _ vnfm.TerminateSpec, _ vnfm.Recorder) error {
	d.saw(t)
	if err := d.at("terminate"); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.objects = map[string]string{}
	return nil
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
	v, _, err := w.RegisterVIM(t.Context(), "", vnfm.VIMSpec{
		Name: "edge", Type: vnfm.VIMTypeKubernetes,
		Kubernetes:  &vnfm.KubernetesConnection{Endpoint: "https://127.0.0.1:6443"},
		Credentials: vnfm.Credentials{vnfm.CredentialBearerToken: "t0ken-of-the-test"},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.vimID = v.ID
	w.pkg = w.onboard(t, "1.0")
	return w
}

// open returns another engine on the same store, as another process has it.
func (w *env) open(t *testing.T) *lcm.Engine {
	t.Helper()
	return w.openWith(t, map[vnfm.VIMType]vnfm.InfraDriver{vnfm.VIMTypeKubernetes: w.driver})
}

func (w *env) openWith(t *testing.T, drivers map[vnfm.VIMType]vnfm.InfraDriver) *lcm.Engine {
	t.Helper()
	if w.cloud != nil {
		drivers[vnfm.VIMTypeOpenStack] = w.cloud
	}
	keys, err := seal.New(seal.Source{DefaultKeyFile: filepath.Join(w.dir, "key.txt"), Vault: w.vault})
	if err != nil {
		t.Fatal(err)
	}
	e := lcm.New(lcm.Config{
		OpenStore: func(ctx context.Context) (store.Store, error) {
			return sqlite.Open(ctx, filepath.Join(w.dir, "store.db"), "test")
		},
		Keyring:  keys,
		Drivers:  drivers,
		Clusters: w.clusters,

		Management: w.management,
	})
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func (w *env) onboard(t *testing.T, version string) *vnfm.Package {
	t.Helper()
	dir := filepath.Join(w.sources, version)
	writePackage(t, dir, version)
	p, problems, err := w.OnboardPackage(t.Context(), vnfm.PackageSpec{
		Name: "test", Source: dir, Integrity: "enforce", Signature: "verify_if_present",
	}, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return p
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
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
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
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, occ := range occs {
		out = append(out, string(occ.Type)+" "+string(occ.State))
	}
	return out
}

func TestLifeOfAnInstance(t *testing.T) {
	w := newEnv(t)
	spec := w.spec()
	i, err := w.Instantiate(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if i.Status != vnfm.StatusInstantiated || i.Generation != 1 || w.driver.counts["VDU1"] != 1 {
		t.Fatalf("after instantiate: status %s, generation %d, counts %v", i.Status, i.Generation, w.driver.counts)
	}

	spec.ScaleLevels = map[string]int{"workers": 3}
	spec.Description = "the core"
	if i, err = w.Update(t.Context(), i.ID, spec); err != nil {
		t.Fatal(err)
	}
	if w.driver.counts["VDU1"] != 4 || i.Generation != 2 {
		t.Errorf("after scale: counts %v, generation %d", w.driver.counts, i.Generation)
	}

	spec.OperationalState = vnfm.Stopped
	if i, err = w.Update(t.Context(), i.ID, spec); err != nil {
		t.Fatal(err)
	}
	if w.driver.counts["VDU1"] != 0 {
		t.Errorf("after stop: counts %v", w.driver.counts)
	}

	spec.OperationalState = vnfm.Started
	spec.LevelID, spec.ScaleLevels = "large", nil
	spec.PackageID = w.onboard(t, "2.0").ID
	if i, err = w.Update(t.Context(), i.ID, spec); err != nil {
		t.Fatal(err)
	}
	if w.driver.counts["VDU1"] != 3 || i.PackageID != spec.PackageID {
		t.Errorf("after change of package and level: counts %v, package %s", w.driver.counts, i.PackageID)
	}

	w.driver.objects["v1/ConfigMap a"] = "drifted: data.version"
	if i, err = w.Update(t.Context(), i.ID, spec); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"INSTANTIATE COMPLETED", "MODIFY_INFO COMPLETED", "SCALE COMPLETED", "OPERATE COMPLETED",
		"CHANGE_VNFPKG COMPLETED", "OPERATE COMPLETED", "SCALE_TO_LEVEL COMPLETED", "HEAL COMPLETED",
	}
	if diff := cmp.Diff(want, w.operations(t, i.ID)); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	if _, err = w.Update(t.Context(), i.ID, spec); err != nil {
		t.Fatal(err)
	}
	if got := len(w.operations(t, i.ID)); got != len(want) {
		t.Errorf("an update without a difference made %d operations", got-len(want))
	}

	if err := w.DeregisterVIM(t.Context(), w.vimID); !errors.As(err, new(*vnfm.InUseError)) {
		t.Errorf("deregistering a VIM in use: %v", err)
	}
	w.driver.stranded = []string{"example.org/v1/Cell far/a"}
	if err := w.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}); !errors.As(err, new(*vnfm.StrandedError)) || !strings.Contains(err.Error(), "still exist: example.org/v1/Cell far/a; delete") {
		t.Errorf("terminating what others wait for: %v", err)
	}
	if again, err := w.Instance(t.Context(), i.ID); err != nil || again.Status != vnfm.StatusInstantiated || len(w.operations(t, i.ID)) != len(want) {
		t.Errorf("after a termination that was refused: %+v, %v", again, err)
	}
	w.driver.stranded = nil
	if err := w.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Instance(t.Context(), i.ID); !errors.Is(err, vnfm.ErrNotFound) {
		t.Errorf("record after termination: %v", err)
	}
	if got := w.operations(t, i.ID); !slices.Equal(got, []string{"TERMINATE COMPLETED"}) {
		t.Errorf("operations after termination: %v", got)
	}
	if err := w.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}); err != nil {
		t.Errorf("terminating again, as after a kill before the answer: %v", err)
	}
	if err := w.DeregisterVIM(t.Context(), w.vimID); err != nil {
		t.Error(err)
	}
	if got := w.operations(t, i.ID); len(got) != 0 {
		t.Errorf("operations after the VIM has gone: %v", got)
	}
}

var errBroken = errors.New("the VIM is broken")

func TestHowACreateEnds(t *testing.T) {
	for _, tc := range []struct {
		name      string
		point     string
		onFailure vnfm.OnFailure
		cancel    bool
		// stays tells whether a record and objects are left.
		stays bool
		state string
	}{
		{name: "fails before anything exists", point: "apply", onFailure: vnfm.OnFailureResume},
		{name: "fails at the first write", point: "first write", onFailure: vnfm.OnFailureResume},
		{name: "fails half-way, resume", point: "wrote apps/v1/Deployment b", onFailure: vnfm.OnFailureResume, stays: true, state: "INSTANTIATE FAILED_TEMP"},
		{name: "fails half-way, rollback", point: "wrote apps/v1/Deployment b", onFailure: vnfm.OnFailureRollback},
		{name: "is interrupted half-way, resume", point: "wrote apps/v1/Deployment b", onFailure: vnfm.OnFailureResume, cancel: true, stays: true, state: "INSTANTIATE FAILED_TEMP"},
		{name: "is interrupted half-way, rollback", point: "wrote apps/v1/Deployment b", onFailure: vnfm.OnFailureRollback, cancel: true, stays: true, state: "INSTANTIATE FAILED_TEMP"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newEnv(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			w.driver.fail = func(point string) error {
				if point != tc.point {
					return nil
				}
				if tc.cancel {
					cancel()
					return ctx.Err()
				}
				return errBroken
			}
			spec := w.spec()
			spec.OnFailure = tc.onFailure
			_, err := w.Instantiate(ctx, spec)
			if err == nil {
				t.Fatal("no error")
			}
			if !tc.cancel && !errors.Is(err, errBroken) {
				t.Errorf("the cause is lost: %v", err)
			}
			var failed *vnfm.OperationError
			if got := errors.As(err, &failed) && failed.Instance != nil; got != tc.stays {
				t.Fatalf("error carries an instance: %v, want %v (%v)", got, tc.stays, err)
			}
			left, listErr := w.Instances(t.Context(), vnfm.InstanceFilter{})
			if listErr != nil {
				t.Fatal(listErr)
			}
			if got := len(left) == 1 && len(w.driver.objects) > 0; got != tc.stays {
				t.Errorf("left are %d records and the objects %v", len(left), w.driver.objects)
			}
			if !tc.stays {
				if len(left) != 0 || len(w.driver.objects) != 0 {
					t.Errorf("left are %d records and the objects %v", len(left), w.driver.objects)
				}
				return
			}
			if got := w.operations(t, left[0].ID); !slices.Equal(got, []string{tc.state}) {
				t.Errorf("operations %v, want %s", got, tc.state)
			}

			w.driver.fail = nil
			i, err := w.Update(t.Context(), left[0].ID, spec)
			if err != nil {
				t.Fatal(err)
			}
			if i.Status != vnfm.StatusInstantiated || len(w.driver.objects) != 2 {
				t.Errorf("after resuming: %s with %v", i.Status, w.driver.objects)
			}
			if got := w.operations(t, i.ID); !slices.Equal(got, []string{"INSTANTIATE COMPLETED"}) {
				t.Errorf("operations after resuming: %v", got)
			}
		})
	}
}

func TestACreationThatCannotBeWrittenDownIsKept(t *testing.T) {
	w := newEnv(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w.driver.fail = func(point string) error {
		if point == "applied" {
			cancel()
		}
		return nil
	}
	_, err := w.Instantiate(ctx, w.spec())
	var failed *vnfm.OperationError
	if !errors.As(err, &failed) || failed.Instance == nil {
		t.Fatalf("the objects exist and the error carries no instance: %v", err)
	}
	i, err := w.Update(t.Context(), failed.Instance.ID, w.spec())
	if err != nil {
		t.Fatal(err)
	}
	if got := w.operations(t, i.ID); !slices.Equal(got, []string{"INSTANTIATE COMPLETED"}) {
		t.Errorf("operations after resuming: %v", got)
	}
}

func TestARecordWithObjectsIsNeverForgotten(t *testing.T) {
	w := newEnv(t)
	first, err := w.Instantiate(t.Context(), w.spec())
	if err != nil {
		t.Fatal(err)
	}
	blind := w.openWith(t, nil)
	_, err = blind.Instantiate(t.Context(), w.spec())
	var failed *vnfm.OperationError
	if !errors.As(err, &failed) || failed.Instance == nil || failed.Instance.ID != first.ID {
		t.Errorf("taking up a creation without a driver: %v", err)
	}
	left, err := w.Instances(t.Context(), vnfm.InstanceFilter{})
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || len(left[0].Inventory) != 2 {
		t.Errorf("left of the record: %+v", left)
	}
}

func TestAnInstanceIsNotWholeBeforeItsRepair(t *testing.T) {
	w := newEnv(t)
	i, err := w.Instantiate(t.Context(), w.spec())
	if err != nil {
		t.Fatal(err)
	}
	spec := w.spec()
	spec.LevelID = "large"
	w.driver.fail = func(string) error { return errBroken }
	if _, err := w.Update(t.Context(), i.ID, spec); !errors.Is(err, errBroken) {
		t.Fatalf("scaling: %v", err)
	}
	var during vnfm.InstanceStatus
	w.driver.fail = func(point string) error {
		if point != "apply" {
			return nil
		}
		seen, err := w.Instances(t.Context(), vnfm.InstanceFilter{})
		if err == nil && len(seen) == 1 {
			during = seen[0].Status
		}
		return err
	}
	back := w.spec()
	back.Description = "given another description on the way"
	after, err := w.Update(t.Context(), i.ID, back)
	if err != nil {
		t.Fatal(err)
	}
	if during != vnfm.StatusFailedTemp || after.Status != vnfm.StatusInstantiated {
		t.Errorf("status before the repair %q, after it %q", during, after.Status)
	}
}

// losing is a store whose leases of instances are lost on request.
type losing struct {
	store.Store
	lost chan struct{}
}

type lostLease struct {
	store.Lease
	lost chan struct{}
}

func (l lostLease) Lost() <-chan struct{} { return l.lost }

func (s losing) Acquire(ctx context.Context, name, holder string) (store.Lease, error) {
	lease, err := s.Store.Acquire(ctx, name, holder)
	if err != nil || !strings.HasPrefix(name, "instance/") {
		return lease, err
	}
	return lostLease{lease, s.lost}, nil
}

// suspended is a driver whose process stands still until its lease was lost.
type suspended struct {
	*driver
	meanwhile func()
}

func (d suspended) Apply(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	if err := d.driver.Apply(ctx, t, r); err != nil {
		return err
	}
	d.meanwhile()
	<-ctx.Done()
	return ctx.Err()
}

func TestALostLease(t *testing.T) {
	w := newEnv(t)
	keys, err := seal.New(seal.Source{DefaultKeyFile: filepath.Join(w.dir, "key.txt")})
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), filepath.Join(w.dir, "store.db"), "test")
	if err != nil {
		t.Fatal(err)
	}
	lost := make(chan struct{})
	var inHands store.Record
	slow := lcm.New(lcm.Config{
		OpenStore: func(context.Context) (store.Store, error) { return losing{db, lost}, nil },
		Keyring:   keys,
		Drivers: map[vnfm.VIMType]vnfm.InfraDriver{vnfm.VIMTypeKubernetes: suspended{w.driver, func() {
			recs, err := db.List(t.Context(), store.Query{Kind: store.KindInstance})
			if err != nil || len(recs) != 1 {
				t.Errorf("records of instances: %v, %v", recs, err)
				return
			}
			inHands = recs[0]
			if err := db.Update(t.Context(), &inHands); err != nil {
				t.Error(err)
			}
			close(lost)
		}}},
	})
	t.Cleanup(func() {
		if err := slow.Close(); err != nil {
			t.Error(err)
		}
	})
	_, err = slow.Instantiate(t.Context(), w.spec())
	var failed *vnfm.OperationError
	if !errors.As(err, &failed) || failed.Instance == nil || !strings.Contains(err.Error(), "lost the lease") {
		t.Errorf("a creation whose lease was lost: %v", err)
	}
	now, err := db.Get(t.Context(), store.KindInstance, inHands.ID)
	if err != nil {
		t.Fatal(err)
	}
	if now.Revision != inHands.Revision {
		t.Error("the record was written without the lease")
	}
}

func TestACreateThatRunsElsewhere(t *testing.T) {
	w := newEnv(t)
	running := make(chan struct{})
	ctx, stop := context.WithCancel(t.Context())
	w.driver.fail = func(point string) error {
		if point == "wrote apps/v1/Deployment b" {
			close(running)
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}
	other, ended := w.open(t), make(chan struct{})
	go func() {
		defer close(ended)
		if _, err := other.Instantiate(ctx, w.spec()); err == nil {
			t.Error("the interrupted creation ended well")
		}
	}()
	<-running
	_, err := w.Instantiate(t.Context(), w.spec())
	var busy *vnfm.BusyError
	if !errors.As(err, &busy) {
		t.Errorf("a creation that runs elsewhere: %v", err)
	}
	stop()
	<-ended
}

func TestACreateUnderAKnownName(t *testing.T) {
	w := newEnv(t)
	first, err := w.Instantiate(t.Context(), w.spec())
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Instantiate(t.Context(), w.spec())
	if !errors.As(err, new(*vnfm.ConflictError)) || !strings.Contains(err.Error(), first.ID) {
		t.Errorf("the name of an instance that the same process has made: %v", err)
	}
	again, err := w.open(t).Instantiate(t.Context(), w.spec())
	if err != nil {
		t.Fatal(err)
	}
	if again.ID != first.ID {
		t.Errorf("an instance that nobody has read was made twice: %s and %s", first.ID, again.ID)
	}
	if _, err := w.Instance(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	_, err = w.Instantiate(t.Context(), w.spec())
	if !errors.As(err, new(*vnfm.ConflictError)) || !strings.Contains(err.Error(), first.ID) {
		t.Errorf("the name of an instance that Terraform knows: %v", err)
	}
}

func TestAFailedUpdate(t *testing.T) {
	for _, tc := range []struct {
		onFailure  vnfm.OnFailure
		wantStatus vnfm.InstanceStatus
		wantState  string
	}{
		{vnfm.OnFailureResume, vnfm.StatusFailedTemp, "CHANGE_VNFPKG FAILED_TEMP"},
		{vnfm.OnFailureRollback, vnfm.StatusInstantiated, "CHANGE_VNFPKG ROLLED_BACK"},
	} {
		t.Run(string(tc.onFailure), func(t *testing.T) {
			w := newEnv(t)
			spec := w.spec()
			spec.OnFailure = tc.onFailure
			i, err := w.Instantiate(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			before := maps.Clone(w.driver.objects)
			changed := spec
			changed.PackageID = w.onboard(t, "2.0").ID
			broken := true
			w.driver.fail = func(point string) error {
				if point == "applied" && broken {
					broken = false
					return errBroken
				}
				return nil
			}
			_, err = w.Update(t.Context(), i.ID, changed)
			var failed *vnfm.OperationError
			if !errors.As(err, &failed) || failed.Instance == nil {
				t.Fatalf("the error of an update must tell the state: %v", err)
			}
			if failed.Instance.Status != tc.wantStatus || failed.Instance.PackageID != spec.PackageID {
				t.Errorf("status %s, package %s", failed.Instance.Status, failed.Instance.PackageID)
			}
			if got := w.operations(t, i.ID)[1]; got != tc.wantState {
				t.Errorf("operation %s, want %s", got, tc.wantState)
			}
			if tc.onFailure == vnfm.OnFailureRollback && !maps.Equal(before, w.driver.objects) {
				t.Errorf("objects after the rollback %v, before %v", w.driver.objects, before)
			}
			i, err = w.Update(t.Context(), i.ID, changed)
			if err != nil {
				t.Fatal(err)
			}
			if i.PackageID != changed.PackageID || i.Status != vnfm.StatusInstantiated {
				t.Errorf("after the second update: %s, %s", i.Status, i.PackageID)
			}
		})
	}
}

func TestALostStore(t *testing.T) {
	w := newEnv(t)
	i, err := w.Instantiate(t.Context(), w.spec())
	if err != nil {
		t.Fatal(err)
	}
	lost := &env{driver: w.driver, dir: t.TempDir(), sources: w.sources}
	lost.Engine = lost.open(t)
	if err := lost.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}); !errors.Is(err, vnfm.ErrNotFound) {
		t.Fatalf("terminating without a record: %v", err)
	}
	if len(lost.driver.objects) != 2 {
		t.Fatal("something was removed without a record")
	}
	vimSpec := vnfm.VIMSpec{Name: "edge", Type: vnfm.VIMTypeKubernetes, Kubernetes: &vnfm.KubernetesConnection{Endpoint: "https://127.0.0.1:6443"}}
	v, _, err := lost.RegisterVIM(t.Context(), w.vimID, vimSpec)
	if err != nil {
		t.Fatal(err)
	}
	if v.ID != w.vimID {
		t.Errorf("the VIM was registered again under the id %s instead of %s", v.ID, w.vimID)
	}
	if p := lost.onboard(t, "1.0"); p.ID != w.pkg.ID {
		t.Errorf("the package has the id %s instead of %s", p.ID, w.pkg.ID)
	}
	// The refresh writes the record again: that is no operation, and neither is an update that asks for what there is.
	known := w.spec()
	known.Known = vnfm.KnownState{Status: vnfm.StatusInstantiated, Generation: i.Generation}
	recovered, err := lost.RecoverInstance(t.Context(), i.ID, known)
	if err != nil {
		t.Fatal(err)
	}
	if recovered.Status != vnfm.StatusInstantiated || recovered.Generation != i.Generation || !recovered.Acknowledged || len(recovered.Inventory) != 2 {
		t.Errorf("recovered %+v", recovered)
	}
	if again, err := lost.Update(t.Context(), i.ID, known); err != nil || again.Recovered || again.Generation != i.Generation {
		t.Errorf("updated to what there is: %+v, %v", again, err)
	}
	if got := lost.operations(t, i.ID); len(got) > 0 {
		t.Errorf("operations %v", got)
	}
	if err := lost.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}); err != nil || len(lost.driver.objects) > 0 {
		t.Errorf("terminating what was recovered: %v, left: %v", err, lost.driver.objects)
	}
	if _, err := lost.RecoverInstance(t.Context(), i.ID, known); !errors.Is(err, vnfm.ErrNotFound) {
		t.Errorf("recovering what was terminated: %v", err)
	}

	// A destroy needs no package.
	bare := &env{driver: w.driver, dir: t.TempDir(), sources: w.sources}
	bare.Engine = bare.open(t)
	if _, _, err := bare.RegisterVIM(t.Context(), w.vimID, vimSpec); err != nil {
		t.Fatal(err)
	}
	w.driver.objects["v1/ConfigMap a"] = "sha256:0"
	if _, err := bare.RecoverInstance(t.Context(), i.ID, known); !errors.Is(err, vnfm.ErrNotFound) {
		t.Errorf("recovering without the package: %v", err)
	}
	known.Known.Ending = true
	if _, err := bare.RecoverInstance(t.Context(), i.ID, known); err != nil {
		t.Fatal(err)
	}
	if err := bare.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}); err != nil || len(w.driver.objects) > 0 {
		t.Errorf("terminating without the package: %v, left: %v", err, w.driver.objects)
	}

	// Without a known status the next apply applies everything again.
	second := w.spec()
	second.Name = "second"
	if i, err = w.Instantiate(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	restored, err := lost.Update(t.Context(), i.ID, second)
	if err != nil {
		t.Fatal(err)
	}
	if restored.ID != i.ID || restored.Status != vnfm.StatusInstantiated {
		t.Errorf("restored %s with status %s", restored.ID, restored.Status)
	}
	if got := lost.operations(t, i.ID); !slices.Equal(got, []string{"HEAL COMPLETED"}) {
		t.Errorf("operations %v", got)
	}
}

func TestASupersededPackageGoesWithItsLastInstance(t *testing.T) {
	w := newEnv(t)
	i, err := w.Instantiate(t.Context(), w.spec())
	if err != nil {
		t.Fatal(err)
	}
	old := w.pkg.ID
	next := w.onboard(t, "2.0").ID
	if err := w.ReleasePackage(t.Context(), old, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Package(t.Context(), old); err != nil {
		t.Fatalf("the package went while an instance runs it: %v", err)
	}
	spec := w.spec()
	spec.PackageID = next
	if _, err := w.Update(t.Context(), i.ID, spec); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Package(t.Context(), old); !errors.Is(err, vnfm.ErrNotFound) {
		t.Errorf("the superseded package is still there: %v", err)
	}
	if err := w.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Package(t.Context(), next); err != nil {
		t.Errorf("the current package went with the instance: %v", err)
	}
}

func TestPreviewProblems(t *testing.T) {
	w := newEnv(t)
	for _, tc := range []struct {
		name   string
		change func(*vnfm.InstanceSpec)
		want   vnfm.Problem
	}{
		{
			"unknown flavour", func(s *vnfm.InstanceSpec) { s.FlavourID = "big" },
			vnfm.Problem{Attribute: "flavour_id", Summary: `VNFD "test" has no deployment flavour "big"`, Detail: `the package has "default"`},
		},
		{
			"unknown level", func(s *vnfm.InstanceSpec) { s.LevelID = "huge" },
			vnfm.Problem{Attribute: "instantiation_level_id", Summary: `deployment flavour "default" has no instantiation level "huge"`, Detail: `it has "large", "small"`},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			spec := w.spec()
			tc.change(&spec)
			_, problems, err := w.PreviewInstance(t.Context(), "", spec)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(vnfm.Problems{tc.want}, problems); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTwoVIMsOfOneName(t *testing.T) {
	w := newEnv(t)
	spec := vnfm.VIMSpec{Name: "twin", Type: vnfm.VIMTypeKubernetes, Kubernetes: &vnfm.KubernetesConnection{Endpoint: "https://127.0.0.1:6443"}}
	register := func(e *lcm.Engine) string {
		t.Helper()
		v, _, err := e.RegisterVIM(t.Context(), "", spec)
		if err != nil {
			t.Fatal(err)
		}
		return v.ID
	}
	first, second := register(w.Engine), register(w.Engine)
	if first == second {
		t.Error("two VIMs of the same configuration became one")
	}
	other := w.open(t)
	if third, fourth := register(other), register(other); third != first || fourth != second {
		t.Errorf("registrations that nobody has read were taken up as %s and %s, want %s and %s", third, fourth, first, second)
	}
}

func TestAVIMStaysOnItsCluster(t *testing.T) {
	w := newEnv(t)
	spec := vnfm.VIMSpec{Name: "edge", Type: vnfm.VIMTypeKubernetes, Kubernetes: &vnfm.KubernetesConnection{Endpoint: "https://127.0.0.1:6443"}}
	lead := func(cluster string) error {
		w.driver.cluster = cluster
		_, _, err := w.UpdateVIM(t.Context(), w.vimID, spec)
		return err
	}
	for _, cluster := range []string{"one", "two", ""} {
		if err := lead(cluster); err != nil {
			t.Errorf("leading a VIM without instances to cluster %q: %v", cluster, err)
		}
	}
	if _, err := w.Instantiate(t.Context(), w.spec()); err != nil {
		t.Fatal(err)
	}
	if err := lead("two"); err != nil {
		t.Errorf("another way to the same cluster: %v", err)
	}
	if err := lead("three"); err == nil || !strings.Contains(err.Error(), "another cluster") || !strings.Contains(err.Error(), `"core"`) {
		t.Errorf("leading a VIM with an instance to another cluster: %v", err)
	}
}

func TestALostRecordGoesOnFromTheKnownGeneration(t *testing.T) {
	w := newEnv(t)
	spec := w.spec()
	spec.Known.Generation = 7
	i, err := w.Update(t.Context(), "0b8a3f0e-1d6c-4a53-8a3d-3a9b5d3f0c11", spec)
	if err != nil {
		t.Fatal(err)
	}
	if i.Generation != 8 {
		t.Errorf("generation %d after a repair that followed generation 7", i.Generation)
	}
}

// TestAnotherValueOfTheSameEffect gives arguments in another way that changes nothing on the VIM: no operation runs, and the
// record follows the request, so that nothing is planned again.
func TestAnotherValueOfTheSameEffect(t *testing.T) {
	for name, edit := range map[string]func(*vnfm.InstanceSpec){
		"a scale level that was the default":      func(s *vnfm.InstanceSpec) { s.ScaleLevels = map[string]int{"workers": 0} },
		"the default instantiation level":         func(s *vnfm.InstanceSpec) { s.LevelID = "small" },
		"the default flavour":                     func(s *vnfm.InstanceSpec) { s.FlavourID = "default" },
		"no parameters, as an empty map":          func(s *vnfm.InstanceSpec) { s.AdditionalParams = map[string]any{} },
		"no metadata, as an empty map":            func(s *vnfm.InstanceSpec) { s.Metadata = map[string]string{} },
		"no VIM connections, as an empty map":     func(s *vnfm.InstanceSpec) { s.Connections = map[string]vnfm.Connection{} },
		"no external networks, as an empty map":   func(s *vnfm.InstanceSpec) { s.Links.External = map[string]vnfm.ExtVirtualLink{} },
		"no internal networks, as an empty map":   func(s *vnfm.InstanceSpec) { s.Links.Managed = map[string]string{} },
		"no readiness rules, as an empty list":    func(s *vnfm.InstanceSpec) { s.Readiness = []vnfm.ReadinessRule{} },
		"the trigger of the heal that it has had": func(s *vnfm.InstanceSpec) { s.Heal = &vnfm.HealSpec{Trigger: "1", Cause: "other"} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			spec := w.spec()
			spec.Heal = &vnfm.HealSpec{Trigger: "1"}
			i, err := w.Instantiate(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			edit(&spec)
			if _, err := w.Update(t.Context(), i.ID, spec); err != nil {
				t.Fatal(err)
			}
			got, err := w.open(t).Instance(t.Context(), i.ID)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(spec.ScaleLevels, got.ScaleLevels); diff != "" {
				t.Errorf("scale levels of the record (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"INSTANTIATE COMPLETED"}, w.operations(t, i.ID)); diff != "" || got.Generation != i.Generation {
				t.Errorf("generation %d after %d, operations (-want +got):\n%s", got.Generation, i.Generation, diff)
			}
			if _, err := w.Update(t.Context(), i.ID, spec); err != nil {
				t.Fatal(err)
			}
			if again, err := w.Instance(t.Context(), i.ID); err != nil || !again.UpdatedAt.Equal(got.UpdatedAt) {
				t.Errorf("a second update wrote the record at %v after %v, %v", again.UpdatedAt, got.UpdatedAt, err)
			}
		})
	}
}
