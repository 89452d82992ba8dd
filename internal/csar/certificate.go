package csar

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

// parseCertificate reads one certificate in DER.
func parseCertificate(der []byte) (*x509.Certificate, error) {
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return cert, usable(cert)
}

// usable refuses a key that takes too long to be verified with.
func usable(cert *x509.Certificate) error {
	if key, ok := cert.PublicKey.(*rsa.PublicKey); ok && key.N.BitLen() > maxRSABits {
		return fmt.Errorf("the RSA key of %q has %d bits, more than %d", cert.Subject.String(), key.N.BitLen(), maxRSABits)
	}
	return nil
}

// parseCertificates reads all certificates of a PEM bundle, or one or more in DER.
func parseCertificates(data []byte) ([]*x509.Certificate, error) {
	if !bytes.Contains(data, []byte(beginMarker)) {
		certs, err := x509.ParseCertificates(data)
		if err != nil {
			return nil, fmt.Errorf("decoding a DER certificate: %w", err)
		}
		for _, cert := range certs {
			if err := usable(cert); err != nil {
				return nil, err
			}
		}
		if len(certs) == 0 {
			return nil, errors.New("there is no certificate in it")
		}
		return certs, nil
	}
	var certs []*x509.Certificate
	for rest := data; ; {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		if block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := parseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("decoding PEM certificate %d: %w", len(certs)+1, err)
		}
		certs = append(certs, cert)
	}
	if len(certs) == 0 {
		return nil, errors.New("there is no PEM block CERTIFICATE in it")
	}
	return certs, nil
}

// textAroundPEM reports that a file holds something else beside PEM blocks: a file that is certificates to one reader
// can be a script or a manifest to another. DER has no room for that but in its own fields.
func textAroundPEM(data []byte) bool {
	if !bytes.Contains(data, []byte(beginMarker)) {
		return false
	}
	for rest := data; len(bytes.TrimSpace(rest)) > 0; {
		if !pureStart(rest) {
			return true
		}
		var block *pem.Block
		block, rest = pem.Decode(rest)
		if block == nil || len(block.Headers) > 0 {
			return true
		}
	}
	return false
}
