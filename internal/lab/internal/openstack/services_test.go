package openstack

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
)

func TestChoose(t *testing.T) {
	for name, test := range map[string]struct {
		kinds   []string
		want    []string
		problem string
	}{
		"one":              {kinds: []string{Identity}, want: []string{Identity}},
		"with its need":    {kinds: []string{Image}, want: []string{Identity, Image}},
		"needs of a need":  {kinds: []string{Compute}, want: []string{queue, Identity, Image, Volume, Placement, Network, Compute}},
		"in any order":     {kinds: []string{KeyManager, Image}, want: []string{Identity, Image, KeyManager}},
		"unknown":          {kinds: []string{Identity, "volumes"}, problem: `unknown service "volumes": one of identity, image, block-storage, key-manager, placement, network, compute, orchestration, load-balancer`},
		"none":             {problem: "no service named"},
		"all that are one": {kinds: Kinds(), want: kindsOf(services())},
	} {
		t.Run(name, func(t *testing.T) {
			chosen, err := choose(test.kinds)
			if test.problem != "" {
				if err == nil || !strings.Contains(err.Error(), test.problem) {
					t.Fatalf("got error %v, want %q", err, test.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, kindsOf(chosen)); diff != "" {
				t.Errorf("services (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPorts shows that the services, and the queue's further ports, have each their own within a lab's block.
func TestPorts(t *testing.T) {
	const first = layout.OpenStackPorts(22016)
	taken := map[int]string{
		int(first):                       "the claim",
		first.Service(queueDistribution): "the queue's distribution",
		first.Service(queueDirectory):    "the queue's directory",
	}
	for _, s := range services() {
		p := port(first, s.kind)
		if owner, is := taken[p]; is {
			t.Errorf("port %d is that of %s and of %s", p, owner, s.kind)
		}
		taken[p] = s.kind
		if p <= int(first) || p > first.Service(queueDirectory) {
			t.Errorf("%s has port %d, outside of the block from %d", s.kind, p, first)
		}
	}
}

// TestNeedsComeFirst shows that services are listed after those that they need: that is the order of starting.
func TestNeedsComeFirst(t *testing.T) {
	for i, s := range services() {
		for _, need := range s.needs {
			if at := place(need); at < 0 || at >= i {
				t.Errorf("%s needs %s, which comes at %d, not before %d", s.kind, need, at, i)
			}
		}
	}
}

func TestConfigure(t *testing.T) {
	dir, err := layout.OpenOpenStack(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := writeKeys(dir); err != nil {
		t.Fatal(err)
	}
	state := &layout.OpenStack{Ports: 22016, Passwords: map[string]string{userService: "hush"}, Servers: ServersContainers, Octet: 78}
	if err := configure(dir, state, services()); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string][]string{
		"keystone.conf":   {"connection = mysql+pymysql://lab@localhost/keystone?unix_socket=/lab/run/mysql.sock\n"},
		"glance-api.conf": {"bind_port = 22018\n", "auth_url = http://127.0.0.1:22017/v3\n", "password = hush\n", "token_cache_time = -1\n"},
		"nova.conf":       {"transport_url = rabbit://svc:hush@127.0.0.1:22029/\n", "compute_driver = lab.ContainerDriver\n", "[service_user]\nsend_service_user_token = true\nauth_type = password\n"},
		"cinder.conf":     {"glance_api_servers = http://127.0.0.1:22018\n", "volume_driver = lab_volume.FileDriver\n"},
		"octavia.conf":    {"api_base_uri = http://127.0.0.1:22025\n", "enabled_provider_agents = lab\n"},
		"init.sql": {
			"SET url = 'http://127.0.0.1:22018' WHERE service_id IN (SELECT id FROM keystone.service WHERE type IN ('image'));\n",
			"SET url = 'http://127.0.0.1:22024/v1/%(tenant_id)s' WHERE service_id IN (SELECT id FROM keystone.service WHERE type IN ('orchestration'));\n",
			"SET url = 'http://127.0.0.1:22019/v3' WHERE service_id IN (SELECT id FROM keystone.service WHERE type IN ('block-storage', 'volumev3'));\n",
			"DELETE FROM keystone.service WHERE type NOT IN ('identity', 'image', 'block-storage', 'volumev3', 'key-manager', 'placement', 'network', 'compute', 'orchestration', 'load-balancer');\n",
			"UPDATE neutron.subnets SET cidr = REGEXP_REPLACE(cidr, '^10[.][0-9]+[.]', '10.78.'), gateway_ip = ",
		},
		"python/lab_haproxy.py":   {"def render"},
		"python/lab_ml2.py":       {"class LabMechanismDriver"},
		"python/lab_octavia.py":   {"class Driver"},
		"python/lab_servers.py":   {"def ask"},
		"python/lab_virt.py":      {"class ContainerDriver"},
		"python/lab_volume.py":    {"class FileDriver"},
		"python/sitecustomize.py": {"class Finder"},
	} {
		text, err := os.ReadFile(dir.Path("etc", file))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, line := range want {
			if !strings.Contains(string(text), line) {
				t.Errorf("%s lacks %q:\n%s", file, line, text)
			}
		}
	}
	sql, err := os.ReadFile(dir.Path("etc", databaseInit))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(sql), "'"+queue+"'") {
		t.Errorf("the catalogue has the queue, which is no service of OpenStack:\n%s", sql)
	}
}

func TestVersion(t *testing.T) {
	const status = "Package: glance-api-x\nVersion: 1\nStatus: install ok installed\n\nPackage: glance-api\nArchitecture: all\nVersion: 2:25.1.0-2\nStatus: install ok installed\n\nPackage: z\nVersion: 3\n\n"
	for name, want := range map[string]string{"glance-api": "2:25.1.0-2", "z": "3", "glance": ""} {
		if got := version(status, name); got != want {
			t.Errorf("version of %s: %q, want %q", name, got, want)
		}
	}
}
