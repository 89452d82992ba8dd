package lcm_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// race is two things of which one can be done: something is removed, or something comes to
// need it.
type race struct {
	use, remove func(*lcm.Engine) error
	// uses is the write that makes the use known, removes the first one of the removal.
	uses, removes string
	// together is set for a use that becomes known under the lease of the references.
	together bool
}

// races are the ways to need a record of another kind.
func races(t *testing.T, w *env) map[string]race {
	t.Helper()
	second := register(t, w.Engine, sharedVIM(""))
	fresh := w.onboard(t, "2.0")
	there := w.spec()
	there.Name = "there"
	i := w.mustInstantiate(t, there)
	create := func(change func(*vnfm.InstanceSpec)) func(*lcm.Engine) error {
		return func(e *lcm.Engine) error {
			spec := w.spec()
			change(&spec)
			_, err := e.Instantiate(t.Context(), spec)
			return err
		}
	}
	update := func(change func(*vnfm.InstanceSpec)) func(*lcm.Engine) error {
		return func(e *lcm.Engine) error {
			spec := there
			change(&spec)
			_, err := e.Update(t.Context(), i.ID, spec)
			return err
		}
	}
	connect := func(spec *vnfm.InstanceSpec) {
		spec.Connections = map[string]vnfm.Connection{"far": {VIMID: second, Namespace: "far", VDUIDs: []string{"VDU1"}}}
	}
	deregister := func(e *lcm.Engine) error { return e.DeregisterVIM(t.Context(), second) }
	// A package in use stays until its last instance has left it.
	releasePackage := func(e *lcm.Engine) error {
		err := e.ReleasePackage(t.Context(), fresh.ID, "")
		if left, lookErr := w.open(t).Package(t.Context(), fresh.ID); err == nil && lookErr == nil {
			return &vnfm.InUseError{Kind: "VNF package", Name: left.Name}
		}
		return err
	}
	return map[string]race{
		"package of a new instance":            {create(func(s *vnfm.InstanceSpec) { s.PackageID = fresh.ID }), releasePackage, "create instance", "update package", false},
		"package that an instance changes to":  {update(func(s *vnfm.InstanceSpec) { s.PackageID = fresh.ID }), releasePackage, "create operation", "update package", false},
		"VIM of a new instance":                {create(func(s *vnfm.InstanceSpec) { s.VIMID = second }), deregister, "create instance", "delete vim", false},
		"VIM connection of a new instance":     {create(connect), deregister, "create instance", "delete vim", false},
		"VIM connection that an instance gets": {update(connect), deregister, "create operation", "delete vim", false},
		"management cluster of a VIM":          {w.cluster(t, second), deregister, "acquire references", "delete vim", true},
		"package of a private registry": {
			func(e *lcm.Engine) error {
				_, err := e.InstallRegistry(t.Context(), "", vnfm.RegistrySpec{Name: "r", SSH: vnfm.SSHAccess{Address: "192.0.2.1", User: "u"}, ImagePath: "Files/a.yaml", PackageID: fresh.ID})
				return err
			}, releasePackage, "acquire references", "update package", true,
		},
	}
}

// cluster registers a VIM whose kubeconfig is on a management cluster.
func (w *env) cluster(t *testing.T, management string) func(e *lcm.Engine) error {
	t.Helper()
	return func(e *lcm.Engine) error {
		_, _, err := e.RegisterVIM(t.Context(), "", vnfm.VIMSpec{
			Name: "workload", Type: vnfm.VIMTypeKubernetes,
			Kubernetes:  &vnfm.KubernetesConnection{KubeconfigRef: &vnfm.ClusterRef{VIMID: management, Namespace: "default", Name: "workload"}},
			Credentials: vnfm.Credentials{vnfm.CredentialKubeconfig: "a kubeconfig"},
		})
		return err
	}
}

// records are all records of a store of some kinds.
func (w *env) records(t *testing.T, kinds ...store.Kind) []store.Record {
	t.Helper()
	db := opened(t, w.dir)
	var out []store.Record
	for _, kind := range kinds {
		recs, err := db.List(t.Context(), store.Query{Kind: kind})
		require.NoError(t, err)
		out = append(out, recs...)
	}
	return out
}

// TestWhatIsRemovedWhileItComesToBeUsed has one process remove what another one begins to
// use, with the decisive write of each in the middle of the other.
func TestWhatIsRemovedWhileItComesToBeUsed(t *testing.T) {
	t.Parallel()
	for name := range races(t, newEnv(t)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("removed before the use is known", func(t *testing.T) {
				t.Parallel()
				w := newEnv(t)
				r := races(t, w)[name]
				lost := w.tries(t, func() (use, remove error) {
					var once sync.Once
					user := w.watch(t, func(does string) {
						if does == r.uses {
							once.Do(func() { remove = r.remove(w.open(t)) })
						}
					}, asItIs)
					return r.use(user), remove
				})
				require.True(t, lost, "the removal, which came first, did not win")
			})
			t.Run("removed when the use is known", func(t *testing.T) {
				t.Parallel()
				w := newEnv(t)
				r := races(t, w)[name]
				if r.together {
					require.NoError(t, r.use(w.watch(t, func(string) {}, asItIs)), "the use")
					require.ErrorAs(t, r.remove(w.open(t)), new(*vnfm.InUseError), "the use")
					return
				}
				lost := w.tries(t, func() (use, remove error) {
					var once sync.Once
					user := w.watch(t, func(does string) {
						if does == "acquire references" {
							once.Do(func() { remove = r.remove(w.open(t)) })
						}
					}, asItIs)
					return r.use(user), remove
				})
				require.False(t, lost, "the use, which came first, did not win")
			})
			t.Run("used in the middle of the removal", func(t *testing.T) {
				t.Parallel()
				w := newEnv(t)
				r := races(t, w)[name]
				lost := w.tries(t, func() (use, remove error) {
					waits, done := make(chan struct{}), make(chan struct{})
					var wait, begin sync.Once
					user := w.watch(t, func(does string) {
						if does == "acquire references" {
							wait.Do(func() { close(waits) })
						}
					}, asItIs)
					remover := w.watch(t, func(does string) {
						if does != r.removes {
							return
						}
						begin.Do(func() {
							go func() {
								defer close(done)
								use = r.use(user)
							}()
							select {
							case <-waits:
							case <-done:
							}
						})
					}, asItIs)
					remove = r.remove(remover)
					<-done
					return use, remove
				})
				require.True(t, lost, "the removal, which came first, did not win")
			})
		})
	}
}

// tries does a race and checks that one of both was done, and the other one not at all.
func (w *env) tries(t *testing.T, try func() (use, remove error)) (lost bool) {
	t.Helper()
	before, calls := w.records(t, store.KindInstance), len(w.driver.calls)
	use, remove := try()
	if lost = remove == nil; !lost {
		require.NoError(t, use, "the use")
		require.ErrorAs(t, remove, new(*vnfm.InUseError), "the use")
		return lost
	}
	invalid, ok := errors.AsType[*vnfm.InvalidError](use)
	require.True(t, ok, "what is used was removed, and the use says %v", use)
	require.NotEmpty(t, invalid.Problems[0].Attribute, "what is used was removed, and the use says %v", use)
	after := w.driver.calls[calls:]
	require.False(t, slices.ContainsFunc(after, func(call string) bool { return call != "check" }), "the use went on with")
	ids := func(recs []store.Record) (out []string) {
		for _, r := range recs {
			out = append(out, r.ID)
		}
		return out
	}
	require.Equal(t, ids(before), ids(w.records(t, store.KindInstance)), "instances")
	for _, i := range before {
		require.NoError(t, second(w.open(t).Observe(t.Context(), i.ID)), "the instance that was there")
	}
	return lost
}

// TestAVIMThatIsLedElsewhereWhileItComesToBeUsed has one process lead a VIM to another
// cluster while another one makes an instance on it.
func TestAVIMThatIsLedElsewhereWhileItComesToBeUsed(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	spec := vaultVIM()
	w.driver.cluster = "one"
	if _, _, err := w.UpdateVIM(t.Context(), w.vimID, spec); err != nil {
		t.Fatal(err)
	}
	w.driver.cluster = "two"
	waits, done := make(chan struct{}), make(chan struct{})
	var wait, begin sync.Once
	user := w.watch(t, func(does string) {
		if does == "acquire references" {
			wait.Do(func() { close(waits) })
		}
	}, asItIs)
	var made error
	leads := w.watch(t, func(does string) {
		if does != "update vim" {
			return
		}
		begin.Do(func() {
			go func() {
				defer close(done)
				_, made = user.Instantiate(t.Context(), w.spec())
			}()
			select {
			case <-waits:
			case <-done:
				t.Error("an instance was made on the cluster that the VIM is led away from")
			}
		})
	}, asItIs)
	if _, _, err := leads.UpdateVIM(t.Context(), w.vimID, spec); err != nil {
		t.Error(err)
	}
	<-done
	require.NoError(t, made, "the instance on the cluster that the VIM was led to")

	w.driver.cluster = "three"
	var once sync.Once
	late := w.watch(t, func(does string) {
		if does == "acquire references" {
			once.Do(func() {
				other := w.spec()
				other.Name = "late"
				if _, err := w.Instantiate(t.Context(), other); err != nil {
					t.Error(err)
				}
			})
		}
	}, asItIs)
	require.NoError(t, w.Terminate(t.Context(), w.theInstance(t), vnfm.TerminateSpec{}))
	if _, _, err := late.UpdateVIM(t.Context(), w.vimID, spec); err == nil || !strings.Contains(err.Error(), "leads to another cluster") {
		t.Errorf("a VIM that an instance has come to in between: %v", err)
	}
}

func (w *env) theInstance(t *testing.T) string {
	t.Helper()
	recs := w.records(t, store.KindInstance)
	require.Len(t, recs, 1)
	return recs[0].ID
}
