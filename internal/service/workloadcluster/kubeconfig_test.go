package workloadcluster_test

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/config"
	"github.com/hashicorp/terraform-plugin-testing/echoprovider"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/workloadcluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// lookup is a data source or ephemeral resource that looks at cluster "edge".
func (env *testEnv) lookup(block, arguments string) string {
	return fmt.Sprintf(`
%s "test" {
  management_vim_id = vnf_vim.test.id
  namespace         = %q
  name              = "edge"
  %s
}
`, block, env.namespace, arguments)
}

const (
	dataKubeconfig      = `data "vnf_capi_workload_kubeconfig"`
	ephemeralKubeconfig = `ephemeral "vnf_capi_workload_kubeconfig"`
	dataCluster         = `data "vnf_capi_workload_cluster"`
)

// runEphemeral runs steps that make nothing but a vnf_vim, with a provider that shows what an
// ephemeral resource gave.
func (env *testEnv) runEphemeral(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	acctest.PreCheck(t)
	factories := acctest.Factories()
	if env.diagnostics != nil {
		factories = env.diagnostics.Factories()
	}
	factories["echo"] = echoprovider.NewProviderServer()
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: factories,
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_11_0)},
		Steps:                    steps,
	})
}

func (env *testEnv) configWithVIM(parts ...string) string {
	return env.store.Config(append([]string{acctest.VIM(env, env.lab, "test")}, parts...)...)
}

// The kubeconfig as a data source: its parts parse and work, the whole is what
// Cluster API wrote to the byte, and a rotation is seen by the next refresh.
func TestAccWorkloadKubeconfig_dataSource(t *testing.T) {
	env := newEnv(t)
	env.diagnostics = &acctest.Diagnostics{}
	env.plantCluster("edge")
	const address = "data.vnf_capi_workload_kubeconfig.test"
	notAfter := time.Now().Add(1000 * time.Hour).UTC().Truncate(time.Second)
	first, _ := env.kubeconfig(notAfter)
	second, _ := env.kubeconfig(notAfter.Add(time.Hour))
	expired, _ := env.kubeconfig(time.Now().Add(-time.Hour))
	is := func(name, want string) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(address, tfjsonpath.New(name), knownvalue.StringExact(want))
	}
	isNull := func(name string) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(address, tfjsonpath.New(name), knownvalue.Null())
	}
	env.runEphemeral(t,
		resource.TestStep{
			// An error would stop the destroy of a cluster that is gone.
			Config:            env.configWithVIM(env.lookup(dataKubeconfig, "")),
			ConfigStateChecks: []statecheck.StateCheck{isNull("kubeconfig"), isNull("host"), isNull("not_after")},
			Check:             env.diagnostics.HasWarning(`(?s)Kubeconfig Not Found.*no Secret "edge-kubeconfig" in namespace "` + env.namespace + `"`),
		},
		resource.TestStep{
			// Nobody waits for a cluster that does not exist.
			Config:            env.configWithVIM(strings.Replace(env.lookup(dataKubeconfig, `wait_timeout = "10m"`), `"edge"`, `"gone"`, 1)),
			ConfigStateChecks: []statecheck.StateCheck{isNull("kubeconfig")},
			Check:             env.diagnostics.HasWarning(`(?s)Kubeconfig Not Found.*no Secret "gone-kubeconfig"`),
		},
		resource.TestStep{
			Config:      env.configWithVIM(env.lookup(dataKubeconfig, `wait_timeout = "2s"`)),
			ExpectError: acctest.Says(`(?s)workload API of workload cluster \S+/edge does not answer.*there is no kubeconfig yet`),
		},
		resource.TestStep{
			Config:      env.configWithVIM(env.lookup(dataKubeconfig, `wait_timeout = "soon"`)),
			ExpectError: acctest.Says(`Invalid Time Duration String Value`),
		},
		resource.TestStep{
			PreConfig: func() { env.plantSecret("edge-kubeconfig", map[string]string{"value": first}) },
			Config:    env.configWithVIM(env.lookup(dataKubeconfig, `wait_timeout = "2m"`)),
			ConfigStateChecks: []statecheck.StateCheck{
				is("kubeconfig", first), is("host", env.lab.Endpoint), is("not_after", notAfter.Format(time.RFC3339)), is("cluster_ca_certificate", env.pki("ca.crt")),
				statecheck.ExpectSensitiveValue(address, tfjsonpath.New("kubeconfig")), statecheck.ExpectSensitiveValue(address, tfjsonpath.New("client_key")),
			},
			Check: env.expectNodes(address),
		},
		resource.TestStep{
			// Read again it is the same.
			Config:            env.configWithVIM(env.lookup(dataKubeconfig, `wait_timeout = "2m"`)),
			ConfigPlanChecks:  resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			ConfigStateChecks: []statecheck.StateCheck{is("kubeconfig", first)},
		},
		resource.TestStep{
			PreConfig:         func() { env.plantSecret("edge-kubeconfig", map[string]string{"value": second}) },
			Config:            env.configWithVIM(env.lookup(dataKubeconfig, "")),
			ConfigStateChecks: []statecheck.StateCheck{is("kubeconfig", second), is("not_after", notAfter.Add(time.Hour).Format(time.RFC3339))},
		},
		resource.TestStep{
			// An expired one is returned where nobody asks whether it works.
			PreConfig: func() { env.plantSecret("edge-kubeconfig", map[string]string{"value": expired}) },
			Config:    env.configWithVIM(env.lookup(dataKubeconfig, "")),
		},
		resource.TestStep{
			// A check fails at once and says what to do.
			Config:      env.configWithVIM(env.lookup(dataKubeconfig, `wait_timeout = "10m"`)),
			ExpectError: acctest.Says(`(?s)client certificate in the kubeconfig of workload cluster ` + env.namespace + `/edge expired at .*Change kubeconfig_rotation_trigger of the vnf_capi_workload_cluster`),
		},
		resource.TestStep{
			Config:      env.configWithVIM(env.lookup(ephemeralKubeconfig, `wait_timeout = "10m"`)),
			ExpectError: acctest.Says(`(?s)client certificate in the kubeconfig of workload cluster ` + env.namespace + `/edge expired at .*Change kubeconfig_rotation_trigger of the vnf_capi_workload_cluster`),
		},
		resource.TestStep{
			Config: env.configWithVIM(fmt.Sprintf(`
resource "vnf_vim" "edge" {
  name       = "edge"
  kubernetes = { kubeconfig_ref = { management_vim_id = vnf_vim.test.id, namespace = %q, name = "edge" } }
}
`, env.namespace)),
			ExpectError: acctest.Says(`(?s)client certificate in the kubeconfig of workload cluster ` + env.namespace + `/edge expired at .*Change kubeconfig_rotation_trigger of the vnf_capi_workload_cluster`),
		},
		resource.TestStep{
			PreConfig:   func() { env.plantSecret("edge-kubeconfig", map[string]string{"value": "users: [top secret text"}) },
			Config:      env.configWithVIM(env.lookup(dataKubeconfig, "")),
			ExpectError: acctest.Says(`kubeconfig in Secret ` + env.namespace + `/edge-kubeconfig cannot be used: the kubeconfig is not valid YAML`),
		},
	)
}

// expectNodes lists nodes with the single parts of the data source.
func (env *testEnv) expectNodes(address string) resource.TestCheckFunc {
	return func(s *terraform.State) error {
		attributes := s.RootModule().Resources[address].Primary.Attributes
		client, err := kube.New(kube.Config{
			Connection: vnfm.KubernetesConnection{
				Endpoint: attributes["host"], CACertificate: attributes["cluster_ca_certificate"], ClientCertificate: attributes["client_certificate"],
			},
			Credentials: vnfm.Credentials{vnfm.CredentialClientKey: vnfm.Secret(attributes["client_key"])},
			VIM:         "edge",
		})
		if err != nil {
			return err
		}
		check, err := client.Check(env.Context())
		if err == nil && check.ServerVersion == "" {
			err = fmt.Errorf("the workload API says no version: %+v", check)
		}
		return err
	}
}

// The ephemeral resource gives the same and is in no state; with certificate_request it issues a
// certificate with the rights of its user alone.
func TestAccWorkloadKubeconfig_ephemeral(t *testing.T) {
	env := newEnv(t)
	env.diagnostics = &acctest.Diagnostics{}
	env.plantCluster("edge")
	intact, key := env.kubeconfig(time.Now().Add(1000 * time.Hour))
	env.plantSecret("edge-kubeconfig", map[string]string{"value": intact})
	echo := func(value string) string {
		return fmt.Sprintf("provider \"echo\" {\n  data = %s\n}\nresource \"echo\" \"test\" {}\n", value)
	}
	shown := tfjsonpath.New("data")
	issued := env.lookup(ephemeralKubeconfig, `certificate_request = { common_name = "reader", organizations = ["auditors"], ttl = "1h" }`)
	env.runEphemeral(t,
		resource.TestStep{
			Config: env.configWithVIM(env.lookup(ephemeralKubeconfig, `wait_timeout = "2m"`)),
			Check: func(s *terraform.State) error {
				if strings.Contains(fmt.Sprint(s.RootModule()), key) {
					return fmt.Errorf("the state holds the key")
				}
				return nil
			},
		},
		resource.TestStep{
			Config:            env.configWithVIM(env.lookup(ephemeralKubeconfig, ""), echo("ephemeral.vnf_capi_workload_kubeconfig.test.kubeconfig")),
			ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownValue("echo.test", shown, knownvalue.StringExact(intact))},
		},
		resource.TestStep{
			Config:      env.configWithVIM(issued, echo("ephemeral.vnf_capi_workload_kubeconfig.test.host")),
			ExpectError: acctest.Says(`Reading the CA of workload cluster .*/edge[\s\S]*kept elsewhere; leave certificate_request out`),
		},
		resource.TestStep{
			PreConfig: func() {
				env.plantSecret("edge-ca", map[string]string{"tls.crt": env.pki("ca.crt"), "tls.key": env.pki("ca.key")})
			},
			Config:      env.configWithVIM(env.lookup(ephemeralKubeconfig, `certificate_request = { common_name = "reader", ttl = "0s" }`), echo("ephemeral.vnf_capi_workload_kubeconfig.test.host")),
			ExpectError: acctest.Says(`certificate_request.ttl must be a duration of more than 0s`),
		},
		resource.TestStep{
			// Taken out, so that the echo takes up a new value.
			Config: env.configWithVIM(),
		},
		resource.TestStep{
			Config: env.configWithVIM(issued, echo("ephemeral.vnf_capi_workload_kubeconfig.test.kubeconfig")),
			Check: resource.TestCheckResourceAttrWith("echo.test", "data", func(text string) error {
				return env.isReader(text)
			}),
		},
		resource.TestStep{
			// The cluster goes, and its CA before the kubeconfig.
			PreConfig: func() {
				env.removeFinalizers("cluster", "edge")
				env.kubectl("delete", "secret", "edge-ca")
			},
			Config: env.configWithVIM(env.lookup(ephemeralKubeconfig, `
  wait_timeout        = "10m"
  certificate_request = { common_name = "reader", ttl = "1h" }
`)),
			Check: env.diagnostics.HasWarning(`Kubeconfig Not Found`),
		},
	)
}

// isReader checks the certificate of an issued kubeconfig, and that the workload API
// takes it for its user: known, and without rights.
func (env *testEnv) isReader(text string) error {
	k, err := kube.ReadKubeconfig(text)
	require.NoError(env, err)
	block, _ := pem.Decode([]byte(k.ClientCertificate))
	require.NotNil(env, block)
	cert, err := x509.ParseCertificate(block.Bytes)
	require.NoError(env, err)
	if cert.Subject.CommonName != "reader" || strings.Join(cert.Subject.Organization, ",") != "auditors" {
		return fmt.Errorf("the certificate is that of %s", cert.Subject)
	}
	if left := time.Until(cert.NotAfter); left > time.Hour || left < 30*time.Minute {
		return fmt.Errorf("the certificate is valid for %s", left)
	}
	file := env.file("issued", text)
	who := env.lab.Kubectl(env, "--kubeconfig", file, "auth", "whoami", "--output", "jsonpath={.status.userInfo.username} {.status.userInfo.groups}")
	if !strings.Contains(who, "reader") || !strings.Contains(who, "auditors") {
		return fmt.Errorf("the workload API takes it for %s", who)
	}
	_, err = env.lab.TryKubectl(env.Context(), "--kubeconfig", file, "get", "nodes")
	if err == nil || !regexp.MustCompile(`(?i)`+http.StatusText(http.StatusForbidden)).MatchString(err.Error()) {
		return fmt.Errorf("listing nodes: %w", err)
	}
	return nil
}

// The data source of a cluster that somebody else made.
func TestAccWorkloadCluster_dataSource(t *testing.T) {
	env := newEnv(t)
	env.diagnostics = &acctest.Diagnostics{}
	const address = "data.vnf_capi_workload_cluster.test"
	is := func(name string, want knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(address, tfjsonpath.New(name), want)
	}
	intact, _ := env.kubeconfig(time.Now().Add(1000 * time.Hour))
	t.Cleanup(func() { env.removeFinalizers("machine", "edge-1") })
	// The id is known once the VIM is there.
	management := config.Variables{}
	env.runEphemeral(t,
		resource.TestStep{
			Config:            env.configWithVIM(env.lookup(dataCluster, "")),
			ConfigStateChecks: []statecheck.StateCheck{is("phase", knownvalue.Null()), is("endpoint", knownvalue.Null()), is("kubeconfig_ref", knownvalue.Null()), is("machines", knownvalue.ListSizeExact(0))},
			Check:             env.diagnostics.HasWarning(`The management cluster has no Cluster "edge" in namespace "` + env.namespace + `"`),
		},
		resource.TestStep{
			PreConfig: func() { env.plantCluster("edge") },
			Config:    env.configWithVIM(env.lookup(dataCluster, "")),
			ConfigStateChecks: []statecheck.StateCheck{
				is("paused", knownvalue.Bool(true)), is("available", knownvalue.Bool(false)), is("endpoint", knownvalue.StringExact("https://127.0.0.1:6443")),
				is("kubeconfig_ref", knownvalue.Null()), is("kubeconfig_not_after", knownvalue.Null()), is("certificate_authorities_not_after", knownvalue.Null()), is("machines", knownvalue.ListSizeExact(0)),
			},
		},
		resource.TestStep{
			PreConfig: func() {
				env.plantSecret("edge-kubeconfig", map[string]string{"value": intact})
				env.plantSecret("edge-etcd", map[string]string{"tls.crt": env.pki("ca.crt")})
				env.apply(`
apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata: {name: edge-1, labels: {cluster.x-k8s.io/cluster-name: edge, cluster.x-k8s.io/deployment-name: edge-a}}
spec:
  clusterName: edge
  bootstrap: {dataSecretName: none}
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevMachine, name: none}
`)
			},
			Config: env.configWithVIM(env.lookup(dataCluster, "")),
			ConfigStateChecks: []statecheck.StateCheck{
				is("kubeconfig_ref", knownvalue.ObjectPartial(map[string]knownvalue.Check{"name": knownvalue.StringExact("edge")})),
				is("ca_certificate", knownvalue.StringExact(env.pki("ca.crt"))), is("certificate_authorities_not_after", knownvalue.NotNull()),
				is("machines", knownvalue.ListExact([]knownvalue.Check{knownvalue.ObjectPartial(map[string]knownvalue.Check{
					"name": knownvalue.StringExact("edge-1"), "node_group_name": knownvalue.StringExact("a"), "ready": knownvalue.Bool(false),
				})})),
			},
			Check: func(s *terraform.State) error {
				management["management_cluster_id"] = config.StringVariable(s.RootModule().Resources["vnf_vim.test"].Primary.ID)
				return nil
			},
		},
		resource.TestStep{
			Config:            env.configWithVIM(env.example()),
			ConfigVariables:   management,
			ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownOutputValue("unready", knownvalue.MapSizeExact(1))},
		},
	)
}

// example is the example of the data source, for the namespace of the test.
func (env *testEnv) example() string {
	env.Helper()
	text := env.lab.ReadFile(env, filepath.Join(labtest.Root(env), "examples", "data-sources", workloadcluster.ResourceType, "data-source.tf"))
	require.Contains(env, text, `"edges"`)
	return strings.Replace(text, `"edges"`, strconv.Quote(env.namespace), 1)
}
