package provider_test

import (
	"archive/tar"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/hottest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// cli runs terraform with the built provider, in a copy of the examples.
type cli struct {
	binary string
	root   string
	env    []string
	// provider is the folder of the provider's program.
	provider string
	// warned is set by a test that looks at the warnings itself.
	warned bool
}

// newCLI returns a terraform with the provider of this tree and a copy of the examples.
func newCLI(t *testing.T) *cli {
	t.Helper()
	acctest.PreCheck(t)
	binary := os.Getenv("TF_ACC_TERRAFORM_PATH")
	if binary == "" {
		binary = "terraform"
	}
	built, dir := builtProvider(t), t.TempDir()
	rc := filepath.Join(dir, "terraformrc")
	text := fmt.Sprintf("provider_installation {\n dev_overrides {\n \"nfv-iac/vnf\" = %q\n \"hashicorp/vnf\" = %q\n }\n direct {}\n}\n", built, built)
	require.NoError(t, os.WriteFile(rc, []byte(text), 0o600))
	root := filepath.Join(dir, "examples")
	require.NoError(t, os.CopyFS(root, os.DirFS("../../examples")))
	acctest.ForgetRuns(t, root)
	// Imports are of objects that exist.
	imports, err := filepath.Glob(filepath.Join(root, "resources", "*", "import-by-identity.tf"))
	require.NoError(t, err)
	for _, file := range imports {
		require.NoError(t, os.Remove(file))
	}
	env := []string{"TF_CLI_CONFIG_FILE=" + rc, "XDG_STATE_HOME=" + filepath.Join(dir, "state"), "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1", "VNF_ENCRYPTION_KEY="}
	return &cli{binary: binary, root: root, env: env, provider: built}
}

// builtProvider returns the directory of the provider: of the build that the runner of the tests names, or of one of its own.
func builtProvider(t *testing.T) string {
	t.Helper()
	if config := os.Getenv("VNF_TEST_CLI_CONFIG"); config != "" {
		data, err := os.ReadFile(config) //nolint:gosec // a file of the runner
		require.NoError(t, err)
		_, rest, _ := strings.Cut(string(data), `"nfv-iac/vnf" = "`)
		dir, _, found := strings.Cut(rest, `"`)
		require.True(t, found, "no override of the provider in %s", config)
		return dir
	}
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "terraform-provider-vnf"), "../..") //nolint:gosec // a path of the test
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the provider: %v\n%s", err, out)
	}
	return dir
}

func (c *cli) run(t *testing.T, example string, vars []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), c.binary, args...) //nolint:gosec // the terraform that the tests use
	cmd.Dir = filepath.Join(c.root, filepath.FromSlash(example))
	cmd.Env = slices.Concat(os.Environ(), c.env)
	for _, v := range vars {
		cmd.Env = append(cmd.Env, "TF_VAR_"+v)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: terraform %s: %v\n%s", example, strings.Join(args, " "), err, out.String())
	}
	if !c.warned {
		expectWorthwhileWarnings(t, example, args[0], out.String())
	}
	return out.String()
}

// warningLine is the summary of a warning, which colours may surround.
var warningLine = regexp.MustCompile(`Warning: (?:\x1b\[[0-9;]*m)*([^\x1b\n]*)`)

// worthwhileWarnings are those that examples give, and the command that gives them. A new one is worth a person's time, or
// does not exist.
var worthwhileWarnings = map[string]string{
	// No attribute of what is destroyed can say it.
	"Running Functions Stop": "destroy",
	// A plan with the mock outputs of Terragrunt, whose ids no store knows.
	`VIM or Package of VNF Instance "hello" Not Found`: "plan", `VIM or Package of Workload Cluster "edge" Not Found`: "plan",
	// The request is one of Tacker: what has no meaning here is said once.
	`The OpenStack driver ignores additional parameters "lcm-operation-user-data", "lcm-operation-user-data-class"`: "plan",
	// The lab's flavor is smaller than what kubeadm asks for.
	`Flavor "m1.small" of the control plane has 1 vCPU and 2048 MiB of memory`: "",
	// Terraform's own: the tests run a build.
	"Provider development overrides are in effect": "",
}

func expectWorthwhileWarnings(t *testing.T, example, command, out string) {
	t.Helper()
	for _, found := range warningLine.FindAllStringSubmatch(out, -1) {
		if of, known := worthwhileWarnings[strings.TrimSpace(found[1])]; !known || of != "" && of != command {
			t.Errorf("%s: terraform %s warns: %s\n%s", example, command, found[1], out)
		}
	}
}

// plan plans an example into the file "planned" of its directory, expects the plan to be shown as JSON, as pipelines have it, and
// returns what terraform said.
func (c *cli) plan(t *testing.T, example string, vars ...string) string {
	t.Helper()
	out := c.run(t, example, vars, "plan", "-no-color", "-out=planned")
	c.expectShown(t, example, vars)
	return out
}

// expectShown expects that the plan of an example is shown as JSON, and keeps that beside the plan.
func (c *cli) expectShown(t *testing.T, example string, vars []string) {
	t.Helper()
	shown := c.run(t, example, vars, "show", "-json", "planned")
	var plan struct {
		Version string          `json:"format_version"`
		Values  json.RawMessage `json:"planned_values"`
	}
	if err := json.Unmarshal([]byte(shown), &plan); err != nil || plan.Version == "" || len(plan.Values) == 0 {
		t.Errorf("%s: the plan as JSON: %v\n%s", example, err, shown)
	}
	acctest.Write(t, c.root, filepath.Join(example, "planned.json"), shown)
}

// id returns the id of a resource in the state of an example.
func (c *cli) id(t *testing.T, example, resource, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(c.root, filepath.FromSlash(example), "terraform.tfstate"))
	require.NoError(t, err)
	var state struct {
		Resources []struct {
			Type      string `json:"type"`
			Name      string `json:"name"`
			Instances []struct {
				Attributes struct {
					ID string `json:"id"`
				} `json:"attributes"`
			} `json:"instances"`
		} `json:"resources"`
	}
	require.NoError(t, json.Unmarshal(data, &state))
	for _, r := range state.Resources {
		if r.Type == resource && r.Name == name && len(r.Instances) > 0 {
			return r.Instances[0].Attributes.ID
		}
	}
	t.Fatalf("%s: the state has no %s.%s", example, resource, name)
	return ""
}

// apply plans and applies an example, expects the second plan to be empty, and returns what terraform said. Both plans are shown as
// JSON.
func (c *cli) apply(t *testing.T, example string, vars ...string) string {
	t.Helper()
	c.run(t, example, vars, "validate")
	out := c.plan(t, example, vars...)
	out += c.run(t, example, vars, "apply", "-no-color", "planned")
	c.run(t, example, vars, "plan", "-detailed-exitcode", "-no-color", "-out=planned")
	c.expectShown(t, example, vars)
	return out
}

// TestExamples applies the examples of the documentation as they stand, with the
// built provider in a process of its own.
func TestExamples(t *testing.T) {
	c := newCLI(t)
	c.run(t, "provider", nil, "validate")
	c.run(t, "provider/barbican", nil, "validate")
	for example, want := range map[string]string{
		"functions/parse_kubeconfig":    "https://10.0.0.10:6443",
		"functions/parse_vnfd":          "hello 1.0.0",
		"functions/parse_csar_manifest": "Files/kubernetes/web.yaml",
		"resources/vnf_package":         `"web" = 3`,

		"resources/vnf_capi_cluster_template": `"octavia_provider"`,

		"data-sources/vnf_capi_workload_clusters": "incomplete = {}",
	} {
		if out := c.apply(t, example); !strings.Contains(out, want) {
			t.Errorf("%s: the outputs do not hold %q:\n%s", example, want, out)
		}
	}
	if out := c.apply(t, "data-sources/vnf_package", "package_name=hello"); !strings.Contains(out, "hello 1.0.0, sha256:") {
		t.Errorf("data-sources/vnf_package:\n%s", out)
	}
	if out := c.apply(t, "data-sources/vnf_packages"); !strings.Contains(out, `"hello" = [`) {
		t.Errorf("data-sources/vnf_packages:\n%s", out)
	}
	c.run(t, "resources/vnf_package", nil, "destroy", "-auto-approve", "-no-color")
}

// TestOperatorsExample applies the example of custom resources and a Helm chart,
// scales a custom resource, and destroys both.
func TestOperatorsExample(t *testing.T) {
	c := newCLI(t)
	lab := labtest.Kubernetes(t)
	const example = "complete/operators"
	vars := []string{"kubeconfig=" + lab.Kubeconfig}
	if out := c.apply(t, example, vars...); !strings.Contains(out, "carriers = 1") || !strings.Contains(out, `"ims" = "INSTANTIATED"`) {
		t.Errorf("the outputs of the example are\n%s", out)
	}
	ims := c.id(t, example, "vnf_instance", "ims")
	c.plan(t, "data-sources/vnf_instance", "instance_id="+ims)
	c.plan(t, "data-sources/vnf_operations", "instance_id="+ims)
	c.plan(t, "data-sources/vnf_instances")
	if out := c.apply(t, example, append(vars, "capacity=2")...); !strings.Contains(out, "carriers = 3") {
		t.Errorf("the outputs after the scale are\n%s", out)
	}
	if got := lab.Kubectl(t, "get", "carriergroups", "carriers", "-n", "radio", "-o", "jsonpath={.spec.carriers}"); got != "3" {
		t.Errorf("the custom resource has %s carriers, want 3", got)
	}
	if out := lab.Kubectl(t, "get", "secrets", "-n", "ims", "-l", "owner=helm,status=deployed", "-o", "name"); strings.Count(out, "sh.helm.release.v1") != 1 {
		t.Errorf("records of deployed releases: %s", out)
	}
	c.run(t, example, vars, "destroy", "-auto-approve", "-no-color")
	if out := lab.Kubectl(t, "get", "crds,namespaces", "--ignore-not-found", "-o", "name"); strings.Contains(out, "radio") || strings.Contains(out, "namespace/ims") {
		t.Errorf("left behind:\n%s", out)
	}
}

// TestTackerExample applies the example of a CNF from Tacker's files: a VIM configuration whose certificate YAML folds, and a request.
func TestTackerExample(t *testing.T) {
	c := newCLI(t)
	lab := labtest.Kubernetes(t)
	const example = "complete/tacker/containers"
	ca := lab.ReadFile(t, lab.CAFile)
	acctest.Write(t, c.root, example+"/lab.yaml", fmt.Sprintf("auth_url: %q\nbearer_token: %q\nssl_ca_cert: \"%s\"\nproject_name: default\ntype: kubernetes\n",
		lab.Endpoint, lab.AdminToken, strings.ReplaceAll(strings.TrimSpace(ca), "\n", "\n  ")))
	vars := []string{"vim_config=lab.yaml"}
	if out := c.apply(t, example, vars...); !strings.Contains(out, `status = "INSTANTIATED"`) {
		t.Errorf("the outputs of the example are\n%s", out)
	}
	if got := lab.Kubectl(t, "get", "deployment", "web", "-n", "hello-tacker", "-o", "jsonpath={.spec.replicas}"); got != "1" {
		t.Errorf("the deployment has %s replicas, want 1", got)
	}
	c.run(t, example, vars, "destroy", "-auto-approve", "-no-color")
}

// savedImage is an archive as `docker save` makes it, of an image without layers.
func savedImage(t *testing.T) string {
	t.Helper()
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, file := range [][2]string{
		{"manifest.json", `[{"Config":"config.json","RepoTags":["registry:2"],"Layers":[]}]`},
		{"config.json", `{"architecture":"amd64","os":"linux","rootfs":{"type":"layers","diff_ids":[]}}`},
	} {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: file[0], Mode: 0o644, Size: int64(len(file[1]))}))
		_, err := w.Write([]byte(file[1]))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return archive.String()
}

// TestTackerRequests plans the requests of Tacker's management drivers as they are, with the packages of the examples: with servers and
// ports in the top template, as the specification of the driver for kubespray has them, with nested templates, and with none.
func TestTackerRequests(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.warned = true // The requests are those of Tacker as they are.
	const example = "complete/tacker/servers"
	cluster := []hottest.Server{
		{VDU: "masterNode", Points: []string{"masterNode_CP1"}}, {VDU: "workerNode", Points: []string{"workerNode_CP2"}}, {VDU: "externalLB", Points: []string{"externalLB_CP1"}},
	}
	for _, tt := range []struct {
		request, pkg, driver string
		form                 hottest.Form
		servers              []hottest.Server
		want                 []string
	}{
		{"kubespray", "kubernetes-cluster", "", hottest.Flat, cluster, []string{"master_node.pod_cidr is 192.168.3.0/16, which has host bits", "\"  masterNode: "}},
		{"script", "kubernetes-cluster", "mgmt-drivers-kubernetes", hottest.Translated, nil, []string{"\"  masterNode: ", "master_node.pod_cidr 192.168.3.0/24 has room for 1 node, and the cluster can have 6"}},
		{"registry", "private-registry", "", hottest.Nested, []hottest.Server{{VDU: "PrivateRegistryVDU", Points: []string{"CP1"}}}, []string{"\"  PrivateRegistryVDU: 1 added"}},
	} {
		source := acctest.CopyPackage(t, tt.pkg)
		acctest.UseForm(t, source, "simple", tt.form, tt.servers...)
		if tt.driver != "" {
			acctest.Edit(t, source, "Definitions/"+tt.pkg+"_df_simple.yaml", "mgmt-drivers-kubespray", tt.driver)
		}
		acctest.Write(t, source, "Files/registries/ca.crt", certificate(t))
		acctest.Write(t, source, "Files/images/private_registry.tar", savedImage(t))
		acctest.Hash(t, source)
		body, err := os.ReadFile("testdata/tacker/" + tt.request + ".json")
		require.NoError(t, err)
		acctest.Write(t, c.root, example+"/"+tt.request+".json", string(body))
		out := c.plan(t, example, "package="+source, "request="+tt.request+".json")
		for _, want := range append(tt.want, "3 to add") {
			if !strings.Contains(out, want) {
				t.Errorf("%s: the plan does not say %q:\n%s", tt.request, want, out)
			}
		}
	}
}

// TestConvertedRequests has terraform validate what "request convert" makes of requests and VIM configurations.
func TestConvertedRequests(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	for n, args := range [][]string{
		{"--vim-config", filepath.Join(c.root, "complete/tacker/containers/vim.yaml"), filepath.Join(c.root, "complete/tacker/containers/request.json")},
		{"--vim-config", filepath.Join(c.root, "complete/tacker/servers/vim.yaml"), filepath.Join(c.root, "complete/tacker/servers/request.json")},
		{"testdata/tacker/kubespray.json"},
	} {
		var out, problems bytes.Buffer
		if code := (command.Program{}).Run(t.Context(), append([]string{"request", "convert"}, args...), &out, &problems); code != 0 {
			t.Fatalf("%v: %s", args, problems.String())
		}
		example := fmt.Sprintf("converted/%d", n)
		acctest.Write(t, c.root, example+"/main.tf", out.String())
		c.run(t, example, nil, "validate")
		c.run(t, example, nil, "fmt", "-check")
	}
}

// TestOpenStackExample applies the example of a VNF of servers, scales it, and destroys it.
func TestOpenStackExample(t *testing.T) {
	c := newCLI(t)
	lab := labtest.OpenStackStacks(t)
	const example = "complete/vnf-openstack"
	vars := []string{
		"clouds=" + lab.Clouds, "cloud=" + labtest.OpenStackNFV,
		"control_network=" + lab.Networks["net_mgmt"], "outside_network=" + lab.Networks["net0"],
	}
	var said strings.Builder
	servers := func(want int) {
		t.Helper()
		said.WriteString(c.apply(t, example, vars...) + c.run(t, example, vars, "plan", "-no-color"))
		out := c.run(t, example, vars, "output", "-no-color")
		if !strings.Contains(out, `status = "INSTANTIATED"`) || strings.Count(out, "tomap({") != want {
			t.Errorf("want %d servers; the outputs of the example are\n%s", want, out)
		}
	}
	servers(2)
	said.WriteString(c.plan(t, example, append(slices.Clone(vars), "level=2")...))
	vars = append(vars, "level=1", "flavour=group")
	servers(3)
	said.WriteString("\n" + c.run(t, example, vars, "destroy", "-auto-approve", "-no-color"))
	// The repair is shown by TestAccInstance_openStack.
	expectGuide(t, "getting-started-openstack.md.tmpl", said.String(), "OS::Nova::Server FW", `- "SCALE fw 0 -> 2"`, `- "  FW: 1 -> 3"`)
}

// TestPrivateRegistryExample applies the example of a registry on a server that Heat makes,
// and that of one on any host.
func TestPrivateRegistryExample(t *testing.T) {
	c := newCLI(t)
	labtest.OpenStackStacks(t)
	lab := labtest.OpenStackSystems(t, labtest.OpenStackDocker)
	host := lab.NewServer(t, "registry-example", labtest.OpenStackDockerImage, "net0")
	on := []string{"host=" + host.Address, "password=" + labtest.ServerPassword, "image_path=" + lab.RegistryArchive}
	if out := c.apply(t, "resources/vnf_private_registry", on...); !strings.Contains(out, host.Address+":5000") {
		t.Errorf("the outputs of the example are\n%s", out)
	}
	for _, example := range []string{"data-sources/vnf_private_registry", "data-sources/vnf_private_registries"} {
		if out := c.apply(t, example, "host="+host.Address); !strings.Contains(out, host.Address+":5000") {
			t.Errorf("%s:\n%s", example, out)
		}
	}
	c.run(t, "resources/vnf_private_registry", on, "destroy", "-auto-approve", "-no-color")

	const example = "complete/private-registry"
	vars := []string{
		"clouds=" + lab.Clouds, "cloud=" + labtest.OpenStackNFV, "network=" + lab.Networks["net0"], "image=" + lab.Images[labtest.OpenStackDockerImage],
		"password=" + labtest.ServerPassword, "registry_archive=" + lab.RegistryArchive,
	}
	for range 2 {
		if out := c.apply(t, example, vars...); !strings.Contains(out, `status = "READY"`) {
			t.Errorf("the outputs of the example are\n%s", out)
		}
		// The second time its server is replaced.
		vars = append(vars, "heal=one")
	}
	c.run(t, example, vars, "destroy", "-auto-approve", "-no-color")
}

// TestSecretsStayHidden applies the example of a VIM with everything logged, and
// looks for its secrets in all that is left of the run.
func TestSecretsStayHidden(t *testing.T) {
	c := newCLI(t)
	lab := labtest.Kubernetes(t)
	log := filepath.Join(t.TempDir(), "trace.log")
	c.env = append(c.env, "TF_LOG=TRACE", "TF_LOG_PATH="+log)
	vars := []string{"kubeconfig=" + lab.Kubeconfig}
	out := c.apply(t, "resources/vnf_vim", vars...)
	if !strings.Contains(out, "runs Kubernetes "+strings.TrimPrefix(lab.KubernetesVersion, "v")) {
		t.Errorf("the outputs of the example are\n%s", out)
	}
	out += c.run(t, "resources/vnf_vim", vars, "plan", "-no-color", "-out=saved", "-var=kubeconfig="+lab.Kubeconfig)
	require.NoError(t, os.WriteFile(filepath.Join(c.root, "output.txt"), []byte(out), 0o600))
	if out := c.apply(t, "data-sources/vnf_vim", "vim_name=edge"); !strings.Contains(out, "has_gateway_api") {
		t.Errorf("data-sources/vnf_vim:\n%s", out)
	}
	if out := c.apply(t, "data-sources/vnf_vims"); !strings.Contains(out, `"edge" = [`) {
		t.Errorf("data-sources/vnf_vims:\n%s", out)
	}
	written, decoded := kubeconfigSecrets(t, lab.ReadFile(t, lab.Kubeconfig))
	store := strings.TrimPrefix(c.env[1], "XDG_STATE_HOME=")
	for _, place := range []string{log, c.root, store} {
		grep(t, place, written)
		grep(t, place, decoded)
	}
	c.run(t, "resources/vnf_vim", vars, "destroy", "-auto-approve", "-no-color")
}

// TestFewRightsAreSaid registers a VIM with narrow rights: what is missing is a
// warning, and no obstacle.
func TestFewRightsAreSaid(t *testing.T) {
	c := newCLI(t)
	c.warned = true
	lab := labtest.Kubernetes(t)
	config := fmt.Sprintf(`
resource "vnf_vim" "narrow" {
  name = "narrow"
  kubernetes = {
    endpoint          = %q
    ca_certificate    = file(%q)
    bearer_token      = %q
    default_namespace = %q
  }
}
output "status" { value = vnf_vim.narrow.status }
`, lab.Endpoint, lab.CAFile, lab.LimitedToken, lab.LimitedNamespace)
	acctest.Write(t, c.root, "narrow/main.tf", config)
	out := c.apply(t, "narrow")
	plain := strings.Join(strings.Fields(strings.ReplaceAll(out, "│", "")), " ")
	for _, want := range []string{
		`Warning: The credentials of VIM "narrow" lack rights in the namespace ` + lab.LimitedNamespace,
		"They may not get, list, watch, create, patch, delete deployments.apps, statefulsets.apps, services; list replicasets.apps, events; patch deployments.apps/scale; ",
		"Apply the Role of `examples/rights/kubernetes.yaml` in this namespace.", "1 added", `status = "REACHABLE"`,
	} {
		if !strings.Contains(plain, want) {
			t.Errorf("the apply does not say %q:\n%s", want, out)
		}
	}
	if n := strings.Count(plain, "Warning: The credentials"); n != 1 {
		t.Errorf("%d warnings about rights, one is wanted:\n%s", n, out)
	}
	if strings.Contains(out, lab.LimitedToken) {
		t.Error("the apply says the token")
	}
	c.run(t, "narrow", nil, "destroy", "-auto-approve", "-no-color")
}

// TestContentChangesAfterThePlan applies a saved plan after the package changed:
// nothing may be onboarded that was not planned.
func TestContentChangesAfterThePlan(t *testing.T) {
	c := newCLI(t)
	const example = "resources/vnf_package"
	c.run(t, example, nil, "plan", "-out=saved", "-no-color")
	acctest.Edit(t, filepath.Join(c.root, "packages", "hello"), "hello.yaml", "description: web server", "description: another web server")
	acctest.Hash(t, filepath.Join(c.root, "packages", "hello"))
	cmd := exec.CommandContext(t.Context(), c.binary, "apply", "-no-color", "saved") //nolint:gosec // the terraform that the tests use
	cmd.Dir, cmd.Env = filepath.Join(c.root, filepath.FromSlash(example)), slices.Concat(os.Environ(), c.env)
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("a content that was not planned is applied:\n%s", out)
	}
	if !strings.Contains(string(out), "inconsistent final plan") {
		t.Errorf("the apply is refused for another reason:\n%s", out)
	}
	if out := c.apply(t, example); !strings.Contains(out, "1 added") {
		t.Errorf("something was left of the refused apply:\n%s", out)
	}
	c.run(t, example, nil, "destroy", "-auto-approve", "-no-color")
}

// kubeconfigSecrets returns the secrets of a kubeconfig as they are written there,
// and lines of the decoded keys.
func kubeconfigSecrets(t *testing.T, text string) (written, decoded []string) {
	t.Helper()
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if key != "client-key-data" {
			continue
		}
		value = strings.Trim(value, `"`)
		written = append(written, value)
		pem, err := base64.StdEncoding.DecodeString(value)
		require.NoError(t, err)
		decoded = append(decoded, strings.Split(string(pem), "\n")[1])
	}
	if len(written) == 0 {
		t.Fatal("the kubeconfig of the lab holds no key")
	}
	return written, decoded
}

// grep fails for each file under root that holds a secret.
func grep(t *testing.T, root string, secrets []string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path) //nolint:gosec // a file of the test
		if err != nil {
			return err
		}
		files++
		for _, secret := range secrets {
			if bytes.Contains(data, []byte(secret)) {
				t.Errorf("%s holds a secret", path)
			}
		}
		return nil
	})
	require.NoError(t, err)
	if files == 0 {
		t.Errorf("there is no file in %s", root)
	}
}
