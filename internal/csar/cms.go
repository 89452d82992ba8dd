package csar

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/smallstep/pkcs7"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// maxUnattributedBytes bounds what is read into memory to verify a signature without
// signed attributes; with them, as all usual tools write them, the content is streamed.
const maxUnattributedBytes = 512 << 20

// maxCMSBytes bounds a decoded CMS. A signature with its chain has a few thousand bytes, and the
// decoder recurses as deep as a hostile one is nested.
const maxCMSBytes = 128 << 10

// contentTypes names the CMS content types, RFC 5652 and RFC 3274.
var contentTypes = map[string]string{
	"1.2.840.113549.1.7.1":      "data",
	"1.2.840.113549.1.7.2":      "signedData",
	"1.2.840.113549.1.7.3":      "envelopedData",
	"1.2.840.113549.1.7.5":      "digestedData",
	"1.2.840.113549.1.7.6":      "encryptedData",
	"1.2.840.113549.1.9.16.1.2": "authenticatedData",
	"1.2.840.113549.1.9.16.1.9": "compressedData",
}

// signed is something with a detached signature.
type signed struct {
	// noun names it in problems, at is where the signature is.
	noun string
	at   place
	cms  []byte
	// open gives the signed bytes, size their number.
	open func() (io.ReadCloser, error)
	size int64
	// certificates are those that the package holds beside the CMS.
	certificates []*x509.Certificate
}

// verification is the outcome for one signature.
type verification struct {
	signer *x509.Certificate
	// trusted is true when the signature holds and its signer leads to a trust root.
	trusted bool
	// embedded is true when the signer's certificate is in the CMS.
	embedded bool
}

// verifier checks signatures against one set of trust roots.
type verifier struct {
	roots    *x509.CertPool
	rootList []*x509.Certificate
	now      time.Time
	required bool
	ps       vnfm.Problems
}

func newVerifier(o Options) *verifier {
	v := &verifier{now: o.now(), required: o.signature() == SignatureRequire}
	if len(bytes.TrimSpace(o.TrustRoots)) == 0 {
		return v
	}
	certs, err := parseCertificates(o.TrustRoots)
	if err != nil {
		v.ps = append(v.ps, vnfm.Problem{Summary: "the trust roots cannot be read", Detail: err.Error()})
	}
	v.roots, v.rootList = x509.NewCertPool(), certs
	for _, c := range certs {
		v.roots.AddCert(c)
	}
	return v
}

func (v *verifier) fail(s signed, summary, detail string) {
	v.ps = append(v.ps, vnfm.Problem{File: s.at.file, Line: s.at.line, Column: s.at.column, Summary: summary, Detail: detail})
}

// verify checks that the signature holds for the content, then that its signer is
// trusted; each way to fail is a problem of its own.
func (v *verifier) verify(s signed) verification {
	p7, ok := v.parse(s)
	if !ok {
		return verification{}
	}
	embedded := len(p7.Certificates)
	p7.Certificates = append(p7.Certificates, s.certificates...)
	var out verification
	signers := make([]*x509.Certificate, 0, len(p7.Signers))
	for _, info := range p7.Signers {
		cert, at := findCertificate(p7.Certificates, info.IssuerAndSerialNumber.IssuerName.FullBytes, info.IssuerAndSerialNumber.SerialNumber)
		if cert == nil {
			v.fail(s, fmt.Sprintf("the certificate that signed %s is missing", s.noun), "it is neither in the signature nor in the package; sign with the certificate included, or name its file with "+KeyCertificate)
			return verification{}
		}
		if weakDigest(info.DigestAlgorithm.Algorithm) {
			v.fail(s, fmt.Sprintf("the signature of %s uses a broken digest", s.noun), "SHA-1 and MD5 can be forged; sign with SHA-256 or SHA-512")
			return verification{}
		}
		out.embedded = out.embedded || at < embedded
		signers = append(signers, cert)
	}
	out.signer = signers[0]
	if !v.holds(s, p7) {
		return out
	}
	out.trusted = true
	for _, cert := range signers {
		out.trusted = v.trusts(s, cert, p7.Certificates) && out.trusted
	}
	return out
}

// parse decodes the CMS, PEM with any label or DER, down to its signers.
func (v *verifier) parse(s signed) (*pkcs7.PKCS7, bool) {
	der := s.cms
	if block, _ := pem.Decode(s.cms); block != nil {
		der = block.Bytes
	} else if bytes.Contains(s.cms, []byte(beginMarker)) {
		v.fail(s, fmt.Sprintf("the signature of %s is not valid PEM", s.noun), "the lines between the markers must be base64")
		return nil, false
	}
	if len(der) > maxCMSBytes {
		v.fail(s, fmt.Sprintf("the signature of %s has %d bytes, more than %d", s.noun, len(der), maxCMSBytes), "it must be detached: without the content that it signs")
		return nil, false
	}
	kind := contentType(der)
	p7, err := pkcs7.Parse(der)
	switch {
	case kind == "":
		v.fail(s, fmt.Sprintf("the signature of %s is not CMS", s.noun), "it must be a detached CMS SignedData, PEM or DER")
	case kind != "signedData":
		v.fail(s, fmt.Sprintf("the signature of %s is CMS %s", s.noun, kind), "it must be CMS signedData; set signature = \"ignore\" to use the package without it")
	case err != nil:
		v.fail(s, fmt.Sprintf("the signature of %s cannot be decoded", s.noun), err.Error())
	case len(p7.Signers) == 0:
		v.fail(s, fmt.Sprintf("the signature of %s has no signer", s.noun), "a signer must be named by issuer and serial number of its certificate")
	default:
		return p7, true
	}
	return nil, false
}

// holds checks the signature itself.
func (v *verifier) holds(s signed, p7 *pkcs7.PKCS7) bool {
	p7.Content = nil
	h := &streamHasher{open: s.open}
	p7.Hasher = h
	for _, info := range p7.Signers {
		if len(info.AuthenticatedAttributes) > 0 || p7.Content != nil {
			continue
		}
		if s.size > maxUnattributedBytes {
			v.fail(s, fmt.Sprintf("the signature of %s has no signed attributes", s.noun), fmt.Sprintf("for content of more than %d bytes they are needed", maxUnattributedBytes))
			return false
		}
		content, err := readAll(s.open)
		if err != nil {
			v.fail(s, fmt.Sprintf("%s cannot be read", s.noun), err.Error())
			return false
		}
		p7.Content = content
	}
	err := p7.Verify()
	var mismatch *pkcs7.MessageDigestMismatchError
	var signingTime *pkcs7.SigningTimeNotValidError
	switch {
	case err == nil:
		return true
	case h.err != nil:
		v.fail(s, fmt.Sprintf("%s cannot be read", s.noun), h.err.Error())
	case errors.As(err, &mismatch):
		v.fail(s, fmt.Sprintf("the signature does not match %s", s.noun), "the content was changed after it was signed")
	case errors.As(err, &signingTime):
		v.fail(s, fmt.Sprintf("%s was signed outside of the validity of the certificate", s.noun),
			fmt.Sprintf("signed %s, certificate valid from %s to %s", day(signingTime.SigningTime), day(signingTime.NotBefore), day(signingTime.NotAfter)))
	default:
		v.fail(s, fmt.Sprintf("the signature of %s is not valid", s.noun), err.Error())
	}
	return false
}

// trusts checks that a certificate is valid now, meant for signing and leads to a root.
func (v *verifier) trusts(s signed, cert *x509.Certificate, known []*x509.Certificate) bool {
	subject := cert.Subject.String()
	switch {
	case v.now.After(cert.NotAfter):
		v.fail(s, fmt.Sprintf("the certificate %q that signed %s has expired", subject, s.noun), fmt.Sprintf("it ended on %s; obtain a package signed with a valid certificate", day(cert.NotAfter)))
		return false
	case v.now.Before(cert.NotBefore):
		v.fail(s, fmt.Sprintf("the certificate %q that signed %s is not yet valid", subject, s.noun), fmt.Sprintf("it begins on %s; check the clock", day(cert.NotBefore)))
		return false
	case cert.KeyUsage != 0 && cert.KeyUsage&(x509.KeyUsageDigitalSignature|x509.KeyUsageContentCommitment) == 0:
		v.fail(s, fmt.Sprintf("the certificate %q that signed %s is not for signing", subject, s.noun), "its key usage lacks digitalSignature")
		return false
	case v.roots == nil:
		p := vnfm.Problem{Severity: vnfm.SeverityWarning, File: s.at.file, Line: s.at.line, Column: s.at.column, Summary: fmt.Sprintf("%s is signed by %q, which is not checked", s.noun, subject), Detail: "no trust roots are configured"}
		if v.required {
			p.Severity = vnfm.SeverityError
		}
		v.ps = append(v.ps, p)
		return false
	case selfSigned(cert) && !v.isRoot(cert):
		v.fail(s, fmt.Sprintf("the certificate %q that signed %s is self-signed", subject, s.noun), "anybody can make one; add it to the trust roots if it is the one that you expect")
		return false
	}
	return v.chain(s, cert, known)
}

func (v *verifier) chain(s signed, cert *x509.Certificate, known []*x509.Certificate) bool {
	intermediates := x509.NewCertPool()
	for _, c := range known {
		intermediates.AddCert(c)
	}
	_, err := cert.Verify(x509.VerifyOptions{Roots: v.roots, Intermediates: intermediates, CurrentTime: v.now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	if err == nil {
		return true
	}
	subject := cert.Subject.String()
	var unknown x509.UnknownAuthorityError
	var bad x509.CertificateInvalidError
	switch {
	case errors.As(err, &unknown):
		v.fail(s, fmt.Sprintf("the certificate %q that signed %s does not lead to a trust root", subject, s.noun), fmt.Sprintf("its issuer is %q; add the root, or put the intermediate certificates into the package", cert.Issuer.String()))
	case errors.As(err, &bad) && bad.Reason == x509.Expired && bad.Cert != nil:
		v.fail(s, fmt.Sprintf("the certificate %q in the chain of %q is not valid now", bad.Cert.Subject.String(), subject), fmt.Sprintf("it is valid from %s to %s", day(bad.Cert.NotBefore), day(bad.Cert.NotAfter)))
	default:
		v.fail(s, fmt.Sprintf("the certificate %q that signed %s is not trusted", subject, s.noun), err.Error())
	}
	return false
}

func (v *verifier) isRoot(cert *x509.Certificate) bool {
	for _, root := range v.rootList {
		if root.Equal(cert) {
			return true
		}
	}
	return false
}

// security describes the signer of a verification.
func (out verification) security(option string) Security {
	sec := Security{Option: option, Verified: out.trusted}
	if out.signer != nil {
		sec.Signer, sec.Issuer = out.signer.Subject.String(), out.signer.Issuer.String()
		sec.SerialNumber, sec.NotAfter = out.signer.SerialNumber.Text(16), out.signer.NotAfter
	}
	return sec
}

func selfSigned(cert *x509.Certificate) bool {
	return bytes.Equal(cert.RawSubject, cert.RawIssuer) && cert.CheckSignature(cert.SignatureAlgorithm, cert.RawTBSCertificate, cert.Signature) == nil
}

func weakDigest(oid asn1.ObjectIdentifier) bool {
	md5 := asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 5}
	return oid.Equal(pkcs7.OIDDigestAlgorithmSHA1) || oid.Equal(md5)
}

func day(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// contentType returns the name (else the number) of the content type of a CMS, "" when it is none. Only the
// head is read, which may be BER with indefinite length.
func contentType(der []byte) string {
	if len(der) < 2 || der[0] != 0x30 {
		return ""
	}
	skip := 2
	if der[1] > 0x80 {
		skip += int(der[1] & 0x7f)
	}
	if skip >= len(der) {
		return ""
	}
	var oid asn1.ObjectIdentifier
	if _, err := asn1.Unmarshal(der[skip:], &oid); err != nil {
		return ""
	}
	if name, ok := contentTypes[oid.String()]; ok {
		return name
	}
	return oid.String()
}

// streamHasher hashes the signed bytes without holding them in memory.
type streamHasher struct {
	open func() (io.ReadCloser, error)
	err  error
}

// Hash implements pkcs7.Hasher; the reader it is given would be over the content in memory.
func (h *streamHasher) Hash(kind crypto.Hash, _ io.Reader) (sum []byte, err error) {
	defer func() { h.err = err }()
	if !kind.Available() {
		return nil, fmt.Errorf("digest %v is not available", kind)
	}
	in, err := h.open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	w := kind.New()
	if _, err := io.Copy(w, in); err != nil {
		return nil, err
	}
	return w.Sum(nil), nil
}

func readAll(open func() (io.ReadCloser, error)) (data []byte, err error) {
	in, err := open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return io.ReadAll(in)
}
