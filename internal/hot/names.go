package hot

import (
	"fmt"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/yamlpos"
)

// named reports parameters and resources that a template refers to and does not have. A copied resource may be named with the number of
// a VNFC, as the stack names it; nameOf is its name in the template.
func (l *loader) named(t *template, nameOf func(resource string) string) {
	has := func(resource string) bool {
		_, ok := t.section("resources")[nameOf(resource)]
		return ok
	}
	for _, section := range []string{"resources", "outputs", "conditions"} {
		visit(t.body[section], []yamlpos.Step{step(section)}, func(way []yamlpos.Step, name string, arg any) bool {
			if l.spent(l.b.Steps(costOf(arg)), t.at(way)) {
				return false
			}
			to := target(arg)
			switch {
			case to == "":
			case name == fnParam && !t.declares(to):
				l.refuse(t.at(way), "get_param names %q, which is not among the parameters of the template", to)
			case (name == fnResource || name == fnAttr) && !has(to):
				l.refuse(t.at(way), "%s: %s names %q, which is not a resource of the template", within(way), name, to)
			}
			return true
		})
	}
	for _, name := range sorted(t.section("resources")) {
		for i, to := range dependsOn(mapOf(t.section("resources")[name])) {
			at := t.at([]yamlpos.Step{step("resources"), step(name), step("depends_on"), item(i)})
			if l.spent(l.b.Steps(costOf(to)), at) {
				return
			}
			if !has(to) {
				l.refuse(at, "resource %s: depends_on names %q, which is not a resource of the template", name, to)
			}
		}
	}
}

// within names the part of a template that a way begins with.
func within(way []yamlpos.Step) string {
	if len(way) < 2 {
		return way[0].Key
	}
	return strings.TrimSuffix(way[0].Key, "s") + " " + way[1].Key
}

func (t *template) declares(parameter string) bool {
	_, ok := t.section("parameters")[parameter]
	return ok || strings.HasPrefix(parameter, "OS::")
}

// Unused warns of the parameters that no function of their template reads.
func (s *Source) Unused() vnfm.Problems {
	var ps vnfm.Problems
	templates := []*template{s.top}
	for _, name := range sorted(s.nested) {
		templates = append(templates, s.nested[name])
	}
	for _, t := range templates {
		read := map[string]bool{nfv: true}
		visit(t.body, nil, func(_ []yamlpos.Step, name string, arg any) bool {
			read[target(arg)] = read[target(arg)] || name == fnParam
			return true
		})
		for _, name := range sorted(t.section("parameters")) {
			if at := t.place("parameters", name); !read[name] {
				ps = append(ps, vnfm.Problem{
					Severity: vnfm.SeverityWarning, File: at.File, Line: at.Line, Column: at.Column,
					Summary: fmt.Sprintf("the template does not use its parameter %q", name), Detail: "remove it, or read it with get_param",
				})
			}
		}
	}
	return ps
}
