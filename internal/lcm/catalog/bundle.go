package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// A sealed content costs an exchange of keys to open and a wait for the disk to keep.
// A package of a thousand manifests would pay for both a thousand times, in each of
// the two or three processes of one Terraform run. So the small files of a package,
// which are all that an operation reads, are kept as one content: its bundle. Large
// ones, such as images, are contents of their own.

const (
	// maxBundled and maxBundle bound a file in a bundle and all of them.
	maxBundled = 1 << 20
	maxBundle  = 8 << 20
)

// putBundle keeps the small files of a package as one content. It returns the digest
// of that, and the files that are not in it.
func (c *Catalog) putBundle(ctx context.Context, s store.Store, p *vnfm.Package) (digest string, rest []vnfm.PackageFile, err error) {
	var text bytes.Buffer
	small, rest := partFiles(p.Files)
	for _, f := range small {
		if err := addToBundle(ctx, &text, p, f); err != nil {
			return "", nil, err
		}
	}
	if text.Len() == 0 {
		return "", rest, nil
	}
	kept := text.Bytes()
	digest = store.Digest(kept)
	if err := s.PutBlob(ctx, digest, &text); err != nil {
		return "", nil, fmt.Errorf("storing the files of package %q: %w", p.Name, err)
	}
	// What was just written need not be read.
	_, err = c.contents.files(digest, func() (map[string][]byte, error) { return readBundle(kept) })
	return digest, rest, err
}

// partFiles parts files into those of the bundle and the others.
func partFiles(files []vnfm.PackageFile) (small, rest []vnfm.PackageFile) {
	var size int64
	for _, f := range files {
		if f.Size > maxBundled || size+f.Size > maxBundle {
			rest = append(rest, f)
			continue
		}
		small = append(small, f)
		size += int64(len(bundleLine(f))) + f.Size
	}
	return small, rest
}

// bundleLine is the line before a file.
func bundleLine(f vnfm.PackageFile) string { return fmt.Sprintf("%s %d\n", f.Digest, f.Size) }

// addToBundle appends a file: a line with its digest and size, and its content.
func addToBundle(ctx context.Context, text *bytes.Buffer, p *vnfm.Package, f vnfm.PackageFile) error {
	file, err := p.Content.Open(f.Path)
	if err != nil {
		return fmt.Errorf("reading %s of package %q: %w", f.Path, p.Name, err)
	}
	defer func() { _ = file.Close() }()
	text.WriteString(bundleLine(f))
	before := text.Len()
	// One byte more than there should be tells a file that has grown.
	if err := store.CopyBlob(ctx, text, io.LimitReader(file, f.Size+1), f.Digest); err != nil {
		return fmt.Errorf("storing %s of package %q: %w", f.Path, p.Name, err)
	}
	if n := int64(text.Len() - before); n != f.Size {
		return fmt.Errorf("storing %s of package %q: it has %d bytes and should have %d", f.Path, p.Name, n, f.Size)
	}
	return nil
}

var errBundle = errors.New("the bundle of the package's files is malformed")

// readBundle returns the files of a bundle by their digests.
func readBundle(text []byte) (map[string][]byte, error) {
	files := map[string][]byte{}
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		digest, size, ok := bytes.Cut(line, []byte(" "))
		n, err := strconv.Atoi(string(size))
		if !ok || err != nil || n < 0 || n > len(rest) {
			return nil, errBundle
		}
		files[string(digest)] = rest[:n:n]
		text = rest[n:]
	}
	return files, nil
}
