package lcm

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

// ResolveChart implements vnfm.Manager. A source that was resolved before is not asked
// again as long as its archive is kept.
func (e *Engine) ResolveChart(ctx context.Context, source vnfm.ChartSource) (*vnfm.Chart, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	if source.Chart != nil {
		if en, err := keptChart(ctx, s, source.Chart.Digest); err == nil {
			return &en.value.Chart, nil
		} else if !errors.Is(err, vnfm.ErrNotFound) {
			return nil, err
		}
	}
	if source.Chart == nil && source.Fetched() {
		if chart, err := foundLately(ctx, s, &source); chart != nil || err != nil {
			return chart, err
		}
	}
	archive, err := archiveOf(ctx, &source)
	if err != nil {
		return nil, err
	}
	digest := store.Digest(archive)
	if source.Chart != nil && source.Chart.Digest != digest {
		return nil, fmt.Errorf("chart %s of version %s is another one than before: it has the digest %s, and had %s; run plan again",
			&source, source.Chart.Version, digest, source.Chart.Digest)
	}
	return e.keepChart(ctx, s, &source, archive, digest)
}

// lately is how long the chart that a source was found to be is taken for the one that it
// means: Terraform asks once when it plans and once more when it applies.
const lately = time.Hour

// foundLately returns the chart that a source was found to be a short while ago; nil when
// it has to be asked.
func foundLately(ctx context.Context, s store.Store, source *vnfm.ChartSource) (*vnfm.Chart, error) {
	all, err := list[chartRecord](ctx, s, store.Query{Kind: store.KindChart})
	if err != nil {
		return nil, err
	}
	var newest time.Time
	var chart *vnfm.Chart
	for _, en := range all {
		at := en.value.Found[sourceKey(source)]
		if !en.value.Removing && time.Since(at) < lately && at.After(newest) {
			newest, chart = at, &en.value.Chart
		}
	}
	return chart, nil
}

// sourceKey identifies what a user says of a source.
func sourceKey(source *vnfm.ChartSource) string {
	said := *source
	said.Chart = nil
	// Texts alone: it can be written.
	text, _ := json.Marshal(said)
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
		return nil, unreadable("path", err)
	}
	if !info.IsDir() {
		return fs.ReadFile(fsys, file)
	}
	loaded, err := helm.Load(ctx, fsys, file)
	if err != nil {
		return nil, unreadable("path", err)
	}
	return loaded.Archive()
}

func unreadable(attribute string, err error) error {
	return &vnfm.InvalidError{Problems: vnfm.Problems{{Attribute: attribute, Summary: "the chart cannot be read", Detail: err.Error()}}}
}

// keepChart keeps an archive, and a record of what it is, which is renewed each time.
func (e *Engine) keepChart(ctx context.Context, s store.Store, source *vnfm.ChartSource, archive []byte, digest string) (*vnfm.Chart, error) {
	loaded, err := helm.LoadArchive(ctx, archive, archiveName)
	if err != nil {
		return nil, unreadable("", fmt.Errorf("%s: %w", source, err))
	}
	en := &entry[chartRecord]{rec: store.Record{Kind: store.KindChart, ID: digest}}
	en.value.Chart = loaded.Describe()
	en.value.Digest, en.value.Size = digest, int64(len(archive))
	en.value.Found = map[string]time.Time{}
	if source.Chart == nil {
		en.value.Found[sourceKey(source)] = time.Now().UTC()
	}
	err = e.keepContents(ctx, s, func() ([]string, error) {
		if err := s.PutBlob(ctx, digest, bytes.NewReader(archive)); err != nil {
			return nil, fmt.Errorf("keeping the chart %s: %w", source, err)
		}
		return []string{digest}, nil
	}, func(ctx context.Context) error {
		err := en.create(ctx, s)
		if !errors.Is(err, store.ErrExists) {
			return err
		}
		found, err := get[chartRecord](ctx, s, store.KindChart, digest)
		if err != nil {
			return err
		}
		before := laterThan(found.value.Found, lately)
		maps.Copy(before, en.value.Found)
		en.value.Found = before
		found.value = en.value
		return found.update(ctx, s)
	})
	return &en.value.Chart, err
}

// laterThan are the entries that are not older than an age.
func laterThan(all map[string]time.Time, age time.Duration) map[string]time.Time {
	out := map[string]time.Time{}
	for key, at := range all {
		if time.Since(at) < age {
			out[key] = at
		}
	}
	return out
}

// keptChart is the record of a chart whose archive is there.
func keptChart(ctx context.Context, s store.Store, digest string) (*entry[chartRecord], error) {
	en, err := get[chartRecord](ctx, s, store.KindChart, digest)
	if err == nil && en.value.Removing {
		return nil, &vnfm.NotFoundError{Kind: nouns[store.KindChart], ID: digest}
	}
	return en, err
}

// archiveName is what the archive of a chart goes by in its package.
const archiveName = "chart.tgz"

// chartContent gives the archive of a chart as the file archiveName.
func (e *Engine) chartContent(ctx context.Context, source *vnfm.ChartSource) (fs.FS, []vnfm.PackageFile, error) {
	chart, err := e.ResolveChart(ctx, *source)
	if err != nil {
		return nil, nil, err
	}
	s, err := e.store(ctx)
	if err != nil {
		return nil, nil, err
	}
	en, err := keptChart(ctx, s, chart.Digest)
	if err != nil {
		return nil, nil, err
	}
	files := []vnfm.PackageFile{{Path: archiveName, Digest: chart.Digest, Size: en.value.Size}}
	return newContent(s, &e.contents, files, ""), files, nil
}

// unusedCharts is how long a chart that no instance has is kept: somebody may have
// planned with it, or be installing it.
const unusedCharts = 24 * time.Hour

// leaveCharts removes the charts that no instance has any more.
func (e *Engine) leaveCharts(ctx context.Context, s store.Store) error {
	all, err := list[chartRecord](ctx, s, store.Query{Kind: store.KindChart})
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(en *entry[chartRecord]) bool { return time.Since(en.rec.UpdatedAt) < unusedCharts })
	if len(all) == 0 {
		return nil
	}
	return e.withReferences(ctx, s, func(ctx context.Context) error {
		instances, err := list[vnfm.Instance](ctx, s, store.Query{Kind: store.KindInstance})
		if err != nil {
			return err
		}
		used := map[string]bool{}
		for _, en := range instances {
			for _, digest := range chartsOf(en.value.Cluster) {
				used[digest] = true
			}
		}
		for _, en := range all {
			if used[en.rec.ID] {
				continue
			}
			if err := removeChart(ctx, s, en); err != nil {
				return fmt.Errorf("removing the chart %s %s: %w", en.value.Name, en.value.Version, err)
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
// then the record. It is called under withReferences.
func removeChart(ctx context.Context, s store.Store, en *entry[chartRecord]) error {
	en.value.Removing = true
	if err := en.update(ctx, s); errors.Is(err, store.ErrStale) || errors.Is(err, store.ErrNotFound) {
		// Another process uses it since, or has removed it.
		return nil
	} else if err != nil {
		return err
	}
	if err := deleteContents(ctx, s, en.rec.ID); err != nil {
		return err
	}
	if err := s.Delete(ctx, store.KindChart, en.rec.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("removing its record: %w", err)
	}
	return nil
}
