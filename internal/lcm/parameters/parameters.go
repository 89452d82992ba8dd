// Package parameters knows which infra driver takes which additional parameter of an instance,
// and finds those that no driver of the instance takes. Drivers declare their parameters and
// know nothing of each other's.
package parameters

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// neverRun are parameters by which requests for OpenStack Tacker name Python classes of a
// package, for any kind of infrastructure.
var neverRun = []string{
	"lcm-operation-user-data", "lcm-operation-user-data-class",
	"lcm-operation-coordinate-new-vnf", "lcm-operation-coordinate-new-vnf-class",
	"lcm-operation-coordinate-old-vnf", "lcm-operation-coordinate-old-vnf-class",
}

// Takes returns whether a driver takes an additional parameter of an instance of a package: one of its own, or one that the package
// declares for it. The package is read when a name first asks for it, and takes every name when it cannot be read.
func Takes(ctx context.Context, d vnfm.InfraDriver, p *vnfm.Package, f *vnfm.Flavour) func(name string) bool {
	own := d.Params()
	ofPackage := sync.OnceValues(func() ([]string, bool) {
		if p == nil || f == nil {
			return nil, false
		}
		return d.PackageParams(ctx, p, f)
	})
	return func(name string) bool {
		if slices.Contains(own.Names, name) || slices.Contains(own.Translated, name) {
			return true
		}
		names, ok := ofPackage()
		return !ok || slices.Contains(names, name)
	}
}

// Table is which driver takes which additional parameter, over all drivers of the provider.
type Table struct {
	infra []vnfm.InfraParams
	// management are the management drivers by parameter, as problems refer to them.
	management map[string]string
}

// NewTable makes the table of infra drivers, and of management drivers by their names.
func NewTable(infra []vnfm.InfraDriver, management map[string]vnfm.ManagementDriver) *Table {
	t := &Table{management: map[string]string{}}
	for _, d := range infra {
		t.infra = append(t.infra, d.Params())
	}
	for _, driver := range slices.Sorted(maps.Keys(management)) {
		for _, name := range management[driver].Params() {
			if other := t.management[name]; other != "" {
				t.management[name] = other + " or " + strconv.Quote(driver)
				continue
			}
			t.management[name] = "management driver " + strconv.Quote(driver)
		}
	}
	return t
}

// Request is what the additional parameters of an instance are for.
type Request struct {
	Package *vnfm.Package
	Flavour *vnfm.Flavour
	// Drivers are those of the instance's VIMs, the own VIM's first.
	Drivers []vnfm.InfraDriver
	// Params are without those of management drivers. Secrets are merged over them.
	Params, Secrets map[string]any
	// Skipped are unknown management drivers whose hooks are skipped. Nobody knows the names of their parameters.
	Skipped []string
}

// driver is an infra driver of an instance.
type driver struct {
	vnfm.InfraParams
	vnfm.InfraDriver
	takes func(name string) bool
}

// Check finds parameters that no driver of an instance takes, and warns of those that are of other kinds of infrastructure, or need
// nothing to be done: one request works for several kinds.
func (t *Table) Check(ctx context.Context, r *Request) vnfm.Problems {
	var drivers []driver
	for _, d := range r.Drivers {
		own := d.Params()
		if !slices.ContainsFunc(drivers, func(other driver) bool { return other.Driver == own.Driver }) {
			drivers = append(drivers, driver{own, d, Takes(ctx, d, r.Package, r.Flavour)})
		}
	}
	var problems vnfm.Problems
	ignored := map[string]string{}
	skipped := "skipped with management driver " + vnfm.QuotedNames(r.Skipped)
	names := vnfm.MergeDeep(r.Params, r.Secrets)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		refuse := func(summary, detail string) {
			problems = append(problems, vnfm.Problem{
				Attribute: r.attributeOf(name), Key: name, Summary: "additional parameter " + strconv.Quote(name) + " " + summary, Detail: detail,
			})
		}
		switch reason := t.ignored(drivers, name); {
		case t.isNamespace(name) && drivers[0].Namespace == "" && !drivers[0].takes(name):
			refuse("is for the VIM of the instance, which has no namespaces", "remove it; the namespace of a VIM connection is given in "+vnfm.AttributeConnections)
		case slices.ContainsFunc(drivers, func(d driver) bool { return d.takes(name) }):
		case reason != "":
			ignored[name] = reason
		case t.management[name] != "":
			refuse("is not supported by "+namesOf(drivers), "it is a parameter of "+t.management[name]+", which the VNFD names for no hook")
		default:
			known, like := t.known(ctx, drivers, name, r)
			if len(r.Skipped) > 0 && like == "" {
				ignored[name] = skipped
				continue
			}
			//findings:says use one of the names that the detail lists
			refuse("is not known", known)
		}
	}
	return append(problems, warning(drivers, ignored, r)...)
}

// attributeOf is the argument that gives a parameter.
func (r *Request) attributeOf(name string) string {
	if _, plain := r.Params[name]; plain {
		return vnfm.AttributeParams
	}
	return vnfm.AttributeSecretParams
}

// isNamespace reports whether a parameter gives the namespace of an instance on some kind of infrastructure.
func (t *Table) isNamespace(name string) bool {
	return name != "" && slices.ContainsFunc(t.infra, func(d vnfm.InfraParams) bool { return d.Namespace == name })
}

// ignored says why a parameter that no driver of an instance takes needs nothing to be done; empty when that is not so.
func (t *Table) ignored(drivers []driver, name string) string {
	var reasons []string
	for _, d := range drivers {
		if reason := d.Ignored[name]; reason != "" && !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	if len(reasons) > 0 {
		return strings.Join(reasons, ", and ")
	}
	if slices.Contains(neverRun, name) {
		return "Python classes of a package are never run"
	}
	for _, d := range t.infra {
		if _, ignores := d.Ignored[name]; ignores || slices.Contains(d.Names, name) || slices.Contains(d.Translated, name) {
			return "a parameter of " + d.Driver
		}
	}
	return ""
}

// known says which parameters the drivers of an instance take, and returns the one that a mistyped name may mean.
func (t *Table) known(ctx context.Context, drivers []driver, name string, r *Request) (text, like string) {
	var all, texts []string
	for _, d := range drivers {
		ofPackage, _ := d.PackageParams(ctx, r.Package, r.Flavour)
		names := slices.Concat(d.Names, ofPackage)
		all = append(all, names...)
		texts = append(texts, d.Driver+" knows "+strings.Join(names, ", "))
	}
	text = strings.Join(texts, "; ")
	if like = vnfm.Nearest(name, all); like != "" {
		text = "did you mean " + strconv.Quote(like) + "? " + strings.ToUpper(text[:1]) + text[1:]
	}
	return text, like
}

// namesOf are drivers as problems refer to them.
func namesOf(drivers []driver) string {
	var names []string
	for _, d := range drivers {
		names = append(names, d.Driver)
	}
	return strings.Join(names, " and ")
}

// warning warns once of all parameters that are ignored.
func warning(drivers []driver, reasons map[string]string, r *Request) vnfm.Problems {
	if len(reasons) == 0 {
		return nil
	}
	attribute := vnfm.AttributeSecretParams
	byReason := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		byReason[reasons[name]] = append(byReason[reasons[name]], name)
		if _, plain := r.Params[name]; plain {
			attribute = vnfm.AttributeParams
		}
	}
	lines := make([]string, 0, len(byReason))
	for reason, names := range byReason {
		lines = append(lines, strings.Join(names, ", ")+": "+reason)
	}
	slices.Sort(lines)
	verb := "ignores"
	if len(drivers) > 1 {
		verb = "ignore"
	}
	return vnfm.Problems{{
		Severity: vnfm.SeverityWarning, Attribute: attribute,
		//findings:says they have no effect: remove them
		Summary: fmt.Sprintf("%s %s additional parameters %s", namesOf(drivers), verb, vnfm.QuotedNames(slices.Collect(maps.Keys(reasons)))),
		Detail:  strings.Join(lines, "; "),
	}}
}
