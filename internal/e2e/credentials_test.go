//go:build unix

package e2e_test

import (
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// delivery is what a credentials sink got.
type delivery struct{ key, authorization, body string }

// sink is a web server that receives kubeconfigs and has something done before it
// answers the first time.
type sink struct {
	*httptest.Server
	mu    sync.Mutex
	got   []delivery
	first func()
}

func newSink(t *testing.T, first func()) *sink {
	t.Helper()
	s := &sink{first: first}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.got = append(s.got, delivery{r.Header.Get("Idempotency-Key"), r.Header.Get("Authorization"), string(body)})
		if len(s.got) == 1 {
			s.first()
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(s.Close)
	return s
}

// pausedCluster is one that Cluster API leaves alone, with a kubeconfig that the test
// has planted.
const pausedCluster = `apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata:
  name: edge
spec:
  paused: true
  controlPlaneEndpoint: {host: 127.0.0.1, port: 6443}
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: LabCluster, name: edge}
`

// TestCredentialsOfAWorkloadCluster has the kubeconfig of a workload cluster read by
// the ephemeral resource and sent to a sink, kills the provider between the sending
// and its record, and looks for the secrets in all that is left: the server gets the
// same again under the same key, and nobody else gets anything.
func TestCredentialsOfAWorkloadCluster(t *testing.T) {
	lab := labtest.ClusterAPI(t)
	env := newEnv(t)
	s := &secretEnv{testEnv: env, search: newSearch(t), variables: map[string]string{}}
	kubeconfig, err := os.ReadFile(lab.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	s.search.add("kubeconfig of the workload cluster", string(kubeconfig))
	s.variables["header"] = s.plant("header of the sink")
	lab.Kubectl(t, "create", "namespace", env.namespace)
	lab.Kubectl(t, "create", "secret", "generic", "edge-kubeconfig", "--namespace", env.namespace, "--from-file=value="+lab.Kubeconfig)

	server := newSink(t, func() {
		for _, pid := range s.current.Load().providers() {
			end(pid)
		}
	})
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	env.write(env.store.Provider(), env.vims(), fmt.Sprintf(`
variable "header" {
  type      = string
  ephemeral = true
}

ephemeral "vnf_capi_workload_kubeconfig" "test" {
  management_vim_id = vnf_vim.test.id
  namespace         = %[1]q
  name              = "edge"
}

resource "vnf_capi_workload_cluster" "test" {
  management_vim_id   = vnf_vim.test.id
  namespace           = %[1]q
  name                = "edge"
  paused              = true
  clusterctl_template = { content = %[2]q }
  credentials_sink = {
    url            = "%[3]s/clusters"
    ca_certificate = %[4]q
    headers_wo = {
      Authorization = "Bearer ${var.header}"
      X-Length      = tostring(length(ephemeral.vnf_capi_workload_kubeconfig.test.kubeconfig))
    }
  }
  lifecycle {
    postcondition {
      condition     = self.status == "READY"
      error_message = "The cluster is ${self.status}: apply again to continue."
    }
  }
}
`, env.namespace, pausedCluster, server.URL, ca))

	s.run(1, "apply", "-auto-approve")
	plan := filepath.Join(t.TempDir(), "plan")
	s.run(0, "plan", "-out="+plan)
	s.search.zip(placePlan, "plan file", plan)
	s.run(0, "show", "-json", plan)
	s.run(0, "apply", plan)
	s.run(0, "plan", "-detailed-exitcode")
	if len(server.got) != 2 || server.got[0] != server.got[1] || server.got[0].key == "" {
		t.Errorf("the sink got %d deliveries, %+v", len(server.got), server.got)
	}
	if got := server.got[0]; got.authorization != "Bearer "+s.variables["header"] || !strings.Contains(got.body, "client-key-data") {
		t.Errorf("the sink got %+v", got)
	}
	lab.Pause(t, env.namespace, "edge", false)
	s.run(0, "destroy", "-auto-approve")
	s.search.report([]place{placeState, placePlan, placeLog, placeOutput, placeStore, placeCommand})
}
