package provider_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// barbican is the real Barbican of the lab behind a gate that the test can close.
type barbican struct {
	*testing.T
	env  labtest.OpenStackEnv
	user labtest.OpenStackUser
	keys *openstack.KeyManager
	// keystone and gate are the addresses that the provider sees.
	keystone, gate string
	// status, when it is not 0, is what the gate answers instead of Barbican, and
	// closed has it answer nothing at all.
	status atomic.Int32
	closed atomic.Bool
	// requests counts what came to the gate.
	requests atomic.Int32
}

// newBarbican makes a user who may make secrets. His password is in the environment.
func newBarbican(t *testing.T) *barbican {
	t.Helper()
	b := &barbican{T: t, env: labtest.OpenStackCompute(t)}
	b.user = b.env.NewUser(t, "member", "creator")
	var err error
	b.keys, err = openstack.NewKeyManager(openstack.Config{
		Connection:  vnfm.OpenStackConnection{AuthURL: b.env.AuthURL, Username: b.user.Name, ProjectName: b.user.Project},
		Credentials: vnfm.Credentials{vnfm.CredentialPassword: vnfm.Secret(b.user.Password)},
	})
	require.NoError(t, err)
	b.gate = b.proxy(b.env.Endpoints["key-manager"], b.guard, nil)
	b.keystone = b.proxy(strings.TrimSuffix(b.env.AuthURL, "/v3"), nil, func(resp *http.Response) error {
		// The catalogue leads to the gate.
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		body = bytes.ReplaceAll(body, []byte(b.env.Endpoints["key-manager"]), []byte(b.gate))
		resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		resp.Header.Set("Content-Length", fmt.Sprint(len(body)))
		return nil
	})
	t.Setenv("VNF_BARBICAN_PASSWORD", b.user.Password)
	t.Setenv("VNF_ENCRYPTION_KEY", "")
	return b
}

func (b *barbican) guard(w http.ResponseWriter, _ *http.Request) (answered bool) {
	b.requests.Add(1)
	switch status := b.status.Load(); {
	case b.closed.Load():
		panic(http.ErrAbortHandler)
	case status != 0:
		http.Error(w, "down for the test", int(status))
		return true
	}
	return false
}

// proxy leads to a service.
func (b *barbican) proxy(target string, guard func(http.ResponseWriter, *http.Request) bool, change func(*http.Response) error) string {
	b.Helper()
	to, err := url.Parse(target)
	if err != nil {
		b.Fatal(err)
	}
	forward := &httputil.ReverseProxy{ModifyResponse: change, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Header.Del("Accept-Encoding")
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if guard == nil || !guard(w, r) {
			forward.ServeHTTP(w, r)
		}
	}))
	b.Cleanup(server.Close)
	return server.URL
}

// encryption is the argument of the provider; more stands beside barbican.
func (b *barbican) encryption(arguments, more string) string {
	return fmt.Sprintf(`encryption = {
    barbican = {
      auth = { auth_url = %q, username = %q, user_domain_name = %q, project_name = %q, project_domain_name = %q }
      %s
    }
    %s
  }`, b.keystone, b.user.Name, b.env.Domain, b.user.Project, b.env.Domain, arguments, more)
}

// secrets are the ids of the secrets of an owner.
func (b *barbican) secrets(owner string) []string {
	b.Helper()
	ids, err := b.keys.Find(b.Context(), "terraform-provider-vnf/"+owner)
	if err != nil {
		b.Fatal(err)
	}
	return ids
}

// forgetContents removes the key of the contents of a store, which outlives the store.
func (b *barbican) forgetContents(records store.Store) {
	b.Helper()
	rec, err := records.Get(b.Context(), store.KindKey, "contents")
	if err != nil {
		b.Error(err)
		return
	}
	for _, id := range b.secrets(strings.Split(string(rec.Data), `"`)[3]) {
		if err := b.keys.Delete(b.Context(), id); err != nil {
			b.Error(err)
		}
	}
}

// nowhere looks for secrets in all files of a directory.
func nowhere(t *testing.T, dir string, secrets ...string) {
	t.Helper()
	looked := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		looked++
		for _, secret := range secrets {
			if bytes.Contains(content, []byte(secret)) {
				t.Errorf("%s holds a secret", path)
			}
		}
		return nil
	})
	if err != nil || looked == 0 {
		t.Fatalf("looked into %d files: %v", looked, err)
	}
}

// TestAccBarbican leads a VIM and a package through the life of their keys.
func TestAccBarbican(t *testing.T) {
	acctest.PreCheck(t)
	b := newBarbican(t)
	s := acctest.NewStore(t)
	edge := labtest.Kubernetes(t)
	vim := fmt.Sprintf(`
resource "vnf_vim" "test" {
  name       = "edge"
  kubernetes = { endpoint = %q, ca_certificate = file(%q), bearer_token = %q }
  timeouts   = { create = "15m", update = "15m", delete = "15m" }
}
`, edge.Endpoint, edge.CAFile, edge.AdminToken)
	config := func(encryption string) string {
		return fmt.Sprintf("provider \"vnf\" {\n  store = { local = { path = %q } }\n  %s\n}\n", s.Path, encryption) + vim + hello(t)
	}
	empty := resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
	keyFile := fmt.Sprintf("key_file = %q", s.KeyFile)

	var id string
	var former []string
	one := func(state *terraform.State) error {
		id = state.RootModule().Resources["vnf_vim.test"].Primary.ID
		now := b.secrets(id)
		if len(now) != 1 || slices.Equal(now, former) {
			return fmt.Errorf("VIM %s has the secrets %v, and had %v", id, now, former)
		}
		former = now
		nowhere(t, filepath.Dir(s.Path), edge.AdminToken, b.user.Password, "AGE-SECRET-KEY-1")
		return nil
	}
	outage := func(set func()) func() { return func() { set(); b.requests.Store(0) } }
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		ErrorCheck: func(err error) error {
			for _, secret := range []string{b.user.Password, "AGE-SECRET-KEY-1"} {
				if strings.Contains(err.Error(), secret) {
					t.Error("an error holds a secret")
				}
			}
			return err
		},
		Steps: []resource.TestStep{
			{
				// Nothing is registered while Barbican is away.
				PreConfig:   outage(func() { b.status.Store(http.StatusServiceUnavailable) }),
				Config:      config(b.encryption(`rotation_trigger = "one"`, "")),
				ExpectError: acctest.Says(`(?s)Sealing the credentials of VIM "edge": sealing the secrets of [0-9a-f-]+: looking in Barbican for the secrets terraform-provider-vnf/[0-9a-f-]+: ` + b.gate + ` answered 503 Service Unavailable`),
			},
			{
				PreConfig: func() {
					b.status.Store(0)
					if vims, err := s.Records(t).List(t.Context(), store.Query{Kind: store.KindVIM}); err != nil || len(vims) > 0 {
						t.Errorf("left of a registration that failed: %v, %v", vims, err)
					}
				},
				Config: config(b.encryption(`rotation_trigger = "one"`, "")), Check: one, ConfigPlanChecks: empty,
			},
			{
				PreConfig:   outage(func() { b.closed.Store(true) }),
				Config:      config(b.encryption(`rotation_trigger = "one"`, "")),
				ExpectError: acctest.Says(`(?s)Unable to Read VIM "edge".*Opening the credentials of VIM "edge": opening the sealed secrets of [0-9a-f-]+: reading secret [0-9a-f-]+ from Barbican: the OpenStack of encryption\.barbican cannot be reached: ` + b.gate),
			},
			{
				// A rotation that finds Barbican away changes nothing.
				Config:      config(b.encryption(`rotation_trigger = "two"`, "")),
				ExpectError: acctest.Says(`Unable to Read VIM "edge"`),
			},
			{
				PreConfig: func() {
					if b.requests.Load() == 0 {
						t.Error("nobody came to the gate")
					}
					b.closed.Store(false)
					if got := b.secrets(id); !slices.Equal(got, former) {
						t.Errorf("the secrets are %v after the outage, and were %v", got, former)
					}
				},
				Config: config(b.encryption(`rotation_trigger = "two"`, "")), Check: one, ConfigPlanChecks: empty,
			},
			{
				Config:      config("encryption = { " + keyFile + " }"),
				ExpectError: acctest.Says(`sealed with a key that is in Barbican, as secret [0-9a-f-]+: set encryption\.barbican of the provider, with decrypt_only = true`),
			},
			{
				PreConfig:   func() { b.env.RevokeRole(t, b.user, "creator") },
				Config:      config(b.encryption(`rotation_trigger = "three"`, "")),
				ExpectError: acctest.Says(`(?s)Unable to Read VIM "edge".*from Barbican: http\S+ answered 403 Forbidden.*the user of encryption\.barbican\.auth needs the role creator in its project`),
			},
			{
				// Back to a key file, which is made, and on without Barbican.
				PreConfig: func() { b.env.GrantRole(t, b.user, "creator") },
				Config:    config(b.encryption(`decrypt_only = true`, keyFile)), ConfigPlanChecks: empty,
				Check: func(*terraform.State) error {
					if left := b.secrets(id); len(left) > 0 {
						return fmt.Errorf("left in Barbican: %v", left)
					}
					return nil
				},
			},
			{
				PreConfig: outage(func() { b.closed.Store(true) }),
				Config:    config("encryption = { " + keyFile + " }"), ConfigPlanChecks: empty,
			},
			{
				// To Barbican again: one run with the key file, and on without it.
				PreConfig: func() {
					if n := b.requests.Load(); n > 0 {
						t.Errorf("%d requests to a Barbican that is not configured", n)
					}
					b.closed.Store(false)
				},
				Config: config(b.encryption("", keyFile)), ConfigPlanChecks: empty,
			},
			{
				PreConfig: func() {
					if err := os.Remove(s.KeyFile); err != nil {
						t.Error(err)
					}
				},
				Config: config(b.encryption("", "")), Check: one, ConfigPlanChecks: empty,
			},
		},
		CheckDestroy: func(*terraform.State) error {
			b.forgetContents(s.Records(t))
			if left := b.secrets(id); len(left) > 0 {
				return fmt.Errorf("left of a VIM that is gone: %v", left)
			}
			return nil
		},
	})
}
