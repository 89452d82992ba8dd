package requests

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
)

// run runs a command and returns its exit code and what it says.
func run(t *testing.T, args ...string) (code int, out, problems string) {
	t.Helper()
	root := &cobra.Command{Use: "terraform-provider-vnf", Args: cli.NoArguments}
	root.AddCommand(Command())
	var stdout, stderr bytes.Buffer
	code = cli.Run(t.Context(), root, args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// TestExamples runs the examples of the help.
func TestExamples(t *testing.T) {
	t.Chdir("../../..")
	for line := range strings.Lines(convertCommand().Example) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), " > ")
		if code, out, problems := run(t, strings.Fields(line)[1:]...); code != 0 || !strings.Contains(out, `resource "vnf_instance" "vnf"`) {
			t.Errorf("%s: exit code %d\n%s%s", line, code, out, problems)
		}
	}
}

// write writes files into a new directory, which becomes the current one.
func write(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
}

// TestConvert converts requests that have everything, by what the configuration is to have, and what nobody may read there.
func TestConvert(t *testing.T) {
	for name, test := range map[string]struct {
		request, vim string
		want, lacks  []string
		findings     []string
	}{
		"from a text editor of Windows": {
			request: "\xef\xbb\xbf{\"flavourId\": 1, \"vimConnectionInfo\": [{\"id\": \"a\"}], \"additionalParams\": {\"id\": 12345678901234567890}}\r\n",
			want:    []string{`flavour_id = "1"`, "id = 12345678901234567890"}, findings: []string{"vimConnectionInfo[0]"},
		},
		"ports and addresses": {
			request: `{"flavourId": "simple", "instantiationLevelId": "big", "localizationLanguage": "en",
				"extVirtualLinks": [{"id": "out", "resourceId": "net-1", "resourceProviderId": "p", "extLinkPorts": [{"id": "lp", "resourceHandle": {"resourceId": "port-1"}}],
					"extCps": [{"cpdId": "CP1", "cpConfig": {"a": {"linkPortId": "lp"}, "b": {"linkPortId": "lp2"}}},
						{"cpdId": "CP2", "cpConfig": [
							{"cpProtocolData": [{"layerProtocol": "IP_OVER_ETHERNET", "ipOverEthernet": {"macAddress": "fa:16:3e:00:00:01", "segmentationId": "7", "ipAddresses": [
								{"type": "IPV4", "fixedAddresses": ["10.0.0.1"], "subnetId": "s-1"}, {"type": "IPV6", "numDynamicAddresses": 1, "subnetId": "s-2"}]}}]},
							{"cpProtocolData": [{"ipOverEthernet": {"ipAddresses": [{"fixedAddresses": ["10.0.0.2"]}, {}, {"numDynamicAddresses": 2}]}}]}]}]}],
				"extManagedVirtualLinks": [{"id": "m", "vnfVirtualLinkDescId": "inside", "resourceId": "net-2"}],
				"vimConnectionInfo": {"vim1": {"vimType": "ETSINFV.OPENSTACK_KEYSTONE.V_3", "interfaceInfo": {"endpoint": "https://keystone/v3", "skipCertificateVerification": true},
					"accessInfo": {"username": "u", "password": "hunter2", "project": "p", "projectDomain": "d", "userDomain": "d", "region": "r"}}, "vim2": {}}}`,
			want: []string{
				`instantiation_level_id = "big"`, `link_port_id = "port-1"`, `mac_address = "fa:16:3e:00:00:01"`, `fixed_addresses = ["10.0.0.1", "10.0.0.2"]`, `subnet_id = "s-2"`,
				"ext_managed_virtual_links = {\n    inside = {\n      resource_id = \"net-2\"", `auth_url                 = "https://keystone/v3"`,
				`password_wo              = var.vim_password`, `insecure_skip_tls_verify = true`, `region                   = "r"`,
			},
			lacks: []string{"hunter2"},
			findings: []string{
				"vimConnectionInfo[vim2]", "extVirtualLinks[0].resourceProviderId", "cpConfig[b].linkPortId", "ipOverEthernet.segmentationId",
				"extCps[1].cpConfig[1].cpProtocolData[0].ipOverEthernet.ipAddresses[2].numDynamicAddresses", "ipAddresses[2]: the first entry", "localizationLanguage",
			},
		},
		"secrets": {
			request: `{"flavourId": "simple", "additionalParams": {"script": {"password": "hunter2", "user": "u"}, "nodes": [{"host": "h", "token": "hunter2"}], "pin_token": 12345,
				"proxy": "http://u:hunter2@proxy/", "lcm-operation-user-data": "a.py", "text": "${var.x}"}}`,
			vim: "auth_url: https://k8s:6443\nbearer_token: hunter2\nssl_ca_cert: \"-----BEGIN CERTIFICATE-----\n  MIID\n  AAAA\n  -----END CERTIFICATE-----\"\ntype: kubernetes\nextra: { helm_info: hunter2 }\nis_default: true\n",
			want: []string{
				`bearer_token_wo         = var.vim_bearer_token`, `ca_certificate          = "-----BEGIN CERTIFICATE-----\nMIID\nAAAA\n-----END CERTIFICATE-----"`,
				`password = var.script_password`, `user = "u"`, `token = var.nodes_0_token`, "= var.pin_token", `= var.proxy`, `text = "$${var.x}"`,
				"additional_params_wo_version = 1", "ephemeral   = true",
			},
			lacks:    []string{"hunter2", "12345", "a.py"},
			findings: []string{"VIM configuration.extra.helm_info", "VIM configuration.is_default", "additionalParams.lcm-operation-user-data"},
		},
		"Kubernetes by password, unverified": {
			request: `{"flavourId": "default", "vimConnectionInfo": [{"id": "x", "vimId": "y", "vimType": "kubernetes"}]}`,
			vim:     "auth_url: https://k8s:6443\nusername: u\npassword: hunter2\nssl_ca_cert: None\nproject_name: core\ntype: kubernetes\n",
			want:    []string{`username                 = "u"`, `insecure_skip_tls_verify = true`, `default_namespace        = "core"`, `password_wo              = var.vim_password`},
			lacks:   []string{"hunter2", "vim_id\" {"},
		},
		"a VIM that is registered": {
			request: `{"flavourId": "default", "vimConnectionInfo": [{"id": "x", "vimId": "y", "vimType": "kubernetes"}]}`,
			want:    []string{"vim_id     = var.vim_id", `variable "vim_id"`}, lacks: []string{"vnf_vim\""}, findings: []string{"the VIM y is registered elsewhere"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, map[string]string{"request.json": test.request, "vim.yaml": test.vim})
			args := []string{"request", "convert", "request.json"}
			if test.vim != "" {
				args = append(args, "--vim-config", "vim.yaml")
			}
			code, out, problems := run(t, args...)
			require.Equal(t, 0, code, problems)
			plain := strings.Join(strings.Fields(out), " ")
			for _, want := range test.want {
				require.Contains(t, plain, strings.Join(strings.Fields(want), " "), "the configuration lacks")
			}
			for _, secret := range test.lacks {
				require.NotContains(t, out+problems, secret, "the command says")
			}
			for _, finding := range test.findings {
				require.Contains(t, problems, finding)
				require.Contains(t, out, finding)
			}
			require.Equal(t, len(test.findings), strings.Count(problems, "\n"), problems)
			if _, again, _ := run(t, args...); again != out {
				t.Error("the command says another thing the second time")
			}
		})
	}
}

// TestBadInput: each is one line, without a secret, and nothing is printed.
func TestBadInput(t *testing.T) {
	const good = `{"flavourId": "x"}`
	for name, test := range map[string]struct{ request, vim, want string }{
		"no JSON":          {"{\n\"flavourId\": \"x\",\n hunter2", "", "is not JSON: line 3"},
		"a list":           {"[]", "", "request.json does not hold an object"},
		"no field":         {"{}", "", "request.json holds an object without fields"},
		"null":             {"null", "", "request.json does not hold an object"},
		"UTF-16":           {"\xff\xfe{\x00}\x00", "", "request.json is UTF-16: save it as UTF-8"},
		"empty":            {"", "", "request.json"},
		"no request":       {`{"a": "hunter2"}`, "", "the request has no flavourId, which an InstantiateVnfRequest needs"},
		"flavour":          {`{"flavourId": ["hunter2"]}`, "", "flavourId must be a text"},
		"links":            {`{"flavourId": "x", "extVirtualLinks": "hunter2"}`, "", "extVirtualLinks must be a list of objects"},
		"link":             {`{"flavourId": "x", "extVirtualLinks": ["hunter2"]}`, "", "extVirtualLinks[0] must be an object"},
		"network":          {`{"flavourId": "x", "extVirtualLinks": [{"id": "a"}]}`, "", "extVirtualLinks[0] has no resourceId"},
		"point":            {`{"flavourId": "x", "extVirtualLinks": [{"id": "a", "resourceId": "b", "extCps": [{}]}]}`, "", "extCps[0] has no cpdId"},
		"addresses":        {`{"flavourId": "x", "extVirtualLinks": [{"resourceId": "b", "extCps": [{"cpdId": "c", "cpConfig": [{"cpProtocolData": [{"ipOverEthernet": {"ipAddresses": [{"fixedAddresses": [1]}]}}]}]}]}]}`, "", "must be a list of texts"},
		"managed":          {`{"flavourId": "x", "extManagedVirtualLinks": [{"id": "a"}]}`, "", "needs vnfVirtualLinkDescId and resourceId"},
		"params":           {`{"flavourId": "x", "additionalParams": "hunter2"}`, "", "additionalParams must be an object"},
		"kind of VIM":      {`{"flavourId": "x", "vimConnectionInfo": [{"vimType": "aws", "interfaceInfo": {"endpoint": "e"}}]}`, "", `the VIM has the type "aws"`},
		"VIM without URL":  {good, "type: openstack\npassword: hunter2\n", "the VIM configuration has no auth_url"},
		"VIM, no YAML":     {good, "password: [hunter2\n", "vim.yaml does not hold an object"},
		"VIM, a list":      {good, "- hunter2\n", "vim.yaml does not hold an object"},
		"VIM, odd secret":  {good, "auth_url: x\npassword: [hunter2]\n", "VIM configuration.password must be a text"},
		"VIM, wrong extra": {good, "auth_url: x\nextra: hunter2\n", "VIM configuration.extra must be an object"},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, map[string]string{"request.json": test.request, "vim.yaml": test.vim})
			args := []string{"request", "convert", "request.json"}
			if test.vim != "" {
				args = append(args, "--vim-config", "vim.yaml")
			}
			code, out, problems := run(t, args...)
			if code != cli.ExitUsage || out != "" || !strings.Contains(problems, test.want) || strings.Count(problems, "\n") != 1 || strings.Contains(problems, "hunter2") {
				t.Errorf("exit code %d, want %q:\n%s%s", code, test.want, out, problems)
			}
		})
	}
	for _, args := range [][]string{{}, {"a", "b"}, {filepath.Join(t.TempDir(), "none")}, {"--vim-config", "none", "request.json"}} {
		if code, out, problems := run(t, append([]string{"request", "convert"}, args...)...); code != cli.ExitUsage || out != "" || strings.Count(problems, "\n") != 1 {
			t.Errorf("%v: exit code %d\n%s%s", args, code, out, problems)
		}
	}
}
