package vnfm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Severity tells whether a Problem stops the work.
type Severity int

const (
	// SeverityError stops: the package or the request cannot be used.
	SeverityError Severity = iota
	// SeverityWarning is reported and worked around.
	SeverityWarning
)

// Problem is one finding in a package, a descriptor or a request, with the place
// where it was found as precisely as it is known.
type Problem struct {
	Severity Severity
	// File is the path inside the package; Line and Column count from 1, 0 is unknown.
	File   string
	Line   int
	Column int
	// Attribute is the argument of a request that is wrong ("scale_levels",
	// "readiness.0.kind"), Key the key inside it when it is a map; both empty for
	// findings in files.
	Attribute string
	Key       string
	// Field is the argument inside the entry Key; empty for the entry itself.
	Field string
	// Rule is the id of the rule of a standard that the finding is about; empty for findings about anything else.
	Rule string
	// Summary is one clause without final period; Detail says what to do.
	Summary string
	Detail  string
}

// Location renders file:line:column as far as it is known.
func (p Problem) Location() string {
	switch {
	case p.File == "":
		return ""
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	default:
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
}

// String renders the problem on one line.
func (p Problem) String() string {
	var b strings.Builder
	if loc := p.Location(); loc != "" {
		b.WriteString(loc)
		b.WriteString(": ")
	}
	b.WriteString(p.Summary)
	if p.Detail != "" {
		b.WriteString(": ")
		b.WriteString(p.Detail)
	}
	return b.String()
}

// QuotedNames renders names for a message: sorted, quoted, "none" when there are none.
func QuotedNames(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	sorted := slices.Sorted(slices.Values(names))
	for i, n := range sorted {
		sorted[i] = strconv.Quote(n)
	}
	return strings.Join(sorted, ", ")
}

// Rule is a rule of a standard that packages and descriptors are held against.
type Rule struct {
	// ID is stable over the versions of the provider.
	ID string `json:"id"`
	// Title is what the rule asks for, one clause without final period.
	Title string `json:"title"`
	// Clause is where the standard has it: a clause of SOL004, or the type of SOL001 whose clause it is, because SOL001 counts its
	// clauses anew in each release.
	Clause string `json:"clause"`
}

// Problems is a list of findings in the order of their discovery.
type Problems []Problem

// Errorf appends an error without a detail.
func (ps *Problems) Errorf(file string, line, column int, format string, args ...any) {
	*ps = append(*ps, Problem{File: file, Line: line, Column: column, Summary: fmt.Sprintf(format, args...)})
}

// Invalid appends an error about an argument: what is wrong with it, and what to do.
func (ps *Problems) Invalid(attribute, summary, detail string) {
	*ps = append(*ps, Problem{Attribute: attribute, Summary: summary, Detail: detail})
}

// Warnf appends a warning without a detail.
func (ps *Problems) Warnf(file string, line, column int, format string, args ...any) {
	*ps = append(*ps, Problem{Severity: SeverityWarning, File: file, Line: line, Column: column, Summary: fmt.Sprintf(format, args...)})
}

// During runs a step that finds problems, and gives those the rule that they are about.
func (ps *Problems) During(rule string, step func()) {
	before := len(*ps)
	step()
	(*ps)[min(before, len(*ps)):].Under(rule)
}

// Under gives those of the problems that have no rule yet the one that they are about.
func (ps Problems) Under(rule string) {
	for i := range ps {
		if ps[i].Rule == "" {
			ps[i].Rule = rule
		}
	}
}

// HasErrors reports whether one of the problems stops the work.
func (ps Problems) HasErrors() bool {
	return slices.ContainsFunc(ps, func(p Problem) bool { return p.Severity == SeverityError })
}

// Capped returns at most that many problems and one more, which says how many are left out. It
// puts the errors first where it leaves something out, so that warnings hide none.
func (ps Problems) Capped(most int) Problems {
	if len(ps) <= most {
		return ps
	}
	var list, warnings Problems
	for _, p := range ps {
		if p.Severity == SeverityError {
			list = append(list, p)
		} else {
			warnings = append(warnings, p)
		}
	}
	errors := max(0, len(list)-most)
	list = append(list, warnings...)
	rest := Problem{File: list[most].File}
	switch left := len(list) - most; errors {
	case 0:
		rest.Severity = SeverityWarning
		rest.Summary = fmt.Sprintf("further warnings are not listed: %d", left)
	case left:
		rest.Summary = fmt.Sprintf("further errors are not listed: %d", errors)
	default:
		rest.Summary = fmt.Sprintf("further problems are not listed: errors %d, warnings %d", errors, left-errors)
	}
	for _, p := range list[most:] {
		if p.File != rest.File {
			rest.File = ""
		}
	}
	return append(list[:most:most], rest)
}

// Err returns the errors as one error, or nil when there is none.
func (ps Problems) Err() error {
	if !ps.HasErrors() {
		return nil
	}
	return &InvalidError{Problems: ps}
}

// Invalid returns the error that an argument is wrong, and what to do.
func Invalid(attribute, summary, detail string) error {
	return &InvalidError{Problems: Problems{{Attribute: attribute, Summary: summary, Detail: detail}}}
}

// InvalidError says that a package, descriptor or request cannot be used, and why.
type InvalidError struct {
	Problems Problems
}

func (e *InvalidError) Error() string {
	lines := make([]string, 0, len(e.Problems))
	for _, p := range e.Problems {
		if p.Severity == SeverityError {
			lines = append(lines, p.String())
		}
	}
	return strings.Join(lines, "\n")
}
