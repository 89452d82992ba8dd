//go:build linux

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// kindShare is how much of a network function is of one kind.
type kindShare struct {
	kind    string
	percent int
	text    string
}

// shares are the kinds of the workload, in the order in which every tenth object
// belongs to the change set.
var shares = []kindShare{
	{"ConfigMap", 40, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: NAME\n  labels: {app: NAMELABELS}\ndata:\nDATA"},
	{"Secret", 10, "apiVersion: v1\nkind: Secret\nmetadata:\n  name: NAME\n  labels: {app: NAMELABELS}\ntype: Opaque\nstringData:\n  username: NAME\n  password: secret-of-NAME\n"},
	{"Service", 15, "apiVersion: v1\nkind: Service\nmetadata:\n  name: NAME\n  labels: {app: NAMELABELS}\nspec:\n  selector: {app: NAME}\n  ports: [{name: http, port: 80, targetPort: 8080}]\n"},
	{"Deployment", 15, `apiVersion: apps/v1
kind: Deployment
metadata:
  name: NAME
  labels: {app: NAMELABELS}
spec:
  replicas: 1
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      containers:
        - name: main
          image: registry.example/NAME:TAG
          ports: [{name: http, containerPort: 8080}]
          env: [{name: ROLE, value: NAME}]
          resources: {requests: {cpu: 10m, memory: 16Mi}}
`},
	{"ServiceAccount", 5, "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: NAME\n  labels: {app: NAMELABELS}\n"},
	{"Role", 5, "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: NAME\n  labels: {app: NAMELABELS}\nrules:\n  - {apiGroups: [''], resources: [configmaps], verbs: [get, list]}\n"},
	{"RoleBinding", 5, "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n  name: NAME\n  labels: {app: NAMELABELS}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: NAME}\nsubjects: [{kind: User, name: NAME, apiGroup: rbac.authorization.k8s.io}]\n"},
	{"NetworkPolicy", 5, "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: NAME\n  labels: {app: NAMELABELS}\nspec:\n  podSelector: {matchLabels: {app: NAME}}\n  policyTypes: [Ingress]\n  ingress: [{from: [{podSelector: {}}]}]\n"},
}

// countsOf are the numbers of objects of each of shares: those with the largest remainders get what is left.
func countsOf(n int) []int {
	counts, order, left := make([]int, len(shares)), make([]int, len(shares)), n
	for k, share := range shares {
		counts[k], order[k] = n*share.percent/100, k
		left -= counts[k]
	}
	slices.SortStableFunc(order, func(a, b int) int { return n*shares[b].percent%100 - n*shares[a].percent%100 })
	for _, k := range order[:left] {
		counts[k]++
	}
	return counts
}

const (
	// scaledVDU is the VDU that has a scaling aspect, and its Deployment.
	scaledVDU = "deployment-0001"
	aspect    = "workers"
	// changedEvery says which objects belong to the change set.
	changedEvery = 10
)

// workload is a network function of n objects as a VNF package.
type workload struct {
	n int
	// allVDUs makes a VDU of every Deployment instead of one.
	allVDUs bool
	// dir is the package, manifests the folder with one file for each object.
	dir, manifests string
	deployments    []string
	changed        int
}

// newWorkload writes the package into a folder of the benchmark.
func newWorkload(b *testing.B, n int, allVDUs bool) *workload {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "package")
	w := &workload{n: n, allVDUs: allVDUs, dir: dir, manifests: filepath.Join(dir, "Files", "kubernetes")}
	w.write(b, false)
	return w
}

// write writes the package as it is at first, or with its change set.
func (w *workload) write(b *testing.B, change bool) {
	b.Helper()
	w.deployments, w.changed = nil, 0
	var artifacts []string
	put := func(path, text string) {
		acctest.Write(b, w.dir, path, text)
		artifacts = append(artifacts, path)
	}
	index := 0
	counts := countsOf(w.n)
	for k, share := range shares {
		for i := range counts[k] {
			name := fmt.Sprintf("%s-%04d", strings.ToLower(share.kind), i)
			if share.kind == "Deployment" {
				w.deployments = append(w.deployments, name)
			}
			labels, tag, value := "", "1.0.0", "first"
			if index%changedEvery == 0 {
				w.changed++
				if change {
					labels, tag, value = ", revision: second", "1.0.1", "second"
				}
			}
			text := strings.NewReplacer("NAMELABELS", name+labels, "NAME", name, "TAG", tag, "DATA", configuration(value)).Replace(share.text)
			put(fmt.Sprintf("Files/kubernetes/%04d-%s.yaml", index, name), text)
			index++
		}
	}
	put("vnfd.yaml", w.descriptor())
	writeManifest(b, w.dir, artifacts)
}

// asChart writes a package with the same objects in a chart. It returns the folder of the package, and that of the chart.
func (w *workload) asChart(b *testing.B) (dir, chart string) {
	b.Helper()
	dir = filepath.Join(b.TempDir(), "package")
	var artifacts []string
	put := func(path, text string) {
		acctest.Write(b, dir, path, text)
		artifacts = append(artifacts, path)
	}
	entries, err := os.ReadDir(w.manifests)
	require.NoError(b, err)
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(w.manifests, e.Name()))
		require.NoError(b, err)
		put(chartPath+"/templates/"+e.Name(), string(text))
	}
	put(chartPath+"/Chart.yaml", "apiVersion: v2\nname: bench\nversion: 1.0.0\n")
	put("vnfd.yaml", w.descriptor())
	writeManifest(b, dir, artifacts)
	return dir, filepath.Join(dir, filepath.FromSlash(chartPath))
}

// chartPath is where the package of asChart has its chart.
const chartPath = "Artifacts/bench"

// writeManifest writes the manifest of a package.
func writeManifest(b *testing.B, dir string, artifacts []string) {
	b.Helper()
	manifest := `metadata:
  vnf_product_name: bench
  vnf_provider_id: bench
  vnf_package_version: "1.0"
  vnf_release_date_time: 2026-11-01T08:00:00Z
  vnfd_id: ` + vnfdID + `
  vnf_software_version: "1.0.0"
  vnfm_info: terraform-provider-vnf
  compatible_specification_versions: 4.3.1
`
	for _, path := range artifacts {
		manifest += "\nSource: " + path + "\nAlgorithm: SHA-256\nHash: 00\n"
	}
	acctest.Write(b, dir, "vnfd.mf", manifest)
	acctest.Hash(b, dir)
}

const vnfdID = "5b0c4c43-4a53-4b43-9a1f-6f1e7b0e6b01"

// descriptor is the VNFD: one VDU with a scaling aspect, or all Deployments.
func (w *workload) descriptor() string {
	vdus := []string{scaledVDU}
	if w.allVDUs || !slices.Contains(w.deployments, scaledVDU) {
		vdus = w.deployments
	}
	var nodes strings.Builder
	for _, name := range vdus {
		fmt.Fprintf(&nodes, `
    %[1]s:
      type: tosca.nodes.nfv.Vdu.Compute
      properties:
        name: %[1]s
        description: one Deployment
        vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 4 }
`, name)
	}
	return `tosca_definitions_version: tosca_simple_yaml_1_3
description: A network function of many objects

metadata:
  template_name: bench
  template_version: "1.0"
  template_author: bench

topology_template:
  node_templates:
    VNF:
      type: tosca.nodes.nfv.VNF
      properties:
        descriptor_id: ` + vnfdID + `
        descriptor_version: "1.0"
        provider: bench
        product_name: bench
        software_version: "1.0.0"
        vnfm_info: [terraform-provider-vnf]
        flavour_id: default
        flavour_description: the only one
` + nodes.String() + `
  policies:
    - scaling_aspects:
        type: tosca.policies.nfv.ScalingAspects
        properties:
          aspects:
            ` + aspect + `: { name: ` + aspect + `, description: the VDU that is scaled, max_scale_level: 3, step_deltas: [one] }
    - initial_delta:
        type: tosca.policies.nfv.VduInitialDelta
        properties: { initial_delta: { number_of_instances: 1 } }
        targets: [` + strings.Join(vdus, ", ") + `]
    - deltas:
        type: tosca.policies.nfv.VduScalingAspectDeltas
        properties: { aspect: ` + aspect + `, deltas: { one: { number_of_instances: 1 } } }
        targets: [` + vdus[min(1, len(vdus)-1)] + `]
`
}

// configuration is the data of a ConfigMap: twelve lines, of which the first may change.
func configuration(value string) string {
	var text strings.Builder
	for i := range 12 {
		fmt.Fprintf(&text, "  key%02d: %s line of a configuration file of the usual length\n", i, value)
		value = "a"
	}
	return text.String()
}

// size is the number of bytes of the manifests.
func (w *workload) size(b *testing.B) int64 {
	b.Helper()
	entries, err := os.ReadDir(w.manifests)
	require.NoError(b, err)
	var total int64
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(b, err)
		total += info.Size()
	}
	return total
}
