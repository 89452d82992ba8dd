//go:build unix

package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// TestAccRunners_core5g leads a 5G core through its life. Where a store outlives the runners, a role that may only read it plans.
func TestAccRunners_core5g(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, store string) *life {
		t.Helper()
		env := newEnv(t)
		source := acctest.CopyPackage(t, "core5g")
		env.useRemote(t, store)
		env.ownUsers(t, source)
		l := &life{
			env: env, address: address,
			made: func() { env.configure(source) },
			changed: func() {
				env.configure(source, `description = "edge"`, `scale_levels = { "user-plane" = 1 }`)
			},
			drift: func() { env.kubectl("delete", "service/amf") },
			parts: env.uids,
			check: func(changed bool) {
				description := map[bool]string{true: "edge"}[changed]
				if got := env.resource(address).text("description"); got != description {
					t.Errorf("the description is %q, and should be %q", got, description)
				}
			},
			gone: env.destroyed,
		}
		if env.remote != nil {
			l.observe = func(code int) result { return env.planner(code, source) }
			l.seen = "Plan: 1 to add, 1 to change, 0 to destroy"
		}
		return l
	})
}

// another is a second instance of the package, in a namespace of its own.
func (env *testEnv) another() string {
	config := strings.ReplaceAll(env.instance("another"), `"vnf_instance" "test"`, `"vnf_instance" "another"`)
	return strings.ReplaceAll(config, env.namespace, env.namespace+"-another")
}

// planner plans over the package of that path on a runner beside the present one, in a role that may only read the store. Where it expects
// something to do it also plans the creation of another instance.
func (env *testEnv) planner(code int, source string) result {
	env.Helper()
	m := env.next()
	m.setHome("/dev/null")
	parts := []string{fmt.Sprintf("provider \"vnf\" {\n  store = { %s }\n}\n", env.remote.reading), env.vims(), pkg(source), env.instance("test")}
	if code == 2 {
		parts = append(parts, env.another())
	}
	m.write(parts...)
	seen := m.expectExit(code, "plan", "-detailed-exitcode")
	m.expectNoTrace(m.home, m.tmp)
	return seen
}
