package instance_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// badInput is a vnf_instance that cannot be, and the diagnostic that says so.
type badInput struct {
	// source is the package; the example package hello when it is empty.
	source    string
	arguments string
	// want are the texts of the diagnostic in their order.
	want []string
}

func want(texts ...string) []string { return texts }

// bothFiles is an argument that takes the file which with writes, whatever is in it.
const bothFiles = `additional_params = { "lcm-kubernetes-def-files" = ["` + webFile + `", "Files/kubernetes/more.yaml"] }`

// params is the argument additional_params.
func params(text string) string { return `additional_params = { ` + text + ` }` }

// readiness is the argument readiness with one rule.
func readiness(text string) string { return `readiness = [{ ` + text + ` }]` }

// outside is the argument ext_virtual_links with one connection point.
func outside(text string) string {
	return `ext_virtual_links = { outside = { resource_id = "a", ext_cps = { CP1 = { ` + text + ` } } } }`
}

// extra is the package hello with one more manifest.
func extra(t testing.TB, text string) string { return hello(t, with(text)) }

// checkedBadInputs are refused by the schema, before anything is planned.
func checkedBadInputs() map[string]badInput {
	return map[string]badInput{
		"flavour_empty":     {arguments: `flavour_id = ""`, want: want(`Attribute flavour_id string length must be at least 1, got: 0`)},
		"level_negative":    {arguments: `scale_levels = { web = -1 }`, want: want(`Attribute scale_levels["web"] value must be at least 0, got: -1`)},
		"level_text":        {arguments: `scale_levels = { web = "two" }`, want: want(`Inappropriate value for attribute "scale_levels": a number is required.`)},
		"namespace_case":    {arguments: `namespace = "Core"`, want: want(`Attribute namespace must be the name of a Kubernetes namespace: at most 63 lower case letters, digits and '-', beginning and ending with a letter or digit, got: Core`)},
		"namespace_long":    {arguments: `namespace = "` + strings.Repeat("a", 64) + `"`, want: want(`Attribute namespace must be the name of a Kubernetes namespace`)},
		"operational_state": {arguments: `operational_state = "paused"`, want: want(`Attribute operational_state value must be one of: ["started" "stopped"], got: "paused"`)},
		"on_failure":        {arguments: `on_failure = "ignore"`, want: want(`Attribute on_failure value must be one of: ["fail" "resume" "rollback"], got: "ignore"`)},
		"termination_type":  {arguments: `termination = { type = "kill" }`, want: want(`Attribute termination.type value must be one of: ["graceful" "forceful"], got: "kill"`)},
		"lock_timeout":      {arguments: `lock_timeout = "soon"`, want: want(`Invalid Time Duration String Value`, `Given Value: soon`)},
		"lock_negative":     {arguments: `lock_timeout = "-5m"`, want: want(`lock_timeout must be a duration of at least 0s, not "-5m".`)},
		"keep_namespace":    {arguments: `deletion_policy = { namespace = "retain" }`, want: want(`Attribute deletion_policy.namespace value must be one of: ["keep" "delete"], got: "retain"`)},
		"keep_crds":         {arguments: `deletion_policy = { crds = "all" }`, want: want(`Attribute deletion_policy.crds value must be one of: ["keep" "delete"], got: "all"`)},
		"graceful_timeout":  {arguments: `termination = { graceful_timeout = "30" }`, want: want(`Invalid Time Duration String Value`, `Given Value: 30`)},
		"volumes":           {arguments: `deletion_policy = { volumes = "retain" }`, want: want(`Attribute deletion_policy.volumes value must be one of: ["keep" "delete"], got: "retain"`)},
		"timeouts":          {arguments: `timeouts = { create = "soon" }`, want: want(`Invalid Attribute Value Time Duration`, `"soon"`)},
		"ready_by_both":     {arguments: readiness(`kind = "apps/Deployment", condition = "Available", jsonpath = "{.status.phase}", value = "Running"`), want: want(`2 attributes specified when one (and only one) of [readiness[0].condition.<.jsonpath] is required`)},
		"ready_by_nothing":  {arguments: readiness(`kind = "apps/Deployment"`), want: want(`No attribute specified when one (and only one) of [readiness[0].condition.<.jsonpath] is required`)},
		"ready_no_value":    {arguments: readiness(`kind = "apps/Deployment", jsonpath = "{.status.phase}"`), want: want(`Attribute "readiness[0].value" must be specified when "readiness[0].jsonpath" is specified`)},
		"ready_kind_lower":  {arguments: readiness(`kind = "apps/statefulset", condition = "Ready"`), want: want(`"apps/statefulset" is written as in manifests: "apps/StatefulSet".`)},
		"ready_kind_form":   {arguments: readiness(`kind = "Cell.example.com", condition = "Ready"`), want: want(`Attribute readiness[0].kind must be group/Kind, for example apps/Deployment, or Kind for the core group, got: Cell.example.com`)},
		"force_conflicts":   {arguments: `force_conflicts = "maybe"`, want: want(`Inappropriate value for attribute "force_conflicts": a bool is required`)},
		"metadata":          {arguments: `metadata = ["a"]`, want: want(`Inappropriate value for attribute "metadata": map of string required`)},
		"heal_no_trigger":   {arguments: `heal = { vdu_ids = ["web"] }`, want: want(`attribute "trigger" is required`)},
		"heal_empty":        {arguments: `heal = { trigger = "a", vnfc_ids = [] }`, want: want(`Attribute heal.vnfc_ids set must contain at least 1 elements, got: 0`)},
		"heal_cause":        {arguments: `heal = { trigger = "a", cause = "" }`, want: want(`Attribute heal.cause string length must be at least 1, got: 0`)},
		"description_empty": {arguments: `description = ""`, want: want(`Attribute description string length must be at least 1, got: 0`)},
		"connection_part":   {arguments: `vim_connections = { far = { vim_id = "a" } }`, want: want(`At least one of vdu_ids and manifests must have an element.`)},
		"connection_empty":  {arguments: `vim_connections = { far = { vim_id = "a", vdu_ids = [], manifests = [] } }`, want: want(`At least one of vdu_ids and manifests must have an element.`)},
		"connection_name":   {arguments: `vim_connections = { "a: b" = { vim_id = "a", vdu_ids = ["web"] } }`, want: want(`must be a name of letters, digits, '-', '_' and '.', got: a: b`)},
		"address_form":      {arguments: outside(`ip_addresses = [{ fixed_addresses = ["10.0.0"] }]`), want: want(`"10.0.0" is not a valid IP address`)},
		"address_of_none":   {arguments: outside(`ip_addresses = [{ subnet_id = "a" }, {}]`), want: want(`Address Without a Subnet`, `The entry has neither subnet_id nor fixed_addresses.`)},
		"address_twice":     {arguments: outside(`ip_addresses = [{ fixed_addresses = ["2001:db8::1"] }, { fixed_addresses = ["2001:DB8:0::1"] }]`), want: want(`Address Given Twice`, `2001:DB8:0::1 is given twice.`)},
		"address_families":  {arguments: outside(`ip_addresses = [{ subnet_id = "a", fixed_addresses = ["192.0.2.1", "2001:db8::1"] }]`), want: want(`Mixed Address Families`, `2001:db8::1 is of another family than the address before.`)},
		"address_null":      {arguments: outside(`ip_addresses = [null]`), want: want(`Null List Value`)},
		"port_and_mac":      {arguments: outside(`link_port_id = "a", mac_address = "fa:16:3e:00:00:01"`), want: want(`cannot be specified when`)},
		"zone_twice":        {arguments: `availability_zones = ["a", "b", "a"]`, want: want(`Duplicate List Value`, `This attribute contains duplicate values of: "a"`)},
		"zone_null":         {arguments: `availability_zones = ["a", null]`, want: want(`Null List Value`)},
		"zone_blank":        {arguments: `availability_zones = ["a", " "]`, want: want(`Attribute availability_zones[1] must be the name of an availability zone, which has no colon and no blanks around it`)},
		"zone_host":         {arguments: `availability_zones = ["nova:host-1"]`, want: want(`Attribute availability_zones[0] must be the name of an availability zone`, `a host cannot be named here, got: nova:host-1`)},
		"zone_text":         {arguments: `availability_zones = "nova"`, want: want(`Inappropriate value for attribute "availability_zones": list of string required`)},
		"argument_unknown":  {arguments: `replicas = 3`, want: want(`An argument named "replicas" is not expected here.`)},
		"computed_argument": {arguments: `status = "INSTANTIATED"`, want: want(`Invalid Configuration for Read-Only Attribute`, `status`)},
	}
}

// plannedBadInputs contradict the package, which is read at plan time.
func plannedBadInputs(t testing.TB) map[string]badInput {
	core := examplePackage(t, "core5g")
	twoWorkloads := `vdu_mapping = { amf = { kind = "Deployment", name = "smf" } }`
	return map[string]badInput{
		"adopted":         {arguments: "adopt_existing = true\n  on_failure = \"rollback\"", want: want(`An Adoption Cannot Be Rolled Back`, `Set on_failure = "resume" for the first apply`)},
		"zones":           {arguments: `availability_zones = ["nova"]`, want: want(`A Kubernetes VIM has no availability zones of servers`)},
		"flavour_unknown": {arguments: `flavour_id = "big"`, want: want(`VNFD "0d2f8a4c-7f8e-4b2c-9a51-3f6d2c1e7a01" has no deployment flavour "big"`, `The package has "default".`)},
		"level_unknown":   {source: core, arguments: `instantiation_level_id = "huge"`, want: want(`Deployment flavour "standard" has no instantiation level "huge"`, `"minimal"`)},
		"level_of_other":  {source: core, arguments: "flavour_id = \"compact\"\n  instantiation_level_id = \"regional\"", want: want(`Deployment flavour "compact" has no instantiation level "regional"`, `It has "edge"`)},
		"aspect_unknown":  {arguments: `scale_levels = { db = 1 }`, want: want(`The deployment flavour "default" has no scaling aspect "db"`)},
		"level_too_high":  {arguments: `scale_levels = { web = 4 }`, want: want(`The scale level 4 of the aspect "web" is out of range`)},
		"sink_no_cluster": {arguments: `credentials_sink = { url = "https://clusters.example.com" }`, want: want(`There are no credentials to send`, `A credentials sink receives the kubeconfigs of the workload clusters of an instance, but this instance has no Cluster of cluster.x-k8s.io.`)},
		"params_list":     {arguments: `additional_params = ["a"]`, want: want(`additional_params must be an object`)},
		"params_text":     {arguments: `additional_params = "a"`, want: want(`additional_params must be an object`)},
		"params_unknown":  {arguments: params(`name-space = "a"`), want: want(`Additional parameter "name-space" is not known`, `Did you mean "namespace"? The Kubernetes driver knows helm_api_versions, helm_chart_path, helm_kube_version, helm_parameters, helm_release_name, helm_test, helm_value_names, ignore_fields, lcm-kubernetes-def-files, namespace, vdu_mapping.`)},
		"params_helm":     {arguments: params(`use_helm = "true"`), want: want(`Additional parameter "use_helm" is for a chart, but the VNFD names none`, `helm_chart_path says which one it is`)},
		"files_no_list":   {arguments: params(`"lcm-kubernetes-def-files" = "a.yaml"`), want: want(`Additional parameter "lcm-kubernetes-def-files" must be a list of paths in the package, with at least one`)},
		"files_empty":     {arguments: params(`"lcm-kubernetes-def-files" = []`), want: want(`Additional parameter "lcm-kubernetes-def-files" must be a list of paths in the package, with at least one`)},
		"files_number":    {arguments: params(`"lcm-kubernetes-def-files" = [1]`), want: want(`Additional parameter "lcm-kubernetes-def-files" must be a list of paths in the package, with at least one`)},
		"files_missing":   {arguments: params(`"lcm-kubernetes-def-files" = ["Files/kubernetes/db.yaml"]`), want: want(`Additional parameter "lcm-kubernetes-def-files" names a file that is not in the package`, `"Files/kubernetes/db.yaml"; its Kubernetes manifests are Files/kubernetes/web.yaml.`)},
		"files_url":       {arguments: params(`"lcm-kubernetes-def-files" = ["https://example.com/a.yaml"]`), want: want(`Additional parameter "lcm-kubernetes-def-files" names a URL`, `Algorithm and Hash of it and set external_artifacts`)},
		"files_outside":   {arguments: params(`"lcm-kubernetes-def-files" = ["../a.yaml"]`), want: want(`Additional parameter "lcm-kubernetes-def-files" names a path outside of the package`)},
		"files_twice":     {arguments: params(`"lcm-kubernetes-def-files" = ["` + webFile + `", "./` + webFile + `"]`), want: want(`Additional parameter "lcm-kubernetes-def-files" names a file twice`)},
		"ready_kind":      {arguments: readiness(`kind = "example.com/Cell", condition = "Ready"`), want: want(`The package has no object of kind example.com/Cell`, `Its kinds are Service, apps/Deployment.`)},
		"ready_twice":     {arguments: readiness(`kind = "Service", condition = "A" }, { kind = "Service", condition = "B"`), want: want(`Kind Service has two rules of readiness`, `The first one is readiness[0].`)},
		"ready_no_status": {arguments: readiness(`kind = "ConfigMap", condition = "Ready"`), want: want(`Objects of kind ConfigMap are ready as soon as they exist`)},
		"ready_path":      {arguments: readiness(`kind = "Service", jsonpath = "{.status[}", value = "a"`), want: want(`The JSONPath "{.status[}" cannot be read: unterminated array`)},
		"ready_no_path":   {arguments: readiness(`kind = "Service", jsonpath = ".status.phase", value = "a"`), want: want(`The JSONPath ".status.phase" must be in braces, for example {.status.phase}`)},
		"ready_annotated": {source: extra(t, "apiVersion: v1\nkind: Service\nmetadata:\n  name: b\n  annotations:\n    vnf.nfv-iac.github.io/ready-jsonpath: '{.a}'\n"), arguments: bothFiles, want: want(`vnf.nfv-iac.github.io/ready-jsonpath must be a JSONPath in braces, =, and the value, for example {.status.phase}=Running`, `At Files/kubernetes/more.yaml:6`)},
		"mapping_type":    {arguments: params(`vdu_mapping = "web"`), want: want(`Additional parameter "vdu_mapping" must map VDU ids to { kind, name }`)},
		"mapping_entry":   {arguments: params(`vdu_mapping = { web = "web" }`), want: want(`Additional parameter "vdu_mapping" must be { kind, name } for VDU "web"`)},
		"mapping_vdu":     {arguments: params(`vdu_mapping = { db = { kind = "StatefulSet", name = "db" } }`), want: want(`Additional parameter "vdu_mapping" names a VDU "db" that deployment flavour "default" does not have`, `Its VDUs are web.`)},
		"mapping_field":   {arguments: params(`vdu_mapping = { web = { kind = "Deployment", name = "web", size = 1 } }`), want: want(`Additional parameter "vdu_mapping" has an unknown field "size" for VDU "web"`)},
		"mapping_no_name": {arguments: params(`vdu_mapping = { web = { kind = "Deployment" } }`), want: want(`Additional parameter "vdu_mapping" must give kind and name for VDU "web"`)},
		"mapping_nothing": {arguments: params(`vdu_mapping = { web = { kind = "StatefulSet", name = "web" } }`), want: want(`VDU "web" is mapped to StatefulSet "web", which is not in the package`, `The workloads of the package are apps/v1/Deployment web.`)},
		"mapping_taken":   {source: core, arguments: params(twoWorkloads), want: want(`VDUs "amf" and "smf" are both apps/v1/Deployment smf`)},
		"no_workload":     {source: hello(t, manifests("kind: Deployment\nmetadata:\n  name: web", "kind: Deployment\nmetadata:\n  name: www")), want: want(`VDU "web" has no workload: there is no Deployment, StatefulSet, DaemonSet, ReplicaSet or Pod named "web"`, `The workloads of the package are apps/v1/Deployment www; the name of the VDU`)},
		"no_manifest":     {source: hello(t, func(t testing.TB, dir string) { acctest.Write(t, dir, webFile, "text: only\n") }), want: want(`Package "no_manifest" lists no Kubernetes manifest`, `additional_params["lcm-kubernetes-def-files"]`)},
		"object_twice":    {source: extra(t, "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"), want: want(`v1/Service web is defined twice`, `At Files/kubernetes/more.yaml:1`, `The first one is in Files/kubernetes/web.yaml:9.`)},
		"no_kind":         {source: extra(t, "apiVersion: v1\nmetadata: {name: web}\n"), arguments: bothFiles, want: want(`Kind is missing`, `At Files/kubernetes/more.yaml:1:1.`)},
		"no_version":      {source: extra(t, "kind: Service\nmetadata: {name: web}\n"), arguments: bothFiles, want: want(`apiVersion is missing`, `At Files/kubernetes/more.yaml:1:1.`)},
		"bad_version":     {source: extra(t, "kind: Service\napiVersion: a/b/c\nmetadata: {name: web}\n"), arguments: bothFiles, want: want(`apiVersion "a/b/c" is not group/version`, `At Files/kubernetes/more.yaml:2:13.`)},
		"no_metadata":     {source: extra(t, "apiVersion: v1\nkind: Service\n"), arguments: bothFiles, want: want(`metadata.name is missing`, `At Files/kubernetes/more.yaml:1:1.`)},
		"generate_name":   {source: extra(t, "apiVersion: v1\nkind: Service\nmetadata:\n  generateName: web-\n"), arguments: bothFiles, want: want(`metadata.generateName is not supported: give metadata.name, so that the object is the same one at every apply`, `At Files/kubernetes/more.yaml:4:17.`)},
		"label_type":      {source: extra(t, "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  labels:\n    release: 15\n"), arguments: bothFiles, want: want(`metadata.labels.release must be a string, not a number`, `At Files/kubernetes/more.yaml:6:14.`, `Write "15"`)},
		"label_reserved":  {source: extra(t, "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  labels:\n    vnf.nfv-iac.github.io/instance-id: x\n"), arguments: bothFiles, want: want(`metadata.labels: the prefix vnf.nfv-iac.github.io/ is reserved for the VNF manager`, `At Files/kubernetes/more.yaml:6`)},
		"yaml_key_twice":  {source: extra(t, "apiVersion: v1\nkind: Service\nkind: Service\nmetadata: {name: web}\n"), arguments: bothFiles, want: want(`The key "kind" is given twice, first in line 2`, `At Files/kubernetes/more.yaml:3:1.`)},
		"yaml_list":       {source: extra(t, "- apiVersion: v1\n"), arguments: bothFiles, want: want(`A Kubernetes object must be a mapping, not a list`, `At Files/kubernetes/more.yaml:1:1.`)},
		"secret_data":     {source: extra(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: web}\ndata: {password: plain!}\n"), arguments: bothFiles, want: want(`Data of the Secret is not base64 at key "password"; plain text belongs under stringData`, `At Files/kubernetes/more.yaml:4`)},
		"pod_scaled": {source: hello(t, func(t testing.TB, dir string) {
			acctest.Write(t, dir, webFile, "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: web, image: registry.example.com/web:1}]}\n")
		}), arguments: `scale_levels = { web = 1 }`, want: want(`VDU "web" is a Pod and cannot have 2 instances`, `At Files/kubernetes/web.yaml:1:1.`)},
		"pod_stopped": {source: hello(t, func(t testing.TB, dir string) {
			acctest.Write(t, dir, webFile, "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: web, image: registry.example.com/web:1}]}\n")
		}), arguments: `operational_state = "stopped"`, want: want(`VDU "web" cannot be stopped`, `v1/Pod web has no replicas that could be zero.`)},
		"namespace_param": {arguments: params(`namespace = "a_b"`), want: want(`Additional parameter "namespace" must be the name of a namespace`, `Lower case letters, digits and hyphens, 63 at most.`)},
		"heal_vdu":        {arguments: `heal = { trigger = "a", vdu_ids = ["db"] }`, want: want(`Deployment flavour "default" has no VDU "db"`, `Its VDUs are "web".`)},
		"heal_vnfc":       {arguments: `heal = { trigger = "a", vnfc_ids = ["db-0"] }`, want: want(`VNFC "db-0" is of no VDU of deployment flavour "default"`, `Its VDUs are "web"; the id of a VNFC begins with its VDU, as the data source vnf_instance shows it.`)},
		"heal_pod":        {arguments: `heal = { trigger = "a", vnfc_ids = ["web-7d9c5b8f6-x2x4z"] }`, want: want(`"web-7d9c5b8f6-x2x4z" is the name of a pod, not the id of a VNFC`, `The id begins with the VDU: write "web-web-7d9c5b8f6-x2x4z".`)},
		"scale_in_pod":    {arguments: `scale_in_vnfc_ids = ["web-7d9c5b8f6-x2x4z"]`, want: want(`"web-7d9c5b8f6-x2x4z" is the name of a pod, not the id of a VNFC`, `The id begins with the VDU: write "web-web-7d9c5b8f6-x2x4z".`)},
		"replace_unknown": {arguments: `replace_objects = ["apps/v1/Deployment db"]`, want: want(`The instance has no object "apps/v1/Deployment db"`, `An object is named as in changes of a plan, for example "apps/v1/Deployment web".`)},
		"connection_vdu":  {arguments: `vim_connections = { far = { vim_id = "a", vdu_ids = ["db"] } }`, want: want(`Deployment flavour "default" has no VDU "db"`, `Its VDUs are "web".`)},
		"connection_file": {arguments: `vim_connections = { far = { vim_id = "a", manifests = ["db.yaml"] } }`, want: want(`The package lists no Kubernetes manifest "db.yaml"`, `Its manifests are "Files/kubernetes/web.yaml".`)},
		"connection_both": {arguments: `vim_connections = { far = { vim_id = "a", vdu_ids = ["web"] }, out = { vim_id = "b", vdu_ids = ["web"] } }`, want: want(`VDU "web" is placed twice`, `VIM connection "far" has it too.`)},
		"namespace_both":  {arguments: "namespace = \"a\"\n  " + params(`namespace = "b"`), want: want(`Additional parameter "namespace" contradicts the argument namespace`, `"b" and "a"; keep one of them.`)},
	}
}

// TestAccInstance_badInput gives plans many instances that cannot be: each has
// exactly one error, which tells what is wrong and where, and nothing is done.
func TestAccInstance_badInput(t *testing.T) {
	env := newEnv(t)
	chart := chartBadInputs(t)
	planned := plannedBadInputs(t)
	for name, c := range chart {
		planned["chart_"+name] = c
	}
	// Terraform plans nothing while the schema refuses something.
	checked := checkedBadInputs()
	errs := env.refusals(t, resource.TestStep{Config: env.badConfig(checked), PlanOnly: true}, resource.TestStep{Config: env.badConfig(planned), PlanOnly: true})
	expectErrors(t, errs[0], checked)
	expectErrors(t, errs[1], planned)
	if got := env.kubectl("get", "all", "-o", "name"); got != "" {
		t.Errorf("made by a plan: %s", got)
	}
}

// refusals runs steps that fail in one test case, and returns what Terraform says at each.
func (env *testEnv) refusals(t *testing.T, steps ...resource.TestStep) []error {
	t.Helper()
	said := acctest.Errors(t, env.diagnostics.Factories(), steps...)
	env.expectNothing(t)
	return said
}

// badConfig is one configuration with all bad inputs, each with a package of its own.
func (env *testEnv) badConfig(cases map[string]badInput) string {
	var config strings.Builder
	config.WriteString(env.store.Config(acctest.VIM(env, env.lab, "test")))
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		source := cases[name].source
		if source == "" {
			source = examplePackage(env, "hello")
		}
		fmt.Fprintf(&config, `
resource "vnf_package" %[1]q {
  name   = %[1]q
  source = %[2]q
}

resource "vnf_instance" %[1]q {
  name       = %[1]q
  vim_id     = vnf_vim.test.id
  package_id = vnf_package.%[1]s.id
  %[3]s
}
`, name, source, cases[name].arguments)
	}
	return config.String()
}

// expectErrors finds the error of every bad input.
func expectErrors(t *testing.T, said error, cases map[string]badInput) {
	t.Helper()
	patterns := map[string][]string{}
	for name, c := range cases {
		patterns[name] = []string{pattern(c.want...)}
	}
	acctest.ExpectErrors(t, said, "vnf_instance", patterns)
}

// appliedBadInput is known to be bad to the VIM alone.
type appliedBadInput struct {
	// prepare runs before the apply.
	prepare func(env *testEnv)
	// edits change the package hello.
	edits []edit
	// arguments are further ones of the instance, or others.
	arguments []string
	want      []string
}

func appliedBadInputs(lab labtest.Env) map[string]appliedBadInput {
	return map[string]appliedBadInput{
		"unknown_kind": {
			edits: []edit{with("apiVersion: example.com/v1\nkind: Cell\nmetadata: {name: c}\n")},
			want:  want(`example.com/v1/Cell c (Files/kubernetes/more.yaml:1)`, `the API server does not serve the kind Cell of example.com/v1`),
		},
		"misspelt_kind": {
			edits: []edit{with("apiVersion: apps/v1\nkind: Deploymnet\nmetadata: {name: c}\n")},
			want:  want(`apps/v1/Deploymnet c (Files/kubernetes/more.yaml:1)`, `the API server does not serve the kind Deploymnet of apps/v1`, `apps/v1 Deployment`),
		},
		"invalid_field": {
			edits: []edit{manifests("targetPort: http", "targetPort: not_a_port")},
			want:  want(`Unable to Instantiate VNF Instance "invalid_field"`, `Service web (Files/kubernetes/web.yaml:9)`, `spec.ports[0].targetPort`, `not_a_port`),
		},
		"unknown_field": {
			edits: []edit{manifests("  replicas: 1\n", "  replicas: 1\n  replica: 1\n")},
			want:  want(`Deployment web (Files/kubernetes/web.yaml:18)`, `.spec.replica`, `everything that was created has been removed (on_failure = "rollback")`),
		},
		"selector": {
			edits: []edit{manifests("matchLabels: { app.kubernetes.io/name: web }", "matchLabels: { app.kubernetes.io/name: other }")},
			want:  want(`Deployment web (Files/kubernetes/web.yaml:18)`, `spec.template.metadata.labels`, "`selector` does not match template `labels`", `everything that was created has been removed`),
		},
		"quota": {
			prepare: func(env *testEnv) { env.lab.Quota(env, env.namespace, "none", "count/deployments.apps", 0) },
			want:    want(`Deployment web (Files/kubernetes/web.yaml:18)`, `exceeded quota: none, requested: count/deployments.apps=1, used: count/deployments.apps=0, limited: count/deployments.apps=0`, `everything that was created has been removed`),
		},
		"forbidden": {
			arguments: []string{`vim_id = vnf_vim.limited.id`, `namespace = "` + lab.LimitedNamespace + `"`},
			want:      want(`Unable to Instantiate VNF Instance "forbidden"`, `is forbidden`, `cannot list resource`),
		},
		"vim_unknown": {
			arguments: []string{`vim_id = "3f1d8f8e-0000-4000-8000-000000000000"`},
			want:      want(`VIM "3f1d8f8e-0000-4000-8000-000000000000" is not in the store`),
		},
		"package_unknown": {
			arguments: []string{`package_id = "other@sha256:00"`},
			want:      want(`VNF package "other@sha256:00" is not in the store`),
		},
	}
}

// TestAccInstance_badInputApplied gives one apply many instances that a VIM refuses: each
// has one error, which says which object and why, and nothing is left.
func TestAccInstance_badInputApplied(t *testing.T) {
	env := newEnv(t)
	limited := env.lab
	limited.AdminToken = limited.LimitedToken
	config := env.store.Config(acctest.VIM(env, env.lab, "test"), strings.Replace(acctest.VIM(env, limited, "limited"), `"vnf_vim" "test"`, `"vnf_vim" "limited"`, 1))
	homes, cases := map[string]*testEnv{}, map[string]badInput{}
	for name, c := range appliedBadInputs(env.lab) {
		home := env.elsewhere()
		homes[name], cases[name] = home, badInput{want: c.want}
		if c.prepare != nil {
			c.prepare(home)
		}
		config += strings.ReplaceAll(pkg(hello(t, c.edits...)), `"test"`, fmt.Sprintf("%q", name))
		arguments := append([]string{`on_failure = "rollback"`, "package_id = vnf_package." + name + ".id"}, c.arguments...)
		config += home.instanceNamed(name, arguments...)
	}
	said := env.refusals(t, resource.TestStep{Config: config})
	expectErrors(t, said[0], cases)
	for name, home := range homes {
		home.expectNothing(t)
		if got := home.kubectl("get", "services,deployments", "-o", "name"); got != "" {
			t.Errorf("%s: left behind: %s", name, got)
		}
	}
}
