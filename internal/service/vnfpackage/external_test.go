package vnfpackage_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/tlstest"
)

// TestPackageExternalArtifact moves the manifest of a package to a web server: it is rendered under its URL. Then it is back, and the
// package lists nothing.
func TestPackageExternalArtifact(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	s := acctest.NewStore(t)
	dir := acctest.CopyPackage(t, "hello")
	file := filepath.Join(dir, "Files", "kubernetes", "web.yaml")
	manifest, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.Remove(file))
	url, ca := tlstest.Reachable(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(manifest) }))
	acctest.Edit(t, dir, "hello.mf", "Source: Files/kubernetes/web.yaml", "Source: "+url+"/web.yaml")
	rendering := fmt.Sprintf(`
data "vnf_package" "test" { id = vnf_package.test.id }
data "vnf_rendering" "test" {
  package_id        = vnf_package.test.id
  additional_params = { lcm-kubernetes-def-files = [%q] }
}
`, url+"/web.yaml")
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		CheckDestroy:             gone(t, s),
		Steps: []resource.TestStep{
			{
				Config:      s.Config(packageConfig(dir, ""), rendering),
				ExpectError: acctest.Says(`names a URL`),
			},
			{
				Config:           s.Config(packageConfig(dir, fmt.Sprintf("external_artifacts = true\n ca_certificate = %q", ca)), rendering),
				ConfigPlanChecks: emptyPlan(),
				ConfigStateChecks: []statecheck.StateCheck{
					expect("external_artifacts", knownvalue.Bool(true)),
					statecheck.ExpectKnownValue("data.vnf_package.test", tfjsonpath.New("artifacts"), knownvalue.MapPartial(map[string]knownvalue.Check{
						url + "/web.yaml": knownvalue.StringExact("sha256:0755a49c59ff18160859a05fcc3c248773a61d7426a50404d95d95715ccd3fdb"),
					})),
					statecheck.ExpectKnownValue("data.vnf_rendering.test", tfjsonpath.New("object_manifests"), knownvalue.MapSizeExact(3)),
				},
			},
			{
				// Without TOSCA-Metadata and manifest, all files are its artifacts.
				PreConfig: func() {
					require.NoError(t, os.WriteFile(file, manifest, 0o600))
					require.NoError(t, os.Remove(filepath.Join(dir, "hello.mf")))
				},
				Config: s.Config(packageConfig(dir, `integrity = "ignore"`), `data "vnf_rendering" "test" { package_id = vnf_package.test.id }`),
				ConfigStateChecks: []statecheck.StateCheck{
					expect("integrity", knownvalue.StringExact("ignore")),
					statecheck.ExpectKnownValue("data.vnf_rendering.test", tfjsonpath.New("object_manifests"), knownvalue.MapSizeExact(3)),
				},
			},
		},
	})
}
