package workloadcluster_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"github.com/stretchr/testify/require"
)

// plantCluster makes a Cluster that Cluster API leaves alone, as somebody else may
// have made it. Its workload API is the lab itself, which knows rights, as those of
// the in-memory provider do not.
func (w *world) plantCluster(name string) {
	w.Helper()
	w.apply(fmt.Sprintf(`
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: %[1]s}
spec:
  paused: true
  controlPlaneEndpoint: {host: 127.0.0.1, port: 6443}
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: LabCluster, name: %[1]s}
`, name))
	w.Cleanup(func() { w.uproot("cluster", name) })
}

// uproot removes an object that Cluster API, which leaves it alone, would keep for ever.
func (w *world) uproot(kind, name string) {
	// The context of the test has ended.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, args := range [][]string{
		{"delete", kind, name, "--wait=false", "--ignore-not-found"},
		{"patch", kind, name, "--type=merge", "--patch", `{"metadata":{"finalizers":null}}`},
	} {
		// The second finds nothing where the first was enough.
		_, _ = w.lab.TryKubectl(ctx, append([]string{"--namespace", w.namespace}, args...)...)
	}
}

// plantSecret makes a Secret as Cluster API keeps it.
func (w *world) plantSecret(name string, data map[string]string) {
	w.Helper()
	text := fmt.Sprintf("apiVersion: v1\nkind: Secret\ntype: cluster.x-k8s.io/secret\nmetadata: {name: %s}\ndata:\n", name)
	for key, value := range data {
		text += fmt.Sprintf("  %s: %s\n", key, base64.StdEncoding.EncodeToString([]byte(value)))
	}
	w.apply(text)
}

func (w *world) apply(text string) {
	w.Helper()
	w.kubectl("apply", "--server-side", "--force-conflicts", "--filename", w.file("planted.yaml", text))
}

// pki reads a file of the lab's own certificates.
func (w *world) pki(name string) string {
	w.Helper()
	data, err := os.ReadFile(filepath.Join(w.lab.Dir, "pki", name))
	require.NoError(w, err)
	return string(data)
}

// kubeconfig is one for the lab, with a client certificate of its CA for the
// administrators' group that is valid until then.
func (w *world) kubeconfig(notAfter time.Time) (text, key string) {
	w.Helper()
	pair, err := tls.X509KeyPair([]byte(w.pki("ca.crt")), []byte(w.pki("ca.key")))
	require.NoError(w, err)
	ca, err := x509.ParseCertificate(pair.Certificate[0])
	require.NoError(w, err)
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(w, err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	require.NoError(w, err)
	signed, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "kubernetes-admin", Organization: []string{"system:masters"}},
		NotBefore: notAfter.Add(-1000 * time.Hour), NotAfter: notAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, ca, own.Public(), pair.PrivateKey)
	require.NoError(w, err)
	der, err := x509.MarshalECPrivateKey(own)
	require.NoError(w, err)
	data := func(kind string, der []byte) string {
		return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	key = data("EC PRIVATE KEY", der)
	return fmt.Sprintf(`# as Cluster API wrote it
apiVersion: v1
kind: Config
clusters: [{name: edge, cluster: {server: %q, certificate-authority-data: %s}}]
users: [{name: admin, user: {client-certificate-data: %s, client-key-data: %s}}]
contexts: [{name: admin@edge, context: {cluster: edge, user: admin}}]
current-context: admin@edge
`, w.lab.Endpoint, base64.StdEncoding.EncodeToString([]byte(w.pki("ca.crt"))), data("CERTIFICATE", signed), key), key
}
