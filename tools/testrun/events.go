package main

import (
	"bufio"
	"bytes"
	"io"
	"regexp"
	"strings"
	"time"
)

// The ways in which a test ends.
const (
	passed  = "pass"
	failed  = "fail"
	skipped = "skip"
)

// result is the end of one test or subtest.
type result struct {
	outcome string
	elapsed time.Duration
}

// reader follows the output of a test binary that was started with -test.v=test2json: a control character stands before
// each line of the framework, wherever the output of the test left the cursor.
type reader struct {
	current string
	// results holds the tests that began; one that has not ended has no outcome.
	results map[string]result
	output  map[string]*bytes.Buffer
	// began is called with each top-level test that begins, ended with the one that ends.
	began, ended func(test, outcome string)
}

// marker precedes the lines of the framework; the other two stand around what t.Error says.
const (
	marker       = "\x16"
	errorMarkers = "\x0e\x0f"
)

var (
	turn = regexp.MustCompile(`^=== (RUN|PAUSE|CONT|NAME)\s+(\S*)`)
	end  = regexp.MustCompile(`^\s*--- (PASS|FAIL|SKIP|BENCH): (\S+) \(([0-9.]+)s\)`)
)

func newReader() *reader {
	return &reader{results: map[string]result{}, output: map[string]*bytes.Buffer{}}
}

// read follows the output to its end.
func (r *reader) read(from io.Reader) error {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			r.line(line)
		}
		if err == io.EOF { //nolint:errorlint // bufio returns it as it is.
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *reader) line(line string) {
	if at := strings.Index(line, marker); at >= 0 {
		if text := line[:at]; strings.TrimSpace(text) != "" {
			r.keep(text + "\n")
		}
		line = line[at+len(marker):]
		if r.frame(line) {
			return
		}
	}
	r.keep(line)
}

// frame takes in a line of the framework.
func (r *reader) frame(line string) bool {
	if m := turn.FindStringSubmatch(line); m != nil {
		r.current = m[2]
		if m[1] == "RUN" {
			r.results[m[2]] = result{}
			if r.began != nil && !strings.Contains(m[2], "/") {
				r.began(m[2], "")
			}
		}
		return true
	}
	m := end.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	elapsed, _ := time.ParseDuration(m[3] + "s")
	outcome := map[string]string{"PASS": passed, "FAIL": failed, "SKIP": skipped, "BENCH": passed}[m[1]]
	r.results[m[2]] = result{outcome: outcome, elapsed: elapsed}
	r.current = m[2]
	if r.ended != nil && !strings.Contains(m[2], "/") {
		r.ended(m[2], outcome)
	}
	return true
}

func (r *reader) keep(text string) {
	text = strings.Map(func(c rune) rune {
		if strings.ContainsRune(errorMarkers, c) {
			return -1
		}
		return c
	}, text)
	out := r.output[r.current]
	if out == nil {
		out = &bytes.Buffer{}
		r.output[r.current] = out
	}
	out.WriteString(text)
}

// finish gives tests that never ended their outcome: the process ended first.
func (r *reader) finish() {
	for name, got := range r.results {
		if got.outcome == "" {
			r.results[name] = result{outcome: failed, elapsed: got.elapsed}
		}
	}
}

// failures are the tests that failed themselves, not through a subtest.
func (r *reader) failures() []string {
	var out []string
	for name, got := range r.results {
		if got.outcome != failed {
			continue
		}
		inner := false
		for other, o := range r.results {
			inner = inner || (o.outcome == failed && strings.HasPrefix(other, name+"/"))
		}
		if !inner {
			out = append(out, name)
		}
	}
	return out
}

// top is the top-level test that a test belongs to.
func top(test string) string {
	name, _, _ := strings.Cut(test, "/")
	return name
}
