package workloadcluster_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// magnumName is the name of a cluster that Magnum's driver made: that in Magnum, and the id of its stack.
const magnumName = "edge-q7hzk2mdw4xv"

// magnumValues are what Magnum's driver gave to the release, in the names of openstack-cluster.
const magnumValues = `
kubernetesVersion: 1.34.0
provisioning: { startupDuration: 1s }
controlPlane: { machineCount: 1, healthCheck: { enabled: true } }
nodeGroupDefaults: { healthCheck: { enabled: true } }
nodeGroups:
- { name: default-worker, machineCount: 1 }
`

// TestAccWorkloadCluster_importsMagnum takes over a cluster as Magnum's driver for Cluster API leaves it: a release that Helm has
// installed, whose name has the id of the stack, with certificate authorities and credentials that Magnum wrote before. No machine
// is replaced, and from then on the cluster is changed in the words of the resource.
func TestAccWorkloadCluster_importsMagnum(t *testing.T) {
	env := newEnv(t)
	helm := env.lab.Helm(t, env.namespace)
	source, err := filepath.Abs("../../capi/forms/charts/in-memory")
	require.NoError(t, err)
	values := env.file("edge.yaml", magnumValues)
	config := func(more string) string {
		return strings.Replace(env.config(fmt.Sprintf(`
  chart          = { path = %q, values = [file(%q)] }
  adopt_existing = true
%s
`, source, values, more)), `"edge"`, fmt.Sprintf("%q", magnumName), 1)
	}
	machines := func() []string {
		names := strings.Fields(env.kubectl("get", "machines", "-o", "jsonpath={.items[*].metadata.name}"))
		slices.Sort(names)
		return names
	}
	authority := func() string {
		return env.kubectl("get", "secret", magnumName+"-ca", "-o", "jsonpath={.data.tls\\.crt}")
	}
	var before []string
	var ca string
	env.run(t,
		resource.TestStep{Config: env.store.Config(acctest.VIM(env, env.lab, "test"))},
		resource.TestStep{
			PreConfig: func() {
				env.magnumSecrets()
				helm.Run(t, "install", magnumName, source, "--values", values)
				env.kubectl("wait", "cluster/"+magnumName, "--for=condition=Available", "--timeout=5m")
				before, ca = machines(), authority()
			},
			Config: config(""), ImportState: true, ResourceName: address, ImportStatePersist: true,
			ImportStateIdFunc: func(s *terraform.State) (string, error) {
				return s.RootModule().Resources["vnf_vim.test"].Primary.ID + "/" + env.namespace + "/" + magnumName, nil
			},
		},
		resource.TestStep{
			Config:            config("force_conflicts = true"),
			ConfigPlanChecks:  updates(),
			ConfigStateChecks: []statecheck.StateCheck{status("READY"), groupHas("default-worker", "available_replicas", 1)},
			Check: func(*terraform.State) error {
				if now := machines(); !slices.Equal(now, before) || authority() != ca {
					return fmt.Errorf("the machines were %v and are %v", before, now)
				}
				return nil
			},
		},
		resource.TestStep{
			// Neither Helm nor force is needed any more.
			PreConfig:        func() { env.kubectl("delete", "secrets", "-l", "owner=helm,name="+magnumName) },
			Config:           config(""),
			ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
		},
		resource.TestStep{
			Config:            config("node_groups = { default-worker = { replicas = 2 } }"),
			ConfigPlanChecks:  updates(),
			ConfigStateChecks: []statecheck.StateCheck{groupHas("default-worker", "available_replicas", 2)},
			Check: func(*terraform.State) error {
				if now := machines(); len(now) != 3 {
					return fmt.Errorf("the machines were %v and are %v", before, now)
				}
				return nil
			},
		},
		resource.TestStep{
			Config:   config("kubernetes_version = \"1.35.0\"\n  node_groups = { default-worker = { replicas = 2 } }"),
			PlanOnly: true, ExpectNonEmptyPlan: true,
			ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPreRefresh: []plancheck.PlanCheck{
				plancheck.ExpectKnownValue(address, tfjsonpath.New("kubernetes_version"), knownvalue.StringExact("1.35.0")),
			}},
		},
		resource.TestStep{
			Config:      config("kubernetes_version = \"1.36.0\"\n  node_groups = { default-worker = { replicas = 2 } }"),
			ExpectError: acctest.Says(`1\.34\.0.*1\.36\.0`),
		},
	)
}

// magnumSecrets writes what Magnum's driver writes before it installs the release.
func (env *testEnv) magnumSecrets() {
	env.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(env, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: magnumName}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour * 24 * 365), KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(env, err)
	crt := env.file("ca.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})))
	pub, err := x509.MarshalPKIXPublicKey(key.Public())
	require.NoError(env, err)
	public := env.file("sa.pub", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: pub})))
	private := env.file("ca.key", string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})))
	for part, certificate := range map[string]string{"ca": crt, "etcd": crt, "proxy": crt, "sa": public} {
		name := magnumName + "-" + part
		env.kubectl("create", "secret", "generic", name, "--type=cluster.x-k8s.io/secret", "--from-file=tls.crt="+certificate, "--from-file=tls.key="+private)
		env.kubectl("label", "secret", name, "cluster.x-k8s.io/cluster-name="+magnumName, "magnum.openstack.org/cluster-uuid=5f0c3a1e")
	}
	env.kubectl("create", "secret", "generic", magnumName+"-cloud-credentials", "--from-literal=clouds.yaml=clouds: {}")
	env.kubectl("label", "secret", magnumName+"-cloud-credentials", "magnum.openstack.org/cluster-uuid=5f0c3a1e")
}
