package csar

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// OpenDirectory opens an unpacked package. Every file in it belongs to the package,
// except a ".git" at its top, which is the author's history and would change the content
// digest with every commit. Symbolic links, devices, sockets and pipes are refused,
// also links that stay inside: a zip of the directory could not hold them.
//
// Faults of the content are returned as *vnfm.InvalidError with one problem for each
// file; other errors are those of the file system.
func OpenDirectory(path string, l Limits) (Archive, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("opening the package directory %q: %w", path, err)
	}
	files, err := scanDirectory(root, l.withDefaults())
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return newTree(files, func(name string) (io.ReadCloser, error) { return root.Open(name) }, root.Close), nil
}

func scanDirectory(root *os.Root, l Limits) ([]FileInfo, error) {
	var files []FileInfo
	var problems vnfm.Problems
	var total int64
	names := newNameSet()
	err := fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("reading the package directory %q: %w", root.Name(), err)
		}
		if name == ".git" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		if !d.Type().IsRegular() {
			problems = append(problems, notRegular(name, d.Type()))
			return nil
		}
		if _, err := cleanName(name); err != nil {
			problems = append(problems, unsafeEntry(name, err))
			return nil
		}
		if err := names.add(name); err != nil {
			problems = append(problems, unsafeEntry(name, err))
			return nil
		}
		if len(files) == l.MaxFiles {
			//findings:says pack small files into one
			problems.Errorf("", 0, 0, "the package holds more than %d files", l.MaxFiles)
			return fs.SkipAll
		}
		info, err := d.Info()
		if err != nil {
			return fmt.Errorf("reading the package directory %q: %w", root.Name(), err)
		}
		if total += info.Size(); info.Size() > l.MaxFileBytes || total > l.MaxTotalBytes {
			problems = append(problems, tooLarge(name, l))
			return fs.SkipAll
		}
		files = append(files, FileInfo{Path: name, Size: info.Size()})
		return nil
	})
	if err == nil && len(problems) == 0 {
		err = digestFiles(root, files)
	}
	if err != nil {
		return nil, err
	}
	return files, problems.Capped(mostProblems).Err()
}

// digestFiles completes files of which paths and sizes are known, several at a time: opening a small file takes longer than reading it.
func digestFiles(root *os.Root, files []FileInfo) error {
	var next atomic.Int64
	var all errgroup.Group
	for range min(len(files), runtime.GOMAXPROCS(0)) {
		all.Go(func() error {
			for i := int(next.Add(1)) - 1; i < len(files); i = int(next.Add(1)) - 1 {
				info, err := digestFile(root, files[i].Path, files[i].Size)
				if errors.Is(err, errTooLarge) {
					return fmt.Errorf("reading the package directory %q: %s has grown meanwhile; read it again when nothing writes to it", root.Name(), files[i].Path)
				}
				if err != nil {
					return err
				}
				files[i] = info
			}
			return nil
		})
	}
	return all.Wait()
}

// errTooLarge says that a file is larger than its limit, or than what it declares.
var errTooLarge = errors.New("there is more content than declared")

func digestFile(root *os.Root, name string, limit int64) (info FileInfo, err error) {
	f, err := root.Open(name)
	if err != nil {
		return FileInfo{}, fmt.Errorf("reading the package directory %q: %w", root.Name(), err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err = digestReader(name, f, limit)
	if err != nil && !errors.Is(err, errTooLarge) {
		return FileInfo{}, fmt.Errorf("reading the package directory %q: %w", root.Name(), err)
	}
	return info, err
}

// digestReader reads at most limit bytes; one more is errTooLarge.
func digestReader(name string, r io.Reader, limit int64) (FileInfo, error) {
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(r, limit))
	if err != nil {
		return FileInfo{}, err
	}
	if n == limit {
		more, err := r.Read(make([]byte, 1))
		if more > 0 {
			return FileInfo{}, errTooLarge
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return FileInfo{}, err
		}
	}
	return FileInfo{Path: name, Size: n, Digest: digest.Sum(h)}, nil
}

func unsafeEntry(name string, err error) vnfm.Problem {
	return vnfm.Problem{
		File:    printable(name),
		Summary: err.Error(),
		Detail:  "the package is rejected, because tools would not agree on which file this is",
	}
}

func notRegular(name string, mode fs.FileMode) vnfm.Problem {
	kind := "not a regular file"
	if mode&fs.ModeSymlink != 0 {
		kind = "a symbolic link"
	}
	return vnfm.Problem{
		File:    printable(name),
		Summary: "the entry is " + kind,
		Detail:  "a package holds regular files only; replace the entry by its content",
	}
}

func tooLarge(name string, l Limits) vnfm.Problem {
	return vnfm.Problem{
		File:    printable(name),
		Summary: fmt.Sprintf("the content is larger than %d bytes, or %d bytes with the files before it", l.MaxFileBytes, l.MaxTotalBytes),
		Detail:  "the package is rejected; check that it is the package that you expect",
	}
}

// printable keeps a hostile file name from writing control sequences to a terminal.
func printable(name string) string {
	if _, err := cleanName(name); err == nil {
		return name
	}
	quoted := fmt.Sprintf("%q", name)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\\`, `\`)
}
