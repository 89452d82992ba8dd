package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/provider"
)

const plantedSecret = "planted-secret-4711"

// storeDiagnostics is providerDiagnostics of a configuration with a store alone.
func storeDiagnostics(t *testing.T, store any) []string {
	t.Helper()
	return providerDiagnostics(t, object{"store": store})
}

// providerDiagnostics validates a provider configuration and, when that finds nothing, configures
// the provider with it. Each diagnostic is "<path>: <summary>: <detail>".
func providerDiagnostics(t *testing.T, arguments object) []string {
	t.Helper()
	server, err := providerserver.NewProtocol6WithError(provider.New("test")())()
	require.NoError(t, err)
	typ := getSchema(t).Provider.ValueType()
	config, err := tfprotov6.NewDynamicValue(typ, configured(t, typ, arguments))
	require.NoError(t, err)
	validated, err := server.ValidateProviderConfig(t.Context(), &tfprotov6.ValidateProviderConfigRequest{Config: &config})
	require.NoError(t, err)
	diags := validated.Diagnostics
	if len(diags) == 0 {
		resp, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: &config})
		require.NoError(t, err)
		diags = resp.Diagnostics
	}
	var out []string
	for _, d := range diags {
		var steps []string
		if d.Attribute != nil {
			for _, step := range d.Attribute.Steps() {
				steps = append(steps, fmt.Sprint(step))
			}
		}
		for i, step := range steps {
			steps[i] = strings.TrimSuffix(strings.TrimPrefix(step, `AttributeName("`), `")`)
		}
		out = append(out, fmt.Sprintf("%s: %s: %s", strings.Join(steps, "."), d.Summary, d.Detail))
	}
	slices.Sort(out)
	return out
}

// TestStoreConfiguration: every fault of a store is a diagnostic at its argument, all at once,
// and nothing is written.
func TestStoreConfiguration(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	t.Setenv("PG_CONN_STR", "")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	kubernetes := func(more object) object {
		out := object{"namespace": "vnf"}
		for name, value := range more {
			out[name] = value
		}
		return object{"kubernetes": out}
	}
	exec := object{"command": "aws", "api_version": "client.authentication.k8s.io/v1"}
	for name, test := range map[string]struct {
		store any
		// want are the beginnings of the diagnostics, sorted.
		want []string
	}{
		"none":        {object{}, []string{"store: No Store Type: Set exactly one store type"}},
		"two":         {object{"local": object{}, "postgres": object{"conn_str": "postgres://db"}}, []string{"store: Several Store Types: These are set: local, postgres. Set exactly one store type"}},
		"an unknown":  {object{"local": object{"path": tftypes.UnknownValue}}, nil},
		"bad and two": {object{"local": object{}, "kubernetes": object{"namespace": "vnf"}}, []string{": store.kubernetes.bearer_token: no credentials are given", "store.kubernetes.endpoint: No endpoint is given", "store: Several Store Types: These are set: kubernetes, local."}},

		"token":                {kubernetes(object{"endpoint": "https://192.0.2.1:6443", "bearer_token": plantedSecret}), nil},
		"token file":           {kubernetes(object{"endpoint": "https://192.0.2.1:6443", "token_file": "/no/such/token"}), nil},
		"program":              {kubernetes(object{"endpoint": "https://192.0.2.1:6443", "exec": exec}), nil},
		"unknown token":        {kubernetes(object{"endpoint": "https://192.0.2.1:6443", "bearer_token": tftypes.UnknownValue}), nil},
		"namespace":            {object{"kubernetes": object{"namespace": "VNF_store", "endpoint": "https://192.0.2.1:6443", "bearer_token": plantedSecret}}, []string{"store.kubernetes.namespace: Invalid Attribute Value Match: Attribute store.kubernetes.namespace must be the name of a Kubernetes namespace"}},
		"no way":               {kubernetes(object{"endpoint": "https://192.0.2.1:6443"}), []string{": store.kubernetes.bearer_token: no credentials are given: Set exactly one of bearer_token, token_file, exec"}},
		"halves and mixtures":  {kubernetes(object{"bearer_token": plantedSecret, "in_cluster": true, "username": "u", "client_certificate": "x", "kubeconfig_context": "c", "proxy_url": "ftp://p"}), []string{"store.kubernetes.client_certificate: A client certificate is given without its key", "store.kubernetes.in_cluster: Several ways of authentication are given: bearer_token, in_cluster", "store.kubernetes.kubeconfig_context: A context is given without a kubeconfig", "store.kubernetes.proxy_url: The proxy URL has no known scheme", "store.kubernetes.username: A user name is given without a password"}},
		"exec by half":         {kubernetes(object{"endpoint": "https://192.0.2.1:6443", "exec": object{"command": "", "api_version": "v1"}}), []string{`store.kubernetes.exec.api_version: The version "v1" of an ExecCredential is not supported: Use client.authentication.k8s.io/v1 or`, "store.kubernetes.exec.command: No program is given"}},
		"kubeconfig":           {kubernetes(object{"kubeconfig": "{" + plantedSecret}), []string{": store.kubernetes.kubeconfig: the kubeconfig cannot be used: The kubeconfig is not valid YAML"}},
		"kubeconfig exec":      {kubernetes(object{"kubeconfig": `{"contexts":[{"name":"a","context":{"cluster":"a","user":"a"}}],"clusters":[{"name":"a","cluster":{"server":"https://192.0.2.1"}}],"users":[{"name":"a","user":{"exec":{"command":"aws"}}}]}`}), []string{`: store.kubernetes.kubeconfig: the kubeconfig cannot be used: Context "a" logs in with a plugin (exec)`}},
		"kubeconfig path gone": {kubernetes(object{"kubeconfig_path": "/no/such/kubeconfig"}), []string{"store.kubernetes.kubeconfig_path: The kubeconfig cannot be used: There is no such file: it must be on each machine where Terraform runs."}},
		"not in a pod":         {kubernetes(object{"in_cluster": true}), []string{"store.kubernetes.in_cluster: There is no service account of a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set"}},

		"PostgreSQL":                    {object{"postgres": object{"conn_str": "postgres://u:" + plantedSecret + "@db"}}, nil},
		"PostgreSQL without an address": {object{"postgres": object{}}, []string{"store.postgres.conn_str: No Connection to PostgreSQL: Set conn_str, for example"}},
		"PostgreSQL with faults":        {object{"postgres": object{"conn_str": "", "schema_name": strings.Repeat("a", 64)}}, []string{"store.postgres.conn_str: Invalid Attribute Value Length", "store.postgres.schema_name: Invalid Attribute Value Length"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := storeDiagnostics(t, test.store)
			for i, line := range got {
				if strings.Contains(line, plantedSecret) {
					t.Errorf("a diagnostic holds a secret: %s", line)
				}
				if i < len(test.want) && strings.HasPrefix(line, test.want[i]) {
					got[i] = test.want[i]
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("PostgreSQL from the environment", func(t *testing.T) {
		t.Setenv("PG_CONN_STR", "postgres://db")
		if got := storeDiagnostics(t, object{"postgres": object{}}); got != nil {
			t.Errorf("diagnostics %v", got)
		}
	})
	written, err := filepath.Glob(filepath.Join(state, "*"))
	if err != nil || len(written) > 0 {
		t.Errorf("written: %v, %v", written, err)
	}
	if _, err := os.Stat("key.txt"); err == nil {
		t.Error("a key was made")
	}
}
