package pki

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIssue(t *testing.T) {
	ca, err := NewCA("lab-ca")
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewCA("other-ca")
	if err != nil {
		t.Fatal(err)
	}

	tests := map[string]struct {
		request Request
		verify  x509.VerifyOptions
		refused bool
	}{
		"client": {
			request: Request{CommonName: "lab-admin", Organizations: []string{"system:masters"}},
			verify:  x509.VerifyOptions{KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}},
		},
		"client as server": {
			request: Request{CommonName: "lab-admin"},
			verify:  x509.VerifyOptions{KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}},
			refused: true,
		},
		"server by address": {
			request: Request{CommonName: "kube-apiserver", Addresses: []net.IP{net.IPv4(127, 0, 0, 1)}},
			verify:  x509.VerifyOptions{DNSName: "127.0.0.1"},
		},
		"server by another name": {
			request: Request{CommonName: "kube-apiserver", Names: []string{"localhost"}},
			verify:  x509.VerifyOptions{DNSName: "example.org"},
			refused: true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pair, err := ca.Issue(test.request)
			if err != nil {
				t.Fatal(err)
			}
			test.verify.Roots = x509.NewCertPool()
			test.verify.Roots.AddCert(ca.Certificate)
			if _, err := pair.Certificate.Verify(test.verify); (err != nil) != test.refused {
				t.Errorf("verification: %v, refusal expected: %v", err, test.refused)
			}
			if diff := cmp.Diff(test.request.Organizations, pair.Certificate.Subject.Organization); diff != "" {
				t.Errorf("groups (-want +got):\n%s", diff)
			}

			test.verify.Roots = x509.NewCertPool()
			test.verify.Roots.AddCert(other.Certificate)
			if _, err := pair.Certificate.Verify(test.verify); err == nil {
				t.Error("another authority's pool accepts the certificate")
			}
		})
	}
}

func TestPEM(t *testing.T) {
	ca, err := NewCA("lab-ca")
	if err != nil {
		t.Fatal(err)
	}
	key, err := ca.KeyPEM()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tls.X509KeyPair(ca.CertificatePEM(), key); err != nil {
		t.Errorf("the encoded pair does not load: %v", err)
	}
}
