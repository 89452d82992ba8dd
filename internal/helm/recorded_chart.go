package helm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Name is the name of the release.
func (r *Release) Name() string { return r.record.Name }

// ChartName and ChartVersion say which chart the revision is of, AppVersion what of; all are empty in a record without a chart.
func (r *Release) ChartName() string {
	if r.record.Chart == nil {
		return ""
	}
	return r.record.Chart.Name()
}

// ChartVersion is the version of the chart.
func (r *Release) ChartVersion() string {
	if r.record.Chart == nil || r.record.Chart.Metadata == nil {
		return ""
	}
	return r.record.Chart.Metadata.Version
}

// AppVersion is the version of what the chart installs.
func (r *Release) AppVersion() string {
	if r.record.Chart == nil || r.record.Chart.Metadata == nil {
		return ""
	}
	return r.record.Chart.Metadata.AppVersion
}

// Values are the values that the user gave, which may be secrets.
func (r *Release) Values() map[string]any {
	out, _ := plain(r.record.Config).(map[string]any)
	return out
}

// Objects are those of the manifest of the revision.
func (r *Release) Objects() []map[string]any { return recordedObjects(r.record.Manifest) }

// ChartFiles are the files of the chart as far as the record has them: Helm records no sub-charts, and of Chart.yaml and values.yaml
// what they say, without comments.
func (r *Release) ChartFiles() (map[string][]byte, error) {
	c := r.record.Chart
	if c == nil || c.Metadata == nil {
		return nil, fmt.Errorf("%w: it has no chart", ErrNoRecord)
	}
	out := map[string][]byte{}
	for _, f := range slices.Concat(c.Templates, c.Files) {
		if !fs.ValidPath(f.Name) {
			return nil, fmt.Errorf("%w: the chart has a file with the path %q", ErrNoRecord, f.Name)
		}
		out[f.Name] = f.Data
	}
	for name, value := range map[string]any{"Chart.yaml": c.Metadata, "Chart.lock": c.Lock, "values.yaml": c.Values} {
		text, err := asYAML(value)
		if err != nil {
			return nil, fmt.Errorf("writing %s: %w", name, err)
		}
		if text != nil {
			out[name] = text
		}
	}
	if len(c.Schema) > 0 {
		out["values.schema.json"] = c.Schema
	}
	return out, nil
}

// asYAML writes a value as YAML with the names that JSON has; nil for one that is empty.
func asYAML(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	read, err := decoded[any](text)
	if err != nil {
		return nil, err
	}
	if fields, _ := read.(map[string]any); len(fields) == 0 {
		return nil, nil
	}
	return yaml.Marshal(plain(read))
}

// MissingCharts are the sub-charts whose objects are in the revision, or that its chart declares, and that the record lacks.
func (r *Release) MissingCharts() []string {
	missing := map[string]bool{}
	prefix := "# Source: " + r.ChartName() + "/charts/"
	for line := range strings.Lines(r.record.Manifest) {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			name, _, _ := strings.Cut(rest, "/")
			missing[name] = true
		}
	}
	if r.record.Chart != nil && r.record.Chart.Metadata != nil {
		for _, d := range r.record.Chart.Metadata.Dependencies {
			missing[d.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(missing))
}

// ReadChart reads the files of a chart that is a directory or an archive of a file system.
func ReadChart(ctx context.Context, fsys fs.FS, file string) (name, version string, files map[string][]byte, err error) {
	if !IsChart(fsys, file) {
		return "", "", nil, errors.New("is neither a directory with Chart.yaml nor an archive (.tgz)")
	}
	c, err := Load(ctx, fsys, file)
	if err != nil {
		return "", "", nil, err
	}
	// A chart that could not be assembled has no name here.
	made, err := c.assemble() //nolint:contextcheck // its files have been read
	if err != nil {
		return "", "", nil, err
	}
	files = map[string][]byte{}
	for _, f := range c.files {
		files[f.Name] = f.Data
	}
	return made.Name(), made.Metadata.Version, files, nil
}

// ParameterNames writes values as helm_parameters takes them: a key with a dot or a bracket is a path there, in which those are escaped.
func ParameterNames(values map[string]any) map[string]any {
	escape := strings.NewReplacer(`\`, `\\`, ".", `\.`, "[", `\[`, "]", `\]`)
	out := make(map[string]any, len(values))
	for key, value := range values {
		if isPath(key) {
			key = escape.Replace(key)
		}
		out[key] = value
	}
	return out
}
