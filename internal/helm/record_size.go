package helm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// maxSecretData is how many bytes of data a Secret holds at most (MaxSecretSize of k8s.io/api/core/v1).
const maxSecretData = 1 << 20

// namedFiles is how many of a chart's files are named that make its record large.
const namedFiles = 3

// CheckRecord finds a revision whose record is too large for a Secret; nil for none. Helm keeps templates, files and values of the
// chart and all objects in it, compressed.
func (r *Rendering) CheckRecord() *vnfm.Problem {
	files := slices.Concat(r.chart.Templates, r.chart.Files)
	size := len(r.manifest())
	for _, f := range files {
		size += len(f.Data)
	}
	if size*3/2 < maxSecretData {
		// What cannot be compressed grows by a third.
		return nil
	}
	record, err := r.Release(1, time.Time{}, Deployed, "").Encode()
	if err != nil || len(record) <= maxSecretData {
		// What cannot be encoded is reported by the apply.
		return nil
	}
	slices.SortFunc(files, func(a, b *common.File) int { return cmp.Compare(len(b.Data), len(a.Data)) })
	largest := make([]string, 0, namedFiles)
	for _, f := range files[:min(namedFiles, len(files))] {
		largest = append(largest, fmt.Sprintf("%s (%d KiB)", f.Name, len(f.Data)>>10))
	}
	return &vnfm.Problem{
		File:    r.source.path,
		Summary: fmt.Sprintf("the record of the Helm release would have %d KiB, and a Secret holds %d KiB", len(record)>>10, maxSecretData>>10),
		Detail:  "it holds the chart and all objects, compressed; name in .helmignore what no template reads. The largest files are " + strings.Join(largest, ", "),
	}
}
