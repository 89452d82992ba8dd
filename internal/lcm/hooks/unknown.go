package hooks

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// unknown are the hooks of a flavour by the name of their management driver, where it is none of
// these drivers and none whose work the engine does.
func (d Drivers) unknown(f *vnfm.Flavour) map[string][]string {
	out := map[string][]string{}
	for _, hook := range slices.Sorted(maps.Keys(f.Operations)) {
		impl := f.Operations[hook]
		if impl.Artifact == "" || !isHook(hook) || inEngine[impl.Artifact] {
			continue
		}
		if _, driver := d.find(impl); driver == nil {
			out[impl.Artifact] = append(out[impl.Artifact], hook)
		}
	}
	return out
}

// Skipped are the unknown management drivers of a flavour whose hooks a request skips.
func (d Drivers) Skipped(f *vnfm.Flavour, policy vnfm.UnknownDrivers) []string {
	if policy != vnfm.UnknownDriversSkip {
		return nil
	}
	return slices.Sorted(maps.Keys(d.unknown(f)))
}

// checkUnknown reports the management drivers that are not known, all of them in one problem: an error, or a warning where the request
// skips their hooks.
func (d Drivers) checkUnknown(f *vnfm.Flavour, policy vnfm.UnknownDrivers, problems *vnfm.Problems) {
	unknown := d.unknown(f)
	if len(unknown) == 0 {
		return
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		lines = append(lines, strconv.Quote(name)+" for "+strings.Join(unknown[name], ", "))
	}
	named := strings.Join(lines, "; ")
	if policy == vnfm.UnknownDriversSkip {
		*problems = append(*problems, vnfm.Problem{
			Severity: vnfm.SeverityWarning,
			Summary:  "hooks of the VNFD are skipped, because their management drivers are not known: " + named,
			Detail:   "what these drivers do is not done: do it by other means where the VNF needs it",
		})
		return
	}
	*problems = append(*problems, vnfm.Problem{
		Summary: "the VNFD names management drivers that are not known: " + named,
		Detail: "a package's own Python classes are not run; the built-in management drivers, by name or type of the artifact, are " +
			vnfm.QuotedNames(slices.Concat(slices.Collect(maps.Keys(d)), slices.Collect(maps.Keys(inEngine)))) +
			`; unknown_management_drivers = "skip" goes on without these hooks`,
	})
}
