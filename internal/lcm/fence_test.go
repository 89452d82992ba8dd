package lcm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// mortal is a store whose leases anybody may take at once: their holders are said to be
// dead. Its own process does not hear of it, as one that stands still.
type mortal struct{ store.Store }

func (s mortal) Acquire(ctx context.Context, name, holder string) (store.Lease, error) {
	return s.Store.Acquire(ctx, name, regexp.MustCompile(`start=\S+`).ReplaceAllString(holder, "start=1"))
}

// TestALeaseThatAnotherProcessHasHadSince lets a process stand still in the middle of an
// operation, while another one does all that there is to do, and wake up.
func TestALeaseThatAnotherProcessHasHadSince(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("holders are known to be dead on Linux only")
	}
	creation := func(ctx context.Context, e *lcm.Engine, _ string, spec vnfm.InstanceSpec) error {
		_, err := e.Instantiate(ctx, spec)
		return err
	}
	change := func(ctx context.Context, e *lcm.Engine, id string, spec vnfm.InstanceSpec) error {
		spec.LevelID = "large"
		_, err := e.Update(ctx, id, spec)
		return err
	}
	end := func(ctx context.Context, e *lcm.Engine, id string, _ vnfm.InstanceSpec) error {
		return e.Terminate(ctx, id, vnfm.TerminateSpec{})
	}
	for name, test := range map[string]struct {
		// there says that the instance exists before.
		there bool
		work  func(context.Context, *lcm.Engine, string, vnfm.InstanceSpec) error
		// point is where the process stands still, wakes is what it comes upon then.
		point string
		wakes error
	}{
		"creation that fails before the first write": {false, creation, "apply", errBroken},
		"creation that fails":                        {false, creation, "applied", errBroken},
		"creation that ends well":                    {false, creation, "applied", nil},
		"change that fails":                          {true, change, "scale", errBroken},
		"change that ends well":                      {true, change, "scale", nil},
		"termination that fails":                     {true, end, "terminate", errBroken},
		"termination that ends well":                 {true, end, "terminate", nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			spec, id := w.spec(), ""
			spec.OnFailure = vnfm.OnFailureRollback
			if test.there {
				i, err := w.Instantiate(t.Context(), spec)
				require.NoError(t, err)
				id = i.ID
			}
			slow := w.over(t, func(s encodedStore) store.Store { return mortal{s} })
			records := func() []store.Record { return w.records(t, store.KindInstance, store.KindOperation) }
			var theirs []store.Record
			calls := 0
			w.driver.does(test.point, func() error {
				w.driver.fail = nil
				if err := test.work(t.Context(), w.open(t), id, spec); err != nil {
					t.Errorf("the process that takes over: %v", err)
				}
				theirs, calls = records(), len(w.driver.calls)
				return test.wakes
			})
			err := test.work(t.Context(), slow, id, spec)
			lost, ok := errors.AsType[*vnfm.LeaseLostError](err)
			require.True(t, ok, "the process that wakes up")
			holder := process.Name()
			if !test.there {
				holder = process.ParentName()
			}
			require.Equal(t, process.Describe(holder), lost.Holder, "the process that wakes up")
			if test.wakes != nil && !errors.Is(err, test.wakes) {
				t.Errorf("the process that wakes up does not say what it came upon: %v", err)
			}
			if diff := cmp.Diff(theirs, records()); diff != "" {
				t.Errorf("records after the process woke up (-want +got):\n%s", diff)
			}
			after := w.driver.calls[calls:]
			if slices.Contains(after, "terminate") || slices.Contains(after, "apply") || slices.Contains(after, "scale") {
				t.Errorf("the process that woke up went on with %q", after)
			}
		})
	}
}

// losable is a store whose leases are lost when the test says so.
type losable struct {
	store.Store
	lost chan struct{}
}

func (s losable) Acquire(ctx context.Context, name, holder string) (store.Lease, error) {
	l, err := s.Store.Acquire(ctx, name, holder)
	if err != nil || !strings.HasPrefix(name, "instance/") {
		return l, err
	}
	return losableLease{l, s.lost}, nil
}

type losableLease struct {
	store.Lease
	lost chan struct{}
}

func (l losableLease) Lost() <-chan struct{} { return l.lost }

// slowRemoval is a driver whose Terminate goes on until its context ends.
type slowRemoval struct {
	*driver
	begun func(ended <-chan struct{}) error
}

func (d slowRemoval) Terminate(ctx context.Context, _ *vnfm.Target, _ vnfm.TerminateSpec, _ vnfm.Recorder) error {
	return d.begun(ctx.Done())
}

// TestARollbackThatLosesItsLease loses the lease in the middle of a rollback, with a time
// limit as every operation has one: the removal ends at once, and nothing is written.
func TestARollbackThatLosesItsLease(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("holders are known to be dead on Linux only")
	}
	for name, test := range map[string]struct {
		wrap func(db store.Store, lost chan struct{}) store.Store
		// wakes is how the removal ends.
		wakes func(ended <-chan struct{}, lost chan struct{}) error
	}{
		"and hears of it": {
			func(db store.Store, lost chan struct{}) store.Store { return losable{db, lost} },
			func(ended <-chan struct{}, lost chan struct{}) error {
				close(lost)
				<-ended
				return context.Canceled
			},
		},
		"and stands still": {
			func(db store.Store, _ chan struct{}) store.Store { return mortal{db} },
			func(<-chan struct{}, chan struct{}) error { return nil },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newEnv(t)
			spec := w.spec()
			spec.OnFailure = vnfm.OnFailureRollback
			w.driver.does("applied", func() error {
				w.driver.fail = nil
				return errBroken
			})
			lost := make(chan struct{})
			var theirs []store.Record
			removal := slowRemoval{w.driver, func(ended <-chan struct{}) error {
				if name == "and stands still" {
					if _, err := w.open(t).Instantiate(t.Context(), spec); err != nil {
						t.Errorf("the process that takes over: %v", err)
					}
				}
				theirs = w.records(t, store.KindInstance, store.KindOperation)
				return test.wakes(ended, lost)
			}}
			slow := w.watchWith(t, func(string) {}, func(db store.Store) store.Store { return test.wrap(db, lost) }, removal)
			ctx, stop := vnfm.WithTimeLimit(t.Context(), 10*time.Minute)
			defer stop()
			begun := time.Now()
			if _, err := slow.Instantiate(ctx, spec); !errors.As(err, new(*vnfm.LeaseLostError)) || !errors.Is(err, errBroken) {
				t.Errorf("the process that rolled back: %v, want a LeaseLostError", err)
			}
			if took := time.Since(begun); took > 45*time.Second {
				t.Errorf("it went on for %s", took)
			}
			if diff := cmp.Diff(withoutProgress(t, theirs), withoutProgress(t, w.records(t, store.KindInstance, store.KindOperation))); diff != "" {
				t.Errorf("records after the lease was lost (-want +got):\n%s", diff)
			}
		})
	}
}

// withoutProgress leaves out what is written in the background while an operation goes on, and may have been on its way.
func withoutProgress(t *testing.T, all []store.Record) []store.Record {
	t.Helper()
	for i := range all {
		var data map[string]any
		require.NoError(t, json.Unmarshal(all[i].Data, &data))
		delete(data, "progress")
		text, err := json.Marshal(data)
		require.NoError(t, err)
		all[i].Data, all[i].Revision, all[i].UpdatedAt = text, 0, time.Time{}
	}
	return all
}

// TestADriverThatLosesItsLease ends a creation whose driver has lost the lease that it has
// on the VIM itself: nothing is taken back, nothing is written.
func TestADriverThatLosesItsLease(t *testing.T) {
	w := newEnv(t)
	spec := w.spec()
	spec.OnFailure = vnfm.OnFailureRollback
	w.driver.does("applied", func() error { return fmt.Errorf("%w: applying", &vnfm.LeaseLostError{Object: "the instance"}) })
	_, err := w.Instantiate(t.Context(), spec)
	failed, ok := errors.AsType[*vnfm.OperationError](err)
	if !ok || failed.Instance == nil || !errors.As(err, new(*vnfm.LeaseLostError)) {
		t.Fatalf("the error must tell the state and the loss: %v", err)
	}
	require.NotContains(t, w.driver.calls, "terminate", "the creation was rolled back")
	require.Equal(t, []string{"INSTANTIATE PROCESSING"}, w.operations(t, failed.Instance.ID), "operations")
}

// TestARecordThatChangedWithoutALease refuses to write over what nobody may have written.
func TestARecordThatChangedWithoutALease(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(t *testing.T, w *env, id string)
		refused bool
	}{
		"acknowledged": {func(t *testing.T, w *env, id string) {
			t.Helper()
			require.NoError(t, second(w.open(t).Instance(t.Context(), id)))
		}, false},
		"changed otherwise": {func(t *testing.T, w *env, id string) {
			t.Helper()
			rewrite(t, w.dir, store.KindInstance, id, func(r *store.Record) {
				r.Data = bytes.Replace(r.Data, []byte(`"name":"core"`), []byte(`"name":"edge"`), 1)
			})
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			i, err := w.Instantiate(t.Context(), w.spec())
			require.NoError(t, err)
			w.driver.does("scale", func() error {
				test.change(t, w, i.ID)
				return nil
			})
			spec := w.spec()
			spec.LevelID = "large"
			_, err = w.Update(t.Context(), i.ID, spec)
			if refused := errors.Is(err, store.ErrStale); refused != test.refused || (err != nil && !refused) {
				t.Errorf("Update = %v, refused = %t wanted", err, test.refused)
			}
			after, err := w.Instances(t.Context(), vnfm.InstanceFilter{})
			require.NoError(t, err)
			require.Len(t, after, 1)
			require.NotEqual(t, test.refused, after[0].Acknowledged, "acknowledged")
			require.Equal(t, test.refused, after[0].Name == "edge", "acknowledged")
		})
	}
}
