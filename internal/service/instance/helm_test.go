package instance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	release "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage"
	"helm.sh/helm/v4/pkg/storage/driver"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
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
func (w *world) releases(name string) []*release.Release {
	w.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", w.lab.Kubeconfig)
	if err != nil {
		w.Fatal(err)
	}
	client, err := corev1.NewForConfig(config)
	if err != nil {
		w.Fatal(err)
	}
	all, err := storage.Init(driver.NewSecrets(client.Secrets(w.namespace))).History(name)
	if err != nil {
		w.Fatal(err)
	}
	var out []*release.Release
	for _, r := range all {
		read, ok := r.(*release.Release)
		if !ok {
			w.Fatalf("a record of release %s is a %T", name, r)
		}
		out = append(out, read)
	}
	slices.SortFunc(out, func(a, b *release.Release) int { return a.Version - b.Version })
	return out
}

// history checks the revisions of the release "test", as "revision status".
func (w *world) history(want ...string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		var got []string
		for _, r := range w.releases("test") {
			got = append(got, fmt.Sprintf("%d %s", r.Version, r.Info.Status))
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("history of the release: %v, want %v", got, want)
		}
		return nil
	}
}

// deployed checks the last revision of the release "test".
func (w *world) deployed(check func(*release.Release) error) resource.TestCheckFunc {
	return func(*terraform.State) error {
		all := w.releases("test")
		return check(all[len(all)-1])
	}
}

// TestAccInstance_helm leads a chart through its life.
func TestAccInstance_helm(t *testing.T) {
	w := newWorld(t)
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
	const deployment, policy = "apps/v1/Deployment test-cscf", "networking.k8s.io/v1/NetworkPolicy test-cscf"
	object := func(key string) tfjsonpath.Path { return tfjsonpath.New("objects").AtMapKey(key) }
	w.run(t,
		resource.TestStep{
			Config: w.over(ims(t), chartParams(byValue, `helm_parameters = { "cscf.domain" = "ims.example.org" }`)),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectKnownValue(address, tfjsonpath.New("objects"), knownvalue.MapSizeExact(7)),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("vdus"), knownvalue.MapExact(map[string]knownvalue.Check{
					"cscf": vdu("Deployment", "test-cscf", 1), "hss": vdu("StatefulSet", "test-hss", 1),
				})),
			}},
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check: also(w.whole(), w.history("1 deployed"),
				w.gets("ims.example.org", "get", "configmap", "test-cscf", "-o", "jsonpath={.data.domain}"),
				w.gets("Helm test "+w.namespace, "get", "deployment", "test-cscf", "-o",
					`jsonpath={.metadata.labels.app\.kubernetes\.io/managed-by} {.metadata.annotations.meta\.helm\.sh/release-name} {.metadata.annotations.meta\.helm\.sh/release-namespace}`),
				w.gets("", "get", "jobs,pods", "-l", "app.kubernetes.io/name=ims", "-o", "name"),
				w.deployed(func(r *release.Release) error {
					ran := slices.ContainsFunc(r.Hooks, func(h *release.Hook) bool {
						return h.Name == "test-provision" && h.LastRun.Phase == release.HookPhaseSucceeded
					})
					if r.Chart.Metadata.Version != "1.0.0" || r.Namespace != w.namespace || !strings.Contains(r.Manifest, "name: test-hss") ||
						!ran || !strings.HasPrefix(r.Info.Notes, "Calls for ims.example.org go to test-cscf") {
						return fmt.Errorf("the record does not say what was deployed, the hook ran %t: %+v, %+v", ran, r, r.Info)
					}
					return nil
				})),
		},
		resource.TestStep{
			PreConfig: func() { w.kubectl("set", "image", "deployment/test-cscf", "cscf=registry.example.com/other:1") },
			Config:    w.over(ims(t), chartParams(byValue, `helm_parameters = { cscf = { domain = "ims.example.org" } }`)),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
				expectPrior{deployment, "drifted: spec.template.spec.containers[name=cscf].image"},
			}},
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check: also(w.whole(), w.history("1 deployed"),
				w.gets("registry.example.com/ims/cscf:1.0.0", "get", "deployment", "test-cscf", "-o", "jsonpath={.spec.template.spec.containers[0].image}")),
		},
		resource.TestStep{
			Config: w.over(ims(t), chartParams(byValue), "scale_levels = { calls = 2 }"),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectKnownValue(address, tfjsonpath.New("vdus").AtMapKey("cscf").AtMapKey("replicas"), knownvalue.Int64Exact(3)),
			}},
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check: also(w.whole(), w.history("1 superseded", "2 superseded", "3 deployed"),
				w.gets("30000", "get", "configmap", "test-cscf", "-o", "jsonpath={.data.capacity}"),
				w.gets("3", "get", "deployment", "test-cscf", "-o", "jsonpath={.status.readyReplicas}")),
		},
		resource.TestStep{
			Config: w.over(ims(t, second...), chartParams(byValue), "scale_levels = { calls = 2 }"),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectKnownValue(address, object(policy), knownvalue.NotNull()),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("objects"), knownvalue.MapSizeExact(8)),
			}},
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check: also(w.whole(), w.history("1 superseded", "2 superseded", "3 superseded", "4 deployed"),
				w.gets("", "get", "poddisruptionbudgets", "-o", "name"),
				w.deployed(func(r *release.Release) error {
					if r.Chart.Metadata.Version != "1.1.0" || strings.Contains(r.Manifest, "PodDisruptionBudget") {
						return fmt.Errorf("revision 4 is chart %s with %s", r.Chart.Metadata.Version, r.Manifest)
					}
					return nil
				})),
		},
		resource.TestStep{
			Config: w.over(ims(t, append(slices.Clone(second), crash)...), chartParams(byValue), "scale_levels = { calls = 2 }"),
			ExpectError: sentence("the post-upgrade hook batch/v1/Job test-provision ("+imsChart+"templates/provision.yaml) failed",
				"panic: cannot reach database", "FAILED_TEMP"),
		},
		resource.TestStep{
			PreConfig: func() {
				if err := w.history("1 superseded", "2 superseded", "3 superseded", "4 deployed", "5 failed")(nil); err != nil {
					t.Error(err)
				}
			},
			Config:            w.over(ims(t, second...), chartParams(byValue), "scale_levels = { calls = 2 }"),
			ConfigPlanChecks:  updates(),
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check: also(w.whole(), w.history("1 superseded", "2 superseded", "3 superseded", "4 superseded", "5 failed", "6 deployed"),
				w.gets("", "get", "jobs", "-o", "name")),
		},
	)
	if got := w.kubectl("get", "configmaps,secrets", "-o", "name"); got != "configmap/kube-root-ca.crt\nconfigmap/test-numbers" {
		t.Errorf("after the termination there are: %s", got)
	}
}

// vdu is what the attribute vdus says of one.
func vdu(kind, name string, replicas int64) knownvalue.Check {
	return knownvalue.ObjectExact(map[string]knownvalue.Check{
		"kind": knownvalue.StringExact(kind), "name": knownvalue.StringExact(name),
		"replicas": knownvalue.Int64Exact(replicas), "autoscaled": knownvalue.Bool(false),
	})
}
