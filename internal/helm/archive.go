package helm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	"helm.sh/helm/v4/pkg/chart/v2/loader"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Describe returns name and version of the chart. Its digest is its archive's matter.
func (c *Chart) Describe() (vnfm.Chart, error) {
	made, err := c.assemble()
	if err != nil {
		return vnfm.Chart{}, err
	}
	return vnfm.Chart{Name: made.Name(), Version: made.Metadata.Version, AppVersion: made.Metadata.AppVersion}, nil
}

// Archive packs the files of the chart, always alike: what was unpacked has a digest
// that it keeps as long as no file changes.
func (c *Chart) Archive() ([]byte, error) {
	made, err := loader.LoadFiles(c.files)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	packed := tar.NewWriter(zipped)
	for _, f := range c.sorted() {
		header := &tar.Header{Name: path.Join(made.Name(), f.Name), Mode: 0o644, Size: int64(len(f.Data)), Typeflag: tar.TypeReg, Format: tar.FormatPAX}
		if err := packed.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := packed.Write(f.Data); err != nil {
			return nil, err
		}
	}
	if err := packed.Close(); err != nil {
		return nil, err
	}
	if err := zipped.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// sorted are the files in the order of their names.
func (c *Chart) sorted() []*archive.BufferedFile {
	files := slices.Clone(c.files)
	slices.SortFunc(files, func(a, b *archive.BufferedFile) int { return strings.Compare(a.Name, b.Name) })
	return files
}
