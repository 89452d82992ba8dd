package csar

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	_ "crypto/sha1" //nolint:gosec // what the verifier must refuse
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"encoding/pem"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/smallstep/pkcs7"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cmsForm says how makeCMS deviates from an ordinary signature.
type cmsForm struct {
	digest, signature asn1.ObjectIdentifier
	parameters        any
	hash              crypto.Hash
	opts              crypto.SignerOpts
	// keyID names the signer by its subject key identifier.
	keyID bool
	// noAttributes signs the content itself, attributes replaces the signed attributes.
	noAttributes bool
	attributes   func(digest []byte) []cmsAttribute
	certificates []*x509.Certificate
	signers      int
	// signed is what is signed instead of the content.
	signed *string
}

type cmsAttribute struct {
	Type   asn1.ObjectIdentifier
	Values []any `asn1:"set"`
}

var (
	oidSHA256     = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}
	oidSHA1       = asn1.ObjectIdentifier{1, 3, 14, 3, 2, 26}
	oidECDSA      = asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 2}
	oidRSAPSS     = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 10}
	oidMGF1       = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 8}
	oidData       = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 1}
	oidSignedData = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}
)

// pssParameters are RSASSA-PSS-params with MGF1.
func pssParameters(digest, mask asn1.ObjectIdentifier) any {
	return struct {
		Hash pkix.AlgorithmIdentifier `asn1:"explicit,tag:0"`
		Mask struct {
			Algorithm  asn1.ObjectIdentifier
			Parameters pkix.AlgorithmIdentifier
		} `asn1:"explicit,tag:1"`
		Salt int `asn1:"explicit,tag:2"`
	}{
		Hash: pkix.AlgorithmIdentifier{Algorithm: digest},
		Mask: struct {
			Algorithm  asn1.ObjectIdentifier
			Parameters pkix.AlgorithmIdentifier
		}{oidMGF1, pkix.AlgorithmIdentifier{Algorithm: mask}},
		Salt: 32,
	}
}

// makeCMS composes a detached signature of any form.
func (id *identity) makeCMS(tb testing.TB, content string, form cmsForm) string {
	tb.Helper()
	der := func(v any) []byte {
		out, err := asn1.Marshal(v)
		require.NoError(tb, err)
		return out
	}
	if form.digest == nil {
		form.digest = oidSHA256
	}
	if form.hash == 0 {
		form.hash = crypto.SHA256
	}
	if form.opts == nil {
		form.opts = form.hash
	}
	if form.signature == nil {
		form.signature = oidECDSA
	}
	if form.certificates == nil {
		form.certificates = append([]*x509.Certificate{id.cert}, id.chain...)
	}
	sum := func(data []byte) []byte { h := form.hash.New(); h.Write(data); return h.Sum(nil) }
	text := content
	if form.signed != nil {
		text = *form.signed
	}
	message := []byte(text)
	var attributes []byte
	if !form.noAttributes {
		list := []cmsAttribute{{oidContentType, []any{oidData}}, {oidMessageDigest, []any{sum(message)}}}
		if form.attributes != nil {
			list = form.attributes(sum(message))
		}
		var encoded [][]byte
		for _, a := range list {
			encoded = append(encoded, der(a))
		}
		slices.SortFunc(encoded, bytes.Compare)
		attributes = bytes.Join(encoded, nil)
		message = der(asn1.RawValue{Tag: asn1.TagSet, IsCompound: true, Bytes: attributes})
	}
	toSign := sum(message)
	if form.opts.HashFunc() == 0 {
		toSign = message
	}
	signature, err := id.key.Sign(rand.Reader, toSign, form.opts)
	require.NoError(tb, err)
	var signer []byte
	version := 1
	if form.keyID {
		version = 3
		signer = der(asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 0, Bytes: id.cert.SubjectKeyId})
	} else {
		signer = der(struct {
			Issuer asn1.RawValue
			Serial *big.Int
		}{asn1.RawValue{FullBytes: id.cert.RawIssuer}, id.cert.SerialNumber})
	}
	algorithm := func(oid asn1.ObjectIdentifier, parameters any) []byte {
		if parameters == nil {
			return der(pkix.AlgorithmIdentifier{Algorithm: oid})
		}
		return der(struct {
			Algorithm  asn1.ObjectIdentifier
			Parameters any
		}{oid, parameters})
	}
	info := slices.Concat(der(version), signer, algorithm(form.digest, nil))
	if attributes != nil {
		info = append(info, der(asn1.RawValue{Class: asn1.ClassContextSpecific, IsCompound: true, Bytes: attributes})...)
	}
	info = slices.Concat(info, algorithm(form.signature, form.parameters), der(signature))
	infoDER := der(asn1.RawValue{Tag: asn1.TagSequence, IsCompound: true, Bytes: info})
	var certificates []byte
	for _, c := range form.certificates {
		certificates = append(certificates, c.Raw...)
	}
	set := func(class, tag int, content []byte) []byte {
		return der(asn1.RawValue{Class: class, Tag: tag, IsCompound: true, Bytes: content})
	}
	body := slices.Concat(der(version), set(asn1.ClassUniversal, asn1.TagSet, algorithm(form.digest, nil)), set(asn1.ClassUniversal, asn1.TagSequence, der(oidData)),
		set(asn1.ClassContextSpecific, 0, certificates), set(asn1.ClassUniversal, asn1.TagSet, bytes.Repeat(infoDER, max(1, form.signers))))
	out := set(asn1.ClassUniversal, asn1.TagSequence, slices.Concat(der(oidSignedData), set(asn1.ClassContextSpecific, 0, set(asn1.ClassUniversal, asn1.TagSequence, body))))
	return string(pem.EncodeToMemory(&pem.Block{Type: "CMS", Bytes: out}))
}

// asBER rewrites a PEM signature with indefinite lengths wherever an element is constructed.
func asBER(tb testing.TB, text string) string {
	tb.Helper()
	block, _ := pem.Decode([]byte(text))
	var rewrite func(der []byte) []byte
	rewrite = func(der []byte) []byte {
		var out []byte
		for len(der) > 0 {
			var v asn1.RawValue
			rest, err := asn1.Unmarshal(der, &v)
			require.NoError(tb, err)
			if v.IsCompound {
				out = append(append(append(out, v.FullBytes[0], 0x80), rewrite(v.Bytes)...), 0, 0)
			} else {
				out = append(out, v.FullBytes...)
			}
			der = rest
		}
		return out
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CMS", Bytes: rewrite(block.Bytes)}))
}

// keyID gives a certificate a subject key identifier.
func keyID(value string) func(*x509.Certificate) {
	return func(c *x509.Certificate) { c.SubjectKeyId = []byte(value) }
}

func usage(usages ...x509.ExtKeyUsage) func(*x509.Certificate) {
	return func(c *x509.Certificate) { c.ExtKeyUsage = usages }
}

// revocationList is a list of an issuer, PEM.
func (id *identity) revocationList(tb testing.TB, begin, end time.Time, revoked ...*x509.Certificate) string {
	tb.Helper()
	serial++
	list := &x509.RevocationList{Number: big.NewInt(serial), ThisUpdate: begin, NextUpdate: end}
	for _, c := range revoked {
		list.RevokedCertificateEntries = append(list.RevokedCertificateEntries, x509.RevocationListEntry{SerialNumber: c.SerialNumber, RevocationTime: begin})
	}
	der, err := x509.CreateRevocationList(rand.Reader, list, id.cert, id.key)
	require.NoError(tb, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: der}))
}

// hostileCase is a package of a vendor as an attacker left it.
type hostileCase struct {
	name string
	// files are those of a directory, or of the outer archive of option 2.
	files texts
	o     Options
	// verified is true for the few that are as they must be, which show that a refusal is not an accident.
	verified bool
	want     []string
}

// caUsage makes a certificate that of an authority.
func caUsage(c *x509.Certificate) {
	c.IsCA = true
	c.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
}

// vendorChain issues a root, an authority below it, and two signers of the vendor below that.
func vendorChain(t *testing.T) (root, inter, vendor, vendorRSA *identity) {
	t.Helper()
	root = issue(t, "Vendor Root", nil, caUsage)
	inter = issue(t, "Vendor CA", root, caUsage)
	return root, inter, issue(t, "Vendor", inter, keyID("vendor")), issue(t, "Vendor RSA", inter, nil)
}

// TestHostilePackages opens signed packages that lie, each in one way, as a user who requires a signature.
func TestHostilePackages(t *testing.T) {
	root, inter, vendor, vendorRSA := vendorChain(t)
	evilRoot := issue(t, "Vendor Root", nil, caUsage)
	evil := issue(t, "Vendor", evilRoot, keyID("vendor"))
	impostor := issue(t, "Trusted Vendor", nil, nil)
	past := func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) }
	expired := issue(t, "Expired", inter, past)
	oldInter := issue(t, "Old CA", root, func(c *x509.Certificate) { caUsage(c); past(c) })
	underOld := issue(t, "Under Old", oldInter, nil)
	encrypts := issue(t, "Encrypts", inter, func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageKeyEncipherment })
	server := issue(t, "Server", inter, usage(x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth))
	belowLeaf := issue(t, "Below Leaf", vendor, nil)
	weak := shortKey(t, "Short", inter, nil)
	tampered := *vendor.cert
	tampered.Raw = bytes.Replace(vendor.cert.Raw, []byte("Vendor CA"), []byte("Vendor XX"), 1)
	now := time.Now()
	before, after := now.Add(-time.Hour), now.Add(time.Hour)
	rootList := root.revocationList(t, before, after)
	trusted := Trust{Roots: certPEM(root.cert)}
	require := Options{Signature: SignatureRequire, Trust: trusted}
	present := Options{Trust: trusted}
	with := func(change func(*Trust)) Options {
		o := require
		change(&o.Trust)
		return o
	}

	good := goodPackage()
	text := good["vnfd.mf"]
	older := goodPackage()
	older["Files/kubernetes/deployment.yaml"] = strings.Replace(deploymentText, "vdu1", "vdu0", 1)
	signedGood := good.with(texts{"vnfd.mf": vendor.signManifest(t, text)})
	signedText := func(text string) texts { return good.with(texts{"vnfd.mf": text + vendor.signDetached(t, text)}) }
	as := func(id *identity, form cmsForm) texts {
		return good.with(texts{"vnfd.mf": text + id.makeCMS(t, text, form)})
	}
	archive := func(files texts) string { return string(zipBytes(t, files.archive())) }
	at := "vnfd.mf:22:1: "
	external := "\nSource: https://x.example/y\nSignature: Definitions/evil.yaml\nCertificate: Files/kubernetes/pod.yaml\n"
	originalText, originalCMS := text, vendor.signDetached(t, text)
	evilVNFD := texts{"Definitions/evil.yaml": "tosca_definitions_version: x\n", "Files/kubernetes/pod.yaml": deploymentText}
	stolen := strings.Replace(goodMeta, "Definitions/vnfd.yaml", "Definitions/evil.yaml", 1)
	digestOfKey := sha256.Sum256(vendor.cert.RawSubjectPublicKeyInfo)
	pin := "sha256:" + hex.EncodeToString(digestOfKey[:])
	empty := ""

	cases := []hostileCase{
		// Packages that are accepted.
		{name: "signed as it must be", files: signedGood, o: require, verified: true},
		{name: "named by key identifier", files: as(vendor, cmsForm{keyID: true}), o: require, verified: true},
		{name: "BER with indefinite lengths", files: good.with(texts{"vnfd.mf": text + asBER(t, vendor.makeCMS(t, text, cmsForm{}))}), o: require, verified: true},
		{name: "RSA-PSS", files: as(vendorRSA, cmsForm{signature: oidRSAPSS, parameters: pssParameters(oidSHA256, oidSHA256), opts: &rsa.PSSOptions{SaltLength: 32, Hash: crypto.SHA256}}), o: require, verified: true},
		{name: "pinned in every way", files: signedGood, o: with(func(tr *Trust) { tr.Subjects = []string{"CN=Other", "CN=Vendor"}; tr.PublicKeys = []string{pin} }), verified: true},
		{name: "revocation lists that name others", files: signedGood, verified: true, o: with(func(tr *Trust) {
			tr.CRLs = []byte(root.revocationList(t, now.Add(-time.Hour), now.Add(time.Hour)) + inter.revocationList(t, now.Add(-time.Hour), now.Add(time.Hour), vendorRSA.cert))
		})},

		// A foreign content under the name of the vendor.
		{name: "the vendor's manifest beside another one", o: require, files: good.with(evilVNFD).with(texts{
			"TOSCA-Metadata/TOSCA.meta": stolen, "orig.txt": originalText, "orig.cms": originalCMS,
			"vnfd.mf": goodMetadata + external + "\nSource: orig.txt\nSignature: orig.cms\n",
		}), want: []string{
			"warning: TOSCA-Metadata/TOSCA.meta:5:22: the manifest \"vnfd.mf\" is not named after \"Definitions/evil.yaml\": SOL 004 requires evil.mf",
			"warning: vnfd.mf: 5 files are not listed: Definitions/evil.yaml, Definitions/vnfd.yaml, Files/kubernetes/deployment.yaml, Files/kubernetes/pod.yaml, Files/kubernetes/service.yaml: the Kubernetes objects of Files/kubernetes/deployment.yaml, Files/kubernetes/pod.yaml, Files/kubernetes/service.yaml are by default no part of an instance, and nothing protects this content; add a Source with Algorithm and Hash for each",
			"error: vnfd.mf: the manifest is not signed: the signatures of single files bind neither their paths nor the version of the package; sign the manifest (option 1) or the archive (option 2)",
		}},
		{name: "an external source makes room for files", o: require, files: signedText(text + external).with(evilVNFD), want: []string{
			"error: vnfd.mf: 2 files are not listed: Definitions/evil.yaml, Files/kubernetes/pod.yaml: the signature does not cover this content; add a Source with Algorithm and Hash for each",
		}},
		{name: "a signature that is a manifest of Kubernetes", o: require, files: signedText(text + "\nSource: README\nAlgorithm: SHA-256\nHash: " + sha("x") + "\nSignature: Files/kubernetes/pod.yaml\n").with(texts{"README": "x", "Files/kubernetes/pod.yaml": deploymentText}), want: []string{
			"error: vnfd.mf:26:12: the signature of \"README\" is not CMS: it must be a detached CMS SignedData, PEM or DER",
		}},
		{name: "a signature behind a manifest of Kubernetes", o: require, files: signedText(text + "\nSource: README\nAlgorithm: SHA-256\nHash: " + sha("x") + "\nSignature: Files/kubernetes/pod.yaml\n").with(texts{"README": "x", "Files/kubernetes/pod.yaml": deploymentText + "---\n" + vendor.signDetached(t, "x")}), want: []string{
			"error: vnfd.mf:26:12: the signature of \"README\" has text around its PEM block: a file that is a signature and something else can be used as either; keep only the PEM block",
		}},
		{name: "a certificate behind a manifest of Kubernetes", o: require, files: signedText(text + "\nSource: README\nAlgorithm: SHA-256\nHash: " + sha("x") + "\nSignature: s.cms\nCertificate: pod.yaml\n").with(texts{"README": "x", "s.cms": vendor.signDetached(t, "x"), "pod.yaml": deploymentText + "---\n" + string(certPEM(vendor.cert))}), want: []string{
			"error: vnfd.mf:27:14: the certificate \"pod.yaml\" has text around its PEM blocks: a file that is a certificate and something else can be used as either; keep only the PEM blocks",
		}},
		{name: "YAML in the headers of the PEM block", o: require, files: signedText(text + "\nSource: README\nAlgorithm: SHA-256\nHash: " + sha("x") + "\nSignature: s.cms\n").with(texts{"README": "x", "s.cms": strings.Replace(vendor.signDetached(t, "x"), "CMS-----\n", "CMS-----\nkind: Pod\n\n", 1)}), want: []string{
			"error: vnfd.mf:26:12: the signature of \"README\" has text around its PEM block: a file that is a signature and something else can be used as either; keep only the PEM block",
		}},
		{name: "the certificate of the package is a VNFD that is imported", o: require, files: signedText(strings.Replace(text, sha(goodMeta), sha(goodMeta+"ETSI-Entry-Certificate: Definitions/types.yaml\n"), 1)).with(texts{
			"TOSCA-Metadata/TOSCA.meta": goodMeta + "ETSI-Entry-Certificate: Definitions/types.yaml\n", "Definitions/types.yaml": vnfdText + string(certPEM(vendor.cert)),
		}), want: []string{
			"warning: Definitions/types.yaml: the certificate of the signer is given twice: it is also in the signature of the manifest; SOL 004 requires one place",
			`error: Definitions/types.yaml: the certificate "Definitions/types.yaml" has text around its PEM blocks: a file that is a certificate and something else can be used as either; keep only the PEM blocks`,
		}},
		{name: "the manifest is the VNFD", o: require, files: texts{"TOSCA-Metadata/TOSCA.meta": strings.Replace(goodMeta, "vnfd.mf", "Definitions/vnfd.yaml", 1), "Definitions/vnfd.yaml": vendor.signManifest(t, goodMetadata)}, want: []string{
			"error: TOSCA-Metadata/TOSCA.meta:5:22: \"Definitions/vnfd.yaml\" is named as the manifest and as definitions: one file cannot be both",
			"error: the package is not signed: a signature is required: in the manifest (option 1) or beside the archive (option 2)",
		}},
		{name: "a file that is not listed", files: signedGood.with(texts{"Files/kubernetes/pod.yaml": deploymentText}), o: require, want: []string{
			"error: vnfd.mf: 1 file is not listed: Files/kubernetes/pod.yaml: the signature does not cover this content; add a Source with Algorithm and Hash for each",
		}},
		{name: "TOSCA.meta is not listed and names another VNFD", files: signedText(strings.Replace(text, source("TOSCA-Metadata/TOSCA.meta", goodMeta), "", 1)), o: require, want: []string{
			"error: vnfd.mf: 1 file is not listed: TOSCA-Metadata/TOSCA.meta: the signature does not cover this content; add a Source with Algorithm and Hash for each",
		}},
		{name: "TOSCA.meta was changed", files: signedGood.with(texts{"TOSCA-Metadata/TOSCA.meta": goodMeta + "ETSI-Entry-Tests: Files\n"}), o: require, want: []string{
			"error: vnfd.mf:9:7: SHA-256 of \"TOSCA-Metadata/TOSCA.meta\" is not the one declared: declared " + sha(goodMeta) + ", computed " + sha(goodMeta+"ETSI-Entry-Tests: Files\n") + "; the file was changed after the manifest was written, or damaged; in a package of your own, \"terraform-provider-vnf package hash DIRECTORY\" writes the digests again",
		}},
		{name: "one file of an older version", files: signedGood.with(texts{"Files/kubernetes/deployment.yaml": older["Files/kubernetes/deployment.yaml"]}), o: require, want: []string{
			"error: vnfd.mf:21:7: SHA-256 of \"Files/kubernetes/deployment.yaml\" is not the one declared: declared " + sha(deploymentText) + ", computed " + sha(older["Files/kubernetes/deployment.yaml"]) + "; the file was changed after the manifest was written, or damaged; in a package of your own, \"terraform-provider-vnf package hash DIRECTORY\" writes the digests again",
		}},
		{name: "two files are swapped", files: signedGood.with(texts{"Files/kubernetes/deployment.yaml": serviceText, "Files/kubernetes/service.yaml": deploymentText}), o: require, want: []string{
			"error: vnfd.mf:17:7: 2 files do not have the declared digest: Files/kubernetes/service.yaml (line 17), Files/kubernetes/deployment.yaml (line 21): the files were changed after the manifest was written, or damaged; in a package of your own, \"terraform-provider-vnf package hash DIRECTORY\" writes the digests again",
		}},
		{name: "two signed files are swapped, each with its signature", o: require, files: texts{
			"s.yaml": rootText, "a": "image B", "b": "image A", "a.cms": vendor.signDetached(t, "image B"), "b.cms": vendor.signDetached(t, "image A"), "s.cms": vendor.signDetached(t, rootText),
			"s.mf": goodMetadata + "Source: s.yaml\nSignature: s.cms\nSource: a\nSignature: a.cms\nSource: b\nSignature: b.cms\n",
		}, want: []string{
			"error: s.mf: the manifest is not signed: the signatures of single files bind neither their paths nor the version of the package; sign the manifest (option 1) or the archive (option 2)",
		}},
		{name: "a file listed with its signature alone in a signed manifest", o: require, files: signedText(text + "\nSource: b\nSignature: b.cms\n").with(texts{"b": "an older b", "b.cms": vendor.signDetached(t, "an older b")}), want: []string{
			"error: vnfd.mf: 1 file is listed without digest: b: the signature does not cover this content; add Algorithm and Hash",
		}},
		{name: "a file twice in the manifest", files: signedText(text + source("Definitions/vnfd.yaml", "other")), o: require, want: []string{
			"error: vnfd.mf:23:9: \"Definitions/vnfd.yaml\" is listed twice with different digests: first on line 11",
			"error: vnfd.mf:25:7: SHA-256 of \"Definitions/vnfd.yaml\" is not the one declared: declared " + sha("other") + ", computed " + sha(vnfdText) + "; the file was changed after the manifest was written, or damaged; in a package of your own, \"terraform-provider-vnf package hash DIRECTORY\" writes the digests again",
		}},
		{name: "damage that integrity would only warn of", files: signedGood.with(texts{"Definitions/vnfd.yaml": vnfdText + "#"}), o: Options{Signature: SignatureRequire, Integrity: IntegrityWarn, Trust: trusted}, want: []string{
			"error: vnfd.mf:13:7: SHA-256 of \"Definitions/vnfd.yaml\" is not the one declared: declared " + sha(vnfdText) + ", computed " + sha(vnfdText+"#") + "; the file was changed after the manifest was written, or damaged; in a package of your own, \"terraform-provider-vnf package hash DIRECTORY\" writes the digests again",
		}},

		// The manifest and its signature.
		{name: "the manifest was changed", files: good.with(texts{"vnfd.mf": strings.Replace(vendor.signManifest(t, text), "Acme", "Evil", 1)}), o: require, want: []string{
			"error: " + at + "the signature does not match the manifest: the content was changed after it was signed",
		}},
		{name: "text after the signature", files: good.with(texts{"vnfd.mf": vendor.signManifest(t, text) + source("b", "b")}), o: require, want: []string{
			"error: vnfd.mf:47:1: text after the signature: the signature is the last part of a manifest; nothing after it is signed",
		}},
		{name: "a signature in the middle", files: good.with(texts{"vnfd.mf": vendor.signDetached(t, "") + text}), o: require, want: []string{
			"error: vnfd.mf:25:1: text after the signature: the signature is the last part of a manifest; nothing after it is signed",
			"warning: vnfd.mf:1: the manifest has no metadata: SOL 004 requires vnf_provider_id, vnf_product_name, vnf_release_date_time, vnf_package_version",
			"error: vnfd.mf: 4 files are not listed: Definitions/vnfd.yaml, Files/kubernetes/deployment.yaml, Files/kubernetes/service.yaml, TOSCA-Metadata/TOSCA.meta: the signature does not cover this content; add a Source with Algorithm and Hash for each",
		}},
		{name: "two signatures", files: good.with(texts{"vnfd.mf": vendor.signManifest(t, text) + evil.signDetached(t, text)}), o: require, want: []string{
			"error: vnfd.mf:46:1: second signature: a manifest has one signature; the first begins on line 22",
		}},
		{name: "the signature of another package", files: good.with(texts{"vnfd.mf": text + vendor.signDetached(t, older["vnfd.mf"]+"x")}), o: require, want: []string{
			"error: " + at + "the signature does not match the manifest: the content was changed after it was signed",
		}},
		{name: "the signature of nothing", files: as(vendor, cmsForm{signed: &empty}), o: require, want: []string{
			"error: " + at + "the signature does not match the manifest: the content was changed after it was signed",
		}},
		{name: "no signer", files: good.with(texts{"vnfd.mf": text + noSigner(t)}), o: require, want: []string{
			"error: " + at + "the signature of the manifest has no signer: sign the package",
		}},
		{name: "a hundred signers", files: as(vendor, cmsForm{signers: 100}), o: require, want: []string{
			"error: " + at + "the signature of the manifest cannot be decoded: it has 100 signers, more than 16",
		}},
		{name: "a message digest that is given twice", files: as(vendor, cmsForm{attributes: func(digest []byte) []cmsAttribute {
			return []cmsAttribute{{oidContentType, []any{oidData}}, {oidMessageDigest, []any{digest}}, {oidMessageDigest, []any{make([]byte, 32)}}}
		}}), o: require, want: []string{
			"error: " + at + "the signature of the manifest cannot be decoded: signer 1: its signed attribute 1.2.840.113549.1.9.4 must be given exactly once",
		}},
		{name: "no message digest", files: as(vendor, cmsForm{attributes: func([]byte) []cmsAttribute { return []cmsAttribute{{oidContentType, []any{oidData}}} }}), o: require, want: []string{
			"error: " + at + "the signature of the manifest cannot be decoded: signer 1: its signed attributes lack the message digest or the content type",
		}},
		{name: "attributes of another content type", files: as(vendor, cmsForm{attributes: func(digest []byte) []cmsAttribute {
			return []cmsAttribute{{oidContentType, []any{oidSignedData}}, {oidMessageDigest, []any{digest}}}
		}}), o: require, want: []string{
			"error: " + at + "the signature of the manifest is not valid: the signed content type is not that of the content",
		}},

		// Algorithms.
		{name: "SHA-1 as the digest", files: as(vendor, cmsForm{digest: oidSHA1, hash: crypto.SHA1}), o: require, want: []string{
			"error: vnfd.mf:22:1: the signature of the manifest uses a broken digest: SHA-1 and MD5 can be forged; sign with SHA-256 or SHA-512",
		}},
		{name: "ecdsa-with-SHA1", files: as(vendor, cmsForm{signature: asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 1}}), o: require, want: []string{
			"error: vnfd.mf:22:1: the signature of the manifest uses a broken digest: SHA-1 and MD5 can be forged; sign with SHA-256 or SHA-512",
		}},
		{name: "sha1WithRSAEncryption", files: as(vendorRSA, cmsForm{signature: asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 5}}), o: require, want: []string{
			"error: vnfd.mf:22:1: the signature of the manifest uses a broken digest: SHA-1 and MD5 can be forged; sign with SHA-256 or SHA-512",
		}},
		{name: "SHA-1 under its number of OIW", files: as(vendorRSA, cmsForm{signature: asn1.ObjectIdentifier{1, 3, 14, 3, 2, 29}}), o: require, want: []string{
			"error: vnfd.mf:22:1: the signature of the manifest uses a broken digest: SHA-1 and MD5 can be forged; sign with SHA-256 or SHA-512",
		}},
		{name: "RSA-PSS without parameters, which means SHA-1", files: as(vendorRSA, cmsForm{signature: oidRSAPSS, opts: &rsa.PSSOptions{SaltLength: 32, Hash: crypto.SHA256}}), o: require, want: []string{
			"error: vnfd.mf:22:1: the signature of the manifest uses a broken digest: SHA-1 and MD5 can be forged; sign with SHA-256 or SHA-512",
		}},
		{name: "RSA-PSS with SHA-1 in its mask", files: as(vendorRSA, cmsForm{signature: oidRSAPSS, parameters: pssParameters(oidSHA256, oidSHA1), opts: &rsa.PSSOptions{SaltLength: 32, Hash: crypto.SHA256}}), o: require, want: []string{
			"error: vnfd.mf:22:1: the signature of the manifest uses a broken digest: SHA-1 and MD5 can be forged; sign with SHA-256 or SHA-512",
		}},
		{name: "two digests", files: as(vendor, cmsForm{signature: asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 4}}), o: require, want: []string{
			"error: vnfd.mf:22:1: the signature of the manifest cannot be verified: it names two digests, SHA-256 for the content and SHA-512 for the signature",
		}},
		{name: "an unknown algorithm", files: as(vendor, cmsForm{signature: asn1.ObjectIdentifier{1, 2, 3, 4}}), o: require, want: []string{
			"error: vnfd.mf:22:1: the signature of the manifest cannot be verified: signature algorithm 1.2.3.4 is not supported; sign with RSA, RSA-PSS, ECDSA or Ed25519",
		}},
		{name: "a short RSA key", files: as(weak, cmsForm{signature: asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 11}}), o: require, want: []string{
			"error: vnfd.mf:22:1: the signature of the manifest is not valid: its RSA key has 1024 bits; sign with 2048 or more",
		}},

		// The signer.
		{name: "another authority of the same name", files: as(evil, cmsForm{}), o: require, want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Vendor" that signed the manifest does not lead to a trust root: its issuer is "CN=Vendor Root"; add the root, or put the intermediate certificates into the package`,
		}},
		{name: "another key with the vendor's key identifier", files: as(evil, cmsForm{keyID: true, certificates: []*x509.Certificate{evil.cert, vendor.cert, inter.cert}}), o: require, want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Vendor" that signed the manifest does not lead to a trust root: its issuer is "CN=Vendor Root"; add the root, or put the intermediate certificates into the package`,
		}},
		{name: "the vendor's certificate over another key's signature", files: as(evil, cmsForm{keyID: true, certificates: []*x509.Certificate{vendor.cert, inter.cert}}), o: require, want: []string{
			"error: vnfd.mf:22:1: the signature of the manifest is not valid: the signature was not made with the key of the certificate",
		}},
		{name: "a certificate of its own", files: as(impostor, cmsForm{}), o: require, want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Trusted Vendor" that signed the manifest is self-signed: anybody can make such a certificate; add it to the trust roots if it is the one that you expect`,
		}},
		{name: "a certificate of its own, no trust roots", files: as(impostor, cmsForm{}), o: Options{}, want: []string{
			`warning: vnfd.mf:22:1: the manifest is signed by "CN=Trusted Vendor", which is not checked: no trust roots are configured`,
		}},
		{name: "a missing intermediate", files: as(vendor, cmsForm{certificates: []*x509.Certificate{vendor.cert}}), o: require, want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Vendor" that signed the manifest does not lead to a trust root: its issuer is "CN=Vendor CA"; add the root, or put the intermediate certificates into the package`,
		}},
		{name: "no certificate", files: as(vendor, cmsForm{certificates: []*x509.Certificate{inter.cert}}), o: require, want: []string{
			"error: vnfd.mf:22:1: the certificate that signed the manifest is missing: it is neither in the signature nor in the package; sign with the certificate included, or name its file with ETSI-Entry-Certificate",
		}},
		{name: "a certificate that was changed", files: good.with(texts{"vnfd.mf": text + vendor.makeCMS(t, text, cmsForm{certificates: []*x509.Certificate{&tampered, inter.cert}})}), o: require, want: []string{
			"error: vnfd.mf:22:1: the certificate that signed the manifest is missing: it is neither in the signature nor in the package; sign with the certificate included, or name its file with ETSI-Entry-Certificate",
		}},
		{name: "expired", files: as(expired, cmsForm{}), o: require, want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Expired" that signed the manifest has expired: it ended on <time>; obtain a package signed with a valid certificate`,
		}},
		{name: "an expired intermediate", files: as(underOld, cmsForm{}), o: require, want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Old CA" in the chain of "CN=Under Old" is not valid now: it is valid from <time> to <time>`,
		}},
		{name: "signed before the certificate began", files: as(vendor, cmsForm{attributes: func(digest []byte) []cmsAttribute {
			return []cmsAttribute{{oidContentType, []any{oidData}}, {oidMessageDigest, []any{digest}}, {oidSigningTime, []any{now.Add(-1000 * time.Hour).UTC()}}}
		}}), o: require, want: []string{
			"error: vnfd.mf:22:1: the manifest was signed outside of the validity of the certificate: signed <time>, certificate valid from <time> to <time>",
		}},
		{name: "a certificate for encryption", files: as(encrypts, cmsForm{}), o: require, want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Encrypts" that signed the manifest is not for signing: its key usage lacks digitalSignature`,
		}},
		{name: "a certificate of a TLS server", files: as(server, cmsForm{}), o: require, want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Server" that signed the manifest is not for signing: its extended key usages are server_auth, client_auth; name one of them in extended_key_usages of trust if such certificates sign packages`,
		}},
		{name: "a certificate below one that may not sign certificates", files: as(belowLeaf, cmsForm{}), o: require, want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Below Leaf" that signed the manifest does not lead to a trust root: its issuer is "CN=Vendor"; add the root, or put the intermediate certificates into the package`,
		}},
		{name: "two signers, one of them a stranger", files: good.with(texts{"vnfd.mf": text + twoSigners(t, text, vendor, evil)}), o: require, want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Vendor" that signed the manifest does not lead to a trust root: its issuer is "CN=Vendor Root"; add the root, or put the intermediate certificates into the package`,
		}},

		// Pins and revocation.
		{name: "another subject", files: signedGood, o: with(func(tr *Trust) { tr.Subjects = []string{"CN=Other"} }), want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Vendor" that signed the manifest is not a pinned certificate: its subject is none of CN=Other`,
		}},
		{name: "another key", files: signedGood, o: with(func(tr *Trust) { tr.PublicKeys = []string{"sha256:" + strings.Repeat("0", 64)} }), want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Vendor" that signed the manifest is not a pinned certificate: the digest of its public key is sha256:<digest>`,
		}},
		{name: "another usage", files: signedGood, o: with(func(tr *Trust) { tr.ExtendedKeyUsages = []string{"code_signing", "1.2.3.4"} }), want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Vendor" that signed the manifest is not a pinned certificate: its extended key usages are none; allowed are code_signing, 1.2.3.4`,
		}},
		{name: "every pin wrong", files: as(server, cmsForm{}), o: with(func(tr *Trust) {
			tr.Subjects, tr.PublicKeys, tr.ExtendedKeyUsages = []string{"CN=Other"}, []string{"sha256:" + strings.Repeat("0", 64)}, []string{"code_signing"}
		}), want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Server" that signed the manifest is not a pinned certificate: its subject is none of CN=Other`,
			`error: vnfd.mf:22:1: the certificate "CN=Server" that signed the manifest is not a pinned certificate: the digest of its public key is sha256:<digest>`,
			`error: vnfd.mf:22:1: the certificate "CN=Server" that signed the manifest is not a pinned certificate: its extended key usages are server_auth, client_auth; allowed are code_signing`,
		}},
		{name: "revoked", files: signedGood, o: with(func(tr *Trust) { tr.CRLs = []byte(rootList + inter.revocationList(t, before, after, vendor.cert)) }), want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Vendor" that signed the manifest is not trusted: "CN=Vendor CA" revoked "CN=Vendor" on <time>`,
		}},
		{name: "an intermediate that is revoked", files: signedGood, o: with(func(tr *Trust) {
			tr.CRLs = []byte(root.revocationList(t, before, after, inter.cert) + inter.revocationList(t, before, after))
		}), want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Vendor" that signed the manifest is not trusted: "CN=Vendor Root" revoked "CN=Vendor CA" on <time>`,
		}},
		{name: "no revocation list of an issuer", files: signedGood, o: with(func(tr *Trust) { tr.CRLs = []byte(rootList) }), want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Vendor" that signed the manifest is not trusted: the configured revocation lists have none of "CN=Vendor CA"`,
		}},
		{name: "a revocation list of another authority of the same name", files: signedGood, o: with(func(tr *Trust) {
			tr.CRLs = []byte(evilRoot.revocationList(t, before, after) + inter.revocationList(t, before, after))
		}), want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Vendor" that signed the manifest is not trusted: the configured revocation lists have none of "CN=Vendor Root"`,
		}},
		{name: "a revocation list that has ended", files: signedGood, o: with(func(tr *Trust) {
			tr.CRLs = []byte(rootList + inter.revocationList(t, before.Add(-time.Hour), before))
		}), want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Vendor" that signed the manifest is not trusted: the revocation list of "CN=Vendor CA" ended on <time>; give a newer one`,
		}},
		{name: "revoked in the newer of two lists", files: signedGood, o: with(func(tr *Trust) {
			tr.CRLs = []byte(rootList + inter.revocationList(t, before, after, vendor.cert) + inter.revocationList(t, before.Add(-time.Minute), after))
		}), want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Vendor" that signed the manifest is not trusted: "CN=Vendor CA" revoked "CN=Vendor" on <time>`,
		}},
		{name: "revocation lists that are none", files: signedGood, o: with(func(tr *Trust) { tr.CRLs = certPEM(root.cert) }), want: []string{
			"error: the revocation lists cannot be read: there is no PEM block X509 CRL in it",
		}},

		// The archive (option 2).
		{name: "a signed archive", files: texts{"p.csar": archive(good), "p.cms": vendor.signDetached(t, archive(good))}, o: require, verified: true},
		{name: "a signed archive that was changed", files: texts{"p.csar": archive(older), "p.cms": vendor.signDetached(t, archive(good))}, o: require, want: []string{
			`error: p.cms: the signature does not match "p.csar": the content was changed after it was signed`,
			`error: vnfd.mf:21:7: SHA-256 of "Files/kubernetes/deployment.yaml" is not the one declared: declared <digest>, computed <digest>; the file was changed after the manifest was written, or damaged; in a package of your own, "terraform-provider-vnf package hash DIRECTORY" writes the digests again; integrity = "warn" goes on without it`,
		}},
		{name: "a signed archive with bytes behind it", files: texts{"p.csar": archive(good) + "x", "p.cms": vendor.signDetached(t, archive(good))}, o: require, want: []string{
			`error: p.cms: the signature does not match "p.csar": the content was changed after it was signed`,
		}},
		{name: "two archives, one of them signed", files: texts{"p.csar": archive(good), "q.csar": archive(older), "p.cms": vendor.signDetached(t, archive(good))}, o: require, want: []string{
			"error: q.csar: the archive holds 2 packages: p.csar, q.csar: an archive of option 2 holds one .csar, its .cms and at most one .cert",
		}},
		{name: "a signed archive beside a folder", files: texts{"p.csar": archive(good), "p.cms": vendor.signDetached(t, archive(good)), "Files/kubernetes/pod.yaml": deploymentText}, o: require, want: []string{
			"error: Files/kubernetes/pod.yaml: unexpected beside a package: Files/kubernetes/pod.yaml: an archive of option 2 holds one .csar, its .cms and at most one .cert; or the package lacks TOSCA-Metadata/TOSCA.meta",
		}},
		{name: "an archive signed by a stranger", files: texts{"p.csar": archive(good), "p.cms": evil.signDetached(t, archive(good))}, o: require, want: []string{
			`error: p.cms: the certificate "CN=Vendor" that signed "p.csar" does not lead to a trust root: its issuer is "CN=Vendor Root"; add the root, or put the intermediate certificates into the package`,
		}},
		{name: "an archive without signature", files: texts{"p.csar": archive(good)}, o: require, want: []string{
			"error: p.csar: the package lies in another archive without a signature: option 2 requires p.cms beside it",
		}},
		{name: "an archive without signature, its manifest signed", files: texts{"p.csar": archive(signedGood)}, o: require, want: []string{
			"error: p.csar: the package lies in another archive without a signature: option 2 requires p.cms beside it",
		}},
		{name: "an archive whose signature is the certificate", files: texts{"p.csar": archive(good), "p.cms": string(certPEM(vendor.cert))}, o: require, want: []string{
			`error: p.cms: the signature of "p.csar" is not CMS: it must be a detached CMS SignedData, PEM or DER`,
		}},

		// No signer is reported unless a signature over everything holds.
		{name: "not required: an unlisted file", files: signedGood.with(texts{"x": "x"}), o: present, want: []string{
			"warning: vnfd.mf: 1 file is not listed: x: nothing protects this content; add a Source with Algorithm and Hash for each",
			"warning: vnfd.mf: the signature of the manifest does not cover 1 file: x: no signer is reported; add a Source with Algorithm and Hash for each",
		}},
		{name: "not required: damage", files: signedGood.with(texts{"Definitions/vnfd.yaml": vnfdText + "#"}), o: Options{Integrity: IntegrityWarn, Trust: trusted}, want: []string{
			`warning: vnfd.mf:13:7: SHA-256 of "Definitions/vnfd.yaml" is not the one declared: declared <digest>, computed <digest>; the file was changed after the manifest was written, or damaged; in a package of your own, "terraform-provider-vnf package hash DIRECTORY" writes the digests again`,
		}},
		{name: "not required: digests that are not looked at", files: signedGood.with(texts{"Definitions/vnfd.yaml": vnfdText + "#"}), o: Options{Integrity: IntegrityIgnore, Trust: trusted}},
		{name: "required: damage that is not to be looked at", files: signedGood.with(texts{"Definitions/vnfd.yaml": vnfdText + "#"}), o: Options{Integrity: IntegrityIgnore, Signature: SignatureRequire, Trust: trusted}, want: []string{
			`error: vnfd.mf:13:7: SHA-256 of "Definitions/vnfd.yaml" is not the one declared: declared <digest>, computed <digest>; the file was changed after the manifest was written, or damaged; in a package of your own, "terraform-provider-vnf package hash DIRECTORY" writes the digests again`,
		}},
		{name: "not required: TOSCA.meta is not listed", files: signedText(strings.Replace(text, source("TOSCA-Metadata/TOSCA.meta", goodMeta), "", 1)), o: present, want: []string{
			"warning: vnfd.mf: the signature of the manifest does not cover 1 file: TOSCA-Metadata/TOSCA.meta: no signer is reported; add a Source with Algorithm and Hash for each",
		}},
	}
	openHostile(t, cases)
}

// openHostile opens the package of each case, and compares its problems with the wanted ones.
func openHostile(t *testing.T, cases []hostileCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			tt.files.write(t, dir)
			a, p, problems, err := Open(dir, tt.o, Limits{})
			require.NoError(t, err)
			if a != nil {
				defer func() { _ = a.Close() }()
			}
			assert.Equal(t, normalised(tt.want), normalised(render(problems)), "problems")
			verified := p != nil && p.Security.Verified
			assert.Equal(t, tt.verified, verified, "verified")
			if p != nil && !p.Security.Verified && (p.Security.Signer != "" || p.Security.Issuer != "" || p.Security.SerialNumber != "") {
				t.Errorf("a signer is named that is not verified: %+v", p.Security)
			}
			if !tt.verified && tt.o.Signature == SignatureRequire && !problems.HasErrors() {
				t.Error("the package is not refused")
			}
		})
	}
}

var (
	anyTime   = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	anyDigest = regexp.MustCompile(`[0-9a-f]{64}`)
)

// normalised takes times and digests out of problems, which differ from run to run.
func normalised(lines []string) []string {
	out := []string{}
	for _, l := range lines {
		out = append(out, anyDigest.ReplaceAllString(anyTime.ReplaceAllString(l, "<time>"), "<digest>"))
	}
	return out
}

// shortKey is an identity with an RSA key of 1,024 bits.
func shortKey(t *testing.T, name string, issuer *identity, change func(*x509.Certificate)) *identity {
	t.Helper()
	t.Setenv("GODEBUG", "rsa1024min=0")
	key, err := rsa.GenerateKey(rand.Reader, 1024) //nolint:gosec // what the verifier must refuse
	require.NoError(t, err)
	serial++
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature, BasicConstraintsValid: true}
	if change != nil {
		change(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer.cert, key.Public(), issuer.key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return &identity{cert: cert, key: key, chain: append([]*x509.Certificate{issuer.cert}, issuer.chain...)}
}

// noSigner is a CMS with content and without signers.
func noSigner(t *testing.T) string {
	t.Helper()
	data, err := pkcs7.NewSignedData(nil)
	require.NoError(t, err)
	der, err := data.Finish()
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CMS", Bytes: der}))
}

// twoSigners signs as two at once.
func twoSigners(t *testing.T, content string, ids ...*identity) string {
	t.Helper()
	data, err := pkcs7.NewSignedData([]byte(content))
	require.NoError(t, err)
	data.SetDigestAlgorithm(pkcs7.OIDDigestAlgorithmSHA256)
	for _, id := range ids {
		require.NoError(t, data.AddSignerChain(id.cert, id.key, id.chain, pkcs7.SignerInfoConfig{}))
	}
	data.Detach()
	der, err := data.Finish()
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CMS", Bytes: der}))
}
