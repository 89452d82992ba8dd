package csar

import (
	"bytes"
	"cmp"
	"crypto/x509"
	"fmt"
	"io"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// checkAuthenticity verifies security option 1: the signature in the manifest, and the
// signatures of single files. Only a signed manifest says which files make up the package, so nothing else names a signer.
func (r *reader) checkAuthenticity() {
	signedFiles := r.signedFiles()
	hasCMS := r.p.Manifest != nil && r.p.Manifest.CMSLine > 0
	if hasCMS || len(signedFiles) > 0 {
		r.p.Security.Option = SecurityOption1
	}
	if r.o.signature() == SignatureIgnore {
		return
	}
	if !hasCMS {
		r.unsigned(len(signedFiles) > 0)
	}
	if r.p.Security.Option == "" {
		return
	}
	v := newVerifier(r.o)
	common := r.certificates(v, r.p.Certificate, place{})
	var manifest verification
	if hasCMS && r.p.Manifest.CMS != nil {
		manifest = r.verifyManifest(v, common)
	}
	all := true
	for _, s := range signedFiles {
		if v.budgetReported {
			break
		}
		all = r.verifyFile(v, s, common).trusted && all
	}
	r.ps = append(r.ps, v.ps...)
	if manifest.trusted && all && !r.damaged && r.signatureCovers() && !r.ps.HasErrors() {
		r.p.Security = manifest.security(SecurityOption1)
	}
}

// unsigned reports a manifest without signature.
func (r *reader) unsigned(filesSigned bool) {
	at := place{file: r.p.ManifestFile}
	switch {
	case filesSigned && r.signatureRequired():
		r.add(vnfm.SeverityError, at, "the manifest is not signed", "the signatures of single files bind neither their paths nor the version of the package; sign the manifest (option 1) or the archive (option 2)")
	case filesSigned && !r.outer:
		r.add(vnfm.SeverityWarning, at, "the manifest is not signed", "the signatures of single files bind neither their paths nor the version of the package, so no signer is reported")
	case r.signatureRequired():
		r.add(vnfm.SeverityError, at, "the package is not signed", "a signature is required: in the manifest (option 1) or beside the archive (option 2)")
	}
}

// signatureCovers reports that a signature of the manifest covers every file. Where one is required the files that
// it leaves out are errors already.
func (r *reader) signatureCovers() bool {
	unlisted, bare := r.uncovered(true)
	list := slices.Concat(unlisted, bare)
	if len(list) > 0 && !r.signatureRequired() {
		r.add(vnfm.SeverityWarning, place{file: r.p.ManifestFile}, "the signature of the manifest does not cover "+countOf(len(list))+": "+someOf(list), "no signer is reported; add a Source with Algorithm and Hash for each")
	}
	return len(list) == 0
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

// certificates reads a certificate file of the package; "" is none.
func (r *reader) certificates(v *verifier, name string, at place) []*x509.Certificate {
	if name == "" {
		return nil
	}
	if certs, seen := r.certs[name]; seen {
		return certs
	}
	r.certs[name] = nil
	at.file = cmp.Or(at.file, name)
	if _, ok := r.files[name]; !ok {
		//findings:says add the file, or correct the path
		v.fail(signed{at: at}, fmt.Sprintf("the certificate %q is not in the package", name), r.similar(name))
		return nil
	}
	data, ok := r.textUpTo(name, maxCertificatesBytes)
	if !ok {
		return nil
	}
	certs, err := parseCertificates(data)
	if err != nil {
		//findings:says write it as PEM
		v.fail(signed{at: at}, fmt.Sprintf("the certificate %q cannot be read", name), err.Error())
	}
	if textAroundPEM(data) {
		v.add(v.suspicious(), at, fmt.Sprintf("the certificate %q has text around its PEM blocks", name), "a file that is a certificate and something else can be used as either; keep only the PEM blocks")
	}
	r.certs[name] = certs
	return certs
}

func (r *reader) verifyManifest(v *verifier, common []*x509.Certificate) verification {
	m := r.p.Manifest
	out := v.verify(signed{
		noun:         "the manifest",
		at:           place{file: m.File, line: m.CMSLine, column: 1},
		cms:          m.CMS,
		content:      newContent(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(m.Signed)), nil }),
		certificates: common,
	})
	if out.embedded && len(common) > 0 {
		if slices.ContainsFunc(common, out.signer.Equal) {
			r.add(vnfm.SeverityWarning, place{file: r.p.Certificate}, "the certificate of the signer is given twice", "it is also in the signature of the manifest; SOL 004 requires one place")
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
		//findings:says add the file, or correct the path
		v.fail(signed{at: at}, fmt.Sprintf("the signature %q of %q is not in the package", s.Signature, s.Path), r.similar(s.Signature))
		return verification{}
	}
	cms, ok := r.textUpTo(s.Signature, maxSignatureBytes)
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
		content:      r.content(f),
		certificates: certs,
	})
}

// content is a file that is signed.
func (r *reader) content(f FileInfo) *content {
	if r.contents[f.Path] == nil {
		r.contents[f.Path] = newContent(func() (io.ReadCloser, error) { return r.a.Open(f.Path) })
		r.contents[f.Path].size = f.Size
	}
	return r.contents[f.Path]
}
