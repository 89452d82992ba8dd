// Package tlstest serves HTTPS at an address of this machine that is not its own alone, for downloads that refuse loopback addresses.
package tlstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// Reachable starts a server, and returns its URL and its CA as PEM. The test is skipped on a machine without such an address.
func Reachable(t testing.TB, handler http.Handler) (url, ca string) {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	require.NoError(t, err)
	for _, a := range addresses {
		at, ok := a.(*net.IPNet)
		if !ok || at.IP.IsLoopback() || at.IP.IsLinkLocalUnicast() || at.IP.To4() == nil {
			continue
		}
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort(at.IP.String(), "0"))
		if err != nil {
			continue
		}
		server := httptest.NewUnstartedServer(handler)
		_ = server.Listener.Close()
		server.Listener = listener
		// Clients that do not trust the certificate are not worth a line.
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		certificate := certificateFor(t, at.IP)
		server.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}}
		server.StartTLS()
		t.Cleanup(server.Close)
		return server.URL, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]}))
	}
	labtest.Missing(t, "the machine has no IPv4 address besides loopback and link-local ones")
	return "", ""
}

// certificateFor is the certificate of a server at an address, which is its own CA.
func certificateFor(t testing.TB, ip net.IP) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{ip}, IsCA: true, BasicConstraintsValid: true, NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
