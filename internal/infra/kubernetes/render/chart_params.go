package render

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The additional parameters of a Helm chart; the first three have Tacker's names.
const (
	paramChart       = "helm_chart_path"
	paramValues      = "helm_parameters"
	paramValueNames  = "helm_value_names"
	ParamReleaseName = "helm_release_name"
	paramKubeVersion = "helm_kube_version"
	paramAPIVersions = "helm_api_versions"
	paramTest        = "helm_test"
)

type chartParams struct {
	// given are the parameters that are set, in order.
	given []string
	path  string
	// values override the chart's own values; secrets are merged into values.
	values, secrets map[string]any
	// replicas maps VDU ids to the paths of the values for their counts.
	replicas    map[string]string
	release     string
	kubeVersion string
	apiVersions []string
	tested      bool
	// refused is set when the request for a chart is invalid and was reported.
	refused bool
	// shown are the settings of using_helm_install_param whose names are names of secrets (vnfm.NamesSecret).
	shown []string
}

var chartParamReaders = map[string]func(p *chartParams, t *vnfm.Target, value any, ps *vnfm.Problems){
	paramChart:       (*chartParams).readPath,
	paramValues:      (*chartParams).readValues,
	paramValueNames:  (*chartParams).readValueNames,
	ParamReleaseName: (*chartParams).readRelease,
	paramKubeVersion: (*chartParams).readKubeVersion,
	paramAPIVersions: (*chartParams).readAPIVersions,
	paramTest:        (*chartParams).readTest,
}

// read reads a parameter of a chart and ignores all others.
func (p *chartParams) read(t *vnfm.Target, key string, value any, ps *vnfm.Problems) {
	reader, ok := chartParamReaders[key]
	if !ok {
		if off, isText := value.(string); key == paramUseHelm && (value == false || isText && off == "false") {
			return
		}
		reader, ok = tackerParamReaders[key]
	}
	if ok {
		p.given = append(p.given, key)
		reader(p, t, value, ps)
	}
}

func (p *chartParams) readPath(t *vnfm.Target, value any, ps *vnfm.Problems) {
	file, ok := value.(string)
	if !ok || file == "" {
		badParam(ps, paramChart, "must be the path of a chart in the package", "")
		return
	}
	switch clean, ok := packagePath(paramChart, "chart", file, ps); {
	case !ok:
	case !helm.IsChart(t.Package.Content, clean):
		badParam(ps, paramChart, "names no chart of the package", fmt.Sprintf("%q is neither a .tgz file nor a directory with Chart.yaml; %s", file, chartsOf(t.Package)))
	default:
		p.path = clean
	}
}

// chartsOf lists the charts of a package, for problems.
func chartsOf(p *vnfm.Package) string {
	charts := chartPaths(p)
	if len(charts) == 0 {
		return "the package has no chart"
	}
	return "its charts are " + strings.Join(charts, ", ")
}

// chartPaths are the paths of the charts of a package.
func chartPaths(p *vnfm.Package) []string {
	var charts []string
	inside := func(file string) bool {
		return slices.ContainsFunc(charts, func(c string) bool { return strings.HasPrefix(file, c+"/") })
	}
	files := slices.Clone(p.Files)
	slices.SortFunc(files, func(a, b vnfm.PackageFile) int { return strings.Count(a.Path, "/") - strings.Count(b.Path, "/") })
	for _, f := range files {
		switch {
		case inside(f.Path):
		case path.Base(f.Path) == "Chart.yaml":
			charts = append(charts, path.Dir(f.Path))
		case helm.IsChart(p.Content, f.Path):
			charts = append(charts, f.Path)
		}
	}
	slices.Sort(charts)
	return charts
}

func (p *chartParams) readValues(_ *vnfm.Target, value any, ps *vnfm.Problems) {
	p.values = readValues(vnfm.AttributeParams, value, ps)
}

func (p *chartParams) readSecretValues(value any, ps *vnfm.Problems) {
	p.secrets = readValues(vnfm.AttributeSecretParams, value, ps)
}

// writePath is the remedy for a path that leads to no value.
const writePath = "write the path of a value as helm --set does"

// readValues reads the values in helm_parameters of an argument.
func readValues(attribute string, value any, ps *vnfm.Problems) map[string]any {
	refuse := func(summary, detail string) {
		*ps = append(*ps, vnfm.Problem{Attribute: attribute, Key: paramValues, Summary: fmt.Sprintf("additional parameter %q %s", paramValues, summary), Detail: detail})
	}
	entries, ok := value.(map[string]any)
	if !ok {
		//findings:says write a map; a variable for it needs a type, such as any or map(any)
		refuse("must map values of the chart, or their paths, to the wanted values", notMap(value))
		return nil
	}
	values, err := helm.Values(entries)
	if err != nil {
		//findings:says write paths as helm --set does
		refuse("has a key that cannot be used", err.Error())
		return nil
	}
	return values
}

// readValueNames reads {vdu id: {replica: value path}}.
func (p *chartParams) readValueNames(t *vnfm.Target, value any, ps *vnfm.Problems) {
	entries, ok := value.(map[string]any)
	if !ok {
		//findings:says write a map; a variable for it needs a type, such as any or map(any)
		badParam(ps, paramValueNames, "must map VDU ids to { replica }", notMap(value))
		return
	}
	if p.replicas == nil {
		p.replicas = make(map[string]string, len(entries))
	}
	for _, id := range slices.Sorted(maps.Keys(entries)) {
		if !hasVDU(t.Flavour, paramValueNames, id, ps) {
			continue
		}
		fields, _ := entries[id].(map[string]any)
		name, _ := fields["replica"].(string)
		if name == "" || len(fields) != 1 {
			badParam(ps, paramValueNames, fmt.Sprintf("must be { replica = path of a value } for VDU %q", id), "")
			continue
		}
		if err := helm.Set(map[string]any{}, name, 1); err != nil {
			badParam(ps, paramValueNames, fmt.Sprintf("names no value for VDU %q", id), err.Error()+"; "+writePath)
			continue
		}
		p.replicas[id] = name
	}
}

func (p *chartParams) readRelease(_ *vnfm.Target, value any, ps *vnfm.Problems) {
	name, _ := value.(string)
	if !helm.ValidReleaseName(name) {
		badParam(ps, ParamReleaseName, "must be a valid name of a Helm release", "lower case letters, digits, hyphens and dots, 53 at most")
		return
	}
	p.release = name
}

func (p *chartParams) readTest(_ *vnfm.Target, value any, ps *vnfm.Problems) {
	tested, ok := value.(bool)
	if !ok {
		badParam(ps, paramTest, "must be true or false", "")
	}
	p.tested = tested
}

func (p *chartParams) readKubeVersion(_ *vnfm.Target, value any, ps *vnfm.Problems) {
	version, _ := value.(string)
	if !helm.ValidKubeVersion(version) {
		badParam(ps, paramKubeVersion, "must be a version of Kubernetes", "such as 1.33.2, in quotes; without it the chart is rendered for "+helm.AssumedKubernetes)
		return
	}
	p.kubeVersion = version
}

func (p *chartParams) readAPIVersions(_ *vnfm.Target, value any, ps *vnfm.Problems) {
	versions, ok := stringList(value)
	if !ok {
		badParam(ps, paramAPIVersions, "must be a list of API versions", "such as monitoring.coreos.com/v1; those of Kubernetes itself need not be given")
		return
	}
	p.apiVersions = versions
}

// valuesFor returns the values, with secrets and the counts of the target, and the paths of the secrets.
func (p *chartParams) valuesFor(t *vnfm.Target, ps *vnfm.Problems) (values map[string]any, secrets [][]string) {
	values = vnfm.MergeDeep(p.values, p.secrets)
	secrets = vnfm.Changed(p.values, values)
	for _, id := range slices.Sorted(maps.Keys(p.replicas)) {
		p.warnCountValue(t, id, ps)
		if err := helm.Set(values, p.replicas[id], t.Counts[id]); err != nil {
			badParam(ps, paramValueNames, fmt.Sprintf("cannot set the count of VDU %q", id), err.Error()+"; name a value that is a number in the chart")
		}
	}
	return values, secrets
}
