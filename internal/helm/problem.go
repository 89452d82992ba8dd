package helm

import (
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// location finds the template, line and column that errors of Helm name, in forms
// such as "execution error at (core/templates/amf.yaml:12:4): ..." and
// "YAML parse error on core/templates/amf.yaml: ...".
var location = lazyregexp.New(`[\w.-]+(?:/charts/[\w.-]+)*/templates/[\w./-]+?(?::(\d+))?(?::(\d+))?(?:\)|:|\s|$)`)

// executing is how text/template begins to say where it was, and included how Helm says it of a
// template that another one includes.
var (
	executing = lazyregexp.New(`^executing "[^"]*" at `)
	included  = lazyregexp.New(`^.*error calling (?:include|tpl): template: (\S+): executing "[^"]*" at (<.*?>)`)
)

// problem appends an error of Helm, at the place that it names.
func (c *Chart) problem(ps *vnfm.Problems, err error) {
	text := strings.Join(strings.Fields(err.Error()), " ")
	p := vnfm.Problem{File: c.path, Summary: text}
	if found := location.FindStringSubmatchIndex(text); found != nil {
		name, _, _ := strings.Cut(strings.TrimRight(text[found[0]:found[1]], ") :"), ":")
		p.File = c.place(name)
		p.Line, p.Column = number(text, found[2:4]), number(text, found[4:6])
		p.Summary = reason(text, found[0], found[1])
	}
	p.Summary = strings.TrimRight(p.Summary, ".:")
	*ps = append(*ps, p)
}

func number(text string, at []int) int {
	if at[0] < 0 {
		return 0
	}
	n, _ := strconv.Atoi(text[at[0]:at[1]])
	return n
}

// reason is what an error says besides the place.
func reason(text string, from, to int) string {
	before, after := strings.TrimSpace(strings.TrimRight(text[:from], "( ")), strings.TrimLeft(text[to:], "): ")
	for _, prefix := range []string{"execution error at", "parse error at", "template:"} {
		before = strings.TrimSpace(strings.TrimSuffix(before, prefix))
	}
	switch {
	case after == "":
		return before
	case before == "" && strings.HasPrefix(text, "parse error"):
		return "is not a valid template: " + after
	case before == "" && included.MatchString(after):
		return "the template fails at " + included.ReplaceAllString(after, "$2 of $1")
	case before == "" && executing.MatchString(after):
		return "the template fails at " + executing.ReplaceAllString(after, "")
	case before == "":
		return "the template fails: " + after
	case strings.HasPrefix(before, "YAML parse error on"):
		return "is not valid YAML once rendered: " + after
	default:
		return before + ": " + after
	}
}
