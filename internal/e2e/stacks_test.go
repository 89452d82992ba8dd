//go:build unix

package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
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

// TestAccStacks applies several root modules on one store, one package and one VIM at once, and destroys them at once: each in one
// pass, in any order. None of them may lead the VIM elsewhere meanwhile.
func TestAccStacks(t *testing.T) {
	t.Parallel()
	all := make([]*testEnv, stacks(t))
	for i := range all {
		if i == 0 {
			all[i] = newStoreEnv(t)
		} else {
			all[i] = newEnv(t)
			all[i].store, all[i].remote, all[i].records = all[0].store, all[0].remote, all[0].records
		}
		all[i].write(all[i].provider(), all[0].vims(), pkg(acctest.ExamplePackage(t, "hello")), all[i].instance("test"))
	}
	atOnce := func(args ...string) {
		t.Helper()
		begun := time.Now()
		defer func() { t.Logf("terraform %v in %d stacks: %s", args, len(all), time.Since(begun).Round(time.Second)) }()
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
	vim := all[0].resource("vnf_vim.test").text("id")
	for _, env := range all[1:] {
		require.Equal(t, vim, env.resource("vnf_vim.test").text("id"))
	}
	moved := all[0]
	config := []string{moved.provider(), moved.vims(), pkg(acctest.ExamplePackage(t, "hello")), moved.instance("test")}
	elsewhere := slices.Clone(config)
	// The store, which may be on the same cluster, stays where it is.
	elsewhere[1] = strings.ReplaceAll(elsewhere[1], moved.way.endpoint, "https://192.0.2.1:6443")
	moved.write(elsewhere...)
	moved.expectOutput(moved.expectExit(1, "plan"), `Error: VIM "test" is shared with other vnf_vim resources of this store with vnf_vim.test`,
		"It is at "+moved.way.endpoint+", and this change would lead it to https://192.0.2.1:6443 for all of them. "+
			"Undo the change; or destroy the others first; or add a vnf_vim of another name and destroy this one.")
	moved.write(config...)
	all[0].destroy()
	all = all[1:]
	atOnce("plan", "-detailed-exitcode")
	atOnce("destroy", "-auto-approve")
	all[0].destroyed()
}

// TestAccReplacementOfAVIM: a VIM that has an instance of another configuration is not replaced, which the plan says.
func TestAccReplacementOfAVIM(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.write(env.store.Provider(), env.vims())
	env.apply()
	// Another configuration that knows the VIM by its id.
	theirs := vnfm.Instance{ID: "0b8a3f0e-1d6c-4a53-8a3d-3a9b5d3f0c11", Name: "core", VIMID: env.resource("vnf_vim.test").text("id"), Namespace: "core", Acknowledged: true}
	data, err := json.Marshal(theirs)
	require.NoError(t, err)
	record := &store.Record{Kind: store.KindInstance, ID: theirs.ID, Owner: theirs.VIMID, Data: data}
	require.NoError(t, env.records.Create(t.Context(), record))
	env.expectOutput(env.expectExit(1, "plan", "-replace=vnf_vim.test"),
		`Error: VIM "test" Cannot Be Replaced with vnf_vim.test`,
		`Instances of other configurations are on it: VNF instance "core" (0b8a3f0e-1d6c-4a53-8a3d-3a9b5d3f0c11). `+
			"The replacement would destroy what depends on the VIM here, and then fail to deregister it.",
		"Either keep the VIM and plan without -replace: all changes but that of its type are made in place. Or destroy these instances first, where they are managed.")
	require.NoError(t, env.records.Delete(t.Context(), record.Kind, record.ID))
	env.expectExit(0, "apply", "-auto-approve", "-replace=vnf_vim.test")
	env.destroy()
	env.destroyed()
}
