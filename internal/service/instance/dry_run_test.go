package instance_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// refusedPlans are plans that the API server refuses, against the package hello.
func refusedPlans() map[string]struct {
	edits []edit
	want  []string
} {
	return map[string]struct {
		edits []edit
		want  []string
	}{
		"invalid": {
			edits: []edit{manifests("targetPort: http", "targetPort: not_a_port")},
			want:  want(`v1/Service web would be rejected by the API server`, `At Files/kubernetes/web.yaml:9:1.`, `Service "web" is invalid: spec.ports[0].targetPort: Invalid value: "not_a_port"`),
		},
		"unknown field": {
			edits: []edit{manifests("  replicas: 1\n", "  replicas: 1\n  replica: 1\n")},
			want:  want(`apps/v1/Deployment web would be rejected by the API server`, `At Files/kubernetes/web.yaml:18:1.`, `.spec.replica: field not declared in schema`),
		},
		"unchangeable": {
			edits: []edit{
				manifests("matchLabels: { app.kubernetes.io/name: web }", "matchLabels: { app.kubernetes.io/name: other }"),
				manifests("labels: { app.kubernetes.io/name: web }\n    spec", "labels: { app.kubernetes.io/name: other }\n    spec"),
			},
			want: want(`apps/v1/Deployment web would be rejected by the API server`, `spec.selector: Invalid value`, `field is immutable`, `Kubernetes does not allow a change of this field: give the object another name, or name it in replace_objects ("apps/v1/Deployment web") so that it is deleted and created again.`),
		},
		"secret": {
			edits: []edit{with("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ntype: kubernetes.io/tls\nstringData: {tls.crt: planted-secret-value}\n")},
			want:  want(`v1/Secret a would be rejected by the API server`, `At Files/kubernetes/more.yaml:1:1.`, `data[tls.key]: Required value`),
		},
	}
}

// TestAccInstance_dryRun plans changes that the API server refuses: the plan says
// so, and nothing was done.
func TestAccInstance_dryRun(t *testing.T) {
	env := newEnv(t)
	steps := []resource.TestStep{{Config: env.config("hello"), ConfigStateChecks: []statecheck.StateCheck{instantiated()}, Check: env.diagnostics.NoWarnings()}}
	for _, c := range refusedPlans() {
		steps = append(steps, resource.TestStep{Config: env.configFor(hello(t, c.edits...)), PlanOnly: true, ExpectError: sentence(c.want...)})
	}
	bad := hello(t, manifests("targetPort: http", "targetPort: not_a_port"))
	steps = append(steps,
		// Without the dry run it is the apply that is refused.
		resource.TestStep{Config: env.configFor(bad, `server_dry_run = false`), ExpectError: sentence(`Unable to Update VNF Instance "test"`, `not_a_port`)},
		resource.TestStep{Config: env.config("hello"), ConfigStateChecks: []statecheck.StateCheck{instantiated()}},
		// A new instance on the same VIM.
		resource.TestStep{
			Config:   env.config("hello") + strings.ReplaceAll(pkg(bad), `"test"`, `"bad"`) + strings.ReplaceAll(env.second(), "vnf_package.test.id", "vnf_package.bad.id"),
			PlanOnly: true, ExpectError: sentence(`v1/Service web would be rejected by the API server`, `with vnf_instance.second`, `not_a_port`, `If this stops a destroy, "terraform destroy -refresh=false" goes on`),
		},
	)
	env.run(t, steps...)
}

const job = `apiVersion: batch/v1
kind: Job
metadata: { name: migrate }
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{ name: migrate, image: registry.example.com/hello/migrate:1.0.0 }]
`

// TestAccInstance_dryRunForNow plans what the API server refuses as things stand:
// warnings, no error, and nothing of what the apply cures by itself.
func TestAccInstance_dryRunForNow(t *testing.T) {
	env := newEnv(t)
	kinds, _ := env.cells()
	cell := "---\napiVersion: " + env.group() + "/v1\nkind: Cell\nmetadata: { name: a }\nspec: { band: 1 }\n"
	newer := strings.Replace(job, "1.0.0", "2.0.0", 1)
	env.run(t,
		resource.TestStep{Config: env.configFor(hello(t, with(job)))},
		// A Job that cannot be changed is replaced; a kind comes with its definition.
		applied(env.configFor(hello(t, with(kinds+cell+"---\n"+newer))), allChecks(env.diagnostics.NoWarnings(), env.checkBackend())),
		resource.TestStep{
			// A quota that is used up now may be raised before the apply.
			PreConfig: func() { env.lab.Quota(env, env.namespace, "none", "count/configmaps", 0) },
			Config:    env.configFor(hello(t, with(kinds+cell+"---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: more }\n"))), PlanOnly: true, ExpectNonEmptyPlan: true,
		},
		// The definition is served, and its own form changes with the resource.
		after(func() { env.kubectl("delete", "quota", "none") }, applied(env.configFor(hello(t, with(strings.Replace(kinds, "band: {", "sector: { type: integer }, band: {", 1)+strings.Replace(cell, "band: 1", "band: 1, sector: 2", 1)))),
			allChecks(env.checkBackend(), env.diagnostics.HasWarning(`(?m)^The API server would currently reject objects: v1/ConfigMap more \(Files/kubernetes/more.yaml:\d+\): [^\n]*exceeded quota: none[^\n]*\nThe apply tries them again`)))),
		resource.TestStep{
			Config:      env.configFor(hello(t, with(strings.Replace(kinds, "band: {", "sector: { type: integer }, band: {", 1)+strings.Replace(cell, "band: 1", "band: 0", 1)))),
			PlanOnly:    true,
			ExpectError: sentence(env.group()+`/v1/Cell a would be rejected by the API server`, `spec.band: Invalid value: 0`),
		},
	)
}

// refuseServices is a policy of the API server that refuses Services in a namespace.
const refuseServices = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: %[1]s }
spec:
  matchConstraints:
    namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: %[1]s } }
    resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["services"] }]
  validations: [{ expression: "false", message: "no services today" }]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: %[1]s }
spec: { policyName: %[1]s, validationActions: [Deny] }
`

// TestAccInstance_dryRunOfARepair plans a repair that the API server refuses: a warning, which does not stop the destroy that such a
// plan precedes.
func TestAccInstance_dryRunOfARepair(t *testing.T) {
	env := newEnv(t)
	refuse := func() {
		file := filepath.Join(t.TempDir(), "policy.yaml")
		require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, refuseServices, env.namespace), 0o600))
		env.kubectl("apply", "-f", file)
		t.Cleanup(func() {
			_, err := env.lab.TryKubectl(context.WithoutCancel(t.Context()), "delete", "validatingadmissionpolicy,validatingadmissionpolicybinding", env.namespace)
			assert.NoError(t, err)
		})
		labtest.Eventually(t, time.Minute, "the policy refuses", func() error {
			_, err := env.lab.TryKubectl(t.Context(), "create", "service", "clusterip", "probe", "--tcp=80", "-n", env.namespace, "--dry-run=server")
			if err == nil {
				return errors.New("it does not")
			}
			return nil
		})
		env.kubectl("delete", "service", "web")
	}
	env.run(t,
		resource.TestStep{Config: env.config("hello")},
		resource.TestStep{PreConfig: refuse, Config: env.config("hello"), PlanOnly: true, ExpectNonEmptyPlan: true},
		resource.TestStep{
			Config: env.config("hello"), Destroy: true,
			Check: env.diagnostics.HasWarning(`(?s)v1/Service web would be rejected by the API server.*no services today.*a destroy goes on`),
		},
	)
}

// TestAccInstance_dryRunConflict warns of fields that somebody else owns, and not of
// those that are only put right.
func TestAccInstance_dryRunConflict(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	evening := hello(t, manifests("Hello", "Good evening"))
	foreign := func() {
		env.kubectl("patch", "configmap", "web-content", "--field-manager=somebody", "--type=merge", "-p", `{"data":{"index.html":"mine"}}`)
	}
	env.run(t,
		resource.TestStep{Config: env.config("hello")},
		resource.TestStep{PreConfig: foreign, Config: env.config("hello"), Check: env.diagnostics.NoWarnings()},
		resource.TestStep{
			PreConfig:   foreign,
			Config:      env.configFor(evening),
			ExpectError: sentence(`other managers own fields that the manifest sets: .data.index.html (owned by "somebody")`),
		},
		resource.TestStep{
			Config: env.configFor(evening, `force_conflicts = true`),
			Check: allChecks(
				env.diagnostics.HasWarning(`(?s)API server would currently reject objects.*v1/ConfigMap web-content \(Files/kubernetes/web.yaml:1\).*owned by "somebody"`),
				func(*terraform.State) error { return nil }),
		},
	)
}

// TestAccInstance_dryRunFewRights plans with credentials that may apply nothing: one
// warning, however many objects there are.
func TestAccInstance_dryRunFewRights(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	lab := env.lab
	lab.AdminToken = lab.LimitedToken
	vim := acctest.VIM(env, lab, "test")
	env.run(t,
		resource.TestStep{Config: env.store.Config(vim)},
		resource.TestStep{
			Config:   env.store.Config(vim, pkg(examplePackage(t, "hello")), env.instance()),
			PlanOnly: true, ExpectNonEmptyPlan: true,
		},
		resource.TestStep{
			Config: env.store.Config(vim),
			// All rights that the kinds of the instance need are named at once.
			Check: env.diagnostics.HasWarning(`The dry run on the VIM is incomplete: [^\n]*cannot patch resource[^\n]*\n.*server_dry_run = false\.\n` +
				`The credentials of VIM "test" lack rights in the namespace ` + env.namespace + ` for kinds of the instance: ` +
				`They may not get, list, watch, create, patch, delete configmaps, deployments\.apps, services\. Apply the Role of`),
		},
	)
}
