package csar

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// namedFiles is how many files a finding about many files names.
const namedFiles = 10

// checkIntegrity compares what is listed with what is there and fills the artifacts.
func (r *reader) checkIntegrity() {
	listed := map[string]int{} // index in Artifacts + 1
	var missing, wrong []damaged
	for _, s := range r.sources {
		if s.External {
			if listed[s.Path] == 0 {
				r.p.Artifacts = append(r.p.Artifacts, Artifact{Path: s.Path, Algorithm: s.Algorithm, Hash: s.Hash, ContentType: s.ContentType, External: true})
				listed[s.Path] = len(r.p.Artifacts)
			}
			continue
		}
		f, ok := r.files[s.Path]
		if !ok {
			if d, bad := r.missing(s); bad {
				missing = append(missing, d)
			}
			continue
		}
		if d, bad := r.checkDigest(s, f); bad {
			wrong = append(wrong, d)
		}
		if s.Set != "" {
			continue
		}
		if i := listed[s.Path]; i > 0 {
			r.p.Artifacts[i-1].merge(s)
			continue
		}
		r.p.Artifacts = append(r.p.Artifacts, Artifact{Path: s.Path, Algorithm: s.Algorithm, Hash: s.Hash, Digest: f.Digest, ContentType: s.ContentType, Size: f.Size})
		listed[s.Path] = len(r.p.Artifacts)
	}
	r.takeUnlisted()
	r.damaged = r.damage().silent || len(missing)+len(wrong) > 0
	r.damage().report(missingFile, missing, r.add)
	r.damage().report(wrongDigest, wrong, r.add)
	if r.p.Manifest != nil && !r.damage().silent {
		r.checkCoverage()
	}
}

// takeUnlisted makes artifacts of all files of a package that lists none: one with neither TOSCA-Metadata nor a manifest.
func (r *reader) takeUnlisted() {
	if r.meta != nil || r.p.Manifest != nil {
		return
	}
	for _, f := range r.a.Files() {
		if f.Path != r.p.Entry && f.Path != r.p.Certificate {
			r.p.Artifacts = append(r.p.Artifacts, Artifact{Path: f.Path, Digest: f.Digest, Size: f.Size})
		}
	}
}

// merge adds what a second listing of the same file says.
func (a *Artifact) merge(s Source) {
	if a.Hash == "" {
		a.Algorithm, a.Hash = s.Algorithm, s.Hash
	}
	a.ContentType = cmp.Or(a.ContentType, s.ContentType)
}

func (s Source) at() place { return place{file: s.File, line: s.Line, column: s.Column} }

func (r *reader) missing(s Source) (d damaged, bad bool) {
	if r.isDir(s.Path) {
		r.add(vnfm.SeverityWarning, s.at(), fmt.Sprintf("%q is a directory", s.Path), "list its files one by one")
		return d, false
	}
	return damaged{at: s.at(), path: s.Path, summary: fmt.Sprintf("%q is not in the package", s.Path), detail: r.similar(s.Path)}, true
}

func (r *reader) checkDigest(s Source, f FileInfo) (d damaged, bad bool) {
	if s.Hash == "" || r.damage().silent {
		return d, false
	}
	if s.Path == r.p.ManifestFile && s.File == r.p.ManifestFile {
		r.add(vnfm.SeverityWarning, s.at(), "the manifest holds a digest of itself", "it cannot be right and is not checked; remove Algorithm and Hash")
		return d, false
	}
	got, err := r.digest(s.Algorithm, f)
	if err != nil {
		r.add(vnfm.SeverityError, s.at(), fmt.Sprintf("%q cannot be read", s.Path), err.Error()+"; "+packAgain)
		return d, false
	}
	return damaged{
		at: place{file: s.File, line: s.hashLine, column: s.hashCol}, path: s.Path,
		summary: fmt.Sprintf("%s of %q is not the one declared", s.Algorithm, s.Path),
		detail:  fmt.Sprintf("declared %s, computed %s; the file was changed after the manifest was written, or damaged; %s", s.Hash, got, hashAgain),
	}, got != s.Hash
}

// digest returns the digest of a file of the archive in hexadecimal.
func (r *reader) digest(algorithm string, f FileInfo) (string, error) {
	if algorithm == "SHA-256" {
		return strings.TrimPrefix(f.Digest, "sha256:"), nil
	}
	sum, err := r.content(f).digest(algorithms[algorithm])
	return hex.EncodeToString(sum), err
}

// protection returns the files that cannot be covered by the digests they are needed to check, with what each
// is: the manifest, and the signatures and certificates of the files of the package. None of them is used as
// anything else, so one that is listed, or that the package begins with, is not among them.
func (r *reader) protection() map[string]string {
	own := map[string]string{}
	used := map[string]bool{"": true, metaFile: true, r.p.Entry: true}
	for _, name := range r.p.OtherDefinitions {
		used[name] = true
	}
	for _, s := range r.sources {
		used[s.Path] = true
	}
	add := func(name, what string) {
		if !used[name] {
			own[name] = what
		}
	}
	add(r.p.Certificate, "a certificate")
	for _, s := range r.signedFiles() {
		add(s.Signature, "a signature")
		add(s.Certificate, "a certificate")
	}
	if r.p.ManifestFile != "" {
		own[r.p.ManifestFile] = "the manifest"
	}
	return own
}

// uncovered returns the files that are not listed, and those that are listed without anything that protects them. Strict
// counts what the signature of the manifest covers: the digests in it, for all files.
func (r *reader) uncovered(strict bool) (unlisted, bare []string) {
	listed, protected := map[string]bool{}, map[string]bool{}
	for _, s := range r.sources {
		listed[s.Path] = true
		if s.Hash != "" && (!strict || s.File == r.p.ManifestFile) || s.Signature != "" && !strict {
			protected[s.Path] = true
		}
	}
	own := r.protection()
	for _, f := range r.a.Files() {
		switch {
		// Few manifests list TOSCA.meta, and damage to it shows by itself.
		case own[f.Path] != "", f.Path == metaFile && !strict:
		case !listed[f.Path]:
			unlisted = append(unlisted, f.Path)
		case !protected[f.Path]:
			bare = append(bare, f.Path)
		}
	}
	return unlisted, bare
}

// checkCoverage finds files that nothing protects. It is a warning, because complete lists are rare
// in the field; where a signature is required, only what it covers counts.
func (r *reader) checkCoverage() {
	// Without a signature in the manifest the missing signature is the finding.
	strict := r.signatureRequired() && r.p.Manifest.CMSLine > 0
	unlisted, bare := r.uncovered(strict)
	severity, consequence := vnfm.SeverityWarning, "nothing protects this content"
	if strict {
		severity, consequence = vnfm.SeverityError, "the signature does not cover this content"
	}
	at := place{file: r.p.ManifestFile}
	if len(unlisted) > 0 {
		lost := consequence
		if objects := r.withObjects(unlisted); len(objects) > 0 && !strict {
			lost = fmt.Sprintf("the Kubernetes objects of %s are by default no part of an instance, and %s", someOf(objects), consequence)
		}
		r.add(severity, at, countFiles(len(unlisted))+" not listed: "+someOf(unlisted), lost+"; add a Source with Algorithm and Hash for each")
	}
	if len(bare) > 0 {
		r.add(severity, at, countFiles(len(bare))+" listed without digest: "+someOf(bare), consequence+"; add Algorithm and Hash")
	}
}

// withObjects are those of some files that would be Kubernetes manifests if they were listed.
func (r *reader) withObjects(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !r.p.mayHoldObjects(r.a, name) || !r.holdsObjects(name) })
}

// signatureRequired reports that every file must be covered by the manifest's signature.
func (r *reader) signatureRequired() bool {
	return r.o.signature() == SignatureRequire && !r.outer
}

func countFiles(n int) string {
	if n == 1 {
		return "1 file is"
	}
	return countOf(n) + " are"
}

func countOf(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

func someOf(names []string) string {
	if len(names) <= namedFiles {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:namedFiles], ", ") + ", ..."
}
