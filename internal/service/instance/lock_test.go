package instance_test

import (
	"context"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// hold takes the lease of the only instance, as a process of this machine that works on it has it.
func (env *testEnv) hold(t *testing.T) (release func()) {
	t.Helper()
	lease, err := env.store.Records(t).Acquire(t.Context(), "instance/"+env.records(t)[0].ID, process.Name())
	require.NoError(t, err)
	return func() {
		if err := lease.Release(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}
}

// TestAccInstance_lockTimeout changes and terminates an instance on which somebody
// else works: it gives up in time, or goes on as soon as it can.
func TestAccInstance_lockTimeout(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	config := func(description, limit string) string {
		return env.config("hello", `description = "`+description+`"`, `lock_timeout = "`+limit+`"`)
	}
	var release func()
	held := `VNF instance "test" has been locked by ` + process.Describe(process.Name()) + ` since 20`
	env.run(t,
		resource.TestStep{Config: config("a", "0s"), ConfigStateChecks: []statecheck.StateCheck{instantiated()}},
		resource.TestStep{
			PreConfig:   func() { release = env.hold(t) },
			Config:      config("b", "0s"),
			ExpectError: sentence(`Unable to Update VNF Instance "test"`, held, `Wait until that run has ended and apply again.`),
		},
		resource.TestStep{Config: config("b", "2s"), ExpectError: sentence(held, `gave up after 2s`)},
		after(func() { time.AfterFunc(3*time.Second, release) }, applied(config("b", "2m"), resource.TestCheckResourceAttr(address, "description", "b"))),
		resource.TestStep{
			PreConfig: func() { time.AfterFunc(3*time.Second, env.hold(t)) },
			Config:    config("b", "2m"),
			Destroy:   true,
		},
	)
}
