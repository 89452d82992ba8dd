package clustertemplate_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/compare"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

const address = "vnf_capi_cluster_template.test"

// template is a configuration with a template "test" of some arguments.
func template(image, arguments string) string {
	return `
resource "vnf_capi_cluster_template" "test" {
  name  = "standard"
  image = { ` + image + ` }
` + arguments + `
}
`
}

const image = `name = "node", kube_version = "v1.34.0", os_distro = "ubuntu"`

// The definition is known at plan time, and the id is another one when, and only when,
// the content is.
func TestAccClusterTemplate(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	id := statecheck.CompareValue(compare.ValuesDiffer())
	watch := func() statecheck.StateCheck { return id.AddStateValue(address, tfjsonpath.New("id")) }
	labels := `labels = { octavia_provider = "ovn" }`
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: template(image, ""),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectKnownValue(address, tfjsonpath.New("definition"), knownvalue.StringExact(
						`{"image":{"name":"node","kube_version":"v1.34.0","os_distro":"ubuntu"},"chart":{"name":"openstack"}}`)),
					plancheck.ExpectKnownValue(address, tfjsonpath.New("id"), knownvalue.StringRegexp(regexp.MustCompile(`^standard@sha256:[0-9a-f]{64}$`))),
				}},
				ConfigStateChecks: []statecheck.StateCheck{watch()},
			},
			{
				Config:           template(image, ""),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			},
			{
				Config:            template(image, labels),
				ConfigPlanChecks:  resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate)}},
				ConfigStateChecks: []statecheck.StateCheck{watch()},
			},
			{
				Config: template(image, labels+`
  chart = { path = "charts/openstack-cluster", values = ["apiServer: { port: 80 }", yamlencode({ apiServer = { port = 443 }, share = 0.5 })] }
  kubernetes_version    = "1.34.0"
  control_plane_flavor  = "m1.large"
  node_flavor           = "m1.medium"
  keypair               = "ops"
  external_network      = "e63ca1a0-f69d-4fbf-b306-310857b1afe5"
  fixed_network         = "tenant"
  fixed_subnet          = "tenant-v4"
  dns_nameservers       = ["1.1.1.1"]
  network_driver        = "calico"
  volume_types          = ["fast"]
  keystone              = { auth_url = "https://keystone.example:5000/v3", project_id = "p" }
`),
				ConfigStateChecks: []statecheck.StateCheck{watch(), statecheck.ExpectKnownValue(address, tfjsonpath.New("definition"), knownvalue.StringExact(
					`{"image":{"name":"node","kube_version":"v1.34.0","os_distro":"ubuntu"},"kubernetes_version":"1.34.0",`+
						`"chart":{"path":"charts/openstack-cluster","values":{"apiServer":{"port":443},"share":0.5}},`+
						`"control_plane_flavor":"m1.large","node_flavor":"m1.medium","keypair":"ops",`+
						`"external_network":"e63ca1a0-f69d-4fbf-b306-310857b1afe5","fixed_network":"tenant","fixed_subnet":"tenant-v4",`+
						`"dns_nameservers":["1.1.1.1"],"network_driver":"calico","volume_types":["fast"],`+
						`"keystone":{"auth_url":"https://keystone.example:5000/v3","project_id":"p"},"labels":{"octavia_provider":"ovn"}}`))},
			},
			{
				// A chart of a repository is fetched by those who take the template.
				Config: template(image, `chart = { repository = "https://charts.example", name = "openstack-cluster", version = "~0.27", insecure_skip_tls_verify = true, values = [yamlencode({ a = 1 })] }`),
				ConfigStateChecks: []statecheck.StateCheck{watch(), statecheck.ExpectKnownValue(address, tfjsonpath.New("definition"), knownvalue.StringExact(
					`{"image":{"name":"node","kube_version":"v1.34.0","os_distro":"ubuntu"},`+
						`"chart":{"name":"openstack-cluster","repository":"https://charts.example","version":"~0.27","values":{"a":1}},"chart_server":{"insecure_skip_tls_verify":true}}`))},
			},
			{
				Config: template(image, `chart = { oci = "oci://charts.example/openstack-cluster", digest = "sha256:`+strings.Repeat("0", 64)+`" }`),
				ConfigStateChecks: []statecheck.StateCheck{watch(), statecheck.ExpectKnownValue(address, tfjsonpath.New("definition"), knownvalue.StringExact(
					`{"image":{"name":"node","kube_version":"v1.34.0","os_distro":"ubuntu"},`+
						`"chart":{"oci":"oci://charts.example/openstack-cluster","digest":"sha256:`+strings.Repeat("0", 64)+`"}}`))},
			},
		},
	})
}

func TestAccClusterTemplate_badInput(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	refused := map[string]acctest.Refused{}
	for name, c := range map[string]struct{ image, arguments, want string }{
		"no image":       {`kube_version = "v1.34.0", os_distro = "ubuntu"`, ``, `No attribute specified when one \(and only one\) of`},
		"two images":     {image + `, id = "x"`, ``, `2 attributes specified when one`},
		"two charts":     {image, `chart = { name = "openstack", path = "x" }`, `name is that of a chart in a repository, or of an embedded chart, and path is another source`},
		"chart":          {image, `chart = { name = "openshift" }`, `There is no embedded chart "openshift"`},
		"no chart there": {image, `chart = { repository = "https://charts.example" }`, `A repository has many charts: set name as well`},
		"chart version":  {image, `chart = { version = "0.1.0" }`, `version is only for a chart from a repository or registry`},
		"values":         {image, `chart = { values = ["a: 1", "- a"] }`, `chart\.values\[1\]: line 1, column 1: this is a list`},
		"version":        {image, `kubernetes_version = "1.35.0"`, `The image has Kubernetes 1\.34\.0, not 1\.35\.0`},
		"image version":  {`name = "n", kube_version = "new", os_distro = "ubuntu"`, ``, `"new" is not a valid version of Kubernetes`},
		"distribution":   {`name = "n", kube_version = "1.34.0", os_distro = "coreos"`, ``, `Nodes cannot be made of "coreos"`},
		"label":          {image, `labels = { colour = "blue" }`, `There is no label "colour" here.*The known labels are api_master_lb_allowed_cidrs`},
		"addon":          {image, `labels = { monitoring_enabled = "true" }`, `has no addons, which label "monitoring_enabled" is about`},
		"keystone":       {image, `keystone = { auth_url = "https://user:pass@keystone", project_id = "p" }`, `must be a URL that begins with`},
	} {
		refused[name] = acctest.Refused{Config: template(c.image, c.arguments), Want: `(?s)` + c.want}
	}
	resource.Test(t, resource.TestCase{ProtoV6ProviderFactories: acctest.Factories(), Steps: acctest.RefusedSteps(t, refused)})
}
