package privateregistry_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/porttest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/registrytest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/sshtest"
)

// TestAccPrivateRegistry_gone installs a registry, engine and image included, that neither the host nor the configuration has: packages of
// the distribution and an image that is pulled. Then the store is lost, with the key of the host that was pinned, which holds all the same;
// and the host goes for good.
func TestAccPrivateRegistry_gone(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	host, diagnostics, records := registrytest.New(t), &acctest.Diagnostics{}, acctest.NewStore(t)
	port, key := porttest.Free(t), host.Server.Host().HostKeys[0]
	config := func(arguments ...string) string {
		return records.Config(on("127.0.0.1", append(arguments,
			fmt.Sprintf(`ssh = { username = "root", port = %d, password_wo = "debian", password_wo_version = 1 }`, host.Server.Host().Port),
			fmt.Sprintf("port = %d", port))...))
	}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: diagnostics.Factories(),
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_11_0)},
		Steps: []resource.TestStep{
			{
				Config: config(),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(registryName, tfjsonpath.New("status"), knownvalue.StringExact("READY")),
					statecheck.ExpectKnownValue(registryName, tfjsonpath.New("pinned_host_keys"), knownvalue.MapExact(map[string]knownvalue.Check{"host/127.0.0.1": knownvalue.StringExact(key)})),
				},
				Check: resource.ComposeTestCheckFunc(answers("", "", http.StatusOK), func(*terraform.State) error {
					calls := host.TakeCalls(t)
					assert.Contains(t, calls, "install ca-certificates docker.io\n")
					assert.Contains(t, calls, "pull --quiet docker.io/library/registry:3\n")
					return nil
				}),
			},
			{
				// Whoever answers there now is not trusted, although no record knows the host.
				PreConfig: func() {
					records.Clear(t)
					another, _ := sshtest.NewKey(t)
					host.SetHostKey(another)
				},
				Config:      config(),
				ExpectError: acctest.Says(`(?s)Unable to Update Private Registry "private_registry".*host key of 127\.0\.0\.1:\d+ has changed`),
			},
			{
				PreConfig:   host.Stop,
				Config:      records.Config(),
				ExpectError: acctest.Says(`(?s)Unable to Remove Private Registry "private_registry".*Host 127\.0\.0\.1 cannot be reached: .*connection refused.*on_unreachable = "forget"`),
			},
			{
				Config:             config(`on_unreachable = "forget"`),
				ConfigPlanChecks:   resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(registryName, plancheck.ResourceActionUpdate)}},
				ExpectNonEmptyPlan: true,
			},
			{
				Config: records.Config(),
				Check: resource.ComposeTestCheckFunc(
					diagnostics.HasWarning(`(?s)Private Registry "private_registry" Was Left Behind: on_unreachable is "forget", and host 127\.0\.0\.1 cannot be reached.*connection refused.*Nothing was removed from the host.*/var/lib/private_registry`),
					func(*terraform.State) error {
						left, err := records.Records(t).List(t.Context(), store.Query{Kind: store.KindRegistry})
						require.NoError(t, err)
						require.Empty(t, left)
						require.DirExists(t, filepath.Join(host.Root, "run/docker/containers/private_registry"))
						return nil
					}),
			},
		},
	})
}
