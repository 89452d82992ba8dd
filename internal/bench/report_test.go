//go:build linux

package bench

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// The steps in the life of a network function, as the table shows them.
const (
	stepStart    = "start, schema"
	stepEmpty    = "empty plan"
	stepVIM      = "VIM: apply"
	stepVIMPlan  = "VIM: plan"
	stepValidate = "validate"
	stepOnboard  = "onboard"
	stepApply    = "first apply"
	stepPlan     = "no-change plan"
	stepChange   = "change 10 %"
	// The two halves of a change, which Terraform does in processes of their own.
	stepChangePlan  = "- its plan"
	stepChangeApply = "- its apply"

	stepDrift   = "plan, one field drifted"
	stepRepair  = "repair of one field"
	stepScale   = "scale VDU +1"
	stepHeal    = "heal VDU"
	stepDestroy = "destroy"
)

// Who does the work.
const (
	byLoop      = "bare loop"
	byEngine    = "engine"
	byTerraform = "terraform"
	// byEmpty is terraform with a provider that does nothing.
	byEmpty = "terraform, empty"
	byHelm  = "helm"
)

// row is what one line of the table is about.
type row struct {
	// workload is for example "300" or "300, all VDUs"; empty for none.
	workload string
	n        int
	// instances is the size of a fleet; zero for a single instance.
	instances int
	step, by  string
}

// measure is one run of one step.
type measure struct {
	wall time.Duration
	// cpu is of the client and all that it started, provider that of the provider.
	cpu, provider time.Duration
	// peak and private are the largest VmHWM and RssAnon of a provider process, in bytes.
	peak    int64
	private int64
	started int
	calls   calls
	// chain is how many requests waited for one another, behind a slow network.
	chain int
	// state is the size of the state, in bytes, when the step left one.
	state int64
	// lag is how long it took to notice that the scaled VDU was ready.
	lag *time.Duration
}

// and is both runs, one after the other.
func (m measure) and(next measure) measure {
	next.wall += m.wall
	next.cpu += m.cpu
	next.provider += m.provider
	next.peak, next.private = max(next.peak, m.peak), max(next.private, m.private)
	next.started += m.started
	next.chain += m.chain
	next.calls = m.calls.and(next.calls)
	return next
}

// report collects measures in the order in which rows first appear.
type report struct {
	rows     []row
	measures map[row][]measure
	// changed is the number of changed objects by workload.
	changed map[string]int
}

func newReport() *report {
	return &report{measures: map[row][]measure{}, changed: map[string]int{}}
}

func (r *report) add(k row, m measure) {
	if _, ok := r.measures[k]; !ok {
		r.rows = append(r.rows, k)
	}
	r.measures[k] = append(r.measures[k], m)
}

// bars are what a step of the product may take; zero is no bar.
type bars struct {
	// wall is a bar of its own, floors one as a multiple of the floor.
	wall     time.Duration
	floors   float64
	requests int
	// noRequests is set when not one is allowed.
	noRequests bool
}

// barsOf are the bars for the product, and so for Terraform's rows.
func (r *report) barsOf(k row) bars {
	kinds := len(shares)
	if k.instances > 0 {
		if k.step == stepApply {
			return bars{floors: 1.5}
		}
		return bars{}
	}
	switch k.step {
	case stepStart:
		return bars{wall: 150 * time.Millisecond, noRequests: true}
	case stepValidate:
		return bars{noRequests: true}
	case stepApply:
		return bars{requests: k.n + 30, floors: 1.15}
	case stepPlan, stepDrift:
		b := bars{requests: 10 + kinds, floors: 1.3}
		if k.n > 300 {
			b.floors = 2
		}
		return b
	case stepChangePlan, stepChangeApply:
		// Each object that changes is tried once and applied once.
		return bars{requests: 10 + kinds + r.changed[k.workload]}
	case stepChange, stepRepair, stepScale, stepHeal:
		return bars{floors: 1.5}
	case stepDestroy:
		return bars{requests: k.n + 2*kinds + 15, floors: 1.25}
	default:
		return bars{}
	}
}

const (
	barPeak           = 60 << 20
	barStatePerObject = 150
	barLag            = 500 * time.Millisecond
)

var header = [...]string{
	"objects", "step", "by", "k", "median s", "min", "max", "to floor", "with plan", "bar s", "to bar",
	"requests", "bar", "chain", ">=400", "CPU s", "provider", "RSS MiB", "own", "starts", "B/object", "lag s",
}

// write prints the table, and for each row the requests by verb and resource.
func (r *report) write(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(cells ...string) { _, _ = fmt.Fprintln(t, strings.Join(cells, "\t")+"\t") }
	line(header[:]...)
	last := ""
	r.order()
	for _, k := range r.rows {
		if last != "" && last != k.workload+k.step {
			line(make([]string, len(header))...)
		}
		last = k.workload + k.step
		line(r.cells(k)...)
	}
	_ = t.Flush()
	_, _ = fmt.Fprintf(w, "\nfloor: the bare loop's median of the same step, and for terraform what it takes with a provider that does nothing besides.\n"+
		"with plan: the same for a command that plans first, where the loop's own plan is in the floor.\n"+
		"own: the memory of RSS MiB that is not pages of the program, which all its processes share.\n"+
		"The bar is that of the product: %d MiB of memory with 300 objects, %d bytes of state an object, %s of lag.\n"+
		"CPU of terraform rows: terraform and providers; of the others: this process.\n"+
		"Load average of the machine at the end: %s (%d CPUs). The API server shares it: trust ratios and counts when it is busy.\n\nRequests of the last run:\n",
		barPeak>>20, barStatePerObject, barLag, loadAverage(), runtime.NumCPU())
	for _, k := range r.rows {
		if m := r.measures[k]; m[len(m)-1].calls.total > 0 {
			_, _ = fmt.Fprintf(w, "%s %s, %s: %s\n", k.workload, k.step, k.by, m[len(m)-1].calls)
		}
	}
}

// steps are in the order of the table.
var steps = []string{
	stepEmpty, stepStart, stepVIM, stepVIMPlan,
	stepValidate, stepOnboard, stepApply, stepPlan, stepDrift, stepRepair, stepChange, stepChangePlan, stepChangeApply, stepScale, stepHeal, stepDestroy,
}

// order puts the subjects of a step side by side.
func (r *report) order() {
	var workloads []string
	for _, k := range r.rows {
		if !slices.Contains(workloads, k.workload) {
			workloads = append(workloads, k.workload)
		}
	}
	slices.SortStableFunc(r.rows, func(a, b row) int {
		if a.workload != b.workload {
			return slices.Index(workloads, a.workload) - slices.Index(workloads, b.workload)
		}
		return slices.Index(steps, a.step) - slices.Index(steps, b.step)
	})
}

func (r *report) cells(k row) []string {
	all := r.measures[k]
	walls := make([]time.Duration, 0, len(all))
	var m measure
	for _, one := range all {
		walls = append(walls, one.wall)
		m.cpu += one.cpu / time.Duration(len(all))
		m.provider += one.provider / time.Duration(len(all))
		m.peak, m.private = max(m.peak, one.peak), max(m.private, one.private)
		m.state = max(m.state, one.state)
		m.started = max(m.started, one.started)
		m.calls.total = max(m.calls.total, one.calls.total)
		m.calls.refused += one.calls.refused
		m.chain = max(m.chain, one.chain)
		if one.lag != nil && (m.lag == nil || *one.lag > *m.lag) {
			m.lag = one.lag
		}
	}
	slices.Sort(walls)
	var b bars
	if k.by == byTerraform {
		b = r.barsOf(k)
	}
	middle := median(walls)
	floor := r.floor(k)
	if b.floors > 0 && floor > 0 {
		b.wall = time.Duration(b.floors * float64(floor))
	}
	cells := []string{k.workload, k.step, k.by, fmt.Sprint(len(all)), seconds(middle), seconds(walls[0]), seconds(walls[len(walls)-1])}
	cells = append(cells, ratio(middle, floor), ratio(middle, r.floorWithPlan(k)), seconds(b.wall), ratio(middle, b.wall), fmt.Sprint(m.calls.total))
	switch {
	case b.noRequests:
		cells = append(cells, "0")
	case b.requests > 0:
		cells = append(cells, fmt.Sprint(b.requests))
	default:
		cells = append(cells, "")
	}
	optional := func(set bool, format string, value any) {
		text := ""
		if set {
			text = fmt.Sprintf(format, value)
		}
		cells = append(cells, text)
	}
	optional(m.chain > 0, "%d", m.chain)
	cells = append(cells, fmt.Sprint(m.calls.refused), seconds(m.cpu), seconds(m.provider))
	optional(m.peak > 0, "%.0f", float64(m.peak)/(1<<20))
	optional(m.private > 0, "%.0f", float64(m.private)/(1<<20))
	optional(m.started > 0, "%d", m.started)
	optional(m.state > 0 && k.n > 0, "%.0f", float64(m.state)/float64(max(k.n, 1)))
	if m.lag != nil {
		cells = append(cells, fmt.Sprintf("%.2f", m.lag.Seconds()))
	} else {
		cells = append(cells, "")
	}
	return cells
}

// floor is the bare loop's median for the same step, for Terraform that and the median of the empty provider; zero when there is
// none.
func (r *report) floor(k row) time.Duration {
	switch k.by {
	case byEmpty:
		return 0
	case byTerraform:
		loop, empty := r.medianOf(k, byLoop), r.medianOf(k, byEmpty)
		if empty == 0 {
			return 0
		}
		return loop + empty
	default:
		return r.medianOf(k, byLoop)
	}
}

// floorWithPlan is the floor of a command that plans before it applies: the loop looks at all objects as well. Zero for other steps.
func (r *report) floorWithPlan(k row) time.Duration {
	floor := r.floor(k)
	if k.by != byTerraform || floor == 0 || !slices.Contains([]string{stepRepair, stepChange, stepScale, stepHeal, stepDestroy}, k.step) {
		return 0
	}
	k.step = stepPlan
	return floor + r.medianOf(k, byLoop)
}

// medianOf is the median of a subject for the same step, zero without a measure.
func (r *report) medianOf(k row, by string) time.Duration {
	k.by = by
	all := r.measures[k]
	if len(all) == 0 {
		return 0
	}
	walls := make([]time.Duration, 0, len(all))
	for _, m := range all {
		walls = append(walls, m.wall)
	}
	slices.Sort(walls)
	return median(walls)
}

// median is the middle of sorted durations.
func median(sorted []time.Duration) time.Duration {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func seconds(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", d.Seconds())
}

func ratio(d, to time.Duration) string {
	if to == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", float64(d)/float64(to))
}
