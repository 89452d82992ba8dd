package instance_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// envPairs are pairs of changes that TestAccInstance_openStackClusterPairs makes, such as "image+heal,level+flavour".
const envPairs = "VNF_PAIRS"

// pairs is a cluster that changes by and by.
type pairs struct {
	*clusterScriptEnv
	dir, other, image, flavour, level, scale, heal, victims string
	// masters and workers are the levels of the scaling aspects.
	masters, workers, n int
	// healed are the VDUs of which one VNFC is healed.
	healed []string
	// foreign is an image that the workers get outside of Terraform before the next apply; empty for none.
	foreign string
}

// levels are the instantiation levels of the package as levels of its scaling aspects.
var levels = map[string]struct{ masters, workers int }{"small": {0, 0}, "large": {1, 2}}

// scaleTo gives both scaling aspects a level.
func (p *pairs) scaleTo(masters, workers int) {
	p.masters, p.workers = masters, workers
	p.scale = fmt.Sprintf("scale_levels = { master_instance = %d, worker_instance = %d }", masters, workers)
}

// changes are by name; each makes the next configuration. None of them is without effect, also beside another one.
func (p *pairs) changes(t *testing.T) map[string]func() {
	return map[string]func(){
		"aspect":  func() { p.scaleTo(p.masters, (p.workers+1)%3) },
		"aspects": func() { p.scaleTo(1-p.masters, (p.workers+1)%3) },
		"level": func() {
			p.level, p.scale = map[string]string{"small": "large", "large": "small"}[p.level], ""
			p.masters, p.workers = levels[p.level].masters, levels[p.level].workers
		},
		"flavour": func() { p.flavour = map[string]string{"simple": "complex", "complex": "simple"}[p.flavour] },
		"image":   func() { p.image = p.openstack.NewImage(t, fmt.Sprintf("docker-%d-%s", p.n, p.user.Name)) },
		"flavor":  func() { p.dir, p.other = p.other, p.dir },
		"drift":   func() { p.foreign = p.openstack.NewImage(t, fmt.Sprintf("docker-foreign-%d-%s", p.n, p.user.Name)) },
		"heal": func() {
			p.heal = fmt.Sprintf(`heal = { trigger = "%d", vnfc_ids = split(" ", file(%q)) }`, p.n, p.victims)
		},
	}
}

// next makes the changes of a pair; a level comes first, since it takes the levels of the aspects back.
func (p *pairs) next(t *testing.T, pair string) {
	t.Helper()
	p.n++
	changes, names := p.changes(t), strings.Split(pair, "+")
	slices.SortStableFunc(names, func(a, b string) int {
		rank := map[string]int{"level": -1}
		return rank[a] - rank[b]
	})
	for _, name := range names {
		require.Contains(t, changes, name, "the changes are %v", slices.Sorted(maps.Keys(changes)))
		changes[name]()
	}
	p.healed = []string{"workerNode"}
	if p.masters > 0 {
		// The only master cannot be healed while workers stay.
		p.healed = append(p.healed, "masterNode")
	}
}

// step applies the configuration as it is now, and checks the cluster.
func (p *pairs) step(t *testing.T, pair string) resource.TestStep {
	t.Helper()
	counts, healed, foreign := map[string]int{"masterNode": 1 + 2*p.masters, "workerNode": 1 + p.workers, "externalLB": 2}, p.healed, p.foreign
	p.foreign = ""
	var began time.Time
	return resource.TestStep{
		PreConfig: func() {
			var ids []string
			for _, vdu := range healed {
				ids = append(ids, p.vnfcs()[vdu][0].ID)
			}
			acctest.Write(t, filepath.Dir(p.victims), "victims", strings.Join(ids, " "))
			if foreign != "" {
				p.rebuildWorkers(t, foreign)
			}
			began = time.Now()
		},
		Config:           p.config(),
		ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
		Check: resource.ComposeTestCheckFunc(p.only(t, counts), p.allNodes(t), p.members(t), func(*terraform.State) error {
			t.Logf("%s: %.0f s, then %v", pair, time.Since(began).Seconds(), counts)
			return nil
		}),
	}
}

// rebuildWorkers gives the workers another image by an update of the stack outside of Terraform. Nothing is left on them.
func (p *pairs) rebuildWorkers(t *testing.T, image string) {
	t.Helper()
	stack, err := p.client.FindStack(t.Context(), "vnf-"+p.records()[0].ID)
	require.NoError(t, err)
	content, err := p.client.ReadStack(t.Context(), stack)
	require.NoError(t, err)
	text, isText := content.Parameters["nfv"].(string)
	if !isText {
		data, err := json.Marshal(content.Parameters["nfv"])
		require.NoError(t, err)
		text = string(data)
	}
	var nfv struct {
		VDU map[string]map[string]any `json:"VDU"`
		CP  map[string]any            `json:"CP"`
	}
	require.NoError(t, json.Unmarshal([]byte(text), &nfv))
	// Each VNFC has arguments of its own.
	found := false
	for name, vdu := range nfv.VDU {
		if strings.HasPrefix(name, "workerNode") {
			found, vdu["vcImageId"] = true, image
		}
	}
	require.True(t, found, text)
	content.Parameters["nfv"] = map[string]any{"VDU": nfv.VDU, "CP": nfv.CP}
	require.NoError(t, p.client.UpdateStack(t.Context(), stack.ID, openstack.StackRequest{Name: stack.Name, Tags: stack.Tags, StackContent: *content}))
	labtest.Eventually(t, 10*time.Minute, "the workers are rebuilt", func() error {
		now, err := p.client.FindStack(t.Context(), stack.Name)
		if err == nil && now.Status != "UPDATE_COMPLETE" {
			err = fmt.Errorf("stack %s is %s", now.Name, now.Status)
		}
		return err
	})
}

func (p *pairs) config() string {
	arguments := []string{fmt.Sprintf("instantiation_level_id = %q", p.level), p.scale, p.heal}
	text := p.withImage(p.cluster(p.dir, fmt.Sprintf("script_path = %q", clusterScript), "", arguments...), p.image, "masterNode", "workerNode")
	return strings.Replace(text, `flavour_id = "simple"`, fmt.Sprintf("flavour_id = %q", p.flavour), 1) + p.connected()
}

// flavor makes a flavor of OpenStack with more memory than m1.tiny, and the same disk: Nova makes no disk smaller.
func (k *clusterScriptEnv) flavor(t *testing.T) string {
	t.Helper()
	var made struct{ Flavor struct{ ID, Name string } }
	k.openstack.Post(t, "compute", "/flavors", map[string]any{"flavor": map[string]any{"name": "other-" + k.user.Name, "ram": 768, "vcpus": 1, "disk": 1}}, &made)
	t.Cleanup(func() { k.openstack.Delete(t, "compute", "/flavors/"+made.Flavor.ID) })
	return made.Flavor.Name
}

// flavoured is the package with the script, a second flavour, and a flavor of OpenStack for its servers.
func flavoured(t *testing.T, flavor, version string) string {
	t.Helper()
	dir := scriptedPackage(t)
	const simple, definitions = "Definitions/kubernetes-cluster_df_simple.yaml", "Definitions/kubernetes-cluster.yaml"
	if flavor != "m1.tiny" {
		acctest.Edit(t, dir, simple, "m1.tiny", flavor)
	}
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(simple))) //nolint:gosec // a path of the test
	require.NoError(t, err)
	acctest.Write(t, dir, "Definitions/kubernetes-cluster_df_complex.yaml", strings.ReplaceAll(string(text), "flavour_id: simple", "flavour_id: complex"))
	require.NoError(t, os.CopyFS(filepath.Join(dir, "BaseHOT", "complex"), os.DirFS(filepath.Join(dir, "BaseHOT", "simple"))))
	acctest.Edit(t, dir, definitions, "  - kubernetes-cluster_df_simple.yaml", "  - kubernetes-cluster_df_simple.yaml\n  - kubernetes-cluster_df_complex.yaml")
	acctest.Edit(t, dir, definitions, `descriptor_version: "1.0"`, fmt.Sprintf("descriptor_version: %q", version))
	acctest.Hash(t, dir)
	return dir
}

// TestAccInstance_openStackClusterPairs makes the pairs of changes that VNF_PAIRS names, each in one apply, on a cluster that begins with
// three masters and three workers behind two load balancers. After each the nodes, the members of etcd and the servers to which the load
// balancers pass connections on are exactly the servers that there are, all nodes are Ready, and each pulls from the registry. Without the
// variable it does nothing: TestPairs makes all pairs on hosts of the test.
func TestAccInstance_openStackClusterPairs(t *testing.T) {
	list := os.Getenv(envPairs)
	if list == "" {
		t.Skip(envPairs + " names no pairs")
	}
	k := newClusterScriptEnv(t)
	k.balancer = fmt.Sprintf("virtual_address = %q, node_ports = [30080]", k.reserve(t))
	p := &pairs{
		clusterScriptEnv: k, dir: flavoured(t, "m1.tiny", "1.0"), other: flavoured(t, k.flavor(t), "2.0"), image: k.openstack.Images[labtest.OpenStackDockerImage],
		flavour: "simple", level: "large", victims: filepath.Join(t.TempDir(), "victims"),
	}
	p.masters, p.workers = levels[p.level].masters, levels[p.level].workers
	first := p.step(t, "creation")
	first.Check = resource.ComposeTestCheckFunc(k.pushed(t), first.Check)
	steps := []resource.TestStep{first}
	for pair := range strings.SplitSeq(list, ",") {
		p.next(t, pair)
		steps = append(steps, p.step(t, pair))
	}
	resource.Test(t, resource.TestCase{ProtoV6ProviderFactories: acctest.Factories(), Steps: steps})
}
