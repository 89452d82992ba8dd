package capi

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// newCA makes a CA that is valid for an hour.
func newCA(t *testing.T) (cert, key []byte, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubernetes"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, private.Public(), private)
	require.NoError(t, err)
	encoded, err := x509.MarshalECPrivateKey(private)
	require.NoError(t, err)
	cert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	pool = x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(cert))
	return cert, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded}), pool
}

func TestMintedCertificate(t *testing.T) {
	cert, key, pool := newCA(t)
	signed, _, err := sign(cert, key, &vnfm.ClientCertificateSpec{CommonName: "ci", Organizations: []string{"deployers"}, TTL: 10 * time.Minute})
	require.NoError(t, err)
	parsed := parsedCertificate(t, signed)
	assert.WithinDuration(t, time.Now().Add(10*time.Minute), parsed.NotAfter, time.Minute)
	assert.Equal(t, "ci", parsed.Subject.CommonName)
	assert.Equal(t, []string{"deployers"}, parsed.Subject.Organization)
	_, err = parsed.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	require.NoError(t, err)
}

func parsedCertificate(t *testing.T, certificate string) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode([]byte(certificate))
	require.NotNil(t, block)
	parsed, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	return parsed
}

func TestMintedCertificateEndsWithItsCA(t *testing.T) {
	cert, key, _ := newCA(t)
	signed, _, err := sign(cert, key, &vnfm.ClientCertificateSpec{CommonName: "ci", TTL: 48 * time.Hour})
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now().Add(time.Hour), parsedCertificate(t, signed).NotAfter, time.Minute)
}

func TestForeignKeyDoesNotSign(t *testing.T) {
	cert, _, _ := newCA(t)
	_, other, _ := newCA(t)
	_, _, err := sign(cert, other, &vnfm.ClientCertificateSpec{CommonName: "ci", TTL: time.Hour})
	require.ErrorContains(t, err, "do not fit together")
}
