package instance_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/stretchr/testify/require"
	release "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage"
	"helm.sh/helm/v4/pkg/storage/driver"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// imsChart is where the package ims-helm has its chart.
const imsChart = "Artifacts/Charts/ims/"

// ims returns a changed copy of the package ims-helm.
func ims(t testing.TB, edits ...edit) string {
	t.Helper()
	dir := acctest.CopyPackage(t, "ims-helm")
	for _, e := range edits {
		e(t, dir)
	}
	acctest.Hash(t, dir)
	return dir
}

// inChart replaces text in a file of the chart.
func inChart(file, from, to string) edit {
	return func(t testing.TB, dir string) { acctest.Edit(t, dir, imsChart+file, from, to) }
}

// chartFile writes a file of the chart.
func chartFile(file, text string) edit {
	return func(t testing.TB, dir string) { acctest.Write(t, dir, imsChart+file, text) }
}

// byValue lets the count of the VDU cscf go through the values.
const byValue = `helm_value_names = { cscf = { replica = "cscf.replicas" } }`

// chartParams is the argument additional_params.
func chartParams(fields ...string) string {
	return "additional_params = {\n" + strings.Join(fields, "\n") + "\n}"
}

// releases reads the history of a release as Helm itself does.
func (env *testEnv) releases(name string) []*release.Release {
	env.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", env.lab.Kubeconfig)
	require.NoError(env, err)
	client, err := corev1.NewForConfig(config)
	require.NoError(env, err)
	all, err := storage.Init(driver.NewSecrets(client.Secrets(env.namespace))).History(name)
	require.NoError(env, err)
	var out []*release.Release
	for _, r := range all {
		read, ok := r.(*release.Release)
		if !ok {
			env.Fatalf("a record of release %s is a %T", name, r)
		}
		out = append(out, read)
	}
	slices.SortFunc(out, func(a, b *release.Release) int { return a.Version - b.Version })
	return out
}

// history checks the revisions of the release "test", as "revision status".
func (env *testEnv) history(want ...string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		var got []string
		for _, r := range env.releases("test") {
			got = append(got, fmt.Sprintf("%d %s", r.Version, r.Info.Status))
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("history of the release: %v, want %v", got, want)
		}
		return nil
	}
}

// deployed checks the last revision of the release "test".
func (env *testEnv) deployed(check func(*release.Release) error) resource.TestCheckFunc {
	return func(*terraform.State) error {
		all := env.releases("test")
		return check(all[len(all)-1])
	}
}

// TestAccInstance_helm leads a chart through its life.
func TestAccInstance_helm(t *testing.T) {
	env := newEnv(t)
	second := []edit{
		inChart("Chart.yaml", "version: 1.0.0\nappVersion", "version: 1.1.0\nappVersion"),
		inChart("templates/availability.yaml", "Has \"policy/v1/PodDisruptionBudget\"", "Has \"policy/v2\""),
		chartFile("templates/policy.yaml", `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: {{ .Release.Name }}-cscf }
spec: { podSelector: {}, policyTypes: [Ingress] }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: {{ .Release.Name }}-numbers, annotations: { helm.sh/resource-policy: keep } }
`),
	}
	crash := inChart("templates/provision.yaml", "    metadata:\n      labels:", "    metadata:\n      annotations: { lab.vnf/fail: crash }\n      labels:")
	const deployment = "apps/v1/Deployment test-cscf"
	env.run(t,
		resource.TestStep{
			Config: env.configFor(ims(t), chartParams(byValue, `helm_parameters = { "cscf.domain" = "ims.example.org" }`)),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plansObjects(8), plancheck.ExpectKnownValue(address, tfjsonpath.New("vnfc_counts"), counts("cscf", 1, "hss", 1)),
			}},
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check: allChecks(env.checkBackend(), env.history("1 deployed"),
				env.expectKubectl("ims.example.org", "get", "configmap", "test-cscf", "-o", "jsonpath={.data.domain}"),
				env.expectKubectl("Helm test "+env.namespace, "get", "deployment", "test-cscf", "-o",
					`jsonpath={.metadata.labels.app\.kubernetes\.io/managed-by} {.metadata.annotations.meta\.helm\.sh/release-name} {.metadata.annotations.meta\.helm\.sh/release-namespace}`),
				env.expectKubectl("", "get", "jobs,pods", "-l", "app.kubernetes.io/name=ims", "-o", "name"),
				env.deployed(func(r *release.Release) error {
					ran := slices.ContainsFunc(r.Hooks, func(h *release.Hook) bool {
						return h.Name == "test-provision" && h.LastRun.Phase == release.HookPhaseSucceeded
					})
					if r.Chart.Metadata.Version != "1.0.0" || r.Namespace != env.namespace || !strings.Contains(r.Manifest, "name: test-hss") ||
						!ran || !strings.HasPrefix(r.Info.Notes, "Calls for ims.example.org go to test-cscf") {
						return fmt.Errorf("the record does not say what was deployed, the hook ran %t: %+v, %+v", ran, r, r.Info)
					}
					return nil
				})),
		},
		resource.TestStep{
			PreConfig: func() { env.kubectl("set", "image", "deployment/test-cscf", "cscf=registry.example.com/other:1") },
			Config:    env.configFor(ims(t), chartParams(byValue, `helm_parameters = { cscf = { domain = "ims.example.org" } }`)),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
				expectPrior{deployment, "spec.template.spec.containers[name=cscf].image (changed by kubectl-set)"},
			}},
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check: allChecks(env.checkBackend(), env.history("1 deployed"),
				env.expectKubectl("registry.example.com/ims/cscf:1.0.0", "get", "deployment", "test-cscf", "-o", "jsonpath={.spec.template.spec.containers[0].image}")),
		},
		resource.TestStep{
			Config: env.configFor(ims(t), chartParams(byValue), "scale_levels = { calls = 2 }"),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectKnownValue(address, tfjsonpath.New("vnfc_counts").AtMapKey("cscf"), knownvalue.Int64Exact(3)),
			}},
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check: allChecks(env.checkBackend(), env.history("1 superseded", "2 superseded", "3 deployed"),
				env.expectKubectl("30000", "get", "configmap", "test-cscf", "-o", "jsonpath={.data.capacity}"),
				env.expectKubectl("3", "get", "deployment", "test-cscf", "-o", "jsonpath={.status.readyReplicas}")),
		},
		resource.TestStep{
			Config: env.configFor(ims(t, second...), chartParams(byValue), "scale_levels = { calls = 2 }"),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectKnownValue(address, tfjsonpath.New("changes").AtMapKey("added"), lines([]string{"networking.k8s.io/v1/NetworkPolicy test-cscf", "v1/ConfigMap test-numbers"})),
			}},
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check: allChecks(env.checkBackend(), env.history("1 superseded", "2 superseded", "3 superseded", "4 deployed"),
				env.expectKubectl("", "get", "poddisruptionbudgets", "-o", "name"),
				env.deployed(func(r *release.Release) error {
					if r.Chart.Metadata.Version != "1.1.0" || strings.Contains(r.Manifest, "PodDisruptionBudget") {
						return fmt.Errorf("revision 4 is chart %s with %s", r.Chart.Metadata.Version, r.Manifest)
					}
					return nil
				})),
		},
		resource.TestStep{
			Config: env.configFor(ims(t, append(slices.Clone(second), crash)...), chartParams(byValue), "scale_levels = { calls = 2 }"),
			ExpectError: sentence("the post-upgrade hook batch/v1/Job test-provision ("+imsChart+"templates/provision.yaml) failed",
				"panic: cannot reach database", "FAILED_TEMP"),
		},
		after(func() {
			if err := env.history("1 superseded", "2 superseded", "3 superseded", "4 deployed", "5 failed")(nil); err != nil {
				t.Error(err)
			}
		}, updated(env.configFor(ims(t, second...), chartParams(byValue), "scale_levels = { calls = 2 }"),
			allChecks(env.checkBackend(), env.history("1 superseded", "2 superseded", "3 superseded", "4 superseded", "5 failed", "6 deployed"),
				env.expectKubectl("", "get", "jobs", "-o", "name")))),
	)
	if got := env.kubectl("get", "configmaps,secrets", "-o", "name"); got != "configmap/kube-root-ca.crt\nconfigmap/test-numbers" {
		t.Errorf("after the termination there are: %s", got)
	}
}

// packedChart puts the chart of the package ims-helm into an archive.
func packedChart(t testing.TB, dir string) {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	require.NoError(t, w.AddFS(os.DirFS(filepath.Join(dir, "Artifacts", "Charts"))))
	require.NoError(t, w.Close())
	require.NoError(t, zipped.Close())
	acctest.Write(t, dir, "Files/ims.tgz", b.String())
}

// TestAccInstance_helmArchive takes the chart from an archive, by parameters alone,
// in a namespace that only the VIM knows: the objects are known once it is there. A
// scale that is not one of values makes no revision.
func TestAccInstance_helmArchive(t *testing.T) {
	env := newEnv(t)
	vim := strings.Replace(acctest.VIM(env, env.lab, "test"), "kubernetes = {", fmt.Sprintf("kubernetes = {\n default_namespace = %q", env.namespace), 1)
	config := func(source string, arguments ...string) string {
		return env.store.Config(vim, pkg(source), env.instanceWith(append(arguments, "namespace = null", chartParams(`helm_chart_path = "Files/ims.tgz"`, `helm_release_name = "test"`))...))
	}
	archive := ims(t, packedChart)
	env.run(t,
		resource.TestStep{
			Config: config(archive),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectUnknownValue(address, tfjsonpath.New("operations")),
			}},
			ConfigStateChecks: []statecheck.StateCheck{instantiated(), value("namespace", knownvalue.StringExact(env.namespace))},
			Check:             allChecks(env.checkBackend(7), env.history("1 deployed")),
		},
		applied(config(archive, "scale_levels = { calls = 2 }"), allChecks(env.checkBackend(), env.history("1 deployed"), env.expectKubectl("3", "get", "deployment", "test-cscf", "-o", "jsonpath={.status.readyReplicas}"))),
		applied(config(archive, `operational_state = "stopped"`), allChecks(env.checkBackend(), env.history("1 deployed"), env.expectKubectl("0", "get", "statefulset", "test-hss", "-o", "jsonpath={.spec.replicas}"))),
	)
	if got := env.kubectl("get", "configmaps,secrets", "-o", "name"); got != "configmap/kube-root-ca.crt" {
		t.Errorf("after the termination there are: %s", got)
	}
}

// TestAccInstance_helmHookFails creates an instance whose last hook fails: what
// exists stays, and the next apply goes on.
func TestAccInstance_helmHookFails(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	crash := inChart("templates/provision.yaml", "    metadata:\n      labels:", "    metadata:\n      annotations: { lab.vnf/fail: crash }\n      labels:")
	env.run(t,
		resource.TestStep{
			Config:             env.configFor(ims(t, crash), chartParams(byValue), resume),
			ExpectNonEmptyPlan: true,
			ConfigStateChecks:  []statecheck.StateCheck{failedTemp()},
			Check: allChecks(env.history("1 failed"), env.expectKubectl("job.batch/test-provision", "get", "jobs", "-o", "name"),
				env.diagnostics.HasWarning(`(?s)Is Not Instantiated Yet: .*the post-install hook batch/v1/Job test-provision .*failed: .*panic: cannot reach database`)),
		},
		updated(env.configFor(ims(t), chartParams(byValue)), allChecks(env.checkBackend(), env.history("1 failed", "2 deployed"), env.expectLastOperations(t, "INSTANTIATE COMPLETED"))),
		// A new name is a new release: what was of the old one goes.
		updated(env.store.Config(acctest.VIM(env, env.lab, "test"), pkg(ims(t)), env.instanceWith(`name = "ims"`, chartParams(byValue))),
			allChecks(env.checkBackend(), env.expectKubectl("ims", "get", "secrets", "-l", "owner=helm", "-o", "jsonpath={.items[*].metadata.labels.name}"))),
	)
}

// vdu is what the attribute vdus says of one.

// TestAccInstance_helmTested counts a revision as deployed when its tests have
// succeeded, and goes back to the revision before when those of another one fail.
func TestAccInstance_helmTested(t *testing.T) {
	env := newEnv(t)
	tested := chartParams(byValue, "helm_test = true")
	broken := ims(t, inChart("templates/tests/register.yaml", "labels: { app.kubernetes.io/name: register }", "annotations: { lab.vnf/fail: crash }"),
		inChart("values.yaml", "tag: 1.0.0", "tag: 2.0.0"))
	image := func(want string) resource.TestCheckFunc {
		return func(*terraform.State) error {
			if got := env.kubectl("get", "deployments", "-o", "jsonpath={..image}"); !strings.Contains(got, want) {
				return fmt.Errorf("the images are %s, want %s", got, want)
			}
			return nil
		}
	}
	env.run(t,
		applied(env.configFor(examplePackage(t, "ims-helm"), tested), allChecks(env.history("1 deployed"), image("1.0.0"), env.deployed(func(r *release.Release) error {
			for _, h := range r.Hooks {
				if slices.Contains(h.Events, release.HookTest) && h.LastRun.Phase != release.HookPhaseSucceeded {
					return fmt.Errorf("the test %s is %q", h.Name, h.LastRun.Phase)
				}
			}
			return nil
		}))),
		resource.TestStep{
			Config:      env.configFor(broken, tested, `on_failure = "rollback"`),
			ExpectError: sentence(`Unable to Update VNF Instance "test"`, `the test hook`, `failed`, `The state before the operation is restored`),
		},
		resource.TestStep{
			Config:             env.configFor(broken, tested, `on_failure = "rollback"`),
			PlanOnly:           true,
			ExpectNonEmptyPlan: true,
			Check:              image("1.0.0"),
		},
		resource.TestStep{
			Config: env.configFor(examplePackage(t, "ims-helm"), tested),
			Check:  allChecks(image("1.0.0"), env.history("1 superseded", "2 failed", "3 deployed")),
		},
	)
}
