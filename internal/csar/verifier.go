package csar

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// maxUnattributedBytes bounds what is read into memory to verify a signature of Ed25519 without
// signed attributes; all others stream the content.
const maxUnattributedBytes = 64 << 20

// signed is something with a detached signature.
type signed struct {
	// noun names it in problems, at is where the signature is.
	noun    string
	at      place
	cms     []byte
	content *content
	// certificates are those that the package holds beside the CMS.
	certificates []*x509.Certificate
}

// content is what was signed. Each digest of it is computed once, however many signatures there are.
type content struct {
	open func() (io.ReadCloser, error)
	// size is in bytes.
	size    int64
	digests map[crypto.Hash][]byte
}

func newContent(open func() (io.ReadCloser, error)) *content {
	return &content{open: open, digests: map[crypto.Hash][]byte{}}
}

// digest hashes the content without holding it in memory.
func (c *content) digest(hash crypto.Hash) (sum []byte, err error) {
	if sum := c.digests[hash]; sum != nil {
		return sum, nil
	}
	in, err := c.open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	h := hash.New()
	if _, err := io.Copy(h, in); err != nil {
		return nil, err
	}
	c.digests[hash] = h.Sum(nil)
	return c.digests[hash], nil
}

// verification is the outcome for one signature.
type verification struct {
	signer *x509.Certificate
	// trusted is true when the signature holds and its signer leads to a trust root.
	trusted bool
	// embedded is true when the signer's certificate is in the CMS.
	embedded bool
}

// verifier checks signatures against one Trust.
type verifier struct {
	trust    *trust
	now      time.Time
	required bool
	budget   *budget.Budget
	// budgetReported is set when the end of the budget is among the problems.
	budgetReported bool
	// chains are the outcomes for the signers and the certificates beside them that were looked at.
	chains map[[sha256.Size]byte]error
	ps     vnfm.Problems
}

// newVerifier takes options with a budget.
func newVerifier(o Options) *verifier {
	v := &verifier{now: o.now(), required: o.signature() == SignatureRequire, budget: o.Budget, chains: map[[sha256.Size]byte]error{}}
	v.trust, v.ps = readTrust(o.Trust)
	return v
}

// spend takes steps to verify a signature. The end of the budget is reported once.
func (v *verifier) spend(s signed, steps int64) bool {
	err := v.budget.Steps(steps)
	if err != nil && !v.budgetReported {
		v.budgetReported = true
		v.fail(s, fmt.Sprintf("the signature of %s is not verified: with it the package has %v", s.noun, err), "sign the manifest or the archive, and not each file")
	}
	return err == nil
}

func (v *verifier) fail(s signed, summary, detail string) {
	v.add(vnfm.SeverityError, s.at, summary, detail)
}

func (v *verifier) add(severity vnfm.Severity, at place, summary, detail string) {
	v.ps = append(v.ps, vnfm.Problem{Severity: severity, File: at.file, Line: at.line, Column: at.column, Summary: budget.Clip(summary), Detail: budget.Clip(detail)})
}

// suspicious is the severity of what a signature that is required cannot have.
func (v *verifier) suspicious() vnfm.Severity {
	if v.required {
		return vnfm.SeverityError
	}
	return vnfm.SeverityWarning
}

// verify checks that the signature holds for the content, then that its signer is
// trusted; each way to fail is a problem of its own.
func (v *verifier) verify(s signed) verification {
	if !v.spend(s, int64(len(s.cms))) {
		return verification{}
	}
	cms, ok := v.parse(s)
	if !ok {
		return verification{}
	}
	known := append(append([]*x509.Certificate(nil), cms.certificates...), s.certificates...)
	var out verification
	signers := make([]*x509.Certificate, 0, len(cms.signers))
	for i := range cms.signers {
		info := &cms.signers[i]
		candidates := info.certificatesOf(known)
		if len(candidates) == 0 {
			v.fail(s, fmt.Sprintf("the certificate that signed %s is missing", s.noun), "it is neither in the signature nor in the package; sign with the certificate included, or name its file with "+keyCertificate)
			return verification{}
		}
		cert := v.holds(s, cms, info, candidates)
		if cert == nil {
			return verification{}
		}
		out.embedded = out.embedded || len(info.certificatesOf(cms.certificates)) > 0
		signers = append(signers, cert)
	}
	out.signer = signers[0]
	out.trusted = true
	for _, cert := range signers {
		out.trusted = v.trusts(s, cert, known) && out.trusted
	}
	return out
}

// parse decodes the CMS, PEM with any label or BER, down to its signers.
func (v *verifier) parse(s signed) (*signedData, bool) {
	der, textAround, err := decodePEM(s.cms)
	if err != nil {
		//findings:says sign the package again
		v.fail(s, fmt.Sprintf("the signature of %s is not valid PEM", s.noun), err.Error())
		return nil, false
	}
	if textAround {
		v.add(v.suspicious(), s.at, fmt.Sprintf("the signature of %s has text around its PEM block", s.noun), "a file that is a signature and something else can be used as either; keep only the PEM block")
	}
	if len(der) > maxCMSBytes {
		v.fail(s, fmt.Sprintf("the signature of %s has %d bytes, more than %d", s.noun, len(der), maxCMSBytes), "it must be detached: without the content that it signs")
		return nil, false
	}
	cms, err := parseCMS(der)
	var wrong *wrongContentError
	switch {
	case errors.Is(err, errNotCMS):
		v.fail(s, fmt.Sprintf("the signature of %s is not CMS", s.noun), "it must be a detached CMS SignedData, PEM or DER")
	case errors.As(err, &wrong):
		v.fail(s, fmt.Sprintf("the signature of %s is CMS %s", s.noun, wrong.kind), "it must be CMS signedData; set signature = \"ignore\" to use the package without it")
	case err != nil:
		//findings:says sign the package again, with a detached CMS SignedData
		v.fail(s, fmt.Sprintf("the signature of %s cannot be decoded", s.noun), err.Error())
	case len(cms.signers) == 0:
		v.fail(s, fmt.Sprintf("the signature of %s has no signer", s.noun), "sign the package")
	default:
		return cms, true
	}
	return nil, false
}

// holds checks one signature itself, and returns the certificate that made it, nil when it does not hold.
func (v *verifier) holds(s signed, cms *signedData, info *signerInfo, candidates []*x509.Certificate) *x509.Certificate {
	hash, algorithm, err := algorithmOf(info.digest, info.algorithm)
	switch {
	case errors.Is(err, errWeakDigest):
		v.fail(s, fmt.Sprintf("the signature of %s uses a broken digest", s.noun), weakDigest)
		return nil
	case err != nil:
		//findings:says sign with RSA, ECDSA or Ed25519, and SHA-256 or SHA-512
		v.fail(s, fmt.Sprintf("the signature of %s cannot be verified", s.noun), err.Error())
		return nil
	}
	digest, err := s.content.digest(hash)
	if err != nil {
		v.fail(s, fmt.Sprintf("%s cannot be read", s.noun), err.Error()+"; "+packAgain)
		return nil
	}
	var message []byte
	switch {
	case info.attributes != nil:
		if !info.signedType.Equal(cms.contentType) {
			v.fail(s, fmt.Sprintf("the signature of %s is not valid", s.noun), "the signed content type is not that of the content")
			return nil
		}
		if !bytes.Equal(info.messageDigest, digest) {
			v.fail(s, fmt.Sprintf("the signature does not match %s", s.noun), "the content was changed after it was signed")
			return nil
		}
		message = info.attributes
		h := hash.New()
		h.Write(message)
		digest = h.Sum(nil)
	case contentTypes[cms.contentType.String()] != "data":
		v.fail(s, fmt.Sprintf("the signature of %s is not valid", s.noun), "only content of type data may be signed without attributes")
		return nil
	case algorithm.scheme == schemeEd25519:
		if err := v.budget.Bytes(s.content.size); err != nil && s.content.size <= maxUnattributedBytes {
			v.fail(s, fmt.Sprintf("the signature of %s has no signed attributes", s.noun), "to verify it without them the package has "+err.Error())
			return nil
		}
		if s.content.size > maxUnattributedBytes {
			v.fail(s, fmt.Sprintf("the signature of %s has no signed attributes", s.noun), fmt.Sprintf("content of more than %d bytes needs them", maxUnattributedBytes))
			return nil
		}
		if message, err = readAll(s.content.open); err != nil {
			v.fail(s, fmt.Sprintf("%s cannot be read", s.noun), err.Error()+"; "+packAgain)
			return nil
		}
	}
	for _, cert := range candidates {
		if !v.spend(s, costOf(cert.PublicKey)) {
			return nil
		}
		if err = algorithm.verify(cert, digest, message, info.signature); err == nil {
			return v.signedInTime(s, info, cert)
		}
	}
	//findings:says the content or the signature was changed: obtain or sign the package again
	v.fail(s, fmt.Sprintf("the signature of %s is not valid", s.noun), err.Error())
	return nil
}

// signedInTime returns the certificate unless the signature says that it was made outside of its validity.
func (v *verifier) signedInTime(s signed, info *signerInfo, cert *x509.Certificate) *x509.Certificate {
	at := info.signingTime
	if at.IsZero() || !at.Before(cert.NotBefore) && !at.After(cert.NotAfter) {
		return cert
	}
	v.fail(s, fmt.Sprintf("%s was signed outside of the validity of the certificate", s.noun),
		fmt.Sprintf("signed %s, certificate valid from %s to %s", day(at), day(cert.NotBefore), day(cert.NotAfter)))
	return nil
}

// security describes the signer of a verification. Whose signature nothing vouches for is nobody's: a
// certificate with any name is made in a second.
func (out verification) security(option string) Security {
	if !out.trusted {
		return Security{Option: option}
	}
	return Security{
		Option: option, Verified: true, Signer: subjectOf(out.signer), Issuer: out.signer.Issuer.String(),
		SerialNumber: out.signer.SerialNumber.Text(16), NotAfter: out.signer.NotAfter,
	}
}

func day(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func readAll(open func() (io.ReadCloser, error)) (data []byte, err error) {
	in, err := open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return io.ReadAll(in)
}
