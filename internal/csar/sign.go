package csar

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/smallstep/pkcs7"
)

// SignOption1 returns a manifest with a detached signature at its end, security option 1. A
// signature that is already there is replaced. The certificate is PEM, the
// signer's first and any intermediates behind it, all of which go into the signature;
// the key is PEM (PKCS#8, PKCS#1 or SEC 1) without password, RSA or ECDSA.
func SignOption1(manifest, certificate, key []byte) ([]byte, error) {
	m, problems := ParseManifest("manifest", manifest)
	if err := problems.Err(); err != nil {
		return nil, fmt.Errorf("signing the manifest: %w", err)
	}
	content := bytes.Clone(m.Signed)
	if len(content) > 0 && content[len(content)-1] != '\n' {
		content = append(content, '\n')
	}
	block, err := sign(content, certificate, key)
	if err != nil {
		return nil, fmt.Errorf("signing the manifest: %w", err)
	}
	return append(content, block...), nil
}

// SignOption2 returns the detached signature of an archive, the content of the .cms file beside it,
// security option 2. Certificate and key are those of SignOption1.
func SignOption2(csar, certificate, key []byte) ([]byte, error) {
	block, err := sign(csar, certificate, key)
	if err != nil {
		return nil, fmt.Errorf("signing the package: %w", err)
	}
	return block, nil
}

func sign(content, certificate, key []byte) ([]byte, error) {
	chain, err := parseCertificates(certificate)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate: %w", err)
	}
	signer, err := parseKey(key)
	if err != nil {
		return nil, fmt.Errorf("reading the key: %w", err)
	}
	if pub, ok := chain[0].PublicKey.(interface{ Equal(crypto.PublicKey) bool }); !ok || !pub.Equal(signer.Public()) {
		return nil, fmt.Errorf("the key does not belong to the certificate %q", chain[0].Subject)
	}
	data, err := pkcs7.NewSignedData(content)
	if err != nil {
		return nil, fmt.Errorf("preparing the CMS: %w", err)
	}
	data.SetDigestAlgorithm(pkcs7.OIDDigestAlgorithmSHA256)
	if err := data.AddSignerChain(chain[0], signer, chain[1:], pkcs7.SignerInfoConfig{}); err != nil {
		return nil, fmt.Errorf("computing the signature: %w", err)
	}
	data.Detach()
	der, err := data.Finish()
	if err != nil {
		return nil, fmt.Errorf("encoding the CMS: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CMS", Bytes: der}), nil
}

// parseKey reads the first private key of a PEM file. Errors never quote the content.
func parseKey(data []byte) (crypto.Signer, error) {
	for rest := data; ; {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		if block == nil {
			return nil, errors.New("there is no PEM private key in it")
		}
		var key any
		var err error
		switch block.Type {
		case "PRIVATE KEY":
			key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		case "RSA PRIVATE KEY":
			key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
		case "EC PRIVATE KEY":
			key, err = x509.ParseECPrivateKey(block.Bytes)
		case "ENCRYPTED PRIVATE KEY":
			return nil, errors.New("the key is encrypted; decrypt it first")
		default:
			continue
		}
		if err != nil {
			return nil, errors.New("the private key cannot be decoded")
		}
		switch k := key.(type) {
		case *rsa.PrivateKey:
			return k, nil
		case *ecdsa.PrivateKey:
			return k, nil
		}
		return nil, fmt.Errorf("the key is %T; CMS signatures of packages use RSA or ECDSA", key)
	}
}
