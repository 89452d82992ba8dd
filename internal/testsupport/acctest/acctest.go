// Package acctest holds what the acceptance tests of all objects share: the
// provider as a factory, a store of its own for each test, and configurations.
package acctest

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/provider"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Version is the version that the provider under test reports.
const Version = "0.0.0-test"

// Factories returns the provider for the field ProtoV6ProviderFactories.
func Factories() map[string]func() (tfprotov6.ProviderServer, error) {
	return map[string]func() (tfprotov6.ProviderServer, error){
		provider.TypeName: providerserver.NewProtocol6WithError(provider.New(Version)()),
	}
}

// Says compiles a pattern in which a space stands for any white space. Terraform
// breaks lines at a fixed width, so where a text is broken depends on the paths in it.
func Says(pattern string) *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(pattern, " ", `\s+(?:[│|]\s+)?`))
}

// Store is the store of one test.
type Store struct {
	// Path is the database file, KeyFile the encryption key.
	Path    string
	KeyFile string
}

// PreCheck skips a test when there is no terraform to run, and fails it when
// LAB_REQUIRE is "all".
func PreCheck(t testing.TB) {
	t.Helper()
	labtest.NotShort(t, "terraform")
	if os.Getenv("TF_ACC_TERRAFORM_PATH") != "" {
		return
	}
	if _, err := exec.LookPath("terraform"); err == nil {
		return
	}
	const reason = "terraform is neither on the PATH nor named by TF_ACC_TERRAFORM_PATH"
	if os.Getenv("LAB_REQUIRE") == "all" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

// NewStore returns a store in a directory of its own, which is removed after the test.
func NewStore(t testing.TB) Store {
	t.Helper()
	dir := t.TempDir()
	return Store{Path: filepath.Join(dir, "store.db"), KeyFile: filepath.Join(dir, "key.txt")}
}

// Provider returns the provider configuration that uses the store.
func (s Store) Provider() string {
	return fmt.Sprintf(`
provider "vnf" {
  store      = { local = { path = %q } }
  encryption = { key_file = %q }
}
`, s.Path, s.KeyFile)
}

// Config returns a whole configuration: the provider with the store, and the parts.
func (s Store) Config(parts ...string) string {
	return s.Provider() + strings.Join(parts, "\n")
}

// Manager returns a VNF manager over the store, to look at the records or change
// them behind Terraform's back. It has no infra driver but those that are given.
func (s Store) Manager(t testing.TB, drivers ...map[vnfm.VIMType]vnfm.InfraDriver) vnfm.Manager {
	t.Helper()
	all := map[vnfm.VIMType]vnfm.InfraDriver{}
	for _, each := range drivers {
		maps.Copy(all, each)
	}
	keys, err := seal.New(seal.Source{KeyFile: s.KeyFile})
	if err != nil {
		t.Fatal(err)
	}
	engine := lcm.New(lcm.Config{
		OpenStore: func(ctx context.Context) (store.Store, error) { return sqlite.Open(ctx, s.Path, "test") },
		Keyring:   keys,
		Drivers:   all,
	})
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Errorf("closing the store: %v", err)
		}
	})
	return engine
}

// Records opens the store itself.
func (s Store) Records(t testing.TB) store.Store {
	t.Helper()
	opened, err := sqlite.Open(t.Context(), s.Path, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Errorf("closing the store: %v", err)
		}
	})
	return opened
}

// Clear removes everything but the key, as if the store had been lost.
func (s Store) Clear(t testing.TB) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(s.Path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		path := filepath.Join(filepath.Dir(s.Path), e.Name())
		if path == s.KeyFile {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
}

// VIM returns a vnf_vim "test" that reaches the lab with all rights.
func VIM(t testing.TB, lab labtest.Env, name string) string {
	t.Helper()
	return fmt.Sprintf(`
resource "vnf_vim" "test" {
  name = %q
  kubernetes = {
    endpoint       = %q
    ca_certificate = file(%q)
    bearer_token   = %q
  }
}
`, name, lab.Endpoint, lab.CAFile, lab.AdminToken)
}
