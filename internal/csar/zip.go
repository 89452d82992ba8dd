package csar

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	// ratioFloor is the content size in bytes from which MaxRatio counts: small files
	// of repeated text compress well and do no harm.
	ratioFloor = 1 << 20
	// flagEncrypted are the general purpose bits 0, 6 and 13 of APPNOTE.TXT 4.4.4:
	// encrypted, strongly encrypted, masked header.
	flagEncrypted = 1<<0 | 1<<6 | 1<<13
)

// openZipFile opens a package in a zip archive (.zip, .csar), an open file that it takes over. Refused are entries with
// absolute names, "..", backslashes or control characters, links and devices, names given
// twice (also when they differ only by case or "./"), encrypted entries, unknown
// compression, and what is over the limits by its declared or its actual size.
//
// Faults of the content are returned as *vnfm.InvalidError with one problem for each
// entry; other errors are those of the file system.
func openZipFile(f *os.File, l Limits) (Archive, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening the package: %w", err), f.Close())
	}
	a, err := openZip(f, st.Size(), filepath.Base(f.Name()), l, f.Close)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return a, nil
}

func openZip(r io.ReaderAt, size int64, name string, l Limits, closer func() error) (Archive, error) {
	return openZipIn(size, r, size, name, l, closer)
}

// openZipIn is openZip of an archive that came in fewer bytes than it has: one inside another archive.
func openZipIn(stored int64, r io.ReaderAt, size int64, name string, l Limits, closer func() error) (Archive, error) {
	l = l.withDefaults()
	zr, err := zip.NewReader(r, size)
	// Insecure names are judged below, with the name of each entry.
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		if errors.Is(err, zip.ErrFormat) || errors.Is(err, zip.ErrAlgorithm) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return nil, vnfm.Problems{{File: name, Summary: "the file is not a readable zip archive (" + err.Error() + ")", Detail: "a package is a directory or a zip archive; check that the file is complete"}}.Err()
		}
		return nil, fmt.Errorf("reading the zip archive %q: %w", name, err)
	}
	entries, problems := checkEntries(zr, stored, l)
	if err := problems.Capped(mostProblems).Err(); err != nil {
		return nil, err
	}
	files, problems := digestEntries(entries)
	if err := problems.Capped(mostProblems).Err(); err != nil {
		return nil, err
	}
	byName := make(map[string]*zip.File, len(entries))
	for _, e := range entries {
		byName[e.name] = e.file
	}
	t := newTree(files, func(n string) (io.ReadCloser, error) { return byName[n].Open() }, closer)
	t.stored = stored
	return t, nil
}

type zipEntry struct {
	name string
	file *zip.File
}

// checkEntries judges the central directory, before anything is decompressed.
func checkEntries(zr *zip.Reader, size int64, l Limits) ([]zipEntry, vnfm.Problems) {
	var entries []zipEntry
	var problems vnfm.Problems
	var total uint64
	names := newNameSet()
	for _, f := range zr.File {
		isDir := strings.HasSuffix(f.Name, "/")
		if isDir && strings.Trim(f.Name, "./") == "" && !strings.Contains(f.Name, "..") && !strings.HasPrefix(f.Name, "/") {
			continue // "./", which some tools write for the top itself.
		}
		name, err := cleanName(f.Name)
		if err != nil {
			problems = append(problems, unsafeEntry(f.Name, err))
			continue
		}
		if mode := f.Mode(); isDir && mode.Type()&^fs.ModeDir != 0 || !isDir && !mode.IsRegular() {
			problems = append(problems, notRegular(f.Name, mode))
			continue
		}
		if isDir {
			continue
		}
		if err := names.add(name); err != nil {
			problems = append(problems, unsafeEntry(f.Name, err))
			continue
		}
		if p := checkStorage(f, l); p != nil {
			p.File = name
			problems = append(problems, *p)
			continue
		}
		total += f.UncompressedSize64
		entries = append(entries, zipEntry{name: name, file: f})
	}
	switch {
	case len(entries) > l.MaxFiles:
		//findings:says pack small files into one
		problems.Errorf("", 0, 0, "the package holds %d files, more than %d", len(entries), l.MaxFiles)
	case exceeds(total, l.MaxTotalBytes):
		//findings:says name large images by URL instead of packing them
		problems.Errorf("", 0, 0, "the files declare %d bytes together, more than %d", total, l.MaxTotalBytes)
	case bomb(total, size, l):
		//findings:says pack the files without compression if they are as they must be
		problems.Errorf("", 0, 0, "the files declare %d bytes in an archive of %d, a ratio of more than %d", total, size, l.MaxRatio)
	}
	return entries, problems
}

// checkStorage judges how an entry is stored; the caller adds its name.
func checkStorage(f *zip.File, l Limits) *vnfm.Problem {
	switch {
	case f.Flags&flagEncrypted != 0:
		return &vnfm.Problem{Summary: "the entry is encrypted", Detail: "pack the package without a password"}
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return &vnfm.Problem{Summary: fmt.Sprintf("the entry uses compression method %d", f.Method), Detail: "pack the package with deflate (8) or without compression (0)"}
	case f.Method == zip.Store && f.CompressedSize64 != f.UncompressedSize64:
		return &vnfm.Problem{Summary: fmt.Sprintf("the entry is stored without compression but declares %d bytes in %d", f.UncompressedSize64, f.CompressedSize64), Detail: "the archive is damaged; pack it again"}
	case exceeds(f.UncompressedSize64, l.MaxFileBytes):
		return &vnfm.Problem{
			Summary: fmt.Sprintf("the entry declares %d bytes, more than %d", f.UncompressedSize64, l.MaxFileBytes), Detail: "name large images by URL instead of packing them",
		}
	case f.CompressedSize64 <= math.MaxInt64 && bomb(f.UncompressedSize64, int64(f.CompressedSize64), l):
		return &vnfm.Problem{Summary: fmt.Sprintf("the entry declares %d bytes in %d compressed, a ratio of more than %d", f.UncompressedSize64, f.CompressedSize64, l.MaxRatio), Detail: "pack the file without compression if it is as it must be"}
	}
	return nil
}

// exceeds compares a declared size with a limit.
func exceeds(n uint64, limit int64) bool {
	return n > math.MaxInt64 || int64(n) > limit
}

// bomb reports that content of some size is too much for the bytes it is stored in.
func bomb(content uint64, stored int64, l Limits) bool {
	return content > ratioFloor && (content > math.MaxInt64 || int64(content)/max(stored, 1) > int64(l.MaxRatio))
}

// digestEntries reads every entry; no more of it than it declares, since the declared
// size is what the limits were checked against.
func digestEntries(entries []zipEntry) ([]FileInfo, vnfm.Problems) {
	files := make([]FileInfo, 0, len(entries))
	var problems vnfm.Problems
	for _, e := range entries {
		info, err := digestEntry(e)
		switch {
		case err != nil:
			problems = append(problems, vnfm.Problem{File: e.name, Summary: "the entry cannot be read (" + err.Error() + ")", Detail: "the archive is damaged; obtain or pack it again"})
		default:
			files = append(files, info)
		}
	}
	return files, problems
}

func digestEntry(e zipEntry) (info FileInfo, err error) {
	r, err := e.file.Open()
	if err != nil {
		return FileInfo{}, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return digestReader(e.name, r, int64(e.file.UncompressedSize64)) //nolint:gosec // checkStorage has refused what does not fit
}
