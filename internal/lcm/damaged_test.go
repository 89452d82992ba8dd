package lcm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// damaged is a store in which the data of one kind of record is not as it was written. It is
// written to no more.
type damaged struct {
	store.Store
	store.EncodedBlobs
	kind   store.Kind
	damage func([]byte) []byte
}

var errReadOnly = errors.New("a damaged store is only read")

func (s damaged) Get(ctx context.Context, kind store.Kind, id string) (*store.Record, error) {
	rec, err := s.Store.Get(ctx, kind, id)
	if err == nil && kind == s.kind {
		rec.Data = s.damage(rec.Data)
	}
	return rec, err
}

func (s damaged) List(ctx context.Context, q store.Query) ([]store.Record, error) {
	recs, err := s.Store.List(ctx, q)
	for i := range recs {
		if recs[i].Kind == s.kind {
			recs[i].Data = s.damage(recs[i].Data)
		}
	}
	return recs, err
}

func (damaged) Create(context.Context, *store.Record) error      { return errReadOnly }
func (damaged) Update(context.Context, *store.Record) error      { return errReadOnly }
func (damaged) Delete(context.Context, store.Kind, string) error { return errReadOnly }
func (damaged) Acquire(context.Context, string, string) (store.Lease, error) {
	return stillLease{}, nil
}
func (damaged) Close() error { return nil }

// stillLease is one that is never lost.
type stillLease struct{}

func (stillLease) Fence() store.Fence            { return store.Fence{} }
func (stillLease) TakenOver() bool               { return false }
func (stillLease) Lost() <-chan struct{}         { return nil }
func (stillLease) Unanswered() error             { return nil }
func (stillLease) Release(context.Context) error { return nil }

// damages are the ways in which one value of a record can be another one.
func damages(tree any) map[string]any {
	out := map[string]any{}
	replacements := []any{nil, "x", float64(-1), []any{nil}}
	var walk func(at string, value any, put func(any) any)
	walk = func(at string, value any, put func(any) any) {
		for n, other := range replacements {
			out[fmt.Sprintf("%s is other %d", at, n)] = put(other)
		}
		switch value := value.(type) {
		case map[string]any:
			for key, item := range value {
				without := maps.Clone(value)
				delete(without, key)
				out[at+"."+key+" is gone"] = put(without)
				walk(at+"."+key, item, func(v any) any {
					changed := maps.Clone(value)
					changed[key] = v
					return put(changed)
				})
			}
		case []any:
			for n, item := range value[:min(len(value), 1)] {
				walk(fmt.Sprintf("%s[%d]", at, n), item, func(v any) any {
					changed := slices.Clone(value)
					changed[n] = v
					return put(changed)
				})
			}
		}
	}
	walk("", tree, func(v any) any { return v })
	return out
}

// damaged returns a way to open engines on the store of w, in which records are damaged.
func (w *env) damaged(t *testing.T) func(kind store.Kind, damage func([]byte) []byte) *lcm.Engine {
	t.Helper()
	db, keys := opened(t, w.dir), keyring(t, seal.Source{DefaultKeyFile: filepath.Join(w.dir, "key.txt")})
	return func(kind store.Kind, damage func([]byte) []byte) *lcm.Engine {
		return lcm.New(lcm.Config{Keyring: keys, Drivers: onKubernetes(w.driver), OpenStore: func(context.Context) (store.Store, error) {
			return damaged{Store: db, EncodedBlobs: db, kind: kind, damage: damage}, nil
		}})
	}
}

// sampleOfDamages is one in how many damages a run tries, and the first of them: with a TEST_SEED, which each commit has its own of, one
// of four, and in a short run one of 32. Without a seed all of them are tried, which the race detector takes a minute for.
func sampleOfDamages() (every, first int) {
	seed := os.Getenv("TEST_SEED")
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(seed))
	switch {
	case testing.Short():
		every = 32
	case seed != "":
		every = 4
	default:
		every = 1
	}
	return every, int(hash.Sum32() % uint32(every))
}

// TestDamagedRecords reads and uses what there is, with each value of each record another one
// in turn: there may be an error, and never a panic. A text that is not a record is an error that
// names the object.
func TestDamagedRecords(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	i, err := w.Instantiate(t.Context(), w.spec())
	require.NoError(t, err)
	open := w.damaged(t)
	// use does what a refresh, a plan, an apply and a destroy do.
	use := func(kind store.Kind, damage func([]byte) []byte) []error {
		e := open(kind, damage)
		ctx := t.Context()
		var errs []error
		did := func(_ any, err error) { errs = append(errs, err) }
		did(e.VIM(ctx, w.vimID))
		did(e.CheckRegisteredVIM(ctx, w.vimID, 0))
		did(e.VIMs(ctx, vnfm.VIMFilter{}))
		did(e.Package(ctx, w.pkg.ID))
		did(e.Packages(ctx, vnfm.PackageFilter{VNFDID: "test"}))
		did(e.PackageByName(ctx, "test"))
		did(e.Instance(ctx, i.ID))
		did(e.Instances(ctx, vnfm.InstanceFilter{}))
		did(e.Operations(ctx, i.ID))
		did(e.Observe(ctx, i.ID))
		did(e.Resources(ctx, i.ID))
		_, _, err := e.PreviewInstance(ctx, i.ID, w.spec())
		did(nil, err)
		changed := w.spec()
		changed.LevelID, changed.Description = "large", "changed"
		did(e.Update(ctx, i.ID, changed))
		did(nil, e.Terminate(ctx, i.ID, vnfm.TerminateSpec{}))
		did(nil, e.ReleasePackage(ctx, w.pkg.ID, ""))
		did(nil, e.DeregisterVIM(ctx, w.vimID))
		return errs
	}
	every, first := sampleOfDamages()
	ids := map[store.Kind]string{store.KindVIM: w.vimID, store.KindPackage: w.pkg.ID, store.KindInstance: i.ID}
	for _, kind := range []store.Kind{store.KindVIM, store.KindPackage, store.KindInstance, store.KindOperation} {
		t.Run(string(kind), func(t *testing.T) {
			rec := w.records(t, kind)[0]
			for _, text := range []string{"", "{", "null", "[]", "{}", `"x"`, string(rec.Data[:len(rec.Data)/2])} {
				err := errors.Join(use(kind, func([]byte) []byte { return []byte(text) })...)
				require.ErrorContains(t, err, "is damaged in the store", text)
				require.ErrorContains(t, err, ids[kind], text)
			}
			var tree any
			require.NoError(t, json.Unmarshal(rec.Data, &tree))
			all := damages(tree)
			for n, name := range slices.Sorted(maps.Keys(all)) {
				if (n+first)%every > 0 {
					continue
				}
				text, err := json.Marshal(all[name])
				require.NoError(t, err)
				func() {
					defer func() {
						if what := recover(); what != nil {
							t.Errorf("%s: panic: %v", name, what)
						}
					}()
					use(kind, func([]byte) []byte { return text })
				}()
			}
			t.Logf("%d damages, of which one of %d was tried, from number %d on", len(all), every, first)
		})
	}
}
