package csar

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	// maxTextBytes bounds the files that are parsed as text. The largest manifests in use
	// have a few thousand entries, well below 1 MiB.
	maxTextBytes = 16 << 20
	// maxSources bounds the files that a manifest or TOSCA.meta lists, as DefaultLimits bounds those of a package.
	maxSources = 100_000
	// maxLines has room for as many files, with five lines each.
	maxLines = 5 * maxSources
)

// What to do about several findings.
const (
	fewerFiles = "pack small files into one"
	packAgain  = "the archive may be damaged: obtain or pack it again"
)

// line is one line of a manifest or of TOSCA.meta. Neither is a YAML document: their
// keys repeat, and the meaning of a line depends on those before it.
type line struct {
	// number counts from 1, offset is that of the first byte in the file.
	number, offset int
	text           string
}

// splitLines cuts at LF and drops a CR before it, a byte order mark and the empty
// rest behind a final newline.
func splitLines(data []byte) []line {
	var lines []line
	offset := 0
	if bytes.HasPrefix(data, []byte("\ufeff")) {
		offset = len("\ufeff")
	}
	for number := 1; offset < len(data); number++ {
		end := bytes.IndexByte(data[offset:], '\n')
		next := offset + end + 1
		if end < 0 {
			end, next = len(data)-offset, len(data)
		}
		lines = append(lines, line{number: number, offset: offset, text: strings.TrimSuffix(string(data[offset:offset+end]), "\r")})
		offset = next
	}
	return lines
}

// field is "key: value" with the columns of both, counted in characters from 1.
type field struct {
	key, value         string
	keyCol, valueCol   int
	line               int
	indented, listItem bool
}

// parseField splits a line at its first colon. The value loses surrounding space and
// one pair of quotes. A "- value" line is a list item without key. ok is false for a line
// that is neither.
func parseField(l line) (f field, ok bool) {
	body := strings.TrimLeft(l.text, " \t")
	start := len(l.text) - len(body)
	f = field{line: l.number, indented: start > 0, keyCol: column(l.text, start)}
	if item, isItem := strings.CutPrefix(body, "- "); isItem && !strings.Contains(item, ": ") {
		f.listItem = true
		f.setValue(l.text, start+2)
		return f, f.value != ""
	}
	colon := strings.IndexByte(body, ':')
	if colon <= 0 {
		return f, false
	}
	f.key = strings.TrimRight(body[:colon], " \t")
	if f.key == "" || strings.ContainsAny(f.key, " \t\"'/") {
		return f, false
	}
	f.setValue(l.text, start+colon+1)
	return f, true
}

func (f *field) setValue(text string, from int) {
	raw := text[from:]
	value := strings.TrimLeft(raw, " \t")
	f.valueCol = column(text, from+len(raw)-len(value))
	f.value = unquote(strings.TrimRight(value, " \t"))
}

func column(text string, offset int) int {
	return utf8.RuneCountInString(text[:offset]) + 1
}

func unquote(s string) string {
	if n := len(s); n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		return s[1 : n-1]
	}
	return s
}

func isComment(text string) bool {
	t := strings.TrimLeft(text, " \t")
	return t == "" || t[0] == '#'
}

// checkText refuses what is not text before a parser makes a hundred findings of it.
func checkText(file string, data []byte) vnfm.Problems {
	switch {
	case len(data) > maxTextBytes:
		return vnfm.Problems{{File: file, Summary: "the file is too large for a text of this kind", Detail: "make it smaller"}}
	case bytes.Count(data, []byte("\n")) > maxLines:
		return vnfm.Problems{{File: file, Line: maxLines + 1, Summary: "the file has " + (&budget.Error{Noun: "lines", Max: maxLines}).Error(), Detail: "make it shorter"}}
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}), bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		return vnfm.Problems{{File: file, Line: 1, Column: 1, Summary: "the file is UTF-16", Detail: "save it as UTF-8"}}
	}
	for _, l := range splitLines(data) {
		for i, r := range l.text {
			if r == utf8.RuneError && !strings.HasPrefix(l.text[i:], "\ufffd") {
				return vnfm.Problems{{File: file, Line: l.number, Column: column(l.text, i), Summary: "the file is not UTF-8 text", Detail: "save it as UTF-8"}}
			}
			if r < ' ' && r != '\t' || r == 0x7f {
				return vnfm.Problems{{
					File: file, Line: l.number, Column: column(l.text, i),
					Summary: "the file holds a control character", Detail: "this is a text file of \"key: value\" lines",
				}}
			}
		}
	}
	return nil
}

// maxFindings bounds the problems about one file: a file that is something else has one in every line.
const maxFindings = 100

// findings collects problems about one file.
type findings struct {
	file string
	list vnfm.Problems
	// errors are those in the list, left those that the list has no room for.
	errors int
	left   int
}

// problems returns the list, with a last problem that counts those that are left out.
func (fs *findings) problems() vnfm.Problems {
	if fs.left > 0 {
		severity := vnfm.SeverityWarning
		if fs.errors > 0 {
			severity = vnfm.SeverityError
		}
		fs.list = append(fs.list, vnfm.Problem{
			Severity: severity, File: fs.file, Summary: fmt.Sprintf("%d more problems in this file are not listed", fs.left), Detail: "correct those above, then check again",
		})
		fs.left = 0
	}
	return fs.list
}

func (fs *findings) add(s vnfm.Severity, line, col int, summary, detail string) {
	if s == vnfm.SeverityError {
		fs.errors++
	}
	// An error takes a place that warnings do not get: half of the list is kept for errors.
	if len(fs.list) >= maxFindings || s != vnfm.SeverityError && len(fs.list) >= maxFindings/2 {
		fs.left++
		return
	}
	fs.list = append(fs.list, vnfm.Problem{Severity: s, File: fs.file, Line: line, Column: col, Summary: budget.Clip(summary), Detail: budget.Clip(detail)})
}

func (fs *findings) err(line, col int, summary, detail string) {
	fs.add(vnfm.SeverityError, line, col, summary, detail)
}

func (fs *findings) warn(line, col int, summary, detail string) {
	fs.add(vnfm.SeverityWarning, line, col, summary, detail)
}
