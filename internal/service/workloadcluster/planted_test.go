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
func (env *testEnv) plantCluster(name string) {
	env.Helper()
	env.apply(fmt.Sprintf(`
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: %[1]s}
spec:
  paused: true
  controlPlaneEndpoint: {host: 127.0.0.1, port: 6443}
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: LabCluster, name: %[1]s}
`, name))
	env.Cleanup(func() { env.removeFinalizers("cluster", name) })
}

// removeFinalizers removes an object that Cluster API, which leaves it alone, would keep for ever.
func (env *testEnv) removeFinalizers(kind, name string) {
	// The context of the test has ended.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, args := range [][]string{
		{"delete", kind, name, "--wait=false", "--ignore-not-found"},
		{"patch", kind, name, "--type=merge", "--patch", `{"metadata":{"finalizers":null}}`},
	} {
		// The second finds nothing where the first was enough.
		_, _ = env.lab.TryKubectl(ctx, append([]string{"--namespace", env.namespace}, args...)...)
	}
}

// plantSecret makes a Secret as Cluster API keeps it.
func (env *testEnv) plantSecret(name string, data map[string]string) {
	env.Helper()
	text := fmt.Sprintf("apiVersion: v1\nkind: Secret\ntype: cluster.x-k8s.io/secret\nmetadata: {name: %s}\ndata:\n", name)
	for key, value := range data {
		text += fmt.Sprintf("  %s: %s\n", key, base64.StdEncoding.EncodeToString([]byte(value)))
	}
	env.apply(text)
}

func (env *testEnv) apply(text string) {
	env.Helper()
	env.kubectl("apply", "--server-side", "--force-conflicts", "--filename", env.file("planted.yaml", text))
}

// pki reads a file of the lab's own certificates.
func (env *testEnv) pki(name string) string {
	env.Helper()
	data, err := os.ReadFile(filepath.Join(env.lab.Dir, "pki", name))
	require.NoError(env, err)
	return string(data)
}

// kubeconfig is one for the lab, with a client certificate of its CA for the
// administrators' group that is valid until then.
func (env *testEnv) kubeconfig(notAfter time.Time) (text, key string) {
	env.Helper()
	pair, err := tls.X509KeyPair([]byte(env.pki("ca.crt")), []byte(env.pki("ca.key")))
	require.NoError(env, err)
	ca, err := x509.ParseCertificate(pair.Certificate[0])
	require.NoError(env, err)
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(env, err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	require.NoError(env, err)
	signed, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "kubernetes-admin", Organization: []string{"system:masters"}},
		NotBefore: notAfter.Add(-1000 * time.Hour), NotAfter: notAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, ca, own.Public(), pair.PrivateKey)
	require.NoError(env, err)
	der, err := x509.MarshalECPrivateKey(own)
	require.NoError(env, err)
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
`, env.lab.Endpoint, base64.StdEncoding.EncodeToString([]byte(env.pki("ca.crt"))), data("CERTIFICATE", signed), key), key
}
