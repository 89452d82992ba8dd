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

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// slow makes the pods of the package hello take some seconds to be ready.
func slow() edit {
	return manifests("labels: { app.kubernetes.io/name: web }\n    spec:",
		"labels: { app.kubernetes.io/name: web }\n      annotations: { lab.vnf/ready-delay: 5s }\n    spec:")
}

// cutWhen cuts the API server off for 20 seconds as soon as kubectl, which has a way
// of its own, prints something that is looked for.
func (w *world) cutWhen(happened func(printed string) bool, args ...string) func() {
	args = append([]string{"-n", w.namespace, "get", "--ignore-not-found"}, args...)
	return func() {
		go func() {
			for {
				// The operation may be over before it was seen: the test ends then.
				printed, err := w.lab.TryKubectl(w.Context(), args...)
				if err == nil && happened(printed) {
					break
				}
				select {
				case <-w.Context().Done():
					return
				case <-time.After(100 * time.Millisecond):
				}
			}
			w.lab.Fault(w, "cut")
			select {
			case <-w.Context().Done():
			case <-time.After(20 * time.Second):
				w.lab.Fault(w, "clear")
			}
		}()
	}
}

// TestAccInstance_cutOff loses the API server in the middle of every operation: it
// goes on as soon as the server is back, and nobody notices.
func TestAccInstance_cutOff(t *testing.T) {
	w := newWorld(t)
	vim := w.faultyVIM()
	config := func(source string, arguments ...string) string {
		return w.store.Config(vim, pkg(source), w.instance(arguments...))
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
			Check: also(w.whole(), w.heard.silent(), func(*terraform.State) error {
				if got := w.operations(t); got[len(got)-1] != operation+" COMPLETED" {
					return fmt.Errorf("operations: %v", got)
				}
				return nil
			}),
		}
	}
	heal := `heal = { trigger = "a", vdu_ids = ["web"] }`
	w.run(t,
		step(w.cutWhen(shows("web"), "deployments", "-o", "name"), config(first), "INSTANTIATE"),
		step(w.cutWhen(shows("web:2.0.0"), "deployments", "-o", "yaml"), config(second), "CHANGE_VNFPKG"),
		step(w.cutWhen(shows("replicas: 3"), "deployments", "-o", "yaml"), config(second, `scale_levels = { web = 2 }`), "SCALE"),
		resource.TestStep{PreConfig: func() { before = w.pods() }, RefreshState: true},
		step(w.cutWhen(func(printed string) bool {
			for _, name := range strings.Fields(printed) {
				if before[strings.TrimPrefix(name, "pod/")] == "" {
					return true
				}
			}
			return false
		}, "pods", "-o", "name"), config(second, `scale_levels = { web = 2 }`, heal), "HEAL"),
		resource.TestStep{
			PreConfig: w.cutWhen(shows("deletionTimestamp"), "deployments", "-o", "yaml"),
			Config:    w.store.Config(vim, pkg(second)),
		},
	)
}

// TestAccInstance_quota meets a quota: the timeout says so, and the next apply goes
// on when it is larger.
func TestAccInstance_quota(t *testing.T) {
	w := newWorld(t)
	w.lab.Quota(w, w.namespace, "small", "pods", 0)
	w.run(t,
		resource.TestStep{
			Config:             w.config("hello", `timeouts = { create = "20s" }`),
			ExpectNonEmptyPlan: true,
			ConfigStateChecks:  []statecheck.StateCheck{failedTemp()},
			Check:              w.heard.warned(`Is Not Instantiated Yet: (?s).*Deployment ` + w.namespace + `/web: InProgress \(FailedCreate\).*exceeded quota: small`),
		},
		resource.TestStep{
			PreConfig:         func() { w.kubectl("delete", "quota", "small") },
			Config:            w.config("hello", `timeouts = { create = "20s" }`),
			ConfigPlanChecks:  updates(),
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check:             w.whole(),
		},
	)
}

// TestAccInstance_namespaceTerminating waits for the end of a namespace that is
// being deleted, says what keeps it, and goes on when it is gone.
func TestAccInstance_namespaceTerminating(t *testing.T) {
	w := newWorld(t)
	w.kubectl("create", "configmap", "stuck")
	w.kubectl("patch", "configmap", "stuck", "--type=merge", "-p", `{"metadata":{"finalizers":["example.com/never"]}}`)
	w.kubectl("delete", "namespace", w.namespace, "--wait=false")
	// What keeps a namespace is said by its controller, which has other work to do.
	w.kubectl("wait", "namespace/"+w.namespace, "--for=condition=NamespaceFinalizersRemaining", "--timeout=120s")
	release := func() {
		w.kubectl("patch", "configmap", "stuck", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	}
	w.run(t,
		resource.TestStep{Config: w.config("hello", `timeouts = { create = "20s" }`), ExpectError: sentence(`Unable to Instantiate VNF Instance "test"`, `Namespace `+w.namespace, `is being deleted since`, `example.com/never`)},
		resource.TestStep{
			PreConfig: func() {
				if left := w.records(t); len(left) > 0 {
					t.Errorf("records are left: %+v", left)
				}
				release()
			},
			Config:            w.config("hello"),
			ConfigPlanChecks:  planned(plancheck.ResourceActionCreate),
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check:             w.whole(),
		},
	)
}

// untilRefused waits until the API server does not take a token any more: it
// remembers for some seconds that it was good.
func (w *world) untilRefused(token string) {
	w.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(w.lab.ReadFile(w, w.lab.CAFile)))
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	for {
		req, err := http.NewRequestWithContext(w.Context(), http.MethodGet, w.lab.Endpoint+"/api", nil)
		if err != nil {
			w.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := client.Do(req)
		if err != nil {
			w.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode == http.StatusUnauthorized {
			return
		}
		select {
		case <-w.Context().Done():
			w.Fatal("the API server still takes the token")
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// TestAccInstance_rights lacks the rights that a kind needs, and loses all of them:
// errors that name what is missing; with other credentials it goes on.
func TestAccInstance_rights(t *testing.T) {
	w := newWorld(t)
	// The rights that the guide of the security model gives.
	documented := w.lab.ReadFile(w, filepath.Join("..", "..", "..", "examples", "rights", "kubernetes.yaml"))
	folder := t.TempDir()
	acctest.Write(t, folder, "rights.yaml", strings.ReplaceAll(documented, "core5g", w.namespace))
	w.kubectl("apply", "-f", filepath.Join(folder, "rights.yaml"))
	few := w.kubectl("create", "token", "vnf-manager")
	w.kubectl("create", "serviceaccount", "operator")
	w.kubectl("create", "role", "operator", "--verb=*", "--resource=configmaps,services,leases.coordination.k8s.io")
	w.kubectl("create", "rolebinding", "operator", "--role=operator", "--serviceaccount="+w.namespace+":operator")
	token := w.kubectl("create", "token", "operator")
	with := func(token string, arguments ...string) string {
		lab := w.lab
		lab.AdminToken = token
		return w.store.Config(acctest.VIM(w, lab, "test"), pkg(examplePackage(t, "hello")), w.instance(arguments...))
	}
	w.run(t,
		resource.TestStep{
			Config:      with(token),
			ExpectError: sentence(`Unable to Instantiate VNF Instance "test"`, `deployments.apps is forbidden: User "system:serviceaccount:`+w.namespace+`:operator" cannot`),
		},
		resource.TestStep{
			PreConfig: func() {
				w.kubectl("delete", "rolebinding", "operator")
				w.kubectl("create", "rolebinding", "operator", "--role=vnf-manager", "--serviceaccount="+w.namespace+":operator")
			},
			Config:            with(token),
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
		},
		resource.TestStep{
			// The token ends with its account.
			PreConfig: func() {
				w.kubectl("delete", "serviceaccount", "operator")
				w.untilRefused(token)
			},
			Config:      with(token, `scale_levels = { web = 1 }`),
			ExpectError: sentence(`Unable to Update VNF Instance "test"`, `refused the credentials: Unauthorized; they are wrong or have expired: rotate them in its vnf_vim resource and apply again`),
		},
		resource.TestStep{
			Config:            with(few, `scale_levels = { web = 1 }`),
			ConfigStateChecks: []statecheck.StateCheck{instantiated(), value("scale_status", knownvalue.MapExact(map[string]knownvalue.Check{"web": knownvalue.Int64Exact(1)}))},
			Check:             w.whole(),
		},
		resource.TestStep{
			// Drift is seen and put right.
			PreConfig:         func() { w.kubectl("delete", "deployment", "web") },
			Config:            with(few, `scale_levels = { web = 1 }`),
			ConfigPlanChecks:  updates(),
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check:             w.whole(),
		},
	)
}
