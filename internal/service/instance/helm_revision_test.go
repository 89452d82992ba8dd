package instance_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
)

// revisionTemplate has a Job for each revision, and a ConfigMap that shows how it was rendered, a number that a Service got from the
// cluster, and what others have configured, a part of it secret.
const revisionTemplate = `apiVersion: batch/v1
kind: Job
metadata: { name: {{ .Release.Name }}-migrate-{{ .Release.Revision }} }
spec: { template: { spec: { restartPolicy: Never, containers: [ { name: migrate, image: "registry.example.com/ims/migrate:1" } ] } } }
---
{{- $service := lookup "v1" "Service" .Release.Namespace (printf "%s-cscf" .Release.Name) }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-revision
  annotations: { upgrade: "{{ .Release.IsUpgrade }}" }
data:
  address: "{{ if $service }}{{ $service.spec.type }}{{ end }}"
  zone: {{ (lookup "v1" "ConfigMap" .Release.Namespace "zone").data.zone }}
  greeting: {{ (lookup "v1" "Secret" .Release.Namespace "token").data.token | b64dec }}
  zones: "{{ len (lookup "v1" "ConfigMap" .Release.Namespace "").items | lt 0 }}"
`

// TestAccInstance_helmRevisions leads a chart that looks at its revision and at the cluster through three of them, beside Helm's own
// command: the first is an installation, the others are upgrades.
func TestAccInstance_helmRevisions(t *testing.T) {
	env := newEnv(t)
	own := newCommand(env)
	besides := env.elsewhere()
	beside := newCommand(besides)
	source := ims(t, chartFile("templates/login.yaml", loginTemplate), chartFile("templates/revision.yaml", revisionTemplate))
	config := func(domain string) string {
		return env.configFor(source, chartParams(byValue, fmt.Sprintf(`helm_parameters = { "cscf.domain" = %q }`, domain)))
	}
	shown := func(env *testEnv) string {
		return env.kubectl("get", "configmap", "test-revision", "-o", "jsonpath={.metadata.annotations.upgrade} {.data.address} {.data.greeting} {.data.zone} {.data.zones}") + " " +
			strings.Join(strings.Fields(env.kubectl("get", "jobs", "-o", "name")), " ")
	}
	password := func(env *testEnv) string {
		return env.kubectl("get", "secret", "test-login", "-o", "jsonpath={.data.password}")
	}
	passwords := map[*testEnv]string{}
	// asHelm has Helm's command make the same revision and compares.
	asHelm := func(domain, want string) resource.TestCheckFunc {
		return func(*terraform.State) error {
			beside.Run(t, "upgrade", "--install", "test", filepath.Join(source, filepath.FromSlash(imsChart)), "--set", "cscf.domain="+domain, "--no-hooks")
			for _, e := range []*testEnv{besides, env} {
				got := shown(e)
				if e == env {
					got = strings.Replace(got, "job.batch/test-provision ", "", 1)
				}
				if got != want {
					return fmt.Errorf("namespace %s has %s, want %s", e.namespace, got, want)
				}
				if now := password(e); passwords[e] != "" && passwords[e] != now {
					return fmt.Errorf("namespace %s has another password", e.namespace)
				}
				passwords[e] = password(e)
			}
			return nil
		}
	}
	zone := func(name string) func() {
		return func() {
			for _, e := range []*testEnv{env, besides} {
				e.kubectl("delete", "configmap", "zone", "--ignore-not-found")
				e.kubectl("create", "configmap", "zone", "--from-literal", "zone="+name)
				e.kubectl("delete", "secret", "token", "--ignore-not-found")
				e.kubectl("create", "secret", "generic", "token", "--from-literal", "token=planted-greeting-"+name)
			}
		}
	}
	empty := resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
	// What the plan shows of the ConfigMap has nothing of the Secret.
	quiet := resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{planHides("planted-greeting")}, PostApplyPostRefresh: empty.PostApplyPostRefresh}
	step := func(domain, zoned, want string, history ...string) resource.TestStep {
		return resource.TestStep{
			PreConfig: zone(zoned), Config: config(domain), ConfigPlanChecks: quiet, ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check: allChecks(env.history(history...), asHelm(domain, want)),
		}
	}
	drifted := resource.TestStep{
		// What lookup would find now is no drift, and a repair is no revision.
		PreConfig: func() {
			zone("d")()
			env.kubectl("patch", "configmap", "test-revision", "-p", `{"data":{"zone":"other"}}`)
		},
		Config: config("two.example.org"),
		ConfigPlanChecks: resource.ConfigPlanChecks{
			PreApply:             []plancheck.PlanCheck{expectPrior{"v1/ConfigMap test-revision", "data.zone (changed by kubectl-patch)"}, expectPrior{"v1/ConfigMap test-cscf", ""}},
			PostApplyPostRefresh: empty.PostApplyPostRefresh,
		},
		Check: allChecks(env.history("1 superseded", "2 deployed"), env.expectKubectl("b true", "get", "configmap", "test-revision", "-o", "jsonpath={.data.zone} {.metadata.annotations.upgrade}")),
	}
	env.run(t,
		step("one.example.org", "a", `false  planted-greeting-a a true job.batch/test-migrate-1`, "1 deployed"),
		step("two.example.org", "b", `true ClusterIP planted-greeting-b b true job.batch/test-migrate-2`, "1 superseded", "2 deployed"),
		drifted,
		step("three.example.org", "c", `true ClusterIP planted-greeting-c c true job.batch/test-migrate-3`, "1 superseded", "2 superseded", "3 deployed"),
		resource.TestStep{
			// A forced upgrade beside the provider is taken back as the revision that it was.
			PreConfig: func() {
				own.Run(t, "upgrade", "test", filepath.Join(source, filepath.FromSlash(imsChart)), "--set", "cscf.domain=four.example.org", "--force-conflicts", "--no-hooks")
			},
			Config: config("three.example.org"), ConfigPlanChecks: empty,
			Check: allChecks(env.history("1 superseded", "2 superseded", "3 superseded", "4 superseded", "5 deployed"), env.expectKubectl("c", "get", "configmap", "test-revision", "-o", "jsonpath={.data.zone}"),
				env.expectKubectl("job.batch/test-migrate-3", "get", "jobs", "-o", "name", "-l", "app.kubernetes.io/managed-by=Helm")),
		},
	)
}
