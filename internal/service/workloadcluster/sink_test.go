package workloadcluster_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// sinkToken is a secret header of the tests.
const sinkToken = "Bearer sink-token-of-the-test"

// sink is a web server that receives kubeconfigs, with a CA of its own.
type sink struct {
	*httptest.Server
	mu     sync.Mutex
	answer int
	got    []received
}

type received struct{ path, key, authorization, kubeconfig string }

func newSink(t *testing.T) *sink {
	t.Helper()
	s := &sink{answer: http.StatusNoContent}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var p struct {
			Kubeconfig string `json:"kubeconfig"`
		}
		// A content that is not JSON has no kubeconfig.
		_ = json.Unmarshal(body, &p)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.got = append(s.got, received{r.URL.Path, r.Header.Get("Idempotency-Key"), r.Header.Get("Authorization"), p.Kubeconfig})
		w.WriteHeader(s.answer)
	}))
	t.Cleanup(s.Close)
	return s
}

// answerWith has the server answer with that status from now on.
func (s *sink) answerWith(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = status
}

// last is what came last, after checking how much came.
func (s *sink) last(count int) (received, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.got) != count {
		return received{}, fmt.Errorf("the sink got %d deliveries, want %d", len(s.got), count)
	}
	return s.got[count-1], nil
}

func (s *sink) ca() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

// argument is credentials_sink for this server.
func (s *sink) argument(path string) string {
	return fmt.Sprintf(`
  credentials_sink = {
    url                = %q
    headers_wo         = { Authorization = %q }
    headers_wo_version = 1
    ca_certificate     = %q
    attempts           = 1
  }
`, s.URL+path, sinkToken, s.ca())
}

// pausedCluster is one that Cluster API leaves alone: what is sent of it is planted.
const pausedCluster = `apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata:
  name: edge
spec:
  paused: true
  controlPlaneEndpoint: {host: 127.0.0.1, port: 6443}
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: LabCluster, name: edge}
`

// received checks the last delivery, and that the state holds neither the kubeconfig
// nor the header.
func (env *testEnv) received(s *sink, count int, want received) resource.TestCheckFunc {
	return func(state *terraform.State) error {
		got, err := s.last(count)
		if err != nil {
			return err
		}
		if got.key == "" {
			return fmt.Errorf("a delivery has no idempotency key")
		}
		if got.key = ""; got != want {
			return fmt.Errorf("the sink got %+v, want %+v", got, want)
		}
		text, err := json.Marshal(state)
		if err != nil {
			return err
		}
		for _, secret := range []string{"sink-token", "client-key-data"} {
			if strings.Contains(string(text), secret) {
				return fmt.Errorf("the state holds %q", secret)
			}
		}
		return nil
	}
}

// A server that refuses leaves a cluster that the next apply sends again; then it is
// sent to a new sink.
func TestAccWorkloadCluster_credentialsSink(t *testing.T) {
	env := newEnv(t)
	s := newSink(t)
	kubeconfig, _ := env.kubeconfig(time.Now().Add(1000 * time.Hour))
	env.plantSecret("edge-kubeconfig", map[string]string{"value": kubeconfig})
	config := func(sink string) string {
		return env.config(fmt.Sprintf("  clusterctl_template = { content = %q }\n  paused = true\n", pausedCluster) + sink)
	}
	want := received{path: "/first", authorization: sinkToken, kubeconfig: kubeconfig}
	second := want
	second.path = "/second"
	empty := resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
	env.run(t,
		resource.TestStep{
			Config:      config(`  credentials_sink = { url = "http://sink.example.org" }`),
			ExpectError: acctest.Says(`A URL that begins with https:// is expected`),
		},
		resource.TestStep{
			Config:      config(`  credentials_sink = { url = "https://sink.example.org", headers = { "no header" = "a" } }`),
			ExpectError: acctest.Says(`must be the name of a header`),
		},
		resource.TestStep{
			Config:      config(`  credentials_sink = { url = "https://sink.example.org", ca_certificate = "none" }`),
			ExpectError: acctest.Says(`A certificate as PEM is expected`),
		},
		resource.TestStep{
			PreConfig:          func() { s.answerWith(http.StatusForbidden) },
			Config:             config(s.argument("/first") + "\n  on_failure = \"resume\""),
			ConfigStateChecks:  []statecheck.StateCheck{status("FAILED_TEMP")},
			Check:              env.received(s, 1, want),
			ExpectNonEmptyPlan: true,
		},
		resource.TestStep{
			PreConfig:         func() { s.answerWith(http.StatusNoContent) },
			Config:            config(s.argument("/first")),
			ConfigPlanChecks:  updates(),
			ConfigStateChecks: []statecheck.StateCheck{status("READY")},
			Check:             env.received(s, 2, want),
		},
		resource.TestStep{Config: config(s.argument("/first")), ConfigPlanChecks: empty, Check: env.received(s, 2, want)},
		resource.TestStep{
			Config:           config(s.argument("/second")),
			ConfigPlanChecks: updates(),
			Check:            env.received(s, 3, second),
		},
		resource.TestStep{
			Config:      config(strings.ReplaceAll(s.argument("/third"), fmt.Sprintf("%q", s.ca()), fmt.Sprintf("%q", env.pki("ca.crt")))),
			ExpectError: acctest.Says(`(?s)sending the kubeconfig of workload cluster \S+/edge to 127\.0\.0\.1:\d+:.*unknown authority`),
		},
		resource.TestStep{
			Config:            config(s.argument("/second")),
			ConfigStateChecks: []statecheck.StateCheck{status("READY")},
			Check:             env.received(s, 3, second),
		},
		resource.TestStep{
			// Without the sink nothing is sent and nothing is done.
			Config:            config(""),
			ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownValue(address, tfjsonpath.New("credentials_sink"), knownvalue.Null())},
			Check:             func(*terraform.State) error { _, err := s.last(3); return err },
		},
		resource.TestStep{
			PreConfig: func() { env.lab.Pause(t, env.namespace, "edge", false) },
			Config:    config(""),
			Destroy:   true,
		},
	)
}

// hookedPackage writes a package of plain manifests whose VNFD names a management driver.
func (env *testEnv) hookedPackage(driver string) string {
	env.Helper()
	dir := filepath.Join(env.TempDir(), "package")
	acctest.Write(env, dir, "TOSCA-Metadata/TOSCA.meta", "TOSCA-Meta-File-Version: 1.0\nCSAR-Version: 1.1\nCreated-By: test\nEntry-Definitions: Definitions/vnfd.yaml\n\nName: Files/cluster.yaml\nContent-Type: application/yaml\n")
	acctest.Write(env, dir, "Files/cluster.yaml", pausedCluster)
	acctest.Write(env, dir, "Definitions/vnfd.yaml", `tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    VNF:
      type: tosca.nodes.nfv.VNF
      properties:
        descriptor_id: workload-cluster
        descriptor_version: "1.0"
        provider: example
        product_name: workload-cluster
        software_version: "1.0"
        vnfm_info: [Tacker]
        flavour_id: default
        flavour_description: default
      interfaces:
        Vnflcm:
          type: tosca.interfaces.nfv.Vnflcm
          instantiate: []
          instantiate_end:
            implementation: `+driver+`
      artifacts:
        `+driver+`:
          description: sends the credentials of the workload cluster
          type: tosca.artifacts.Implementation.Python
          file: ../Scripts/sender.py
`)
	acctest.Write(env, dir, "Scripts/sender.py", "raise SystemExit('no script of a package is run')\n")
	return dir
}

// A package of plain manifests sends what its Cluster gives when its VNFD names the
// driver; a driver that is not built in is an error of the plan.
func TestAccWorkloadCluster_instanceSink(t *testing.T) {
	env := newEnv(t)
	s := newSink(t)
	kubeconfig, _ := env.kubeconfig(time.Now().Add(1000 * time.Hour))
	env.plantSecret("edge-kubeconfig", map[string]string{"value": kubeconfig})
	const sender = "mgmt-drivers-credentials-sender"
	packages := map[string]string{}
	for _, driver := range []string{sender, "mgmt-drivers-ansible"} {
		packages[driver] = env.hookedPackage(driver)
	}
	config := func(driver, arguments string) string {
		return env.store.Config(acctest.VIM(env, env.lab, "test"), fmt.Sprintf(`
resource "vnf_package" "test" {
  name   = "test"
  source = %q
}

resource "vnf_instance" "test" {
  name       = "edge"
  vim_id     = vnf_vim.test.id
  package_id = vnf_package.test.id
  namespace  = %q
  readiness  = [{ kind = "cluster.x-k8s.io/Cluster", condition = "Paused" }]
%s
}
`, packages[driver], env.namespace, arguments))
	}
	acctest.PreCheck(t)
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_11_0)},
		Steps: []resource.TestStep{
			{
				Config: config("mgmt-drivers-ansible", ""), PlanOnly: true,
				ExpectError: acctest.Says(`(?s)names management drivers that are not known: "mgmt-drivers-ansible" for instantiate_end.*"` + sender + `"`),
			},
			{
				Config: config(sender, ""), PlanOnly: true,
				ExpectError: acctest.Says(`credentials_sink is missing`),
			},
			{
				Config: config(sender, s.argument("/clusters")),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue("vnf_instance.test", tfjsonpath.New("status"), knownvalue.StringExact("INSTANTIATED")),
				},
				Check: env.received(s, 1, received{path: "/clusters", authorization: sinkToken, kubeconfig: kubeconfig}),
			},
			{
				Config:           config(sender, s.argument("/clusters")),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			},
			{
				PreConfig: func() { env.lab.Pause(t, env.namespace, "edge", false) },
				Config:    config(sender, s.argument("/clusters")),
				Destroy:   true,
			},
		},
	})
	_, err := s.last(1)
	require.NoError(t, err)
}
