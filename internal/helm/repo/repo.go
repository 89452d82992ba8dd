// Package repo finds Helm charts in repositories and in OCI registries, and fetches
// their archives. Package helm reads the archives.
package repo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	// maxArchive bounds the archive of a chart, as Helm bounds its files; maxIndex the
	// index of a repository.
	maxArchive = 100 << 20
	maxIndex   = 100 << 20
	// maxNamed is how many charts or versions an error names.
	maxNamed = 10
)

// Fetch returns the archive of the chart that a source means: of its exact version where
// that is known already, else of the newest that the source allows. A wrong
// source is an *vnfm.InvalidError whose attributes are those of the source.
func Fetch(ctx context.Context, source *vnfm.ChartSource) ([]byte, error) {
	wanted, err := wantedVersion(source)
	if err != nil {
		return nil, err
	}
	if source.OCI != "" {
		return fetchOCI(ctx, source, wanted)
	}
	return fetchRepository(ctx, source, wanted)
}

// named lists some of many names.
func named(all []string) string {
	if len(all) <= maxNamed {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:maxNamed], ", "), len(all)-maxNamed)
}

// wanted says which versions of a chart will do.
type wanted struct {
	text string
	// exact is set for a version, allowed for a range of them.
	exact   *semver.Version
	allowed *semver.Constraints
}

// wantedVersion reads the version of a source: the one that it was found to be, or what
// the user wrote.
func wantedVersion(source *vnfm.ChartSource) (wanted, error) {
	text := source.Version
	if source.Chart != nil {
		text = source.Chart.Version
	}
	if text == "" {
		// Any that is not a pre-release.
		text = "*"
	}
	if v, err := semver.StrictNewVersion(trimV(text)); err == nil {
		return wanted{text: text, exact: v}, nil
	}
	c, err := semver.NewConstraint(text)
	if err != nil {
		return wanted{}, vnfm.Invalid("version", fmt.Sprintf("%q is neither a version nor a range of versions", text),
			"write a version such as 1.16.3, or a range such as \"~1.16\" or \">=1.16, <2\"")
	}
	return wanted{text: text, allowed: c}, nil
}

func trimV(text string) string {
	if text != "" && text[0] == 'v' {
		return text[1:]
	}
	return text
}

// choose returns the index of the newest of the versions that will do; -1 when none does.
// Entries that are not versions are skipped.
func (w wanted) choose(versions []string) int {
	best, at := (*semver.Version)(nil), -1
	for i, text := range versions {
		v, err := semver.NewVersion(text)
		if err != nil || !w.takes(v) {
			continue
		}
		if best == nil || v.GreaterThan(best) {
			best, at = v, i
		}
	}
	return at
}

func (w wanted) takes(v *semver.Version) bool {
	if w.exact != nil {
		return v.Equal(w.exact) && v.Metadata() == w.exact.Metadata()
	}
	return w.allowed.Check(v)
}

// unmet is the error that no version will do.
func (w wanted) unmet(source *vnfm.ChartSource, versions []string) error {
	var all []*semver.Version
	for _, text := range versions {
		if v, err := semver.NewVersion(text); err == nil {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, func(a, b *semver.Version) int { return b.Compare(a) })
	newest := make([]string, 0, len(all))
	for _, v := range all {
		newest = append(newest, v.Original())
	}
	detail := "it has no version"
	if len(newest) > 0 {
		detail = "its versions, the newest first, are " + named(newest)
	}
	return vnfm.Invalid("version", fmt.Sprintf("chart %s has no version %q", source, w.text), detail)
}
