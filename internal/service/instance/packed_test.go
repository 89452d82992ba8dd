package instance_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/stretchr/testify/require"

	binary "github.com/nfv-iac/terraform-provider-vnf/internal/command"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// runCommand runs a command of the binary and returns its exit code and what it says.
func runCommand(t testing.TB, args ...string) (code int, out, problems string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = binary.Program{Version: "test"}.Run(t.Context(), args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// wantCommand checks exit code and message of a command that fails.
func wantCommand(t testing.TB, wantCode int, want string, args ...string) {
	t.Helper()
	code, out, problems := runCommand(t, args...)
	if code != wantCode || !strings.Contains(problems, want) || out != "" || strings.Count(problems, "\n") != 1 {
		t.Errorf("%v: exit code %d, want %d; it does not say %q alone:\n%s%s", args, code, wantCode, want, out, problems)
	}
}

// packed is the configuration that a command has written for a package, with the VIM "test".
func packed(t testing.TB, args ...string) (config, problems string) {
	t.Helper()
	code, out, problems := runCommand(t, args...)
	if code != 0 {
		t.Fatalf("%v: exit code %d: %s", args, code, problems)
	}
	out = regexp.MustCompile(`(?s)variable "\w+" \{.*?\n\}\n`).ReplaceAllString(out, "")
	return strings.ReplaceAll(out, "var.vim_id", "vnf_vim.test.id"), problems
}

// TestAccInstance_helmPacked makes a package of a release that Helm's command has installed, and adopts the release with what the
// command has written: nothing is restarted, and the next plan is empty.
func TestAccInstance_helmPacked(t *testing.T) {
	env := newEnv(t)
	helm := newCommand(env)
	whole := filepath.Join(ims(t), filepath.FromSlash(imsChart))
	source := ims(t, inChart("Chart.yaml", "dependencies:\n  - name: hss\n    version: 1.0.0\n    condition: hss.enabled\n", ""), chartFile("templates/login.yaml",
		"apiVersion: v1\nkind: Secret\nmetadata: { name: {{ .Release.Name }}-login }\nstringData: { password: {{ .Values.login.password | quote }} }\n"))
	chart := filepath.Join(source, filepath.FromSlash(imsChart))
	require.NoError(t, os.RemoveAll(filepath.Join(chart, "charts")))
	dir := t.TempDir()
	file := filepath.Join(dir, "test.csar")
	args := func(place string, more ...string) []string {
		return append([]string{"package", "pack", "--kubeconfig", env.lab.Kubeconfig, "--from-release", place, file}, more...)
	}
	helm.Run(t, "install", "parts", whole)
	helm.Run(t, "install", "test", chart, "--set", "cscf.replicas=2,cscf.domain=ims.example.org,login.password=open-sesame")
	env.kubectl("scale", "deployment/test-cscf", "--replicas", "3")
	env.kubectl("rollout", "status", "deployment/test-cscf", "--timeout", "60s")

	wantCommand(t, 1, "Helm records nothing (hss): give the chart with --chart PATH", args(env.namespace+"/parts")...)
	wantCommand(t, 2, "but the release is of ims 1.0.0", args(env.namespace+"/parts", "--chart", filepath.Join(whole, "charts", "hss"))...)
	wantCommand(t, 1, "has no Helm release nothing", args(env.namespace+"/nothing")...)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Fatalf("commands that failed have written %v, %v", entries, err)
	}
	packed(t, args(env.namespace+"/parts", "--chart", whole)...)
	config, problems := packed(t, args(env.namespace+"/test")...)
	if !strings.Contains(problems, "login.password") || strings.Contains(config+problems, "open-sesame") {
		t.Errorf("the command says\n%s%s", config, problems)
	}
	for _, name := range []string{"test.secrets.yaml", "test.values.yaml"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v, %v", name, info.Mode(), err)
		}
	}
	before := env.pods()
	env.run(t, resource.TestStep{
		Config:            env.store.Config(acctest.VIM(env, env.lab, "test"), config),
		ConfigStateChecks: []statecheck.StateCheck{instantiated()},
		Check: allChecks(env.checkBackend(), env.history("1 superseded", "2 deployed"),
			helm.expectJSON(`{"cscf": {"replicas": 2, "domain": "ims.example.org"}, "login": {"password": "open-sesame"}}`, "get", "values", "test"),
			resource.TestCheckResourceAttr(address, "vnfc_counts.cscf", "3"),
			func(*terraform.State) error {
				if after := env.pods(); len(before) == 0 || !maps.Equal(before, after) {
					return fmt.Errorf("the pods were %v and are %v", before, after)
				}
				return nil
			}),
	})
	wantCommand(t, 1, "has no Helm release test", args(env.namespace+"/test")...)
}
