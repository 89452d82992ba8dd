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

// prefix begins the lines of the plugin.
const prefix = "vnf-event "

// event is a line of the plugin.
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

// stats is what Ansible counts of a node.
type stats struct {
	Changed     int `json:"changed"`
	Failures    int `json:"failures"`
	Unreachable int `json:"unreachable"`
}

// journal follows a playbook.
type journal struct {
	play Play
	// now is the play and the task that Ansible is at.
	now struct{ play, task string }
	// stats are there when the playbook has ended.
	stats map[string]stats
	// last is the last failure of each node that was not to be ignored. A later play or
	// block may still rescue the node.
	last map[string]Failure
	// noise is the end of what is not an event.
	noise []string
}

// noiseLines is how much of what Ansible itself says is kept for an error.
const noiseLines = 20

// other takes a line of ansible-playbook that is not an event, masked.
func (j *journal) other(line string) {
	if strings.TrimSpace(line) == "" {
		return
	}
	j.noise = append(j.noise, line)
	j.noise = j.noise[max(len(j.noise)-noiseLines, 0):]
	j.tell(line)
}

// event takes a line that is an event, as the plugin wrote it, and reports whether it is one. Its texts are masked, its
// counts and the names of nodes, by which events belong together, are not.
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

// outcome takes what became of a task on a node.
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

// reason is what a module said: its message, and the end of what its program said.
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

// outputLines is how many lines of a program an error shows.
const outputLines = 8

// tell hands a line to the caller, in its lines.
func (j *journal) tell(text string) {
	if j.play.Output == nil {
		return
	}
	for line := range strings.Lines(text) {
		j.play.Output(strings.TrimRight(line, "\r\n"))
	}
}

// where is the task that Ansible was at.
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

// result sums up what happened, also when it was cut short.
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

// failures are those that the playbook failed for, in the order of the nodes.
func (j *journal) failures() []Failure {
	var out []Failure
	for _, node := range j.result().Failed {
		if f, ok := j.last[node]; ok {
			out = append(out, f)
		}
	}
	return out
}

// ownOutput is what Ansible itself said, for a failure that is of no task.
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

// errorMark begins what Ansible says of an error; warnings are before it.
const errorMark = "ERROR! "
