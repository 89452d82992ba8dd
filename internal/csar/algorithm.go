package csar

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
)

const (
	// minRSABits is the least size of an RSA key whose signature counts, NIST SP 800-131A.
	minRSABits = 2048
	// maxRSABits is the greatest, which TLS has as well: to verify with one of 400,000 bits takes many seconds.
	maxRSABits = 8192
)

// errWeakDigest is the error for a signature over SHA-1 or MD5.
var errWeakDigest = errors.New(weakDigest)

const weakDigest = "SHA-1 and MD5 can be forged; sign with SHA-256 or SHA-512"

// scheme is how the public key verifies.
type scheme int

const (
	schemePKCS1 scheme = iota + 1
	schemePSS
	schemeECDSA
	schemeEd25519
)

// signatureAlgorithm is a signature algorithm of RFC 3370, 4056, 5754, 8419. The hash is 0 where the
// algorithm leaves it to the digest algorithm of the signer.
type signatureAlgorithm struct {
	scheme scheme
	hash   crypto.Hash
	weak   bool
}

var digestAlgorithms = map[string]crypto.Hash{
	"2.16.840.1.101.3.4.2.4": crypto.SHA224,
	"2.16.840.1.101.3.4.2.1": crypto.SHA256,
	"2.16.840.1.101.3.4.2.2": crypto.SHA384,
	"2.16.840.1.101.3.4.2.3": crypto.SHA512,
}

// weakDigests are MD2, MD5 and SHA-1 (of ISO and of OIW).
var weakDigests = map[string]bool{
	"1.2.840.113549.2.2": true,
	"1.2.840.113549.2.5": true,
	"1.3.14.3.2.26":      true,
	"1.3.14.3.2.18":      true,
}

const oidPSS = "1.2.840.113549.1.1.10"

var signatureAlgorithms = map[string]signatureAlgorithm{
	"1.2.840.113549.1.1.1":  {scheme: schemePKCS1},
	"1.2.840.113549.1.1.14": {scheme: schemePKCS1, hash: crypto.SHA224},
	"1.2.840.113549.1.1.11": {scheme: schemePKCS1, hash: crypto.SHA256},
	"1.2.840.113549.1.1.12": {scheme: schemePKCS1, hash: crypto.SHA384},
	"1.2.840.113549.1.1.13": {scheme: schemePKCS1, hash: crypto.SHA512},
	"1.2.840.10045.2.1":     {scheme: schemeECDSA},
	"1.2.840.10045.4.3.1":   {scheme: schemeECDSA, hash: crypto.SHA224},
	"1.2.840.10045.4.3.2":   {scheme: schemeECDSA, hash: crypto.SHA256},
	"1.2.840.10045.4.3.3":   {scheme: schemeECDSA, hash: crypto.SHA384},
	"1.2.840.10045.4.3.4":   {scheme: schemeECDSA, hash: crypto.SHA512},
	"1.3.101.112":           {scheme: schemeEd25519, hash: crypto.SHA512},
	// RSA with MD2, MD4, MD5 and SHA-1, DSA and ECDSA with SHA-1, the last also under the numbers of OIW.
	"1.2.840.113549.1.1.2": {weak: true},
	"1.2.840.113549.1.1.3": {weak: true},
	"1.2.840.113549.1.1.4": {weak: true},
	"1.2.840.113549.1.1.5": {weak: true},
	"1.2.840.10040.4.3":    {weak: true},
	"1.2.840.10045.4.1":    {weak: true},
	"1.3.14.3.2.3":         {weak: true},
	"1.3.14.3.2.13":        {weak: true},
	"1.3.14.3.2.15":        {weak: true},
	"1.3.14.3.2.27":        {weak: true},
	"1.3.14.3.2.29":        {weak: true},
}

// digestAlgorithm returns the hash of a digest algorithm.
func digestAlgorithm(id pkix.AlgorithmIdentifier) (crypto.Hash, error) {
	oid := id.Algorithm.String()
	if weakDigests[oid] {
		return 0, errWeakDigest
	}
	hash, ok := digestAlgorithms[oid]
	if !ok {
		return 0, fmt.Errorf("digest algorithm %s is not supported; sign with SHA-256 or SHA-512", oid)
	}
	return hash, nil
}

// algorithmOf returns the hash of the content and the algorithm of a signature, which must agree.
func algorithmOf(digest, signature pkix.AlgorithmIdentifier) (crypto.Hash, signatureAlgorithm, error) {
	hash, err := digestAlgorithm(digest)
	if err != nil {
		return 0, signatureAlgorithm{}, err
	}
	oid := signature.Algorithm.String()
	a, ok := signatureAlgorithms[oid]
	if oid == oidPSS {
		ok = true
		if a, err = pssAlgorithm(signature.Parameters.FullBytes); err != nil {
			return 0, a, err
		}
	}
	switch {
	case !ok:
		return 0, a, fmt.Errorf("signature algorithm %s is not supported; sign with RSA, RSA-PSS, ECDSA or Ed25519", oid)
	case a.weak:
		return 0, a, errWeakDigest
	case a.hash == 0:
		a.hash = hash
	case a.hash != hash:
		return 0, a, fmt.Errorf("it names two digests, %v for the content and %v for the signature", hash, a.hash)
	}
	return hash, a, nil
}

// pssAlgorithm reads RSASSA-PSS-params, RFC 4055 clause 3.1. All defaults are SHA-1.
func pssAlgorithm(der []byte) (signatureAlgorithm, error) {
	var params struct {
		Hash    pkix.AlgorithmIdentifier `asn1:"explicit,optional,tag:0"`
		Mask    pkix.AlgorithmIdentifier `asn1:"explicit,optional,tag:1"`
		Salt    int                      `asn1:"explicit,optional,tag:2,default:20"`
		Trailer int                      `asn1:"explicit,optional,tag:3,default:1"`
	}
	if len(der) > 0 {
		if err := unmarshal(der, &params); err != nil {
			return signatureAlgorithm{}, fmt.Errorf("decoding the parameters of RSA-PSS: %w", err)
		}
	}
	if len(params.Hash.Algorithm) == 0 || len(params.Mask.Algorithm) == 0 {
		return signatureAlgorithm{}, errWeakDigest
	}
	hash, err := digestAlgorithm(params.Hash)
	if err != nil {
		return signatureAlgorithm{}, err
	}
	var inner pkix.AlgorithmIdentifier
	if err := unmarshal(params.Mask.Parameters.FullBytes, &inner); err != nil {
		return signatureAlgorithm{}, fmt.Errorf("decoding the parameters of RSA-PSS: %w", err)
	}
	mask, err := digestAlgorithm(inner)
	switch {
	case err != nil:
		return signatureAlgorithm{}, err
	case mask != hash || !params.Mask.Algorithm.Equal(asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 8}) || params.Trailer != 1:
		return signatureAlgorithm{}, errors.New("the parameters of RSA-PSS are not supported; its mask must be MGF1 with the digest of the signature")
	}
	return signatureAlgorithm{scheme: schemePSS, hash: hash}, nil
}

// costOf is how many steps it takes to verify a signature with a key, with a fixed part for what comes with it. A step
// is a tenth of a microsecond or less.
func costOf(key any) int64 {
	const fixed = 1000
	switch key := key.(type) {
	case *rsa.PublicKey:
		words := int64(key.N.BitLen() / 64)
		return fixed + words*words/2
	case *ecdsa.PublicKey:
		if key.Curve.Params().BitSize > 256 {
			return fixed + 10_000
		}
	}
	return fixed + 1000
}

var errSignature = errors.New("the signature was not made with the key of the certificate")

// verify checks a signature over the message whose digest is given; Ed25519 signs the message itself.
func (a signatureAlgorithm) verify(cert *x509.Certificate, digest, message, signature []byte) error {
	switch key := cert.PublicKey.(type) {
	case *rsa.PublicKey:
		if key.N.BitLen() < minRSABits {
			return fmt.Errorf("its RSA key has %d bits; sign with %d or more", key.N.BitLen(), minRSABits)
		}
		switch {
		case a.scheme == schemePKCS1 && rsa.VerifyPKCS1v15(key, a.hash, digest, signature) == nil,
			a.scheme == schemePSS && rsa.VerifyPSS(key, a.hash, digest, signature, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthAuto}) == nil:
			return nil
		}
	case *ecdsa.PublicKey:
		if a.scheme == schemeECDSA && ecdsa.VerifyASN1(key, digest, signature) {
			return nil
		}
	case ed25519.PublicKey:
		if a.scheme == schemeEd25519 && ed25519.Verify(key, message, signature) {
			return nil
		}
	default:
		return fmt.Errorf("the key of the certificate is %T; sign with RSA, ECDSA or Ed25519", key)
	}
	return errSignature
}
