package instance_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// twoClusterEnv is an environment with an instance on two clusters: the VDU "web" on the first,
// the VDU "cache" and the manifests of siteFile on the second, which is the VIM
// connection "edge".
type twoClusterEnv struct {
	*testEnv
	edge labtest.Env
	// secondNamespace is the namespace on the second cluster, which the instance makes.
	secondNamespace string
}

const (
	siteFile    = "Files/kubernetes/site.yaml"
	cacheFile   = "Files/kubernetes/cache.yaml"
	centralFile = "Files/kubernetes/central.yaml"
)

func newTwoClusterEnv(t *testing.T) *twoClusterEnv {
	t.Helper()
	env := newEnv(t)
	edge := labtest.Second(t)
	env.further = map[string]labtest.Env{"edge": edge}
	c := &twoClusterEnv{testEnv: env, edge: edge, secondNamespace: env.namespace + "-site"}
	t.Cleanup(func() {
		if _, err := edge.TryKubectl(context.WithoutCancel(t.Context()), "delete", "namespace", c.secondNamespace, "--ignore-not-found", "--wait=false"); err != nil {
			t.Logf("removing namespace %s: %v", c.secondNamespace, err)
		}
	})
	return c
}

// twoVIMs registers the API servers of both clusters at these endpoints.
func (c *twoClusterEnv) twoVIMs(first, second string) string {
	one, two := c.lab, c.edge
	one.Endpoint, two.Endpoint = first, second
	return acctest.VIM(c, one, "test") + strings.Replace(acctest.VIM(c, two, "edge"), `"vnf_vim" "test"`, `"vnf_vim" "edge"`, 1)
}

// placed are the arguments that place the parts.
func (c *twoClusterEnv) placed(arguments ...string) string {
	return c.instance(append(arguments, fmt.Sprintf(`vim_connections = {
    edge = { vim_id = vnf_vim.edge.id, namespace = %q, vdu_ids = ["cache"], manifests = [%q] }
  }`, c.secondNamespace, siteFile))...)
}

// kubectlSecond runs kubectl in the namespace on the second cluster.
func (c *twoClusterEnv) kubectlSecond(args ...string) string {
	c.Helper()
	return strings.TrimSpace(c.edge.Kubectl(c, append([]string{"-n", c.secondNamespace}, args...)...))
}

// expectKubectlSecond checks what kubectl prints of the second cluster.
func (c *twoClusterEnv) expectKubectlSecond(want string, args ...string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		if got := c.kubectlSecond(args...); got != want {
			return fmt.Errorf("second cluster: kubectl %s: %q, want %q", strings.Join(args, " "), got, want)
		}
		return nil
	}
}

// expectNothingLeft checks that neither cluster has an object of any instance of the test.
func (c *twoClusterEnv) expectNothingLeft(t *testing.T) {
	t.Helper()
	c.expectNothing(t)
	const kinds = "all,configmaps,secrets,leases,serviceaccounts,cronjobs"
	for name, left := range map[string]string{
		"first":  c.kubectl("get", kinds, "-l", "vnf.nfv-iac.github.io/instance-id", "-o", "name"),
		"second": c.kubectlSecond("get", kinds, "-o", "name") + c.kubectlSecond("get", "namespace", c.secondNamespace, "--ignore-not-found", "-o", "name"),
	} {
		if left != "" {
			t.Errorf("left on the %s cluster: %s", name, left)
		}
	}
}

// configMap is the manifest of one.
func configMap(name, text string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: { name: %s }\ndata: { text: %s }\n", name, text)
}

// cronJob is the manifest of one that never runs while a test does.
func cronJob(name string) string {
	return fmt.Sprintf(`apiVersion: batch/v1
kind: CronJob
metadata: { name: %s }
spec:
  schedule: "0 3 1 1 *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{ name: %[1]s, image: "registry.example.com/hello/%[1]s:1.0.0" }]
`, name)
}

// cache is the manifest of the VDU "cache": a Deployment, its Service and the
// ConfigMap that it reads.
func cache(version string) string {
	return configMap("cache-config", `"`+version+`"`) + `---
apiVersion: v1
kind: Service
metadata: { name: cache }
spec:
  selector: { app.kubernetes.io/name: cache }
  ports: [{ name: redis, port: 6379 }]
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: cache }
spec:
  selector: { matchLabels: { app.kubernetes.io/name: cache } }
  template:
    metadata: { labels: { app.kubernetes.io/name: cache } }
    spec:
      containers:
        - name: cache
          image: registry.example.com/hello/cache:` + version + `
          envFrom: [{ configMapRef: { name: cache-config } }]
`
}

// cacheVDU adds the VDU "cache" with an aspect of its own to the VNFD of hello.
func cacheVDU(t testing.TB, dir string) {
	descriptor("\n  policies:\n", `
    cache:
      type: tosca.nodes.nfv.Vdu.Compute
      properties:
        name: cache
        description: cache
        vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 4 }

  policies:
    - cache_initial_delta:
        type: tosca.policies.nfv.VduInitialDelta
        properties: { initial_delta: { number_of_instances: 1 } }
        targets: [cache]
    - cache_deltas:
        type: tosca.policies.nfv.VduScalingAspectDeltas
        properties: { aspect: cache, deltas: { one: { number_of_instances: 1 } } }
        targets: [cache]
`)(t, dir)
	descriptor("          aspects:\n", `          aspects:
            cache: { name: cache, description: caches, max_scale_level: 3, step_deltas: [one] }
`)(t, dir)
}

// twoClusterPackage is a version of the package for two clusters: what is in the files of either.
func twoClusterPackage(t testing.TB, version, central, second string, edits ...edit) string {
	t.Helper()
	return hello(t, append([]edit{cacheVDU, manifests("web:1.0.0", "web:"+version), func(t testing.TB, dir string) {
		acctest.Write(t, dir, cacheFile, cache(version))
		acctest.Write(t, dir, centralFile, central)
		acctest.Write(t, dir, siteFile, second)
	}}, edits...)...)
}

// TestAccInstance_clusters leads an instance on two clusters through its life cycle.
func TestAccInstance_clusters(t *testing.T) {
	c := newTwoClusterEnv(t)
	first := twoClusterPackage(t, "1.0.0", configMap("to-site", "a")+"---\n"+configMap("central", "a"), configMap("site", "a")+"---\n"+cronJob("report"))
	// In the second version one object moves each way, one goes and one comes on each cluster.
	second := twoClusterPackage(t, "2.0.0", cronJob("report")+"---\n"+configMap("central-next", "a"), configMap("to-site", "a")+"---\n"+configMap("site-next", "a"))
	vims := c.twoVIMs(c.lab.Endpoint, c.edge.Endpoint)
	config := func(source string, arguments ...string) string {
		return c.store.Config(vims, pkg(source), c.placed(arguments...), lookups)
	}
	objects := func(keys ...string) statecheck.StateCheck {
		slices.Sort(keys)
		return statecheck.ExpectKnownValue("data.vnf_instance.by_id", tfjsonpath.New("objects"), lines(keys))
	}
	const levels = `scale_levels = { web = 1, cache = 2 }`
	victim := filepath.Join(t.TempDir(), "victim")
	var before []string
	caches := func() []string {
		return strings.Fields(c.kubectlSecond("get", "pods", "-l", "app.kubernetes.io/name=cache", "-o", "jsonpath={.items[*].metadata.name}"))
	}
	heal := fmt.Sprintf(`heal = { trigger = "a", vnfc_ids = ["cache-${file(%q)}"] }`, victim)
	c.run(t,
		applied(config(first), allChecks(c.checkBackend(), c.diagnostics.NoWarnings(),
			resource.TestCheckTypeSetElemNestedAttrs("data.vnf_instance.by_id", "vnfcs.*", map[string]string{"vdu_id": "web", "namespace": c.namespace}),
			resource.TestCheckTypeSetElemNestedAttrs("data.vnf_instance.by_id", "vnfcs.*", map[string]string{"vdu_id": "cache", "namespace": c.secondNamespace})), replicas("web", 1), replicas("cache", 1),
			objects("v1/ConfigMap web-content", "v1/Service web", "apps/v1/Deployment web", "v1/ConfigMap to-site", "v1/ConfigMap central",
				// The ConfigMap that the pods of a VDU refer to is with them, and stays where it was.
				"v1/ConfigMap cache-config", "edge: v1/ConfigMap cache-config",
				"edge: v1/Service cache", "edge: apps/v1/Deployment cache", "edge: v1/ConfigMap site", "edge: batch/v1/CronJob report")),
		updated(config(first, `scale_levels = { cache = 2 }`), allChecks(c.checkBackend(), c.expectLastOperations(t, "SCALE COMPLETED"), c.expectKubectlSecond("3 3", "get", "deployment", "cache", "-o", "jsonpath={.spec.replicas} {.status.availableReplicas}"),
			c.expectKubectl("1", "get", "deployment", "web", "-o", "jsonpath={.spec.replicas}")), replicas("web", 1), replicas("cache", 3)),
		updated(config(first, levels), allChecks(c.checkBackend(), c.expectKubectl("2 2", "get", "deployment", "web", "-o", "jsonpath={.spec.replicas} {.status.availableReplicas}")), replicas("web", 2), replicas("cache", 3)),
		resource.TestStep{
			PreConfig: func() {
				c.kubectlSecond("set", "image", "deployment/cache", "cache=registry.example.com/hello/cache:hotfix")
				c.kubectlSecond("delete", "configmap", "site")
			},
			RefreshState:       true,
			ExpectNonEmptyPlan: true,
			Check: allChecks(
				resource.TestCheckResourceAttr(address, "drift.#", "2"),
				resource.TestCheckResourceAttr(address, "drift.0", "edge: apps/v1/Deployment cache: spec.template.spec.containers[name=cache].image (changed by kubectl-set)"),
				resource.TestCheckResourceAttr(address, "drift.1", "edge: v1/ConfigMap site: deleted")),
		},
		updated(config(first, levels), allChecks(c.checkBackend(), c.expectLastOperations(t, "HEAL COMPLETED"), c.expectKubectlSecond("registry.example.com/hello/cache:1.0.0", "get", "deployment", "cache", "-o", "jsonpath={.spec.template.spec.containers[0].image}"),
			c.expectKubectlSecond("a", "get", "configmap", "site", "-o", "jsonpath={.data.text}"))),
		after(func() {
			before = caches()
			if err := os.WriteFile(victim, []byte(before[0]), 0o600); err != nil {
				t.Error(err)
			}
		}, updated(config(first, levels, heal), allChecks(c.checkBackend(), func(*terraform.State) error {
			after := caches()
			kept := slices.DeleteFunc(slices.Clone(after), func(pod string) bool { return !slices.Contains(before, pod) })
			if len(after) != 3 || len(kept) != 2 || slices.Contains(after, before[0]) {
				return fmt.Errorf("the pods are %v, they were %v", after, before)
			}
			return nil
		}), replicas("cache", 3))),
		updated(config(second, levels, heal), allChecks(c.checkBackend(), c.diagnostics.NoWarnings(), c.expectLastOperations(t, "CHANGE_VNFPKG COMPLETED"),
			c.expectKubectlSecond("3 registry.example.com/hello/cache:2.0.0", "get", "deployment", "cache", "-o", "jsonpath={.status.availableReplicas} {.spec.template.spec.containers[0].image}"),
			c.expectKubectl("2 registry.example.com/hello/web:2.0.0", "get", "deployment", "web", "-o", "jsonpath={.status.availableReplicas} {.spec.template.spec.containers[0].image}")), replicas("web", 2), replicas("cache", 3),
			objects("v1/ConfigMap web-content", "v1/Service web", "apps/v1/Deployment web", "batch/v1/CronJob report", "v1/ConfigMap central-next",
				"v1/ConfigMap cache-config", "edge: v1/ConfigMap cache-config",
				"edge: v1/Service cache", "edge: apps/v1/Deployment cache", "edge: v1/ConfigMap to-site", "edge: v1/ConfigMap site-next")),
	)
	c.expectNothingLeft(t)
}

// TestAccInstance_clusterUnreachable cuts the second cluster off at a refresh and in
// the middle of operations: what can be done on the first is done, the state tells
// the truth, and the next apply goes on.
func TestAccInstance_clusterUnreachable(t *testing.T) {
	labtest.FullRun(t, failures)
	c := newTwoClusterEnv(t)
	vims := c.twoVIMs(c.lab.Endpoint, c.edge.FaultyEndpoint(t))
	// The pods on the second cluster are ready late enough to be cut off before.
	late := func(t testing.TB, dir string) {
		acctest.Edit(t, dir, cacheFile, "metadata: { labels: { app.kubernetes.io/name: cache } }", "metadata: { labels: { app.kubernetes.io/name: cache }, annotations: { lab.vnf/ready-delay: 10s } }")
	}
	source := twoClusterPackage(t, "1.0.0", configMap("central", "a"), configMap("site", "a"), late)
	next := twoClusterPackage(t, "2.0.0", configMap("central-next", "a"), configMap("site-next", "a"), late)
	config := func(source string, arguments ...string) string {
		return c.store.Config(vims, pkg(source), c.placed(arguments...))
	}
	mend := func() { c.edge.Fault(t, "clear") }
	const short = `timeouts = { create = "40s", update = "40s", delete = "25s", read = "10s" }`
	// reaches cuts the second cluster off as soon as the first shows something.
	reaches := func(want string, args ...string) func() {
		return func() {
			go func() {
				for {
					printed, err := c.lab.TryKubectl(t.Context(), append([]string{"-n", c.namespace, "get", "--ignore-not-found"}, args...)...)
					if err == nil && strings.Contains(printed, want) {
						break
					}
					select {
					case <-t.Context().Done():
						return
					case <-time.After(20 * time.Millisecond):
					}
				}
				c.edge.Fault(t, "cut")
			}()
		}
	}
	c.run(t,
		// Both VIMs are registered while they can be reached.
		resource.TestStep{Config: c.store.Config(vims, pkg(source))},
		resource.TestStep{
			PreConfig:          func() { c.edge.Fault(t, "cut") },
			Config:             config(source, short, resume),
			ExpectNonEmptyPlan: true,
			ConfigStateChecks:  []statecheck.StateCheck{failedTemp()},
			Check: allChecks(c.diagnostics.HasWarning(`(?s)"test" Is Not Instantiated Yet: .*VIM connection "edge": .*127\.0\.0\.1`),
				c.expectKubectl("1", "get", "deployment", "web", "-o", "jsonpath={.status.availableReplicas}")),
		},
		after(mend, updated(config(source, short), allChecks(c.checkBackend(), c.expectLastOperations(t, "INSTANTIATE COMPLETED")))),
		// A refresh says that it could not look, and plans nothing for that.
		resource.TestStep{
			PreConfig: func() {
				c.diagnostics.Discard()
				c.edge.Fault(t, "cut")
			},
			Config:   config(source, short),
			PlanOnly: true,
		},
		resource.TestStep{
			PreConfig: func() {
				if err := c.diagnostics.HasWarning(`(?s)"test" Could Not Be Refreshed: .*VIM connection "edge"`)(nil); err != nil {
					t.Error(err)
				}
				mend()
				reaches("web:2.0.0", "deployments", "-o", "yaml")()
			},
			Config:      config(next, short),
			ExpectError: sentence(`Unable to Update VNF Instance "test"`, `CHANGE_VNFPKG of VNF instance "test" is FAILED_TEMP`, `VIM connection "edge"`),
		},
		after(mend, updated(config(next, short), allChecks(c.checkBackend(), c.expectLastOperations(t, "CHANGE_VNFPKG COMPLETED")))),
		resource.TestStep{
			PreConfig:   func() { c.edge.Fault(t, "cut") },
			Config:      c.store.Config(vims, pkg(next)),
			ExpectError: sentence(`Unable to Terminate VNF Instance "test"`, `TERMINATE of VNF instance "test" is FAILED_TEMP`, `VIM connection "edge"`),
		},
		resource.TestStep{PreConfig: mend, Config: c.store.Config(vims, pkg(next))},
	)
	c.expectNothingLeft(t)
}

// TestAccInstance_clusterUnseen cuts the second cluster off while something differs on
// the first: that is seen, planned, refused where it cannot be, and repaired.
func TestAccInstance_clusterUnseen(t *testing.T) {
	labtest.FullRun(t, failures)
	c := newTwoClusterEnv(t)
	vims := c.twoVIMs(c.lab.Endpoint, c.edge.FaultyEndpoint(t))
	source := twoClusterPackage(t, "1.0.0", configMap("central", "a"), configMap("site", "a"))
	bad := twoClusterPackage(t, "1.0.0", strings.Replace(configMap("central", "a"), "data: {", "data: { \"not a key\": b,", 1), configMap("site", "a"))
	config := func(source string) string {
		return c.store.Config(vims, pkg(source), c.placed(`timeouts = { update = "40s", read = "10s" }`))
	}
	cut := func() { c.edge.Fault(t, "cut") }
	c.run(t,
		resource.TestStep{Config: config(source), ConfigStateChecks: []statecheck.StateCheck{instantiated()}},
		resource.TestStep{
			PreConfig: func() {
				c.kubectl("delete", "configmap", "central")
				c.kubectlSecond("delete", "configmap", "site")
				cut()
			},
			RefreshState:       true,
			ExpectNonEmptyPlan: true,
			Check: allChecks(
				c.diagnostics.HasWarning(`(?s)"test" Could Not Be Refreshed: .*VIM connection "edge": .*drift there is not detected`),
				resource.TestCheckResourceAttr(address, "drift.#", "1"),
				resource.TestCheckResourceAttr(address, "drift.0", "v1/ConfigMap central: deleted"),
				resource.TestCheckResourceAttr(address, "vnfc_counts.web", "1"),
				resource.TestCheckResourceAttr(address, "vnfc_counts.cache", "1")),
		},
		resource.TestStep{
			Config:      config(source),
			ExpectError: sentence(`Unable to Update VNF Instance "test"`, `HEAL of VNF instance "test" is FAILED_TEMP`, `VIM connection "edge"`),
		},
		after(func() {
			if err := c.expectKubectl("a", "get", "configmap", "central", "-o", "jsonpath={.data.text}")(nil); err != nil {
				t.Error(err)
			}
			c.edge.Fault(t, "clear")
		}, updated(config(source), allChecks(c.checkBackend(), c.expectLastOperations(t, "HEAL COMPLETED")))),
		resource.TestStep{PreConfig: cut, Config: config(bad), PlanOnly: true, ExpectError: sentence(`ConfigMap central`, `not a key`)},
		resource.TestStep{PreConfig: func() { c.edge.Fault(t, "clear") }, Config: config(source), PlanOnly: true},
	)
	c.expectNothingLeft(t)
}

// TestAccInstance_clusterRollback fails on the second cluster: what was done on
// both is undone.
func TestAccInstance_clusterRollback(t *testing.T) {
	labtest.FullRun(t, failures)
	c := newTwoClusterEnv(t)
	vims := c.twoVIMs(c.lab.Endpoint, c.edge.Endpoint)
	good := twoClusterPackage(t, "1.0.0", configMap("central", "a"), configMap("site", "a"))
	bad := twoClusterPackage(t, "2.0.0", configMap("central-next", "a"), configMap("site-next", "a")+"---\n"+failedJob)
	config := func(source string) string {
		return c.store.Config(vims, pkg(source), c.placed(`on_failure = "rollback"`))
	}
	c.run(t,
		resource.TestStep{
			Config:      config(bad),
			ExpectError: sentence(`Unable to Instantiate VNF Instance "test"`, `VIM connection "edge"`, `Job `+c.secondNamespace+`/migrate`, `everything that was created has been removed`),
		},
		resource.TestStep{
			PreConfig:         func() { c.expectNothingLeft(t) },
			Config:            config(good),
			ConfigPlanChecks:  planned(plancheck.ResourceActionCreate),
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check:             c.checkBackend(),
		},
		resource.TestStep{
			Config:      config(bad),
			ExpectError: sentence(`Unable to Update VNF Instance "test"`, `CHANGE_VNFPKG of VNF instance "test" is ROLLED_BACK`, `VIM connection "edge"`, `Job `+c.secondNamespace+`/migrate`),
		},
		applied(config(good), allChecks(c.checkBackend(), c.image("1 registry.example.com/hello/web:1.0.0"),
			c.expectKubectlSecond("registry.example.com/hello/cache:1.0.0", "get", "deployment", "cache", "-o", "jsonpath={.spec.template.spec.containers[0].image}"))),
	)
	c.expectNothingLeft(t)
}
