//go:build unix

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
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// openStackEnv is an environment with a project of an OpenStack, and one module over the
// package firewall.
type openStackEnv struct {
	*testEnv
	cloud  labtest.OpenStackEnv
	user   labtest.OpenStackUser
	client *openstack.Client
	// name is that of the instance, source a copy of its package.
	name, source string
	// authURL leads to Keystone by a way that can be shut.
	authURL string
	shut    atomic.Bool
	// token is the last one that Keystone gave on that way, logins how many it gave.
	token  atomic.Value
	logins atomic.Int32
}

func newOpenStackEnv(t *testing.T) *openStackEnv {
	t.Helper()
	cloud := labtest.OpenStackStacks(t)
	env := &openStackEnv{testEnv: newEnv(t), cloud: cloud, user: cloud.NewProject(t), name: "fw", source: acctest.CopyPackage(t, "firewall")}
	target, err := url.Parse(cloud.AuthURL)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{
		Rewrite:  func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: target.Scheme, Host: target.Host}) },
		ErrorLog: log.New(io.Discard, "", 0),
		ModifyResponse: func(r *http.Response) error {
			if token := r.Header.Get("X-Subject-Token"); token != "" && r.Request.Method == http.MethodPost {
				env.token.Store(token)
				env.logins.Add(1)
			}
			return nil
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if env.shut.Load() {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(rw, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(server.Close)
	env.authURL = server.URL + target.Path
	env.client, err = openstack.New(openstack.Config{VIM: "cloud", Connection: env.connection(cloud.AuthURL), Credentials: vnfm.Credentials{vnfm.CredentialPassword: vnfm.Secret(env.user.Password)}})
	require.NoError(t, err)
	return env
}

func (env *openStackEnv) connection(authURL string) vnfm.OpenStackConnection {
	return vnfm.OpenStackConnection{
		AuthURL: authURL, Region: env.cloud.Region, Username: env.user.Name, UserDomainName: env.cloud.Domain, ProjectName: env.user.Project, ProjectDomainName: env.cloud.Domain,
	}
}

// arguments are those of the connection, with an expression for the password.
func (env *openStackEnv) arguments(password string) string {
	return fmt.Sprintf("openstack = { auth_url = %q, region = %q, username = %q, password = %s, project_name = %q, user_domain_name = %[6]q, project_domain_name = %[6]q }",
		env.authURL, env.cloud.Region, env.user.Name, password, env.user.Project, env.cloud.Domain)
}

// vim is the vnf_vim, without a connection where that comes with each run.
func (env *openStackEnv) vim() string {
	connection := ""
	if !env.forgetful {
		connection = env.arguments(strconv.Quote(env.user.Password))
	}
	return fmt.Sprintf("\nresource \"vnf_vim\" \"test\" {\n  name = \"cloud\"\n  %s\n}\n", connection)
}

// useRunners gives the environment a store, or none that lasts: the connection of the cloud comes with each run then. Each runner is a
// user of its own.
func (env *openStackEnv) useRunners(t *testing.T, name string) {
	t.Helper()
	env.useRemote(t, name)
	if env.forgetful {
		env.secret = env.user.Password
		env.perRun = "cloud = { " + env.arguments("var.secret") + " }"
	}
	env.ownUsers(t, env.source)
}

// level configures the firewall at a scale level.
func (env *openStackEnv) level(level int) {
	env.Helper()
	env.write(env.firewall(level)...)
}

// firewall are the parts of a configuration of the firewall at a scale level.
func (env *openStackEnv) firewall(level int, arguments ...string) []string {
	env.Helper()
	return []string{env.provider(), env.vim(), pkg(env.source), fmt.Sprintf(`
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
`, level, strings.Join(arguments, "\n  "), env.cloud.Networks["net_mgmt"], env.cloud.Networks["net0"])}
}

// another plans on a second runner, which does not wait for locks, and returns the apply of that plan.
func (env *openStackEnv) another(level int) func() result {
	env.Helper()
	other := env.next()
	other.write(env.firewall(level, `lock_timeout = "0s"`)...)
	other.expectExit(0, "plan", "-refresh=false", "-out=plan")
	return func() result { return other.run("apply", "plan") }
}

// stack is the one of the instance; nil when there is none.
func (env *openStackEnv) stack() *openstack.Stack {
	env.Helper()
	stacks, err := env.client.StacksTagged(env.Context(), "vnf-instance:"+env.name)
	require.NoError(env, err)
	if len(stacks) == 0 {
		return nil
	}
	require.Len(env, stacks, 1)
	return &stacks[0]
}

// runDuring starts terraform, and acts once Heat is at work on the stack.
func (env *openStackEnv) runDuring(act func(*running), args ...string) result {
	env.Helper()
	run := env.start(args...)
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		if stack := env.stack(); stack != nil && stack.InProgress() {
			act(run)
			return run.wait()
		}
		select {
		case <-run.done:
			env.Fatalf("Heat had nothing to do in terraform %v\n%s", args, run.wait().output)
		case <-ticker.C:
		}
	}
}

// revoke has Keystone take back the token that the provider works with.
func (env *openStackEnv) revoke() {
	env.Helper()
	token, _ := env.token.Load().(string)
	req, err := http.NewRequestWithContext(env.Context(), http.MethodDelete, env.cloud.AuthURL+"/auth/tokens", http.NoBody)
	require.NoError(env, err)
	req.Header.Set("X-Auth-Token", token)
	req.Header.Set("X-Subject-Token", token)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(env, err)
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusNoContent {
		env.Fatalf("revoking the token: %s", resp.Status)
	}
}

// expectGone checks that project and store hold nothing any more.
func (env *openStackEnv) expectGone() {
	env.Helper()
	require.Nil(env, env.stack())
	servers, err := env.client.Servers(env.Context())
	require.NoError(env, err)
	require.Empty(env, servers)
	ports, err := env.client.Ports(env.Context())
	require.NoError(env, err)
	require.Empty(env, ports)
	credentials, err := env.client.ApplicationCredentials(env.Context())
	require.NoError(env, err)
	require.Empty(env, credentials)
	for _, kind := range []store.Kind{store.KindVIM, store.KindPackage, store.KindInstance, store.KindOperation} {
		require.Empty(env, env.list(kind), "records of kind %s", kind)
	}
}

func killProvider(r *running) {
	for _, pid := range r.providers() {
		end(pid)
	}
}

// expectServers checks that the project has so many servers, all of them ACTIVE and all in the one
// stack, and that nothing is left to be done.
func (env *openStackEnv) expectServers(count int) {
	env.Helper()
	env.expectEmptyPlan()
	env.expectActive(count)
}

// expectActive checks that the project has so many servers, all of them ACTIVE.
func (env *openStackEnv) expectActive(count int) {
	env.Helper()
	servers, err := env.client.Servers(env.Context())
	require.NoError(env, err)
	for _, s := range servers {
		if s.Status != openstack.ServerActive {
			env.Errorf("server %s is %s", s.Name, s.Status)
		}
	}
	if len(servers) != count {
		env.Errorf("the project has %d servers, want %d", len(servers), count)
	}
}

// serversOf are the servers of a VDU.
func (env *openStackEnv) serversOf(vdu string) []*openstack.Server {
	env.Helper()
	servers, err := env.client.Servers(env.Context())
	require.NoError(env, err)
	var out []*openstack.Server
	for _, s := range servers {
		if strings.Contains(s.Name, "-"+vdu+"-") {
			out = append(out, s)
		}
	}
	return out
}

// TestAccOpenStack_interrupted kills the provider while Heat is at work, keeps Keystone away
// from it for 20 seconds with another process beside it, and revokes its token: the operation
// is resumed on the same stack. With a store that envStore
// names each step is that of a new runner, and a plan that was made on one is applied on the next.
func TestAccOpenStack_interrupted(t *testing.T) {
	t.Parallel()
	env := newOpenStackEnv(t)
	if name := os.Getenv(envStore); name != "" && name != "local" {
		env.useRunners(t, name)
	}
	env.level(0)
	if r := env.runDuring(killProvider, "apply", "-auto-approve"); r.code == 0 {
		t.Error("the creation was not killed")
	}
	stack := env.stack()
	env.moveOn()
	env.apply()
	env.moveOn()
	env.expectServers(2)

	env.level(1)
	if r := env.runDuring(killProvider, "apply", "-auto-approve"); r.code == 0 {
		t.Error("the scale was not killed")
	}
	env.moveOn()
	env.apply()
	env.moveOn()
	env.expectServers(3)

	env.level(2)
	apply := env.another(0)
	var other result
	outrun := false
	r := env.runDuring(func(run *running) {
		env.shut.Store(true)
		time.AfterFunc(20*time.Second, func() { env.shut.Store(false) })
		other = apply()
		select {
		case <-run.done:
			outrun = true
		default:
		}
	}, "apply", "-auto-approve")
	if r.code != 0 {
		t.Errorf("Keystone was away for 20 s, with another process beside it:\n%s", r.output)
	}
	// The apply may have had all that it needed before Keystone was away.
	env.shut.Store(false)
	env.moveOn()
	switch {
	case outrun:
		t.Logf("Heat was done before another process came:\n%s", other.output)
		env.apply()
	case other.code == 0 || !strings.Contains(other.text(), `VNF instance "fw" has been locked by`):
		t.Errorf("beside another process:\n%s", other.output)
	}
	env.expectServers(4)

	env.level(1)
	env.expectExit(2, "plan", "-detailed-exitcode", "-out=plan")
	env.moveOn("plan")
	before := int32(0)
	r = env.runDuring(func(*running) {
		before = env.logins.Load()
		env.revoke()
	}, "apply", "plan")
	if r.code != 0 || env.logins.Load() == before {
		t.Errorf("the token was revoked, and there were %d logins after that:\n%s", env.logins.Load()-before, r.output)
	}
	env.moveOn()
	env.expectServers(3)

	if now := env.stack(); now == nil || stack == nil || now.ID != stack.ID {
		t.Errorf("the stack %v became %v", stack, now)
	}

	if r := env.runDuring(killProvider, "destroy", "-auto-approve"); r.code == 0 {
		t.Error("the end was not killed")
	}
	env.moveOn()
	env.destroy()
	env.expectGone()
}
