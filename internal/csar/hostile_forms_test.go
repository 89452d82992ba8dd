package csar

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"encoding/pem"
	"io"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestHostileForms opens packages whose files, CMS, certificates and chains have forms that readers disagree on.
func TestHostileForms(t *testing.T) {
	root, inter, vendor, vendorRSA := vendorChain(t)
	commonName := asn1.ObjectIdentifier{2, 5, 4, 3}
	named := func(names ...string) *identity {
		return issue(t, "", inter, func(c *x509.Certificate) {
			for _, name := range names {
				c.Subject.ExtraNames = append(c.Subject.ExtraNames, pkix.AttributeTypeAndValue{Type: commonName, Value: name})
			}
		})
	}
	serverCA := issue(t, "Server CA", root, func(c *x509.Certificate) {
		caUsage(c)
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	})
	belowServerCA := issue(t, "Below Server CA", serverCA, usage(x509.ExtKeyUsageCodeSigning))
	shortCA := shortKey(t, "Short CA", root, caUsage)
	belowShortCA := issue(t, "Below Short CA", shortCA, nil)
	lastCA := issue(t, "Last CA", root, func(c *x509.Certificate) { caUsage(c); c.MaxPathLenZero = true })
	oneMoreCA := issue(t, "One More CA", lastCA, caUsage)
	belowOneMore := issue(t, "Below One More", oneMoreCA, nil)
	limitedCA := issue(t, "Limited CA", root, func(c *x509.Certificate) {
		caUsage(c)
		c.PermittedDNSDomains, c.PermittedDNSDomainsCritical = []string{"vendor.example"}, true
	})
	outsideLimit := issue(t, "Outside", limitedCA, func(c *x509.Certificate) { c.DNSNames = []string{"evil.example"} })
	unknownCritical := issue(t, "Critical", inter, func(c *x509.Certificate) {
		c.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{1, 2, 3, 4}, Critical: true, Value: []byte{5, 0}}}
	})
	edwards := edwardsKey(t, inter)

	trusted := Trust{Roots: certPEM(root.cert)}
	require := Options{Signature: SignatureRequire, Trust: trusted}
	pinned := func(subjects ...string) Options {
		o := require
		o.Trust.Subjects = subjects
		return o
	}
	now := time.Now()
	before, after := now.Add(-time.Hour), now.Add(time.Hour)
	revoking := func(lists ...string) Options {
		o := require
		o.Trust.CRLs = []byte(strings.Join(lists, ""))
		return o
	}

	good := goodPackage()
	text := good["vnfd.mf"]
	signedText := func(text string) texts { return good.with(texts{"vnfd.mf": text + vendor.signDetached(t, text)}) }
	as := func(id *identity, form cmsForm) texts {
		return good.with(texts{"vnfd.mf": text + id.makeCMS(t, text, form)})
	}
	withMeta := func(meta string) texts {
		return signedText(strings.Replace(text, sha(goodMeta), sha(meta), 1)).with(texts{"TOSCA-Metadata/TOSCA.meta": meta})
	}
	signature := func(change func(der []byte) []byte) texts {
		block, _ := pem.Decode([]byte(vendor.makeCMS(t, text, cmsForm{})))
		return good.with(texts{"vnfd.mf": text + string(pem.EncodeToMemory(&pem.Block{Type: "CMS", Bytes: change(block.Bytes)}))})
	}
	archive := func(files texts) string { return string(zipBytes(t, files.archive())) }
	sha512 := asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 3}
	oidEdwards := asn1.ObjectIdentifier{1, 3, 101, 112}
	rsaSHA256 := asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 11}
	const notTheKey = "error: vnfd.mf:22:1: the signature of the manifest is not valid: the signature was not made with the key of the certificate"
	const changed = "error: vnfd.mf:22:1: the signature does not match the manifest: the content was changed after it was signed"

	openHostile(t, []hostileCase{
		// Subjects.
		{name: "pinned by all names of its subject", files: as(named("Evil", "Vendor"), cmsForm{}), o: pinned("CN=Vendor,CN=Evil"), verified: true},
		{name: "a second common name that is the pinned one", files: as(named("Evil", "Vendor"), cmsForm{}), o: pinned("CN=Vendor"), want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Vendor,CN=Evil" that signed the manifest is not a pinned certificate: its subject is none of CN=Vendor`,
		}},
		{name: "a common name that reads as two names", files: as(named("x,CN=Vendor"), cmsForm{}), o: pinned("CN=Vendor", "x"), want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=x\\,CN=Vendor" that signed the manifest is not a pinned certificate: its subject is none of CN=Vendor; x`,
		}},
		{name: "a common name of which the pinned one is a part", files: as(named("Vendor Evil"), cmsForm{}), o: pinned("CN=Vendor"), want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Vendor Evil" that signed the manifest is not a pinned certificate: its subject is none of CN=Vendor`,
		}},

		// Chains.
		{name: "an authority for servers", files: as(belowServerCA, cmsForm{}), o: require, want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Below Server CA" that signed the manifest is not trusted: the authority "CN=Server CA" may issue certificates for server_auth only`,
		}},
		{name: "an authority with a short RSA key", files: as(belowShortCA, cmsForm{}), o: require, want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Below Short CA" that signed the manifest is not trusted: the RSA key of the authority "CN=Short CA" has 1024 bits, less than 2048`,
		}},
		{name: "an authority below one that may have none", files: as(belowOneMore, cmsForm{}), o: require, want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Below One More" that signed the manifest is not trusted: x509: too many intermediates for path length constraint`,
		}},
		{name: "a name that its authority may not give", files: as(outsideLimit, cmsForm{}), o: require, want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Outside" that signed the manifest is not trusted: x509: a root or intermediate certificate is not authorized to sign for this name: DNS name "evil.example" is not permitted by any constraint`,
		}},
		{name: "a critical extension that nobody knows", files: as(unknownCritical, cmsForm{}), o: require, want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Critical" that signed the manifest is not trusted: x509: unhandled critical extension`,
		}},
		{name: "an RSA key that takes long", files: as(longKey(t, vendorRSA, maxRSABits+64), cmsForm{signature: rsaSHA256}), o: require, want: []string{
			`error: vnfd.mf:22:1: the signature of the manifest cannot be decoded: decoding certificate 1: the RSA key of "CN=Vendor RSA" has 8256 bits, more than 8192`,
		}},
		{name: "a revocation list that nobody has signed", files: as(vendor, cmsForm{}), o: revoking(root.revocationList(t, before, after), spoiled(t, inter.revocationList(t, before, after))), want: []string{
			`error: vnfd.mf:22:1: the certificate "CN=Vendor" that signed the manifest is not trusted: the configured revocation lists have none of "CN=Vendor CA"`,
		}},
		{name: "a revocation list of changes alone", files: as(vendor, cmsForm{}), o: revoking(root.revocationList(t, before, after), deltaList(t, inter)), want: []string{
			`error: the revocation lists cannot be read: revocation list 2 of "CN=Vendor CA" has the critical extension 2.5.29.27; give a complete list of one issuer`,
		}},

		// CMS.
		{name: "Ed25519", files: as(edwards, cmsForm{digest: sha512, hash: crypto.SHA512, signature: oidEdwards, opts: crypto.Hash(0)}), o: require, verified: true},
		{name: "Ed25519 over another digest", files: as(edwards, cmsForm{signature: oidEdwards, opts: crypto.Hash(0)}), o: require, want: []string{
			"error: vnfd.mf:22:1: the signature of the manifest cannot be verified: it names two digests, SHA-256 for the content and SHA-512 for the signature",
		}},
		{name: "Ed25519 of the digest instead of the content", files: as(digestKey(edwards), cmsForm{digest: sha512, hash: crypto.SHA512, signature: oidEdwards, opts: crypto.Hash(0), noAttributes: true}), o: require, want: []string{notTheKey}},
		{name: "ECDSA of the algorithm's name, RSA of the key", files: as(vendorRSA, cmsForm{}), o: require, want: []string{notTheKey}},
		{name: "ECDSA with r and s of 0", files: as(constant(vendor, []byte{0x30, 6, 2, 1, 0, 2, 1, 0}), cmsForm{}), o: require, want: []string{notTheKey}},
		{name: "ECDSA with a negative r", files: as(constant(vendor, []byte{0x30, 6, 2, 1, 0xff, 2, 1, 1}), cmsForm{}), o: require, want: []string{notTheKey}},
		{name: "an empty signature", files: as(constant(vendor, nil), cmsForm{}), o: require, want: []string{notTheKey}},
		{name: "RSA without padding", files: as(constant(vendorRSA, append(make([]byte, 255), 1)), cmsForm{signature: rsaSHA256}), o: require, want: []string{notTheKey}},
		{name: "a content type that is given with two values", files: as(vendor, cmsForm{attributes: func(digest []byte) []cmsAttribute {
			return []cmsAttribute{{oidContentType, []any{oidData, oidSignedData}}, {oidMessageDigest, []any{digest}}}
		}}), o: require, want: []string{
			"error: vnfd.mf:22:1: the signature of the manifest cannot be decoded: signer 1: its signed attribute 1.2.840.113549.1.9.3 must be given exactly once",
		}},
		{name: "bytes behind the signature", files: signature(func(der []byte) []byte { return append(der, 0, 0) }), o: require, want: []string{
			"error: vnfd.mf:22:1: the signature of the manifest cannot be decoded: 2 bytes follow the signature",
		}},
		{name: "nested without end", files: signature(func([]byte) []byte {
			head := []byte{0x30, 0x80, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 2}
			return append(head, bytes.Repeat([]byte{0xa0, 0x80}, 60_000)...)
		}), o: require, want: []string{
			"error: vnfd.mf:22:1: the signature of the manifest cannot be decoded: more than 48 elements are nested",
		}},
		{name: "a length of four bytes that is a lie", files: signature(func(der []byte) []byte {
			out := slices.Clone(der)
			copy(out, []byte{0x30, 0x84, 0xff, 0xff, 0xff, 0xff})
			return out
		}), o: require, want: []string{
			"error: vnfd.mf:22:1: the signature of the manifest is not CMS: it must be a detached CMS SignedData, PEM or DER",
		}},

		// The manifest.
		{name: "CRLF where LF was signed", files: good.with(texts{"vnfd.mf": crlf(vendor.signManifest(t, text))}), o: require, want: []string{changed}},
		{name: "a byte order mark before what was signed", files: good.with(texts{"vnfd.mf": "\ufeff" + vendor.signManifest(t, text)}), o: require, want: []string{changed}},
		{name: "a comment before what was signed", files: good.with(texts{"vnfd.mf": "#\n" + vendor.signManifest(t, text)}), o: require, want: []string{
			"error: vnfd.mf:23:1: the signature does not match the manifest: the content was changed after it was signed",
		}},
		{name: "metadata twice", files: signedText(strings.Replace(text, "  vnf_package_version: 1.0\n", "  vnf_package_version: 1.0\n  VNF_package_version: 0.9\n", 1)), o: require, want: []string{
			"error: vnfd.mf:6:3: vnf_package_version is given twice: first on line 5",
		}},
		{name: "a file under an encoded name", files: signedText(strings.Replace(text, "Source: Definitions/vnfd.yaml", "Source: Definitions%2fvnfd.yaml", 1)), o: require, want: []string{
			`error: vnfd.mf:11:9: "Definitions%2fvnfd.yaml" is not in the package: add the file, or correct the path`,
			"error: vnfd.mf: 1 file is not listed: Definitions/vnfd.yaml: the signature does not cover this content; add a Source with Algorithm and Hash for each",
		}},
		{name: "digests of two algorithms", files: signedText(text + "\nSource: ./Definitions/vnfd.yaml\nAlgorithm: SHA-512\nHash: " + strings.Repeat("0", 128) + "\n"), o: require, want: []string{
			`error: vnfd.mf:23:9: "Definitions/vnfd.yaml" is listed twice, with a SHA-256 and a SHA-512 digest: first on line 11; leave one of them`,
			`error: vnfd.mf:25:7: SHA-512 of "Definitions/vnfd.yaml" is not the one declared: declared ` + strings.Repeat("0", 128) + `, computed ` + sha512Of(vnfdText) + `; the file was changed after the manifest was written, or damaged; in a package of your own, "terraform-provider-vnf package hash DIRECTORY" writes the digests again`,
		}},

		// TOSCA.meta.
		{name: "the manifest is TOSCA.meta", files: good.with(texts{"TOSCA-Metadata/TOSCA.meta": strings.Replace(goodMeta, "vnfd.mf", "TOSCA-Metadata/TOSCA.meta", 1), "vnfd.mf": ""}), o: require, want: []string{
			`error: TOSCA-Metadata/TOSCA.meta:5:22: "TOSCA-Metadata/TOSCA.meta" is named as the manifest: one file cannot be both`,
			"error: the package is not signed: a signature is required: in the manifest (option 1) or beside the archive (option 2)",
		}},
		{name: "the VNFD twice, the second in another case", files: withMeta(goodMeta + "entry-definitions: Definitions/evil.yaml\n"), o: require, want: []string{
			"error: TOSCA-Metadata/TOSCA.meta:6:1: Entry-Definitions is given twice with different values: first on line 4",
		}},
		{name: "the VNFD in the block of a file", files: withMeta(goodMeta + "\nName: Definitions/vnfd.yaml\nEntry-Definitions: Definitions/evil.yaml\n"), o: require, want: []string{
			"warning: TOSCA-Metadata/TOSCA.meta:8:1: Entry-Definitions stands in the block of a file: move it to the first block",
			"error: TOSCA-Metadata/TOSCA.meta:8:1: Entry-Definitions is given twice with different values: first on line 4",
		}},
		{name: "a line that goes on after a key that was given before", files: withMeta(goodMeta + "Created-By: Acme\n /evil.yaml\n"), o: require, want: []string{
			"warning: TOSCA-Metadata/TOSCA.meta:6:1: Created-By is given twice: first on line 3",
			`error: TOSCA-Metadata/TOSCA.meta:7:2: line is not "key: value" but "/evil.yaml"`,
		}},

		// Archives in archives.
		{name: "the signature of another archive's name", files: texts{"p.csar": archive(good), "q.cms": vendor.signDetached(t, archive(good))}, o: require, verified: true, want: []string{
			`warning: q.cms: the file is not named after "p.csar": SOL 004 requires p.cms`,
		}},
		{name: "a signed archive in a signed archive", files: texts{"p.csar": archive(texts{"p.csar": archive(good), "p.cms": "x"}), "p.cms": vendor.signDetached(t, archive(texts{"p.csar": archive(good), "p.cms": "x"}))}, o: require, want: []string{
			"error: the package has no VNFD: a package has TOSCA-Metadata/TOSCA.meta, or exactly one YAML file at its root",
		}},
	})
}

// edwardsKey is an identity with a key of Ed25519.
func edwardsKey(t *testing.T, issuer *identity) *identity {
	t.Helper()
	public, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	serial++
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "Edwards"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer.cert, public, issuer.key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return &identity{cert: cert, key: key, chain: append([]*x509.Certificate{issuer.cert}, issuer.chain...)}
}

// signerFunc signs as a function says.
type signerFunc struct {
	crypto.Signer
	sign func(message []byte) ([]byte, error)
}

// Sign implements crypto.Signer.
func (s signerFunc) Sign(_ io.Reader, message []byte, _ crypto.SignerOpts) ([]byte, error) {
	return s.sign(message)
}

func (id *identity) signing(sign func(message []byte) ([]byte, error)) *identity {
	out := *id
	out.key = signerFunc{id.key, sign}
	return &out
}

// constant is an identity whose signatures are all alike.
func constant(id *identity, signature []byte) *identity {
	return id.signing(func([]byte) ([]byte, error) { return signature, nil })
}

// digestKey is an identity that signs the digest of what it is to sign.
func digestKey(id *identity) *identity {
	return id.signing(func(message []byte) ([]byte, error) {
		h := crypto.SHA512.New()
		h.Write(message)
		return id.key.Sign(rand.Reader, h.Sum(nil), crypto.Hash(0))
	})
}

// longKey puts an RSA key of that many bits into a certificate.
func longKey(t *testing.T, id *identity, bits int) *identity {
	t.Helper()
	modulus := new(big.Int).Lsh(big.NewInt(1), uint(bits-1))
	public, err := x509.MarshalPKIXPublicKey(&rsa.PublicKey{N: modulus.Add(modulus, big.NewInt(1)), E: 1<<31 - 1})
	require.NoError(t, err)
	var parts struct {
		Signed               asn1.RawValue
		Algorithm, Signature asn1.RawValue
	}
	require.NoError(t, unmarshal(id.cert.Raw, &parts))
	parts.Signed = asn1.RawValue{Tag: asn1.TagSequence, IsCompound: true, Bytes: bytes.Replace(parts.Signed.Bytes, id.cert.RawSubjectPublicKeyInfo, public, 1)}
	der, err := asn1.Marshal(parts)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	long := constant(id, make([]byte, bits/8))
	long.cert = cert
	return long
}

// spoiled changes the signature of a revocation list.
func spoiled(t *testing.T, list string) string {
	t.Helper()
	block, _ := pem.Decode([]byte(list))
	block.Bytes[len(block.Bytes)-1] ^= 1
	return string(pem.EncodeToMemory(block))
}

// deltaList is a revocation list of an issuer that has changes alone.
func deltaList(t *testing.T, id *identity) string {
	t.Helper()
	serial++
	list := &x509.RevocationList{Number: big.NewInt(serial), ThisUpdate: time.Now().Add(-time.Hour), NextUpdate: time.Now().Add(time.Hour),
		ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 27}, Critical: true, Value: []byte{2, 1, 1}}}}
	der, err := x509.CreateRevocationList(rand.Reader, list, id.cert, id.key)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: der}))
}

func sha512Of(text string) string {
	h := crypto.SHA512.New()
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil))
}
