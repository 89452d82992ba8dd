package ansible

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

// prefix marks the lines of the callback plugin.
const prefix = "vnf-event "

// event is a line of the callback plugin.
type event struct {
	Event   string           `json:"event"`
	Play    string           `json:"play"`
	Task    string           `json:"task"`
	Host    string           `json:"host"`
	Status  string           `json:"status"`
	Ignored bool             `json:"ignored"`
	Message string           `json:"message"`
	Stderr  string           `json:"stderr"`
	Stdout  string           `json:"stdout"`
	Left    int              `json:"left"`
	Hosts   map[string]stats `json:"hosts"`
}

// stats are Ansible's counts for a node.
type stats struct {
	Changed     int `json:"changed"`
	Failures    int `json:"failures"`
	Unreachable int `json:"unreachable"`
}

// journal collects the events of a playbook.
type journal struct {
	play Play
	// now is the current play and task.
	now struct{ play, task string }
	// stats are empty until the playbook has ended.
	stats map[string]stats
	// last is the last failure of each node, without ignored ones. A later play or block may still rescue the node.
	last map[string]Failure
	// noise is the end of the output without events.
	noise []string
}

// noiseLines is the number of lines of other output that an error may contain.
const noiseLines = 20

// other processes an output line that is not an event. The line is masked already.
func (j *journal) other(line string) {
	if strings.TrimSpace(line) == "" {
		return
	}
	j.noise = append(j.noise, line)
	j.noise = j.noise[max(len(j.noise)-noiseLines, 0):]
	j.tell(line)
}

// event processes an unmasked output line and reports whether it is an event. It masks the texts of the event, but not counts and
// names of nodes: names match the events of a node.
func (j *journal) event(line string) bool {
	encoded, ours := strings.CutPrefix(line, prefix)
	var e event
	if !ours || json.Unmarshal([]byte(encoded), &e) != nil {
		return false
	}
	for _, text := range []*string{&e.Play, &e.Task, &e.Message, &e.Stderr, &e.Stdout} {
		*text = j.play.Host.Mask(*text, j.play.Secrets...)
	}
	switch e.Event {
	case "play":
		j.now.play, j.now.task = e.Play, ""
		j.tell(fmt.Sprintf("PLAY [%s]", e.Play))
	case "task":
		j.now.task = e.Task
		j.tell(fmt.Sprintf("TASK [%s]", e.Task))
	case "nobody":
		j.tell("skipping: no node matches")
	case "retry":
		j.tell(fmt.Sprintf("retrying: [%s]: %d left", e.Host, e.Left))
	case "result":
		j.outcome(e)
	case "stats":
		maps.Copy(j.stats, e.Hosts)
	}
	return true
}

// outcome processes the result of a task on a node.
func (j *journal) outcome(e event) {
	switch e.Status {
	case "skipped":
	case "failed", "unreachable":
		f := Failure{Node: e.Host, Play: j.now.play, Task: e.Task, Unreachable: e.Status == "unreachable", Message: e.reason()}
		ignored := ""
		if e.Ignored {
			ignored = " (ignored)"
		} else {
			j.last[e.Host] = f
		}
		j.tell(fmt.Sprintf("%s: [%s]%s: %s", e.Status, e.Host, ignored, f.Message))
	default:
		j.tell(fmt.Sprintf("%s: [%s]", e.Status, e.Host))
	}
}

// reason is the message of a module, and the end of the output of its program.
func (e event) reason() string {
	parts := []string{strings.TrimSpace(e.Message)}
	if parts[0] == "" {
		parts[0] = "no reason was given"
	}
	output := cmp.Or(e.Stderr, e.Stdout)
	if output = strings.TrimSpace(output); output != "" && !strings.Contains(parts[0], output) {
		lines := strings.Split(output, "\n")
		parts = append(parts, lines[max(len(lines)-outputLines, 0):]...)
	}
	return strings.Join(parts, "\n")
}

// outputLines is the number of output lines of a program in an error.
const outputLines = 8

// tell reports a text line by line.
func (j *journal) tell(text string) {
	if j.play.Output == nil {
		return
	}
	for line := range strings.Lines(text) {
		j.play.Output(strings.TrimRight(line, "\r\n"))
	}
}

// where describes the current task, for errors.
func (j *journal) where() string {
	switch {
	case j.now.task != "":
		return fmt.Sprintf("at task %q of play %q", j.now.task, j.now.play)
	case j.now.play != "":
		return fmt.Sprintf("at play %q", j.now.play)
	default:
		return "before its first play"
	}
}

// result summarizes the run, also an interrupted one, which has no stats.
func (j *journal) result() Result {
	var r Result
	for _, node := range slices.Sorted(maps.Keys(j.stats)) {
		s := j.stats[node]
		if s.Changed > 0 {
			r.Changed = append(r.Changed, node)
		}
		if s.Failures > 0 || s.Unreachable > 0 {
			r.Failed = append(r.Failed, node)
		}
		if s.Unreachable > 0 {
			r.Unreachable = append(r.Unreachable, node)
		}
	}
	if len(j.stats) == 0 {
		r.Failed = slices.Sorted(maps.Keys(j.last))
	}
	return r
}

// failures are the last failures of the failed nodes, by name of the node. Failures of rescued nodes are left out.
func (j *journal) failures() []Failure {
	var out []Failure
	for _, node := range j.result().Failed {
		if f, ok := j.last[node]; ok {
			out = append(out, f)
		}
	}
	return out
}

// ownOutput is the error output of Ansible itself, for a failure outside a task.
func (j *journal) ownOutput(r remote.Result) string {
	var lines []string
	for _, line := range j.noise {
		if strings.Contains(r.Stderr, line) {
			lines = append(lines, line)
		}
	}
	text := strings.Join(lines, "\n")
	if at := strings.Index(text, errorMark); at >= 0 {
		text = text[at+len(errorMark):]
	}
	return text
}

// errorMark begins an error of Ansible. Warnings precede it.
const errorMark = "ERROR! "
