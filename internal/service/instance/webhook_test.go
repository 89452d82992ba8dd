package instance_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/stretchr/testify/require"
)

// webhook is an admission webhook that this test serves, from the moment it likes.
type webhook struct {
	name string
	// address is a loopback address of its own, so that nobody else listens there
	// as long as the webhook does not.
	address     string
	certificate tls.Certificate
}

func newWebhook(t *testing.T, name string) *webhook {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	number, err := rand.Int(rand.Reader, big.NewInt(1<<16))
	require.NoError(t, err)
	ip := net.IPv4(127, 77, byte(number.Int64()>>8), byte(number.Int64()|1))
	template := &x509.Certificate{
		SerialNumber: number, IPAddresses: []net.IP{ip}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	return &webhook{name: name, address: net.JoinHostPort(ip.String(), "9443"), certificate: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}}
}

// manifest is the configuration that makes the API server ask the webhook about
// the ConfigMaps of a namespace.
func (h *webhook) manifest(namespace string) string {
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.certificate.Certificate[0]})
	return fmt.Sprintf(`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: { name: %[1]s }
webhooks:
  - name: %[2]s
    admissionReviewVersions: [v1]
    sideEffects: None
    failurePolicy: Fail
    timeoutSeconds: 5
    clientConfig: { url: "https://%[3]s/validate", caBundle: %[4]s }
    namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: %[1]s } }
    rules:
      - { apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE, UPDATE] }
`, namespace, h.name, h.address, base64.StdEncoding.EncodeToString(authority))
}

// serve answers from now on: it denies with a message, or allows when that is empty.
func (h *webhook) serve(t *testing.T, message string) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", h.address)
	if err != nil {
		t.Error(err)
		return
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			Request struct {
				UID string `json:"uid"`
			} `json:"request"`
		}
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
			"response": map[string]any{"uid": review.Request.UID, "allowed": message == "", "status": map[string]any{"message": message}},
		})
	}))
	_ = server.Listener.Close()
	server.Listener = listener
	server.TLS = &tls.Config{Certificates: []tls.Certificate{h.certificate}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
}

// onProgress calls f once the operation of the only instance says that line.
func (env *testEnv) onProgress(t *testing.T, line string, f func()) {
	manager := env.store.Manager(t)
	id := env.records(t)[0].ID
	go func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-t.Context().Done():
				return
			case <-tick.C:
			}
			occs, err := manager.Operations(t.Context(), id)
			if err != nil {
				continue
			}
			for _, occ := range occs {
				if strings.Contains(occ.Progress, line) {
					f()
					return
				}
			}
		}
	}()
}

// packagesWithWebhook returns two versions of the package hello with the webhook, whose
// ConfigMaps differ.
func packagesWithWebhook(t *testing.T, env *testEnv, h *webhook) (before, after string) {
	t.Helper()
	guard := with(h.manifest(env.namespace))
	return hello(t, guard), hello(t, guard, manifests("Hello", "Good evening"))
}

// TestAccInstance_webhookLate changes an object of which a webhook that is not
// served yet must be asked: first in vain, then until it answers.
func TestAccInstance_webhookLate(t *testing.T) {
	env := newEnv(t)
	hook := newWebhook(t, "late.example.com")
	before, after := packagesWithWebhook(t, env, hook)
	env.run(t,
		resource.TestStep{Config: env.configFor(before), ConfigStateChecks: []statecheck.StateCheck{instantiated()}},
		resource.TestStep{
			Config: env.configFor(after, `timeouts = { update = "20s" }`),
			ExpectError: sentence(`Unable to Update VNF Instance "test"`, `v1/ConfigMap web-content (Files/kubernetes/web.yaml:1)`,
				`context deadline exceeded; the last answer was:`, `failed calling webhook "late.example.com"`, `connection refused`,
				`Last progress: waiting for webhook late.example.com: connection refused`),
		},
		resource.TestStep{
			PreConfig: func() {
				env.onProgress(t, "waiting for webhook late.example.com: connection refused", func() { hook.serve(t, "") })
			},
			Config:            env.configFor(after),
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check:             env.checkBackend(),
		},
	)
}

// TestAccInstance_webhookDenies changes an object that a webhook denies: that is
// an answer, and there is no wait.
func TestAccInstance_webhookDenies(t *testing.T) {
	env := newEnv(t)
	hook := newWebhook(t, "strict.example.com")
	before, after := packagesWithWebhook(t, env, hook)
	env.run(t,
		resource.TestStep{Config: env.configFor(before), ConfigStateChecks: []statecheck.StateCheck{instantiated()}},
		resource.TestStep{
			PreConfig: func() { hook.serve(t, "greetings are frozen") },
			Config:    env.configFor(after),
			ExpectError: sentence(`v1/ConfigMap web-content (Files/kubernetes/web.yaml:1)`, `applying ConfigMap `+env.namespace+`/web-content`,
				`admission webhook "strict.example.com" denied the request: greetings are frozen`),
		},
	)
}
