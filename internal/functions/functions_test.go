package functions_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

const (
	certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
	privateKey  = "-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n"
	secret      = "geheim-4711"
)

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func kubeconfig() string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: admin
contexts:
- name: admin
  context: {cluster: edge, user: admin, namespace: core}
- name: certificate
  context: {cluster: edge, user: certificate}
- name: basic
  context: {cluster: bare, user: basic}
- name: plugin
  context: {cluster: bare, user: plugin}
- name: anonymous
  context: {cluster: bare}
- name: files
  context: {cluster: edge, user: files}
- name: lost
  context: {cluster: gone, user: admin}
- name: broken
  context: {cluster: edge, user: broken}
clusters:
- name: edge
  cluster:
    server: https://10.0.0.10:6443
    certificate-authority-data: %[1]s
    tls-server-name: kubernetes
    proxy-url: http://proxy:3128
- name: bare
  cluster: {server: "https://10.0.0.11:6443", insecure-skip-tls-verify: true}
users:
- name: admin
  user: {token: %[3]s}
- name: certificate
  user: {client-certificate-data: %[1]s, client-key-data: %[2]s}
- name: basic
  user: {username: u, password: %[3]s}
- name: plugin
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: aws}}
- name: files
  user: {client-certificate: /etc/kubernetes/a.crt, client-key: /etc/kubernetes/a.key}
- name: broken
  user: {client-certificate-data: "%[3]s!", client-key-data: %[2]s}
`, b64(certificate), b64(privateKey), secret)
}

// call evaluates a function of one text and further arguments.
func call(t *testing.T, name, content string, more ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "content")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	args := ""
	for _, a := range more {
		args += fmt.Sprintf(", %q", a)
	}
	return fmt.Sprintf("terraform {\n required_providers {\n vnf = { source = \"hashicorp/vnf\" }\n }\n}\noutput \"test\" {\n value = provider::vnf::%s(file(%q)%s)\n}\n", name, path, args)
}

// nothing is every attribute of the result of parse_kubeconfig, null except for those given.
func nothing(given map[string]knownvalue.Check) knownvalue.Check {
	all := map[string]knownvalue.Check{"insecure": knownvalue.Bool(false)}
	for _, name := range []string{"host", "cluster_ca_certificate", "tls_server_name", "proxy_url", "client_certificate", "client_key", "token", "username", "password", "context", "namespace"} {
		all[name] = knownvalue.Null()
	}
	for name, check := range given {
		all[name] = check
	}
	return knownvalue.ObjectExact(all)
}

func TestParseKubeconfig(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	text := knownvalue.StringExact
	for name, tt := range map[string]struct {
		content string
		context []string
		want    knownvalue.Check
		err     string
	}{
		"current": {kubeconfig(), nil, nothing(map[string]knownvalue.Check{"host": text("https://10.0.0.10:6443"), "cluster_ca_certificate": text(certificate), "tls_server_name": text("kubernetes"),
			"proxy_url": text("http://proxy:3128"), "token": text(secret), "context": text("admin"), "namespace": text("core")}), ""},
		"certificate": {kubeconfig(), []string{"certificate"}, nothing(map[string]knownvalue.Check{"host": text("https://10.0.0.10:6443"), "cluster_ca_certificate": text(certificate), "tls_server_name": text("kubernetes"),
			"proxy_url": text("http://proxy:3128"), "client_certificate": text(certificate), "client_key": text(privateKey), "context": text("certificate")}), ""},
		"basic":     {kubeconfig(), []string{"basic"}, nothing(map[string]knownvalue.Check{"host": text("https://10.0.0.11:6443"), "insecure": knownvalue.Bool(true), "username": text("u"), "password": text(secret), "context": text("basic")}), ""},
		"plugin":    {kubeconfig(), []string{"plugin"}, nothing(map[string]knownvalue.Check{"host": text("https://10.0.0.11:6443"), "insecure": knownvalue.Bool(true), "context": text("plugin")}), ""},
		"anonymous": {kubeconfig(), []string{"anonymous"}, nothing(map[string]knownvalue.Check{"host": text("https://10.0.0.11:6443"), "insecure": knownvalue.Bool(true), "context": text("anonymous")}), ""},
		"JSON": {`{"contexts":[{"name":"a","context":{"cluster":"c"}}],"clusters":[{"name":"c","cluster":{"server":"https://h"}}]}`, nil,
			nothing(map[string]knownvalue.Check{"host": text("https://h"), "context": text("a")}), ""},

		"two contexts":     {kubeconfig(), []string{"a", "b"}, nil, `At most one context can be given`},
		"no such context":  {kubeconfig(), []string{"other"}, nil, `context "other" is not in the kubeconfig; it has "admin"`},
		"no such cluster":  {kubeconfig(), []string{"lost"}, nil, `context "lost": cluster "gone" is not in the kubeconfig; it has "bare", "edge"`},
		"files":            {kubeconfig(), []string{"files"}, nil, `user "files": client-certificate names a file, which is not read`},
		"no base64":        {kubeconfig(), []string{"broken"}, nil, `user "broken": client-certificate-data is not valid base64`},
		"no current":       {strings.Replace(kubeconfig(), "current-context: admin\n", "", 1), nil, nil, `has no current-context`},
		"no YAML":          {"contexts: [" + secret, nil, nil, `not valid YAML or has a value of the wrong type on line 2`},
		"wrong type":       {"contexts: " + secret, nil, nil, `not valid YAML or has a value of the wrong type on line 1`},
		"another document": {"kind: Secret\ndata: {a: " + secret + "}", nil, nil, `is of kind "Secret", not a kubeconfig`},
		"empty":            {"", nil, nil, `not a kubeconfig: it has neither contexts nor clusters`},
		"no server":        {strings.Replace(kubeconfig(), "server: https://10.0.0.10:6443", "", 1), nil, nil, `cluster "edge": server is missing`},
		"no PEM":           {strings.Replace(kubeconfig(), "certificate-authority-data: "+b64(certificate), "certificate-authority-data: "+b64(secret), 1), nil, nil, `certificate-authority-data does not hold PEM`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, call(t, "parse_kubeconfig", tt.content, tt.context...), tt.want, tt.err)
		})
	}
}

// check evaluates the output "test" of a configuration.
func check(t *testing.T, config string, want knownvalue.Check, wantErr string) {
	t.Helper()
	step := resource.TestStep{Config: config, PlanOnly: true}
	if wantErr != "" {
		step.ExpectError = acctest.Says(wantErr)
	} else {
		step.PlanOnly = false
		step.ConfigPlanChecks = resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectKnownOutputValue("test", want)}}
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		ErrorCheck: func(err error) error {
			if strings.Contains(err.Error(), secret) {
				t.Error("the error holds a secret")
			}
			return err
		},
		Steps: []resource.TestStep{step},
	})
}

func hello(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(acctest.ExamplePackage(t, "hello"), file))
	require.NoError(t, err)
	return string(data)
}

func TestParseVNFD(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	vnfd := hello(t, "hello.yaml")
	text, number := knownvalue.StringExact, knownvalue.Int64Exact
	for name, tt := range map[string]struct {
		content string
		want    knownvalue.Check
		err     string
	}{
		"hello": {vnfd, knownvalue.ObjectExact(map[string]knownvalue.Check{
			"vnfd_id": text("0d2f8a4c-7f8e-4b2c-9a51-3f6d2c1e7a01"), "vnfd_version": text("1.0"), "vnf_provider": text("Example Networks"),
			"product_name": text("hello"), "software_version": text("1.0.0"), "vnfm_info": knownvalue.SetSizeExact(1), "default_flavour_id": text("default"),
			"flavours": knownvalue.MapExact(map[string]knownvalue.Check{"default": knownvalue.ObjectExact(map[string]knownvalue.Check{
				"description": text("one web server"), "default_instantiation_level_id": knownvalue.Null(), "instantiation_levels": knownvalue.MapSizeExact(0),
				"scaling_aspects": knownvalue.MapExact(map[string]knownvalue.Check{"web": knownvalue.ObjectExact(map[string]knownvalue.Check{
					"name": text("web"), "description": text("web servers"), "max_level": number(3)})}),
				"vdus": knownvalue.MapExact(map[string]knownvalue.Check{"web": knownvalue.ObjectExact(map[string]knownvalue.Check{
					"name": text("web"), "description": text("web server"), "type": text("tosca.nodes.nfv.Vdu.Compute"),
					"min_instances": number(1), "max_instances": number(4), "initial_instances": number(1)})}),
			})}),
		}), ""},
		"empty":            {"", nil, `Cannot read the VNFD: content: the file is empty`},
		"no YAML":          {"a: [", nil, `Cannot read the VNFD: content:1: the file is not valid YAML`},
		"no TOSCA":         {"a: 1\n", nil, `Cannot read the VNFD: content:1:1: .*tosca_definitions_version`},
		"no descriptor_id": {strings.Replace(vnfd, "        descriptor_id: 0d2f8a4c-7f8e-4b2c-9a51-3f6d2c1e7a01\n", "", 1), nil, `content:11:5: the VNF node VNF has no descriptor_id`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, call(t, "parse_vnfd", tt.content), tt.want, tt.err)
		})
	}
}

func TestParseCSARManifest(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	manifest := hello(t, "hello.mf")
	text := knownvalue.StringExact
	file := func(path string) knownvalue.Check {
		return knownvalue.ObjectExact(map[string]knownvalue.Check{"path": text(path), "algorithm": text("SHA-256"),
			"hash": knownvalue.StringRegexp(regexp.MustCompile("^[0-9a-f]{64}$")), "content_type": knownvalue.Null(), "external": knownvalue.Bool(false)})
	}
	sets := manifest + "\nnon_mano_artifact_sets:\n  onap_ves_events:\n    Source: Files/ves.yaml\n"
	for name, tt := range map[string]struct {
		content string
		want    knownvalue.Check
		err     string
	}{
		"hello": {manifest, knownvalue.ObjectExact(map[string]knownvalue.Check{
			"metadata": knownvalue.MapPartial(map[string]knownvalue.Check{"vnf_product_name": text("hello"), "vnf_package_version": text("1.0")}),
			"sources":  knownvalue.ListExact([]knownvalue.Check{file("hello.yaml"), file("Files/kubernetes/web.yaml")}),
			"non_mano": knownvalue.MapSizeExact(0), "signed": knownvalue.Bool(false),
		}), ""},
		"non-MANO": {sets, knownvalue.ObjectPartial(map[string]knownvalue.Check{
			"non_mano": knownvalue.MapExact(map[string]knownvalue.Check{"onap_ves_events": knownvalue.ListExact([]knownvalue.Check{
				knownvalue.ObjectPartial(map[string]knownvalue.Check{"path": text("Files/ves.yaml"), "hash": knownvalue.Null()})})}),
		}), ""},
		"algorithm": {strings.Replace(manifest, "SHA-256", "MD5", 1), nil, `Cannot read the manifest: line:12:12: digest algorithm "MD5" is not supported`},
		"hash":      {strings.Replace(manifest, "Hash: 4", "Hash: x", 1), nil, `line:13:7: Hash of "hello.yaml" is not a SHA-256 digest`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, call(t, "parse_csar_manifest", tt.content), tt.want, tt.err)
		})
	}
}
