//go:build unix

package e2e_test

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"filippo.io/age"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/otlptest"
)

// secretEnv is an environment into which secrets are planted.
type secretEnv struct {
	*testEnv
	search *search
	// variables are the input variables by name, given in the environment.
	variables map[string]string
	// collector gets the spans of all runs.
	collector *otlptest.Receiver
	// current is the run that was started last.
	current atomic.Pointer[running]
}

// plant returns a recognisable text and makes the search look for it.
func (s *secretEnv) plant(name string, allowed ...place) string {
	s.Helper()
	random := make([]byte, 8)
	if _, err := rand.Read(random); err != nil {
		s.Fatal(err)
	}
	text := "planted-" + hex.EncodeToString(random)
	s.search.add(name, text, allowed...)
	return text
}

// run runs terraform with the variables and hands everything that came out to the
// search.
func (s *secretEnv) run(code int, args ...string) result {
	s.Helper()
	base := s.env
	for name, value := range s.variables {
		s.env = append(s.env, "TF_VAR_"+name+"="+value)
	}
	trace := filepath.Join(s.TempDir(), "trace.log")
	s.env = append(s.env, "TF_LOG=TRACE", "TF_LOG_PATH="+trace)
	run := s.start(args...)
	s.current.Store(run)
	s.env = base
	stop := s.search.watchCommands(run)
	got := run.wait()
	stop()
	if got.code != code {
		s.Fatalf("terraform %v: exit code %d, expected %d\n%s", args, got.code, code, got.output)
	}
	command := strings.Join(args, " ")
	if args[0] == "show" {
		s.search.text(placePlan, command, got.output)
	} else {
		s.search.text(placeOutput, command, got.output)
	}
	s.search.file(placeLog, "TRACE log of "+command, trace)
	s.search.tree(placeState, s.dir, "main.tf")
	s.search.tree(placeStore, filepath.Dir(s.store.Path))
	return got
}

// sources serves packages to clients with the token.
func (s *secretEnv) sources(packages map[string]string) func(name string) *url.URL {
	s.Helper()
	token := s.plant("query token in a URL", placeState, placePlan)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, ok := packages[strings.TrimPrefix(r.URL.Path, "/")]
		if r.URL.Query().Get("token") != token || !ok {
			http.Error(w, "go away", http.StatusForbidden)
			return
		}
		http.ServeFile(w, r, path)
	}))
	s.Cleanup(server.Close)
	return func(name string) *url.URL {
		u, err := url.Parse(server.URL)
		require.NoError(s, err)
		u.Path, u.RawQuery = "/"+name, "token="+token
		return u
	}
}

// withSecret packs the package hello with a Secret of the given body, and with a chart that
// makes a Secret of a value. Edits are old and new texts of the chart.
func withSecret(t testing.TB, body string, edits ...string) string {
	t.Helper()
	dir := acctest.CopyPackage(t, "hello")
	acctest.Write(t, dir, "Files/kubernetes/secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: planted\n"+body+"\n")
	for name, text := range map[string]string{
		"Chart.yaml":         "apiVersion: v2\nname: planted\nversion: 1.0.0\n",
		"values.schema.json": `{"properties": {"users": {"type": "array", "items": {"properties": {"password": {"pattern": "^[a-z0-9-]+$"}}}}}}`,
		"templates/a.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: { name: {{ .Release.Name }}-web }
spec:
  replicas: 1
  selector: { matchLabels: { app: chart } }
  template: { metadata: { labels: { app: chart } }, spec: { containers: [ { name: web, image: "registry.example.com/web:1" } ] } }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: {{ .Release.Name }}-users }
data:
  lines: |
    [users]
    {{- range .Values.users }}
    {{ .name }} = {{ .password }}
    {{- end }}
  long: "{{ range .Values.users }}a text that is cut in the middle of its last word, which is {{ .password }}{{ end }}"
{{- range .Values.users }}
---
apiVersion: v1
kind: Secret
metadata: { name: {{ .name }} }
stringData: { login: "{{ .role }}:{{ .password }}" }
{{- end }}
`,
	} {
		acctest.Write(t, dir, "Files/chart/"+name, strings.NewReplacer(edits...).Replace(text))
	}
	acctest.Hash(t, dir)
	return acctest.Zip(t, dir)
}

// chartInstance is an instance of the chart that withSecret packs, with a secret value.
func (s *secretEnv) chartInstance(arguments ...string) string {
	return strings.Replace(s.instance("chart", append(arguments, `additional_params = {
    helm_chart_path = "Files/chart"
    helm_parameters = { users = [{ name = "planted-user", role = "admin" }] }
  }
  additional_params_wo         = { helm_parameters = { users = [{ name = "planted-user", password = var.value }] } }
  additional_params_wo_version = var.token_version
  depends_on                   = [vnf_instance.test]`)...), `"test" {`, `"chart" {`, 1)
}

// configuration is over variables alone: what is written in a configuration file
// is the user's own to protect.
func (s *secretEnv) configuration() string {
	return fmt.Sprintf(`
variable "token" {
  type      = string
  ephemeral = true
}
variable "token_version" { type = number }
variable "plain_token" {
  type      = string
  sensitive = true
}
variable "password" {
  type      = string
  ephemeral = true
}
variable "value" {
  type      = string
  ephemeral = true
}
variable "client_key" {
  type      = string
  ephemeral = true
}
variable "kubeconfig" {
  type      = string
  ephemeral = true
}
variable "source_url" {
  type      = string
  sensitive = true
}
variable "endpoint" { type = string }
variable "level" { type = number }

provider "vnf" {
  store = { local = { path = %[1]q } }
}

resource "vnf_vim" "test" {
  name = "test"
  kubernetes = {
    endpoint                = var.endpoint
    ca_certificate          = file(%[2]q)
    bearer_token_wo         = var.token
    bearer_token_wo_version = var.token_version
  }
}

resource "vnf_vim" "plain" {
  name       = "plain"
  kubernetes = { endpoint = %[3]q, ca_certificate = file(%[4]q), bearer_token = var.plain_token }
}

resource "vnf_vim" "basic" {
  name       = "basic"
  kubernetes = { endpoint = %[5]q, ca_certificate = file(%[6]q), username = %[7]q, password_wo = var.password, password_wo_version = 1 }
}

resource "vnf_vim" "certificate" {
  name       = "certificate"
  kubernetes = { endpoint = %[3]q, ca_certificate = file(%[4]q), client_certificate = file(%[8]q), client_key_wo = var.client_key, client_key_wo_version = 1 }
}

resource "vnf_vim" "kubeconfig" {
  name       = "kubeconfig"
  kubernetes = { kubeconfig_wo = var.kubeconfig, kubeconfig_wo_version = 1 }
}

resource "vnf_package" "test" {
  name   = "test"
  source = var.source_url
}
`, s.store.Path, s.way.caFile, s.lab.Endpoint, s.lab.CAFile, s.lab.Basic.Endpoint, s.lab.Basic.CAFile, s.lab.Basic.Username, s.lab.ClientCertificateFile)
}

// newSecretEnv plants the credentials of the lab and a key.
func newSecretEnv(t *testing.T) *secretEnv {
	t.Helper()
	s := &secretEnv{testEnv: newEnv(t), search: newSearch(t), collector: otlptest.New(t)}
	s.env = append(s.env, "OTEL_EXPORTER_OTLP_ENDPOINT="+s.collector.URL, "TRACEPARENT=00-"+pipelineTrace+"-"+pipelineSpan+"-01",
		"OTEL_EXPORTER_OTLP_HEADERS=authorization="+s.plant("header for the collector"))
	key, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	s.env = append(s.env, seal.EnvKey+"="+key.String())
	s.search.add("encryption key", key.String())
	s.search.add("write-only token", s.lab.AdminToken)
	s.search.add("plain token", s.lab.LimitedToken, placeState, placePlan)
	s.search.add("password", s.lab.Basic.Password)
	clientKey, kubeconfig := s.lab.ReadFile(t, s.lab.ClientKeyFile), s.lab.ReadFile(t, s.lab.Kubeconfig)
	s.search.add("client key", clientKey)
	s.search.add("kubeconfig", kubeconfig)
	s.variables = map[string]string{
		"token": s.lab.AdminToken, "token_version": "1", "plain_token": s.lab.LimitedToken, "password": s.lab.Basic.Password,
		"client_key": clientKey, "kubeconfig": kubeconfig, "endpoint": s.way.endpoint, "level": "0",
	}
	return s
}

// TestAccSecrets plants secrets wherever the provider takes them and searches
// everything that it and terraform leave, in good runs and in bad ones.
func TestAccSecrets(t *testing.T) {
	t.Parallel()
	s := newSecretEnv(t)
	data, stringData, notBase64 := s.plant("Secret data"), s.plant("Secret stringData"), s.plant("Secret data that is not base64")
	number, err := rand.Int(rand.Reader, big.NewInt(1e15))
	require.NoError(t, err)
	digits := fmt.Sprintf("7%015d", number)
	s.search.add("number in a Secret", digits)
	good := withSecret(t, "data:\n  key: "+base64Of(data)+"\nstringData:\n  password: "+stringData)
	value := s.plant("value of a chart")
	s.variables["value"] = value
	source := s.sources(map[string]string{
		"good.csar": good,
		"next.csar": withSecret(t, "data:\n  key: "+base64Of(s.plant("other Secret data"))+"\nstringData:\n  password: "+s.plant("other Secret stringData")),
		"crash.csar": withSecret(t, "stringData:\n  password: "+stringData, `labels: { app: chart } }, spec`, `labels: { app: chart }, annotations: { lab.vnf/fail: crash } }, spec`,
			`web:1" }`, `web:1", env: [ { name: LOGIN, value: "{{ range .Values.users }}{{ .password }}{{ end }}" } ] }`),
		"base64.csar": withSecret(t, "data:\n  key: "+notBase64),
		"number.csar": withSecret(t, "stringData:\n  pin: "+digits),
		"type.csar":   withSecret(t, "type: kubernetes.io/dockerconfigjson\nstringData:\n  .dockerconfigjson: "+notBase64),
	})
	s.variables["source_url"] = source("good.csar").String()
	s.write(s.configuration(), s.instance("test", `scale_levels = { web = var.level }`), s.chartInstance())

	withUser := source("good.csar")
	withUser.User = url.UserPassword("user", s.plant("user information in a URL"))
	s.variables["source_url"] = withUser.String()
	s.expectOutput(s.run(1, "plan"), "The URL holds credentials")
	s.variables["source_url"] = source("good.csar").String()
	s.variables["value"] = s.plant("value that a chart refuses") + "?"
	s.expectOutput(s.run(1, "plan"), "The value users.0.password of the chart planted is rejected", "does not meet pattern", "additional_params_wo")
	s.variables["value"] = value

	plan := filepath.Join(t.TempDir(), "plan")
	s.run(0, "plan", "-json", "-out="+plan)
	s.search.zip(placePlan, "plan file", plan)
	s.run(0, "show", "-json", plan)
	s.run(0, "apply", "-json", plan)
	if got := s.kubectl("get", "secret", "planted", "-o", "jsonpath={.data.key}"); got != base64Of(data) {
		t.Fatalf("the Secret holds %q: nothing was planted", got)
	}
	if got := s.kubectl("get", "secret", "planted-user", "-o", "jsonpath={.data.login}"); got != base64Of("admin:"+value) {
		t.Fatalf("the Secret of the chart holds %q: nothing was planted", got)
	}
	// What changes is said of the old secrets and of the new ones.
	s.variables["level"], s.variables["token_version"] = "1", "2"
	s.variables["value"], s.variables["source_url"] = s.plant("other value of a chart"), source("next.csar").String()
	s.run(0, "plan", "-out="+plan)
	s.search.zip(placePlan, "plan file of an update", plan)
	s.expectOutput(s.run(0, "show", "-json", plan), `"data.key: changed","data.password: changed"`, `"v1/Secret planted-user":["data.login: changed"]`, `"data.lines: changed","data.long: changed"`)
	s.run(0, "apply", "-auto-approve", plan)
	s.kubectl("patch", "secret", "planted", "--type=merge", "-p", `{"stringData":{"password":"somebody else's"}}`)
	s.run(2, "plan", "-detailed-exitcode")
	s.run(0, "apply", "-json", "-auto-approve")

	// Terraform's report of a crashed provider is output as well.
	s.variables["level"] = "0"
	s.gateway.set(1, true, func() {
		for _, pid := range s.current.Load().providers() {
			end(pid)
		}
	})
	s.run(1, "apply", "-auto-approve")
	if s.gateway.triggered() == nil {
		t.Error("nothing was killed")
	}
	s.variables["level"] = "1"
	s.run(0, "apply", "-json", "-auto-approve")

	for _, name := range []string{"base64.csar", "number.csar", "type.csar"} {
		s.variables["source_url"] = source(name).String()
		s.expectOutput(s.run(1, "apply", "-json", "-auto-approve"), "Files/kubernetes/secret.yaml:")
	}
	s.variables["source_url"] = source("missing.csar").String()
	s.run(1, "apply", "-json", "-auto-approve")
	s.variables["source_url"] = source("good.csar").String()

	s.variables["token"], s.variables["token_version"] = s.plant("wrong token"), "3"
	s.expectOutput(s.run(1, "apply", "-auto-approve"), "refused the credentials: Unauthorized")
	s.variables["token"], s.variables["endpoint"] = s.lab.AdminToken, "https://127.0.0.1:1"
	s.expectOutput(s.run(1, "apply", "-auto-approve"), "cannot be reached")
	s.variables["endpoint"] = s.way.endpoint
	s.run(0, "apply", "-json", "-auto-approve")
	s.reported(source("crash.csar").String())
	s.run(0, "destroy", "-json", "-auto-approve")
	s.destroyed()
	if left := s.list(store.KindReport); len(left) > 0 {
		t.Errorf("%d reports are left", len(left))
	}

	left, err := os.ReadDir(s.tmp)
	// The provider that was killed could not remove the socket that it spoke to
	// terraform by.
	left = slices.DeleteFunc(left, func(e os.DirEntry) bool { return e.Type() == os.ModeSocket })
	if err != nil || len(left) > 0 {
		t.Errorf("left in TMPDIR: %v, %v", left, err)
	}
	s.traced()
	s.search.control()
	s.search.report([]place{placeState, placePlan, placeLog, placeOutput, placeStore, placeCommand, placeTrace, placeReport})
}

// reported has an update fail whose pods crash, and looks at its report.
func (s *secretEnv) reported(source string) {
	s.Helper()
	s.variables["source_url"] = source
	s.write(s.configuration(), s.instance("test", `scale_levels = { web = var.level }`), s.chartInstance(`timeouts = { update = "20s" }`))
	s.expectOutput(s.run(1, "apply", "-auto-approve"), "CrashLoopBackOff", "terraform-provider-vnf operations show --report")
	report := s.operationsCommand(0, "show", "--report", "chart")
	s.search.text(placeReport, "report", report)
	for _, text := range []string{
		" of chart: ", "## Timeline", "condition: Progressing=", "CrashLoopBackOff", "log: panic: cannot reach database", "event: ",
		"## Rendered objects", "name: planted-user", "name: LOGIN",
	} {
		if !strings.Contains(report, text) {
			s.Errorf("the report does not say %q:\n%s", text, report)
		}
	}
}

// The span of the pipeline that runs Terraform.
const pipelineTrace, pipelineSpan = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"

// traced looks at the spans of all runs: they are below that of the pipeline, and nested as the work was.
func (s *secretEnv) traced() {
	s.Helper()
	s.search.text(placeTrace, "spans", string(s.collector.Raw()))
	require.Equal(s, []string{pipelineTrace}, s.collector.Traces())
	found := map[string]bool{}
	for _, span := range s.collector.Spans() {
		found[strings.Join(s.collector.Path(span), " > ")] = true
	}
	for _, want := range []string{
		"PlanResourceChange", "PlanResourceChange > downloads GET", "ApplyResourceChange > INSTANTIATE", "ApplyResourceChange > INSTANTIATE > store update",
		"ApplyResourceChange > INSTANTIATE > apply > kubernetes PATCH", "ApplyResourceChange > INSTANTIATE > apply > wait until ready",
		"ApplyResourceChange > SCALE", "ApplyResourceChange > TERMINATE > terminate > kubernetes DELETE",
	} {
		if !found["^"+pipelineSpan+" > "+want] {
			s.Errorf("no span %q among %v", want, slices.Sorted(maps.Keys(found)))
		}
	}
}
