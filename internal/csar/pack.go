package csar

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// zipTime is the modification time of all entries that WriteZip writes, the earliest one
// that the format can hold.
var zipTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// WriteZip writes an archive as a zip. The output depends on the content alone: entries are
// sorted by path, have one time and one mode.
func WriteZip(a Archive, w io.Writer) error {
	zw := zip.NewWriter(w)
	for _, f := range a.Files() {
		if err := writeEntry(zw, a, f); err != nil {
			return fmt.Errorf("writing %q into the zip: %w", f.Path, err)
		}
	}
	if err := zw.Close(); err != nil {
		return fmt.Errorf("writing the zip: %w", err)
	}
	return nil
}

func writeEntry(zw *zip.Writer, a Archive, f FileInfo) (err error) {
	in, err := a.Open(f.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	header := &zip.FileHeader{Name: f.Path, Method: zip.Deflate, Modified: zipTime}
	header.SetMode(0o644)
	out, err := zw.CreateHeader(header)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return err
}

// Hash brings the manifest of an unpacked package up to date: each Source of a file in the
// package gets its Algorithm and Hash, a Source is added for each file that is not listed, that of a file that
// the package does not have is removed, and so is a signature, since it would no longer hold. The manifest itself,
// signatures and certificates are not given digests. An algorithm that is already there is kept; else it is SHA-256.
// The other lines and the line ends stay as they are.
//
// It returns the path of the manifest in the directory, and the files that it lists no longer. A package without
// manifest, or with one that cannot be read, is an error.
func Hash(dir string) (manifest string, gone []string, err error) {
	a, err := OpenDirectory(dir, Limits{})
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	// Wrong digests and files that are missing from the list are what is repaired here.
	p, problems := Read(a, Options{Integrity: IntegrityWarn, Signature: SignatureIgnore})
	if err := problems.Err(); err != nil {
		return "", nil, fmt.Errorf("reading the package %q: %w", dir, err)
	}
	if p.Manifest == nil {
		return "", nil, fmt.Errorf("reading the package %q: it has no manifest; create one with its metadata and name it in TOSCA.meta with %s", dir, keyManifest)
	}
	text, gone, err := hashManifest(a, p)
	if err != nil {
		return "", nil, fmt.Errorf("computing digests of the package %q: %w", dir, err)
	}
	target := filepath.Join(dir, filepath.FromSlash(p.ManifestFile))
	if err := os.WriteFile(target, text, 0o644); err != nil { //nolint:gosec // a manifest is public
		return "", nil, fmt.Errorf("writing the manifest: %w", err)
	}
	return p.ManifestFile, gone, nil
}

// hashManifest returns the text of the manifest with all digests, and the files that it lists no longer.
func hashManifest(a Archive, p *Package) (text []byte, gone []string, err error) {
	r := newReader(a, Options{})
	r.p, r.sources = p, append(slices.Clone(p.Manifest.Sources), p.Manifest.NonMANO...)
	own := r.protection()
	eol := "\n"
	if bytes.Contains(p.Manifest.Signed, []byte("\r\n")) {
		eol = "\r\n"
	}
	lines := splitLines(p.Manifest.Signed)
	replaced, dropped := map[int]string{}, map[int]bool{}
	listed := map[string]bool{}
	for _, s := range r.sources {
		listed[s.Path] = true
		if s.External || s.Path == "" {
			continue
		}
		f, ok := r.files[s.Path]
		if !ok {
			gone = append(gone, s.Path)
			dropEntry(lines, s.Line, dropped)
			continue
		}
		dropped[s.algorithmLine], dropped[s.hashLine] = true, true
		if own[s.Path] != "" || s.Set != "" && s.Hash == "" {
			continue
		}
		block, err := r.digestLines(s.declared, f, eol)
		if err != nil {
			return nil, nil, err
		}
		replaced[s.Line] = block
	}
	if len(gone) > 0 {
		dropEmptySets(lines, dropped)
	}
	var out bytes.Buffer
	for _, l := range lines {
		if dropped[l.number] {
			continue
		}
		out.WriteString(l.text + eol)
		if block, ok := replaced[l.number]; ok {
			indent := l.text[:len(l.text)-len(strings.TrimLeft(l.text, " \t"))]
			for line := range strings.SplitAfterSeq(block, eol) {
				if line != "" {
					out.WriteString(indent + line)
				}
			}
		}
	}
	text, err = r.appendUnlisted(out.Bytes(), listed, own, eol)
	return text, gone, err
}

// dropEntry marks the lines of a Source: its own, those of its attributes, and the empty line before it.
func dropEntry(lines []line, source int, dropped map[int]bool) {
	empty := func(l line) bool { return strings.TrimSpace(l.text) == "" }
	if source > 1 && empty(lines[source-2]) {
		dropped[source-1] = true
	}
	dropped[source] = true
	for _, l := range lines[source:] {
		f, ok := parseField(l)
		// Without a value it is the name of a set.
		if !ok || f.value == "" || strings.EqualFold(f.key, "Source") {
			return
		}
		dropped[l.number] = true
	}
}

// nonMANOSets is the key above the sets of artifacts that are not for the VNF manager (SOL004).
const nonMANOSets = "non_mano_artifact_sets"

// dropEmptySets marks the names of the non-MANO sets without a Source that is left, and the head of the sets without one of those.
func dropEmptySets(lines []line, dropped map[int]bool) {
	source, set := false, false
	marked := map[int]bool{}
	for _, l := range slices.Backward(lines) {
		f, ok := parseField(l)
		switch {
		case !ok || dropped[l.number]:
		case strings.EqualFold(f.key, nonMANOSets):
			if marked[l.number] = !set; !set {
				marked[l.number-1] = l.number > 1 && strings.TrimSpace(lines[l.number-2].text) == ""
			}
			maps.Copy(dropped, marked)
			return
		case f.value != "":
			source = true
		default:
			marked[l.number] = !source
			source, set = false, set || source
		}
	}
}

func (r *reader) digestLines(algorithm string, f FileInfo, eol string) (string, error) {
	algorithm = cmp.Or(algorithm, "SHA-256")
	sum, err := r.digest(algorithm, f)
	if err != nil {
		return "", err
	}
	return "Algorithm: " + algorithm + eol + "Hash: " + sum + eol, nil
}

// appendUnlisted adds a block for each file that is not listed, before the non-MANO sets,
// behind which it would count as one of them.
func (r *reader) appendUnlisted(text []byte, listed map[string]bool, own map[string]string, eol string) ([]byte, error) {
	var blocks strings.Builder
	for _, f := range r.a.Files() {
		if listed[f.Path] || own[f.Path] != "" {
			continue
		}
		digest, err := r.digestLines("", f, eol)
		if err != nil {
			return nil, err
		}
		blocks.WriteString(eol + "Source: " + f.Path + eol + digest)
	}
	if blocks.Len() == 0 {
		return text, nil
	}
	at := len(text)
	for _, l := range splitLines(text) {
		if f, ok := parseField(l); ok && strings.EqualFold(f.key, nonMANOSets) {
			at = l.offset
			blocks.WriteString(eol)
			break
		}
	}
	return slices.Concat(bytes.TrimRight(text[:at], "\r\n"), []byte(eol+blocks.String()), text[at:]), nil
}
