// Package pki issues the certificates of a lab: a cluster CA, a front-proxy CA and what they sign. It needs no tool
// besides the standard library.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// validity is long enough that no lab outlives its certificates; backdating tolerates a clock that was just set back.
const (
	validity   = 10 * 365 * 24 * time.Hour
	backdating = time.Hour
)

// Pair is a certificate with its private key.
type Pair struct {
	Certificate *x509.Certificate
	Key         *ecdsa.PrivateKey
}

// Request says what a certificate is for.
type Request struct {
	// CommonName is the user name, as Kubernetes reads client certificates, or the name of a server.
	CommonName string
	// Organizations are the groups of the user.
	Organizations []string
	// Names and Addresses are what a server is reached by. A request with neither asks for a client certificate.
	Names     []string
	Addresses []net.IP
}

// NewCA makes a self-signed authority with a fresh P-256 key.
func NewCA(commonName string) (*Pair, error) {
	key, template, err := prepare(pkix.Name{CommonName: commonName})
	if err != nil {
		return nil, fmt.Errorf("making the authority %q: %w", commonName, err)
	}
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature
	return sign(template, key, template, key)
}

// Issue lets the authority sign a client or server certificate for a fresh P-256 key.
func (p *Pair) Issue(request Request) (*Pair, error) {
	key, template, err := prepare(pkix.Name{CommonName: request.CommonName, Organization: request.Organizations})
	if err != nil {
		return nil, fmt.Errorf("issuing a certificate for %q: %w", request.CommonName, err)
	}
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.DNSNames = request.Names
	template.IPAddresses = request.Addresses
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if len(request.Names)+len(request.Addresses) > 0 {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	}
	return sign(template, key, p.Certificate, p.Key)
}

// CertificatePEM encodes the certificate.
func (p *Pair) CertificatePEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate.Raw})
}

// KeyPEM encodes the private key as PKCS #8.
func (p *Pair) KeyPEM() ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(p.Key)
	if err != nil {
		return nil, fmt.Errorf("encoding the key of %q: %w", p.Certificate.Subject.CommonName, err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// PublicKeyPEM encodes the public key as PKIX, which is how kube-apiserver reads the keys that check service-account tokens.
func (p *Pair) PublicKeyPEM() ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(&p.Key.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("encoding the public key of %q: %w", p.Certificate.Subject.CommonName, err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

// TLS is the pair as crypto/tls takes it.
func (p *Pair) TLS() tls.Certificate {
	return tls.Certificate{Certificate: [][]byte{p.Certificate.Raw}, PrivateKey: p.Key, Leaf: p.Certificate}
}

func prepare(subject pkix.Name) (*ecdsa.PrivateKey, *x509.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("generating a key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, fmt.Errorf("choosing a serial number: %w", err)
	}
	now := time.Now()
	return key, &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    now.Add(-backdating),
		NotAfter:     now.Add(validity),
	}, nil
}

func sign(template *x509.Certificate, key *ecdsa.PrivateKey, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) (*Pair, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		return nil, fmt.Errorf("signing the certificate of %q: %w", template.Subject.CommonName, err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("reading back the certificate of %q: %w", template.Subject.CommonName, err)
	}
	return &Pair{Certificate: certificate, Key: key}, nil
}
