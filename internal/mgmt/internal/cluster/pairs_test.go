package cluster_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/hosttest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/porttest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// servers is an infra driver whose servers are hosts of the test. A server with another image is made again under its id, as Nova
// does it: nothing is left on it, and its host key is another one.
type servers struct {
	vnfm.InfraDriver
	t    *testing.T
	port int

	hosts map[int]*hosttest.Host
	all   []*server
	made  int
	// members are the nodes of the cluster by name, as its installer knows them.
	members map[string]string
	// lost are nodes whose servers went before they had left the cluster, unless all of it goes.
	lost []string
	// registry is the private registry of the nodes; empty for none.
	registry string
}

type server struct {
	id, vdu, image string
	// host is the last byte of its address, and life how often it was made.
	host, life int
}

func (s *server) incarnation() string { return fmt.Sprintf("%s life %d", s.id, s.life) }

func (s *server) address() string { return fmt.Sprintf("127.0.7.%d", s.host) }

// imageOf is the image of a VDU; empty when the flavour lacks it.
func imageOf(t *vnfm.Target, vdu string) string {
	if v := t.Flavour.VDU(vdu); v != nil {
		return v.SWImages[0].Name
	}
	return ""
}

func (*servers) Params() vnfm.InfraParams { return vnfm.InfraParams{} }

func (*servers) Supports(*vnfm.Package, *vnfm.Flavour) bool { return true }

func (*servers) CheckVIM(_ context.Context, spec vnfm.VIMSpec) (vnfm.VIMCheck, error) {
	return vnfm.VIMCheck{Endpoint: "https://" + string(spec.Type) + ".example", ClusterUID: string(spec.Type)}, nil
}

func (*servers) Preview(_ context.Context, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
	out := &vnfm.Preview{Objects: map[string]string{}, FlavourID: t.Flavour.ID}
	for _, vdu := range t.Flavour.VDUIDs() {
		out.Objects["server "+vdu] = imageOf(t, vdu) + " " + t.Flavour.VDU(vdu).Compute.FlavorName
	}
	return out, nil
}

func (s *servers) Observe(ctx context.Context, t *vnfm.Target) (*vnfm.Observation, error) {
	preview, _ := s.Preview(ctx, t)
	for _, one := range s.all {
		if image := imageOf(t, one.vdu); image != "" && one.image != image {
			preview.Objects["server "+one.vdu] = vnfm.Drifted + one.id + " has image " + one.image
		}
	}
	return &vnfm.Observation{Objects: preview.Objects}, nil
}

func (*servers) DigestKey(context.Context, *vnfm.Target) ([]byte, error) { return nil, nil }

func (s *servers) Resources(context.Context, *vnfm.Target) (*vnfm.ResourceInfo, error) {
	points := map[string]string{"masterNode": "masterNode_CP1", "workerNode": "workerNode_CP2", "externalLB": "externalLB_CP1", "edgeNode": "edgeNode_CP2"}
	out := &vnfm.ResourceInfo{}
	for _, one := range s.all {
		out.VNFCs = append(out.VNFCs, vnfm.VNFC{
			ID: one.id, VDUID: one.vdu, State: "ACTIVE", Ready: true, Addresses: []string{one.address()}, ConnectionPoints: map[string][]string{points[one.vdu]: {one.address()}},
		})
	}
	return out, nil
}

// Leaving implements vnfm.InfraDriver: the newest go.
func (s *servers) Leaving(_ context.Context, t *vnfm.Target) ([]string, error) {
	var out []string
	for _, vdu := range t.Flavour.VDUIDs() {
		own := s.of(vdu)
		for n := len(own); n > t.Counts[vdu]; n-- {
			out = append(out, own[n-1].id)
		}
	}
	return out, nil
}

func (s *servers) Replacing(ctx context.Context, t *vnfm.Target) ([]vnfm.Replacement, error) {
	leaving, err := s.Leaving(ctx, t)
	var out []vnfm.Replacement
	for _, one := range s.all {
		if image := imageOf(t, one.vdu); image != "" && one.image != image && !slices.Contains(leaving, one.id) {
			out = append(out, vnfm.Replacement{VNFC: one.id})
		}
	}
	return out, err
}

func (s *servers) of(vdu string) []*server {
	return slices.DeleteFunc(slices.Clone(s.all), func(one *server) bool { return one.vdu != vdu })
}

func (s *servers) Scale(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	return s.Apply(ctx, t, r)
}

func (s *servers) Apply(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	leaving, err := s.Leaving(ctx, t)
	if err != nil {
		return err
	}
	if len(t.ScaleInVNFCIDs) > 0 {
		leaving = t.ScaleInVNFCIDs
	}
	for _, one := range slices.Clone(s.all) {
		switch {
		case slices.Contains(leaving, one.id), imageOf(t, one.vdu) == "":
			s.remove(one)
		case one.image != imageOf(t, one.vdu) && !slices.Contains(t.Held, one.id):
			s.ends(one)
			one.image = imageOf(t, one.vdu)
			s.boot(one)
		}
	}
	for _, vdu := range t.Flavour.VDUIDs() {
		for len(s.of(vdu)) < t.Counts[vdu] {
			s.add(vdu, imageOf(t, vdu))
		}
	}
	return r.SaveInventory(ctx, nil)
}

// Heal implements vnfm.InfraDriver: other servers take the places. As with Heat, everything else is made what it is to be on this
// occasion.
func (s *servers) Heal(ctx context.Context, t *vnfm.Target, h vnfm.HealSpec, r vnfm.Recorder) error {
	for _, one := range slices.Clone(s.all) {
		if slices.Contains(h.VNFCIDs, one.id) {
			s.remove(one)
			s.add(one.vdu, imageOf(t, one.vdu))
		}
	}
	return s.Apply(ctx, t, r)
}

func (s *servers) add(vdu, image string) {
	s.made++
	one := &server{id: fmt.Sprintf("%s-s%d", vdu, s.made), vdu: vdu, image: image}
	for one.host = 1; slices.ContainsFunc(s.all, func(other *server) bool { return other.host == one.host }); {
		one.host++
	}
	s.boot(one)
	s.all = append(s.all, one)
}

func (s *servers) remove(one *server) {
	s.ends(one)
	s.all = slices.DeleteFunc(s.all, func(other *server) bool { return other == one })
}

// ends notes a node that is lost with its server.
func (s *servers) ends(one *server) {
	for name, incarnation := range s.members {
		if incarnation == one.incarnation() {
			s.lost = append(s.lost, name)
		}
	}
}

func (s *servers) boot(one *server) {
	one.life++
	if old := s.hosts[one.host]; old != nil {
		old.Stop()
	}
	// A node runs containerd, which reads the connections to registries at each pull.
	s.hosts[one.host] = hosttest.NewAt(s.t, one.address(), s.port, map[string]string{
		"kubectl": "[ \"$1\" != get ] || echo node/x\n", "systemctl": "[ \"$*\" = 'is-active --quiet containerd' ]\n", "containerd": "cat " + containerdConfig + "\n",
	})
	s.hosts[one.host].Write(s.t, containerdConfig, fmt.Sprintf("version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".registry]\n  config_path = %q\n", containerdCerts))
}

// The configuration of containerd, and the folder in which it has what it knows of registries.
const (
	containerdConfig = "/etc/containerd/config.toml"
	containerdCerts  = "/etc/containerd/certs.d"
)

func (s *servers) server(vnfc string) *server {
	at := slices.IndexFunc(s.all, func(one *server) bool { return one.id == vnfc })
	if at < 0 {
		return nil
	}
	return s.all[at]
}

// members installs a cluster that is a list of nodes.
type members struct{ *servers }

func (members) Prepare(context.Context, *cluster.Cluster) error { return nil }

func (m members) Install(ctx context.Context, c *cluster.Cluster) error {
	clear(m.members)
	return m.Add(ctx, c, c.All(), false)
}

func (m members) Add(_ context.Context, _ *cluster.Cluster, added []*cluster.Node, _ bool) error {
	for _, n := range added {
		one := m.server(n.VNFC)
		m.members[n.Name] = one.incarnation()
		if n.Role == cluster.Master {
			m.hosts[one.host].Write(m.t, cluster.AdminConfig, `{"clusters": [{"cluster": {"server": "https://nobody:6443"}, "name": "k"}]}`)
		}
	}
	return nil
}

func (m members) Remove(_ context.Context, _ *cluster.Cluster, n *cluster.Node) error {
	if n.Gone {
		return fmt.Errorf("node %s went before it was removed", n.Name)
	}
	delete(m.members, n.Name)
	return nil
}

func (members) Discard(context.Context, *cluster.Cluster) error { return nil }

// check compares the cluster with the servers.
func (s *servers) check(t *testing.T, counts map[string]int) {
	t.Helper()
	want, got := map[string]string{}, map[string]string{}
	addresses := map[string][]string{}
	for _, one := range s.all {
		addresses[one.vdu] = append(addresses[one.vdu], one.address())
		if one.vdu != "externalLB" {
			want[one.incarnation()] = "node"
			require.NotEmpty(t, s.hosts[one.host].Read(t, "/etc/terraform-provider-vnf/node.json"), "%s has no mark", one.incarnation())
			known := strings.Fields(s.hosts[one.host].Read(t, "/var/lib/terraform-provider-vnf/registries.json"))
			require.Equal(t, s.registry != "", len(known) > 0, "%s knows the registries %s", one.incarnation(), known)
			if s.registry != "" {
				require.Contains(t, s.hosts[one.host].Read(t, containerdCerts+"/"+s.registry+"/hosts.toml"), s.registry, "%s does not know the registry", one.incarnation())
			}
		}
	}
	for _, incarnation := range s.members {
		got[incarnation] = "node"
	}
	require.Equal(t, want, got)
	for vdu, n := range counts {
		require.Len(t, s.of(vdu), n, vdu)
	}
	sorted := func(list []string) []string { return slices.Sorted(slices.Values(list)) }
	words := strings.Fields(s.hosts[s.of("externalLB")[0].host].Read(t, "/etc/balanced"))
	require.Len(t, words, 4)
	require.Equal(t, sorted(addresses["masterNode"]), sorted(strings.Split(words[1], ",")), "masters behind the load balancer")
	require.Equal(t, sorted(append(addresses["workerNode"], addresses["edgeNode"]...)), sorted(strings.Split(words[3], ",")), "workers behind the load balancer")
	require.Empty(t, s.lost, "nodes that were lost with their servers")
}

// packageOf is the example package with two flavours, an image and a flavor of the servers. The complex flavour has other words than the
// simple one.
func packageOf(t *testing.T, version, image, flavor string, complexPairs ...string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("../../../../examples/packages/kubernetes-cluster")))
	edit := func(name string, pairs ...string) string {
		data, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // a path of the test
		require.NoError(t, err)
		return strings.NewReplacer(pairs...).Replace(string(data))
	}
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	const simple = "Definitions/kubernetes-cluster_df_simple.yaml"
	write("Scripts/balance.sh", "#!/bin/sh\necho \"$@\" >/etc/balanced\n")
	text := edit(simple, "name: ubuntu-22.04", "name: "+image, "m1.tiny", flavor, "max_number_of_instances: 3", "max_number_of_instances: 9", "max_scale_level: 1", "max_scale_level: 3", "max_scale_level: 2", "max_scale_level: 6")
	// The small level has more masters and fewer workers than the large one.
	text = strings.Replace(text, "small: { number_of_instances: 1 }", "small: { number_of_instances: 5 }", 1)
	text = strings.Replace(text, "master_instance: { scale_level: 0 }", "master_instance: { scale_level: 2 }", 1)
	write(simple, text)
	write("Definitions/kubernetes-cluster_df_complex.yaml", strings.NewReplacer(append(complexPairs, "flavour_id: simple", "flavour_id: complex")...).Replace(text))
	write("Definitions/kubernetes-cluster.yaml", edit("Definitions/kubernetes-cluster.yaml",
		"  - kubernetes-cluster_df_simple.yaml", "  - kubernetes-cluster_df_simple.yaml\n  - kubernetes-cluster_df_complex.yaml", "descriptor_version: \"1.0\"", "descriptor_version: \""+version+"\""))
	return dir
}

// clusterOf is an engine with an instance of three masters and three workers, and its cluster.
func clusterOf(t *testing.T) (*lcm.Engine, *servers, vnfm.InstanceSpec, string) {
	t.Helper()
	s := &servers{t: t, port: porttest.Free(t), hosts: map[int]*hosttest.Host{}, members: map[string]string{}}
	dir := t.TempDir()
	keys, err := seal.New(seal.Source{DefaultKeyFile: filepath.Join(dir, "key.txt")})
	require.NoError(t, err)
	e := lcm.New(lcm.Config{
		OpenStore: func(ctx context.Context) (store.Store, error) {
			return sqlite.Open(ctx, filepath.Join(dir, "store.db"), "test")
		},
		Keyring: keys, Drivers: map[vnfm.VIMType]vnfm.InfraDriver{vnfm.VIMTypeOpenStack: s, vnfm.VIMTypeKubernetes: s},
		Management: map[string]vnfm.ManagementDriver{vnfm.Kubespray: cluster.Driver{
			Name: vnfm.Kubespray, Own: cluster.Script, CheckSettings: func(*vnfm.HookCheck, *cluster.Settings, *vnfm.Problems) {},
			NewInstaller: func() cluster.Installer { return members{s} },
		}},
	})
	t.Cleanup(func() { _ = e.Close() })
	v, _, err := e.RegisterVIM(t.Context(), "", vnfm.VIMSpec{
		Name: "cloud", Type: vnfm.VIMTypeOpenStack, OpenStack: &vnfm.OpenStackConnection{AuthURL: "https://openstack.example"},
		Credentials: vnfm.Credentials{vnfm.CredentialPassword: "p4ssword-of-the-test"},
	})
	require.NoError(t, err)
	login := func(point string) map[string]any {
		return map[string]any{"ssh_cp_name": point, "username": "root", "password": "debian", "port": int64(s.port)}
	}
	spec := vnfm.InstanceSpec{
		Name: "edge", VIMID: v.ID, PackageID: onboard(t, e, "1.0", "old", "m1.tiny"), FlavourID: "simple", LevelID: "large",
		OperationalState: vnfm.Started, OnFailure: vnfm.OnFailureResume,
		SecretParams: map[string]any{cluster.Param: map[string]any{
			"script_path": "Scripts/install_k8s_cluster.sh", "master_node": login("masterNode_CP1"), "worker_node": login("workerNode_CP2"),
			"external_lb_param": map[string]any{
				"ssh_cp_name": "externalLB_CP1", "ssh_username": "root", "ssh_password": "debian", "port": int64(s.port), "script_path": "Scripts/balance.sh",
			},
		}},
	}
	i, err := e.Instantiate(t.Context(), spec)
	require.NoError(t, err)
	return e, s, spec, i.ID
}

func onboard(t *testing.T, e *lcm.Engine, version, image, flavor string, complexPairs ...string) string {
	t.Helper()
	p, problems, err := e.OnboardPackage(t.Context(), vnfm.PackageSpec{Name: "cluster", Source: packageOf(t, version, image, flavor, complexPairs...), Integrity: "ignore", Signature: "ignore"}, "")
	require.NoError(t, err)
	require.NoError(t, problems.Err())
	return p.ID
}

// envPairs has TestPairs make both changes of each pair in one apply: "all". It takes three times as long.
const envPairs = "VNF_PAIRS"

// evolution is an instance with successive changes.
type evolution struct {
	*servers
	engine *lcm.Engine
	spec   vnfm.InstanceSpec
	n      int
}

// levels returns the levels of the scaling aspects.
func (v *evolution) levels() (masters, workers int) {
	byLevel := map[string][2]int{"large": {1, 2}, "small": {2, 0}}[v.spec.LevelID]
	masters, workers = byLevel[0], byLevel[1]
	if n, ok := v.spec.ScaleLevels["master_instance"]; ok {
		masters = n
	}
	if n, ok := v.spec.ScaleLevels["worker_instance"]; ok {
		workers = n
	}
	return masters, workers
}

// scale sets the levels of both aspects.
func (v *evolution) scale(masters, workers int) {
	v.spec.ScaleLevels = map[string]int{"master_instance": masters, "worker_instance": workers}
}

// changes are by name; each makes the next request.
func (v *evolution) changes() map[string]func() {
	other := func(now, one, two string) string {
		if now == one {
			return two
		}
		return one
	}
	return map[string]func(){
		"one aspect": func() {
			masters, workers := v.levels()
			v.scale(masters, 1+workers%3)
		},
		"two aspects": func() {
			masters, workers := v.levels()
			v.scale(3-masters, 1+workers%3)
		},
		"level": func() {
			v.spec.LevelID, v.spec.ScaleLevels = other(v.spec.LevelID, "large", "small"), nil
		},
		"flavour": func() { v.spec.FlavourID = other(v.spec.FlavourID, "simple", "complex") },
		"package with new image": func() {
			v.spec.PackageID = onboard(v.t, v.engine, fmt.Sprintf("2.%d", v.n), fmt.Sprintf("new-%d", v.n), "m1.tiny")
		},
		"package with new flavor": func() {
			v.spec.PackageID = onboard(v.t, v.engine, fmt.Sprintf("3.%d", v.n), v.all[0].image, fmt.Sprintf("m1.new-%d", v.n))
		},
		"heal": func() {
			v.spec.Heal = &vnfm.HealSpec{Trigger: fmt.Sprint(v.n), VNFCIDs: []string{v.of("masterNode")[0].id, v.of("workerNode")[0].id}}
		},
	}
}

// walk lists changes so that each two of them follow one another once; together has each step make both.
func walk(names []string, together bool) (steps [][]string) {
	before := names[0]
	// Every step width, on a circle of a prime number of changes, meets all of them.
	for width := 1; width <= len(names)/2; width++ {
		for i := 1; i <= len(names); i++ {
			name := names[i*width%len(names)]
			if together {
				steps = append(steps, []string{before, name})
			} else {
				steps = append(steps, []string{name})
			}
			before = name
		}
	}
	return steps
}

// connect has the nodes use a private registry, or none, from the next update on.
func (v *evolution) connect(registry string) {
	params, _ := v.spec.SecretParams[cluster.Param].(map[string]any)
	params["private_registry_connection_info"] = []any{map[string]any{"connection_type": "0", "server": registry}}
	if registry == "" {
		delete(params, "private_registry_connection_info")
	}
	v.registry = registry
}

// TestPairs changes a cluster of three masters and three workers so that each two changes meet. After each apply the nodes are exactly
// the servers that there are, and the load balancer leads to them; none was lost with its server. While each change is made once, the nodes
// use a registry, which each of them knows, new and rebuilt ones too; then none knows it any more.
func TestPairs(t *testing.T) {
	labtest.NotShort(t, "thousands of shell commands")
	labtest.FullRun(t, "pairs of changes")
	e, s, spec, id := clusterOf(t)
	s.check(t, map[string]int{"masterNode": 3, "workerNode": 3, "externalLB": 1})
	v := &evolution{servers: s, engine: e, spec: spec}
	changes := v.changes()
	registry := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(registry.Close)
	v.connect(registry.Listener.Addr().String())
	for _, step := range walk(slices.Sorted(maps.Keys(changes)), os.Getenv(envPairs) == "all") {
		if v.n++; v.n == len(changes)+1 {
			v.connect("")
		}
		for _, name := range step {
			changes[name]()
		}
		_, err := e.Update(t.Context(), id, v.spec)
		require.NoError(t, err, step)
		masters, workers := v.levels()
		s.check(t, map[string]int{"masterNode": 1 + 2*masters, "workerNode": 1 + workers, "externalLB": 1})
	}
}

// TestFlavourWithoutAVDU changes to a flavour whose workers are of another VDU: the nodes of the one that goes leave the cluster before
// their servers are deleted.
func TestFlavourWithoutAVDU(t *testing.T) {
	e, s, spec, id := clusterOf(t)
	spec.PackageID, spec.FlavourID = onboard(t, e, "4.0", "old", "m1.tiny", "workerNode", "edgeNode"), "complex"
	params, _ := spec.SecretParams[cluster.Param].(map[string]any)
	workers, _ := params["worker_node"].(map[string]any)
	workers["ssh_cp_name"] = "edgeNode_CP2"
	_, err := e.Update(t.Context(), id, spec)
	require.NoError(t, err)
	s.check(t, map[string]int{"masterNode": 3, "workerNode": 0, "edgeNode": 3, "externalLB": 1})
}
