package vim

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func newPair(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}))
}

func kubeconfigText(user string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: a
contexts:
- name: a
  context: {cluster: c, user: u}
clusters:
- name: c
  cluster: {server: "https://10.0.0.10:6443"}
users:
- name: u
  user: %s
`, user)
}

func render(diags diag.Diagnostics) []string {
	var lines []string
	for _, d := range diags {
		where := ""
		if with, ok := d.(diag.DiagnosticWithPath); ok {
			where = with.Path().String()
		}
		lines = append(lines, fmt.Sprintf("%s: %s: %s", where, d.Summary(), d.Detail()))
	}
	return lines
}

func TestValidate(t *testing.T) {
	t.Parallel()
	certificate, key := newPair(t)
	_, otherKey := newPair(t)
	text, unknown := types.StringValue, types.StringUnknown()
	const geheim = "geheim-4711"
	base := func(edit func(*kubernetesModel)) *kubernetesModel {
		k := &kubernetesModel{}
		k.Endpoint = text("https://10.0.0.10:6443")
		edit(k)
		return k
	}
	token := func(edit func(*kubernetesModel)) *kubernetesModel {
		k := base(edit)
		k.BearerToken = text(geheim)
		return k
	}
	config := func(yaml string, edit func(*kubernetesModel)) *kubernetesModel {
		k := &kubernetesModel{Kubeconfig: text(yaml)}
		edit(k)
		return k
	}
	same := func(*kubernetesModel) {}
	program := attrs.ExecValue(&vnfm.ExecPlugin{Command: "aws", APIVersion: "client.authentication.k8s.io/v1"}, types.ObjectNull(nil))
	for name, tt := range map[string]struct {
		k *kubernetesModel
		// want are the beginnings of the diagnostics.
		want []string
	}{
		"token":                  {token(same), nil},
		"token, write-only":      {base(func(k *kubernetesModel) { k.BearerTokenWO = text(geheim) }), nil},
		"basic":                  {base(func(k *kubernetesModel) { k.Username, k.Password = text("u"), text(geheim) }), nil},
		"certificate":            {base(func(k *kubernetesModel) { k.ClientCertificate, k.ClientKey = text(certificate), text(key) }), nil},
		"kubeconfig":             {config(kubeconfigText("{token: "+geheim+"}"), same), nil},
		"kubeconfig, overridden": {config(kubeconfigText("{token: "+geheim+"}"), func(k *kubernetesModel) { k.Endpoint = text("https://127.0.0.1:1") }), nil},
		"http on this machine":   {token(func(k *kubernetesModel) { k.Endpoint = text("http://127.0.0.1:8001") }), nil},
		"token file":             {base(func(k *kubernetesModel) { k.TokenFile = text("/run/token") }), nil},
		"exec":                   {base(func(k *kubernetesModel) { k.Exec = program }), nil},
		"unknown exec":           {base(func(k *kubernetesModel) { k.Exec = types.ObjectUnknown(nil) }), nil},
		"unknown token file":     {base(func(k *kubernetesModel) { k.TokenFile = unknown }), nil},
		"unknown token":          {base(func(k *kubernetesModel) { k.BearerToken = unknown }), nil},
		"unknown write-only":     {base(func(k *kubernetesModel) { k.KubeconfigWO = unknown }), nil},
		"unknown password":       {base(func(k *kubernetesModel) { k.Username, k.Password = text("u"), unknown }), nil},
		"unknown second way":     {token(func(k *kubernetesModel) { k.Kubeconfig = unknown }), nil},
		"unknown all": {&kubernetesModel{connectionModel: connectionModel{Endpoint: unknown, CACertificate: unknown, InsecureSkipTLSVerify: types.BoolUnknown(), ProxyURL: unknown,
			Username: unknown, ClientCertificate: unknown, KubeconfigContext: unknown}, BearerToken: unknown, ClientKey: unknown, Kubeconfig: unknown}, nil},

		"nothing":              {base(same), []string{": No Authentication: kubernetes: Exactly one way"}},
		"two ways":             {token(func(k *kubernetesModel) { k.KubeconfigWO = text(kubeconfigText("{token: x}")) }), []string{": Several Ways of Authentication: kubernetes: These are set: bearer_token; kubeconfig."}},
		"three ways":           {token(func(k *kubernetesModel) { k.TokenFile, k.Exec = text("/run/token"), program }), []string{": Several Ways of Authentication: kubernetes: These are set: bearer_token; token_file; exec."}},
		"exec, no endpoint":    {base(func(k *kubernetesModel) { k.Endpoint, k.Exec = types.StringNull(), program }), []string{"kubernetes.endpoint: Missing Endpoint"}},
		"username alone":       {base(func(k *kubernetesModel) { k.Username = text("u") }), []string{": Incomplete Authentication: kubernetes: password is missing"}},
		"password alone":       {base(func(k *kubernetesModel) { k.PasswordWO = text(geheim) }), []string{": Incomplete Authentication: kubernetes: username is missing"}},
		"certificate alone":    {base(func(k *kubernetesModel) { k.ClientCertificate = text(certificate) }), []string{": Incomplete Authentication: kubernetes: client_key is missing"}},
		"key alone":            {base(func(k *kubernetesModel) { k.ClientKey = text(key) }), []string{": Incomplete Authentication: kubernetes: client_certificate is missing"}},
		"no endpoint":          {token(func(k *kubernetesModel) { k.Endpoint = types.StringNull() }), []string{"kubernetes.endpoint: Missing Endpoint"}},
		"endpoint scheme":      {token(func(k *kubernetesModel) { k.Endpoint = text("10.0.0.10:6443") }), []string{"kubernetes.endpoint: Invalid URL: This is not a URL."}},
		"endpoint ftp":         {token(func(k *kubernetesModel) { k.Endpoint = text("ftp://10.0.0.10") }), []string{"kubernetes.endpoint: Invalid URL: A URL that begins with https:// or http:// is expected."}},
		"endpoint no host":     {token(func(k *kubernetesModel) { k.Endpoint = text("https://:6443") }), []string{"kubernetes.endpoint: Invalid URL: The URL has no host."}},
		"endpoint credentials": {token(func(k *kubernetesModel) { k.Endpoint = text("https://u:" + geheim + "@h") }), []string{": Invalid URL: kubernetes.endpoint: The URL holds credentials"}},
		"endpoint query":       {token(func(k *kubernetesModel) { k.Endpoint = text("https://h/?a=b") }), []string{"kubernetes.endpoint: Invalid URL: The URL has a query"}},
		"endpoint http":        {token(func(k *kubernetesModel) { k.Endpoint = text("http://10.0.0.10") }), []string{"kubernetes.endpoint: Endpoint Without TLS"}},
		"proxy scheme":         {token(func(k *kubernetesModel) { k.ProxyURL = text("ssh://h") }), []string{"kubernetes.proxy_url: Invalid URL: A URL that begins with http://"}},
		"proxy credentials":    {token(func(k *kubernetesModel) { k.ProxyURL = text("http://u:" + geheim + "@h") }), []string{": Invalid URL: kubernetes.proxy_url: The URL holds credentials"}},
		"insecure with CA": {token(func(k *kubernetesModel) {
			k.CACertificate, k.InsecureSkipTLSVerify = text(certificate), types.BoolValue(true)
		}), []string{"kubernetes.insecure_skip_tls_verify: CA Certificate Without Verification"}},
		"CA no PEM":   {token(func(k *kubernetesModel) { k.CACertificate = text("MIIB") }), []string{"kubernetes.ca_certificate: Invalid PEM: A certificate as PEM is expected"}},
		"CA is a key": {token(func(k *kubernetesModel) { k.CACertificate = text(key) }), []string{"kubernetes.ca_certificate: Invalid PEM: Block 1 is a PRIVATE KEY, not a certificate."}},
		"CA damaged": {token(func(k *kubernetesModel) {
			k.CACertificate = text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
		}), []string{"kubernetes.ca_certificate: Invalid Certificate: Block 1 cannot be read"}},
		"key no PEM":           {base(func(k *kubernetesModel) { k.ClientCertificate, k.ClientKey = text(certificate), text(geheim) }), []string{": Invalid PEM: kubernetes.client_key: A private key as PEM is expected."}},
		"key is a certificate": {base(func(k *kubernetesModel) { k.ClientCertificate, k.ClientKeyWO = text(certificate), text(certificate) }), []string{": Invalid PEM: kubernetes.client_key_wo: A private key is expected, not CERTIFICATE."}},
		"key of another":       {base(func(k *kubernetesModel) { k.ClientCertificate, k.ClientKey = text(certificate), text(otherKey) }), []string{": Key Does Not Fit the Certificate: kubernetes.client_key: "}},
		"key encrypted": {base(func(k *kubernetesModel) {
			k.ClientCertificate, k.ClientKey = text(certificate), text(strings.ReplaceAll(key, "PRIVATE KEY", "ENCRYPTED PRIVATE KEY"))
		}), []string{": Encrypted Private Key: kubernetes.client_key: "}},
		"context alone":         {token(func(k *kubernetesModel) { k.KubeconfigContext = text("a") }), []string{"kubernetes.kubeconfig_context: Context Without Kubeconfig"}},
		"kubeconfig broken":     {config("a: [", same), []string{": Unusable Kubeconfig: kubernetes.kubeconfig: The kubeconfig is not valid YAML"}},
		"kubeconfig other text": {config("hello", same), []string{": Unusable Kubeconfig: kubernetes.kubeconfig: The kubeconfig is not valid YAML"}},
		"kubeconfig context":    {config(kubeconfigText("{token: x}"), func(k *kubernetesModel) { k.KubeconfigContext = text("b") }), []string{`: Unusable Kubeconfig: kubernetes.kubeconfig: Context "b" is not in the kubeconfig; it has "a".`}},
		"kubeconfig exec":       {config(kubeconfigText("{exec: {command: aws}}"), same), []string{`: Unusable Kubeconfig: kubernetes.kubeconfig: Context "a" logs in with a plugin (exec)`}},
		"kubeconfig file":       {config(kubeconfigText("{client-certificate: /etc/a.crt}"), same), []string{`: Unusable Kubeconfig: kubernetes.kubeconfig: User "u": client-certificate names a file`}},
		"kubeconfig empty user": {config(kubeconfigText("{}"), same), []string{`: Unusable Kubeconfig: kubernetes.kubeconfig: Context "a" holds no credentials.`}},
		"kubeconfig two ways":   {config(kubeconfigText("{token: "+geheim+", username: u, password: p}"), same), []string{`: Unusable Kubeconfig: kubernetes.kubeconfig: The user of context "a" has several ways`}},
		"kubeconfig insecure": {config(strings.Replace(kubeconfigText("{token: "+geheim+"}"), ":6443\"", ":6443\", insecure-skip-tls-verify: true", 1), same), []string{
			`kubernetes.insecure_skip_tls_verify: Kubeconfig Without Verification: Context "a" leaves the certificate of the API server unverified`}},
		"kubeconfig impersonate": {config(kubeconfigText("{token: "+geheim+", as: root}"), same), []string{`: Unusable Kubeconfig: kubernetes.kubeconfig: Context "a" impersonates another user`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := render(tt.k.validate(path.Root("kubernetes")))
			if len(got) != len(tt.want) {
				t.Fatalf("diagnostics\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
			for i := range got {
				if !strings.HasPrefix(got[i], tt.want[i]) {
					t.Errorf("diagnostic\n%s\nwant\n%s", got[i], tt.want[i])
				}
				if strings.Contains(got[i], geheim) {
					t.Errorf("the diagnostic holds a secret: %s", got[i])
				}
			}
		})
	}
}

// TestConnectionDefaults: missing arguments of a configuration read back as their defaults, or as null.
func TestConnectionDefaults(t *testing.T) {
	t.Parallel()
	v := &vnfm.VIM{
		Type: vnfm.VIMTypeKubernetes, CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Kubernetes: &vnfm.KubernetesConnection{Endpoint: "https://h"},
	}
	m := resourceModel{}
	m.Kubernetes = types.ObjectNull(kubernetesTypes())
	require.Empty(t, m.fromVIM(t.Context(), v))
	require.Equal(t, "2026-01-02T03:04:05Z", m.CreatedAt.ValueString())
	defaults := map[string]attr.Value{
		"endpoint": types.StringValue("https://h"), "insecure_skip_tls_verify": types.BoolValue(false), "default_namespace": types.StringValue("default"),
	}
	checkDefaults(t, m.Kubernetes, defaults)
	v.Kubernetes, v.OpenStack = nil, &vnfm.OpenStackConnection{AuthURL: "https://h"}
	m.OpenStack = types.ObjectNull(openstackTypes())
	require.Empty(t, m.fromVIM(t.Context(), v))
	checkDefaults(t, m.OpenStack, map[string]attr.Value{
		"auth_url": types.StringValue("https://h"), "insecure_skip_tls_verify": types.BoolValue(false), "allow_http_endpoints": types.BoolValue(false),
	})
}

// checkDefaults checks that the attributes of a connection have these values, and that the
// others are null.
func checkDefaults(t *testing.T, connection types.Object, want map[string]attr.Value) {
	t.Helper()
	for name, a := range connection.Attributes() {
		if w, ok := want[name]; ok && !a.Equal(w) {
			t.Errorf("%s is %s, not %s", name, a, w)
		} else if !ok && !a.IsNull() {
			t.Errorf("%s is %s, not null", name, a)
		}
	}
}

// TestMayBeOther: another password is that of the same user; everything else may lead to another one.
func TestMayBeOther(t *testing.T) {
	t.Parallel()
	before := openstackModel{
		"auth_url": types.StringValue("https://keystone"), "username": types.StringValue("a"), "password": types.StringValue("x"),
		"password_wo_version": types.Int64Value(1), "application_credential_secret_wo_version": types.Int64Value(1), "token_wo_version": types.Int64Value(1),
	}
	require.False(t, before.mayBeOther(before))
	for name, other := range map[string]bool{
		"auth_url": true, "username": true, "password": false, "password_wo_version": false, "application_credential_secret_wo_version": false, "token_wo_version": true,
	} {
		now := maps.Clone(before)
		now[name] = types.StringUnknown()
		require.Equal(t, other, now.mayBeOther(before), name)
	}
}
