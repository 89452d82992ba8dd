package helm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/ignore"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/yamlpos"
)

// maxChartBytes bounds the files of a chart together, as Helm does.
const maxChartBytes = 100 << 20

// Chart is a chart of a VNF package.
type Chart struct {
	// path is the archive or the directory inside the package.
	path string
	// archive is the archive as it is, files those of a directory, or of the archive once a helper process has unpacked
	// it. A chart is made of them for each rendering, which changes it.
	archive []byte
	files   []*archive.BufferedFile
	// described are name and version; defaults and schema are values.yaml, as JSON, and values.schema.json.
	described        vnfm.Chart
	defaults, schema []byte
}

// IsChart reports whether a path of a package is a chart: a directory with
// Chart.yaml, or an archive.
func IsChart(fsys fs.FS, file string) bool {
	info, err := fs.Stat(fsys, file)
	if err != nil {
		return false
	}
	if !info.IsDir() {
		return isArchive(file)
	}
	_, err = fs.Stat(fsys, path.Join(file, "Chart.yaml"))
	return err == nil
}

func isArchive(file string) bool {
	return strings.HasSuffix(file, ".tgz") || strings.HasSuffix(file, ".tar.gz")
}

// Load reads the chart at a path of a package, a directory or an archive, with the
// sub-charts that it holds.
func Load(ctx context.Context, fsys fs.FS, file string) (*Chart, error) {
	c := &Chart{path: file}
	info, err := fs.Stat(fsys, file)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		err = c.readDirectory(fsys)
	} else {
		c.archive, err = readBounded(fsys, file, maxChartBytes)
	}
	if err != nil {
		return nil, err
	}
	return c, c.describe(ctx)
}

// LoadArchive reads the chart of an archive that is in no package. The name is what
// problems call it.
func LoadArchive(ctx context.Context, data []byte, name string) (*Chart, error) {
	c := &Chart{path: name, archive: data}
	return c, c.describe(ctx)
}

// Describe returns name and version of the chart. Its digest is its archive's matter.
func (c *Chart) Describe() vnfm.Chart { return c.described }

// readDirectory reads all files of a directory that .helmignore does not exclude.
func (c *Chart) readDirectory(fsys fs.FS) error {
	rules, err := ignoreRules(fsys, c.path)
	if err != nil {
		return err
	}
	total := 0
	return fs.WalkDir(fsys, c.path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == c.path {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		relative := strings.TrimPrefix(name, c.path+"/")
		switch {
		case rules.Ignore(relative, info) && entry.IsDir():
			return fs.SkipDir
		case entry.IsDir() || rules.Ignore(relative, info):
			return nil
		}
		data, err := readBounded(fsys, name, maxChartBytes-total)
		if err != nil {
			return err
		}
		total += len(data)
		c.files = append(c.files, &archive.BufferedFile{Name: relative, Data: bytes.TrimPrefix(data, []byte("\ufeff"))})
		return nil
	})
}

func ignoreRules(fsys fs.FS, dir string) (*ignore.Rules, error) {
	rules := ignore.Empty()
	f, err := fsys.Open(path.Join(dir, ignore.HelmIgnore))
	if err == nil {
		defer func() { _ = f.Close() }()
		rules, err = ignore.Parse(f)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", ignore.HelmIgnore, err)
	}
	rules.AddDefaults()
	return rules, nil
}

func readBounded(fsys fs.FS, name string, limit int) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err == nil && len(data) > limit {
		err = fmt.Errorf("the files of a chart may have at most %d MiB together", maxChartBytes>>20)
	}
	return data, err
}

// unpack reads the files of an archive.
func (c *Chart) unpack() error {
	if c.archive == nil || c.files != nil {
		return nil
	}
	files, err := archive.LoadArchiveFiles(bytes.NewReader(c.archive))
	if err != nil {
		return fmt.Errorf("is not an archive of a chart: %w", err)
	}
	c.files = files
	return nil
}

// assemble makes a chart of the files.
func (c *Chart) assemble() (*chart.Chart, error) {
	if err := c.unpack(); err != nil {
		return nil, err
	}
	made, err := loader.LoadFiles(c.files)
	if err != nil {
		return nil, cmp.Or(c.notYAML(), err)
	}
	if made.Metadata.Type == "library" {
		return nil, fmt.Errorf("the chart %s is a library chart, which has no objects", made.Name())
	}
	return made, missingParts(made)
}

// notYAML names the first line that is no YAML of the files that describe the chart and its sub-charts, which Helm counts from 0 or not at
// all; nil where they are YAML.
func (c *Chart) notYAML() error {
	for _, f := range c.files {
		if base := path.Base(f.Name); base != "values.yaml" && base != "Chart.yaml" || strings.Contains(f.Name, "templates/") {
			continue
		}
		_, found := yamlpos.Parse(budget.New(context.Background(), budget.Limits{}), f.Name, f.Data, yamlpos.Options{LastKeyWins: true})
		// An error of syntax has no column.
		if i := slices.IndexFunc(found, func(p vnfm.Problem) bool { return p.Line > 0 && p.Column == 0 }); i >= 0 {
			return errors.New(found[i].String())
		}
	}
	return nil
}

// missingParts names the dependencies that a chart declares and does not hold: an
// unpacked chart whose dependencies were never fetched.
func missingParts(c *chart.Chart) error {
	there := map[string]bool{}
	for _, d := range c.Dependencies() {
		there[d.Name()] = true
	}
	var missing []string
	for _, d := range c.Metadata.Dependencies {
		if !there[d.Name] {
			missing = append(missing, d.Name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the chart %s depends on %s, which is not in charts/; run helm dependency update before you build the package", c.Name(), strings.Join(missing, ", "))
	}
	return nil
}

// place returns the path inside the package of a file by the name that a template
// has: the name of the chart and the path inside it.
func (c *Chart) place(name string) string {
	_, inside, ok := strings.Cut(name, "/")
	if !ok {
		return c.path
	}
	return path.Join(c.path, inside)
}
