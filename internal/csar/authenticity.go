package csar

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"io"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// checkAuthenticity verifies security option 1: the signature in the manifest, and the
// signatures of single files.
func (r *reader) checkAuthenticity() {
	signedFiles := r.signedFiles()
	hasCMS := r.p.Manifest != nil && r.p.Manifest.CMSLine > 0
	if hasCMS || len(signedFiles) > 0 {
		r.p.Security.Option = SecurityOption1
	}
	if r.o.signature() == SignatureIgnore {
		return
	}
	if r.p.Security.Option == "" {
		if r.signatureRequired() {
			r.add(vnfm.SeverityError, place{file: r.p.ManifestFile}, "the package is not signed", "a signature is required: in the manifest (option 1) or beside the archive (option 2)")
		}
		return
	}
	v := newVerifier(r.o)
	common := r.certificates(v, r.p.Certificate, place{})
	var manifest verification
	if hasCMS && r.p.Manifest.CMS != nil {
		manifest = r.verifyManifest(v, common)
		r.p.Security = manifest.security(SecurityOption1)
	}
	all := true
	for _, s := range signedFiles {
		out := r.verifyFile(v, s, common)
		all = all && out.trusted
		if r.p.Security.Signer == "" {
			r.p.Security = out.security(SecurityOption1)
		}
	}
	r.p.Security.Verified = all && !r.damaged && (manifest.trusted || !hasCMS && r.everyFileSigned(signedFiles))
	if r.signatureRequired() && all && !hasCMS && !r.everyFileSigned(signedFiles) {
		r.add(vnfm.SeverityError, place{file: r.p.ManifestFile}, "the manifest is not signed, and not every file is signed by itself", "a signature is required; sign the manifest")
	}
	r.ps = append(r.ps, v.ps...)
}

// signedFiles are the files with a signature of their own.
func (r *reader) signedFiles() []Source {
	var list []Source
	for _, s := range r.sources {
		if s.Signature != "" && !s.External {
			list = append(list, s)
		}
	}
	return list
}

// everyFileSigned reports that the signatures of single files leave none out but
// the manifest and what belongs to the signatures.
func (r *reader) everyFileSigned(list []Source) bool {
	covered := r.exempt()
	for _, s := range list {
		covered[s.Path] = true
	}
	for _, f := range r.a.Files() {
		if !covered[f.Path] {
			return false
		}
	}
	return len(list) > 0
}

// certificates reads a certificate file of the package; "" is none.
func (r *reader) certificates(v *verifier, name string, at place) []*x509.Certificate {
	if name == "" {
		return nil
	}
	if at.file == "" {
		at.file = name
	}
	if _, ok := r.files[name]; !ok {
		v.fail(signed{at: at}, fmt.Sprintf("the certificate %q is not in the package", name), r.similar(name))
		return nil
	}
	data, ok := r.text(name)
	if !ok {
		return nil
	}
	certs, err := parseCertificates(data)
	if err != nil {
		v.fail(signed{at: at}, fmt.Sprintf("the certificate %q cannot be read", name), err.Error())
	}
	return certs
}

func (r *reader) verifyManifest(v *verifier, common []*x509.Certificate) verification {
	m := r.p.Manifest
	out := v.verify(signed{
		noun:         "the manifest",
		at:           place{file: m.File, line: m.CMSLine, column: 1},
		cms:          m.CMS,
		open:         func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(m.Signed)), nil },
		size:         int64(len(m.Signed)),
		certificates: common,
	})
	if out.embedded && len(common) > 0 {
		if cert, _ := findCertificate(common, out.signer.RawIssuer, out.signer.SerialNumber); cert != nil {
			r.add(vnfm.SeverityWarning, place{file: r.p.Certificate}, "the certificate of the signer is given twice", "it is also in the signature of the manifest; SOL 004 wants one place")
		}
	}
	return out
}

func (r *reader) verifyFile(v *verifier, s Source, common []*x509.Certificate) verification {
	at := place{file: s.File, line: s.signatureLine, column: s.signatureCol}
	f, ok := r.files[s.Path]
	if !ok {
		return verification{} // already reported as missing
	}
	if _, ok := r.files[s.Signature]; !ok {
		v.fail(signed{at: at}, fmt.Sprintf("the signature %q of %q is not in the package", s.Signature, s.Path), r.similar(s.Signature))
		return verification{}
	}
	cms, ok := r.text(s.Signature)
	if !ok {
		return verification{}
	}
	certs := common
	if s.Certificate != "" {
		certs = append(r.certificates(v, s.Certificate, place{file: s.File, line: s.certLine, column: s.certCol}), common...)
	}
	return v.verify(signed{
		noun:         fmt.Sprintf("%q", s.Path),
		at:           at,
		cms:          cms,
		open:         func() (io.ReadCloser, error) { return r.a.Open(s.Path) },
		size:         f.Size,
		certificates: certs,
	})
}
