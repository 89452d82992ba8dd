package csar

import (
	"bytes"
	"cmp"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Trust says whose signatures count.
type Trust struct {
	// Roots are the certificates, PEM, that the chain of a signer must end at. A
	// signer's own self-signed certificate may stand among them.
	Roots []byte
	// Subjects, PublicKeys and ExtendedKeyUsages pin the certificate of the signer: of each list that is not empty
	// it must have one. A subject is written as in RFC 2253, a public key as "sha256:<hex>" of its
	// SubjectPublicKeyInfo, a usage as in ExtendedKeyUsages or as an object identifier.
	Subjects, PublicKeys, ExtendedKeyUsages []string
	// CRLs are revocation lists, PEM. Where there are any, each certificate of a chain below its root needs one
	// of its issuer that holds now.
	CRLs []byte
}

// extendedKeyUsages are the object identifiers of the usages that have a name, RFC 5280 clause 4.2.1.12 and RFC 9336.
var extendedKeyUsages = map[string]string{
	"any_extended":     "2.5.29.37.0",
	"server_auth":      "1.3.6.1.5.5.7.3.1",
	"client_auth":      "1.3.6.1.5.5.7.3.2",
	"code_signing":     "1.3.6.1.5.5.7.3.3",
	"email_protection": "1.3.6.1.5.5.7.3.4",
	"timestamping":     "1.3.6.1.5.5.7.3.8",
	"ocsp_signing":     "1.3.6.1.5.5.7.3.9",
	"document_signing": "1.3.6.1.5.5.7.3.36",
}

// signingUsages are those that let a certificate sign a package when nothing else is asked: CMS is what
// e-mails are signed with, and a package is code or a document.
var signingUsages = []string{"any_extended", "code_signing", "email_protection", "document_signing"}

// trust is a Trust that was read.
type trust struct {
	// pool is nil without roots.
	pool       *x509.CertPool
	roots      []*x509.Certificate
	subjects   []string
	publicKeys []string
	// usages are object identifiers, pinned is set when the user gave them.
	usages []string
	pinned bool
	crls   []*x509.RevocationList
}

// readTrust reads the trust roots and pins. Unreadable parts are problems, and never trusted.
func readTrust(t Trust) (*trust, vnfm.Problems) {
	out := &trust{subjects: t.Subjects, publicKeys: t.PublicKeys, pinned: len(t.ExtendedKeyUsages) > 0}
	var ps vnfm.Problems
	if len(bytes.TrimSpace(t.Roots)) > 0 {
		certs, err := parseCertificates(t.Roots)
		if err != nil {
			//findings:says give certificates as PEM
			ps = append(ps, vnfm.Problem{Summary: "the trust roots cannot be read", Detail: err.Error()})
		}
		out.pool, out.roots = x509.NewCertPool(), certs
		for _, c := range certs {
			out.pool.AddCert(c)
		}
	}
	names := t.ExtendedKeyUsages
	if len(names) == 0 {
		names = signingUsages
	}
	for _, name := range names {
		if oid, ok := extendedKeyUsages[name]; ok {
			name = oid
		}
		out.usages = append(out.usages, name)
	}
	crls, err := parseCRLs(t.CRLs)
	if err != nil {
		//findings:says give complete lists as PEM
		ps = append(ps, vnfm.Problem{Summary: "the revocation lists cannot be read", Detail: err.Error()})
	}
	out.crls = crls
	return out, ps
}

// parseCRLs reads all revocation lists of a PEM bundle.
func parseCRLs(data []byte) ([]*x509.RevocationList, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	var list []*x509.RevocationList
	for rest := data; ; {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		if block == nil {
			break
		}
		if block.Type != "X509 CRL" {
			continue
		}
		crl, err := x509.ParseRevocationList(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("decoding revocation list %d: %w", len(list)+1, err)
		}
		for _, e := range crl.Extensions {
			// A list of some reasons, of other issuers or of changes alone says so in a critical extension.
			if e.Critical {
				return nil, fmt.Errorf("revocation list %d of %q has the critical extension %s; give a complete list of one issuer", len(list)+1, crl.Issuer.String(), e.Id)
			}
		}
		list = append(list, crl)
	}
	if len(list) == 0 {
		return nil, errors.New("there is no PEM block X509 CRL in it")
	}
	return list, nil
}

// trusts checks that a certificate is valid now, meant for signing, leads to a root and is pinned where pins are given.
func (v *verifier) trusts(s signed, cert *x509.Certificate, known []*x509.Certificate) bool {
	subject := subjectOf(cert)
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
	case v.trust.pool == nil:
		v.add(v.suspicious(), s.at, fmt.Sprintf("%s is signed by %q, which is not checked", s.noun, subject), "no trust roots are configured")
		return false
	case selfSigned(cert) && !v.trust.isRoot(cert):
		v.fail(s, fmt.Sprintf("the certificate %q that signed %s is self-signed", subject, s.noun), "anybody can make such a certificate; add it to the trust roots if it is the one that you expect")
		return false
	}
	return v.chain(s, cert, known) && v.pinned(s, cert)
}

// subjectOf is the subject of a certificate as RFC 2253 writes it, whole and in its own order: that of
// crypto/x509 has the last of several common names alone.
func subjectOf(cert *x509.Certificate) string {
	var name pkix.RDNSequence
	if err := unmarshal(cert.RawSubject, &name); err != nil {
		return cert.Subject.String()
	}
	return name.String()
}

// maxChainChecks is how many signatures crypto/x509 verifies at most on its search for chains.
const maxChainChecks = 100

// chain checks that a certificate leads to a root by certificates that may sign for it and are not revoked.
func (v *verifier) chain(s signed, cert *x509.Certificate, known []*x509.Certificate) bool {
	id := sha256.New()
	cost := int64(0)
	for _, c := range append([]*x509.Certificate{cert}, known...) {
		sum := sha256.Sum256(c.Raw)
		id.Write(sum[:])
		cost = max(cost, costOf(c.PublicKey))
	}
	key := [sha256.Size]byte(id.Sum(nil))
	err, seen := v.chains[key]
	if !seen {
		if !v.spend(s, cost*int64(min(len(known)*len(known), maxChainChecks))) {
			return false
		}
		err = v.trust.leads(cert, known, v.now)
		v.chains[key] = err
	}
	if err == nil {
		return true
	}
	subject := subjectOf(cert)
	var unknown x509.UnknownAuthorityError
	var bad x509.CertificateInvalidError
	switch {
	case errors.As(err, &unknown):
		v.fail(s, fmt.Sprintf("the certificate %q that signed %s does not lead to a trust root", subject, s.noun), fmt.Sprintf("its issuer is %q; add the root, or put the intermediate certificates into the package", cert.Issuer.String()))
	case errors.As(err, &bad) && bad.Reason == x509.Expired && bad.Cert != nil:
		v.fail(s, fmt.Sprintf("the certificate %q in the chain of %q is not valid now", bad.Cert.Subject.String(), subject),
			fmt.Sprintf("it is valid from %s to %s", day(bad.Cert.NotBefore), day(bad.Cert.NotAfter)))
	default:
		//findings:says the detail says why: obtain a package that is signed with a valid certificate, or correct trust
		v.fail(s, fmt.Sprintf("the certificate %q that signed %s is not trusted", subject, s.noun), err.Error())
	}
	return false
}

// leads looks for a chain from a certificate to a root. The error is that of the last chain.
func (t *trust) leads(cert *x509.Certificate, known []*x509.Certificate, now time.Time) error {
	intermediates := x509.NewCertPool()
	for _, c := range known {
		intermediates.AddCert(c)
	}
	chains, err := cert.Verify(x509.VerifyOptions{Roots: t.pool, Intermediates: intermediates, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	for _, chain := range chains {
		if err = cmp.Or(t.fit(chain), t.revoked(chain, now)); err == nil {
			return nil
		}
	}
	return err
}

// fit refuses a chain with an authority between signer and root whose key is too short, or which may issue certificates
// for other usages alone.
func (t *trust) fit(chain []*x509.Certificate) error {
	for _, ca := range chain[1:max(1, len(chain)-1)] {
		if key, ok := ca.PublicKey.(*rsa.PublicKey); ok && key.N.BitLen() < minRSABits {
			return fmt.Errorf("the RSA key of the authority %q has %d bits, less than %d", subjectOf(ca), key.N.BitLen(), minRSABits)
		}
		if usages := usagesOf(ca); len(usages) > 0 && !t.allows(usages) && !slices.Contains(usages, extendedKeyUsages["any_extended"]) {
			return fmt.Errorf("the authority %q may issue certificates for %s only", subjectOf(ca), usageNames(usages))
		}
	}
	return nil
}

// allows reports that one of the usages lets a certificate sign a package.
func (t *trust) allows(usages []string) bool {
	return slices.ContainsFunc(usages, func(oid string) bool { return slices.Contains(t.usages, oid) })
}

// revoked holds a chain against the revocation lists.
func (t *trust) revoked(chain []*x509.Certificate, now time.Time) error {
	if len(t.crls) == 0 {
		return nil
	}
	for i, cert := range chain[:len(chain)-1] {
		crl, err := t.crlOf(chain[i+1], now)
		if err != nil {
			return err
		}
		for _, entry := range crl.RevokedCertificateEntries {
			if entry.SerialNumber.Cmp(cert.SerialNumber) == 0 {
				return fmt.Errorf("%q revoked %q on %s", crl.Issuer.String(), cert.Subject.String(), day(entry.RevocationTime))
			}
		}
	}
	return nil
}

// crlOf returns the latest revocation list of an issuer that holds now.
func (t *trust) crlOf(issuer *x509.Certificate, now time.Time) (*x509.RevocationList, error) {
	var latest *x509.RevocationList
	for _, crl := range t.crls {
		if bytes.Equal(crl.RawIssuer, issuer.RawSubject) && crl.CheckSignatureFrom(issuer) == nil &&
			(latest == nil || crl.ThisUpdate.After(latest.ThisUpdate)) {
			latest = crl
		}
	}
	switch {
	case latest == nil:
		return nil, fmt.Errorf("the configured revocation lists have none of %q", issuer.Subject.String())
	case now.Before(latest.ThisUpdate):
		return nil, fmt.Errorf("the revocation list of %q begins on %s; check the clock", issuer.Subject.String(), day(latest.ThisUpdate))
	case !latest.NextUpdate.IsZero() && now.After(latest.NextUpdate):
		return nil, fmt.Errorf("the revocation list of %q ended on %s; give a newer one", issuer.Subject.String(), day(latest.NextUpdate))
	}
	return latest, nil
}

// pinned holds a certificate against the pins.
func (v *verifier) pinned(s signed, cert *x509.Certificate) bool {
	t, subject := v.trust, subjectOf(cert)
	summary := fmt.Sprintf("the certificate %q that signed %s is not a pinned certificate", subject, s.noun)
	key := digest.Of(cert.RawSubjectPublicKeyInfo)
	ok := true
	if len(t.subjects) > 0 && !slices.Contains(t.subjects, subject) {
		v.fail(s, summary, "its subject is none of "+strings.Join(t.subjects, "; "))
		ok = false
	}
	if len(t.publicKeys) > 0 && !slices.Contains(t.publicKeys, key) {
		v.fail(s, summary, "the digest of its public key is "+key)
		ok = false
	}
	usages := usagesOf(cert)
	allowed := t.allows(usages)
	switch {
	case t.pinned && !allowed:
		v.fail(s, summary, "its extended key usages are "+usageNames(usages)+"; allowed are "+usageNames(t.usages))
		ok = false
	case !t.pinned && len(usages) > 0 && !allowed:
		v.fail(s, fmt.Sprintf("the certificate %q that signed %s is not for signing", subject, s.noun), "its extended key usages are "+usageNames(usages)+"; name one of them in extended_key_usages of trust if such certificates sign packages")
		ok = false
	}
	return ok
}

// usagesOf returns the object identifiers of the extended key usages of a certificate.
func usagesOf(cert *x509.Certificate) []string {
	for _, e := range cert.Extensions {
		if !e.Id.Equal(asn1.ObjectIdentifier{2, 5, 29, 37}) {
			continue
		}
		var oids []asn1.ObjectIdentifier
		if err := unmarshal(e.Value, &oids); err != nil {
			return nil
		}
		names := make([]string, len(oids))
		for i, oid := range oids {
			names[i] = oid.String()
		}
		return names
	}
	return nil
}

// usageNames lists usages by name, by object identifier those without one.
func usageNames(oids []string) string {
	if len(oids) == 0 {
		return "none"
	}
	names := make([]string, len(oids))
	for i, oid := range oids {
		names[i] = oid
		for name, known := range extendedKeyUsages {
			if known == oid {
				names[i] = name
			}
		}
	}
	return strings.Join(names, ", ")
}

func (t *trust) isRoot(cert *x509.Certificate) bool {
	return slices.ContainsFunc(t.roots, cert.Equal)
}

func selfSigned(cert *x509.Certificate) bool {
	return bytes.Equal(cert.RawSubject, cert.RawIssuer) && cert.CheckSignature(cert.SignatureAlgorithm, cert.RawTBSCertificate, cert.Signature) == nil
}
