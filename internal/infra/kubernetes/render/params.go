package render

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/translate"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Additional parameters of the driver, with OpenStack Tacker's names.
const (
	paramFiles     = "lcm-kubernetes-def-files"
	paramNamespace = "namespace"
)

// driverName is the name of the driver in problems.
const driverName = "the Kubernetes driver"

// Params declares the additional parameters of the driver.
func Params() vnfm.InfraParams {
	return vnfm.InfraParams{
		Driver: driverName, Names: append(slices.Sorted(maps.Keys(chartParamReaders)), ownParams...), Translated: slices.Sorted(maps.Keys(tackerParamReaders)),
		Ignored: map[string]string{
			"upgrade_type": "every change of the package is rolled out as the update strategy of each workload says",
			"vdu_params":   "a change of the package is applied to all objects that it changes, not to named VDUs",
		},
		Namespace: paramNamespace, ChartValues: paramValues, ChartKubernetesVersion: paramKubeVersion, Manifests: true,
	}
}

// params are the additional parameters after reading.
type params struct {
	files     []string
	namespace string
	mapping   map[string]translate.WorkloadRef
	ignored   map[string][]string
	chart     chartParams
}

// readParams checks the additional parameters of an instance against the package.
func readParams(t *vnfm.Target, ps *vnfm.Problems) params {
	out := params{files: t.Package.KubernetesFiles}
	if !t.Instance.Links.IsZero() {
		*ps = append(*ps, vnfm.Problem{
			Attribute: vnfm.AttributeExternalLinks, Summary: "networks cannot be given to an instance on Kubernetes",
			Detail: "the package connects pods to further networks, with network attachments; remove ext_virtual_links and ext_managed_virtual_links",
		})
	}
	for _, key := range slices.Sorted(maps.Keys(t.Instance.AdditionalParams)) {
		value := t.Instance.AdditionalParams[key]
		switch key {
		case paramFiles:
			out.files = readFiles(t, value, ps)
		case paramNamespace:
			out.namespace = readNamespace(t, value, ps)
		case paramIgnore:
			out.ignored = readIgnored(value, ps)
		case translate.ParamVDUMapping:
			out.mapping = readVDUMapping(t, value, &out.chart, ps)
		default:
			out.chart.read(t, key, value, ps)
		}
	}
	readSecrets(t, &out, ps)
	return out
}

// readSecrets reads the secret parameters. Parameters that select the objects of the instance cannot be secret, because the plan
// shows these objects.
func readSecrets(t *vnfm.Target, out *params, ps *vnfm.Problems) {
	for _, key := range slices.Sorted(maps.Keys(t.SecretParams)) {
		_, ofChart := chartParamReaders[key]
		_, ofTacker := tackerParamReaders[key]
		switch {
		case key == paramValues:
			out.chart.readSecretValues(t.SecretParams[key], ps)
			if !slices.Contains(out.chart.given, key) {
				out.chart.given = append(out.chart.given, key)
			}
		case ofChart || ofTacker || slices.Contains(ownParams, key):
			*ps = append(*ps, vnfm.Problem{
				Attribute: vnfm.AttributeSecretParams, Key: key, Summary: fmt.Sprintf("additional parameter %q cannot be secret", key),
				Detail: "the plan shows its effects; of the parameters of the Kubernetes driver additional_params_wo accepts " + paramValues,
			})
		}
	}
}

// ownParams are the parameters that do not concern a chart.
var ownParams = []string{paramIgnore, paramFiles, paramNamespace, translate.ParamVDUMapping}

func badParam(ps *vnfm.Problems, key, summary, detail string) {
	*ps = append(*ps, vnfm.Problem{
		Attribute: vnfm.AttributeParams,
		Key:       key,
		Summary:   fmt.Sprintf("additional parameter %q %s", key, summary),
		Detail:    detail,
	})
}

// notMap describes the type of a parameter that must be a map. Terraform converts the value of a variable without a type into a
// string.
func notMap(value any) string {
	switch value.(type) {
	case string:
		return "it is a string: write a map; a variable for it needs a type, such as any or map(any)"
	case []any:
		return "it is a list"
	case bool:
		return "it is a boolean"
	case nil:
		return "it is null"
	default:
		return "it is a number"
	}
}

// readFiles reads the list of manifest files, each of which must be in the package.
func readFiles(t *vnfm.Target, value any, ps *vnfm.Problems) []string {
	list, ok := stringList(value)
	if !ok || len(list) == 0 {
		badParam(ps, paramFiles, "must be a list of paths in the package, with at least one", "")
		return nil
	}
	var out []string
	for _, file := range list {
		if strings.Contains(file, "://") && slices.Contains(t.Package.KubernetesFiles, file) && !slices.Contains(out, file) {
			// Onboarding has fetched this external artifact.
			out = append(out, file)
			continue
		}
		switch clean, ok := packagePath(paramFiles, "file", file, ps); {
		case !ok:
		case slices.Contains(out, clean):
			//findings:says name it once
			badParam(ps, paramFiles, "names a file twice", fmt.Sprintf("%q", file))
		case !isFile(t.Package.Content, clean):
			badParam(ps, paramFiles, "names a file that is not in the package", missingFile(t.Package, file))
		default:
			out = append(out, clean)
		}
	}
	return out
}

// packagePath checks and cleans a path in the package; the parameter what is a noun for problems.
func packagePath(param, what, file string, ps *vnfm.Problems) (clean string, ok bool) {
	switch clean = path.Clean(file); {
	case strings.Contains(file, "://"):
		detail := fmt.Sprintf("put the %s at %q into the package", what, file)
		if param == paramFiles {
			detail += ", or have its manifest declare Source, Algorithm and Hash of it and set external_artifacts of the vnf_package"
		}
		badParam(ps, param, "names a URL", detail)
	case !fs.ValidPath(clean):
		badParam(ps, param, "names a path outside of the package", fmt.Sprintf("%q must be relative to the root of the package", file))
	default:
		return clean, true
	}
	return "", false
}

// hasVDU checks that the flavour has the VDU in a parameter.
func hasVDU(f *vnfm.Flavour, param, id string, ps *vnfm.Problems) bool {
	vdus := f.VDUIDs()
	if slices.Contains(vdus, id) {
		return true
	}
	badParam(ps, param, fmt.Sprintf("names a VDU %q that deployment flavour %q does not have", id, f.ID), "its VDUs are "+strings.Join(vdus, ", "))
	return false
}

func isFile(fsys fs.FS, file string) bool {
	info, err := fs.Stat(fsys, file)
	return err == nil && info.Mode().IsRegular()
}

// missingFile lists the manifests of the package, for problems.
func missingFile(p *vnfm.Package, file string) string {
	if len(p.KubernetesFiles) == 0 {
		return fmt.Sprintf("%q; the package lists no Kubernetes manifest", file)
	}
	return fmt.Sprintf("%q; its Kubernetes manifests are %s", file, strings.Join(p.KubernetesFiles, ", "))
}

// stringList accepts a list of non-empty strings from JSON, or a list of strings from Go.
func stringList(value any) ([]string, bool) {
	switch list := value.(type) {
	case []string:
		return list, true
	case []any:
		out := make([]string, 0, len(list))
		for _, item := range list {
			text, ok := item.(string)
			if !ok || text == "" {
				return nil, false
			}
			out = append(out, text)
		}
		return out, true
	default:
		return nil, false
	}
}

func readNamespace(t *vnfm.Target, value any, ps *vnfm.Problems) string {
	name, ok := value.(string)
	if !ok || len(validation.IsDNS1123Label(name)) > 0 {
		badParam(ps, paramNamespace, "must be the name of a namespace", "lower case letters, digits and hyphens, 63 at most")
		return ""
	}
	if t.Instance.Namespace != "" && t.Instance.Namespace != name {
		badParam(ps, paramNamespace, "contradicts the argument namespace", fmt.Sprintf("%q and %q; keep one of them", name, t.Instance.Namespace))
	}
	return name
}

// InstanceNamespace returns the namespace of objects that name none.
func InstanceNamespace(t *vnfm.Target) string {
	if t.Instance.Namespace != "" {
		return t.Instance.Namespace
	}
	if name, ok := t.Instance.AdditionalParams[paramNamespace].(string); ok && name != "" {
		return name
	}
	return t.VIM.DefaultNamespace()
}
