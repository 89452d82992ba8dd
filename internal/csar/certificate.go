package csar

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
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
