package workloadcluster_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/charttest"
)

// network is a chart with a DaemonSet, as a network plugin has one, and its settings.
func network(version string) charttest.Chart {
	return charttest.Chart{Name: "network", Version: version, Templates: map[string]string{
		"settings.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings }\ndata: { mode: {{ .Values.mode.name }}, of: {{ .Chart.Version | quote }}, cni: {{ dig \"cni\" \"type\" \"\" (.Values.installation | default dict) | quote }} }\n",
		"agent.yaml": `apiVersion: apps/v1
kind: DaemonSet
metadata: { name: agent }
spec:
  selector: { matchLabels: { app: agent } }
  template:
    metadata: { labels: { app: agent } }
    spec: { containers: [{ name: agent, image: "registry.example/agent:{{ .Chart.Version }}" }] }
`,
	}}
}

// cloud is a chart of settings alone, with a token that it generates.
var cloud = charttest.Chart{Name: "cloud", Version: "0.1.0", Templates: map[string]string{
	"cloud.yaml":  "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: cloud }\n",
	"secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: { name: cloud }\nstringData: { token: {{ randAlphaNum 20 }} }\n",
}}

// realAPICluster are the arguments of a cluster whose workload API is a real API server, and
// whose one node is held back until somebody lets it come up.
func (env *testEnv) realAPICluster(addons string) string {
	text, err := os.ReadFile("../../../examples/complete/capi/cnf/cluster-template.yaml")
	require.NoError(env, err)
	template := strings.Replace(string(text), "    spec: {}\n", "    metadata: { annotations: { lab.vnf/hold: \"true\" } }\n    spec: {}\n", 1)
	require.NotEqual(env, string(text), template)
	return fmt.Sprintf(`
  kubernetes_version  = "1.36.3"
  clusterctl_template = { content = %q }
  control_plane       = { replicas = 1 }
  node_groups         = { workers = { replicas = 1 } }
%s
`, strings.ReplaceAll(template, "${", "$${"), addons)
}

// makeNodesReady does what a network plugin does: once its settings are on the workload
// cluster, nodes become ready.
func (env *testEnv) makeNodesReady(ctx context.Context) error {
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for {
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		kubeconfig, err := env.lab.TryKubectl(ctx, "get", "secret", "edge-kubeconfig", "-n", env.namespace, "-o", "go-template={{ .data.value | base64decode }}")
		if err != nil {
			continue
		}
		file := env.file("workload.kubeconfig", kubeconfig)
		if _, err := env.lab.TryKubectl(ctx, "--kubeconfig", file, "get", "configmap", "settings", "-n", "kube-system"); err != nil {
			continue
		}
		if _, err := env.lab.TryKubectl(ctx, "annotate", "labmachines", "--all", "-n", env.namespace, "lab.vnf/hold-"); err != nil {
			return err
		}
		up, err := env.lab.TryKubectl(ctx, "get", "labmachines", "-n", env.namespace, "-o", "jsonpath={.items[*].spec.providerID}")
		if err != nil || up != "" {
			return err
		}
	}
}

// from is a source of charts with all that it takes to get in.
func from(s *charttest.Server, where string) string {
	return fmt.Sprintf(`%s, username = %q, password_wo = %q, password_wo_version = 1, ca_certificate = %q`, where, charttest.Username, charttest.Password, s.CA)
}

// Add-ons are installed before the wait for the nodes of their cluster, in their order;
// one is upgraded, one taken out, and what somebody deletes is put right.
func TestAccWorkloadCluster_addons(t *testing.T) {
	env := newEnv(t)
	repository, registry := charttest.Repository(t, network("1.0.0"), network("1.0.3"), network("1.1.0")), charttest.Registry(t, cloud)
	cni := func(version, after string) string {
		return fmt.Sprintf(`network = {
      profile   = "calico"
      chart     = { %s }
      namespace = "kube-system"
      values    = [yamlencode({ mode = { name = "bridge", mtu = 1500 } }), "mode: { name: tunnel }"]
      %s
    }`, from(repository, fmt.Sprintf("repository = %q, name = \"network\", version = %q", repository.URL, version)), after)
	}
	ccm := fmt.Sprintf(`cloud = { chart = { %s }, namespace = "cloud" }`, from(registry, fmt.Sprintf("oci = \"oci://%s/charts/cloud\"", registry.Host)))
	both := env.config(env.realAPICluster("addons = {\n" + cni("~1.0.0", `after = ["cloud"]`) + "\n" + ccm + "\n}"))
	upgraded := env.config(env.realAPICluster("addons = {\n" + cni("~1.1", `after = ["cloud"]`) + "\n" + ccm + "\n}"))
	regenerated := strings.Replace(upgraded, `namespace = "cloud" }`, `namespace = "cloud", regenerate = { trigger = "1" } }`, 1)
	one := env.config(env.realAPICluster("addons = {\n" + cni("~1.1", "") + "\n}"))
	// The machines are described in another way: by a template of another name.
	described := strings.Replace(one, "lab.vnf/hold: ", "lab.vnf/held: ", 1)
	// standing are the machines that are not on their way out: those that were replaced go by and by.
	standing := func() string {
		return env.kubectl("get", "machines.cluster.x-k8s.io", "-o", `go-template={{ range .items }}{{ if not .metadata.deletionTimestamp }}{{ .metadata.name }} {{ end }}{{ end }}`)
	}
	machineTemplates := func() string {
		return env.kubectl("get", "labmachinetemplates", "-o", "jsonpath={.items[*].metadata.name}")
	}

	at := func(name, field string) tfjsonpath.Path {
		return tfjsonpath.New("addons_status").AtMapKey(name).AtMapKey(field)
	}
	is := func(name, field, want string) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(address, at(name, field), knownvalue.StringExact(want))
	}
	workload := func(args ...string) string {
		return strings.TrimSpace(env.lab.WorkloadKubectl(t, env.namespace, "edge", args...))
	}
	releases := func(want ...string) resource.TestCheckFunc {
		return func(*terraform.State) error {
			edge := env.lab
			edge.Kubeconfig = env.lab.WorkloadKubeconfig(t, env.namespace, "edge")
			out := edge.Helm(t, "kube-system").Run(t, "list", "--all-namespaces", "--no-headers")
			assert.Len(t, strings.Split(strings.TrimSpace(out), "\n"), len(want), out)
			for _, release := range want {
				assert.Regexp(t, release, out)
			}
			return nil
		}
	}
	// token checks whether what the chart has generated is another one than at the last call.
	var before string
	token := func(changes bool) resource.TestCheckFunc {
		return func(*terraform.State) error {
			now := workload("get", "secret", "cloud", "-n", "cloud", "-o", "jsonpath={.data.token}")
			assert.Equal(t, changes, now != before, "the token changes")
			before = now
			return nil
		}
	}
	var nodes chan error
	var machine string
	var asked int64
	count := func() int64 { return repository.Requests.Load() + registry.Requests.Load() }
	env.run(t,
		resource.TestStep{
			PreConfig: func() {
				nodes = make(chan error, 1)
				go func() { nodes <- env.makeNodesReady(t.Context()) }()
			},
			Config: both,
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectKnownValue(address, at("network", "version"), knownvalue.StringExact("1.0.3")),
				plancheck.ExpectKnownValue(address, at("cloud", "chart_name"), knownvalue.StringExact("cloud")),
			}},
			ConfigStateChecks: []statecheck.StateCheck{
				status("READY"), groupHas("workers", "available_replicas", 1),
				is("network", "status", "DEPLOYED"), is("network", "app_version", "app-1.0.3"), is("cloud", "status", "DEPLOYED"),
				is("network", "digest", charttest.Digest(network("1.0.3").Archive(t))),
			},
			Check: resource.ComposeTestCheckFunc(token(true), releases(`network\s+kube-system\s+1\s.*deployed\s+network-1\.0\.3`, `cloud\s+cloud\s+1\s.*deployed\s+cloud-0\.1\.0`), func(s *terraform.State) error {
				asked = count()
				assert.NotContains(t, fmt.Sprint(s.RootModule().Resources[address].Primary.Attributes), charttest.Password)
				assert.Equal(t, "tunnel Calico", workload("get", "configmap", "settings", "-n", "kube-system", "-o", "jsonpath={.data.mode} {.data.cni}"))
				return <-nodes
			}),
		},
		resource.TestStep{
			// The charts are kept: nobody is asked again.
			Config:           both,
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			Check: func(*terraform.State) error {
				assert.Equal(t, asked, count(), "requests to repository and registry")
				return nil
			},
		},
		resource.TestStep{
			Config: upgraded,
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
				plancheck.ExpectKnownValue(address, at("network", "version"), knownvalue.StringExact("1.1.0")),
			}},
			ConfigStateChecks: []statecheck.StateCheck{status("READY"), is("network", "version", "1.1.0")},
			Check:             resource.ComposeTestCheckFunc(token(false), releases(`network\s+kube-system\s+2\s.*network-1\.1\.0`, `cloud\s+cloud\s+1\s`)),
		},
		resource.TestStep{
			PreConfig:          func() { workload("delete", "configmap", "settings", "-n", "kube-system") },
			RefreshState:       true,
			RefreshPlanChecks:  resource.RefreshPlanChecks{PostRefresh: []plancheck.PlanCheck{updates().PreApply[0]}},
			ExpectNonEmptyPlan: true,
			Check: resource.ComposeTestCheckFunc(
				resource.TestCheckResourceAttr(address, "addons_status.network.status", "DRIFTED"),
				resource.TestCheckResourceAttr(address, "addons_status.network.drift.#", "1"),
				resource.TestCheckResourceAttr(address, "addons_status.network.drift.0", "v1/ConfigMap settings no longer exists"),
			),
		},
		resource.TestStep{
			Config:            regenerated,
			ConfigPlanChecks:  updates(),
			ConfigStateChecks: []statecheck.StateCheck{is("network", "status", "DEPLOYED"), is("cloud", "status", "DEPLOYED")},
			Check: resource.ComposeTestCheckFunc(token(true), releases(`network\s`, `cloud\s+cloud\s+2\s`), func(*terraform.State) error {
				assert.Equal(t, "1.1.0", workload("get", "configmap", "settings", "-n", "kube-system", "-o", "jsonpath={.data.of}"))
				return nil
			}),
		},
		resource.TestStep{
			Config:           one,
			ConfigPlanChecks: updates(),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(address, tfjsonpath.New("addons_status"), knownvalue.MapSizeExact(1)), is("network", "status", "DEPLOYED"),
			},
			Check: resource.ComposeTestCheckFunc(releases(`network\s+kube-system\s+2\s`), func(*terraform.State) error {
				assert.Empty(t, workload("get", "namespace", "cloud", "-o", "name", "--ignore-not-found"))
				return nil
			}),
		},
		resource.TestStep{Config: one, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
		resource.TestStep{
			PreConfig: func() {
				machine = standing()
				assert.Equal(t, "edge-workers", machineTemplates())
			},
			Config: described,
			ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply:             []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate)},
				PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
			},
			ConfigStateChecks: []statecheck.StateCheck{status("READY"), groupHas("workers", "available_replicas", 1)},
			Check: func(*terraform.State) error {
				assert.Regexp(t, `^edge-workers-[0-9a-f]{8}$`, machineTemplates(), "the old template goes once no machine is made of it")
				assert.NotEqual(t, machine, standing())
				machine = standing()
				return nil
			},
		},
		resource.TestStep{
			// The name stays when the record of the cluster is lost.
			PreConfig:         func() { env.store.Clear(t) },
			Config:            described,
			ConfigPlanChecks:  resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			ConfigStateChecks: []statecheck.StateCheck{status("READY")},
			Check: func(*terraform.State) error {
				assert.Equal(t, machine, standing())
				return nil
			},
		},
		resource.TestStep{
			Config:      strings.Replace(described, `namespace = "kube-system"`, `namespace = "elsewhere"`, 1),
			PlanOnly:    true,
			ExpectError: acctest.Says(`Add-on "network" is in namespace "kube-system". Remove it, apply, and add it again in the other namespace.`),
		},
	)
}

// The plan reports errors of an add-on at its argument.
func TestAccWorkloadCluster_badAddons(t *testing.T) {
	env := newEnv(t)
	s := charttest.Repository(t, network("1.0.0"))
	good := from(s, fmt.Sprintf("repository = %q, name = \"network\"", s.URL))
	var steps []resource.TestStep
	for _, bad := range []struct{ addons, want string }{
		{`a = { chart = { path = "x", oci = "oci://r.example/c" }, namespace = "a" }`, "path and oci are two sources: set only one of them."},
		{`a = { chart = {}, namespace = "a" }`, "Set one of path, repository and oci."},
		{`a = { chart = { name = "openstack" }, namespace = "a" }`, "name is that of a chart in a repository: set repository as well."},
		{`a = { chart = { repository = "https://r.example" }, namespace = "a" }`, "A repository has many charts: set name as well."},
		{`a = { chart = { path = "x", version = "1.0.0" }, namespace = "a" }`, "version is only for a chart from a repository or registry."},
		{`a = { chart = { oci = "oci://r.example/c:1.0" }, namespace = "a" }`, "must be oci://<registry>/<path>, without a tag or digest"},
		{`a = { chart = { path = "/nowhere/chart" }, namespace = "a" }`, `add-on "a": the chart cannot be read`},
		{`a = { chart = { ` + strings.Replace(good, `"network"`, `"flannel"`, 1) + ` }, namespace = "a" }`, `has no chart "flannel"`},
		{`a = { chart = { ` + good + `, version = "new" }, namespace = "a" }`, `"new" is neither a version nor a range of versions`},
		{`a = { chart = { ` + good + `, version = ">=2" }, namespace = "a" }`, `has no version ">=2"`},
		{`a = { chart = { ` + strings.Replace(good, charttest.Password, "wrong", 1) + ` }, namespace = "a" }`, "the server answered 401 Unauthorized"},
		{`a = { chart = { ` + good + ` }, namespace = "a", values = ["- a"] }`, `values\[0\]: line 1, column 1: this is a list`},
		{`a = { chart = { ` + good + ` }, namespace = "a", values = ["mode: 1"] }`, `add-on "a":`},
		{`a = { chart = { ` + good + ` }, namespace = "a", after = ["b"] }`, `add-on "a" comes after "b", which is not an add-on`},
		{`a = { namespace = "a" }`, `(?s)Missing Argument of an Add-on.*Set chart, or profile for a built-in one`},
		{`a = { chart = { path = "x" } }`, `(?s)Missing Argument of an Add-on.*Set namespace: only a profile has one`},
		{`a = { profile = "weave" }`, `value must be one of: \["calico" "cilium" "flannel" "metrics-server"`},
		{`a = { profile = "flannel" }`, `(?s)Missing Argument for an Add-on Profile.*Add-on "a" of profile "flannel" needs the pod network of the cluster. Set network.pod_cidrs`},
		{`a = { profile = "openstack-cinder-csi" }`, `(?s)needs the credentials of the OpenStack on the cluster. Set openstack.application_credential and openstack.cloud_config`},
		{`A = { chart = { ` + good + ` }, namespace = "a" }`, `"A" is not a valid add-on name`},
		{`a = { chart = { ` + good + ` }, namespace = "a", after = ["b"] }, b = { chart = { ` + good + ` }, namespace = "a", after = ["a"] }`,
			"The order of the add-ons is circular"},
	} {
		steps = append(steps, resource.TestStep{
			Config: env.config(inMemory("1.34.0", "") + "addons = { " + bad.addons + " }"), PlanOnly: true, ExpectError: acctest.Says(bad.want),
		})
	}
	// The management cluster is registered first, so that the charts are rendered by the plan.
	env.run(t, append([]resource.TestStep{{Config: env.store.Config(acctest.VIM(env, env.lab, "test"))}}, steps...)...)
}

// packedInMemory is the embedded chart "in-memory", with further templates, for repositories and registries.
func packedInMemory(t *testing.T, templates map[string]string) charttest.Chart {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("../../capi/forms/charts")))
	for name, text := range templates {
		acctest.Write(t, dir, "in-memory/templates/"+name, text)
	}
	loaded, err := helm.Load(t.Context(), os.DirFS(dir), "in-memory")
	require.NoError(t, err)
	found := loaded.Describe()
	archive, err := loaded.Archive()
	require.NoError(t, err)
	return charttest.Chart{Name: found.Name, Version: found.Version, Packed: archive}
}

// A chart of a cluster comes from a repository: the version that a range was resolved to
// stays, and is not asked for again. What it generates stays as well, also without the store.
func TestAccWorkloadCluster_chartOfRepository(t *testing.T) {
	env := newEnv(t)
	chart := packedInMemory(t, map[string]string{
		"token.yaml": "apiVersion: v1\nkind: Secret\nmetadata: { name: {{ .Release.Name }}-token }\nstringData: { token: {{ randAlphaNum 20 }} }\n",
	})
	s := charttest.Repository(t, chart)
	config := func(version string) string {
		source := from(s, fmt.Sprintf("repository = %q, name = %q, version = %q", s.URL, chart.Name, version))
		embedded := inMemory("1.34.0", "")
		return env.config(strings.Replace(embedded, `name = "in-memory"`, source, 1))
	}
	regenerated := strings.Replace(config(">=0.0.1"), `version = ">=0.0.1"`, `version = ">=0.0.1", regenerate = { trigger = "1" }`, 1)
	var asked int64
	var generated string
	token := func() string { return env.kubectl("get", "secret", "edge-token", "-o", "jsonpath={.data.token}") }
	env.run(t,
		// The plan renders the chart only for a management cluster that is registered.
		resource.TestStep{Config: env.store.Config(acctest.VIM(env, env.lab, "test"))},
		resource.TestStep{
			Config: config(">=0.0.1"),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectKnownValue(address, tfjsonpath.New("chart_status").AtMapKey("version"), knownvalue.StringExact(chart.Version)),
			}},
			ConfigStateChecks: []statecheck.StateCheck{
				status("READY"),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("chart_status").AtMapKey("digest"), knownvalue.StringExact(charttest.Digest(chart.Packed))),
			},
			Check: func(*terraform.State) error {
				asked, generated = s.Requests.Load(), token()
				assert.Len(t, generated, 28)
				return nil
			},
		},
		resource.TestStep{
			Config:           config(">=0.0.1"),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			Check: func(*terraform.State) error {
				assert.Equal(t, asked, s.Requests.Load(), "requests to the repository")
				return nil
			},
		},
		resource.TestStep{
			PreConfig:        func() { env.store.Clear(t) },
			Config:           config(">=0.0.1"),
			ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			Check: func(*terraform.State) error {
				assert.Equal(t, generated, token())
				return nil
			},
		},
		resource.TestStep{
			Config: regenerated,
			ConfigPlanChecks: resource.ConfigPlanChecks{
				PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
			},
			Check: func(*terraform.State) error {
				assert.NotEqual(t, generated, token())
				return nil
			},
		},
		resource.TestStep{
			Config:      config("9.9.9"),
			PlanOnly:    true,
			ExpectError: acctest.Says(`has no version "9.9.9"`),
		},
	)
}
