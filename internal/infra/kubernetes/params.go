package kubernetes

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The additional parameters that the driver knows, by the names of OpenStack Tacker.
const (
	paramFiles      = "lcm-kubernetes-def-files"
	paramNamespace  = "namespace"
	paramVDUMapping = "vdu_mapping"
)

// paramsElsewhere are names that users of Tacker know and that mean something to
// another driver only, each group with the reason why not to this one.
var paramsElsewhere = []struct {
	reason string
	names  []string
}{
	{
		"charts are given by helm_chart_path, helm_parameters and helm_value_names",
		[]string{"helm_replica_values", "use_helm", "using_helm_install_param"},
	},
	{"every change of the package is rolled out as the update strategy of each workload says", []string{"upgrade_type"}},
	{"a change of the package is applied to all objects that it changes, not to named VDUs", []string{"vdu_params"}},
	{"clusters are not installed by the Kubernetes driver", []string{"k8s_cluster_installation_param"}},
	{"registries are not installed by the Kubernetes driver", []string{"private_registry_installation_param"}},
	{"parameters of Heat templates are used by the OpenStack driver only", []string{"nfv"}},
	{
		"Python classes of a package are never run",
		[]string{
			"lcm-operation-user-data", "lcm-operation-user-data-class",
			"lcm-operation-coordinate-new-vnf", "lcm-operation-coordinate-new-vnf-class",
			"lcm-operation-coordinate-old-vnf", "lcm-operation-coordinate-old-vnf-class",
		},
	},
}

// notHere returns the reason why the driver does not use a parameter that others do.
func notHere(key string) (reason string, ok bool) {
	for _, group := range paramsElsewhere {
		if slices.Contains(group.names, key) {
			return group.reason, true
		}
	}
	return "", false
}

// workloadRef names the object that a VDU is.
type workloadRef struct {
	kind, name string
}

// params are the additional parameters as the driver understands them.
type params struct {
	files     []string
	namespace string
	mapping   map[string]workloadRef
	chart     chartParams
}

// readParams checks the additional parameters of an instance against the package.
func readParams(t *vnfm.Target, ps *vnfm.Problems) params {
	out := params{files: t.Package.KubernetesFiles}
	if !t.Instance.Links.IsZero() {
		*ps = append(*ps, vnfm.Problem{
			Attribute: "ext_virtual_links", Summary: "networks cannot be given to an instance on Kubernetes",
			Detail: "what pods are connected to besides the network of the cluster is said by the package, with network attachments; leave ext_virtual_links and ext_managed_virtual_links out",
		})
	}
	for _, key := range sortedKeys(t.Instance.AdditionalParams) {
		value := t.Instance.AdditionalParams[key]
		switch key {
		case paramFiles:
			out.files = readFiles(t, value, ps)
		case paramNamespace:
			out.namespace = readNamespace(t, value, ps)
		case paramVDUMapping:
			out.mapping = readMapping(t, value, ps)
		default:
			if out.chart.read(t, key, value, ps) {
				continue
			}
			unknownParam(ps, key)
		}
	}
	readSecrets(t, &out, ps)
	return out
}

// readSecrets reads the secret parameters: those that say what the instance consists of are
// none, since the plan shows it.
func readSecrets(t *vnfm.Target, out *params, ps *vnfm.Problems) {
	for _, key := range sortedKeys(t.SecretParams) {
		_, ofChart := chartParamReaders[key]
		switch {
		case key == paramValues:
			out.chart.readSecretValues(t.SecretParams[key], ps)
			if !slices.Contains(out.chart.given, key) {
				out.chart.given = append(out.chart.given, key)
			}
		case ofChart || slices.Contains(ownParams, key):
			*ps = append(*ps, vnfm.Problem{
				Attribute: vnfm.AttributeSecretParams, Key: key, Summary: fmt.Sprintf("additional parameter %q cannot be secret", key),
				Detail: "the plan shows what follows from it; of the parameters of the Kubernetes driver additional_params_wo takes " + paramValues,
			})
		default:
			unknownParam(ps, key)
		}
	}
}

// ownParams are the parameters that are not those of a chart.
var ownParams = []string{paramFiles, paramNamespace, paramVDUMapping}

func unknownParam(ps *vnfm.Problems, key string) {
	if reason, ok := notHere(key); ok {
		badParam(ps, key, "is not supported by the Kubernetes driver", reason)
		return
	}
	known := append(sortedKeys(chartParamReaders), ownParams...)
	badParam(ps, key, "is not known", "the Kubernetes driver knows "+strings.Join(known, ", "))
}

func badParam(ps *vnfm.Problems, key, summary, detail string) {
	*ps = append(*ps, vnfm.Problem{
		Attribute: vnfm.AttributeParams,
		Key:       key,
		Summary:   fmt.Sprintf("additional parameter %q %s", key, summary),
		Detail:    detail,
	})
}

// readFiles reads the list of manifest files; every one must be in the package.
func readFiles(t *vnfm.Target, value any, ps *vnfm.Problems) []string {
	list, ok := texts(value)
	if !ok || len(list) == 0 {
		badParam(ps, paramFiles, "must be a list of paths in the package, with one at least", "")
		return nil
	}
	var out []string
	for _, file := range list {
		switch clean := path.Clean(file); {
		case strings.Contains(file, "://"):
			badParam(ps, paramFiles, "names a URL", fmt.Sprintf("put the file behind %q into the package", file))
		case !fs.ValidPath(clean):
			badParam(ps, paramFiles, "names a path outside of the package", fmt.Sprintf("%q must be relative to the root of the package", file))
		case slices.Contains(out, clean):
			badParam(ps, paramFiles, "names a file twice", fmt.Sprintf("%q", file))
		case !isFile(t.Package.Content, clean):
			badParam(ps, paramFiles, "names a file that is not in the package", missingFile(t.Package, file))
		default:
			out = append(out, clean)
		}
	}
	return out
}

func isFile(fsys fs.FS, file string) bool {
	info, err := fs.Stat(fsys, file)
	return err == nil && info.Mode().IsRegular()
}

// missingFile says which manifests the package has.
func missingFile(p *vnfm.Package, file string) string {
	if len(p.KubernetesFiles) == 0 {
		return fmt.Sprintf("%q; the package lists no Kubernetes manifest", file)
	}
	return fmt.Sprintf("%q; its Kubernetes manifests are %s", file, strings.Join(p.KubernetesFiles, ", "))
}

// texts accepts a list of texts as it comes from JSON or from Go.
func texts(value any) ([]string, bool) {
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
		badParam(ps, paramNamespace, "contradicts the argument namespace", fmt.Sprintf("%q and %q; give one of them", name, t.Instance.Namespace))
	}
	return name
}

// readMapping reads {vdu id: {kind, name}}.
func readMapping(t *vnfm.Target, value any, ps *vnfm.Problems) map[string]workloadRef {
	entries, ok := value.(map[string]any)
	if !ok {
		badParam(ps, paramVDUMapping, "must map VDU ids to { kind, name }", "")
		return nil
	}
	out := make(map[string]workloadRef, len(entries))
	for _, id := range sortedKeys(entries) {
		if t.Flavour.VDU(id) == nil {
			badParam(ps, paramVDUMapping, fmt.Sprintf("names a VDU %q that deployment flavour %q does not have", id, t.Flavour.ID), "its VDUs are "+strings.Join(t.Flavour.VDUIDs(), ", "))
			continue
		}
		fields, ok := entries[id].(map[string]any)
		if !ok {
			badParam(ps, paramVDUMapping, fmt.Sprintf("must be { kind, name } for VDU %q", id), "")
			continue
		}
		valid := true
		for _, field := range sortedKeys(fields) {
			if field != "kind" && field != "name" {
				detail := "only kind and name are known"
				if field == "helmreleasename" {
					detail += "; the name of the release is " + paramRelease
				}
				badParam(ps, paramVDUMapping, fmt.Sprintf("has an unknown field %q for VDU %q", field, id), detail)
				valid = false
			}
		}
		kind, _ := fields["kind"].(string)
		name, _ := fields["name"].(string)
		if kind == "" || name == "" {
			badParam(ps, paramVDUMapping, fmt.Sprintf("must give kind and name for VDU %q", id), "")
			valid = false
		}
		if valid {
			out[id] = workloadRef{kind: kind, name: name}
		}
	}
	return out
}

// namespaceOf returns the namespace of namespaced objects that name none.
func namespaceOf(t *vnfm.Target) string {
	if t.Instance.Namespace != "" {
		return t.Instance.Namespace
	}
	if name, ok := t.Instance.AdditionalParams[paramNamespace].(string); ok && name != "" {
		return name
	}
	return t.VIM.DefaultNamespace()
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
