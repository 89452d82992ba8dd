package install

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"
)

// leaf returns the certificate of the server, the first of a PEM chain.
func leaf(chain string) (*x509.Certificate, error) {
	for rest := []byte(chain); ; {
		block, more := pem.Decode(rest)
		if block == nil {
			return nil, errors.New("it holds no certificate: a PEM block CERTIFICATE is expected")
		}
		if block.Type == "CERTIFICATE" {
			certificate, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				return nil, fmt.Errorf("its first certificate cannot be read: %w", err)
			}
			return certificate, nil
		}
		rest = more
	}
}

// valid returns an error for a certificate that is expired or not yet valid.
func valid(certificate *x509.Certificate, now time.Time) error {
	switch {
	case now.After(certificate.NotAfter):
		return fmt.Errorf("it expired at %s", certificate.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(certificate.NotBefore):
		return fmt.Errorf("it is not valid before %s", certificate.NotBefore.UTC().Format(time.RFC3339))
	}
	return nil
}

// checkKey returns an error for a key that does not fit the certificate. It leaves out the errors of the parser, which may quote the key.
func checkKey(chain, key string) error {
	block, _ := pem.Decode([]byte(key))
	switch {
	case block == nil:
		return errors.New("it is not PEM")
	case block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "":
		return errors.New("it is encrypted, and the registry has no passphrase: openssl pkey writes it without")
	}
	if _, err := tls.X509KeyPair([]byte(chain), []byte(key)); err != nil {
		return errors.New("it is not the key of the certificate")
	}
	return nil
}
