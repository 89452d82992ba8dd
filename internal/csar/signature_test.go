package csar

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/smallstep/pkcs7"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// identity is a certificate with its key and those above it.
type identity struct {
	cert  *x509.Certificate
	key   crypto.Signer
	chain []*x509.Certificate
}

var serial int64

func newKey(tb testing.TB, useRSA bool) crypto.Signer {
	tb.Helper()
	var key crypto.Signer
	var err error
	if useRSA {
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	} else {
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	require.NoError(tb, err)
	return key
}

// issue makes a certificate; a nil issuer is itself.
func issue(tb testing.TB, name string, issuer *identity, change func(*x509.Certificate)) *identity {
	tb.Helper()
	serial++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(240 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, BasicConstraintsValid: true,
	}
	if change != nil {
		change(template)
	}
	key := newKey(tb, strings.Contains(name, "RSA"))
	parent, signer := template, key
	var chain []*x509.Certificate
	if issuer != nil {
		parent, signer = issuer.cert, issuer.key
		chain = append([]*x509.Certificate{issuer.cert}, issuer.chain...)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	require.NoError(tb, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(tb, err)
	return &identity{cert: cert, key: key, chain: chain}
}

func authority(c *x509.Certificate) {
	c.IsCA = true
	c.KeyUsage = x509.KeyUsageCertSign
}

func certPEM(certs ...*x509.Certificate) []byte {
	var out []byte
	for _, c := range certs {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})...)
	}
	return out
}

// bundle is the certificate with the intermediates but not the root.
func (id *identity) bundle() []byte {
	certs := []*x509.Certificate{id.cert}
	for _, c := range id.chain {
		if !selfSigned(c) {
			certs = append(certs, c)
		}
	}
	return certPEM(certs...)
}

func (id *identity) keyPEM(tb testing.TB) []byte {
	tb.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(id.key)
	require.NoError(tb, err)
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func (id *identity) signManifest(tb testing.TB, manifest string) string {
	tb.Helper()
	out, err := SignOption1([]byte(manifest), id.bundle(), id.keyPEM(tb))
	require.NoError(tb, err)
	return string(out)
}

func (id *identity) signDetached(tb testing.TB, content string) string {
	tb.Helper()
	out, err := SignOption2([]byte(content), id.bundle(), id.keyPEM(tb))
	require.NoError(tb, err)
	return string(out)
}

// signBare makes a CMS as SignOption1 does not: without certificates, without signed attributes, or with SHA-1.
func (id *identity) signBare(tb testing.TB, content string, certificate, attributes bool, digest asn1.ObjectIdentifier) string {
	tb.Helper()
	data, err := pkcs7.NewSignedData([]byte(content))
	require.NoError(tb, err)
	data.SetDigestAlgorithm(digest)
	if attributes {
		err = data.AddSigner(id.cert, id.key, pkcs7.SignerInfoConfig{})
	} else {
		err = data.SignWithoutAttr(id.cert, id.key, pkcs7.SignerInfoConfig{})
	}
	require.NoError(tb, err)
	data.Detach()
	der, err := data.Finish()
	if err == nil && !certificate {
		der, err = withoutCertificates(data)
	}
	require.NoError(tb, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CMS", Bytes: der}))
}

// withoutCertificates encodes a CMS that leaves the certificate to a file beside it.
func withoutCertificates(data *pkcs7.SignedData) ([]byte, error) {
	content := data.GetSignedData()
	content.Certificates.Raw = nil
	inner, err := asn1.Marshal(*content)
	if err != nil {
		return nil, err
	}
	return asn1.Marshal(struct {
		Type    asn1.ObjectIdentifier
		Content asn1.RawValue
	}{pkcs7.OIDSignedData, asn1.RawValue{Class: asn1.ClassContextSpecific, IsCompound: true, Bytes: inner}})
}

func TestSignatures(t *testing.T) {
	root := issue(t, "Root", nil, authority)
	intermediate := issue(t, "Intermediate", root, authority)
	leaf := issue(t, "Leaf", intermediate, nil)
	leafRSA := issue(t, "Leaf RSA", intermediate, nil)
	expired := issue(t, "Expired", intermediate, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(time.Hour) })
	oldIntermediate := issue(t, "Old Intermediate", root, func(c *x509.Certificate) { authority(c); c.NotAfter = time.Now().Add(time.Hour) })
	underOld := issue(t, "Under Old", oldIntermediate, nil)
	noSigning := issue(t, "No Signing", intermediate, func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageKeyEncipherment })
	self := issue(t, "Self", nil, nil)
	foreignRoot := issue(t, "Foreign Root", nil, authority)
	foreign := issue(t, "Foreign", foreignRoot, nil)
	roots := certPEM(root.cert)

	good := goodPackage()
	manifest := good["vnfd.mf"]
	sha256OID, sha1OID := pkcs7.OIDDigestAlgorithmSHA256, pkcs7.OIDDigestAlgorithmSHA1
	signedBy := func(id *identity) texts { return good.with(texts{"vnfd.mf": id.signManifest(t, manifest)}) }
	signedAs := func(text, cms string) texts { return good.with(texts{"vnfd.mf": text + cms}) }
	require := Options{Signature: SignatureRequire, Trust: Trust{Roots: roots}}
	later := func(o Options, d time.Duration) Options {
		o.Now = func() time.Time { return time.Now().Add(d) }
		return o
	}
	signatureLine := "vnfd.mf:" + strconv.Itoa(strings.Count(manifest, "\n")+1) + ":1: "
	metaWithFile := goodMeta + "\nName: a\nAlgorithm: SHA-256\nHash: " + sha("x") + "\n"
	compressed := "-----BEGIN CMS-----\n" + base64.StdEncoding.EncodeToString([]byte("\x30\x80\x06\x0b\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01\x09\xa0\x80\x30\x80\x02\x01\x00\x00\x00\x00\x00\x00\x00")) + "\n-----END CMS-----\n"

	tests := []struct {
		name     string
		files    texts
		o        Options
		verified bool
		signer   string
		want     []string
	}{
		{name: "chain with intermediate", files: signedBy(leaf), o: require, verified: true, signer: "CN=Leaf"},
		{name: "RSA", files: signedBy(leafRSA), o: require, verified: true, signer: "CN=Leaf RSA"},
		{name: "verified when present", files: signedBy(leaf), o: Options{Trust: Trust{Roots: roots}}, verified: true, signer: "CN=Leaf"},
		{name: "CRLF manifest", files: good.with(texts{"vnfd.mf": leaf.signManifest(t, crlf(manifest))}), o: require, verified: true, signer: "CN=Leaf"},
		{name: "CRLF all through", files: signedAs(crlf(manifest), crlf(leaf.signDetached(t, crlf(manifest)))), o: require, verified: true, signer: "CN=Leaf"},
		{name: "PKCS7 label, no final newline", files: signedAs(manifest, strings.TrimSpace(strings.ReplaceAll(leaf.signDetached(t, manifest), "CMS", "PKCS7"))), o: require, verified: true, signer: "CN=Leaf"},
		{name: "without signed attributes", files: signedAs(manifest, leafRSA.signBare(t, manifest, true, false, sha256OID)), o: Options{Signature: SignatureRequire, Trust: Trust{Roots: certPEM(root.cert, intermediate.cert)}}, verified: true, signer: "CN=Leaf RSA"},
		{name: "self-signed, pinned as a root", files: signedBy(self), o: Options{Signature: SignatureRequire, Trust: Trust{Roots: certPEM(self.cert)}}, verified: true, signer: "CN=Self"},
		{name: "ignored", files: signedBy(foreign), o: Options{Signature: SignatureIgnore}},
		{name: "ignored, though no CMS at all", files: signedAs(manifest, "-----BEGIN CMS-----\nnot base64!\n-----END CMS-----\n"), o: Options{Signature: SignatureIgnore}},
		{name: "no trust roots", files: signedBy(leaf), want: []string{"warning: " + signatureLine + `the manifest is signed by "CN=Leaf", which is not checked: no trust roots are configured`}},
		{name: "no trust roots but required", files: signedBy(leaf), o: Options{Signature: SignatureRequire}, want: []string{"error: " + signatureLine + `the manifest is signed by "CN=Leaf", which is not checked: no trust roots are configured`}},
		{name: "trust roots are no certificates", files: signedBy(leaf), o: Options{Trust: Trust{Roots: []byte("-----BEGIN X-----\n")}}, want: []string{
			"error: the trust roots cannot be read: there is no PEM block CERTIFICATE in it",
			"error: " + signatureLine + `the certificate "CN=Leaf" that signed the manifest does not lead to a trust root: its issuer is "CN=Intermediate"; add the root, or put the intermediate certificates into the package`,
		}},
		{name: "tampered", files: good.with(texts{"vnfd.mf": strings.Replace(leaf.signManifest(t, manifest), "Acme", "Evil", 1)}), o: require, want: []string{"error: " + signatureLine + "the signature does not match the manifest: the content was changed after it was signed"}},
		{name: "tampered, without signed attributes", files: signedAs(strings.Replace(manifest, "Acme", "Evil", 1), leafRSA.signBare(t, manifest, true, false, sha256OID)), o: require, want: []string{"error: " + signatureLine + "the signature of the manifest is not valid: the signature was not made with the key of the certificate"}},
		{name: "line ends changed", files: signedAs(crlf(manifest), leaf.signDetached(t, manifest)), o: require, want: []string{"error: " + signatureLine + "the signature does not match the manifest: the content was changed after it was signed"}},
		{name: "expired", files: signedBy(expired), o: later(require, 2*time.Hour), want: []string{"error: " + signatureLine + `the certificate "CN=Expired" that signed the manifest has expired: it ended on ` + day(expired.cert.NotAfter) + "; obtain a package signed with a valid certificate"}},
		{name: "expired without trust roots", files: signedBy(expired), o: later(Options{}, 2*time.Hour), want: []string{"error: " + signatureLine + `the certificate "CN=Expired" that signed the manifest has expired: it ended on ` + day(expired.cert.NotAfter) + "; obtain a package signed with a valid certificate"}},
		{name: "expired intermediate", files: signedBy(underOld), o: later(require, 2*time.Hour), want: []string{"error: " + signatureLine + `the certificate "CN=Old Intermediate" in the chain of "CN=Under Old" is not valid now: it is valid from ` + day(oldIntermediate.cert.NotBefore) + " to " + day(oldIntermediate.cert.NotAfter)}},
		{name: "clock before the certificate", files: signedBy(leaf), o: later(require, -72*time.Hour), want: []string{"error: " + signatureLine + `the certificate "CN=Leaf" that signed the manifest is not yet valid: it begins on ` + day(leaf.cert.NotBefore) + "; check the clock"}},
		{name: "not for signing", files: signedBy(noSigning), o: require, want: []string{"error: " + signatureLine + `the certificate "CN=No Signing" that signed the manifest is not for signing: its key usage lacks digitalSignature`}},
		{name: "self-signed", files: signedBy(self), o: require, want: []string{"error: " + signatureLine + `the certificate "CN=Self" that signed the manifest is self-signed: anybody can make such a certificate; add it to the trust roots if it is the one that you expect`}},
		{name: "foreign", files: signedBy(foreign), o: require, want: []string{"error: " + signatureLine + `the certificate "CN=Foreign" that signed the manifest does not lead to a trust root: its issuer is "CN=Foreign Root"; add the root, or put the intermediate certificates into the package`}},
		{name: "intermediate missing", files: signedAs(manifest, leaf.signBare(t, manifest, true, true, sha256OID)), o: require, want: []string{"error: " + signatureLine + `the certificate "CN=Leaf" that signed the manifest does not lead to a trust root: its issuer is "CN=Intermediate"; add the root, or put the intermediate certificates into the package`}},
		{name: "certificate missing", files: signedAs(manifest, leaf.signBare(t, manifest, false, true, sha256OID)), o: require, want: []string{"error: " + signatureLine + "the certificate that signed the manifest is missing: it is neither in the signature nor in the package; sign with the certificate included, or name its file with ETSI-Entry-Certificate"}},
		{name: "SHA-1", files: signedAs(manifest, leafRSA.signBare(t, manifest, true, true, sha1OID)), o: require, want: []string{"error: " + signatureLine + "the signature of the manifest uses a broken digest: SHA-1 and MD5 can be forged; sign with SHA-256 or SHA-512"}},
		{name: "compressedData", files: signedAs(manifest, compressed), o: require, want: []string{"error: " + signatureLine + `the signature of the manifest is CMS compressedData: it must be CMS signedData; set signature = "ignore" to use the package without it`}},
		{name: "not base64", files: signedAs(manifest, "-----BEGIN CMS-----\nnot base64!\n-----END CMS-----\n"), o: require, want: []string{"error: " + signatureLine + "the signature of the manifest is not valid PEM: the lines between the markers must be base64"}},
		{name: "not CMS", files: signedAs(manifest, "-----BEGIN CMS-----\nMIIB\n-----END CMS-----\n"), o: require, want: []string{"error: " + signatureLine + "the signature of the manifest is not CMS: it must be a detached CMS SignedData, PEM or DER"}},
		{name: "nested without end", files: signedAs(manifest, "-----BEGIN CMS-----\n"+base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x30\x80", 1<<20)))+"\n-----END CMS-----\n"), o: require, want: []string{"error: " + signatureLine + "the signature of the manifest has 2097152 bytes, more than 131072: it must be detached: without the content that it signs"}},
		{name: "a file that the signature does not cover", files: signedBy(leaf).with(texts{"Definitions/evil.yaml": "x"}), o: require, want: []string{"error: vnfd.mf: 1 file is not listed: Definitions/evil.yaml: the signature does not cover this content; add a Source with Algorithm and Hash for each"}},
		{name: "a file listed without digest", files: good.with(texts{"a": "x", "vnfd.mf": leaf.signManifest(t, manifest+"Source: a\n")}), o: require, want: []string{"error: vnfd.mf: 1 file is listed without digest: a: the signature does not cover this content; add Algorithm and Hash"}},
		{name: "a file whose digest stands in TOSCA.meta alone", files: good.with(texts{
			"a": "x", "TOSCA-Metadata/TOSCA.meta": metaWithFile,
			"vnfd.mf": leaf.signManifest(t, strings.Replace(manifest, sha(goodMeta), sha(metaWithFile), 1)),
		}), o: require, want: []string{"error: vnfd.mf: 1 file is listed without digest: a: the signature does not cover this content; add Algorithm and Hash"}},
		{name: "a changed file is an error even when integrity only warns", files: signedBy(leaf).with(texts{"Files/kubernetes/service.yaml": "x"}), o: Options{Signature: SignatureRequire, Trust: Trust{Roots: roots}, Integrity: IntegrityWarn}, want: []string{
			"error: vnfd.mf:17:7: SHA-256 of \"Files/kubernetes/service.yaml\" is not the one declared: declared " + sha(serviceText) + ", computed " + sha("x") + "; the file was changed after the manifest was written, or damaged; in a package of your own, \"terraform-provider-vnf package hash DIRECTORY\" writes the digests again",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, problems := Read(tt.files.archive(), tt.o)
			checkProblems(t, tt.want, problems)
			if p.Security.Option != SecurityOption1 || p.Security.Verified != tt.verified || p.Security.Signer != tt.signer {
				t.Errorf("security %+v; want verified %t, signer %q", p.Security, tt.verified, tt.signer)
			}
		})
	}
}

// TestSignatureCertificateFiles covers the places where the certificate may be beside the CMS.
func TestSignatureCertificateFiles(t *testing.T) {
	root := issue(t, "Root", nil, authority)
	leaf := issue(t, "Leaf", root, nil)
	o := Options{Signature: SignatureRequire, Trust: Trust{Roots: certPEM(root.cert)}}
	certificate := string(certPEM(leaf.cert))
	oid := pkcs7.OIDDigestAlgorithmSHA256
	rooted := rootPackage()
	bare := func(text string) string { return text + leaf.signBare(t, text, false, true, oid) }
	metaWithCert := goodMeta + "ETSI-Entry-Certificate: Files/acme.crt\n"
	manifest := strings.Replace(goodPackage()["vnfd.mf"], sha(goodMeta), sha(metaWithCert), 1)
	tests := []struct {
		name  string
		files texts
		want  []string
	}{
		{name: "named by TOSCA.meta", files: goodPackage().with(texts{"TOSCA-Metadata/TOSCA.meta": metaWithCert, "Files/acme.crt": certificate, "vnfd.mf": bare(manifest)})},
		{name: "named after the manifest", files: rooted.with(texts{"sample.cert": certificate, "sample.mf": bare(rooted["sample.mf"])})},
		{name: "DER", files: rooted.with(texts{"sample.cert": string(leaf.cert.Raw), "sample.mf": bare(rooted["sample.mf"])})},
		{name: "in both places", files: rooted.with(texts{"sample.cert": certificate, "sample.mf": leaf.signManifest(t, rooted["sample.mf"])}), want: []string{"warning: sample.cert: the certificate of the signer is given twice: it is also in the signature of the manifest; SOL 004 requires one place"}},
		{name: "not a certificate", files: rooted.with(texts{"sample.cert": "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n", "sample.mf": leaf.signManifest(t, rooted["sample.mf"])}), want: []string{`error: sample.cert: the certificate "sample.cert" cannot be read: decoding PEM certificate 1: x509: malformed certificate`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, problems := Read(tt.files.archive(), o)
			checkProblems(t, tt.want, problems)
			if problems.HasErrors() {
				assert.False(t, p.Security.Verified, "security %+v", p.Security)
				return
			}
			if !p.Security.Verified || p.Security.Signer != "CN=Leaf" || p.Security.Issuer != "CN=Root" || p.Security.SerialNumber != leaf.cert.SerialNumber.Text(16) {
				t.Errorf("security %+v", p.Security)
			}
		})
	}
}

// TestSignaturesOfFiles covers option 1 with a signature for each file.
func TestSignaturesOfFiles(t *testing.T) {
	root := issue(t, "Root", nil, authority)
	leaf, other := issue(t, "Leaf", root, nil), issue(t, "Other", root, nil)
	oid := pkcs7.OIDDigestAlgorithmSHA256
	der := func(s string) string { block, _ := pem.Decode([]byte(s)); return string(block.Bytes) }
	signedSource := func(name, rest string) string { return "Source: " + name + "\nSignature: " + rest + "\n" }
	base := texts{
		"s.yaml": rootText, "a.img": "image", "s.sig.cms": leaf.signDetached(t, rootText), "a.sig.p7": der(other.signBare(t, "image", false, true, oid)), "a.cert": string(certPEM(other.cert)),
		"s.mf": goodMetadata + signedSource("s.yaml", "s.sig.cms") + signedSource("a.img", "a.sig.p7\nCertificate: a.cert"),
	}
	trusted := Options{Trust: Trust{Roots: certPEM(root.cert)}}
	require := Options{Signature: SignatureRequire, Trust: trusted.Trust}
	complete := base.with(texts{"s.mf": leaf.signManifest(t, goodMetadata+source("s.yaml", rootText)+"Signature: s.sig.cms\n"+source("a.img", "image")+"Signature: a.sig.p7\nCertificate: a.cert\n")})
	const unsigned = "s.mf: the manifest is not signed: the signatures of single files bind neither their paths nor the version of the package"
	refused, noted := "error: "+unsigned+"; sign the manifest (option 1) or the archive (option 2)", "warning: "+unsigned+", so no signer is reported"
	tests := []struct {
		name     string
		files    texts
		o        Options
		verified bool
		want     []string
	}{
		{name: "every file", files: base, o: trusted, want: []string{noted}},
		{name: "every file, but a signature is required", files: base, o: require, want: []string{refused}},
		{name: "common certificate", files: base.with(texts{"a.cert": "", "s.cert": string(certPEM(other.cert)), "s.mf": strings.ReplaceAll(base["s.mf"], "Certificate: a.cert\n", "")}), o: trusted, want: []string{noted}},
		{name: "no trust roots", files: base, want: []string{
			noted,
			`warning: s.mf:7:12: "s.yaml" is signed by "CN=Leaf", which is not checked: no trust roots are configured`,
			`warning: s.mf:9:12: "a.img" is signed by "CN=Other", which is not checked: no trust roots are configured`,
		}},
		{name: "ignored", files: base.with(texts{"a.img": "tampered"}), o: Options{Signature: SignatureIgnore}},
		{name: "tampered", files: base.with(texts{"a.img": "tampered"}), o: trusted, want: []string{noted, `error: s.mf:9:12: the signature does not match "a.img": the content was changed after it was signed`}},
		{name: "signature and certificate missing", files: base.with(texts{"s.sig.cms": "", "a.cert": ""}), o: trusted, want: []string{
			noted,
			`error: s.mf:7:12: the signature "s.sig.cms" of "s.yaml" is not in the package: add the file, or correct the path`,
			`error: s.mf:10:14: the certificate "a.cert" is not in the package: add the file, or correct the path`,
			`error: s.mf:9:12: the certificate that signed "a.img" is missing: it is neither in the signature nor in the package; sign with the certificate included, or name its file with ETSI-Entry-Certificate`,
		}},
		{name: "manifest signed too", files: complete, o: require, verified: true},
		{name: "manifest signed too, without digests", files: base.with(texts{"s.mf": leaf.signManifest(t, base["s.mf"])}), o: require, want: []string{
			"error: s.mf: 2 files are listed without digest: a.img, s.yaml: the signature does not cover this content; add Algorithm and Hash",
		}},
		{name: "manifest signed too, without digests, not required", files: base.with(texts{"s.mf": leaf.signManifest(t, base["s.mf"])}), o: trusted, want: []string{
			"warning: s.mf: the signature of the manifest does not cover 2 files: a.img, s.yaml: no signer is reported; add a Source with Algorithm and Hash for each",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, problems := Read(tt.files.archive(), tt.o)
			checkProblems(t, tt.want, problems)
			if p.Security.Option != SecurityOption1 || p.Security.Verified != tt.verified {
				t.Errorf("security %+v; want verified %t", p.Security, tt.verified)
			}
		})
	}
}

// TestOpenSSLAgrees checks the signatures of this package with openssl, and those of openssl with
// this package.
func TestOpenSSLAgrees(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		require.NotEqual(t, "all", os.Getenv("LAB_REQUIRE"), "LAB_REQUIRE=all, but there is no openssl")
		t.Skip("skipped: openssl is not installed")
	}
	root := issue(t, "Root", nil, authority)
	intermediate := issue(t, "Intermediate", root, authority)
	manifest := crlf(rootPackage()["sample.mf"])
	for _, name := range []string{"Leaf", "Leaf RSA"} {
		t.Run(name, func(t *testing.T) {
			leaf := issue(t, name, intermediate, nil)
			dir := t.TempDir()
			cms := leaf.signDetached(t, manifest)
			texts{"content": manifest, "cms": cms, "root": string(certPEM(root.cert)), "cert": string(certPEM(leaf.cert)), "inter": string(certPEM(intermediate.cert)), "key": string(leaf.keyPEM(t))}.write(t, dir)
			run := func(args ...string) {
				t.Helper()
				cmd := exec.CommandContext(t.Context(), openssl, args...) //nolint:gosec // a test of openssl
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("openssl %s: %v\n%s", strings.Join(args, " "), err, out)
				}
			}
			run("cms", "-verify", "-inform", "PEM", "-binary", "-content", "content", "-in", "cms", "-CAfile", "root", "-purpose", "any", "-out", os.DevNull)
			variants := map[string][]string{"plain": nil, "SHA-512": {"-md", "sha512"}, "no certificates": {"-nocerts"}, "no attributes": {"-noattr"}}
			for variant, extra := range variants {
				run(append([]string{"cms", "-sign", "-binary", "-in", "content", "-signer", "cert", "-inkey", "key", "-certfile", "inter", "-outform", "PEM", "-out", "signature"}, extra...)...)
				signature, err := os.ReadFile(filepath.Join(dir, "signature"))
				require.NoError(t, err)
				files := rootPackage().with(texts{"sample.mf": manifest + string(signature)})
				if variant == "no certificates" {
					files["sample.cert"] = string(certPEM(leaf.cert, intermediate.cert))
				}
				p, problems := Read(files.archive(), Options{Signature: SignatureRequire, Trust: Trust{Roots: certPEM(root.cert)}})
				require.Empty(t, problems)
				assert.True(t, p.Security.Verified, "%s: %q, %+v", variant, render(problems), p.Security)
			}
		})
	}
}
