package lcm_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/charttest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// watched is a store that tells of what is about to be done.
type watched struct {
	store.Store
	store.EncodedBlobs
	before func(what string)
}

func (s watched) Create(ctx context.Context, r *store.Record) error {
	s.before("create " + string(r.Kind))
	return s.Store.Create(ctx, r)
}

func (s watched) Update(ctx context.Context, r *store.Record) error {
	s.before("update " + string(r.Kind))
	return s.Store.Update(ctx, r)
}

func (s watched) Delete(ctx context.Context, kind store.Kind, id string) error {
	s.before("delete " + string(kind))
	return s.Store.Delete(ctx, kind, id)
}

func (s watched) Get(ctx context.Context, kind store.Kind, id string) (*store.Record, error) {
	s.before("get " + string(kind))
	return s.Store.Get(ctx, kind, id)
}

func (s watched) DeleteBlob(ctx context.Context, digest string) error {
	s.before("delete content")
	return s.Store.DeleteBlob(ctx, digest)
}

func (s watched) Acquire(ctx context.Context, name, holder string) (store.Lease, error) {
	s.before("acquire " + name)
	return s.Store.Acquire(ctx, name, holder)
}

// watch returns another engine on the same store, which calls before; wrap is put
// around its store.
func (w *env) watch(t *testing.T, before func(what string), wrap func(store.Store) store.Store) *lcm.Engine {
	t.Helper()
	return w.watchWith(t, before, wrap, w.driver)
}

// watchWith is watch with another driver.
func (w *env) watchWith(t *testing.T, before func(what string), wrap func(store.Store) store.Store, d vnfm.InfraDriver) *lcm.Engine {
	t.Helper()
	return newEngine(t, w.dir, lcm.Config{Drivers: onKubernetes(d), Registries: &busyHosts{}}, func(s encodedStore) store.Store {
		return watched{Store: wrap(s), EncodedBlobs: s, before: before}
	})
}

func asItIs(s store.Store) store.Store { return s }

// sharedContent is a package in the store, and two ways to keep a content that it has: with a
// package of another name, and with a chart.
type sharedContent struct {
	*env
	first *vnfm.Package
	dir   string
}

func newSharedContent(t *testing.T) *sharedContent {
	t.Helper()
	w := newEnv(t)
	dir := filepath.Join(w.sources, "shared")
	writePackage(t, dir, "3.0")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Files", "plugin.tgz"), charttest.Chart{Name: "plugin", Version: "1.0.0"}.Archive(t), 0o600))
	return &sharedContent{env: w, dir: dir, first: onboardAs(t, w.Engine, "first", dir)}
}

func onboardAs(t *testing.T, e *lcm.Engine, name, dir string) *vnfm.Package {
	t.Helper()
	p, problems, err := e.OnboardPackage(t.Context(), vnfm.PackageSpec{Name: name, Source: dir, Integrity: "enforce", Signature: "verify_if_present"}, "")
	if err := errors.Join(err, problems.Err()); err != nil {
		t.Error(err)
		return nil
	}
	return p
}

// keepers keep what the first package has, and return how it is read from the store.
func (s *sharedContent) keepers() map[string]func(t *testing.T, e *lcm.Engine) (read func() error) {
	return map[string]func(t *testing.T, e *lcm.Engine) (read func() error){
		"package": func(t *testing.T, e *lcm.Engine) func() error {
			t.Helper()
			kept := onboardAs(t, e, "second", s.dir)
			return func() error {
				p, err := s.open(t).Package(t.Context(), kept.ID)
				if err != nil {
					return err
				}
				for _, f := range p.Files {
					if _, err := fs.ReadFile(p.Content, f.Path); err != nil {
						return err
					}
				}
				return nil
			}
		},
		"chart": func(t *testing.T, e *lcm.Engine) func() error {
			t.Helper()
			chart, err := e.ResolveChart(t.Context(), vnfm.ChartSource{Path: filepath.Join(s.dir, "Files", "plugin.tgz")})
			if err != nil {
				t.Error(err)
				return func() error { return nil }
			}
			return func() error {
				db, err := sqlite.Open(t.Context(), filepath.Join(s.env.dir, "store.db"), "test")
				if err != nil {
					return err
				}
				content, err := db.OpenBlob(t.Context(), chart.Digest)
				if err != nil {
					return errors.Join(err, db.Close())
				}
				return errors.Join(content.Close(), db.Close())
			}
		},
	}
}

// TestContentsThatAreKeptWhileTheyAreRemoved removes a package while another process
// keeps a package, or a chart, that has the same content.
func TestContentsThatAreKeptWhileTheyAreRemoved(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"package", "chart"} {
		t.Run("removed between the content and the record of a "+what, func(t *testing.T) {
			t.Parallel()
			s := newSharedContent(t)
			var once sync.Once
			e := s.watch(t, func(does string) {
				if does == "create "+what || does == "acquire references" {
					once.Do(func() {
						if err := s.ReleasePackage(t.Context(), s.first.ID, ""); err != nil {
							t.Error(err)
						}
					})
				}
			}, asItIs)
			require.NoError(t, s.keepers()[what](t, e)(), "the %s that was kept", what)
		})
		t.Run(what+" kept while contents are removed", func(t *testing.T) {
			t.Parallel()
			s := newSharedContent(t)
			var read func() error
			come, done := make(chan struct{}), make(chan struct{})
			var once, begun sync.Once
			come1 := func() { once.Do(func() { close(come) }) }
			keeper := s.watch(t, func(does string) {
				if does == "acquire references" {
					come1()
				}
			}, asItIs)
			remover := s.watch(t, func(does string) {
				if does != "delete content" {
					return
				}
				begun.Do(func() {
					go func() {
						defer close(done)
						defer come1()
						read = s.keepers()[what](t, keeper)
					}()
					// It is there, or it waits.
					<-come
				})
			}, asItIs)
			require.NoError(t, remover.ReleasePackage(t.Context(), s.first.ID, ""))
			<-done
			require.NoError(t, read(), "the %s that was kept", what)
		})
	}
}

// TestARemovalThatLosesItsLease lets a process stand still in a removal, while another one
// keeps what is about to be deleted, and wake up.
func TestARemovalThatLosesItsLease(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("holders are known to be dead on Linux only")
	}
	s := newSharedContent(t)
	var read func() error
	var once sync.Once
	slow := s.watch(t, func(does string) {
		if does == "delete content" {
			once.Do(func() { read = s.keepers()["package"](t, s.open(t)) })
		}
	}, func(db store.Store) store.Store { return mortal{db} })
	require.ErrorAs(t, slow.ReleasePackage(t.Context(), s.first.ID, ""), new(*vnfm.LeaseLostError), "the process that wakes up")
	require.NoError(t, read(), "the package that was kept")
	require.NoError(t, s.ReleasePackage(t.Context(), s.first.ID, ""), "the removal that goes on")
	require.NoError(t, read(), "the package that was kept")
}

// TestAPackageThatGoesWhileItIsFound onboards what the store has, by its checksum, while
// another process removes it.
func TestAPackageThatGoesWhileItIsFound(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	zip := zipped(t, "1.0")
	spec := vnfm.PackageSpec{
		Name: "remote", Source: newPackageServer(t, zip).URL + "/p.csar", Checksum: "sha256:" + digestOf(zip), Integrity: "enforce", Signature: "verify_if_present",
	}
	first, _, err := w.OnboardPackage(t.Context(), spec, "")
	require.NoError(t, err)
	var once sync.Once
	e := w.watch(t, func(does string) {
		if does == "acquire references" {
			once.Do(func() {
				if err := w.ReleasePackage(t.Context(), first.ID, ""); err != nil {
					t.Error(err)
				}
			})
		}
	}, asItIs)
	if again, _, err := e.OnboardPackage(t.Context(), spec, first.ID); err != nil || again.ID != first.ID {
		t.Fatalf("onboarded again: %+v, %v", again, err)
	}
	require.NoError(t, second(w.open(t).Package(t.Context(), first.ID)))
}

// TestASupersededPackageThatComesBack onboards a package again while another process, with
// its last instance, is about to remove it.
func TestASupersededPackageThatComesBack(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	i := w.mustInstantiate(t, w.spec())
	require.NoError(t, w.ReleasePackage(t.Context(), w.pkg.ID, ""))
	var once sync.Once
	e := w.watch(t, func(does string) {
		if does == "acquire references" {
			once.Do(func() { w.onboard(t, "1.0") })
		}
	}, asItIs)
	require.NoError(t, e.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}))
	require.NoError(t, second(w.open(t).Package(t.Context(), w.pkg.ID)), "the package that was onboarded again")
}
