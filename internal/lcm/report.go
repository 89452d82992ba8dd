package lcm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	// evidencePatience bounds what an operation that has failed asks its VIMs for its report.
	evidencePatience = 15 * time.Second
	// maxReport bounds a report in the store, maxReportText one of its texts, both in bytes.
	maxReport, maxReportText = 256 << 10, 96 << 10
	// A timeline keeps its first and its last lines, each up to some bytes.
	firstLines, lastLines, maxTimelineLine = 40, 160, 500
)

// evidence is what an operation collects for a report while it runs.
type evidence struct {
	mu       sync.Mutex
	timeline []vnfm.ReportLine
	// target is the last one that a driver worked on.
	target *vnfm.Target
	driver vnfm.InfraDriver
	// taken is set once a report was made: what is rolled back afterwards is none of it.
	taken bool
}

// note adds a line to the timeline. Waits say several in a second, and one often.
func (e *evidence) note(line string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now().UTC()
	if last := len(e.timeline) - 1; last >= 0 {
		if e.timeline[last].Text == line {
			return
		}
		if last >= firstLines && now.Sub(e.timeline[last].At) < progressInterval {
			e.timeline = e.timeline[:last]
		}
	}
	e.timeline = append(e.timeline, vnfm.ReportLine{At: now, Text: cutText(line, maxTimelineLine)})
	if len(e.timeline) > firstLines+lastLines {
		e.timeline = slices.Delete(e.timeline, firstLines, firstLines+1)
	}
}

// works notes that a driver begins to work on a target.
func (o *operation) works(step string, t *vnfm.Target, d vnfm.InfraDriver) {
	o.evidence.note(step)
	o.evidence.mu.Lock()
	defer o.evidence.mu.Unlock()
	o.evidence.target, o.evidence.driver = t, d
}

// takeReport stores what is known of an operation that has failed, once. The cluster changes later, and a rollback removes what
// has failed. A user who interrupts is not kept waiting: then no VIM is asked. A report that cannot be made fails nothing.
func (e *Engine) takeReport(ctx context.Context, op *operation, cause error) {
	op.evidence.mu.Lock()
	taken, t, d := op.evidence.taken, op.evidence.target, op.evidence.driver
	op.evidence.taken = true
	report := &vnfm.Report{Timeline: slices.Clone(op.evidence.timeline)}
	op.evidence.mu.Unlock()
	if taken || leaseLost(cause) {
		return
	}
	late := context.WithoutCancel(ctx)
	interrupted := errors.Is(ctx.Err(), context.Canceled)
	if t != nil && !interrupted {
		asking, cancel := context.WithTimeout(late, evidencePatience)
		report.Sections = append(e.witnessed(asking, op, t, cause), rendered(asking, t, d)...)
		cancel()
	}
	at := time.Now().UTC()
	report.Operation, report.Instance, report.Runner, report.TakenAt = op.snapshot(), op.instance.Value.Name, process.Describe(process.Name()), at
	report.Operation.Notes, report.Operation.ReportedAt = nil, at
	report.Error = cause.Error()
	clean(report, op.concealed)
	writing, written := records.Detached(ctx)
	defer written()
	if storeReport(writing, op.store, report) == nil {
		op.mu.Lock()
		op.occ.Value.ReportedAt = at
		op.mu.Unlock()
	}
}

// witnessed asks the VIMs of an instance about its objects.
func (e *Engine) witnessed(ctx context.Context, op *operation, t *vnfm.Target, cause error) (out []vnfm.ReportSection) {
	if errors.As(cause, new(*vnfm.UnreachableError)) || t.VIM == nil {
		return nil
	}
	op.mu.Lock()
	inventory, connections := slices.Clone(op.instance.Value.Inventory), maps.Clone(op.instance.Value.Connections)
	op.mu.Unlock()
	items := map[string][]vnfm.InventoryItem{}
	for _, item := range inventory {
		if item.Addon == "" {
			items[item.Connection] = append(items[item.Connection], item)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(items)) {
		v, credentials := t.VIM, t.Credentials
		if name != "" {
			var err error
			if v, credentials, err = t.Access(ctx, connections[name].VIMID); err != nil {
				continue
			}
		}
		if d, err := e.vims.Driver(v.Type); err == nil {
			if w, ok := d.(vnfm.Witness); ok {
				out = append(out, w.Evidence(ctx, v, credentials, items[name])...)
			}
		}
	}
	return out
}

// rendered are the objects that a driver was to make, with the values of Secrets masked.
func rendered(ctx context.Context, t *vnfm.Target, d vnfm.InfraDriver) []vnfm.ReportSection {
	if t.Package == nil || t.Flavour == nil {
		return nil
	}
	r, _ := d.Render(ctx, t)
	if r == nil || len(r.Contents) == 0 {
		return nil
	}
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(r.Contents)) {
		text.WriteString("# " + key + "\n" + strings.TrimRight(r.Contents[key], "\n") + "\n---\n")
	}
	return []vnfm.ReportSection{{Title: "Rendered objects", Text: text.String()}}
}

// clean takes secrets out of a report and bounds it. Secrets go first: one that is cut in two is not found.
func clean(r *vnfm.Report, concealed *vnfm.Concealed) {
	bound := func(text string, limit int) string {
		short := cutText(concealed.Hide(text), limit)
		r.Cut = r.Cut || strings.HasSuffix(short, cutMark)
		return short
	}
	r.Error = bound(r.Error, maxReportText/3)
	r.Operation.Error, r.Operation.Progress = bound(cmp.Or(r.Operation.Error, r.Error), maxReportText/3), bound(r.Operation.Progress, maxTimelineLine)
	for i := range r.Sections {
		// A log or an object may have secrets that were not given as such: they are known by their names.
		r.Sections[i].Text = bound(vnfm.HideNamedLines(r.Sections[i].Text), maxReportText)
	}
}

// cutMark ends what was cut.
const cutMark = "\n… (cut)"

func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + cutMark
}

// storeReport puts a report in the place of an earlier one of the same operation. Sections are left out, the last ones first, until it is
// small enough.
func storeReport(ctx context.Context, s store.Store, r *vnfm.Report) error {
	for {
		data, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if len(data) <= maxReport || len(r.Sections) == 0 {
			break
		}
		r.Sections, r.Cut = r.Sections[:len(r.Sections)-1], true
	}
	en := &records.Entry[vnfm.Report]{Rec: store.Record{Kind: store.KindReport, ID: r.Operation.ID, Owner: r.Operation.InstanceID}, Value: *r}
	err := en.Create(ctx, s)
	if !errors.Is(err, store.ErrExists) {
		return err
	}
	if err := s.Delete(ctx, store.KindReport, en.Rec.ID); err != nil {
		return err
	}
	return en.Create(ctx, s)
}

// removeOperation removes the record of an operation with its report.
func removeOperation(ctx context.Context, s store.Store, rec store.Record) error {
	var op vnfm.Operation
	if json.Unmarshal(rec.Data, &op) == nil && !op.ReportedAt.IsZero() {
		if err := s.Delete(ctx, store.KindReport, rec.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	if err := s.Delete(ctx, store.KindOperation, rec.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return nil
}
