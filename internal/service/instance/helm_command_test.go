package instance_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// releaseKey is how the release of the chart is listed among the objects.
const releaseKey = "helm.sh/v1/Release test"

// command is Helm's own command beside an environment.
type command struct {
	labtest.Helm
	testEnv *testEnv
}

func newCommand(env *testEnv) command {
	env.Helper()
	return command{env.lab.Helm(env, env.namespace), env}
}

// expectJSON checks what the command prints as JSON, as far as want has it.
func (c command) expectJSON(want string, args ...string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		out, err := c.Try(c.testEnv.Context(), append(args, "-o", "json")...)
		if err != nil {
			return err
		}
		var got, wanted any
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			return fmt.Errorf("helm %s: %w: %s", strings.Join(args, " "), err, out)
		}
		if err := json.Unmarshal([]byte(want), &wanted); err != nil {
			return err
		}
		if diff := cmp.Diff(wanted, part(got, wanted)); diff != "" {
			return fmt.Errorf("helm %s (-want +got):\n%s", strings.Join(args, " "), diff)
		}
		return nil
	}
}

// part is what of a value another one has the fields of.
func part(value, like any) any {
	switch like := like.(type) {
	case map[string]any:
		fields, ok := value.(map[string]any)
		if !ok {
			return value
		}
		out := map[string]any{}
		for name := range like {
			if field, present := fields[name]; present {
				out[name] = part(field, like[name])
			}
		}
		return out
	case []any:
		items, ok := value.([]any)
		if !ok || len(items) != len(like) {
			return value
		}
		out := make([]any, 0, len(items))
		for i := range items {
			out = append(out, part(items[i], like[i]))
		}
		return out
	default:
		return value
	}
}

// prints checks that the output of the command holds texts.
func (c command) prints(args []string, want ...string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		out, err := c.Try(c.testEnv.Context(), args...)
		if err != nil {
			return err
		}
		for _, text := range want {
			if !strings.Contains(out, text) {
				return fmt.Errorf("helm %s does not say %q:\n%s", strings.Join(args, " "), text, out)
			}
		}
		return nil
	}
}

// TestAccInstance_helmCommand looks at a release with Helm's own command: it shows
// what it would show of one that it had made.
func TestAccInstance_helmCommand(t *testing.T) {
	env := newEnv(t)
	helm := newCommand(env)
	next := inChart("Chart.yaml", "version: 1.0.0\nappVersion: 1.0.0", "version: 1.1.0\nappVersion: 2.0.0")
	domain := `helm_parameters = { "cscf.domain" = "ims.example.org" }`
	env.run(t,
		applied(env.configFor(ims(t), chartParams(byValue)), allChecks(
			helm.expectJSON(`[{"name": "test", "namespace": "`+env.namespace+`", "revision": "1", "status": "deployed", "chart": "ims-1.0.0", "app_version": "1.0.0"}]`, "list"),
			helm.expectJSON(`[{"revision": 1, "status": "deployed", "chart": "ims-1.0.0", "app_version": "1.0.0", "description": "Install complete"}]`, "history", "test"),
			helm.expectJSON(`{"cscf": {"replicas": 1}}`, "get", "values", "test"))),
		applied(env.configFor(ims(t), chartParams(byValue, domain)), allChecks(
			helm.expectJSON(`[{"name": "test", "revision": "2", "status": "deployed"}]`, "list"),
			helm.expectJSON(`{"cscf": {"replicas": 1, "domain": "ims.example.org"}}`, "get", "values", "test"),
			helm.expectJSON(`{"cscf": {"replicas": 1, "domain": "ims.example.org", "registrations": 10000}, "hss": {"enabled": true, "replicas": 1}}`, "get", "values", "test", "--all"))),
		applied(env.configFor(ims(t, next), chartParams(byValue, domain), "scale_levels = { calls = 1 }"),
			allChecks(
				helm.expectJSON(`[{"name": "test", "revision": "4", "status": "deployed", "chart": "ims-1.1.0", "app_version": "2.0.0"}]`, "list"),
				helm.expectJSON(`[
					{"revision": 1, "status": "superseded", "chart": "ims-1.0.0", "app_version": "1.0.0"},
					{"revision": 2, "status": "superseded", "chart": "ims-1.0.0", "description": "Upgrade complete"},
					{"revision": 3, "status": "superseded", "chart": "ims-1.1.0", "app_version": "2.0.0"},
					{"revision": 4, "status": "deployed", "chart": "ims-1.1.0", "app_version": "2.0.0", "description": "Upgrade complete"}]`, "history", "test"),
				helm.expectJSON(`{"name": "test", "version": 4, "namespace": "`+env.namespace+`", "config": {"cscf": {"replicas": 2}},
					"info": {"status": "deployed", "description": "Upgrade complete", "notes": "Calls for ims.example.org go to test-cscf.`+env.namespace+`.svc.\n"}}`, "status", "test"),
				helm.prints([]string{"get", "manifest", "test"}, "# Source: ims/templates/cscf.yaml", "# Source: ims/charts/hss/templates/hss.yaml", "replicas: 2"),
				helm.prints([]string{"get", "manifest", "test", "--revision", "1"}, "domain: ims.example.com", "replicas: 1"),
				helm.prints([]string{"get", "hooks", "test"}, "name: test-provision", "name: test-register"),
				helm.prints([]string{"status", "test"}, "STATUS: deployed", "REVISION: 4", "Calls for ims.example.org"),
				// Helm waits that long for the end of a Job that there never was.
				helm.prints([]string{"test", "test", "--timeout", "30s"}, "TEST SUITE:     test-register", "Phase:          Succeeded"),
				env.expectKubectl("job.batch/test-register", "get", "jobs", "-o", "name"))),
	)
}

// withMore adds objects and fields to the chart that only Helm's command knows.
func withMore(t testing.TB) string {
	t.Helper()
	return filepath.Join(ims(t,
		chartFile("templates/more.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: {{ .Release.Name }}-more }\n"),
		inChart("templates/cscf.yaml", "          envFrom:", "          env:\n            - { name: DEBUG, value: all }\n          envFrom:"),
	), filepath.FromSlash(imsChart))
}

// checkNoManagedFields checks that Helm's command owns no field of what the instance consists of.
func (c command) checkNoManagedFields(*terraform.State) error {
	managers := strings.Fields(c.testEnv.kubectl("get", "deployments,configmaps,services,serviceaccounts,statefulsets,poddisruptionbudgets",
		"-l", "vnf.nfv-iac.github.io/instance-id", "--show-managed-fields", "-o", "jsonpath={.items[*].metadata.managedFields[*].manager}"))
	if len(managers) == 0 || slices.Contains(managers, "helm") {
		return fmt.Errorf("the managers are %v", managers)
	}
	return nil
}

// TestAccInstance_helmAdopts makes an instance of a release that Helm has installed: its revisions go on, nothing is replaced, and what
// Helm has generated stays.
func TestAccInstance_helmAdopts(t *testing.T) {
	env := newEnv(t)
	helm := newCommand(env)
	source := ims(t, chartFile("templates/login.yaml", loginTemplate), chartFile("templates/token.yaml",
		"apiVersion: v1\nkind: Secret\nmetadata: { name: {{ .Release.Name }}-token }\nstringData: { url: \"http://ims:{{ randAlphaNum 20 }}@hss\", lost: {{ randAlphaNum 9 | sha256sum }} }\n"))
	next := `helm_parameters = { "cscf.domain" = "ims.example.org" }`
	generated := func() string {
		return env.kubectl("get", "secret", "test-login", "-o", "jsonpath={.data}") + env.kubectl("get", "secret", "test-token", "-o", "jsonpath={.data.url}")
	}
	var before, secrets string
	env.run(t,
		resource.TestStep{
			PreConfig: func() {
				helm.Run(t, "install", "test", filepath.Join(source, filepath.FromSlash(imsChart)))
				before, secrets = env.uid("deployment/test-cscf"), generated()
			},
			Config:      env.configFor(source, chartParams(byValue)),
			ExpectError: sentence("The Helm release test in namespace "+env.namespace+" belongs to no VNF instance", "set adopt_existing to take it over"),
		},
		resource.TestStep{
			Config: env.configFor(source, chartParams(byValue)), PlanOnly: true,
			ExpectError: sentence("The Helm release test in namespace "+env.namespace+" belongs to no VNF instance", ", of the Helm release test in namespace "+env.namespace+")"),
		},
		applied(env.configFor(source, chartParams(byValue, next), "adopt_existing = true"),
			allChecks(env.checkBackend(), helm.checkNoManagedFields, env.history("1 superseded", "2 deployed"),
				env.diagnostics.HasWarning(`(?s)does not show all.*randAlphaNum in\s+ims/templates/token.yaml`),
				env.expectKubectl("ims.example.org", "get", "configmap", "test-cscf", "-o", "jsonpath={.data.domain}"),
				func(*terraform.State) error {
					if got := env.uid("deployment/test-cscf"); got != before {
						return fmt.Errorf("the Deployment was replaced")
					}
					if got := generated(); got != secrets {
						return fmt.Errorf("the generated secrets were %s and are %s", secrets, got)
					}
					return nil
				})),
	)
}

// TestAccInstance_helmBehindOurBack lets somebody use Helm's command on the release:
// the next plan shows it, and the next apply makes a revision that puts it right.
func TestAccInstance_helmBehindOurBack(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	helm := newCommand(env)
	source := ims(t)
	config := func(domain string) string {
		return env.configFor(source, chartParams(byValue, fmt.Sprintf(`helm_parameters = { "cscf.domain" = %q }`, domain)), "scale_levels = { calls = 1 }")
	}
	domain := func(want string) resource.TestCheckFunc {
		return env.expectKubectl(want, "get", "configmap", "test-cscf", "-o", "jsonpath={.data.domain}")
	}
	deployment := func(want string) resource.TestCheckFunc {
		return env.expectKubectl(want, "get", "deployment", "test-cscf", "-o", "jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image} {.spec.template.spec.containers[0].env}")
	}
	const deployed = "2 registry.example.com/ims/cscf:1.0.0"
	var failed error
	env.run(t,
		resource.TestStep{Config: config("one.example.org"), Check: env.history("1 deployed")},
		resource.TestStep{Config: config("two.example.org"), Check: allChecks(domain("two.example.org"), env.history("1 superseded", "2 deployed"))},
		resource.TestStep{
			PreConfig: func() { helm.Run(t, "rollback", "test", "1", "--force-conflicts") },
			Config:    config("two.example.org"),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
				expectPrior{releaseKey, "manifest of revision 3, values of revision 3"},
				expectPrior{"v1/ConfigMap test-cscf", "data.domain (changed by helm)"},
			}},
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check: allChecks(env.checkBackend(), domain("two.example.org"), deployment(deployed), helm.checkNoManagedFields,
				env.history("1 superseded", "2 superseded", "3 superseded", "4 deployed")),
		},
		resource.TestStep{
			// Fields are guarded by who owns them: without force nothing is changed.
			PreConfig: func() { _, failed = helm.Try(t.Context(), "rollback", "test", "1") },
			Config:    config("two.example.org"),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
				expectPrior{releaseKey, "revision 5 is failed"},
				expectPrior{"v1/ConfigMap test-cscf", ""},
			}},
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check: allChecks(env.checkBackend(), domain("two.example.org"), helm.checkNoManagedFields,
				env.history("1 superseded", "2 superseded", "3 superseded", "4 superseded", "5 failed", "6 deployed"),
				func(*terraform.State) error {
					if failed == nil || !strings.Contains(failed.Error(), `conflict with "terraform-provider-vnf": .data.domain`) {
						return fmt.Errorf("helm rollback: %w", failed)
					}
					return nil
				}),
		},
		resource.TestStep{
			PreConfig: func() {
				helm.Run(t, "upgrade", "test", withMore(t), "--reuse-values", "--set", "cscf.replicas=4,image.tag=9.0.0", "--force-conflicts")
			},
			Config: config("two.example.org"),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
				expectPrior{releaseKey, "chart of revision 7, manifest of revision 7, values of revision 7"},
				expectPrior{"apps/v1/Deployment test-cscf", "spec.replicas is 4, not 2, spec.template.spec.containers[name=cscf].image (changed by helm)"},
			}},
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check: allChecks(env.checkBackend(), deployment(deployed), helm.checkNoManagedFields, env.expectKubectl("", "get", "configmap", "test-more", "--ignore-not-found", "-o", "name"),
				helm.expectJSON(`[{"name": "test", "revision": "8", "status": "deployed"}]`, "list")),
		},
		resource.TestStep{
			PreConfig: func() { helm.Run(t, "uninstall", "test", "--keep-history") },
			Config:    config("two.example.org"),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
				expectPrior{releaseKey, "revision 8 is uninstalled"},
			}},
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check: allChecks(env.checkBackend(), deployment(deployed),
				helm.expectJSON(`[{"name": "test", "revision": "9", "status": "deployed"}]`, "list"),
				helm.prints([]string{"history", "test", "--max", "1"}, "Install complete")),
		},
		after(func() { helm.Run(t, "uninstall", "test") }, updated(config("two.example.org"), allChecks(env.checkBackend(), deployment(deployed), env.history("1 deployed")))),
		resource.TestStep{
			// Objects that Helm's command has made are removed with the instance, also when no apply
			// has seen it.
			PreConfig: func() { helm.Run(t, "upgrade", "test", withMore(t), "--reuse-values", "--force-conflicts") },
			Config:    config("two.example.org"),
			Destroy:   true,
		},
	)
	if got := env.kubectl("get", "configmaps,secrets,deployments", "-o", "name"); got != "configmap/kube-root-ca.crt" {
		t.Errorf("after the termination there are: %s", got)
	}
}
