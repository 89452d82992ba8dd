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
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// webhook is an admission webhook that this test serves, from the moment it likes.
type webhook struct {
	name string
	// address is a loopback address of its own, so that nobody else listens there
	// as long as the webhook does not.
	address     string
	certificate tls.Certificate
	// denial is the message with which it denies, nothing as long as it allows.
	denial atomic.Value
}

// deny has the webhook deny from now on.
func (h *webhook) deny(message string) { h.denial.Store(message) }

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

// serve answers from now on.
func (h *webhook) serve(t *testing.T) {
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
		message, denied := h.denial.Load().(string)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
			"response": map[string]any{"uid": review.Request.UID, "allowed": !denied, "status": map[string]any{"message": message}},
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

// TestAccInstance_webhook changes an object of which a webhook that is not served yet must be asked: first in vain, then until it
// answers. What the webhook denies is an answer, and there is no wait.
func TestAccInstance_webhook(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	hook := newWebhook(t, "late.example.com")
	guard := with(hook.manifest(env.namespace))
	first, second, third := hello(t, guard), hello(t, guard, manifests("Hello", "Good evening")), hello(t, guard, manifests("Hello", "Good night"))
	env.run(t,
		applied(env.configFor(first), nil),
		resource.TestStep{
			Config: env.configFor(second, `timeouts = { update = "20s" }`),
			ExpectError: sentence(`Unable to Update VNF Instance "test"`, `v1/ConfigMap web-content (Files/kubernetes/web.yaml:1)`,
				`context deadline exceeded; the last answer was:`, `failed calling webhook "late.example.com"`, `connection refused`,
				`Last progress: waiting for webhook late.example.com: connection refused`),
		},
		after(func() {
			env.onProgress(t, "waiting for webhook late.example.com: connection refused", func() { hook.serve(t) })
		}, applied(env.configFor(second), env.checkBackend())),
		resource.TestStep{
			PreConfig: func() { hook.deny("greetings are frozen") },
			Config:    env.configFor(third),
			ExpectError: sentence(`v1/ConfigMap web-content (Files/kubernetes/web.yaml:1)`, `applying ConfigMap `+env.namespace+`/web-content`,
				`admission webhook "late.example.com" denied the request: greetings are frozen`),
		},
	)
}
