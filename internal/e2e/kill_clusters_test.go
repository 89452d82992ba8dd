//go:build unix

package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestAccKill_clusters kills instantiations, changes that move VDUs, and terminations
// of a 5G core on two clusters, at requests to either.
func TestAccKill_clusters(t *testing.T) {
	t.Parallel()
	k := newKiller(newStoreEnv(t))
	k.further = append(k.further, k.reach(t, "edge", labtest.Second(t)))
	packages := []string{acctest.ExamplePackage(t, "core5g"), nextRelease(t)}
	// Either version has other VDUs and manifests on the second cluster.
	placed := []string{
		`vdu_ids = ["upf"], manifests = ["Files/kubernetes/nssf.yaml"]`,
		`vdu_ids = ["upf", "udr"], manifests = ["Files/kubernetes/network-policies.yaml"]`,
	}
	configure := func(version int) {
		k.configure(packages[version], `vim_connections = { edge = { vim_id = vnf_vim.edge.id, namespace = "`+k.namespace+`", `+placed[version]+` } }`)
	}
	consistent := func() {
		k.expectEmptyPlan()
		k.expectConsistent()
	}
	// So many writes there are at least; a soak counts them, and takes the time.
	creates, updates, destroys := 66, 60, 31
	var createTime, updateTime, destroyTime time.Duration
	if k.sampler.Soak() {
		configure(0)
		creates, createTime = k.measure("apply", "-auto-approve")
		consistent()
		configure(1)
		updates, updateTime = k.measure("apply", "-auto-approve")
		consistent()
		destroys, destroyTime = k.measure("destroy", "-auto-approve")
		k.destroyed()
		t.Logf("undisturbed: %d, %d and %d writes", creates, updates, destroys)
	}
	for n := range k.sampler.Kills(1) {
		configure(0)
		i := k.instant("create", n, creates, createTime)
		k.step("create", n, i, func() {
			k.kill("create", i, "apply", "-auto-approve")
			k.apply()
			consistent()
		})
		if edge := strings.Join(k.objects(), "\n"); !strings.Contains(edge, "edge: apps/v1/StatefulSet upf") {
			t.Fatalf("nothing is on the second cluster:\n%s", edge)
		}
		id := k.resource(address).text("id")
		configure(1)
		i = k.instant("update", n, updates, updateTime)
		k.step("update", n, i, func() {
			k.kill("update", i, "apply", "-auto-approve")
			k.apply()
			consistent()
			if got := k.resource(address).text("id"); got != id {
				k.Errorf("the instance %s became %s", id, got)
			}
		})
		i = k.instant("destroy", n, destroys, destroyTime)
		k.step("destroy", n, i, func() {
			k.kill("destroy", i, "destroy", "-auto-approve")
			k.destroy()
			k.destroyed()
		})
	}
	k.report()
}
