package csar

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tempfile"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// spoolBytes is the size in bytes up to which the inner archive of option 2 is kept in
// memory; a larger one goes to a temporary file.
const spoolBytes = 4 << 20

// Open opens a package of any form and reads it: a directory, a zip archive, or security
// option 2, an outer zip (or directory) with the archive and its signature beside it. For
// option 2 the archive returned is the inner one.
//
// The archive holds neither the manifest nor the signatures and certificates that only serve to verify
// the package: no digest covers them, so none of them can be used as a manifest, a chart or a script. The package's
// digest is over all files.
//
// Faults of the content are in the problems. When it could not be opened as an
// archive at all, archive and package are nil and the problems hold an error. The error
// is for what is not the content's fault, as a missing path or a failing disk; all else is nil then.
// The caller closes the archive when it is not nil, whatever the problems say.
func Open(path string, o Options, l Limits) (Archive, *Package, vnfm.Problems, error) {
	f, err := OpenSource(path)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("opening the package: %w", err)
	}
	return OpenFile(f, o, l)
}

// OpenSource opens the directory or the regular file that a package is.
func OpenSource(path string) (*os.File, error) {
	// To open a pipe would wait for somebody who writes to it.
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() && !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is neither a directory nor a regular file", path)
	}
	return os.Open(filepath.Clean(path))
}

// OpenFile is Open on what OpenSource has opened, and takes it over: of a file, nothing is read
// that is at its path now. A directory is read by its path.
func OpenFile(f *os.File, o Options, l Limits) (Archive, *Package, vnfm.Problems, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, nil, nil, errors.Join(fmt.Errorf("opening the package: %w", err), f.Close())
	}
	var a Archive
	if st.IsDir() {
		a, err = OpenDirectory(f.Name(), l)
		_ = f.Close()
	} else {
		a, err = openZipFile(f, l)
	}
	if err != nil {
		return refused(err)
	}
	o = o.withBudget()
	if outer, ok := findOuter(a); ok {
		return outer.open(a, o, l)
	}
	r := newReader(a, o)
	r.read()
	return r.readable(), r.p, r.ps, nil
}

// refused turns an error of the content into problems.
func refused(err error) (Archive, *Package, vnfm.Problems, error) {
	var bad *vnfm.InvalidError
	if errors.As(err, &bad) {
		bad.Problems.Under(ruleArchive)
		return nil, nil, bad.Problems, nil
	}
	return nil, nil, nil, err
}

// outerFiles are the files of an outer archive of option 2.
type outerFiles struct {
	csar, cms, cert []string
	other           []string
}

// findOuter tells an archive that holds a package beside its signature from a package.
func findOuter(a Archive) (outerFiles, bool) {
	var o outerFiles
	for _, f := range a.Files() {
		if f.Path == metaFile || !strings.Contains(f.Path, "/") && isYAML(f.Path) {
			return outerFiles{}, false
		}
		ext := strings.ToLower(path.Ext(f.Path))
		switch {
		case strings.Contains(f.Path, "/"):
			o.other = append(o.other, f.Path)
		case ext == ".csar" || ext == ".zip":
			o.csar = append(o.csar, f.Path)
		case ext == ".cms":
			o.cms = append(o.cms, f.Path)
		case ext == ".cert" || ext == ".crt" || ext == ".pem":
			o.cert = append(o.cert, f.Path)
		default:
			o.other = append(o.other, f.Path)
		}
	}
	return o, len(o.csar) > 0
}

// open verifies the signature, opens the inner archive and reads the package in it. It
// closes the outer archive.
func (f outerFiles) open(outer Archive, o Options, l Limits) (a Archive, p *Package, problems vnfm.Problems, err error) {
	defer func() { err = errors.Join(err, outer.Close()) }()
	problems = f.check()
	problems.Under(ruleOption2)
	if problems.HasErrors() {
		return nil, nil, problems, nil
	}
	security := f.verify(outer, o, &problems)
	problems.Under(ruleSignature)
	inner, err := openInner(outer, f.csar[0], l)
	if err != nil {
		a, p, more, err := refused(err)
		for i := range more {
			more[i].File = strings.TrimSuffix(f.csar[0]+"!"+more[i].File, "!")
		}
		return a, p, append(problems, more...), err
	}
	r := newReader(inner, o)
	r.outer = true
	r.read()
	if r.ps.HasErrors() || problems.HasErrors() {
		security = Security{Option: security.Option}
	}
	r.p.Security = security
	return r.readable(), r.p, append(problems, r.ps...), nil
}

// check holds the outer archive to SOL 004 clause 5.1: the package, the signature, at most one certificate.
func (f outerFiles) check() vnfm.Problems {
	var ps vnfm.Problems
	for _, group := range []struct {
		noun  string
		files []string
	}{{"packages", f.csar}, {"signatures", f.cms}, {"certificates", f.cert}} {
		if len(group.files) > 1 {
			ps = append(ps, vnfm.Problem{File: group.files[1], Summary: fmt.Sprintf("the archive holds %d %s: %s", len(group.files), group.noun, strings.Join(group.files, ", ")), Detail: "an archive of option 2 holds one .csar, its .cms and at most one .cert"})
		}
	}
	if len(f.other) > 0 && len(ps) == 0 {
		ps = append(ps, vnfm.Problem{File: f.other[0], Summary: "unexpected beside a package: " + someOf(f.other), Detail: "an archive of option 2 holds one .csar, its .cms and at most one .cert; or the package lacks TOSCA-Metadata/TOSCA.meta"})
	}
	if len(ps) > 0 {
		return ps
	}
	base := baseName(f.csar[0])
	for _, name := range slices.Concat(f.cms, f.cert) {
		if baseName(name) != base {
			ps = append(ps, vnfm.Problem{Severity: vnfm.SeverityWarning, File: name, Summary: fmt.Sprintf("the file is not named after %q", f.csar[0]),
				Detail: "SOL 004 requires " + base + path.Ext(name)})
		}
	}
	return ps
}

// verify checks the signature over the whole inner archive.
func (f outerFiles) verify(outer Archive, o Options, problems *vnfm.Problems) Security {
	if len(f.cms) == 0 {
		p := vnfm.Problem{Severity: vnfm.SeverityWarning, File: f.csar[0], Summary: "the package lies in another archive without a signature",
			Detail: "option 2 requires " + baseName(f.csar[0]) + ".cms beside it"}
		if o.signature() == SignatureRequire {
			p.Severity = vnfm.SeverityError
		}
		*problems = append(*problems, p)
		return Security{}
	}
	if o.signature() == SignatureIgnore {
		return Security{Option: SecurityOption2}
	}
	// A reader gives the same treatment to unreadable and oversized files as in a package.
	r := newReader(outer, o)
	v := newVerifier(r.o)
	s := signed{noun: fmt.Sprintf("%q", f.csar[0]), at: place{file: f.cms[0]}, content: newContent(func() (io.ReadCloser, error) { return outer.Open(f.csar[0]) })}
	for _, file := range outer.Files() {
		if file.Path == f.csar[0] {
			s.content.size = file.Size
		}
	}
	if len(f.cert) > 0 {
		s.certificates = r.certificates(v, f.cert[0], place{})
	}
	security := Security{Option: SecurityOption2}
	if cms, ok := r.textUpTo(f.cms[0], maxSignatureBytes); ok {
		s.cms = cms
		security = v.verify(s).security(SecurityOption2)
	}
	*problems = append(*problems, r.ps...)
	*problems = append(*problems, v.ps...)
	return security
}

// openInner opens an archive that is a file of another one.
func openInner(outer Archive, name string, l Limits) (a Archive, err error) {
	in, err := outer.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading the inner archive: %w", err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	st, err := in.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading the inner archive: %w", err)
	}
	// Else the ratios of the two archives would multiply.
	stored := st.Size()
	if t, ok := outer.(*tree); ok && t.stored > 0 {
		stored = min(stored, t.stored)
	}
	if st.Size() <= spoolBytes {
		data, err := io.ReadAll(in)
		if err != nil {
			return nil, fmt.Errorf("reading the inner archive: %w", err)
		}
		return openZipIn(stored, bytes.NewReader(data), int64(len(data)), "", l, nil)
	}
	return openSpooled(stored, in, st.Size(), l)
}

func openSpooled(stored int64, in io.Reader, size int64, l Limits) (Archive, error) {
	tmp, remove, err := tempfile.Create(".zip")
	if err != nil {
		return nil, fmt.Errorf("unpacking the inner archive: %w", err)
	}
	closeAndRemove := func() error {
		defer remove()
		return tmp.Close()
	}
	if _, err := io.Copy(tmp, in); err != nil {
		return nil, errors.Join(fmt.Errorf("unpacking the inner archive into the folder for temporary files, %s: %w", os.TempDir(), err), closeAndRemove())
	}
	a, err := openZipIn(stored, tmp, size, "", l, closeAndRemove)
	if err != nil {
		return nil, errors.Join(err, closeAndRemove())
	}
	return a, nil
}
