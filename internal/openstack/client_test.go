package openstack_test

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/cloudtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const password = "devstack"

func withPassword(url string) vnfm.VIMSpec {
	return vnfm.VIMSpec{
		Name: "cloud", Type: vnfm.VIMTypeOpenStack,
		OpenStack:   &vnfm.OpenStackConnection{AuthURL: url, Username: "nfv_user", ProjectName: cloudtest.Project, Region: cloudtest.Region},
		Credentials: vnfm.Credentials{vnfm.CredentialPassword: password},
	}
}

func clientOf(t *testing.T, spec vnfm.VIMSpec) *openstack.Client {
	t.Helper()
	c, err := openstack.NewPool("test/1").Client(spec.Name, spec.OpenStack, spec.Credentials)
	require.NoError(t, err)
	return c
}

func check(t *testing.T, spec vnfm.VIMSpec) (vnfm.VIMCheck, error) {
	t.Helper()
	return openstack.NewDriver(openstack.NewPool("test/1")).CheckVIM(t.Context(), spec)
}

func TestEveryWayOfAuthentication(t *testing.T) {
	cloud := cloudtest.New(t)
	made, err := clientOf(t, withPassword(cloud.URL)).CreateApplicationCredential(t.Context(), openstack.NewApplicationCredential{Name: "tf"})
	require.NoError(t, err)
	resp, err := http.Post(cloud.URL+"/v3/auth/tokens", "application/json", strings.NewReader(fmt.Sprintf(`{"auth":{"identity":{"methods":["password"],"password":{"user":{"name":"nfv_user","password":%q}}}}}`, password)))
	require.NoError(t, err)
	token := resp.Header
	require.NoError(t, resp.Body.Close())
	clouds, err := openstack.CloudsYAML("mine", vnfm.OpenStackConnection{AuthURL: cloud.URL + "/v3", Region: cloudtest.Region}, made.ID, made.Secret)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		connection  vnfm.OpenStackConnection
		credentials vnfm.Credentials
	}{
		"password":                    {vnfm.OpenStackConnection{AuthURL: cloud.URL, Username: "nfv_user", ProjectName: cloudtest.Project}, vnfm.Credentials{vnfm.CredentialPassword: password}},
		"password, by ids, with v3":   {vnfm.OpenStackConnection{AuthURL: cloud.URL + "/v3/", UserID: made.UserID, ProjectID: cloudtest.ProjectID}, vnfm.Credentials{vnfm.CredentialPassword: password}},
		"application credential":      {vnfm.OpenStackConnection{AuthURL: cloud.URL + "/v3", ApplicationCredentialID: made.ID}, vnfm.Credentials{vnfm.CredentialApplicationSecret: made.Secret}},
		"application credential name": {vnfm.OpenStackConnection{AuthURL: cloud.URL, ApplicationCredentialName: "tf", Username: "nfv_user"}, vnfm.Credentials{vnfm.CredentialApplicationSecret: made.Secret}},
		"token as it is":              {vnfm.OpenStackConnection{AuthURL: cloud.URL}, vnfm.Credentials{vnfm.CredentialToken: vnfm.Secret(token.Get("X-Subject-Token"))}},
		"token for a project":         {vnfm.OpenStackConnection{AuthURL: cloud.URL, ProjectID: cloudtest.ProjectID}, vnfm.Credentials{vnfm.CredentialToken: vnfm.Secret(token.Get("X-Subject-Token"))}},
		"clouds.yaml":                 {vnfm.OpenStackConnection{}, vnfm.Credentials{vnfm.CredentialCloudsYAML: clouds}},
		"clouds.yaml with a name":     {vnfm.OpenStackConnection{Cloud: "mine", Interface: "internal"}, vnfm.Credentials{vnfm.CredentialCloudsYAML: clouds}},
	} {
		t.Run(name, func(t *testing.T) {
			seen, err := check(t, vnfm.VIMSpec{Name: "cloud", Type: vnfm.VIMTypeOpenStack, OpenStack: &c.connection, Credentials: c.credentials})
			require.NoError(t, err)
			assert.Equal(t, cloudtest.Project, seen.Cloud.ProjectName)
			assert.Equal(t, "nfv_user", seen.Cloud.UserName)
			assert.Equal(t, cloudtest.ProjectID+"@"+cloudtest.Region, seen.ClusterUID)
		})
	}
}

func TestCheckReadsCatalogueVersionsAndQuotas(t *testing.T) {
	cloud := cloudtest.New(t)
	seen, err := check(t, withPassword(cloud.URL))
	require.NoError(t, err)
	assert.Empty(t, seen.Problems)
	assert.Equal(t, "v3.14", seen.ServerVersion)
	assert.Equal(t, vnfm.OpenStackService{Endpoint: cloud.URL + "/compute/v2.1", Version: "v2.1", Microversion: "2.93"}, seen.Cloud.Services["compute"])
	assert.Equal(t, "v2.0", seen.Cloud.Services["network"].Version)
	assert.Contains(t, seen.Cloud.Services, "image")
	assert.NotContains(t, seen.Cloud.Services, "orchestration")

	cloud.Refuse(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/quotas/") {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"NeutronError": {"type": "PolicyNotAuthorized", "message": "rule:get_quota is disallowed by policy", "detail": ""}}`))
			return true
		}
		return false
	})
	seen, err = check(t, withPassword(cloud.URL))
	require.NoError(t, err)
	require.Len(t, seen.Problems, 1)
	assert.Equal(t, vnfm.SeverityWarning, seen.Problems[0].Severity)
	assert.Contains(t, seen.Problems[0].String(), "403 Forbidden: rule:get_quota is disallowed by policy")
}

// Errors say what was asked of which service, and hold no secret.
func TestErrors(t *testing.T) {
	cloud := cloudtest.New(t)
	tls := httptest.NewTLSServer(http.NotFoundHandler())
	tls.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(tls.Close)
	unknown := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":{"code":404,"message":"Could not recognize Fernet token","title":"Not Found"}}`)
	}))
	t.Cleanup(unknown.Close)
	other := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: tls.Certificate().Raw}))
	at := func(url string, change func(*vnfm.VIMSpec)) vnfm.VIMSpec {
		spec := withPassword(url)
		if change != nil {
			change(&spec)
		}
		return spec
	}
	for name, c := range map[string]struct {
		spec vnfm.VIMSpec
		want []string
	}{
		"wrong password": {
			at(cloud.URL, func(s *vnfm.VIMSpec) { s.Credentials[vnfm.CredentialPassword] = "geheim-4711" }),
			[]string{"authenticating: VIM \"cloud\" at http://", "401 Unauthorized: The request you have made requires authentication.", "(req-"},
		},
		"no Keystone":   {at(tls.URL, func(s *vnfm.VIMSpec) { s.OpenStack.CACertificate = other }), []string{"404 Not Found", "is the auth_url that of Keystone?"}},
		"unknown token": {at(unknown.URL, nil), []string{"refused the credentials", "Could not recognize Fernet token"}},
		"unknown CA":    {at(tls.URL, nil), []string{"set ca_certificate to the certificate authority of the cloud"}},
		"dead port":     {at("http://127.0.0.1:1", nil), []string{`VIM "cloud" cannot be reached`, "connection refused"}},
		"other region":  {at(cloud.URL, func(s *vnfm.VIMSpec) { s.OpenStack.Region = "Elsewhere" }), []string{`no service for region "Elsewhere"`, "its regions are RegionOne"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := check(t, c.spec)
			require.Error(t, err)
			assert.Equal(t, name == "no Keystone", openstack.IsNotFound(err))
			for _, want := range c.want {
				assert.Contains(t, err.Error(), want)
			}
			assert.NotContains(t, err.Error(), c.spec.Credentials[vnfm.CredentialPassword].Reveal())
		})
	}
}

func TestBadArguments(t *testing.T) {
	for name, c := range map[string]struct {
		connection  vnfm.OpenStackConnection
		credentials vnfm.Credentials
		attribute   string
		want        string
	}{
		"no URL":                       {vnfm.OpenStackConnection{Username: "a", ProjectName: "p"}, vnfm.Credentials{"password": "x"}, "auth_url", "no auth_url is given"},
		"old Keystone":                 {vnfm.OpenStackConnection{AuthURL: "https://k/v2.0", Username: "a", ProjectName: "p"}, vnfm.Credentials{"password": "x"}, "auth_url", "version 2 of Keystone"},
		"credentials":                  {vnfm.OpenStackConnection{AuthURL: "ftp://u:geheim@k:5000", Username: "a", ProjectName: "p"}, vnfm.Credentials{"password": "x"}, "", "the auth_url contains a user name or password"},
		"unencrypted":                  {vnfm.OpenStackConnection{AuthURL: "http://k:5000", Username: "a", ProjectName: "p"}, vnfm.Credentials{"password": "x"}, "auth_url", "unencrypted"},
		"nothing":                      {vnfm.OpenStackConnection{AuthURL: "https://k"}, nil, "password", "no credentials are given"},
		"two ways":                     {vnfm.OpenStackConnection{AuthURL: "https://k"}, vnfm.Credentials{"password": "x", "token": "y"}, "token", "several ways"},
		"no user":                      {vnfm.OpenStackConnection{AuthURL: "https://k", ProjectName: "p"}, vnfm.Credentials{"password": "x"}, "username", "without a user"},
		"no project":                   {vnfm.OpenStackConnection{AuthURL: "https://k", Username: "a"}, vnfm.Credentials{"password": "x"}, "project_name", "no project is given"},
		"secret alone":                 {vnfm.OpenStackConnection{AuthURL: "https://k"}, vnfm.Credentials{"application_credential_secret": "x"}, "application_credential_id", "without its application credential"},
		"name alone":                   {vnfm.OpenStackConnection{AuthURL: "https://k", ApplicationCredentialName: "n"}, vnfm.Credentials{"application_credential_secret": "x"}, "username", "without its user"},
		"own project":                  {vnfm.OpenStackConnection{AuthURL: "https://k", ApplicationCredentialID: "i", ProjectID: "p"}, vnfm.Credentials{"application_credential_secret": "x"}, "project_name", "remove the project"},
		"interface":                    {vnfm.OpenStackConnection{AuthURL: "https://k", Interface: "secret"}, vnfm.Credentials{"token": "y"}, "interface", "public, internal, admin"},
		"several clouds":               {vnfm.OpenStackConnection{}, vnfm.Credentials{"clouds_yaml": "clouds: {a: {}, b: {}}"}, "clouds_yaml", "several clouds, but cloud names none of them: a, b"},
		"unknown cloud":                {vnfm.OpenStackConnection{Cloud: "c"}, vnfm.Credentials{"clouds_yaml": "clouds: {a: {}}"}, "clouds_yaml", `no cloud "c"; its clouds are a`},
		"profile":                      {vnfm.OpenStackConnection{}, vnfm.Credentials{"clouds_yaml": "clouds: {a: {profile: x}}"}, "clouds_yaml", "refers to a profile"},
		"CA file":                      {vnfm.OpenStackConnection{}, vnfm.Credentials{"clouds_yaml": "clouds: {a: {cacert: /etc/ca.pem}}"}, "clouds_yaml", "give the certificates as ca_certificate"},
		"endpoint override":            {vnfm.OpenStackConnection{}, vnfm.Credentials{"clouds_yaml": "clouds: {a: {compute_endpoint_override: 'http://x', auth: {auth_url: 'https://k', token: geheim}}}"}, "clouds_yaml", "compute_endpoint_override"},
		"client certificate":           {vnfm.OpenStackConnection{}, vnfm.Credentials{"clouds_yaml": "clouds: {a: {key: /etc/key.pem, auth: {auth_url: 'https://k', token: geheim}}}"}, "clouds_yaml", "key"},
		"insecure":                     {vnfm.OpenStackConnection{}, vnfm.Credentials{"clouds_yaml": "clouds: {a: {insecure: true, auth: {auth_url: 'https://k', token: geheim}}}"}, "insecure_skip_tls_verify", "(insecure: true)"},
		"several regions":              {vnfm.OpenStackConnection{}, vnfm.Credentials{"clouds_yaml": "clouds: {a: {regions: [one, {name: two}], auth: {auth_url: 'https://k', token: geheim}}}"}, "clouds_yaml", "several regions"},
		"a password for somebody else": {vnfm.OpenStackConnection{}, vnfm.Credentials{"clouds_yaml": "clouds: {a: {auth_type: v3oidcpassword, auth: {auth_url: 'https://k', username: u, project_id: p, password: geheim}}}"}, "clouds_yaml", "v3oidcpassword"},
		"auth_type of something else":  {vnfm.OpenStackConnection{}, vnfm.Credentials{"clouds_yaml": "clouds: {a: {auth_type: v3token, auth: {auth_url: 'https://k', username: u, project_id: p, password: geheim}}}"}, "clouds_yaml", "v3token"},
		"no verification":              {vnfm.OpenStackConnection{}, vnfm.Credentials{"clouds_yaml": "clouds: {a: {verify: false, auth: {auth_url: 'https://k', token: geheim}}}"}, "insecure_skip_tls_verify", "(verify: false)"},
		"no YAML":                      {vnfm.OpenStackConnection{}, vnfm.Credentials{"clouds_yaml": "geheim: ["}, "clouds_yaml", "not valid YAML"},
		"CA and insecure":              {vnfm.OpenStackConnection{AuthURL: "https://k", CACertificate: "x", InsecureSkipTLSVerify: true}, vnfm.Credentials{"token": "y"}, "ca_certificate", "holds no certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := openstack.Resolved(openstack.Config{Connection: c.connection, Credentials: c.credentials})
			var invalid *vnfm.InvalidError
			require.ErrorAs(t, err, &invalid)
			assert.Equal(t, c.attribute, invalid.Problems[0].Attribute)
			assert.Contains(t, err.Error(), c.want)
			assert.NotContains(t, err.Error(), "geheim")
		})
	}
}

func TestApplicationCredentials(t *testing.T) {
	cloud := cloudtest.New(t)
	c := clientOf(t, withPassword(cloud.URL))
	made, err := c.CreateApplicationCredential(t.Context(), openstack.NewApplicationCredential{Name: "edge-1", Description: "for edge", Roles: []string{"member"}})
	require.NoError(t, err)
	require.NotEmpty(t, made.Secret)
	pool := openstack.NewPool("test/1")
	require.NoError(t, pool.Try(t.Context(), "cloud", c.Connection(), made.ID, made.Secret))
	err = pool.Try(t.Context(), "cloud", c.Connection(), made.ID, "another")
	assert.True(t, openstack.IsRefused(err))

	_, err = c.CreateApplicationCredential(t.Context(), openstack.NewApplicationCredential{Name: "edge-1"})
	assert.True(t, openstack.IsConflict(err))
	_, err = c.CreateApplicationCredential(t.Context(), openstack.NewApplicationCredential{Name: "edge-2", Roles: []string{"king"}})
	require.ErrorContains(t, err, `making application credential "edge-2" of user nfv_user: `)
	require.ErrorContains(t, err, "Could not find role: king.")

	// A restricted application credential makes no others.
	restricted := clientOf(t, vnfm.VIMSpec{
		Name: "cloud", OpenStack: &vnfm.OpenStackConnection{AuthURL: cloud.URL, ApplicationCredentialID: made.ID},
		Credentials: vnfm.Credentials{vnfm.CredentialApplicationSecret: made.Secret},
	})
	_, err = restricted.CreateApplicationCredential(t.Context(), openstack.NewApplicationCredential{Name: "edge-3"})
	require.ErrorContains(t, err, "--unrestricted")

	all, err := c.ApplicationCredentials(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.NoError(t, c.DeleteApplicationCredential(t.Context(), made.UserID, made.ID))
	require.NoError(t, c.DeleteApplicationCredential(t.Context(), made.UserID, made.ID), "what is gone is success")
	assert.Empty(t, cloud.CredentialNames())
}

// A token that was revoked is replaced in the middle, and a service that is away for a
// moment is asked again.
func TestTokenAndServiceComeBack(t *testing.T) {
	cloud := cloudtest.New(t)
	c := clientOf(t, withPassword(cloud.URL))
	_, err := c.ApplicationCredentials(t.Context())
	require.NoError(t, err)
	away := []int{http.StatusServiceUnavailable, http.StatusInternalServerError}
	revoked := true
	cloud.Refuse(func(w http.ResponseWriter, r *http.Request) bool {
		if revoked && strings.HasSuffix(r.URL.Path, "/application_credentials") {
			revoked = false
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		if len(away) > 0 {
			w.WriteHeader(away[0])
			away = away[1:]
			return true
		}
		return false
	})
	_, err = c.ApplicationCredentials(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(strings.Join(slices.DeleteFunc(cloud.Requests(), func(r string) bool { return !strings.HasPrefix(r, "GET /v3/users") }), "\n"), "\n"), "once before, refused, and again")
}

// A request that can be repeated is, after a 500 as well: an engine of Heat was restarted meanwhile. One that creates is not.
func TestInternalError(t *testing.T) {
	cloud := cloudtest.New(t)
	c := clientOf(t, withPassword(cloud.URL))
	made, err := c.CreateApplicationCredential(t.Context(), openstack.NewApplicationCredential{Name: "a"})
	require.NoError(t, err)
	failing := 0
	cloud.Refuse(func(w http.ResponseWriter, r *http.Request) bool {
		if failing == 0 || !strings.Contains(r.URL.Path, "/application_credentials") {
			return false
		}
		failing--
		w.WriteHeader(http.StatusInternalServerError)
		return true
	})
	failing = 1
	_, err = c.ApplicationCredentials(t.Context())
	require.NoError(t, err)
	failing = 1
	_, err = c.CreateApplicationCredential(t.Context(), openstack.NewApplicationCredential{Name: "b"})
	require.ErrorContains(t, err, "500")
	failing = 1
	require.NoError(t, c.DeleteApplicationCredential(t.Context(), made.UserID, made.ID))
	failing = 100
	_, err = c.ApplicationCredentials(t.Context())
	require.ErrorContains(t, err, "500")
}

// A catalogue that would have the token sent without TLS is refused before any service is asked, unless that is asked for.
func TestEndpointsWithoutTLS(t *testing.T) {
	cloud := cloudtest.New(t)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := httptest.NewRecorder()
		cloud.Config.Handler.ServeHTTP(got, r)
		maps.Copy(w.Header(), got.Header())
		w.Header().Del("Content-Length")
		w.WriteHeader(got.Code)
		// This address leads to the same server, and is not that of the loopback interface.
		_, _ = io.WriteString(w, strings.ReplaceAll(got.Body.String(), "http://127.0.0.1:", "http://0.0.0.0:"))
	}))
	t.Cleanup(server.Close)
	spec := withPassword(server.URL)
	spec.OpenStack.CACertificate = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	_, err := check(t, spec)
	var invalid *vnfm.InvalidError
	require.ErrorAs(t, err, &invalid)
	assert.Equal(t, "allow_http_endpoints", invalid.Problems[0].Attribute)
	plain := strings.Replace(cloud.URL, "127.0.0.1", "0.0.0.0", 1)
	assert.Equal(t, "the catalogue of "+server.URL+" has services without TLS, which would get the token unencrypted: image at "+plain+"/image, compute at "+plain+
		"/compute/v2.1, network at "+plain+"/network, block-storage at "+plain+"/volume/v3/"+cloudtest.ProjectID+", load-balancer at "+plain+"/octavia", invalid.Problems[0].Summary)
	assert.Equal(t, []string{"POST /v3/auth/tokens"}, cloud.Requests())

	spec.OpenStack.AllowHTTPEndpoints = true
	_, err = check(t, spec)
	require.NoError(t, err)
}

// TestNamesThatAreNoSegments sends nothing for names that a proxy would turn into the path
// of a collection.
func TestNamesThatAreNoSegments(t *testing.T) {
	c := clientOf(t, withPassword(cloudtest.New(t).URL))
	for _, id := range []string{"", ".", "..", "a/.."} {
		assert.ErrorContains(t, c.DeleteImage(t.Context(), id), "nothing was sent", "image %q", id)
	}
}
