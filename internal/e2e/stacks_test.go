package e2e_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// stacks is how many root modules share a store; VNF_STACKS has more of them for a soak.
func stacks(t *testing.T) int {
	t.Helper()
	text := os.Getenv("VNF_STACKS")
	if text == "" {
		return 3
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestAccStacks applies several root modules on one store and one package at once, and destroys them at once: each in one pass, in
// any order.
func TestAccStacks(t *testing.T) {
	t.Parallel()
	all := make([]*testEnv, stacks(t))
	for i := range all {
		all[i] = newEnv(t)
		if i > 0 {
			all[i].store, all[i].records = all[0].store, all[0].records
		}
		all[i].write(all[i].store.Provider(), strings.Replace(all[i].vims(), `name = "test"`, fmt.Sprintf(`name = "site %d"`, i), 1),
			pkg(acctest.ExamplePackage(t, "hello")), all[i].instance("test"))
	}
	atOnce := func(args ...string) {
		t.Helper()
		var group errgroup.Group
		group.SetLimit(4)
		for _, env := range all {
			group.Go(func() error {
				if r := env.start(args...).wait(); r.code != 0 {
					return fmt.Errorf("terraform %v: exit code %d\n%s", r.args, r.code, r.output)
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
	}
	atOnce("apply", "-auto-approve")
	all[0].destroy()
	for _, env := range all[1:] {
		env.expectEmptyPlan()
	}
	all = all[1:]
	atOnce("destroy", "-auto-approve")
	all[0].destroyed()
}
