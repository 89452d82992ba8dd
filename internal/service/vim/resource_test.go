package vim_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/compare"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

const address = "vnf_vim.test"

// vimConfig is a vnf_vim "test" with these arguments of the connection.
func vimConfig(name, more string, connection ...string) string {
	return fmt.Sprintf("resource \"vnf_vim\" \"test\" {\n name = %q\n %s\n kubernetes = {\n  %s\n }\n}\n", name, more, strings.Join(connection, "\n  "))
}

func arg(name, value string) string { return fmt.Sprintf("%s = %q", name, value) }

func file(name, path string) string { return fmt.Sprintf("%s = file(%q)", name, path) }

func expect(name string, check knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New(name), check)
}

func updateInPlace() resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{
		PreApply:             []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate)},
		PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
	}
}

// gone checks that destroying left no VIM in the store.
func gone(t *testing.T, s acctest.Store) resource.TestCheckFunc {
	return func(*terraform.State) error {
		records, err := s.Records(t).List(context.WithoutCancel(t.Context()), store.Query{Kind: store.KindVIM})
		if err == nil && len(records) > 0 {
			err = fmt.Errorf("%d VIMs are left in the store", len(records))
		}
		return err
	}
}

// named is a vnf_vim that is called as it is named.
func named(name, more string, connection ...string) string {
	return strings.Replace(vimConfig(name, more, connection...), `"vnf_vim" "test"`, fmt.Sprintf(`"vnf_vim" %q`, name), 1)
}

// staysReachable returns the checks of each step that a VIM is reachable and still the same one.
func staysReachable(address string) func() []statecheck.StateCheck {
	id, created := statecheck.CompareValue(compare.ValuesSame()), statecheck.CompareValue(compare.ValuesSame())
	return func() []statecheck.StateCheck {
		return []statecheck.StateCheck{
			statecheck.ExpectKnownValue(address, tfjsonpath.New("status"), knownvalue.StringExact("REACHABLE")),
			id.AddStateValue(address, tfjsonpath.New("id")),
			created.AddStateValue(address, tfjsonpath.New("created_at")),
		}
	}
}

// TestVIMAuthentication registers VIMs by a token and moves them through every way of
// authentication, in place and under the same id, and every other argument.
func TestVIMAuthentication(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	lab := labtest.Kubernetes(t)
	s := acctest.NewStore(t)
	endpoint, ca, token := arg("endpoint", lab.Endpoint), file("ca_certificate", lab.CAFile), arg("bearer_token", lab.AdminToken)
	version := knownvalue.StringExact(strings.TrimPrefix(lab.KubernetesVersion, "v"))
	proxy, tunnels := newProxy(t)
	ways := []struct {
		name, endpoint string
		connection     []string
	}{
		{"certificate", lab.Endpoint, []string{endpoint, ca, file("client_certificate", lab.ClientCertificateFile), file("client_key", lab.ClientKeyFile)}},
		{"basic", lab.Basic.Endpoint, []string{arg("endpoint", lab.Basic.Endpoint), file("ca_certificate", lab.Basic.CAFile), arg("username", lab.Basic.Username), arg("password", lab.Basic.Password)}},
		{"kubeconfig", lab.Endpoint, []string{file("kubeconfig", lab.Kubeconfig)}},
		{"context", lab.Endpoint, []string{file("kubeconfig", lab.Kubeconfig), arg("kubeconfig_context", currentContext(t, lab))}},
		{"insecure", lab.Endpoint, []string{endpoint, "insecure_skip_tls_verify = true", token}},
		{"namespace", lab.Endpoint, []string{endpoint, ca, token, arg("default_namespace", "kube-system")}},
		{"server_name", lab.Endpoint, []string{endpoint, ca, token, arg("tls_server_name", "localhost")}},
		{"proxy", lab.Endpoint, []string{endpoint, ca, token, arg("proxy_url", proxy.URL)}},
	}
	// Each way has a VIM of its name, which takes it first, and that of the next one afterwards.
	test, stays := staysReachable(address), make([]func() []statecheck.StateCheck, len(ways))
	registered := resource.TestStep{
		Config: s.Config(vimConfig("edge", "", endpoint, ca, token)),
		ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
			plancheck.ExpectUnknownValue(address, tfjsonpath.New("id")),
			plancheck.ExpectUnknownValue(address, tfjsonpath.New("server_version")),
			plancheck.ExpectKnownValue(address, tfjsonpath.New("type"), knownvalue.StringExact("kubernetes")),
			plancheck.ExpectKnownValue(address, tfjsonpath.New("region"), knownvalue.Null()),
			plancheck.ExpectKnownValue(address, tfjsonpath.New("services"), knownvalue.MapSizeExact(0)),
		}},
		ConfigStateChecks: append(test(),
			expect("type", knownvalue.StringExact("kubernetes")),
			expect("endpoint", knownvalue.StringExact(lab.Endpoint)),
			expect("server_version", version),
			expect("description", knownvalue.Null()),
			expect("api_groups", knownvalue.SetPartial([]knownvalue.Check{knownvalue.StringExact("apps/v1")})),
			statecheck.ExpectSensitiveValue(address, tfjsonpath.New("kubernetes").AtMapKey("bearer_token"))),
	}
	for i, way := range ways {
		stays[i] = staysReachable("vnf_vim." + way.name)
		registered.Config += named(way.name, "", endpoint, ca, token)
		registered.ConfigStateChecks = append(registered.ConfigStateChecks, stays[i]()...)
	}
	// moved has each VIM take the way that is so many after its own.
	moved := func(by int, config string) resource.TestStep {
		step := resource.TestStep{Config: s.Config(config), ConfigPlanChecks: updateInPlace(), ConfigStateChecks: test()}
		for i, vim := range ways {
			way, address := ways[(i+by)%len(ways)], "vnf_vim."+vim.name
			step.Config += named(vim.name, "", way.connection...)
			step.ConfigPlanChecks.PreApply = append(step.ConfigPlanChecks.PreApply, plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate))
			step.ConfigStateChecks = append(step.ConfigStateChecks, stays[i]()...)
			step.ConfigStateChecks = append(step.ConfigStateChecks, statecheck.ExpectKnownValue(address, tfjsonpath.New("endpoint"), knownvalue.StringExact(way.endpoint)))
		}
		return step
	}
	renamed := moved(0, vimConfig("edge 2", "description = \"moved\"", endpoint, ca, token))
	// A new name changes nothing that the VIM itself says.
	renamed.ConfigPlanChecks.PreApply = append(renamed.ConfigPlanChecks.PreApply,
		plancheck.ExpectKnownValue(address, tfjsonpath.New("status"), knownvalue.StringExact("REACHABLE")),
		plancheck.ExpectKnownValue(address, tfjsonpath.New("server_version"), version),
	)
	renamed.ConfigStateChecks = append(renamed.ConfigStateChecks, expect("name", knownvalue.StringExact("edge 2")), expect("description", knownvalue.StringExact("moved")))
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		CheckDestroy:             gone(t, s),
		Steps: []resource.TestStep{
			registered,
			renamed,
			moved(1, vimConfig("edge", "timeouts = { create = \"50s\", update = \"40s\", delete = \"30s\" }", endpoint, ca, token)),
		},
	})
	if tunnels.Load() == 0 {
		t.Error("nothing went through the proxy")
	}
}

// login writes a program that prints a token, which is in a file beside it, and returns the
// argument exec that names it, and the file. Each run adds a line to the file "runs" there.
func login(t *testing.T, token string) (exec, tokenFile string) {
	t.Helper()
	dir := t.TempDir()
	tokenFile = filepath.Join(dir, "token")
	if err := os.WriteFile(tokenFile, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf(`echo >> %[1]s/runs
echo noise >&2
printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"%%s"}}' "$(cat %[2]s)"
`, dir, tokenFile)
	if err := os.WriteFile(filepath.Join(dir, "login"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("exec = { command = \"sh\", args = [%q], env = { COLOUR = \"blue\" }, api_version = \"client.authentication.k8s.io/v1\" }", filepath.Join(dir, "login")), tokenFile
}

// tokens makes two tokens of a service account with all rights, and what ends the first.
func tokens(t *testing.T, lab labtest.Env) (first, second string, end func()) {
	t.Helper()
	namespace := lab.Namespace(t)
	lab.Kubectl(t, "-n", namespace, "create", "serviceaccount", "runner")
	lab.Kubectl(t, "create", "clusterrolebinding", namespace, "--clusterrole=cluster-admin", "--serviceaccount="+namespace+":runner")
	t.Cleanup(func() {
		_, _ = lab.TryKubectl(context.WithoutCancel(t.Context()), "delete", "clusterrolebinding", namespace)
	})
	lab.Kubectl(t, "-n", namespace, "create", "secret", "generic", "first")
	bound := []string{"--bound-object-kind=Secret", "--bound-object-name=first"}
	first = strings.TrimSpace(lab.Kubectl(t, append([]string{"-n", namespace, "create", "token", "runner"}, bound...)...))
	second = strings.TrimSpace(lab.Kubectl(t, "-n", namespace, "create", "token", "runner"))
	return first, second, func() { lab.Kubectl(t, "-n", namespace, "delete", "secret", "first") }
}

// TestVIMCredentialsAreReadAgain: VIMs whose credentials are in a file, or come from a program,
// go on when these are replaced, in processes that begin later as well. Neither plan nor state
// has them.
func TestVIMCredentialsAreReadAgain(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	lab := labtest.Kubernetes(t)
	s := acctest.NewStore(t)
	first, second, end := tokens(t, lab)
	_, tokenFile := login(t, first)
	exec, printed := login(t, first)
	endpoint, ca := arg("endpoint", lab.Endpoint), file("ca_certificate", lab.CAFile)
	config := s.Config(named("file", "", endpoint, ca, arg("token_file", tokenFile)), named("program", "", endpoint, ca, exec))
	status := func(want string, secrets ...string) []statecheck.StateCheck {
		checks := []statecheck.StateCheck{noSecret{secrets}}
		for _, address := range []string{"vnf_vim.file", "vnf_vim.program"} {
			checks = append(checks, statecheck.ExpectKnownValue(address, tfjsonpath.New("status"), knownvalue.StringExact(want)))
		}
		return checks
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		CheckDestroy:             gone(t, s),
		Steps: []resource.TestStep{
			{Config: config, ConfigStateChecks: status("REACHABLE", first)},
			{
				PreConfig: func() {
					for _, path := range []string{tokenFile, printed} {
						if err := os.WriteFile(path, []byte(second+"\n"), 0o600); err != nil {
							t.Fatal(err)
						}
					}
					end()
				},
				Config:            config + "data \"vnf_vim\" \"file\" { id = vnf_vim.file.id }\ndata \"vnf_vim\" \"program\" { id = vnf_vim.program.id }\n",
				ConfigPlanChecks:  resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
				ConfigStateChecks: status("REACHABLE", second),
			},
			{
				// Without them the plan goes on, as with a VIM that does not answer.
				PreConfig: func() {
					for _, path := range []string{tokenFile, printed} {
						if err := os.Remove(path); err != nil {
							t.Fatal(err)
						}
					}
				},
				Config:            config,
				ConfigStateChecks: status("UNREACHABLE"),
			},
		},
	})
}

// TestVIMProgramIsEdited changes the command in the record of a VIM: it is not run, and the VIM
// is registered again as configured.
func TestVIMProgramIsEdited(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	lab := labtest.Kubernetes(t)
	s := acctest.NewStore(t)
	exec, tokenFile := login(t, lab.AdminToken)
	planted := filepath.Join(t.TempDir(), "planted")
	config := s.Config(vimConfig("edge", "", arg("endpoint", lab.Endpoint), file("ca_certificate", lab.CAFile), exec))
	program := filepath.Join(filepath.Dir(tokenFile), "login")
	script, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	evil := filepath.Join(t.TempDir(), "login")
	if err := os.WriteFile(evil, append([]byte("touch "+planted+"\n"), script...), 0o600); err != nil {
		t.Fatal(err)
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		CheckDestroy:             gone(t, s),
		Steps: []resource.TestStep{
			{Config: config},
			{
				PreConfig:         func() { edited(t, s, program, evil) },
				Config:            config,
				ConfigPlanChecks:  updateInPlace(),
				ConfigStateChecks: []statecheck.StateCheck{expect("status", knownvalue.StringExact("REACHABLE"))},
			},
		},
	})
	if _, err := os.Stat(planted); err == nil {
		t.Error("the command of the edited record was run")
	}
}

// newProxy starts an HTTP proxy and counts its tunnels.
func newProxy(t *testing.T) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	var tunnels atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		tunnels.Add(1)
		server, err := new(net.Dialer).DialContext(r.Context(), "tcp", r.Host)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer func() { _ = server.Close() }()
		client, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = client.Close() }()
		if _, err := client.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
			return
		}
		go func() {
			// The end of the client's side ends the other as well.
			_, _ = io.Copy(server, buffered)
			_ = server.Close()
		}()
		_, _ = io.Copy(client, server)
	}))
	t.Cleanup(server.CloseClientConnections)
	return server, &tunnels
}

func currentContext(t *testing.T, lab labtest.Env) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^current-context: *"?([^"\n]+)"?$`).FindStringSubmatch(lab.ReadFile(t, lab.Kubeconfig))
	if m == nil {
		t.Fatal("the kubeconfig of the lab has no current-context")
	}
	return m[1]
}

// TestVIMWriteOnly rotates write-only secrets by their version and shows that none
// reaches the state or the plan, and that the sealed ones are those in use.
func TestVIMWriteOnly(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	lab := labtest.Kubernetes(t)
	s := acctest.NewStore(t)
	endpoint, ca := arg("endpoint", lab.Endpoint), file("ca_certificate", lab.CAFile)
	byToken := func(token, version string) []string {
		return []string{endpoint, ca, arg("bearer_token_wo", token), "bearer_token_wo_version = " + version}
	}
	absent := func(secrets ...string) statecheck.StateCheck { return noSecret{secrets} }
	// Three more VIMs begin with the token as well, and have these later.
	first := byToken(lab.AdminToken, "1")
	others := named("certificate", "", first...) + named("password", "", first...) + named("kubeconfig", "", first...)
	later := func(more string) string {
		return named("certificate", "", endpoint, ca, file("client_certificate", lab.ClientCertificateFile), file("client_key_wo", lab.ClientKeyFile), "client_key_wo_version = 1") +
			named("password", "", arg("endpoint", lab.Basic.Endpoint), file("ca_certificate", lab.Basic.CAFile), arg("username", lab.Basic.Username), arg("password_wo", lab.Basic.Password), "password_wo_version = 7") +
			named("kubeconfig", more, file("kubeconfig_wo", lab.Kubeconfig), "kubeconfig_wo_version = 1")
	}
	rotated := updateInPlace()
	for _, name := range []string{"certificate", "password", "kubeconfig"} {
		rotated.PreApply = append(rotated.PreApply, plancheck.ExpectResourceAction("vnf_vim."+name, plancheck.ResourceActionUpdate))
	}
	config := func(token, version, others string) string {
		return s.Config(vimConfig("edge", "", byToken(token, version)...), others)
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_11_0)},
		CheckDestroy:             gone(t, s),
		Steps: []resource.TestStep{
			{
				Config:            config(lab.AdminToken, "1", others),
				ConfigStateChecks: []statecheck.StateCheck{absent(lab.AdminToken), expect("status", knownvalue.StringExact("REACHABLE"))},
			},
			{
				// Another value under the same version is not sent.
				Config:           config("not-a-token", "1", others),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			},
			{
				// Under a new version it is, and refused by the server.
				Config:      config("not-a-token", "2", others),
				ExpectError: acctest.Says(`Unable to Update VIM "edge"`),
			},
			{
				// A good one is accepted, and so are the other secrets.
				Config:           config(lab.AdminToken, "2", later("")),
				ConfigPlanChecks: rotated,
				ConfigStateChecks: []statecheck.StateCheck{
					absent(lab.AdminToken, "not-a-token", lab.ReadFile(t, lab.ClientKeyFile), lab.Basic.Password, lab.ReadFile(t, lab.Kubeconfig)),
					expect("status", knownvalue.StringExact("REACHABLE")),
				},
			},
			{
				// A change of something else takes the current write-only value along.
				Config:           config(lab.AdminToken, "2", later("description = \"x\"")),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction("vnf_vim.kubeconfig", plancheck.ResourceActionUpdate)}},
			},
		},
	})
}

// noSecret fails when a secret is anywhere in the state.
type noSecret struct{ secrets []string }

func (c noSecret) CheckState(_ context.Context, req statecheck.CheckStateRequest, resp *statecheck.CheckStateResponse) {
	text, err := json.Marshal(req.State)
	if err != nil {
		resp.Error = err
		return
	}
	for _, s := range c.secrets {
		quoted, err := json.Marshal(strings.TrimSpace(s))
		if err != nil {
			resp.Error = err
			return
		}
		if strings.Contains(string(text), strings.Trim(string(quoted), `"`)) {
			resp.Error = fmt.Errorf("the state holds a write-only secret")
		}
	}
}

// edited replaces a text in the clear part of the record of the only VIM.
func edited(t *testing.T, s acctest.Store, was, is string) {
	t.Helper()
	in := s.Records(t)
	records, err := in.List(context.WithoutCancel(t.Context()), store.Query{Kind: store.KindVIM})
	if err != nil || len(records) != 1 || !bytes.Contains(records[0].Data, []byte(was)) {
		t.Fatal(err, records)
	}
	records[0].Data = bytes.ReplaceAll(records[0].Data, []byte(was), []byte(is))
	if err := in.Update(t.Context(), &records[0]); err != nil {
		t.Fatal(err)
	}
}

// TestVIMLost removes the record behind Terraform's back, and edits it: the VIM is registered
// again under the same id, by the refresh when the state has the credentials, else by the next apply.
func TestVIMLost(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	lab := labtest.Kubernetes(t)
	s := acctest.NewStore(t)
	id := statecheck.CompareValue(compare.ValuesSame())
	config := s.Config(acctest.VIM(t, lab, "edge"))
	writeOnly := s.Config(vimConfig("edge", "", arg("endpoint", lab.Endpoint), file("ca_certificate", lab.CAFile), arg("bearer_token_wo", lab.AdminToken), "bearer_token_wo_version = 1"))
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		CheckDestroy:             gone(t, s),
		Steps: []resource.TestStep{
			{Config: config, ConfigStateChecks: []statecheck.StateCheck{id.AddStateValue(address, tfjsonpath.New("id"))}},
			{
				PreConfig:        func() { s.Clear(t) },
				Config:           config,
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
				ConfigStateChecks: []statecheck.StateCheck{
					id.AddStateValue(address, tfjsonpath.New("id")),
					expect("status", knownvalue.StringExact("REACHABLE")),
				},
			},
			{Config: writeOnly},
			{
				PreConfig: func() { s.Clear(t) },
				Config:    writeOnly,
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply: []plancheck.PlanCheck{
						plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
						plancheck.ExpectUnknownValue(address, tfjsonpath.New("status")),
					},
					PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
				},
				ConfigStateChecks: []statecheck.StateCheck{
					id.AddStateValue(address, tfjsonpath.New("id")),
					expect("status", knownvalue.StringExact("REACHABLE")),
				},
			},
			{
				// Refreshed away from the plan: the plan sees it from the state alone.
				PreConfig:          func() { s.Clear(t) },
				RefreshState:       true,
				ExpectNonEmptyPlan: true,
			},
			{
				Config:            config,
				ConfigStateChecks: []statecheck.StateCheck{id.AddStateValue(address, tfjsonpath.New("id"))},
			},
			{
				// An edited record is as good as none: nothing is sent to its endpoint.
				PreConfig:        func() { edited(t, s, lab.Endpoint, "https://192.0.2.1:6443") },
				Config:           config,
				ConfigPlanChecks: updateInPlace(),
				ConfigStateChecks: []statecheck.StateCheck{
					id.AddStateValue(address, tfjsonpath.New("id")),
					expect("status", knownvalue.StringExact("REACHABLE")),
					expect("kubernetes", knownvalue.ObjectPartial(map[string]knownvalue.Check{"endpoint": knownvalue.StringExact(lab.Endpoint)})),
				},
			},
			{
				// Destroying needs no record.
				PreConfig: func() { s.Clear(t) },
				Config:    config,
				Destroy:   true,
			},
		},
	})
}

// TestVIMUnreachable shows that a VIM that does not answer stops no plan, and that
// one that never answered is not registered.
func TestVIMUnreachable(t *testing.T) {
	acctest.PreCheck(t)
	lab := labtest.Kubernetes(t)
	s := acctest.NewStore(t)
	config := s.Config(vimConfig("edge", "", arg("endpoint", lab.FaultyEndpoint(t)), file("ca_certificate", lab.CAFile), arg("bearer_token", lab.AdminToken)))
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		CheckDestroy:             gone(t, s),
		Steps: []resource.TestStep{
			{
				PreConfig:   func() { lab.Fault(t, "cut") },
				Config:      config,
				ExpectError: acctest.Says(`(?s)Unable to Register VIM "edge".*Check the endpoint, the\s+proxy`),
			},
			{
				PreConfig:         func() { lab.Fault(t, "clear") },
				Config:            config,
				ConfigStateChecks: []statecheck.StateCheck{expect("status", knownvalue.StringExact("REACHABLE"))},
			},
			{
				PreConfig:         func() { lab.Fault(t, "cut") },
				Config:            config,
				ConfigPlanChecks:  resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
				ConfigStateChecks: []statecheck.StateCheck{expect("status", knownvalue.StringExact("UNREACHABLE")), expect("server_version", knownvalue.StringExact(strings.TrimPrefix(lab.KubernetesVersion, "v")))},
			},
			{
				// A time limit can be changed while the VIM does not answer.
				Config:           s.Config(vimConfig("edge", "timeouts = { delete = \"20s\" }", arg("endpoint", lab.FaultyEndpoint(t)), file("ca_certificate", lab.CAFile), arg("bearer_token", lab.AdminToken))),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate)}},
			},
			{Config: config},
			{
				PreConfig:         func() { lab.Fault(t, "clear") },
				Config:            config,
				ConfigPlanChecks:  resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
				ConfigStateChecks: []statecheck.StateCheck{expect("status", knownvalue.StringExact("REACHABLE"))},
			},
			{
				PreConfig: func() { lab.Fault(t, "delay", "8s") },
				// A refresh gives up after 5 seconds.
				Config:            config,
				ConfigStateChecks: []statecheck.StateCheck{expect("status", knownvalue.StringExact("UNREACHABLE"))},
			},
		},
	})
}

// TestVIMImport imports by id and by name a VIM whose token is known at apply only.
func TestVIMImport(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	lab := labtest.Kubernetes(t)
	s := acctest.NewStore(t)
	config := s.Config(fmt.Sprintf("resource \"terraform_data\" \"token\" {\n input = %q\n}\n", lab.AdminToken),
		vimConfig("edge", "", arg("endpoint", lab.Endpoint), file("ca_certificate", lab.CAFile), "bearer_token = terraform_data.token.output"))
	// Other tests install kinds in the same lab while this one runs: the groups that a VIM offers are no constant.
	ignore := []string{"kubernetes.bearer_token", "api_groups"}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: config, ConfigStateChecks: []statecheck.StateCheck{expect("status", knownvalue.StringExact("REACHABLE"))}},
			{ResourceName: address, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: ignore},
			{ResourceName: address, ImportState: true, ImportStateId: "edge", ImportStateVerify: true, ImportStateVerifyIgnore: ignore},
			{ResourceName: address, ImportState: true, ImportStateId: "core", ExpectError: acctest.Says(`VIM Not Found`)},
			{
				Config: config + `
data "vnf_vim" "id" { id = vnf_vim.test.id }
data "vnf_vim" "name" { name = vnf_vim.test.name }
data "vnf_vims" "test" {
  name = vnf_vim.test.name
  type = vnf_vim.test.type
}
data "vnf_vims" "none" { type = "openstack" }
`,
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.CompareValuePairs("data.vnf_vim.id", tfjsonpath.New("name"), address, tfjsonpath.New("name"), compare.ValuesSame()),
					statecheck.CompareValuePairs("data.vnf_vim.name", tfjsonpath.New("id"), address, tfjsonpath.New("id"), compare.ValuesSame()),
					statecheck.ExpectKnownValue("data.vnf_vim.name", tfjsonpath.New("kubernetes").AtMapKey("endpoint"), knownvalue.StringExact(lab.Endpoint)),
					statecheck.ExpectKnownValue("data.vnf_vims.test", tfjsonpath.New("vims"), knownvalue.ListSizeExact(1)),
					statecheck.CompareValuePairs("data.vnf_vims.test", tfjsonpath.New("vims").AtSliceIndex(0).AtMapKey("id"), address, tfjsonpath.New("id"), compare.ValuesSame()),
					statecheck.ExpectKnownValue("data.vnf_vims.none", tfjsonpath.New("vims"), knownvalue.ListSizeExact(0)),
				},
			},
			{Config: config + "\ndata \"vnf_vim\" \"other\" { name = \"core\" }", ExpectError: acctest.Says(`VIM Not Found`)},
		},
	})
}

// TestVIMRefused shows what a user reads when the VIM says no.
func TestVIMRefused(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	lab := labtest.Kubernetes(t)
	const secret = "geheimes-token-4711"
	s := acctest.NewStore(t)
	config, wants := "", map[string][]string{}
	for name, tt := range map[string]struct{ connection, want string }{
		"token":      {arg("endpoint", lab.Endpoint) + "\n" + file("ca_certificate", lab.CAFile) + "\n" + arg("bearer_token", secret), `Unable to Register VIM "NAME"`},
		"password":   {arg("endpoint", lab.Basic.Endpoint) + "\n" + file("ca_certificate", lab.Basic.CAFile) + "\n" + arg("username", "nobody") + "\n" + arg("password", secret), `Unable to Register VIM "NAME"`},
		"system_CA":  {arg("endpoint", lab.Endpoint) + "\n" + arg("bearer_token", secret), `(?s)Unable to Register VIM "NAME".*certificate`},
		"dead_port":  {arg("endpoint", "https://127.0.0.1:1") + "\n" + arg("bearer_token", secret), `(?s)Unable to Register VIM "NAME".*connection refused`},
		"wrong_name": {arg("endpoint", lab.Endpoint) + "\n" + file("ca_certificate", lab.CAFile) + "\n" + arg("bearer_token", secret) + "\n" + arg("tls_server_name", "example.org"), `(?s)Unable to Register VIM "NAME".*example.org`},
		"proxy":      {arg("endpoint", lab.Endpoint) + "\n" + file("ca_certificate", lab.CAFile) + "\n" + arg("bearer_token", secret) + "\n" + arg("proxy_url", "http://127.0.0.1:1"), `(?s)Unable to Register VIM "NAME".*proxy`},
		"no_token":   {arg("endpoint", lab.Endpoint) + "\n" + arg("token_file", "/no/such/token"), `(?s)Unable to Register VIM "NAME".*from the token file "/no/such/token": there is no such file`},
		"no_program": {arg("endpoint", lab.Endpoint) + "\n" + `exec = { command = "no-such-program", api_version = "client.authentication.k8s.io/v1" }`, `(?s)Unable to Register VIM "NAME".*from the program "no-such-program": there is no such program: install it`},
		"failing":    {arg("endpoint", lab.Endpoint) + "\n" + `exec = { command = "sh", args = ["-c", "echo ${join("-", ["geheimes", "token", "4711"])}; exit 3"], api_version = "client.authentication.k8s.io/v1" }`, `(?s)Unable to Register VIM "NAME".*from the program "sh": it ended with exit code 3; its output is not shown`},
		"rubbish":    {arg("endpoint", lab.Endpoint) + "\n" + `exec = { command = "echo", args = [join("-", ["geheimes", "token", "4711"])], api_version = "client.authentication.k8s.io/v1" }`, `(?s)Unable to Register VIM "NAME".*from the program "echo": it does not print an ExecCredential`},
	} {
		config += named(name, "", tt.connection)
		wants[name] = []string{strings.Replace(tt.want, "NAME", name, 1)}
	}
	said := acctest.Errors(t, acctest.Factories(),
		// Each of these is refused by a VIM, or does not get as far.
		resource.TestStep{Config: s.Config(config)},
		// This one is refused before.
		resource.TestStep{Config: s.Config(vimConfig("edge", "", arg("endpoint", lab.Endpoint), arg("bearer_token", "two words "+secret)))},
	)
	acctest.ExpectErrors(t, said[0], "vnf_vim", wants)
	acctest.ExpectErrors(t, said[1], "vnf_vim", map[string][]string{"test": {`bearer token contains white space`}})
	for _, err := range said {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error holds a secret:\n%v", err)
		}
	}
	if err := gone(t, s)(nil); err != nil {
		t.Errorf("a VIM that refused is registered: %v", err)
	}
}
