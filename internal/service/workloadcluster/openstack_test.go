package workloadcluster_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/cloudtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// cloudVIM is a vnf_vim "cloud" for a user of a cloud.
func cloudVIM(cloud *cloudtest.Cloud, user string) string {
	return fmt.Sprintf(`
resource "vnf_vim" "cloud" {
  name = "cloud"
  openstack = {
    auth_url            = %q
    region              = %q
    username            = %q
    project_name        = %q
    password_wo         = "devstack"
    password_wo_version = 1
  }
}
`, cloud.URL, cloudtest.Region, user, cloudtest.Project)
}

// ownCredential is the argument openstack with an application credential.
func ownCredential(arguments string) string {
	return fmt.Sprintf("  openstack = { vim_id = vnf_vim.cloud.id, application_credential = { %s } }\n", arguments)
}

// reader is a Deployment that reads the cloud configuration, as the controller of a CSI driver does.
const reader = `apiVersion: apps/v1
kind: Deployment
metadata: { name: reader, namespace: kube-system }
spec:
  selector: { matchLabels: { app: reader } }
  template:
    metadata: { labels: { app: reader } }
    spec:
      containers: [{ name: reader, image: registry.example/reader }]
      volumes: [{ name: cloud, secret: { secretName: cloud-config } }]
`

// The application credential of a cluster, from its birth to its end, and the Secret on the cluster that holds it: the form of
// the cluster does not matter to them. It is a topology whose workload API is a real one, which becomes a VIM in the same apply, with
// what a network function needs of it.
func TestAccWorkloadCluster_applicationCredential(t *testing.T) {
	env := newEnv(t)
	env.lab.LabClass(t, env.namespace)
	cloud := cloudtest.New(t)
	cloud.AddUser("successor", "devstack")
	configured := func(version string, replicas int, credential, cloudConfig, user string) string {
		return env.config(fmt.Sprintf(`
  kubernetes_version = %q
  topology           = { class = "lab" }
  control_plane      = { replicas = 3 }
  node_groups        = { a = { class = "worker", replicas = %d } }
  openstack = {
    vim_id                 = vnf_vim.cloud.id
    application_credential = { %s }
    %s
  }
`, version, replicas, credential, cloudConfig), cloudVIM(cloud, user), env.functionOnIt())
	}
	const cloudConfig = `cloud_config = { settings = { LoadBalancer = { lb-provider = "ovn" } } }`
	config := func(credential, user string) string { return configured("1.36.3", 1, credential, cloudConfig, user) }
	without := func(version string, replicas int) string {
		return configured(version, replicas, "rotation_trigger = \"leaked\", roles = [\"member\"]", "", "successor")
	}
	workload := func(args ...string) string {
		return strings.TrimSpace(env.lab.WorkloadKubectl(t, env.namespace, "edge", args...))
	}
	conf := func(secret string) string {
		return workload("get", "secret", "-n", "kube-system", "--ignore-not-found", secret, "-o", "go-template={{ index .data \"cloud.conf\" | base64decode }}")
	}
	secret := func(path string) string { return env.kubectl("get", "secret", "edge-cloud-credentials", "-o", path) }
	var id, uid, machines string
	// runEphemeral remembers what there is, and checks that it is one credential in use.
	look := func(rotated bool, others int) resource.TestCheckFunc {
		return func(s *terraform.State) error {
			was := id
			id = s.RootModule().Resources[address].Primary.Attributes["application_credential_id"]
			clouds := secret("go-template={{ index .data \"clouds.yaml\" | base64decode }}")
			switch names := cloud.CredentialNames(); {
			case !strings.Contains(clouds, id) || id == "":
				return fmt.Errorf("the Secret does not hold application credential %q", id)
			case len(names) != 1+others:
				return fmt.Errorf("Keystone has the application credentials %v", names)
			case was != "" && rotated == (was == id):
				return fmt.Errorf("application credential %s follows %s", id, was)
			}
			// The Secret and the machines stay as they are.
			nowUID, nowMachines := secret("jsonpath={.metadata.uid}"), env.kubectl("get", "machines", "-o", "name")
			if uid != "" && (nowUID != uid || nowMachines != machines) {
				return fmt.Errorf("the Secret or the machines were replaced")
			}
			uid, machines = nowUID, nowMachines
			text, err := json.Marshal(s.Modules)
			if err != nil {
				return err
			}
			at := strings.Index(clouds, "application_credential_secret: ")
			require.Positive(t, at)
			if text := conf("cloud-config"); !strings.Contains(text, fmt.Sprintf("application-credential-id=%q\napplication-credential-secret=%q\n", id, strings.Fields(clouds[at:])[1])) || !strings.Contains(text, `lb-provider="ovn"`) {
				return fmt.Errorf("the cloud configuration does not hold application credential %q", id)
			}
			if hidden := strings.Fields(clouds[at:])[1]; strings.Contains(string(text), hidden) || strings.Contains(string(text), "devstack") {
				return fmt.Errorf("the state holds a secret")
			}
			return nil
		}
	}
	rotates := resource.ConfigPlanChecks{
		PreApply: []plancheck.PlanCheck{
			plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
			plancheck.ExpectUnknownValue(address, tfjsonpath.New("application_credential_id")),
		},
		PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
	}
	env.run(t,
		resource.TestStep{
			Config:           config("", "nfv_user"),
			ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			ConfigStateChecks: []statecheck.StateCheck{
				status("READY"), groupHas("a", "available_replicas", 1),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("control_plane_status").AtMapKey("replicas"), knownvalue.Int64Exact(3)),
				statecheck.ExpectKnownValue("vnf_instance.hello", tfjsonpath.New("status"), knownvalue.StringExact("INSTANTIATED")),
			},
			Check: resource.ComposeTestCheckFunc(look(false, 0), func(*terraform.State) error {
				workload("apply", "-f", env.file("reader.yaml", reader))
				workload("rollout", "status", "deployment/reader", "-n", "kube-system", "--timeout", "2m")
				made, cluster := secret("jsonpath={.metadata.creationTimestamp}"), env.kubectl("get", "cluster", "edge", "-o", "jsonpath={.metadata.creationTimestamp}")
				if made > cluster {
					return fmt.Errorf("the Secret was made at %s, and the Cluster at %s", made, cluster)
				}
				return nil
			}),
		},
		resource.TestStep{
			// An action issues another one, and no plan is left of it.
			PreConfig: func() {
				all, err := env.store.Manager(t).Instances(t.Context(), vnfm.InstanceFilter{Name: "edge"})
				require.NoError(t, err)
				require.Len(t, all, 1)
				require.NotEmpty(t, env.store.Invoke(t, "vnf_rotate_credential", map[string]any{"cluster_id": all[0].ID}))
			},
			Config:           config("", "nfv_user"),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			Check:            look(true, 0),
		},
		resource.TestStep{
			Config: config("rotation_trigger = \"leaked\", roles = [\"member\"]", "nfv_user"), ConfigPlanChecks: rotates,
			Check: resource.ComposeTestCheckFunc(look(true, 0), func(*terraform.State) error {
				// What has read the former credential was rolled out before that was deleted.
				if sets := strings.Fields(workload("get", "replicasets", "-n", "kube-system", "-l", "app=reader", "-o", "jsonpath={.items[*].status.readyReplicas}")); len(sets) != 1 {
					return fmt.Errorf("the ReplicaSets of the reader have %v ready pods", sets)
				}
				if n := workload("get", "replicasets", "-n", "kube-system", "-l", "app=reader", "-o", "name"); strings.Count(n, "\n") != 2 {
					return fmt.Errorf("the reader was not rolled out twice: %s", n)
				}
				return nil
			}),
		},
		resource.TestStep{
			// Deleted and changed behind Terraform's back.
			PreConfig:        func() { workload("delete", "secret", "cloud-config", "-n", "kube-system") },
			Config:           config("rotation_trigger = \"leaked\", roles = [\"member\"]", "nfv_user"),
			ConfigPlanChecks: updates(),
			Check:            look(false, 0),
		},
		resource.TestStep{
			// It stops working behind Terraform's back: the plan shows it.
			PreConfig: func() {
				owner := cloud.User("nfv_user")
				cloud.Change(func() { clear(owner.Credentials) })
			},
			Config:           config("rotation_trigger = \"leaked\", roles = [\"member\"]", "nfv_user"),
			ConfigPlanChecks: rotates,
			Check:            look(true, 0),
		},
		resource.TestStep{
			// The VIM gets another user, and the cluster another credential in the same apply, which deletes that of the former user.
			Config: config("rotation_trigger = \"leaked\", roles = [\"member\"]", "successor"), ConfigPlanChecks: rotates, Check: look(true, 0),
		},
		resource.TestStep{
			Config:           without("1.36.3", 1),
			ConfigPlanChecks: updates(),
			Check: func(*terraform.State) error {
				if left := workload("get", "secret", "cloud-config", "-n", "kube-system", "--ignore-not-found", "-o", "name"); left != "" {
					return fmt.Errorf("%s is left", left)
				}
				return nil
			},
		},
		env.upgradeOfARealCluster(without("1.36.4", 2)),
		resource.TestStep{
			// At the end nothing of the cluster is there any more when the credential goes.
			PreConfig: func() {
				cloud.Refuse(func(_ http.ResponseWriter, r *http.Request) bool {
					if r.Method == http.MethodDelete {
						if left := env.kubectl("get", "clusters,machines,labclusters", "-o", "name", "--ignore-not-found"); left != "" {
							t.Errorf("the application credential goes before %s", left)
						}
					}
					return false
				})
			},
			Config:  without("1.36.4", 2),
			Destroy: true,
		},
	)
	require.Empty(t, cloud.CredentialNames())
}

// functionOnIt is a network function on the cluster, which is a VIM.
func (env *testEnv) functionOnIt() string {
	return fmt.Sprintf(`
resource "vnf_vim" "edge" {
  name       = "edge"
  kubernetes = { kubeconfig_ref = vnf_capi_workload_cluster.test.kubeconfig_ref }
}

resource "vnf_package" "hello" {
  name   = "hello"
  source = %q
}

resource "vnf_instance" "hello" {
  name       = "hello"
  vim_id     = vnf_vim.edge.id
  package_id = vnf_package.hello.id
  namespace  = "hello"
}
`, acctest.ExamplePackage(env, "hello"))
}

// upgradeOfARealCluster replaces the nodes by two of version 1.36.4. The network function stays on the cluster meanwhile.
func (env *testEnv) upgradeOfARealCluster(config string) resource.TestStep {
	return resource.TestStep{
		Config:           config,
		ConfigPlanChecks: updates(),
		ConfigStateChecks: []statecheck.StateCheck{
			groupHas("a", "available_replicas", 2), groupHas("a", "up_to_date_replicas", 2),
			statecheck.ExpectKnownValue(address, tfjsonpath.New("running_kubernetes_version"), knownvalue.StringExact("1.36.4")),
		},
		Check: func(*terraform.State) error {
			versions := env.lab.WorkloadKubectl(env, env.namespace, "edge", "get", "nodes", "-o", "jsonpath={.items[*].status.nodeInfo.kubeletVersion}")
			if got := strings.Fields(versions); !slices.Equal(got, []string{"v1.36.4", "v1.36.4"}) {
				return fmt.Errorf("the nodes have the versions %v", got)
			}
			env.lab.WorkloadKubectl(env, env.namespace, "edge", "rollout", "status", "deployment/web", "-n", "hello", "--timeout", "1m")
			return nil
		},
	}
}

// Errors of the argument are reported at plan time, or before anything is made.
func TestAccWorkloadCluster_badOpenStack(t *testing.T) {
	env := newEnv(t)
	cloud := cloudtest.New(t)
	steps := []resource.TestStep{}
	for _, c := range []struct{ config, want string }{
		{env.config(inMemory("1.34.0", "")+"openstack = { vim_id = vnf_vim.test.id }\n", cloudVIM(cloud, "nfv_user")), `VIM "test" is not an OpenStack VIM`},
		{
			env.config("  kubernetes_version = \"1.34.0\"\n  chart = { name = \"in-memory\", values = [yamlencode({ cloudCredentialsSecretName = \"mine\" })] }\n"+ownCredential(""), cloudVIM(cloud, "nfv_user")),
			`(?s)Conflicting Secrets With Credentials.*"edge-cloud-credentials", but this names the Secret "mine"`,
		},
		{env.config(inMemory("1.34.0", "")+ownCredential("secret_name = \"Mine\""), cloudVIM(cloud, "nfv_user")), `must be a name of an object`},
		{env.config(inMemory("1.34.0", "")+ownCredential("roles = []"), cloudVIM(cloud, "nfv_user")), `must contain at least 1`},
		{env.config(inMemory("1.34.0", "")+ownCredential("expires_at = \"soon\""), cloudVIM(cloud, "nfv_user")), `Invalid RFC3339 String Value`},
		{env.config(inMemory("1.34.0", "")+ownCredential("expires_at = \"2026-01-02T03:04:05Z\""), cloudVIM(cloud, "nfv_user")), `(?s)Time of Expiry Has Passed.*A new application credential would have expired at 2026-01-02T03:04:05Z\. Set a later time`},
		{
			env.config(inMemory("1.34.0", "")+"  openstack = { vim_id = vnf_vim.cloud.id, cloud_config = { settings = { Global = { password = \"x\" }, Networking = { \"a=b\" = \"x\" } } } }\n", cloudVIM(cloud, "nfv_user")),
			`(?s)(password of section Global follows from the VIM.*|"a=b" is not a key of cloud\.conf.*|Cloud Configuration Without an Application Credential.*openstack\.cloud_config writes the application credential of the cluster.*){3}`,
		},
		{env.config(inMemory("1.34.0", "")+ownCredential("roles = [\"king\"]"), cloudVIM(cloud, "nfv_user")), `Could not find role: king`},
	} {
		steps = append(steps, resource.TestStep{Config: c.config, ExpectError: acctest.Says(c.want)})
	}
	// Objects that a class derives from its variables are checked as well, once the VIMs are known.
	env.lab.OpenStackClass(t, env.namespace)
	steps = append(steps, resource.TestStep{Config: env.store.Config(acctest.VIM(t, env.lab, "test"), cloudVIM(cloud, "nfv_user"))}, resource.TestStep{
		Config: env.config(`
  kubernetes_version = "1.34.0"
  topology           = { class = "openstack", class_variables = jsonencode({ imageID = "00000000-0000-0000-0000-000000000000", credentials = { name = "edge-cloud-credentials" } }) }
  node_groups        = { workers = { class = "worker", replicas = 1 } }
`+ownCredential(""), cloudVIM(cloud, "nfv_user")),
		PlanOnly:    true,
		ExpectError: acctest.Says(`There is no image with the id 00000000-0000-0000-0000-000000000000 in the OpenStack`),
	})
	env.run(t, steps...)
	require.Empty(t, cloud.CredentialNames())
}
