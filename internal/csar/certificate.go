package csar

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
)

// parseCertificates reads all certificates of a PEM bundle, or one or more in DER.
func parseCertificates(data []byte) ([]*x509.Certificate, error) {
	if !bytes.Contains(data, []byte(beginMarker)) {
		certs, err := x509.ParseCertificates(data)
		if err != nil {
			return nil, fmt.Errorf("decoding a DER certificate: %w", err)
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
		cert, err := x509.ParseCertificate(block.Bytes)
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

// findCertificate returns the certificate with an issuer and serial number, and its index.
func findCertificate(certs []*x509.Certificate, issuer []byte, serial *big.Int) (*x509.Certificate, int) {
	for i, c := range certs {
		if serial != nil && c.SerialNumber.Cmp(serial) == 0 && bytes.Equal(c.RawIssuer, issuer) {
			return c, i
		}
	}
	return nil, 0
}
