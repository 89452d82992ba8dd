package instance_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// envPairs are pairs of changes that TestAccInstance_openStackClusterPairs makes, such as "image+heal,level+flavour".
const envPairs = "VNF_PAIRS"

// pairs is a cluster that changes by and by.
type pairs struct {
	*clusterScriptEnv
	dir, large, image, flavour, level, scale, heal, victims string
	n                                                       int
}

// changes are by name; each makes the next configuration.
func (p *pairs) changes(t *testing.T) map[string]func() {
	return map[string]func(){
		"aspect": func() { p.scale = fmt.Sprintf("scale_levels = { master_instance = 1, worker_instance = %d }", 1+p.n%2) },
		"aspects": func() {
			p.scale = fmt.Sprintf("scale_levels = { master_instance = %d, worker_instance = %d }", p.n%2, 1+p.n%2)
		},
		"level": func() {
			p.level, p.scale = map[string]string{"small": "large", "large": "small"}[p.level], ""
		},
		"flavour": func() { p.flavour = map[string]string{"simple": "complex", "complex": "simple"}[p.flavour] },
		"image":   func() { p.image = p.openstack.NewImage(t, fmt.Sprintf("docker-%d-%s", p.n, p.user.Name)) },
		"flavor":  func() { p.dir, p.large = p.large, p.dir },
		"heal": func() {
			p.heal = fmt.Sprintf(`heal = { trigger = "%d", vnfc_ids = split(" ", file(%q)) }`, p.n, p.victims)
		},
	}
}

func (p *pairs) config() string {
	arguments := []string{fmt.Sprintf("instantiation_level_id = %q", p.level), p.scale, p.heal}
	text := p.withImage(p.cluster(p.dir, fmt.Sprintf("script_path = %q", clusterScript), "", arguments...), p.image, "masterNode", "workerNode")
	return strings.Replace(text, `flavour_id = "simple"`, fmt.Sprintf("flavour_id = %q", p.flavour), 1) + p.connected()
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

// TestAccInstance_openStackClusterPairs makes the pairs of changes that VNF_PAIRS names, each in one apply, on a cluster of three
// masters and three workers. After each the nodes are the servers that there are, all of them Ready, with their registry and behind
// the load balancer. Without the variable it does nothing: TestPairs makes all pairs on hosts of the test.
func TestAccInstance_openStackClusterPairs(t *testing.T) {
	list := os.Getenv(envPairs)
	if list == "" {
		t.Skip(envPairs + " names no pairs")
	}
	k := newClusterScriptEnv(t)
	p := &pairs{
		clusterScriptEnv: k, dir: flavoured(t, "m1.tiny", "1.0"), large: flavoured(t, "m1.small", "2.0"), image: k.openstack.Images[labtest.OpenStackDockerImage],
		flavour: "simple", level: "large", victims: filepath.Join(t.TempDir(), "victims"),
	}
	empty := resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
	changes := p.changes(t)
	check := func(config string) resource.TestStep {
		step := resource.TestStep{Config: config, ConfigPlanChecks: empty}
		step.Check = resource.ComposeTestCheckFunc(k.allNodes(t), k.members(t))
		return step
	}
	first := check(p.config())
	first.Check = resource.ComposeTestCheckFunc(k.pushed(t), first.Check)
	steps := []resource.TestStep{first}
	for pair := range strings.SplitSeq(list, ",") {
		p.n++
		for name := range strings.SplitSeq(pair, "+") {
			require.Contains(t, changes, name, "the changes are %v", slices.Sorted(maps.Keys(changes)))
			changes[name]()
		}
		step := check(p.config())
		step.PreConfig = func() {
			t.Logf("%s", pair)
			acctest.Write(t, filepath.Dir(p.victims), "victims", k.vnfcs()["masterNode"][0].ID+" "+k.vnfcs()["workerNode"][0].ID)
		}
		steps = append(steps, step)
	}
	resource.Test(t, resource.TestCase{ProtoV6ProviderFactories: acctest.Factories(), Steps: steps})
}
