package lcm_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func TestLifeOfAnInstance(t *testing.T) {
	w := newEnv(t)
	spec := w.spec()
	i, err := w.Instantiate(t.Context(), spec)
	require.NoError(t, err)
	if i.Status != vnfm.StatusInstantiated || i.Generation != 1 || w.driver.counts["VDU1"] != 1 {
		t.Fatalf("after instantiate: status %s, generation %d, counts %v", i.Status, i.Generation, w.driver.counts)
	}

	spec.ScaleLevels = map[string]int{"workers": 3}
	spec.Description = "the core"
	i, err = w.Update(t.Context(), i.ID, spec)
	require.NoError(t, err)
	if w.driver.counts["VDU1"] != 4 || i.Generation != 2 {
		t.Errorf("after scale: counts %v, generation %d", w.driver.counts, i.Generation)
	}

	spec.OperationalState = vnfm.Stopped
	i, err = w.Update(t.Context(), i.ID, spec)
	require.NoError(t, err)
	if w.driver.counts["VDU1"] != 0 {
		t.Errorf("after stop: counts %v", w.driver.counts)
	}

	spec.OperationalState = vnfm.Started
	spec.LevelID, spec.ScaleLevels = "large", nil
	spec.PackageID = w.onboard(t, "2.0").ID
	i, err = w.Update(t.Context(), i.ID, spec)
	require.NoError(t, err)
	if w.driver.counts["VDU1"] != 3 || i.PackageID != spec.PackageID {
		t.Errorf("after change of package and level: counts %v, package %s", w.driver.counts, i.PackageID)
	}

	w.driver.objects["v1/ConfigMap a"] = "drifted: data.version"
	i, err = w.Update(t.Context(), i.ID, spec)
	require.NoError(t, err)
	want := []string{
		"INSTANTIATE COMPLETED", "MODIFY_INFO COMPLETED", "SCALE COMPLETED", "OPERATE COMPLETED",
		"CHANGE_VNFPKG COMPLETED", "OPERATE COMPLETED", "SCALE_TO_LEVEL COMPLETED", "HEAL COMPLETED",
	}
	if diff := cmp.Diff(want, w.operations(t, i.ID)); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	_, err = w.Update(t.Context(), i.ID, spec)
	require.NoError(t, err)
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
	require.NoError(t, w.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}))
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
			w.driver.does(tc.point, func() error {
				if tc.cancel {
					cancel()
					return ctx.Err()
				}
				return errBroken
			})
			spec := w.spec()
			spec.OnFailure = tc.onFailure
			_, err := w.Instantiate(ctx, spec)
			require.Error(t, err)
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
			i := w.mustUpdate(t, left[0].ID, spec)
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
	w.driver.does("applied", func() error {
		cancel()
		return nil
	})
	_, err := w.Instantiate(ctx, w.spec())
	i := w.mustUpdate(t, failedInstance(t, err).ID, w.spec())
	if got := w.operations(t, i.ID); !slices.Equal(got, []string{"INSTANTIATE COMPLETED"}) {
		t.Errorf("operations after resuming: %v", got)
	}
}

func TestARecordWithObjectsIsNeverForgotten(t *testing.T) {
	w := newEnv(t)
	first, err := w.Instantiate(t.Context(), w.spec())
	require.NoError(t, err)
	blind := w.openWith(t, nil)
	_, err = blind.Instantiate(t.Context(), w.spec())
	var failed *vnfm.OperationError
	if !errors.As(err, &failed) || failed.Instance == nil || failed.Instance.ID != first.ID {
		t.Errorf("taking up a creation without a driver: %v", err)
	}
	left, err := w.Instances(t.Context(), vnfm.InstanceFilter{})
	require.NoError(t, err)
	if len(left) != 1 || len(left[0].Inventory) != 2 {
		t.Errorf("left of the record: %+v", left)
	}
}

func TestAnInstanceIsNotWholeBeforeItsRepair(t *testing.T) {
	w := newEnv(t)
	i := w.mustInstantiate(t, w.spec())
	spec := w.spec()
	spec.LevelID = "large"
	w.driver.fail = func(string) error { return errBroken }
	if _, err := w.Update(t.Context(), i.ID, spec); !errors.Is(err, errBroken) {
		t.Fatalf("scaling: %v", err)
	}
	var during vnfm.InstanceStatus
	w.driver.does("apply", func() error {
		seen, err := w.Instances(t.Context(), vnfm.InstanceFilter{})
		if err == nil && len(seen) == 1 {
			during = seen[0].Status
		}
		return err
	})
	back := w.spec()
	back.Description = "given another description on the way"
	after := w.mustUpdate(t, i.ID, back)
	if during != vnfm.StatusFailedTemp || after.Status != vnfm.StatusInstantiated {
		t.Errorf("status before the repair %q, after it %q", during, after.Status)
	}
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
	db, lost := opened(t, w.dir), make(chan struct{})
	var inHands store.Record
	d := suspended{w.driver, func() {
		inHands = w.records(t, store.KindInstance)[0]
		if err := db.Update(t.Context(), &inHands); err != nil {
			t.Error(err)
		}
		close(lost)
	}}
	slow := newEngine(t, w.dir, lcm.Config{Drivers: onKubernetes(d)}, func(s encodedStore) store.Store { return losable{s, lost} })
	_, err := slow.Instantiate(t.Context(), w.spec())
	var failed *vnfm.OperationError
	if !errors.As(err, &failed) || failed.Instance == nil || !strings.Contains(err.Error(), "lost the lease") {
		t.Errorf("a creation whose lease was lost: %v", err)
	}
	now, err := db.Get(t.Context(), store.KindInstance, inHands.ID)
	require.NoError(t, err)
	if now.Revision != inHands.Revision {
		t.Error("the record was written without the lease")
	}
}

func TestACreateThatRunsElsewhere(t *testing.T) {
	w := newEnv(t)
	running := make(chan struct{})
	ctx, stop := context.WithCancel(t.Context())
	w.driver.does("wrote apps/v1/Deployment b", func() error {
		close(running)
		<-ctx.Done()
		return ctx.Err()
	})
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
	require.NoError(t, err)
	_, err = w.Instantiate(t.Context(), w.spec())
	if !errors.As(err, new(*vnfm.ConflictError)) || !strings.Contains(err.Error(), first.ID) {
		t.Errorf("the name of an instance that the same process has made: %v", err)
	}
	again, err := w.open(t).Instantiate(t.Context(), w.spec())
	require.NoError(t, err)
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
			require.NoError(t, err)
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
			require.NoError(t, err)
			if i.PackageID != changed.PackageID || i.Status != vnfm.StatusInstantiated {
				t.Errorf("after the second update: %s, %s", i.Status, i.PackageID)
			}
		})
	}
}

func TestALostStore(t *testing.T) {
	w := newEnv(t)
	i, err := w.Instantiate(t.Context(), w.spec())
	require.NoError(t, err)
	lost := w.lost(t)
	require.NoError(t, second(lost.VIM(t.Context(), w.vimID)), "the VIM was registered again under another id")
	require.ErrorIs(t, lost.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}), vnfm.ErrNotFound, "terminating without a record")
	require.Len(t, lost.driver.objects, 2, "something was removed without a record")
	if p := lost.onboard(t, "1.0"); p.ID != w.pkg.ID {
		t.Errorf("the package has the id %s instead of %s", p.ID, w.pkg.ID)
	}
	// The refresh writes the record again: that is not an operation, and neither is an update that asks for what there is.
	known := w.spec()
	known.Known = vnfm.KnownState{Status: vnfm.StatusInstantiated, Generation: i.Generation}
	recovered, err := lost.RecoverInstance(t.Context(), i.ID, known)
	require.NoError(t, err)
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
	bare := w.lost(t)
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
	other := named(w.spec(), "other")
	i, err = w.Instantiate(t.Context(), other)
	require.NoError(t, err)
	restored, err := lost.Update(t.Context(), i.ID, other)
	require.NoError(t, err)
	if restored.ID != i.ID || restored.Status != vnfm.StatusInstantiated {
		t.Errorf("restored %s with status %s", restored.ID, restored.Status)
	}
	if got := lost.operations(t, i.ID); !slices.Equal(got, []string{"HEAL COMPLETED"}) {
		t.Errorf("operations %v", got)
	}
}

func TestASupersededPackageGoesWithItsLastInstance(t *testing.T) {
	w := newEnv(t)
	i := w.mustInstantiate(t, w.spec())
	old := w.pkg.ID
	next := w.onboard(t, "2.0").ID
	require.NoError(t, w.ReleasePackage(t.Context(), old, ""))
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
	require.NoError(t, w.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}))
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
			require.NoError(t, err)
			if diff := cmp.Diff(vnfm.Problems{tc.want}, problems); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAVIMStaysOnItsCluster(t *testing.T) {
	w := newEnv(t)
	spec := vaultVIM()
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
	i := w.mustUpdate(t, "0b8a3f0e-1d6c-4a53-8a3d-3a9b5d3f0c11", spec)
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
			i := w.mustInstantiate(t, spec)
			edit(&spec)
			if _, err := w.Update(t.Context(), i.ID, spec); err != nil {
				t.Fatal(err)
			}
			got, err := w.open(t).Instance(t.Context(), i.ID)
			require.NoError(t, err)
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
