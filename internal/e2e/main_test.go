//go:build unix

package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

const (
	// version is what the provider under test was built as.
	version = "0.0.0-e2e"
	// userAgent begins the user agent of every request of the provider.
	userAgent = "terraform-provider-vnf/"
)

// buildDir receives the provider; it lives as long as the test process.
var buildDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "vnf-e2e-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	buildDir = dir
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// tools are the programs under test.
type tools struct {
	// terraform is the path of the command, cliConfig a configuration of it that
	// takes the provider from a directory, without init and without a registry.
	terraform, cliConfig string
}

// configure writes the configuration of the command that takes the provider from a directory.
func (b tools) configure(dir string) error {
	text := fmt.Sprintf("disable_checkpoint = true\n\nprovider_installation {\n  dev_overrides {\n    \"nfv-iac/vnf\" = %q\n  }\n  direct {}\n}\n", dir)
	return os.WriteFile(b.cliConfig, []byte(text), 0o600)
}

// envCLIConfig names a configuration of the command that takes the provider from a
// build of this very tree.
const envCLIConfig = "VNF_TEST_CLI_CONFIG"

// build builds the provider once per test process, with the flags of the
// GNUmakefile, so that the compiled packages are shared with it. Where tests run in a
// process each, their runner names one build for all.
var build = sync.OnceValues(func() (tools, error) {
	terraform := os.Getenv("TF_ACC_TERRAFORM_PATH")
	if terraform == "" {
		path, err := exec.LookPath("terraform")
		if err != nil {
			return tools{}, err
		}
		terraform = path
	}
	if config := os.Getenv(envCLIConfig); config != "" {
		return tools{terraform: terraform, cliConfig: config}, nil
	}
	binary := filepath.Join(buildDir, "terraform-provider-vnf")
	cmd := exec.CommandContext(context.Background(), "go", "build", "-trimpath", "-ldflags", "-s -w -X main.version="+version, "-o", binary, //nolint:gosec // the provider itself
		"github.com/nfv-iac/terraform-provider-vnf")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return tools{}, fmt.Errorf("building the provider: %w: %s", err, stderr.String())
	}
	built := tools{terraform: terraform, cliConfig: filepath.Join(buildDir, "terraform.rc")}
	return built, built.configure(buildDir)
})

// requirements skips a test that was not asked for or that has no lab, and returns
// what it runs with.
func requirements(t *testing.T) (labtest.Env, tools) {
	t.Helper()
	if os.Getenv("TF_ACC") == "" {
		labtest.Missing(t, "acceptance test: set TF_ACC=1 to run it")
	}
	acctest.PreCheck(t)
	labtest.FullRun(t, "killed, interrupted and remote runs")
	lab := labtest.Kubernetes(t)
	built, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return lab, built
}
