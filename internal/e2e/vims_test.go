//go:build unix

package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// perRunProvider is the provider with the connection of the VIM "test" for each run.
func perRunProvider(env *testEnv, server *targetCluster) string {
	at := strings.LastIndex(env.store.Provider(), "}")
	return `
variable "token" {
  type      = string
  ephemeral = true
}
` + env.store.Provider()[:at] + fmt.Sprintf(`
  vims = { test = { kubernetes = { endpoint = %q, ca_certificate = file(%q), bearer_token = var.token } } }
}
`, server.way.endpoint, server.way.caFile)
}

// accountToken returns a token of a service account with all rights, and what revokes it.
func accountToken(env *testEnv, name string) (token string, revoke func()) {
	name = env.namespace + "-" + name
	env.kubectl("-n", "kube-system", "create", "serviceaccount", name)
	remove := func(path string) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if _, err := env.server.Do(ctx, http.MethodDelete, path+name, ""); err != nil {
			env.Logf("removing %s: %v", name, err)
		}
	}
	revoke = func() { remove("/api/v1/namespaces/kube-system/serviceaccounts/") }
	env.Cleanup(func() {
		revoke()
		remove("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/")
	})
	env.kubectl("create", "clusterrolebinding", name, "--clusterrole=cluster-admin", "--serviceaccount=kube-system:"+name)
	return strings.TrimSpace(env.kubectl("-n", "kube-system", "create", "token", name)), revoke
}

// TestAccPerRun: a vnf_vim without a connection takes that of the provider's argument vims, whose
// token is another one in each run and is found nowhere afterwards. Refresh, update and destroy
// work over a store that was lost before each of them.
func TestAccPerRun(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	first, revoke := accountToken(env, "first")
	second, _ := accountToken(env, "second")
	log := filepath.Join(env.dir, "trace.log")
	base := env.env
	use := func(token string) {
		env.env = slices.Concat(base, []string{"TF_VAR_token=" + token, "TF_LOG=TRACE", "TF_LOG_PATH=" + log})
	}
	const vim = "resource \"vnf_vim\" \"test\" {\n  name = \"test\"\n}\n"
	configure := func(message string, server *targetCluster) {
		env.write(perRunProvider(env, server), vim, pkg(acctest.ExamplePackage(t, "hello")), env.instance("test", fmt.Sprintf("description = %q", message)))
	}
	use(first)
	// A saved plan that creates an instance of what is registered before is applied over another empty store, if Terraform calls VIM and
	// package in the apply.
	source := pkg(acctest.ExamplePackage(t, "hello"))
	env.write(perRunProvider(env, &env.targetCluster), vim, source)
	env.apply()
	configure("one", &env.targetCluster)
	env.expectExit(2, "plan", "-detailed-exitcode", "-out=saved")
	env.loseStore()
	env.expectOutput(env.expectExit(1, "apply", "saved"), "VIM or Package of VNF Instance \"test\" Not Found", "postcondition to the vnf_vim and the vnf_package")
	conditioned := func(block, status string) string {
		return strings.TrimRight(block, "}\n") + fmt.Sprintf("\n  lifecycle {\n    postcondition {\n      condition     = self.status == %q\n      error_message = \"It is ${self.status}.\"\n    }\n  }\n}\n", status)
	}
	env.write(perRunProvider(env, &env.targetCluster), conditioned(vim, "REACHABLE"), conditioned(source, "ONBOARDED"), env.instance("test", `description = "one"`))
	env.expectExit(2, "plan", "-detailed-exitcode", "-out=saved")
	env.loseStore()
	env.expectExit(0, "apply", "saved")
	configure("one", &env.targetCluster)
	id, objects := env.resource("vnf_vim.test").text("id"), env.uids()
	env.expectEmptyPlan()
	revoke()

	// Another token, and a store that is empty in the plan and in the apply.
	use(second)
	env.loseStore()
	env.expectEmptyPlan()
	configure("two", &env.targetCluster)
	env.loseStore()
	env.expectExit(2, "plan", "-detailed-exitcode", "-out=saved")
	env.loseStore()
	env.expectExit(0, "apply", "saved")
	require.Equal(t, id, env.resource("vnf_vim.test").text("id"))
	if diff := cmp.Diff(objects, env.uids()); diff != "" {
		t.Errorf("UIDs of objects before (-) and after (+):\n%s", diff)
	}
	env.expectEmptyPlan()

	other := env.reach(t, "other", labtest.Second(t))
	configure("two", other)
	use(other.lab.AdminToken)
	env.expectOutput(env.expectExit(1, "plan"), "now leads to another cluster")
	env.loseStore()
	env.expectOutput(env.expectExit(1, "apply", "-auto-approve"), "now leads to another cluster")
	configure("two", &env.targetCluster)

	use(second)
	env.loseStore()
	env.expectExit(0, "plan", "-destroy", "-out=saved")
	env.loseStore()
	env.expectExit(0, "apply", "saved")
	env.expectNothing()
	expectNowhere(t, []string{first, second}, env.dir, filepath.Dir(env.store.Path))
}

// expectNowhere expects that no file below the directories has one of the secrets.
func expectNowhere(t *testing.T, secrets []string, dirs ...string) {
	t.Helper()
	files := 0
	for _, dir := range dirs {
		require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			files++
			data, err := os.ReadFile(path)
			for _, secret := range secrets {
				if strings.Contains(string(data), secret) {
					t.Errorf("%s has a token", path)
				}
			}
			return err
		}))
	}
	require.Positive(t, files)
}
