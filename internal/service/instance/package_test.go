package instance_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/compare"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// image checks the image of the Deployment and its replicas.
func (env *testEnv) image(want string) resource.TestCheckFunc {
	return env.expectKubectl(want, "get", "deployment", "web", "-o", "jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image}")
}

// expectLastOperations checks the last operations of the only instance.
func (env *testEnv) expectLastOperations(t testing.TB, want ...string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		got := env.operations(t)
		if len(got) < len(want) || !slices.Equal(got[len(got)-len(want):], want) {
			return fmt.Errorf("operations %v, want %v at the end", got, want)
		}
		return nil
	}
}

// withoutService takes the Service out of the package hello.
func withoutService(t testing.TB, dir string) {
	acctest.Edit(t, dir, webFile, `apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  selector: { app.kubernetes.io/name: web }
  ports:
    - { name: http, port: 80, targetPort: http }
---
`, "")
}

// TestAccInstance_packageChanged moves to a package that adds, changes and drops
// objects and counts otherwise. What does not change is not touched, and the
// content that nobody uses any more is released.
func TestAccInstance_packageChanged(t *testing.T) {
	env := newEnv(t)
	next := hello(t, withoutService,
		manifests("web:1.0.0", "web:2.0.0"),
		with("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\ndata: {a: b}\n"),
		descriptor("initial_delta: { number_of_instances: 1 }", "initial_delta: { number_of_instances: 2 }"))
	apart := env.namespace + "-apart"
	inNamespace := func(brought bool) string {
		text := "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: apart, namespace: " + apart + " }\n"
		if brought {
			text += "---\napiVersion: v1\nkind: Namespace\nmetadata: { name: " + apart + " }\n"
		}
		return env.configFor(hello(t, with(text)))
	}
	stays := `Namespaces or definitions of kinds leave the package and stay on VIM "[^"]*": v1/Namespace ` + apart + `: objects of the package need it: v1/ConfigMap ` + apart + `/apart`
	same := statecheck.CompareValue(compare.ValuesSame())
	var content, deployment string
	released := func(*terraform.State) error {
		s := env.store.Records(t)
		packages, err := s.List(t.Context(), store.Query{Kind: store.KindPackage})
		if err != nil {
			return err
		}
		if len(packages) != 1 {
			return fmt.Errorf("%d packages are stored, want one", len(packages))
		}
		if blob, err := s.OpenBlob(t.Context(), content); !errors.Is(err, store.ErrNotFound) {
			if err != nil {
				return err
			}
			return errors.Join(errors.New("the old manifests are still there"), blob.Close())
		}
		return nil
	}
	env.run(t,
		resource.TestStep{
			Config:            env.config("hello", `scale_levels = { web = 1 }`),
			ConfigStateChecks: []statecheck.StateCheck{same.AddStateValue(address, tfjsonpath.New("id")), replicas("web", 2)},
			Check: allChecks(env.checkBackend(), func(*terraform.State) error {
				s := env.store.Records(t)
				packages, err := s.List(t.Context(), store.Query{Kind: store.KindPackage})
				if err != nil {
					return err
				}
				var record struct {
					Bundle string `json:"bundle"`
				}
				if err := json.Unmarshal(packages[0].Data, &record); err != nil {
					return err
				}
				content = record.Bundle
				deployment = env.uid("deployment/web")
				blob, err := s.OpenBlob(t.Context(), content)
				if err != nil {
					return fmt.Errorf("the manifests are not in the store: %w", err)
				}
				return blob.Close()
			}),
		},
		resource.TestStep{
			Config: env.configFor(next, `scale_levels = { web = 1 }`),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
				plancheck.ExpectResourceAction("vnf_package.test", plancheck.ResourceActionUpdate),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("vnfc_counts").AtMapKey("web"), knownvalue.Int64Exact(3)),
			}},
			ConfigStateChecks: []statecheck.StateCheck{
				instantiated(), same.AddStateValue(address, tfjsonpath.New("id")), replicas("web", 3),
				value("generation", knownvalue.Int64Exact(2)),
			},
			Check: allChecks(env.checkBackend(), env.image("3 registry.example.com/hello/web:2.0.0"), released,
				env.expectKubectl("", "get", "service", "web", "--ignore-not-found", "-o", "name"),
				env.expectLastOperations(t, "INSTANTIATE COMPLETED", "CHANGE_VNFPKG COMPLETED"),
				func(*terraform.State) error {
					if got := env.uid("deployment/web"); got != deployment {
						return errors.New("the Deployment was replaced")
					}
					return nil
				}),
		},
		// A namespace that leaves the package and holds an object of it stays, as the plan says.
		after(env.diagnostics.Discard, updated(inNamespace(true), env.diagnostics.NoWarnings())),
		resource.TestStep{Config: inNamespace(false), PlanOnly: true, ExpectNonEmptyPlan: true},
		after(func() { require.NoError(t, env.diagnostics.HasWarning(stays)(nil)) },
			updated(inNamespace(false), allChecks(env.diagnostics.HasWarning(stays), env.expectKubectl("configmap/apart", "get", "configmap", "apart", "-n", apart, "-o", "name")))),
		updated(inNamespace(true), env.diagnostics.NoWarnings()),
	)
}

// TestAccInstance_packageImmutable moves to a package that changes what Kubernetes
// does not let be changed: an error that says how, and a replacement by permission.
func TestAccInstance_packageImmutable(t *testing.T) {
	env := newEnv(t)
	next := hello(t, manifests("app.kubernetes.io/name: web }", "app.kubernetes.io/name: www }"))
	var before string
	env.run(t,
		resource.TestStep{Config: env.config("hello"), Check: func(*terraform.State) error {
			before = env.uid("deployment/web")
			return nil
		}},
		resource.TestStep{
			Config:   env.configFor(next),
			PlanOnly: true,
			ExpectError: sentence(`apps/v1/Deployment web would be rejected by the API server`, `At Files/kubernetes/web.yaml:18:1.`, `field is immutable`,
				`name it in replace_objects ("apps/v1/Deployment web")`),
		},
		resource.TestStep{
			Config: env.configFor(next, "server_dry_run = false"),
			ExpectError: sentence(`Unable to Update VNF Instance "test"`, `apps/v1/Deployment web (Files/kubernetes/web.yaml:18)`, `field is immutable`,
				`name it in replace_objects ("apps/v1/Deployment web")`),
		},
		updated(env.configFor(next, `replace_objects = ["apps/v1/Deployment web"]`),
			allChecks(env.checkBackend(), func(*terraform.State) error {
				if env.uid("deployment/web") == before {
					return errors.New("the Deployment is still the old one")
				}
				return nil
			})),
	)
}

// TestAccInstance_packageFailed moves to packages that cannot run. A rollback returns to the package that ran before; without one there is
// an error, a state that says how far it came, and a way on and back. An update whose time ends before a pod is ready goes on when it is.
func TestAccInstance_packageFailed(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	broken := hello(t, manifests("web:1.0.0", "web:2.0.0"), with(failedJob))
	slow := env.configFor(hello(t, failing("never-ready")), `timeouts = { update = "20s" }`)
	const rollback = `on_failure = "rollback"`
	noJob := env.expectKubectl("", "get", "job", "-o", "name")
	env.run(t,
		resource.TestStep{Config: env.config("hello", rollback)},
		resource.TestStep{
			Config:      env.configFor(broken, rollback),
			ExpectError: sentence(`CHANGE_VNFPKG of VNF instance`, `is ROLLED_BACK`, `migrate`, `The state before the operation is restored.`),
		},
		resource.TestStep{
			RefreshState:       true,
			ExpectNonEmptyPlan: true,
			Check: allChecks(resource.TestCheckResourceAttr(address, "status", "INSTANTIATED"), env.checkBackend(),
				env.image("1 registry.example.com/hello/web:1.0.0"), noJob),
		},
		resource.TestStep{
			Config: env.config("hello", rollback),
			Check:  allChecks(env.checkBackend(), env.expectLastOperations(t, "INSTANTIATE COMPLETED", "CHANGE_VNFPKG ROLLED_BACK")),
		},
		resource.TestStep{
			Config:      env.configFor(broken, `termination = { type = "forceful" }`, `timeouts = { delete = "7m" }`),
			ExpectError: sentence(`Unable to Update VNF Instance "test"`, `CHANGE_VNFPKG of VNF instance`, `is FAILED_TEMP`, `migrate`, `apply again: the operation continues where it stopped`),
		},
		resource.TestStep{
			RefreshState:       true,
			ExpectNonEmptyPlan: true,
			// A destroy would be given this state: it terminates as it was asked for last.
			Check: allChecks(resource.TestCheckResourceAttr(address, "status", "FAILED_TEMP"),
				resource.TestCheckResourceAttr(address, "termination.type", "forceful"), resource.TestCheckResourceAttr(address, "timeouts.delete", "7m"),
				env.expectLastOperations(t, "CHANGE_VNFPKG ROLLED_BACK", "CHANGE_VNFPKG FAILED_TEMP")),
		},
		updated(env.configFor(hello(t, manifests("web:1.0.0", "web:3.0.0"))), allChecks(env.checkBackend(), env.image("1 registry.example.com/hello/web:3.0.0"),
			noJob, env.expectLastOperations(t, "CHANGE_VNFPKG ROLLED_BACK", "CHANGE_VNFPKG FAILED", "CHANGE_VNFPKG COMPLETED"))),
		resource.TestStep{
			Config:      slow,
			ExpectError: sentence(`Unable to Update VNF Instance "test"`, `CHANGE_VNFPKG of VNF instance`, `is FAILED_TEMP`, `Deployment `+env.namespace+`/web`, `Existing objects are kept.`),
		},
		after(env.makePodsReady, updated(slow, allChecks(env.checkBackend(), env.expectLastOperations(t, "CHANGE_VNFPKG COMPLETED", "CHANGE_VNFPKG COMPLETED")))),
	)
}

// TestAccInstance_packageShared keeps a content until the last instance has left
// it, whatever the package says meanwhile.
func TestAccInstance_packageShared(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	elsewhere := env.lab.Namespace(t)
	dir := hello(t)
	var first string
	// The second instance stays with the first content, by its id.
	held := func(id string) string {
		text := strings.ReplaceAll(env.second(), env.namespace, elsewhere)
		return strings.Replace(text, "vnf_package.test.id", fmt.Sprintf("%q", id), 1)
	}
	stored := func(n int) resource.TestCheckFunc {
		return func(*terraform.State) error {
			packages, err := env.store.Records(t).List(t.Context(), store.Query{Kind: store.KindPackage})
			if err == nil && len(packages) != n {
				err = fmt.Errorf("%d packages are stored, want %d", len(packages), n)
			}
			return err
		}
	}
	// Configurations are composed before the steps run: the id of the content is
	// known from another store.
	probe := additionalEnv(t)
	probe.plainRun(t, resource.TestStep{
		Config: probe.store.Config(pkg(dir)),
		Check: func(s *terraform.State) error {
			first = s.RootModule().Resources["vnf_package.test"].Primary.ID
			return nil
		},
	})
	next := hello(t, manifests("web:1.0.0", "web:2.0.0"))
	env.run(t,
		resource.TestStep{Config: env.configFor(dir)},
		resource.TestStep{Config: env.configFor(dir) + held(first), Check: stored(1)},
		resource.TestStep{Config: env.configFor(next) + held(first), Check: allChecks(stored(2), env.image("1 registry.example.com/hello/web:2.0.0"))},
		resource.TestStep{
			// The old content is enough to scale with.
			Config: env.configFor(next) + strings.Replace(held(first), "  deletion_policy", "  scale_levels = { web = 1 }\n  deletion_policy", 1),
			Check:  resource.TestCheckResourceAttr("vnf_instance.second", "vnfc_counts.web", "2"),
		},
		resource.TestStep{Config: env.configFor(next), Check: stored(1)},
	)
}
