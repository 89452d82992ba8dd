package e2e_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// cloudWorld is a project of an OpenStack, a store, and one module over the package
// firewall.
type cloudWorld struct {
	*module
	env     labtest.OpenStackEnv
	user    labtest.OpenStackUser
	client  *openstack.Client
	store   acctest.Store
	records store.Store
	// authURL leads to Keystone by a way that can be shut.
	authURL string
	shut    atomic.Bool
	// token is the last one that Keystone gave on that way, logins how many it gave.
	token  atomic.Value
	logins atomic.Int32
}

func newCloudWorld(t *testing.T) *cloudWorld {
	t.Helper()
	env := labtest.OpenStackStacks(t)
	_, built := requirements(t)
	w := &cloudWorld{module: newModule(t, built), env: env, user: env.NewProject(t), store: acctest.NewStore(t)}
	w.records = w.store.Records(t)
	target, err := url.Parse(env.AuthURL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:  func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: target.Scheme, Host: target.Host}) },
		ErrorLog: log.New(io.Discard, "", 0),
		ModifyResponse: func(r *http.Response) error {
			if token := r.Header.Get("X-Subject-Token"); token != "" && r.Request.Method == http.MethodPost {
				w.token.Store(token)
				w.logins.Add(1)
			}
			return nil
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if w.shut.Load() {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(rw, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(server.Close)
	w.authURL = server.URL + target.Path
	w.client, err = openstack.New(openstack.Config{VIM: "cloud", Connection: w.connection(env.AuthURL), Credentials: vnfm.Credentials{vnfm.CredentialPassword: vnfm.Secret(w.user.Password)}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *cloudWorld) connection(authURL string) vnfm.OpenStackConnection {
	return vnfm.OpenStackConnection{
		AuthURL: authURL, Region: w.env.Region, Username: w.user.Name, UserDomainName: w.env.Domain, ProjectName: w.user.Project, ProjectDomainName: w.env.Domain,
	}
}

// level configures the firewall at a scale level.
func (w *cloudWorld) level(level int) {
	w.Helper()
	w.write(w.firewall(level)...)
}

// firewall are the parts of a configuration of the firewall at a scale level.
func (w *cloudWorld) firewall(level int, arguments ...string) []string {
	w.Helper()
	return []string{w.store.Provider(), fmt.Sprintf(`
resource "vnf_vim" "test" {
  name = "cloud"
  openstack = {
    auth_url            = %q
    region              = %q
    username            = %q
    password            = %q
    project_name        = %q
    user_domain_name    = %[6]q
    project_domain_name = %[6]q
  }
}
`, w.authURL, w.env.Region, w.user.Name, w.user.Password, w.user.Project, w.env.Domain), pkg(acctest.ExamplePackage(w, "firewall")), fmt.Sprintf(`
resource "vnf_instance" "test" {
  name         = "fw"
  vim_id       = vnf_vim.test.id
  package_id   = vnf_package.test.id
  flavour_id   = "simple"
  scale_levels = { fw = %d }
  %s
  ext_virtual_links = {
    control = { resource_id = %q, ext_cps = { TG_CP1 = {} } }
    outside = { resource_id = %q, ext_cps = { FW_CP1 = {} } }
  }
  lifecycle {
    postcondition {
      condition     = self.status == "INSTANTIATED"
      error_message = "The instance is ${self.status}: apply again to continue."
    }
  }
}
`, level, strings.Join(arguments, "\n  "), w.env.Networks["net_mgmt"], w.env.Networks["net0"])}
}

// another runs terraform apply in a directory of its own with a copy of the state, as
// somebody does who does not know that another run is on its way, and who does not wait.
func (w *cloudWorld) another(level int) result {
	w.Helper()
	other := newModule(w, w.tools)
	other.write(w.firewall(level, `lock_timeout = "0s"`)...)
	const state = "terraform.tfstate"
	text, err := os.ReadFile(filepath.Join(w.dir, state))
	if err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other.dir, state), text, 0o600); err != nil {
		w.Fatal(err)
	}
	return other.run("apply", "-auto-approve", "-refresh=false")
}

// stack is the one of the instance that the store knows; nil when there is none.
func (w *cloudWorld) stack() *openstack.Stack {
	w.Helper()
	records, err := w.records.List(w.Context(), store.Query{Kind: store.KindInstance})
	if err != nil || len(records) == 0 {
		return nil
	}
	stack, err := w.client.FindStack(w.Context(), "vnf-"+records[0].ID)
	if err != nil {
		w.Fatal(err)
	}
	return stack
}

// during starts terraform, and acts once Heat is at work on the stack.
func (w *cloudWorld) during(act func(*running), args ...string) result {
	w.Helper()
	run := w.start(args...)
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		if stack := w.stack(); stack != nil && stack.InProgress() {
			act(run)
			return run.wait()
		}
		select {
		case <-run.done:
			w.Fatalf("Heat had nothing to do in terraform %v\n%s", args, run.wait().output)
		case <-ticker.C:
		}
	}
}

// revoke has Keystone take back the token that the provider works with.
func (w *cloudWorld) revoke() {
	w.Helper()
	token, _ := w.token.Load().(string)
	req, err := http.NewRequestWithContext(w.Context(), http.MethodDelete, w.env.AuthURL+"/auth/tokens", http.NoBody)
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("X-Auth-Token", token)
	req.Header.Set("X-Subject-Token", token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusNoContent {
		w.Fatalf("revoking the token: %s", resp.Status)
	}
}

func killProvider(r *running) {
	for _, pid := range r.providers() {
		end(pid)
	}
}

// holds checks that the project has so many servers, all of them ACTIVE and all in the one
// stack, and that nothing is left to be done.
func (w *cloudWorld) holds(count int) {
	w.Helper()
	w.settled()
	servers, err := w.client.Servers(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	for _, s := range servers {
		if s.Status != openstack.ServerActive {
			w.Errorf("server %s is %s", s.Name, s.Status)
		}
	}
	if len(servers) != count {
		w.Errorf("the project has %d servers, want %d", len(servers), count)
	}
}

// TestAccOpenStack_interrupted kills the provider while Heat is at work, keeps Keystone away
// from it for 20 seconds with another process beside it, revokes its token, and ends the
// engine of Heat in the middle: what was begun is gone on with, on the same stack.
func TestAccOpenStack_interrupted(t *testing.T) {
	t.Parallel()
	w := newCloudWorld(t)
	w.level(0)
	if r := w.during(killProvider, "apply", "-auto-approve"); r.code == 0 {
		t.Error("the creation was not killed")
	}
	stack := w.stack()
	w.apply()
	w.holds(2)

	w.level(1)
	if r := w.during(killProvider, "apply", "-auto-approve"); r.code == 0 {
		t.Error("the scale was not killed")
	}
	w.apply()
	w.holds(3)

	w.level(2)
	var other result
	r := w.during(func(*running) {
		w.shut.Store(true)
		time.AfterFunc(20*time.Second, func() { w.shut.Store(false) })
		other = w.another(0)
	}, "apply", "-auto-approve")
	if r.code != 0 {
		t.Errorf("Keystone was away for 20 s, with another process beside it:\n%s", r.output)
	}
	if other.code == 0 || !strings.Contains(other.text(), `VNF instance "fw" is being worked on by`) {
		t.Errorf("beside another process:\n%s", other.output)
	}
	// The apply may have had all that it needed before Keystone was away.
	w.shut.Store(false)
	w.holds(4)

	w.level(1)
	before := int32(0)
	r = w.during(func(*running) {
		before = w.logins.Load()
		w.revoke()
	}, "apply", "-auto-approve")
	if r.code != 0 || w.logins.Load() == before {
		t.Errorf("the token was revoked, and there were %d logins after that:\n%s", w.logins.Load()-before, r.output)
	}
	w.holds(3)

	w.level(0)
	if r := w.during(func(*running) { w.env.Restart(t, "heat-engine") }, "apply", "-auto-approve"); r.code != 0 {
		t.Errorf("Heat was restarted:\n%s", r.output)
	}
	w.holds(2)
	if now := w.stack(); now == nil || stack == nil || now.ID != stack.ID {
		t.Errorf("the stack %v became %v", stack, now)
	}

	if r := w.during(killProvider, "destroy", "-auto-approve"); r.code == 0 {
		t.Error("the end was not killed")
	}
	w.destroy()
	if servers, err := w.client.Servers(t.Context()); err != nil || len(servers) > 0 {
		t.Errorf("servers are left: %v, %v", servers, err)
	}
	if records, err := w.records.List(t.Context(), store.Query{Kind: store.KindInstance}); err != nil || len(records) > 0 {
		t.Errorf("records are left: %s, %v", strings.TrimSpace(fmt.Sprint(records)), err)
	}
}
