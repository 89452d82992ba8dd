package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/helm/repo"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// chartRecord is a chart as stored, under the digest of its archive, which is a content.
type chartRecord struct {
	vnfm.Chart
	Size int64 `json:"size"`
	// Found says when each source was found to be the chart.
	Found map[string]time.Time `json:"found,omitempty"`
	// Removing is set while the content is removed: the chart is gone for everybody.
	Removing bool `json:"removing,omitempty"`
}

// CheckRecord is called by package records when the record is read.
func (r *chartRecord) CheckRecord(id string) error { return records.CheckID(r.Digest, id) }

// ResolveChart implements vnfm.Manager. A source that was resolved before is not asked
// again as long as its archive is kept.
func (c *Catalog) ResolveChart(ctx context.Context, source vnfm.ChartSource) (*vnfm.Chart, error) {
	s, err := c.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	if source.Chart != nil {
		if en, err := getChart(ctx, s, source.Chart.Digest); err == nil {
			return &en.Value.Chart, nil
		} else if !errors.Is(err, vnfm.ErrNotFound) {
			return nil, err
		}
	}
	if source.Chart == nil && source.Fetched() {
		if chart, err := recentlyResolved(ctx, s, &source); chart != nil || err != nil {
			return chart, err
		}
	}
	archive, err := archiveOf(ctx, &source)
	if err != nil {
		return nil, err
	}
	digest := store.Digest(archive)
	if source.Chart != nil && source.Chart.Digest != digest {
		return nil, fmt.Errorf("chart %s of version %s has changed: its digest is %s and was %s; run plan again",
			&source, source.Chart.Version, digest, source.Chart.Digest)
	}
	return c.keepChart(ctx, s, &source, archive, digest)
}

// recentResolution is how long the chart that a source was found to be is taken for the one that it
// means: Terraform asks once when it plans and once more when it applies.
const recentResolution = time.Hour

// recentlyResolved returns the chart that a source was found to be a short while ago; nil when
// it has to be asked.
func recentlyResolved(ctx context.Context, s store.Store, source *vnfm.ChartSource) (*vnfm.Chart, error) {
	all, err := records.List[chartRecord](ctx, s, store.Query{Kind: store.KindChart})
	if err != nil {
		return nil, err
	}
	var newest time.Time
	var chart *vnfm.Chart
	for _, en := range all {
		at := en.Value.Found[sourceKey(source)]
		if !en.Value.Removing && time.Since(at) < recentResolution && at.After(newest) {
			newest, chart = at, &en.Value.Chart
		}
	}
	return chart, nil
}

// sourceKey identifies what a user says of a source.
func sourceKey(source *vnfm.ChartSource) string {
	given := *source
	given.Chart = nil
	// Texts alone: it can be written.
	text, _ := json.Marshal(given)
	return store.Digest(text)
}

// archiveOf reads the archive that a source leads to. A directory is packed.
func archiveOf(ctx context.Context, source *vnfm.ChartSource) ([]byte, error) {
	if source.Fetched() {
		return repo.Fetch(ctx, source)
	}
	clean := filepath.Clean(source.Path)
	fsys, file := os.DirFS(filepath.Dir(clean)), filepath.Base(clean)
	info, err := fs.Stat(fsys, file)
	if err != nil {
		return nil, chartError("path", fromHere(source.Path, err))
	}
	if !info.IsDir() {
		return fs.ReadFile(fsys, file)
	}
	loaded, err := helm.Load(ctx, fsys, file)
	if err != nil {
		return nil, chartError("path", err)
	}
	return loaded.Archive()
}

func chartError(attribute string, err error) error {
	return &vnfm.InvalidError{Problems: vnfm.Problems{{Attribute: attribute, Summary: "the chart cannot be read", Detail: err.Error() + "; helm lint shows more"}}}
}

// keepChart keeps an archive, and a record of what it is, which is renewed each time.
func (c *Catalog) keepChart(ctx context.Context, s store.Store, source *vnfm.ChartSource, archive []byte, digest string) (*vnfm.Chart, error) {
	loaded, err := helm.LoadArchive(ctx, archive, archiveName)
	if err != nil {
		return nil, chartError("", fmt.Errorf("%s: %w", source, err))
	}
	en := &records.Entry[chartRecord]{Rec: store.Record{Kind: store.KindChart, ID: digest}}
	en.Value.Chart = loaded.Describe()
	en.Value.Digest, en.Value.Size = digest, int64(len(archive))
	en.Value.Found = map[string]time.Time{}
	if source.Chart == nil {
		en.Value.Found[sourceKey(source)] = time.Now().UTC()
	}
	err = c.keepContents(ctx, s, func() ([]string, error) {
		if err := putChart(ctx, s, source, archive, digest); err != nil {
			return nil, err
		}
		return []string{digest}, nil
	}, func(ctx context.Context) error {
		err := en.Create(ctx, s)
		if !errors.Is(err, store.ErrExists) {
			return err
		}
		found, err := records.Get[chartRecord](ctx, s, store.KindChart, digest)
		if err != nil {
			return err
		}
		before := newerThan(found.Value.Found, recentResolution)
		maps.Copy(before, en.Value.Found)
		en.Value.Found = before
		found.Value = en.Value
		return found.Update(ctx, s)
	})
	return &en.Value.Chart, err
}

// putChart stores an archive. One beyond the bound of the store is refused: charts are read in every plan, and a repository may give
// another archive for the same version later.
func putChart(ctx context.Context, s store.Store, source *vnfm.ChartSource, archive []byte, digest string) error {
	size := int64(len(archive))
	var err error
	if limit := store.MaxContent(s); limit > 0 && size > limit {
		err = &store.TooLargeError{What: "its archive", Size: size, Limit: limit}
	} else {
		err = s.PutBlob(ctx, digest, bytes.NewReader(archive))
	}
	if _, tooLarge := errors.AsType[*store.TooLargeError](err); tooLarge {
		return &vnfm.InvalidError{Problems: vnfm.Problems{{
			Summary: "the chart is too large for the store",
			Detail: fmt.Sprintf("%s: %v; a chart is kept in the store: make it smaller (.helmignore leaves files out), or use a store that keeps larger contents; "+
				"a local store has no bound", source, err),
		}}}
	}
	if err != nil {
		return fmt.Errorf("storing the chart %s: %w", source, err)
	}
	return nil
}

// newerThan are the entries that are not older than an age.
func newerThan(all map[string]time.Time, age time.Duration) map[string]time.Time {
	out := map[string]time.Time{}
	for key, at := range all {
		if time.Since(at) < age {
			out[key] = at
		}
	}
	return out
}

// getChart reads the record of a chart whose archive is there.
func getChart(ctx context.Context, s store.Store, digest string) (*records.Entry[chartRecord], error) {
	en, err := records.Get[chartRecord](ctx, s, store.KindChart, digest)
	if err == nil && en.Value.Removing {
		return nil, records.NotFound(store.KindChart, digest)
	}
	return en, err
}

// UseChart has a chart be kept for a time: that of an operation that has not put it into the
// record of its instance yet. It is called under Config.WithReferences.
func UseChart(ctx context.Context, s store.Store, digest string) error {
	en, err := getChart(ctx, s, digest)
	if err != nil {
		return err
	}
	return en.Update(ctx, s)
}

// archiveName is what the archive of a chart goes by in its package.
const archiveName = "chart.tgz"

// ChartContent gives the archive of a chart as a file system with one file, which is listed.
func (c *Catalog) ChartContent(ctx context.Context, source *vnfm.ChartSource) (fs.FS, []vnfm.PackageFile, error) {
	chart, err := c.ResolveChart(ctx, *source)
	if err != nil {
		return nil, nil, err
	}
	s, err := c.cfg.Store(ctx)
	if err != nil {
		return nil, nil, err
	}
	en, err := getChart(ctx, s, chart.Digest)
	if err != nil {
		return nil, nil, err
	}
	files := []vnfm.PackageFile{{Path: archiveName, Digest: chart.Digest, Size: en.Value.Size}}
	return newContent(s, &c.contents, files, "", ""), files, nil
}

// unusedChartAge is how long a chart that no instance has is kept: somebody may have
// planned with it, or be installing it.
const unusedChartAge = 24 * time.Hour

// RemoveUnusedCharts removes the charts that no instance has any more.
func (c *Catalog) RemoveUnusedCharts(ctx context.Context, s store.Store) error {
	all, err := records.List[chartRecord](ctx, s, store.Query{Kind: store.KindChart})
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(en *records.Entry[chartRecord]) bool { return time.Since(en.Rec.UpdatedAt) < unusedChartAge })
	if len(all) == 0 {
		return nil
	}
	return c.cfg.WithReferences(ctx, s, func(ctx context.Context) error {
		instances, err := records.List[vnfm.Instance](ctx, s, store.Query{Kind: store.KindInstance})
		if err != nil {
			return err
		}
		used := map[string]bool{}
		for _, en := range instances {
			for _, digest := range chartsOf(en.Value.Cluster) {
				used[digest] = true
			}
		}
		for _, en := range all {
			if used[en.Rec.ID] {
				continue
			}
			if err := removeChart(ctx, s, en); err != nil {
				return fmt.Errorf("removing the chart %s %s: %w", en.Value.Name, en.Value.Version, err)
			}
		}
		return nil
	})
}

// chartsOf are the digests of the charts that a workload cluster has.
func chartsOf(c *vnfm.ClusterSpec) []string {
	if c == nil {
		return nil
	}
	var out []string
	add := func(s *vnfm.ChartSource) {
		if s.Chart != nil {
			out = append(out, s.Chart.Digest)
		}
	}
	if c.Chart != nil {
		add(&c.Chart.ChartSource)
	}
	for _, a := range c.Addons {
		add(&a.Source)
	}
	slices.Sort(out)
	return out
}

// removeChart marks the record, removes the content unless a package has it too, and
// then the record. It is called under Config.WithReferences.
func removeChart(ctx context.Context, s store.Store, en *records.Entry[chartRecord]) error {
	en.Value.Removing = true
	if err := en.Update(ctx, s); errors.Is(err, store.ErrStale) || errors.Is(err, store.ErrNotFound) {
		// Another process uses it since, or has removed it.
		return nil
	} else if err != nil {
		return err
	}
	if err := deleteContents(ctx, s, en.Rec.ID); err != nil {
		return err
	}
	if err := s.Delete(ctx, store.KindChart, en.Rec.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("removing its record: %w", err)
	}
	return nil
}
