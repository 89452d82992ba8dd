package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// faultCase is something that a store does with several requests, any of which may fail.
type faultCase struct {
	// prepare makes what do works on; id is a fresh one.
	prepare func(ctx context.Context, s *kubeStore, id string) error
	do      func(ctx context.Context, s *kubeStore, id string) error
	// state says what a healthy handle sees: it is that before do or that after it.
	state func(ctx context.Context, s *kubeStore, id string) (string, error)
	// again repeats do, whatever came of it before; afterwards the state is that after do.
	again func(ctx context.Context, s *kubeStore, id string) error
}

func faultCases() map[string]faultCase {
	none := func(context.Context, *kubeStore, string) error { return nil }
	create := func(ctx context.Context, s *kubeStore, id string) error {
		r := sample(id)
		return s.Create(ctx, &r)
	}
	unlessExists := func(do func(ctx context.Context, s *kubeStore, id string) error) func(ctx context.Context, s *kubeStore, id string) error {
		return func(ctx context.Context, s *kubeStore, id string) error {
			if err := do(ctx, s, id); !errors.Is(err, store.ErrExists) {
				return err
			}
			return nil
		}
	}
	createPlain := func(ctx context.Context, s *kubeStore, id string) error {
		r := sample(id)
		r.Key = ""
		return s.Create(ctx, &r)
	}
	rename := func(ctx context.Context, s *kubeStore, id string) error {
		r, err := s.Get(ctx, store.KindInstance, id)
		if err != nil {
			return err
		}
		r.Key, r.Data = "renamed/"+id, []byte("renamed")
		return s.Update(ctx, r)
	}
	remove := func(ctx context.Context, s *kubeStore, id string) error { return s.Delete(ctx, store.KindInstance, id) }
	underLease := func(do func(ctx context.Context, s *kubeStore, id string) error) func(ctx context.Context, s *kubeStore, id string) error {
		return func(ctx context.Context, s *kubeStore, id string) error {
			l, err := s.Acquire(ctx, "lease of "+id, process.Name())
			if err != nil {
				return err
			}
			return errors.Join(do(store.Under(ctx, l.Fence()), s, id), l.Release(ctx))
		}
	}
	// Two chunks.
	content := func(id string) string { return strings.Repeat(id, 5*chunkSize/4/len(id)) }
	put := func(ctx context.Context, s *kubeStore, id string) error {
		return s.PutBlob(ctx, store.Digest([]byte(content(id))), strings.NewReader(content(id)))
	}
	contentState := func(ctx context.Context, s *kubeStore, id string) (string, error) {
		r, err := s.OpenBlob(ctx, store.Digest([]byte(content(id))))
		if errors.Is(err, store.ErrNotFound) {
			return "nothing", nil
		}
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(r)
		return fmt.Sprint(string(text) == content(id)), err
	}
	return map[string]faultCase{
		"create":               {none, create, recordState, unlessExists(create)},
		"create without a key": {none, createPlain, recordState, unlessExists(createPlain)},
		"create under lease":   {none, underLease(create), recordState, unlessExists(underLease(create))},
		"update the key":       {create, rename, recordState, rename},
		"delete": {create, remove, recordState, func(ctx context.Context, s *kubeStore, id string) error {
			if err := remove(ctx, s, id); !errors.Is(err, store.ErrNotFound) {
				return err
			}
			return nil
		}},
		"put a content": {none, put, contentState, put},
		"delete a content": {put, func(ctx context.Context, s *kubeStore, id string) error {
			return s.DeleteBlob(ctx, store.Digest([]byte(content(id))))
		}, contentState, func(ctx context.Context, s *kubeStore, id string) error {
			return s.DeleteBlob(ctx, store.Digest([]byte(content(id))))
		}},
		"acquire and release": {none, underLease(none), func(context.Context, *kubeStore, string) (string, error) { return "", nil }, underLease(none)},
	}
}

// recordState is a record as it is read by its id, with the ids that its keys find.
func recordState(ctx context.Context, s *kubeStore, id string) (string, error) {
	text := "nothing"
	r, err := s.Get(ctx, store.KindInstance, id)
	if err == nil {
		text = fmt.Sprintf("%s %s", r.Key, r.Data)
	} else if !errors.Is(err, store.ErrNotFound) {
		return "", err
	}
	for _, key := range []string{"vim/" + id, "renamed/" + id} {
		list, err := s.List(ctx, store.Query{Kind: store.KindInstance, Key: key})
		if err != nil {
			return "", err
		}
		for _, found := range list {
			text += " " + key + " is of " + found.ID
		}
	}
	return text, nil
}

// TestFaults cuts each request of each operation, before it arrives or before its answer comes
// back. Either nothing else fails, and the operation succeeds; or the process is killed then.
func TestFaults(t *testing.T) {
	t.Parallel()
	labtest.FullRun(t, "failures")
	env := labtest.Kubernetes(t)
	for name, test := range faultCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place := adminSite(t, env)
			times := quick()
			times.answer, times.patience = 50*time.Millisecond, 100*time.Millisecond
			healthy := place.handle(t, times)
			must(t, test.prepare(t.Context(), healthy, "before"))
			old := stateOf(t, test, healthy, "before")
			must(t, test.do(t.Context(), healthy, "before"))
			done := stateOf(t, test, healthy, "before")
			for _, dies := range []bool{false, true} {
				for _, after := range []bool{false, true} {
					for n := int64(1); ; n++ {
						id := fmt.Sprintf("%d dies=%t after=%t", n, dies, after)
						must(t, test.prepare(t.Context(), healthy, id))
						reached := runWithFault(t, place, times, test, id, n, dies, after)
						seen := stateOf(t, test, healthy, id)
						allowed := []string{strings.ReplaceAll(done, "before", id)}
						if dies {
							allowed = append(allowed, strings.ReplaceAll(old, "before", id))
						}
						require.Contains(t, allowed, seen, "request %s: a healthy handle sees", id)
						require.NoError(t, test.again(t.Context(), healthy, id), "request %s: again", id)
						require.Equal(t, allowed[0], stateOf(t, test, healthy, id), "request %s: after it was repeated", id)
						if !reached {
							if n < 2 {
								t.Error("no request was cut")
							}
							break
						}
					}
				}
			}
		})
	}
}

// runWithFault does what a case is about on a handle of its own whose request n is cut, and
// reports whether there was one.
func runWithFault(t *testing.T, place site, times timing, test faultCase, id string, n int64, dies, after bool) bool {
	t.Helper()
	g := newGateway(t, place)
	if dies {
		times.release = times.answer
	}
	s, err := g.open(t.Context(), times)
	must(t, err)
	defer kill(s)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var count atomic.Int64
	var reached, dead atomic.Bool
	cut := func() bool {
		reached.Store(true)
		dead.Store(dies)
		if dies {
			cancel()
		}
		return false
	}
	g.on(func(*http.Request) bool {
		i := count.Add(1)
		return !dead.Load() && (after || i != n || cut())
	}, func(*http.Request) bool {
		// Requests come one after the other but for the chunks of a content.
		return !dead.Load() && (!after || reached.Load() || count.Load() < n || cut())
	})
	err = test.do(ctx, s, id)
	if !dies && err != nil {
		t.Errorf("request %s: %v", id, err)
	}
	return reached.Load()
}

func stateOf(t *testing.T, test faultCase, s *kubeStore, id string) string {
	t.Helper()
	state, err := test.state(t.Context(), s, id)
	must(t, err)
	return state
}

// same compares.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}
