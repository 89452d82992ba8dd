package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/translate"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The parameters for charts in the first API of OpenStack Tacker. A chart in the package is accepted. A chart in a repository and
// several charts are rejected, with a proposal in the problem.
const (
	paramUseHelm       = "use_helm"
	paramInstall       = "using_helm_install_param"
	paramReplicaValues = "helm_replica_values"
)

// tackerParamReaders read these parameters. Parameters are read in alphabetical order: helm_chart_path and helm_release_name precede
// using_helm_install_param, which is checked against both.
var tackerParamReaders = map[string]func(p *chartParams, t *vnfm.Target, value any, ps *vnfm.Problems){
	paramUseHelm:       (*chartParams).readUseHelm,
	paramInstall:       (*chartParams).readInstall,
	paramReplicaValues: (*chartParams).readReplicaValues,
}

// readUseHelm checks that the value is true; read has already handled false.
func (p *chartParams) readUseHelm(_ *vnfm.Target, value any, ps *vnfm.Problems) {
	if !isTrue(value) {
		badParam(ps, paramUseHelm, "must be true or false", "")
	}
}

// isTrue reports whether a value is true or "true", the form in Tacker's requests.
func isTrue(value any) bool { return value == true || value == "true" }

// readInstall reads the list of charts to install, which must have one element.
func (p *chartParams) readInstall(t *vnfm.Target, value any, ps *vnfm.Problems) {
	list, ok := value.([]any)
	p.refused = true
	if !ok || len(list) == 0 {
		badParam(ps, paramInstall, "must be a list of one chart", "{ helmchartfile_path, helmreleasename, helmparameter }")
		return
	}
	if len(list) > 1 {
		badParam(ps, paramInstall, fmt.Sprintf("has %d charts, but an instance consists of one", len(list)),
			"give each chart an instance of its own, with these additional_params, the values of its helmparameter in "+paramValues+
				", and the entries of "+translate.ParamVDUMapping+" that are of its release:\n"+configurations(list))
		return
	}
	fields, _ := list[0].(map[string]any)
	if name, _ := fields["helmchartname"].(string); isTrue(fields["exthelmchart"]) {
		badParam(ps, paramInstall, fmt.Sprintf("names the chart %q of a repository", name),
			fmt.Sprintf("put it into the package (helm pull %s --repo with exthelmrepo_url) and give %s its path, %s the value of helmreleasename, and %s those of helmparameter",
				name, paramChart, ParamReleaseName, paramValues))
		return
	}
	p.refused = false
	p.translate(paramChart, "helmchartfile_path", fields, ps, func(value any, ps *vnfm.Problems) {
		p.readPath(t, value, ps)
		p.given = append(p.given, paramChart)
	})
	p.translate(ParamReleaseName, "helmreleasename", fields, ps, func(value any, ps *vnfm.Problems) { p.readRelease(t, value, ps) })
	if given, ok := fields["helmparameter"]; ok {
		p.readSettings(given, ps)
	}
}

// configurations writes the additional parameters of one instance for each chart. It leaves out helmparameter, which may contain
// secrets.
func configurations(list []any) string {
	var b strings.Builder
	for n, element := range list {
		fields, _ := element.(map[string]any)
		fmt.Fprintf(&b, "\n# instance %d\nadditional_params = {\n", n+1)
		for _, param := range []struct{ name, field string }{{paramChart, "helmchartfile_path"}, {ParamReleaseName, "helmreleasename"}} {
			if text, _ := fields[param.field].(string); text != "" {
				fmt.Fprintf(&b, "  %-17s = %q\n", param.name, text)
			}
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// translate reads a field of Tacker's as the equivalent parameter of the driver. Giving both is an error.
func (p *chartParams) translate(param, field string, fields map[string]any, ps *vnfm.Problems, read func(value any, ps *vnfm.Problems)) {
	value, ok := fields[field]
	if !ok {
		return
	}
	if slices.Contains(p.given, param) {
		badParam(ps, paramInstall, fmt.Sprintf("has %s, which contradicts %s", field, param), "keep one of them")
		return
	}
	var found vnfm.Problems
	read(value, &found)
	for _, f := range found {
		f.Key, f.Summary = paramInstall, strings.Replace(f.Summary, fmt.Sprintf("%q", param), fmt.Sprintf("%q (%s)", paramInstall, field), 1)
		*ps = append(*ps, f)
	}
}

// readSettings reads values in the syntax of helm --set. Values in helm_parameters take precedence.
func (p *chartParams) readSettings(value any, ps *vnfm.Problems) {
	list, ok := stringList(value)
	if !ok {
		badParam(ps, paramInstall, "has helmparameter, which must be a list of settings", `such as "service.port=8081"`)
		return
	}
	values := map[string]any{}
	for n, setting := range list {
		if name, text, _ := strings.Cut(setting, "="); text != "" && vnfm.NamesSecret(name) {
			p.shown = append(p.shown, fmt.Sprintf("%s[0].helmparameter[%d]", paramInstall, n))
		}
		if err := helm.ParseSetting(values, setting); err != nil {
			// The setting may be a secret.
			badParam(ps, paramInstall, fmt.Sprintf("has in helmparameter an element %d that cannot be read", n), `it must be as helm --set takes it, such as "service.port=8081"`)
		}
	}
	p.values = vnfm.MergeDeep(values, p.values)
}

// readReplicaValues reads {scaling aspect: value path}: the value is the count of each VDU that the aspect scales.
func (p *chartParams) readReplicaValues(t *vnfm.Target, value any, ps *vnfm.Problems) {
	entries, ok := value.(map[string]any)
	if !ok {
		//findings:says write a map; a variable for it needs a type, such as any or map(any)
		badParam(ps, paramReplicaValues, "must map scaling aspects to paths of values", notMap(value))
		return
	}
	if p.replicas == nil {
		p.replicas = map[string]string{}
	}
	for _, id := range slices.Sorted(maps.Keys(entries)) {
		name, _ := entries[id].(string)
		aspect := t.Flavour.Aspect(id)
		if aspect == nil {
			badParam(ps, paramReplicaValues, fmt.Sprintf("names a scaling aspect %q that deployment flavour %q does not have", id, t.Flavour.ID),
				"its scaling aspects are "+vnfm.QuotedNames(t.Flavour.AspectIDs()))
			continue
		}
		if err := helm.Set(map[string]any{}, name, 1); err != nil {
			badParam(ps, paramReplicaValues, fmt.Sprintf("names no value for scaling aspect %q", id), err.Error()+"; "+writePath)
			continue
		}
		for _, delta := range aspect.Deltas {
			for vdu := range delta {
				p.replicas[vdu] = name
			}
		}
	}
}
