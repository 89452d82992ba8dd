package lcm_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

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
	require.Equal(t, 0, w.driver.counts["VDU1"], "after stop: counts")

	spec.OperationalState = vnfm.Started
	spec.LevelID, spec.ScaleLevels = "large", nil
	spec.PackageID = w.onboard(t, "2.0").ID
	i, err = w.Update(t.Context(), i.ID, spec)
	require.NoError(t, err)
	require.Equal(t, 3, w.driver.counts["VDU1"], "after change of package and level: counts")
	require.Equal(t, spec.PackageID, i.PackageID, "after change of package and level: counts")

	w.driver.objects["v1/ConfigMap a"] = "drifted: data.version"
	i, err = w.Update(t.Context(), i.ID, spec)
	require.NoError(t, err)
	want := []string{
		"INSTANTIATE COMPLETED", "MODIFY_INFO COMPLETED", "SCALE COMPLETED", "OPERATE COMPLETED",
		"CHANGE_VNFPKG COMPLETED", "OPERATE COMPLETED", "SCALE_TO_LEVEL COMPLETED", "HEAL COMPLETED",
	}
	require.Equal(t, want, w.operations(t, i.ID), "operations")
	_, err = w.Update(t.Context(), i.ID, spec)
	require.NoError(t, err)
	require.Len(t, w.operations(t, i.ID), len(want), "operations after an update without a difference")

	inUse := w.DeregisterVIM(t.Context(), w.vimID)
	require.ErrorAs(t, inUse, new(*vnfm.InUseError), "deregistering a VIM in use")
	require.ErrorContains(t, inUse, `VIM "edge" is in use by`)
	w.driver.stranded = []string{"example.org/v1/Cell far/a"}
	if err := w.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}); !errors.As(err, new(*vnfm.StrandedError)) || !strings.Contains(err.Error(), "still exist: example.org/v1/Cell far/a; delete") {
		t.Errorf("terminating what others wait for: %v", err)
	}
	if again, err := w.Instance(t.Context(), i.ID); err != nil || again.Status != vnfm.StatusInstantiated || len(w.operations(t, i.ID)) != len(want) {
		t.Errorf("after a termination that was refused: %+v, %v", again, err)
	}
	w.driver.stranded = nil
	require.NoError(t, w.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}))
	require.ErrorIs(t, second(w.Instance(t.Context(), i.ID)), vnfm.ErrNotFound, "record after termination")
	require.Equal(t, []string{"TERMINATE COMPLETED"}, w.operations(t, i.ID), "operations after termination")
	left, err := w.Operations(t.Context(), i.ID)
	require.NoError(t, err)
	require.Equal(t, "core", left[0].Instance, "the name of an instance that is gone")
	require.NoError(t, w.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}), "terminating again, as after a kill before the answer")
	require.NoError(t, w.DeregisterVIM(t.Context(), w.vimID))
	require.Empty(t, w.operations(t, i.ID), "operations after the VIM has gone")
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
			require.Equal(t, tc.stays, errors.As(err, &failed) && failed.Instance != nil, "error carries an instance")
			left, listErr := w.Instances(t.Context(), vnfm.InstanceFilter{})
			require.NoError(t, listErr)
			require.Equal(t, tc.stays, len(left) == 1 && len(w.driver.objects) > 0, "left are %d records and the objects %v", len(left), w.driver.objects)
			if !tc.stays {
				require.Empty(t, left, "left")
				require.Empty(t, w.driver.objects, "left")
				return
			}
			require.Equal(t, []string{tc.state}, w.operations(t, left[0].ID), "operations")

			w.driver.fail = nil
			i := w.mustUpdate(t, left[0].ID, spec)
			require.Equal(t, vnfm.StatusInstantiated, i.Status, "after resuming")
			require.Len(t, w.driver.objects, 2, "after resuming")
			require.Equal(t, []string{"INSTANTIATE COMPLETED"}, w.operations(t, i.ID), "operations after resuming")
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
	require.Equal(t, []string{"INSTANTIATE COMPLETED"}, w.operations(t, i.ID), "operations after resuming")
}

func TestARecordWithObjectsIsNeverForgotten(t *testing.T) {
	w := newEnv(t)
	first, err := w.Instantiate(t.Context(), w.spec())
	require.NoError(t, err)
	require.NoError(t, w.Close(), "the process that has created it dies")
	blind := w.openWith(t, nil)
	_, err = blind.Instantiate(t.Context(), w.spec())
	var failed *vnfm.OperationError
	if !errors.As(err, &failed) || failed.Instance == nil || failed.Instance.ID != first.ID {
		t.Errorf("taking up a creation without a driver: %v", err)
	}
	left, err := w.Instances(t.Context(), vnfm.InstanceFilter{})
	require.NoError(t, err)
	require.Len(t, left, 1, "left of the record")
	require.Len(t, left[0].Inventory, 2, "left of the record")
}

func TestAnInstanceIsNotWholeBeforeItsRepair(t *testing.T) {
	w := newEnv(t)
	i := w.mustInstantiate(t, w.spec())
	spec := w.spec()
	spec.LevelID = "large"
	w.driver.fail = func(string) error { return errBroken }
	require.ErrorIs(t, second(w.Update(t.Context(), i.ID, spec)), errBroken, "scaling")
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
	require.Equal(t, vnfm.StatusFailedTemp, during, "status before the repair")
	require.Equal(t, vnfm.StatusInstantiated, after.Status, "status before the repair")
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
	require.Equal(t, inHands.Revision, now.Revision, "the record was written without the lease")
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
	require.ErrorAs(t, err, &busy, "a creation that runs elsewhere")
	stop()
	<-ended
}

func TestACreateUnderAKnownName(t *testing.T) {
	w := newEnv(t)
	first, err := w.Instantiate(t.Context(), w.spec())
	require.NoError(t, err)
	_, err = w.Instantiate(t.Context(), w.spec())
	require.ErrorAs(t, err, new(*vnfm.ConflictError), "the name of an instance that the same process has made")
	require.ErrorContains(t, err, first.ID, "the name of an instance that the same process has made")
	_, err = w.open(t).Instantiate(t.Context(), w.spec())
	require.ErrorAs(t, err, new(*vnfm.ConflictError), "while the process that has made it lives")
	require.NoError(t, w.Close(), "that process dies")
	next := w.open(t)
	again, err := next.Instantiate(t.Context(), w.spec())
	require.NoError(t, err)
	require.Equal(t, first.ID, again.ID, "an instance that is in no state was made twice")
	next.Acknowledge(t.Context())
	require.NoError(t, next.Close(), "that process is closed in order")
	_, err = w.Instantiate(t.Context(), w.spec())
	require.ErrorAs(t, err, new(*vnfm.ConflictError), "the name of an instance that Terraform knows")
	require.ErrorContains(t, err, `of VIM "edge" belongs to`)
	require.ErrorContains(t, err, first.ID, "the name of an instance that Terraform knows")
	require.NoError(t, w.Terminate(t.Context(), first.ID, vnfm.TerminateSpec{}))
	made := w.mustInstantiate(t, w.spec())
	require.NoError(t, w.Terminate(t.Context(), made.ID, vnfm.TerminateSpec{}), "the same process creates and terminates")
	w.mustInstantiate(t, w.spec())
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
			require.ErrorAs(t, err, &failed, "the error of an update must tell the state")
			require.NotNil(t, failed.Instance, "the error of an update must tell the state")
			require.Equal(t, tc.wantStatus, failed.Instance.Status, "status")
			require.Equal(t, spec.PackageID, failed.Instance.PackageID, "status")
			require.Equal(t, tc.wantState, w.operations(t, i.ID)[1], "operation")
			if tc.onFailure == vnfm.OnFailureRollback && !maps.Equal(before, w.driver.objects) {
				t.Errorf("objects after the rollback %v, before %v", w.driver.objects, before)
			}
			i, err = w.Update(t.Context(), i.ID, changed)
			require.NoError(t, err)
			require.Equal(t, changed.PackageID, i.PackageID, "after the second update")
			require.Equal(t, vnfm.StatusInstantiated, i.Status, "after the second update")
		})
	}
}

// TestAnUpgradeThatIsTakenBack fails an upgrade, resumes it, and takes it back at last: the history has the upgrade as what it was, also
// after the process was killed between the two occurrences.
func TestAnUpgradeThatIsTakenBack(t *testing.T) {
	w := newEnv(t)
	i := w.mustInstantiate(t, w.spec())
	next := w.spec()
	next.PackageID = w.onboard(t, "2.0").ID
	w.driver.fail = func(point string) error {
		if point == "applied" {
			return errBroken
		}
		return nil
	}
	for range 2 {
		require.ErrorIs(t, second(w.Update(t.Context(), i.ID, next)), errBroken)
	}
	w.driver.fail = nil
	history := func() (out []string) {
		ops, err := w.Operations(t.Context(), i.ID)
		require.NoError(t, err)
		for _, op := range ops[1:] {
			out = append(out, fmt.Sprintf("%s %s %s -> %s, %d: %s", op.Type, op.State, op.Parameters["from_package_id"], op.Parameters["package_id"], op.Attempts, op.Error))
		}
		return out
	}
	upgrade := fmt.Sprintf("CHANGE_VNFPKG %%s %s -> %s, 2: %s", w.pkg.ID, next.PackageID, errBroken)
	require.Equal(t, []string{fmt.Sprintf(upgrade, "FAILED_TEMP")}, history(), "an upgrade that was resumed")
	w.mustUpdate(t, i.ID, w.spec())
	want := []string{
		fmt.Sprintf(upgrade, "FAILED") + "; the request that it served was replaced by a later one",
		fmt.Sprintf("CHANGE_VNFPKG COMPLETED %s -> %[1]s, 1: ", w.pkg.ID),
	}
	require.Equal(t, want, history())
	// What a kill between the two writes leaves.
	setState := func(of int, state vnfm.OperationState) {
		ops, err := w.Operations(t.Context(), i.ID)
		require.NoError(t, err)
		rewrite(t, w.dir, store.KindOperation, ops[of].ID, setField(t, "state", string(state)))
	}
	setState(1, vnfm.StateFailedTemp)
	setState(2, vnfm.StateProcessing)
	w.mustUpdate(t, i.ID, w.spec())
	states := w.operations(t, i.ID)
	require.Equal(t, []string{"INSTANTIATE COMPLETED", "CHANGE_VNFPKG FAILED", "CHANGE_VNFPKG COMPLETED"}, states, "after a kill")
}

func TestALostStore(t *testing.T) {
	w := newEnv(t)
	i, err := w.Instantiate(t.Context(), w.spec())
	require.NoError(t, err)
	lost := w.lost(t)
	require.NoError(t, second(lost.VIM(t.Context(), w.vimID)), "the VIM was registered again under another id")
	require.ErrorIs(t, lost.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}), vnfm.ErrNotFound, "terminating without a record")
	require.Len(t, lost.driver.objects, 2, "something was removed without a record")
	require.Equal(t, w.pkg.ID, lost.onboard(t, "1.0").ID, "the package has the id")
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
	require.Empty(t, lost.operations(t, i.ID), "operations")
	require.NoError(t, lost.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}), "terminating what was recovered")
	require.Empty(t, lost.driver.objects, "terminating what was recovered")
	require.ErrorIs(t, second(lost.RecoverInstance(t.Context(), i.ID, known)), vnfm.ErrNotFound, "recovering what was terminated")

	// A destroy needs no package.
	bare := w.lost(t)
	w.driver.objects["v1/ConfigMap a"] = "sha256:0"
	require.ErrorIs(t, second(bare.RecoverInstance(t.Context(), i.ID, known)), vnfm.ErrNotFound, "recovering without the package")
	known.Known.Ending = true
	require.NoError(t, second(bare.RecoverInstance(t.Context(), i.ID, known)))
	require.NoError(t, bare.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}), "terminating without the package")
	require.Empty(t, w.driver.objects, "terminating without the package")

	// Without a known status the next apply applies everything again.
	other := named(w.spec(), "other")
	i, err = w.Instantiate(t.Context(), other)
	require.NoError(t, err)
	restored, err := lost.Update(t.Context(), i.ID, other)
	require.NoError(t, err)
	require.Equal(t, i.ID, restored.ID, "restored")
	require.Equal(t, vnfm.StatusInstantiated, restored.Status, "restored")
	require.Equal(t, []string{"HEAL COMPLETED"}, lost.operations(t, i.ID), "operations")
}

func TestASupersededPackageGoesWithItsLastInstance(t *testing.T) {
	w := newEnv(t)
	i := w.mustInstantiate(t, w.spec())
	old := w.pkg.ID
	next := w.onboard(t, "2.0").ID
	require.NoError(t, w.ReleasePackage(t.Context(), old, ""))
	require.NoError(t, second(w.Package(t.Context(), old)), "the package went while an instance runs it")
	spec := w.spec()
	spec.PackageID = next
	require.NoError(t, second(w.Update(t.Context(), i.ID, spec)))
	require.ErrorIs(t, second(w.Package(t.Context(), old)), vnfm.ErrNotFound, "the superseded package is still there")
	require.NoError(t, w.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}))
	require.NoError(t, second(w.Package(t.Context(), next)), "the current package went with the instance")
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
			require.Equal(t, vnfm.Problems{tc.want}, problems)
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
		require.NoError(t, lead(cluster), "leading a VIM without instances to cluster %q", cluster)
	}
	require.NoError(t, second(w.Instantiate(t.Context(), w.spec())))
	require.NoError(t, lead("two"), "another way to the same cluster")
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
			require.NoError(t, second(w.Update(t.Context(), i.ID, spec)))
			got, err := w.open(t).Instance(t.Context(), i.ID)
			require.NoError(t, err)
			require.Equal(t, spec.ScaleLevels, got.ScaleLevels, "scale levels of the record")
			require.Equal(t, []string{"INSTANTIATE COMPLETED"}, w.operations(t, i.ID), "generation")
			require.Equal(t, i.Generation, got.Generation, "generation")
			require.NoError(t, second(w.Update(t.Context(), i.ID, spec)))
			if again, err := w.Instance(t.Context(), i.ID); err != nil || !again.UpdatedAt.Equal(got.UpdatedAt) {
				t.Errorf("a second update wrote the record at %v after %v, %v", again.UpdatedAt, got.UpdatedAt, err)
			}
		})
	}
}
