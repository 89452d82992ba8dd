package instance_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

const lookups = `
data "vnf_instance" "by_id" {
  id = vnf_instance.test.id
}

data "vnf_instance" "unique" {
  vim_id = vnf_vim.test.id
  name   = vnf_instance.test.name
}

data "vnf_instance" "by_name" {
  vim_id    = vnf_vim.test.id
  namespace = vnf_instance.test.namespace
  name      = vnf_instance.test.name
}

data "vnf_operations" "test" {
  instance_id = vnf_instance.test.id
  depends_on  = [vnf_instance.test]
}
`

// equalAttributes checks that attributes of two objects are the same.
func equalAttributes(one, other string, names ...string) resource.TestCheckFunc {
	var checks []resource.TestCheckFunc
	for _, name := range names {
		checks = append(checks, resource.TestCheckResourceAttrPair(one, name, other, name))
	}
	return allChecks(checks...)
}

// TestAccInstance_dataSource looks at an instance by its id and by its name, at its
// VNFCs, healthy and crashed, and at its operations.
func TestAccInstance_dataSource(t *testing.T) {
	env := newEnv(t)
	config := env.config("hello", `scale_levels = { web = 1 }`, `description = "for people"`, `metadata = { site = "north" }`) + lookups
	const byID, byName, operations = "data.vnf_instance.by_id", "data.vnf_instance.by_name", "data.vnf_operations.test"
	crashed := ""
	env.run(t,
		resource.TestStep{
			Config: config,
			Check: allChecks(
				equalAttributes(byID, address, "id", "name", "description", "metadata.site", "vim_id", "namespace", "package_id", "vnfd_id", "flavour_id",
					"scale_status.web", "operational_state", "status", "generation"),
				resource.TestCheckResourceAttr(byID, "vnfcs.#", "2"),
				resource.TestCheckResourceAttr(byID, "vnfcs.0.vdu_id", "web"),
				resource.TestMatchResourceAttr(byID, "vnfcs.0.id", regexp.MustCompile(`.`)),
				resource.TestMatchResourceAttr(byID, "vnfcs.0.resource_name", regexp.MustCompile(`^web-`)),
				resource.TestCheckResourceAttr(byID, "vnfcs.0.namespace", env.namespace),
				resource.TestMatchResourceAttr(byID, "vnfcs.0.node_name", regexp.MustCompile(`^node-\d$`)),
				resource.TestMatchResourceAttr(byID, "vnfcs.0.addresses.0", regexp.MustCompile(`^\d+\.\d+\.\d+\.\d+$`)),
				resource.TestCheckResourceAttr(byID, "vnfcs.0.state", "Running"),
				resource.TestCheckResourceAttr(byID, "vnfcs.0.ready", "true"),
				resource.TestCheckResourceAttr(byID, "vnfcs.0.restarts", "0"),
				resource.TestCheckNoResourceAttr(byID, "vnfcs.0.message"),
				resource.TestMatchResourceAttr(byID, "vnfcs.0.created_at", regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`)),
				equalAttributes("data.vnf_instance.unique", byID, "id"),
				equalAttributes(byName, byID, "id", "status", "vnfcs.#", "vnfcs.0.id", "vnfcs.0.node_name", "vnfcs.1.resource_name"),
				resource.TestCheckResourceAttr(operations, "operations.#", "1"),
				resource.TestCheckResourceAttr(operations, "operations.0.type", "INSTANTIATE"),
				resource.TestCheckResourceAttr(operations, "operations.0.state", "COMPLETED"),
				resource.TestCheckResourceAttr(operations, "operations.0.attempts", "1"),
				resource.TestMatchResourceAttr(operations, "operations.0.parameters", regexp.MustCompile(`"flavour_id":"default"`)),
				resource.TestMatchResourceAttr(operations, "operations.0.started_at", regexp.MustCompile(`Z$`)),
				resource.TestCheckNoResourceAttr(operations, "operations.0.error"),
			),
		},
		resource.TestStep{
			PreConfig: func() {
				crashed = env.kubectl("get", "pods", "-o", "jsonpath={.items[0].metadata.name}")
				env.kubectl("annotate", "pod", crashed, "lab.vnf/fail=crash")
				env.kubectl("wait", "pod/"+crashed, "--for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=CrashLoopBackOff", "--timeout=120s")
			},
			Config: config,
			Check: func(s *terraform.State) error {
				a := s.RootModule().Resources[byID].Primary.Attributes
				for _, i := range []string{"0", "1"} {
					got := fmt.Sprint(a["vnfcs."+i+".state"], " ", a["vnfcs."+i+".ready"], " ", a["vnfcs."+i+".restarts"] != "0")
					want := "Running true false"
					if a["vnfcs."+i+".resource_name"] == crashed {
						want = "CrashLoopBackOff false true"
					}
					if got != want {
						return fmt.Errorf("VNFC %s is %q, want %q", i, got, want)
					}
				}
				return nil
			},
		},
		resource.TestStep{
			PreConfig: func() { env.kubectl("delete", "pod", crashed) },
			Config:    strings.Replace(config, "web = 1", "web = 2", 1),
			Check: allChecks(
				resource.TestCheckResourceAttr(byID, "vnfcs.#", "3"),
				resource.TestCheckResourceAttr(operations, "operations.1.type", "SCALE"),
				resource.TestMatchResourceAttr(operations, "operations.1.parameters", regexp.MustCompile(`"aspect_id":"web","number_of_steps":1,"type":"SCALE_OUT"`)),
			),
		},
		resource.TestStep{
			Config:      config + "data \"vnf_instance\" \"both\" {\n  id = \"x\"\n  name = \"test\"\n}\n",
			ExpectError: sentence(`Conflicting Lookup Arguments`, `Set either id, or vim_id and name, and namespace where the name is not unique.`),
		},
		resource.TestStep{
			Config:      config + "data \"vnf_instance\" \"half\" {\n  name = \"test\"\n}\n",
			ExpectError: sentence(`Missing Lookup Arguments`, `Set either id, or vim_id and name, and namespace where the name is not unique.`),
		},
		resource.TestStep{
			Config:      config + "data \"vnf_instance\" \"none\" {\n  id = \"none\"\n}\n",
			ExpectError: sentence(`Unable to Find VNF Instance`, `VNF instance "none" is not in the store.`),
		},
	)
}

// TestAccInstance_listDataSource filters instances, and shows the others when one
// VIM does not answer.
func TestAccInstance_listDataSource(t *testing.T) {
	env := newEnv(t)
	elsewhere := env.lab.Namespace(t)
	far := strings.ReplaceAll(env.faultyVIM(), `"vnf_vim" "test"`, `"vnf_vim" "far"`)
	far = strings.Replace(far, `name = "test"`, `name = "far"`, 1)
	second := strings.ReplaceAll(strings.ReplaceAll(env.second(), env.namespace, elsewhere), "vnf_vim.test", "vnf_vim.far")
	second = strings.Replace(second, `= "test"`, `= "second"`, 1)
	lists := ""
	for name, filter := range map[string]string{
		"all": "", "name": `name = "second"`, "namespace": fmt.Sprintf("namespace = %q", env.namespace), "vim": "vim_id = vnf_vim.far.id",
		"package": "package_id = vnf_package.test.id", "none": `name = "third"`, "two": fmt.Sprintf("name = \"second\"\n  namespace = %q", env.namespace),
	} {
		lists += fmt.Sprintf("data \"vnf_instances\" %q {\n  depends_on = [vnf_instance.test, vnf_instance.second]\n  %s\n}\n", name, filter)
	}
	config := env.store.Config(acctest.VIM(env, env.lab, "test"), far, pkg(examplePackage(t, "hello")), env.instance(), second)
	count := func(name, n string) resource.TestCheckFunc {
		return resource.TestCheckResourceAttr("data.vnf_instances."+name, "instances.#", n)
	}
	env.run(t,
		resource.TestStep{
			Config: config + lists,
			Check: allChecks(
				count("all", "2"), count("name", "1"), count("namespace", "1"), count("vim", "1"), count("package", "2"), count("none", "0"), count("two", "0"),
				resource.TestCheckResourceAttrPair("data.vnf_instances.name", "instances.0.id", "vnf_instance.second", "id"),
				resource.TestCheckResourceAttrPair("data.vnf_instances.vim", "instances.0.id", "vnf_instance.second", "id"),
				resource.TestCheckResourceAttrPair("data.vnf_instances.namespace", "instances.0.id", "vnf_instance.test", "id"),
				resource.TestCheckResourceAttr("data.vnf_instances.all", "instances.0.vnfcs.#", "1"),
				resource.TestCheckResourceAttr("data.vnf_instances.all", "instances.1.vnfcs.0.ready", "true"),
			),
		},
	)
}
