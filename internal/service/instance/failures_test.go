package instance_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// slow makes the pods of the package hello take some seconds to be ready.
func slow() edit {
	return manifests("labels: { app.kubernetes.io/name: web }\n    spec:",
		"labels: { app.kubernetes.io/name: web }\n      annotations: { lab.vnf/ready-delay: 5s }\n    spec:")
}

// disconnectWhen cuts the API server off for 20 seconds as soon as kubectl, which has a way
// of its own, prints something that is looked for.
func (env *testEnv) disconnectWhen(happened func(printed string) bool, args ...string) func() {
	args = append([]string{"-n", env.namespace, "get", "--ignore-not-found"}, args...)
	return func() {
		go func() {
			for {
				// The operation may be over before it was seen: the test ends then.
				printed, err := env.lab.TryKubectl(env.Context(), args...)
				if err == nil && happened(printed) {
					break
				}
				select {
				case <-env.Context().Done():
					return
				case <-time.After(100 * time.Millisecond):
				}
			}
			env.lab.Fault(env, "cut")
			select {
			case <-env.Context().Done():
			case <-time.After(20 * time.Second):
				env.lab.Fault(env, "clear")
			}
		}()
	}
}

// TestAccInstance_cutOff loses the API server in the middle of every operation: it
// goes on as soon as the server is back, and nobody notices.
func TestAccInstance_cutOff(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	vim := env.faultyVIM()
	config := func(source string, arguments ...string) string {
		return env.store.Config(vim, pkg(source), env.instance(arguments...))
	}
	shows := func(want string) func(string) bool {
		return func(printed string) bool { return strings.Contains(printed, want) }
	}
	first, second := hello(t, slow()), hello(t, slow(), manifests("web:1.0.0", "web:2.0.0"))
	var before map[string]string
	step := func(cut func(), config string, operation string) resource.TestStep {
		return resource.TestStep{
			PreConfig:         cut,
			Config:            config,
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check: allChecks(env.checkBackend(), env.diagnostics.NoWarnings(), func(*terraform.State) error {
				if got := env.operations(t); got[len(got)-1] != operation+" COMPLETED" {
					return fmt.Errorf("operations: %v", got)
				}
				return nil
			}),
		}
	}
	heal := `heal = { trigger = "a", vdu_ids = ["web"] }`
	env.run(t,
		step(env.disconnectWhen(shows("web"), "deployments", "-o", "name"), config(first), "INSTANTIATE"),
		step(env.disconnectWhen(shows("web:2.0.0"), "deployments", "-o", "yaml"), config(second), "CHANGE_VNFPKG"),
		step(env.disconnectWhen(shows("replicas: 3"), "deployments", "-o", "yaml"), config(second, `scale_levels = { web = 2 }`), "SCALE"),
		resource.TestStep{PreConfig: func() { before = env.pods() }, RefreshState: true},
		step(env.disconnectWhen(func(printed string) bool {
			for _, name := range strings.Fields(printed) {
				if before[strings.TrimPrefix(name, "pod/")] == "" {
					return true
				}
			}
			return false
		}, "pods", "-o", "name"), config(second, `scale_levels = { web = 2 }`, heal), "HEAL"),
		resource.TestStep{
			PreConfig: env.disconnectWhen(shows("deletionTimestamp"), "deployments", "-o", "yaml"),
			Config:    env.store.Config(vim, pkg(second)),
		},
	)
}

// TestAccInstance_quota meets a quota: the timeout says so, and the next apply goes
// on when it is larger.
func TestAccInstance_quota(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	env.lab.Quota(env, env.namespace, "small", "pods", 0)
	env.run(t,
		resource.TestStep{
			Config:             env.config("hello", resume, `timeouts = { create = "20s" }`),
			ExpectNonEmptyPlan: true,
			ConfigStateChecks:  []statecheck.StateCheck{failedTemp()},
			Check:              env.diagnostics.HasWarning(`Is Not Instantiated Yet: (?s).*Deployment ` + env.namespace + `/web: InProgress \(FailedCreate\).*exceeded quota: small`),
		},
		after(func() { env.kubectl("delete", "quota", "small") }, updated(env.config("hello"), env.checkBackend())),
	)
}

// TestAccInstance_namespaceTerminating waits for the end of a namespace that is
// being deleted, says what keeps it, and goes on when it is gone.
func TestAccInstance_namespaceTerminating(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	env.kubectl("create", "configmap", "stuck")
	env.kubectl("patch", "configmap", "stuck", "--type=merge", "-p", `{"metadata":{"finalizers":["example.com/never"]}}`)
	env.kubectl("delete", "namespace", env.namespace, "--wait=false")
	// The controller of a namespace says what keeps it, and has other work to do.
	env.kubectl("wait", "namespace/"+env.namespace, "--for=condition=NamespaceFinalizersRemaining", "--timeout=120s")
	release := func() {
		env.kubectl("patch", "configmap", "stuck", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	}
	env.run(t,
		resource.TestStep{Config: env.config("hello", `timeouts = { create = "20s" }`), ExpectError: sentence(`Unable to Instantiate VNF Instance "test"`, `Namespace `+env.namespace, `has been marked for deletion since`, `example.com/never`)},
		resource.TestStep{
			PreConfig: func() {
				if left := env.records(t); len(left) > 0 {
					t.Errorf("records are left: %+v", left)
				}
				release()
			},
			Config:            env.config("hello"),
			ConfigPlanChecks:  planned(plancheck.ResourceActionCreate),
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check:             env.checkBackend(),
		},
	)
}

// waitUntilRefused waits until the API server does not take a token any more: it
// remembers for some seconds that it was good.
func (env *testEnv) waitUntilRefused(token string) {
	env.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(env.lab.ReadFile(env, env.lab.CAFile)))
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	for {
		req, err := http.NewRequestWithContext(env.Context(), http.MethodGet, env.lab.Endpoint+"/api", nil)
		require.NoError(env, err)
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := client.Do(req)
		require.NoError(env, err)
		_ = res.Body.Close()
		if res.StatusCode == http.StatusUnauthorized {
			return
		}
		select {
		case <-env.Context().Done():
			env.Fatal("the API server still takes the token")
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// TestAccInstance_rights lacks the rights that a kind needs, and loses all of them:
// errors that name what is missing; with other credentials it goes on.
func TestAccInstance_rights(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	// The rights that the guide of the security model gives.
	documented := env.lab.ReadFile(env, filepath.Join("..", "..", "..", "examples", "rights", "kubernetes.yaml"))
	folder := t.TempDir()
	acctest.Write(t, folder, "rights.yaml", strings.ReplaceAll(documented, "core5g", env.namespace))
	env.kubectl("apply", "-f", filepath.Join(folder, "rights.yaml"))
	few := env.kubectl("create", "token", "vnf-manager")
	env.kubectl("create", "serviceaccount", "operator")
	env.kubectl("create", "role", "operator", "--verb=*", "--resource=configmaps,services,leases.coordination.k8s.io")
	env.kubectl("create", "rolebinding", "operator", "--role=operator", "--serviceaccount="+env.namespace+":operator")
	token := env.kubectl("create", "token", "operator")
	with := func(token string, arguments ...string) string {
		lab := env.lab
		lab.AdminToken = token
		return env.store.Config(acctest.VIM(env, lab, "test"), pkg(examplePackage(t, "hello")), env.instance(arguments...))
	}
	env.run(t,
		resource.TestStep{
			Config:      with(token),
			ExpectError: sentence(`Unable to Instantiate VNF Instance "test"`, `deployments.apps is forbidden: User "system:serviceaccount:`+env.namespace+`:operator" cannot`),
		},
		after(func() {
			env.kubectl("delete", "rolebinding", "operator")
			env.kubectl("create", "rolebinding", "operator", "--role=vnf-manager", "--serviceaccount="+env.namespace+":operator")
		}, applied(with(token), nil)),
		resource.TestStep{
			// The token ends with its account.
			PreConfig: func() {
				env.kubectl("delete", "serviceaccount", "operator")
				env.waitUntilRefused(token)
			},
			Config:      with(token, `scale_levels = { web = 1 }`),
			ExpectError: sentence(`Unable to Update VNF Instance "test"`, `refused the credentials: Unauthorized; they are wrong or have expired: rotate them in its vnf_vim resource and apply again`),
		},
		after(func() {
			require.NoError(t, env.diagnostics.HasWarning(`VIM "test" Refused the Credentials: (?s).*kubeconfig_wo_version`, `VNF Instance "test" Could Not Be Refreshed`)(nil))
		}, applied(with(few, `scale_levels = { web = 1 }`), env.checkBackend(), value("scale_status", knownvalue.MapExact(map[string]knownvalue.Check{"web": knownvalue.Int64Exact(1)})))),
		// Drift is seen and put right.
		after(func() { env.kubectl("delete", "deployment", "web") }, updated(with(few, `scale_levels = { web = 1 }`), env.checkBackend())),
	)
}
