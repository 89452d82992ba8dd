package instance_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// clearStore empties the store.
func (env *testEnv) clearStore() { loseRecords(env, env.store) }

// loseRecords removes the records of some kinds from a store, of all when none is named.
func loseRecords(t testing.TB, from acctest.Store, kinds ...store.Kind) {
	t.Helper()
	s := from.Records(t)
	if len(kinds) == 0 {
		kinds = []store.Kind{store.KindInstance, store.KindPackage, store.KindVIM, store.KindOperation}
	}
	for _, kind := range kinds {
		records, err := s.List(t.Context(), store.Query{Kind: kind})
		require.NoError(t, err)
		for _, r := range records {
			require.NoError(t, s.Delete(t.Context(), kind, r.ID))
		}
	}
}

// TestAccInstance_helmStoreLost loses the store with an instance made from a chart:
// the next apply goes on with the release as it is, and no hook runs again.
func TestAccInstance_helmStoreLost(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	source := ims(t, withHook("prepare", "helm.sh/hook: pre-install", ""), withHook("migrate", "helm.sh/hook: pre-upgrade", ""), withHook("bye", "helm.sh/hook: pre-delete", ""))
	config := func(domain string) string {
		return env.configFor(source, chartParams(byValue, fmt.Sprintf(`helm_parameters = { "cscf.domain" = %q }`, domain)), "scale_levels = { calls = 1 }")
	}
	var before []string
	objects := func() []string {
		return []string{env.uid("job/test-prepare"), env.uid("deployment/test-cscf"), env.uid("job/test-migrate")}
	}
	// The first n of them are what they were.
	same := func(n int) resource.TestCheckFunc {
		return func(*terraform.State) error {
			if got := objects(); !slices.Equal(got[:n], before[:n]) {
				return fmt.Errorf("a hook ran again, or the objects were replaced: %v, before %v", got, before)
			}
			return nil
		}
	}
	env.run(t,
		resource.TestStep{Config: config("one.example.org"), Check: env.history("1 deployed")},
		resource.TestStep{
			Config: config("two.example.org"),
			Check: allChecks(env.checkBackend(), env.history("1 superseded", "2 deployed"), func(*terraform.State) error {
				before = objects()
				return nil
			}),
		},
		resource.TestStep{
			PreConfig:         env.clearStore,
			Config:            config("two.example.org"),
			ConfigPlanChecks:  planned(plancheck.ResourceActionNoop),
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check:             allChecks(env.checkBackend(), env.history("1 superseded", "2 deployed"), same(3)),
		},
		// Somebody removed Helm's records: what prepares an installation must not run
		// configFor its data.
		after(func() { env.kubectl("delete", "secrets", "-l", "owner=helm") }, updated(config("two.example.org"), allChecks(env.checkBackend(), env.history("1 deployed"), same(2)))),
		applied(config("three.example.org"), allChecks(env.checkBackend(), env.history("1 superseded", "2 deployed"), same(2))),
	)
	if got := env.kubectl("get", "secrets,jobs,deployments", "-o", "name"); got != "" {
		t.Errorf("after the termination there are: %s", got)
	}
}
