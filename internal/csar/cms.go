package csar

import (
	"bytes"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"
)

// maxCMSBytes bounds a decoded CMS. A signature with its chain has a few thousand bytes.
const maxCMSBytes = 128 << 10

// maxSignatureBytes and maxCertificatesBytes bound the files of signatures, PEM with room for text, and of certificates.
const (
	maxSignatureBytes    = 2 * maxCMSBytes
	maxCertificatesBytes = 1 << 20
)

// maxSigners bounds the signers of one CMS, each of which costs a verification.
const maxSigners = 16

// contentTypes names the CMS content types, RFC 5652 and RFC 3274.
var contentTypes = map[string]string{
	"1.2.840.113549.1.7.1":      "data",
	"1.2.840.113549.1.7.2":      signedDataType,
	"1.2.840.113549.1.7.3":      "envelopedData",
	"1.2.840.113549.1.7.5":      "digestedData",
	"1.2.840.113549.1.7.6":      "encryptedData",
	"1.2.840.113549.1.9.16.1.2": "authenticatedData",
	"1.2.840.113549.1.9.16.1.9": "compressedData",
}

const signedDataType = "signedData"

// Attributes of a signer, RFC 5652 clause 11.
var (
	oidContentType   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 3}
	oidMessageDigest = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 4}
	oidSigningTime   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 5}
)

// errNotCMS is the error for data that is not CMS of any type.
var errNotCMS = errors.New("it is not a CMS ContentInfo")

// wrongContentError is the error for a CMS of another type than signedData.
type wrongContentError struct{ kind string }

func (e *wrongContentError) Error() string { return "CMS " + e.kind }

// signedData is a CMS SignedData, RFC 5652 clause 5.1. It has no encapsulated content: the
// signatures of packages are detached.
type signedData struct {
	contentType  asn1.ObjectIdentifier
	certificates []*x509.Certificate
	signers      []signerInfo
}

// signerInfo is one signature, RFC 5652 clause 5.3.
type signerInfo struct {
	// issuer and serial name the certificate of the signer, or else keyID does, which is its subject key identifier.
	issuer []byte
	serial *big.Int
	keyID  []byte

	digest    pkix.AlgorithmIdentifier
	algorithm pkix.AlgorithmIdentifier
	signature []byte

	// attributes is the DER that is signed instead of the content; nil without signed attributes.
	attributes []byte
	// messageDigest, signedType and signingTime are the signed attributes; the time is zero where there is none.
	messageDigest []byte
	signedType    asn1.ObjectIdentifier
	signingTime   time.Time
}

// certificatesOf returns the certificates that the signer can have signed with. More than one is possible,
// since a key identifier is whatever the issuer of a certificate wrote into it.
func (s *signerInfo) certificatesOf(known []*x509.Certificate) []*x509.Certificate {
	var list []*x509.Certificate
	for _, c := range known {
		named := s.serial != nil && c.SerialNumber.Cmp(s.serial) == 0 && bytes.Equal(c.RawIssuer, s.issuer) ||
			s.serial == nil && len(c.SubjectKeyId) > 0 && bytes.Equal(c.SubjectKeyId, s.keyID)
		if named && !slices.ContainsFunc(list, c.Equal) {
			list = append(list, c)
		}
	}
	return list
}

// decodePEM returns the content of the one PEM block of a file, or the file itself when it is not PEM. Text
// around the block is reported, not refused.
func decodePEM(data []byte) (der []byte, textAround bool, err error) {
	if !bytes.Contains(data, []byte(beginMarker)) {
		return data, false, nil
	}
	block, rest := pem.Decode(data)
	if block == nil {
		return nil, false, errors.New("the lines between the markers must be base64")
	}
	return block.Bytes, textAroundPEM(data) || len(bytes.TrimSpace(rest)) > 0, nil
}

// pureStart reports that nothing but white space stands before the first PEM block.
func pureStart(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(data), []byte(beginMarker))
}

// parseCMS decodes a SignedData, BER or DER.
func parseCMS(data []byte) (*signedData, error) {
	kind := contentType(data)
	switch kind {
	case "":
		return nil, errNotCMS
	case signedDataType:
	default:
		return nil, &wrongContentError{kind}
	}
	der, err := toDER(data)
	if err != nil {
		return nil, err
	}
	var info struct {
		Type    asn1.ObjectIdentifier
		Content asn1.RawValue `asn1:"explicit,tag:0"`
	}
	if err := unmarshal(der, &info); err != nil {
		return nil, err
	}
	var raw struct {
		Version          int
		DigestAlgorithms []pkix.AlgorithmIdentifier `asn1:"set"`
		Encapsulated     struct {
			Type    asn1.ObjectIdentifier
			Content asn1.RawValue `asn1:"explicit,optional,tag:0"`
		}
		Certificates asn1.RawValue   `asn1:"optional,tag:0"`
		CRLs         asn1.RawValue   `asn1:"optional,tag:1"`
		Signers      []asn1.RawValue `asn1:"set"`
	}
	if err := unmarshal(info.Content.Bytes, &raw); err != nil {
		return nil, err
	}
	out := &signedData{contentType: raw.Encapsulated.Type}
	if out.certificates, err = embeddedCertificates(raw.Certificates.Bytes); err != nil {
		return nil, err
	}
	if len(raw.Signers) > maxSigners {
		return nil, fmt.Errorf("it has %d signers, more than %d", len(raw.Signers), maxSigners)
	}
	for i, signer := range raw.Signers {
		parsed, err := parseSigner(signer.FullBytes)
		if err != nil {
			return nil, fmt.Errorf("signer %d: %w", i+1, err)
		}
		out.signers = append(out.signers, *parsed)
	}
	return out, nil
}

// unmarshal decodes DER with nothing after it.
func unmarshal(der []byte, into any) error {
	rest, err := asn1.Unmarshal(der, into)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return fmt.Errorf("%d bytes follow an element", len(rest))
	}
	return nil
}

// embeddedCertificates reads the CertificateSet of a SignedData. Attribute certificates and other formats
// are passed over: they do not sign.
func embeddedCertificates(der []byte) ([]*x509.Certificate, error) {
	var list []*x509.Certificate
	for len(der) > 0 {
		var raw asn1.RawValue
		rest, err := asn1.Unmarshal(der, &raw)
		if err != nil {
			return nil, fmt.Errorf("decoding its certificates: %w", err)
		}
		der = rest
		if raw.Class != asn1.ClassUniversal || raw.Tag != asn1.TagSequence {
			continue
		}
		cert, err := parseCertificate(raw.FullBytes)
		if err != nil {
			return nil, fmt.Errorf("decoding certificate %d: %w", len(list)+1, err)
		}
		list = append(list, cert)
	}
	return list, nil
}

func parseSigner(der []byte) (*signerInfo, error) {
	var raw struct {
		Version    int
		Identifier asn1.RawValue
		Digest     pkix.AlgorithmIdentifier
		Attributes asn1.RawValue `asn1:"optional,tag:0"`
		Algorithm  pkix.AlgorithmIdentifier
		Signature  []byte
		Unsigned   asn1.RawValue `asn1:"optional,tag:1"`
	}
	if err := unmarshal(der, &raw); err != nil {
		return nil, err
	}
	s := &signerInfo{digest: raw.Digest, algorithm: raw.Algorithm, signature: raw.Signature}
	switch id := raw.Identifier; {
	case id.Class == asn1.ClassContextSpecific && id.Tag == 0:
		s.keyID = id.Bytes
	default:
		var name struct {
			Issuer asn1.RawValue
			Serial *big.Int
		}
		if err := unmarshal(id.FullBytes, &name); err != nil {
			return nil, fmt.Errorf("its certificate is named neither by issuer and serial number nor by key identifier: %w", err)
		}
		s.issuer, s.serial = name.Issuer.FullBytes, name.Serial
	}
	if len(raw.Attributes.FullBytes) > 0 {
		if err := s.parseAttributes(raw.Attributes.Bytes); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// parseAttributes reads the signed attributes and composes what is signed: the DER of them as a SET OF, which is
// in ascending order whatever order they came in (RFC 5652 clause 5.4).
func (s *signerInfo) parseAttributes(der []byte) error {
	var list [][]byte
	seen := map[string]bool{}
	for len(der) > 0 {
		var a struct {
			Raw    asn1.RawContent
			Type   asn1.ObjectIdentifier
			Values []asn1.RawValue `asn1:"set"`
		}
		rest, err := asn1.Unmarshal(der, &a)
		if err != nil {
			return fmt.Errorf("decoding the signed attributes: %w", err)
		}
		der = rest
		list = append(list, a.Raw)
		if err := s.attribute(a.Type, a.Values, seen); err != nil {
			return err
		}
	}
	if s.messageDigest == nil || s.signedType == nil {
		return errors.New("its signed attributes lack the message digest or the content type")
	}
	slices.SortFunc(list, bytes.Compare)
	s.attributes = berElement{identifier: []byte{tagConstructed | asn1.TagSet}, content: bytes.Join(list, nil)}.encode()
	return nil
}

// attribute takes one of the three attributes that matter, each of which has one value and is there once.
func (s *signerInfo) attribute(kind asn1.ObjectIdentifier, values []asn1.RawValue, seen map[string]bool) error {
	var into any
	switch {
	case kind.Equal(oidMessageDigest):
		into = &s.messageDigest
	case kind.Equal(oidContentType):
		into = &s.signedType
	case kind.Equal(oidSigningTime):
		into = &s.signingTime
	default:
		return nil
	}
	if seen[kind.String()] || len(values) != 1 {
		return fmt.Errorf("its signed attribute %s must be given exactly once", kind)
	}
	seen[kind.String()] = true
	if err := unmarshal(values[0].FullBytes, into); err != nil {
		return fmt.Errorf("decoding the signed attribute %s: %w", kind, err)
	}
	return nil
}

// contentType returns the name (else the number) of the content type of a CMS, "" when it is none. Only the
// head is read, which may be BER with indefinite length.
func contentType(data []byte) string {
	if len(data) < 2 || data[0] != tagConstructed|asn1.TagSequence {
		return ""
	}
	header, _, err := readHeader(data)
	if err != nil {
		return ""
	}
	var oid asn1.ObjectIdentifier
	if _, err := asn1.Unmarshal(data[header.size:], &oid); err != nil {
		return ""
	}
	if name, ok := contentTypes[oid.String()]; ok {
		return name
	}
	return oid.String()
}
