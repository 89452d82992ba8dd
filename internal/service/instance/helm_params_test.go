package instance_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// chartBadInputs are refused by the chart or are not parameters of one, among them
// those that Tacker has and the Kubernetes driver has not.
func chartBadInputs(t testing.TB) map[string]badInput {
	source := examplePackage(t, "ims-helm")
	chart := func(param string, texts ...string) badInput {
		return badInput{source: source, arguments: params(param), want: texts}
	}
	return map[string]badInput{
		"absent":     {arguments: params(`helm_chart_path = "Files/chart"`), want: want(`Additional parameter "helm_chart_path" names no chart of the package`, `"Files/chart" is neither a .tgz file nor a directory with Chart.yaml; the package has no chart.`)},
		"none":       {arguments: params(`helm_parameters = { a = 1 }`), want: want(`Additional parameter "helm_parameters" is for a chart, but the VNFD names none`)},
		"schema":     {source: ims(t), arguments: params(`helm_parameters = { "cscf.domain" = "IMS" }`), want: want(`The value cscf.domain of the chart ims is rejected by ` + imsChart + `values.schema.json: 'IMS' does not match pattern`)},
		"value":      {source: ims(t), arguments: params(`helm_parameters = { "cscf.size" = 1 }`), want: want(`The value cscf of the chart ims is rejected by`, `additional properties 'size' not allowed`)},
		"name":       {source: ims(t), arguments: params(`helm_value_names = { cscf = { replica = "hss.replicas" } }`) + "\n  scale_levels = { calls = 1 }", want: want(`Additional parameter "helm_value_names" names a value "hss.replicas" that is not the count of VDU "cscf"`, `-cscf (`+imsChart+`templates/cscf.yaml) has 1 replicas.`)},
		"template":   {source: ims(t, inChart("templates/cscf.yaml", "name: {{ .Release.Name }}-cscf\n  labels", "name: {{ required \"a name is needed\" .Values.cscf.name }}\n  labels")), want: want(`The template fails: a name is needed`, `At `+imsChart+`templates/cscf.yaml:4:11.`)},
		"test":       chart(`helm_test = "yes"`, `Additional parameter "helm_test" must be true or false`),
		"path":       chart(`helm_chart_path = "Files/ims.tgz"`, `Additional parameter "helm_chart_path" names no chart of the package`, `"Files/ims.tgz" is neither a .tgz file nor a directory with Chart.yaml; its charts are Artifacts/Charts/ims.`),
		"url":        chart(`helm_chart_path = "https://charts.example.com/ims.tgz"`, `Additional parameter "helm_chart_path" names a URL`, `Put the chart at "https://charts.example.com/ims.tgz" into the package.`),
		"values":     chart(`helm_parameters = "cscf.replicas=2"`, `Additional parameter "helm_parameters" must map values of the chart, or their paths, to the wanted values`),
		"type":       chart(`helm_parameters = { "cscf.registrations" = "2" }`, `The value cscf.registrations of the chart ims is rejected by Artifacts/Charts/ims/values.schema.json: got string, want integer`),
		"names":      chart(`helm_value_names = { sbc = { replica = "sbc.replicas" } }`, `Additional parameter "helm_value_names" names a VDU "sbc" that deployment flavour "default" does not have`, `Its VDUs are cscf, hss.`),
		"replica":    chart(`helm_value_names = { cscf = { count = "cscf.replicas" } }`, `Additional parameter "helm_value_names" must be { replica = path of a value } for VDU "cscf"`),
		"count":      chart(`helm_value_names = { hss = { replica = "cscf.registrations" } }, helm_parameters = { "hss.replicas" = 3 }`, `Additional parameter "helm_value_names" names a value "cscf.registrations" that is not the count of VDU "hss"`, `With that value at 1, apps/v1/StatefulSet `, `-hss (Artifacts/Charts/ims/charts/hss/templates/hss.yaml) has 3 replicas.`),
		"v1_values":  chart(`helm_replica_values = { sbc = "cscf.replicas" }`, `Additional parameter "helm_replica_values" names a scaling aspect "sbc" that deployment flavour "default" does not have`, `Its scaling aspects are "calls".`),
		"v1_charts":  chart(`using_helm_install_param = [{ exthelmchart = "true", helmchartname = "ims", exthelmrepo_url = "https://charts.example.com" }]`, `Additional parameter "using_helm_install_param" names the chart "ims" of a repository`, `give helm_chart_path its path`),
		"v1_mapping": chart(`vdu_mapping = { cscf = { kind = "Deployment", name = "test-cscf", helmreleasename = "test" } }`, `Additional parameter "vdu_mapping" has an unknown field "helmreleasename" for VDU "cscf"`, `Only kind and name are known; the name of the release is helm_release_name.`),
		"version":    chart(`helm_kube_version = "1.24.0"`, `The chart ims is for Kubernetes >= 1.25.0-0, and is rendered for v1.24.0`, `At Artifacts/Charts/ims/Chart.yaml.`, `Set the parameter helm_kube_version to render the chart for another version.`),
	}
}

// TestAccInstance_helmTackerParams gives a chart's parameters as Tacker's users know
// them: a chart of the package, values by their paths, and the counts of two VDUs, one
// of them in a sub-chart. Then an element of a list gets a password, which is nowhere but in
// the Secret that the chart makes of it.
func TestAccInstance_helmTackerParams(t *testing.T) {
	env := newEnv(t)
	replicas := func(vdu string, n int64) plancheck.PlanCheck {
		return plancheck.ExpectKnownValue(address, tfjsonpath.New("vnfc_counts").AtMapKey(vdu), knownvalue.Int64Exact(n))
	}
	source := ims(t, chartFile("templates/registries.yaml", `{{- range .Values.registries }}
---
apiVersion: v1
kind: Secret
metadata: { name: {{ $.Release.Name }}-{{ .name }} }
stringData: { login: "{{ .user }}:{{ .password }}" }
{{- end }}
`), packedChart)
	config := func(arguments ...string) string {
		return env.store.Config(acctest.VIM(env, env.lab, "test"), pkg(source), env.instanceWith(append(arguments, "namespace = null", `additional_params = {
			namespace        = "`+env.namespace+`"
			helm_chart_path  = "Files/ims.tgz"
			helm_parameters  = { registries = [{ name = "one", user = "ims" }], "cscf.domain" = "ims.example.org", "cscf.registrations" = 500, "image.tag" = "2.0.0", "hss.image" = "registry.example.com/hss:3" }
			helm_value_names = { cscf = { replica = "cscf.replicas" }, hss = { replica = "hss.replicas" } }
			vdu_mapping      = { cscf = { kind = "Deployment", name = "test-cscf" } }
		}`)...))
	}
	secret := func(password string, version int) string {
		return fmt.Sprintf("additional_params_wo = { helm_parameters = { registries = [{ name = \"one\", password = %q }] } }\n  additional_params_wo_version = %d", password, version)
	}
	login := func(password string) resource.TestCheckFunc {
		return env.expectKubectl("ims:"+password, "get", "secret", "test-one", "-o", "go-template={{ .data.login | base64decode }}")
	}
	env.run(t,
		resource.TestStep{
			Config:            config(),
			ConfigPlanChecks:  resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{replicas("cscf", 1), replicas("hss", 1)}},
			ConfigStateChecks: []statecheck.StateCheck{instantiated(), value("namespace", knownvalue.StringExact(env.namespace))},
			Check: allChecks(env.checkBackend(), env.history("1 deployed"),
				env.expectKubectl("ims.example.org 500", "get", "configmap", "test-cscf", "-o", "jsonpath={.data.domain} {.data.capacity}"),
				env.expectKubectl("registry.example.com/ims/cscf:2.0.0", "get", "deployment", "test-cscf", "-o", "jsonpath={.spec.template.spec.containers[0].image}"),
				env.expectKubectl("registry.example.com/hss:3", "get", "statefulset", "test-hss", "-o", "jsonpath={.spec.template.spec.containers[0].image}")),
		},
		resource.TestStep{
			Config:            config("scale_levels = { calls = 3 }"),
			ConfigPlanChecks:  resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{replicas("cscf", 4), replicas("hss", 1)}},
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check: allChecks(env.checkBackend(), env.history("1 superseded", "2 deployed"),
				env.expectKubectl("2000", "get", "configmap", "test-cscf", "-o", "jsonpath={.data.capacity}"),
				env.expectKubectl("4", "get", "deployment", "test-cscf", "-o", "jsonpath={.status.readyReplicas}")),
		},
		resource.TestStep{
			Config:            config("scale_levels = { calls = 3 }", secret("planted-one", 1)),
			ConfigPlanChecks:  resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate)}, PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check:             allChecks(env.checkBackend(), env.history("1 superseded", "2 superseded", "3 deployed"), login("planted-one"), expectConcealed(env.store, "planted-one")),
		},
		resource.TestStep{RefreshState: true},
		resource.TestStep{
			// A change shows in the plan by what is made of it.
			Config:             config("scale_levels = { calls = 3 }", secret("planted-two", 1)),
			PlanOnly:           true,
			ExpectNonEmptyPlan: true,
		},
		updated(config("scale_levels = { calls = 3 }", secret("planted-two", 2)),
			allChecks(env.checkBackend(), env.history("1 superseded", "2 superseded", "3 superseded", "4 deployed"), login("planted-two"), expectConcealed(env.store, "planted-one", "planted-two"))),
		resource.TestStep{
			// Another version alone changes nothing on the cluster.
			Config: config("scale_levels = { calls = 3 }", secret("planted-two", 3)),
			Check:  allChecks(env.checkBackend(), env.history("1 superseded", "2 superseded", "3 superseded", "4 deployed")),
		},
	)
}

// expectConcealed checks that neither the state nor the store holds one of the secrets in clear.
func expectConcealed(store acctest.Store, secrets ...string) resource.TestCheckFunc {
	return func(state *terraform.State) error {
		texts := map[string]string{}
		for key, value := range state.RootModule().Resources[address].Primary.Attributes {
			texts["attribute "+key] = value
		}
		err := filepath.WalkDir(filepath.Dir(store.Path), func(path string, entry os.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() {
				// A file that was removed meanwhile holds nothing.
				data, _ := os.ReadFile(path)
				texts[path] = string(data)
			}
			return nil
		})
		for place, text := range texts {
			for _, secret := range secrets {
				if strings.Contains(text, secret) {
					err = errors.Join(err, fmt.Errorf("%s holds %s", place, secret))
				}
			}
		}
		return err
	}
}

// TestAccInstance_helmServerVersion plans and applies a chart that is for another
// version of Kubernetes than the VIM has, though it is rendered for one of its own.
func TestAccInstance_helmServerVersion(t *testing.T) {
	env := newEnv(t)
	source := ims(t, inChart("Chart.yaml", ">= 1.25.0-0", ">= 1.99.0-0"))
	newer := chartParams(`helm_kube_version = "1.99.0"`)
	refused := func() *regexp.Regexp {
		return sentence("The chart ims is for Kubernetes >= 1.99.0-0, and VIM \"test\" has "+env.lab.KubernetesVersion, "Upgrade the cluster, or use a package whose chart supports it")
	}
	env.run(t,
		// Before there is a VIM nobody can be asked.
		resource.TestStep{Config: env.configFor(source, newer), ExpectError: refused()},
		resource.TestStep{Config: env.configFor(source, newer, "server_dry_run = false"), ExpectError: refused()},
		resource.TestStep{
			Config:      env.configFor(source, newer),
			PlanOnly:    true,
			ExpectError: sentence("The chart ims is for Kubernetes >= 1.99.0-0", "At "+imsChart+"Chart.yaml"),
		},
		applied(env.configFor(ims(t), chartParams()), env.history("1 deployed")),
		resource.TestStep{Config: env.configFor(source, newer), ExpectError: refused()},
		// A deployed release is repaired, and plans without a change send no request.
		resource.TestStep{Config: env.configFor(ims(t), chartParams()), Check: env.history("1 deployed")},
	)
}
