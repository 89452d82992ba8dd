package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// Two age identities that protect nothing.
const (
	someKey  = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX"
	badKey   = "AGE-SECRET-KEY-1WRONG"
	pkgBlock = "resource \"vnf_package\" \"test\" {\n name = \"hello\"\n source = %q\n}\n"
)

func hello(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf(pkgBlock, acctest.ExamplePackage(t, "hello"))
}

// TestNoConfiguration runs the provider without a provider block: the store and
// its key appear where they belong.
func TestNoConfiguration(t *testing.T) {
	acctest.PreCheck(t)
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	t.Setenv("VNF_ENCRYPTION_KEY", "")
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config:           hello(t),
			ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
		}},
	})
	for _, name := range []string{"store.db", "key.txt"} {
		info, err := os.Stat(filepath.Join(state, "terraform-provider-vnf", name))
		require.NoError(t, err)
		if mode := info.Mode().Perm(); mode&0o077 != 0 {
			t.Errorf("%s is open to others: mode %#o", name, mode)
		}
	}
}

// TestUnknownConfiguration configures the provider from a resource of the same
// apply: the plan goes on without a store, and the one apply does everything.
func TestUnknownConfiguration(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	s := acctest.NewStore(t)
	config := fmt.Sprintf(`
resource "terraform_data" "path" { input = %q }
provider "vnf" {
  store      = { local = { path = terraform_data.path.output } }
  encryption = { key_file = %q }
}
`, s.Path, s.KeyFile) + hello(t) + `
resource "vnf_vim" "test" {
  count = 0
  name  = "edge"
  kubernetes = { endpoint = "https://127.0.0.1:1", bearer_token = "x" }
}
`
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config: config,
			ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply:             []plancheck.PlanCheck{plancheck.ExpectUnknownValue("vnf_package.test", tfjsonpath.New("id"))},
				PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
			},
		}},
	})
}

// TestEphemeralKey gives the encryption key as an ephemeral value, and shows that
// another key does not open what it sealed.
func TestEphemeralKey(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	s := acctest.NewStore(t)
	variable := fmt.Sprintf("variable \"key\" {\n ephemeral = true\n default = %q\n}\n", newKey(t))
	config := func(key string) string {
		return variable + fmt.Sprintf("provider \"vnf\" {\n store = { local = { path = %q } }\n encryption = { %s }\n concurrency = 4\n}\n", s.Path, key)
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_10_0)},
		Steps: []resource.TestStep{
			{
				Config:           config("key = var.key") + hello(t),
				ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			},
		},
	})
}

// newKey lets the provider make a key and returns it.
func newKey(t *testing.T) string {
	t.Helper()
	s := acctest.NewStore(t)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config: fmt.Sprintf("provider \"vnf\" {\n store = { local = { path = %q } }\n}\n", s.Path) + hello(t),
		}},
	})
	text, err := os.ReadFile(s.KeyFile)
	require.NoError(t, err)
	key := regexp.MustCompile("AGE-SECRET-KEY-1[A-Z0-9]+").FindString(string(text))
	if key == "" {
		t.Fatal("the key file holds no key")
	}
	return key
}

func TestBadConfiguration(t *testing.T) {
	t.Parallel()
	local := func() object { return object{"local": object{"path": filepath.Join(t.TempDir(), "store.db")}} }
	barbican := func(auth object) object { return object{"barbican": object{"auth": auth}} }
	for name, tt := range map[string]struct {
		arguments object
		want      string
	}{
		"empty store":                  {object{"store": object{}}, `(?s)No Store Type.*Set exactly one store type`},
		"two stores":                   {object{"store": object{"local": object{}, "kubernetes": object{"namespace": "vnf", "endpoint": "https://192.0.2.1:6443", "bearer_token": "hunter2"}}}, `(?s)Several Store Types.*These are set: kubernetes, local\.`},
		"empty path":                   {object{"store": object{"local": object{"path": ""}}}, `store\.local\.path: .*string length must be at least 1`},
		"empty encryption":             {object{"encryption": object{}}, `Invalid Attribute Combination`},
		"two keys":                     {object{"encryption": object{"key": someKey, "key_file": "/dev/null/key"}}, `Invalid Attribute Combination`},
		"bad key":                      {object{"encryption": object{"key": badKey}}, `Unusable Encryption Key`},
		"concurrency 0":                {object{"concurrency": 0}, `concurrency: .*value must be between 1 and 64`},
		"concurrency 65":               {object{"concurrency": 65}, `value must be between 1 and 64`},
		"Barbican without credentials": {object{"encryption": barbican(object{"auth_url": "https://cloud.example:5000"})}, `(?s)encryption\.barbican\.auth\.password: .*no credentials are given.*Set exactly one of`},
		"Barbican unencrypted":         {object{"encryption": barbican(object{"auth_url": "http://cloud.example:5000", "token": "t0ken"})}, `encryption\.barbican\.auth\.auth_url: .*the auth_url "http://cloud\.example:5000" would carry the credentials unencrypted`},
		"Barbican by half":             {object{"encryption": barbican(object{"auth_url": "https://cloud.example:5000", "password": "hunter2"})}, `(?s)encryption\.barbican\.auth\.project_name: .*no project is given.*encryption\.barbican\.auth\.username: .*a password is given without a user`},
		"empty rotation":               {object{"encryption": object{"barbican": object{"auth": object{"auth_url": "https://cloud.example:5000"}, "rotation_trigger": ""}}}, `string length must be between 1 and 255`},
		"two keys beside Barbican":     {object{"encryption": object{"barbican": object{"auth": object{}}, "key": someKey, "key_file": "/dev/null/key"}}, `Invalid Attribute Combination`},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.arguments["store"] == nil {
				tt.arguments["store"] = local()
			}
			said := strings.Join(providerDiagnostics(t, tt.arguments), "\n")
			require.Regexp(t, tt.want, said)
			for _, key := range []string{someKey, badKey, "hunter2", "t0ken"} {
				require.NotContains(t, said, key)
			}
		})
	}
}

// TestKeyFileCannotBeMade names a key file where none can be: only what is to be sealed asks for it.
func TestKeyFileCannotBeMade(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config: fmt.Sprintf("provider \"vnf\" {\n  store = { local = { path = %q } }\n  encryption = { key_file = \"/dev/null/key.txt\" }\n}\n",
				acctest.NewStore(t).Path) + hello(t),
			ExpectError: acctest.Says(`/dev/null/key.txt`),
		}},
	})
}
