package vim_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/heat"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/cloudtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestVIMPerRun_unknown: an entry of vims, and the whole map, that a plan does not know leaves the VIM
// offline in the plan, and the apply connects. A name that is known in the apply alone and has no entry is an
// error then.
func TestVIMPerRun_unknown(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	lab := labtest.Kubernetes(t)
	s := acctest.NewStore(t)
	entry := fmt.Sprintf("{ kubernetes = { endpoint = %q, ca_certificate = file(%q), bearer_token = %%s } }", lab.Endpoint, lab.CAFile)
	known := fmt.Sprintf(entry, fmt.Sprintf("%q", lab.AdminToken))
	config := func(name, vims, input string) string {
		return fmt.Sprintf(`
provider "vnf" {
  store      = { local = { path = %q } }
  encryption = { key_file = %q }
  vims       = %s
}

resource "terraform_data" "later" {
  input = %s
}

resource "vnf_vim" "test" {
  name = %s
}
`, s.Path, s.KeyFile, vims, input, name)
	}
	step := func(action plancheck.ResourceActionType, config string) resource.TestStep {
		return resource.TestStep{
			Config: config,
			ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply:             []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, action)},
				PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
			},
			ConfigStateChecks: []statecheck.StateCheck{expect("status", knownvalue.StringExact("REACHABLE")), expect("type", knownvalue.StringExact("kubernetes"))},
		}
	}
	token := func(n int) string { return fmt.Sprintf("{ token = %q, n = %d }", lab.AdminToken, n) }
	oneEntry := "{ edge = " + fmt.Sprintf(entry, "terraform_data.later.output.token") + " }"
	created := step(plancheck.ResourceActionCreate, config(`"edge"`, oneEntry, token(1)))
	created.ConfigPlanChecks.PreApply = append(created.ConfigPlanChecks.PreApply, plancheck.ExpectUnknownValue(address, tfjsonpath.New("type")))
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		CheckDestroy:             gone(t, s),
		Steps: []resource.TestStep{
			{
				Config:      config("terraform_data.later.output", "{ edge = "+known+" }", `"nowhere"`),
				ExpectError: acctest.Says(`Error: No connection is given for VIM "nowhere" with vnf_vim\.test,(?s).*name = terraform_data\.later\.output The argument vims of the provider has no entry of that name: vims has entries for "edge"\. Add vims = \{ "nowhere" = \{ kubernetes = \{ \.\.\. \} \} \} to the provider block, or set kubernetes or openstack in the vnf_vim\.`),
			},
			created,
			// The token is not known in the plan, and the VIM is there.
			step(plancheck.ResourceActionNoop, config(`"edge"`, oneEntry, token(2))),
			// Nor is the map.
			step(plancheck.ResourceActionNoop, config(`"edge"`, "terraform_data.later.output", "{ edge = "+known+" }")),
			step(plancheck.ResourceActionUpdate, config("terraform_data.later.output", `{ edge = `+known+`, far = `+known+` }`, `"far"`)),
		},
	})
}

// perRunManager is a manager over a store with connections to OpenStack for each run.
func perRunManager(t *testing.T, s acctest.Store, entries map[string]vnfm.VIMAccess) vnfm.Manager {
	t.Helper()
	keys, err := seal.New(seal.Source{KeyFile: s.KeyFile})
	require.NoError(t, err)
	e := lcm.New(lcm.Config{
		OpenStore: func(ctx context.Context) (store.Store, error) { return sqlite.Open(ctx, s.Path, "test") },
		Keyring:   keys, VIMs: vnfm.VIMAccesses{Entries: entries},
		Drivers: map[vnfm.VIMType]vnfm.InfraDriver{vnfm.VIMTypeOpenStack: heat.New(openstack.NewPool("test"))},
	})
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

// TestPerRunOpenStack leads the record of an OpenStack whose credentials come with each run through lost
// stores, other credentials, another type and another name.
func TestPerRunOpenStack(t *testing.T) {
	t.Parallel()
	cloud, s := cloudtest.New(t), acctest.NewStore(t)
	cloud.AddUser("second", "another")
	entry := func(user, password string) map[string]vnfm.VIMAccess {
		return map[string]vnfm.VIMAccess{"cloud": {
			Type: vnfm.VIMTypeOpenStack, OpenStack: &vnfm.OpenStackConnection{AuthURL: cloud.URL, Username: user, ProjectName: cloudtest.Project, Region: cloudtest.Region},
			Credentials: vnfm.Credentials{vnfm.CredentialPassword: vnfm.Secret(password)},
		}}
	}
	m := perRunManager(t, s, entry("nfv_user", "devstack"))
	v, problems, err := m.RegisterVIM(t.Context(), "", vnfm.VIMSpec{Name: "cloud"})
	require.NoError(t, err)
	require.Empty(t, problems)
	require.Equal(t, vnfm.VIMTypeOpenStack, v.Type)
	require.True(t, v.PerRun)
	require.Nil(t, v.OpenStack, "the connection is in the record")
	record, err := s.Records(t).Get(t.Context(), store.KindVIM, v.ID)
	require.NoError(t, err)
	require.Empty(t, record.Sealed)
	require.NotContains(t, string(record.Data), "devstack")
	note, err := m.KnownVIM(t.Context(), v.ID)
	require.NoError(t, err)
	require.Equal(t, vnfm.KnownVIM{ID: v.ID, Name: "cloud", ClusterUID: v.ClusterUID}, note)

	// Another user of the same project, in another run.
	second := perRunManager(t, s, entry("second", "another"))
	seen, err := second.CheckRegisteredVIM(t.Context(), v.ID, 0)
	require.NoError(t, err)
	require.Equal(t, cloud.User("second").ID, seen.Cloud.UserID)
	_, err = perRunManager(t, s, entry("second", "wrong")).CheckRegisteredVIM(t.Context(), v.ID, 0)
	require.ErrorContains(t, err, vnfm.PerRunSettings)

	// By its id as well, and without an entry the error names the argument.
	byID := entry("nfv_user", "devstack")
	byID[v.ID] = byID["cloud"]
	delete(byID, "cloud")
	_, err = perRunManager(t, s, byID).CheckRegisteredVIM(t.Context(), v.ID, 0)
	require.NoError(t, err)
	_, err = perRunManager(t, s, nil).CheckRegisteredVIM(t.Context(), v.ID, 0)
	require.ErrorContains(t, err, `no connection is given for VIM "cloud": the argument vims of the provider has no entry of that name: vims is not set`)

	// An entry of the other type is not used.
	kubernetes := map[string]vnfm.VIMAccess{"cloud": {Type: vnfm.VIMTypeKubernetes, Kubernetes: &vnfm.KubernetesConnection{Endpoint: "https://192.0.2.1"}, Credentials: vnfm.Credentials{vnfm.CredentialBearerToken: "t"}}}
	_, err = perRunManager(t, s, kubernetes).CheckRegisteredVIM(t.Context(), v.ID, 0)
	require.ErrorContains(t, err, `VIM "cloud" is of type openstack, and its entry in the argument vims of the provider of type kubernetes`)

	// Over an empty store the record comes back under its id, unless the project is another one.
	other := acctest.NewStore(t)
	m = perRunManager(t, other, entry("nfv_user", "devstack"))
	elsewhere := note
	elsewhere.ClusterUID = "another project"
	var otherCluster *vnfm.OtherClusterError
	require.ErrorAs(t, m.EnsureVIM(t.Context(), elsewhere), &otherCluster)
	_, err = m.VIM(t.Context(), v.ID)
	require.ErrorIs(t, err, vnfm.ErrNotFound)
	require.NoError(t, m.EnsureVIM(t.Context(), note))
	seen, err = m.CheckRegisteredVIM(t.Context(), v.ID, 0)
	require.NoError(t, err)
	require.Equal(t, cloudtest.ProjectID, seen.Cloud.ProjectID)
}
