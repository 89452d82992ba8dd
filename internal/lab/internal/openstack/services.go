package openstack

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
)

// service is one of OpenStack's.
type service struct {
	// kind is its type in the catalogue, by which it is asked for; aliases are further ones under which others look for it.
	kind    string
	aliases []string
	// name is that of the project that makes it, and of the folder of its configuration.
	name string
	// internal is one that is in no catalogue, and that nobody asks for.
	internal bool
	// needs are the kinds of services it does not work without.
	needs []string
	// packages are Debian's.
	packages []string
	// config is the name of its configuration; paste is the file of a package that stands beside it, empty for none.
	config, paste string
	// databases are made before its tables.
	databases []string
	// tables are the commands that make its tables, in this order.
	tables [][]string
	// path is what follows the address in the catalogue.
	path string
	// programs are its processes.
	programs []program
	// fill makes what there is of it from the beginning; nil for nothing.
	fill func(ctx context.Context, f *filling) error
	// reports say whether it can be used, beyond that it answers; nil for no more than that.
	reports *reports
	// socket is one of its programs, among the lab's, that answers when it can be used; empty for none.
	socket string
	// optional is one that no lab has unasked: it is in no template, and a lab that runs gets it when it is asked for, see add.
	optional bool
}

// program is a process of a service.
type program struct {
	name    string
	command func(ports layout.OpenStackPorts, listen string) []string
}

// The kinds of services.
const (
	Identity      = "identity"
	Image         = "image"
	Volume        = "block-storage"
	KeyManager    = "key-manager"
	Placement     = "placement"
	Network       = "network"
	Compute       = "compute"
	Orchestration = "orchestration"
	LoadBalancer  = "load-balancer"
	queue         = "queue"
)

// services are all that the lab knows, in the order of starting. The place of a service in the catalogue is also that of
// its port.
func services() []service { //nolint:funlen // A table.
	return []service{
		{
			kind: queue, name: "rabbitmq", config: "rabbitmq.conf", internal: true,
			packages: []string{"rabbitmq-server", "hostname", "procps"},
			programs: []program{{"rabbitmq", queueServer}},
		},
		{
			kind: Identity, name: "keystone", config: "keystone.conf",
			packages:  []string{"keystone"},
			databases: []string{"keystone"},
			tables:    [][]string{{"keystone-manage", "db_sync"}},
			programs:  []program{{"keystone", wsgi("/usr/bin/keystone-wsgi-public", identityProcesses)}},
		},
		{
			kind: Image, name: "glance", config: "glance-api.conf", paste: "/usr/share/glance-common/glance-api-paste.ini",
			needs:     []string{Identity},
			packages:  []string{"glance-api"},
			databases: []string{"glance"},
			tables:    [][]string{{"glance-manage", "db_sync"}},
			// By itself and not below a web server: that of Debian takes no upload whose length is unknown.
			programs: []program{{"glance", by("glance-api")}},
			fill:     fillImages,
		},
		{
			// Nova and Heat look for the version that they speak.
			kind: Volume, aliases: []string{"volumev3"}, name: "cinder", config: "cinder.conf", paste: "/usr/share/cinder-common/api-paste.ini",
			needs:     []string{Identity, Image, queue},
			packages:  []string{"cinder-common"},
			databases: []string{"cinder"},
			tables:    [][]string{{"cinder-manage", "db", "sync"}},
			path:      "/v3",
			programs: []program{
				{"cinder-api", wsgi("/usr/bin/cinder-wsgi", 1)},
				{"cinder-scheduler", cinder("scheduler")},
				{"cinder-volume", cinder("volume")},
			},
			reports: volumeReports,
		},
		{
			kind: KeyManager, name: "barbican", config: "barbican.conf", paste: "/usr/share/barbican-common/barbican-api-paste.ini",
			needs:     []string{Identity},
			packages:  []string{"barbican-common"},
			databases: []string{"barbican"},
			tables:    [][]string{{"barbican-manage", "db", "upgrade"}},
			programs:  []program{{"barbican", wsgi("/usr/bin/barbican-wsgi-api", 1)}},
		},
		{
			kind: Placement, name: "placement", config: "placement.conf",
			needs:     []string{Identity},
			packages:  []string{"python3-placement"},
			databases: []string{"placement"},
			tables:    [][]string{{"placement-manage", "db", "sync"}},
			programs:  []program{{"placement", wsgi("/usr/bin/placement-api", 1)}},
		},
		{
			kind: Network, name: "neutron", config: "neutron.conf", paste: "/usr/share/neutron-common/api-paste.ini",
			needs:     []string{Identity, queue},
			packages:  []string{"neutron-common"},
			databases: []string{"neutron"},
			tables:    [][]string{{"neutron-db-manage", "upgrade", "heads"}},
			programs:  []program{{"neutron", by("neutron-server", "--config-file", "/etc/neutron/neutron.conf")}},
			fill:      fillNetworks,
		},
		{
			kind: Compute, name: "nova", config: "nova.conf", paste: "/usr/share/nova-common/api-paste.ini",
			needs:     []string{Identity, Image, Volume, Placement, Network, queue},
			packages:  []string{"nova-common", "python3-nova"},
			databases: []string{"nova", "nova_api", "nova_cell0"},
			tables:    novaTables(),
			path:      "/v2.1",
			programs: []program{
				{"nova-api", nova("api_os_compute")},
				{"nova-conductor", nova("conductor")},
				{"nova-scheduler", nova("scheduler")},
				{"nova-compute", nova("compute")},
			},
			fill:    fillCompute,
			reports: computeReports,
		},
		{
			kind: Orchestration, name: "heat", config: "heat.conf",
			needs:     []string{Identity, Compute, Volume, Network, KeyManager, queue},
			packages:  []string{"heat-engine", "heat-common"},
			databases: []string{"heat"},
			tables:    [][]string{{"heat-manage", "db_sync"}},
			path:      "/v1/%(tenant_id)s",
			programs: []program{
				{"heat-api", wsgi("/usr/bin/heat-wsgi-api", 2)},
				{"heat-engine", by("heat-engine")},
			},
			fill: fillOrchestration,
		},
		{
			kind: LoadBalancer, name: "octavia", config: "octavia.conf", optional: true,
			needs:     []string{Identity, Network, Compute},
			packages:  []string{"octavia-common", "octavia-api", "octavia-driver-agent", "haproxy"},
			databases: []string{"octavia"},
			tables:    [][]string{{"octavia-db-manage", "upgrade", "head"}},
			programs: []program{
				{"octavia-api", wsgi("/usr/bin/octavia-wsgi", 1)},
				{"octavia-driver-agent", by("octavia-driver-agent")},
			},
			fill: fillLoadBalancer,
			// The others are there before, and a process that is asked nothing by who connects never ends its work.
			socket: "octavia-agent.sock",
		},
	}
}

// usual are the services that a lab has unasked. All but these are optional.
func usual() []service {
	return slices.DeleteFunc(services(), func(s service) bool { return s.optional })
}

// basePackages are needed by every lab: the database, the parts of SQLAlchemy in C, the server of programs that bring none
// of their own, what their scripts use, and what leads floating addresses to servers. Nothing is configured by scripts of the
// packages, see install.
func basePackages() []string {
	return []string{
		"base-files", "bash", "coreutils", "dash", "grep", "libc-bin",
		"mariadb-server-core", "nftables", "python3-pymysql", "python3-sqlalchemy-ext", "uwsgi-core", "uwsgi-plugin-python3",
	}
}

// identityProcesses is how many requests Keystone answers at once: one, for each process has a cache of its own. With it
// a request takes milliseconds.
const identityProcesses = 1

// by is a program that finds all it needs in its configuration.
func by(command ...string) func(layout.OpenStackPorts, string) []string {
	return func(layout.OpenStackPorts, string) []string { return command }
}

// module is a program of a project that is started as the module of a command.
func module(project, command string) func(layout.OpenStackPorts, string) []string {
	return by("python3", "-c", "import sys; sys.argv = ['"+project+"-"+command+"']; from "+project+".cmd."+command+" import main; sys.exit(main())")
}

// wsgi is a program that needs a web server, and answers as many requests at once as it has processes. Each loads the
// program itself, for connections to the database are not shared. Threads will not do: Keystone in threads takes the
// roles of one request for those of another.
func wsgi(script string, processes int) func(layout.OpenStackPorts, string) []string {
	return func(_ layout.OpenStackPorts, listen string) []string {
		return []string{
			"uwsgi-core", "--plugin", "python311", "--http-socket", listen, "--wsgi-file", script,
			"--enable-threads", "--lazy-apps", "--processes", strconv.Itoa(processes), "--buffer-size", "65535",
			"--need-app", "--disable-logging",
			// It answers one request a connection, and must tell.
			"--add-header", "Connection: close",
		}
	}
}

// choose finds services by their kinds, and adds those that they need.
func choose(kinds []string) ([]service, error) {
	wanted := map[string]bool{}
	queue := slices.Clone(kinds)
	for len(queue) > 0 {
		kind := queue[0]
		queue = queue[1:]
		at := place(kind)
		if at < 0 {
			return nil, fmt.Errorf("unknown service %q: one of %s", kind, strings.Join(Kinds(), ", "))
		}
		wanted[kind] = true
		for _, need := range services()[at].needs {
			if !wanted[need] {
				queue = append(queue, need)
			}
		}
	}
	if len(wanted) == 0 {
		return nil, fmt.Errorf("no service named: some of %s", strings.Join(Kinds(), ", "))
	}
	return slices.DeleteFunc(services(), func(s service) bool { return !wanted[s.kind] }), nil
}

// Kinds are the kinds of all services that can be asked for.
func Kinds() []string {
	return kindsOf(slices.DeleteFunc(services(), func(s service) bool { return s.internal }))
}

func kindsOf(chosen []service) []string {
	var kinds []string
	for _, s := range chosen {
		kinds = append(kinds, s.kind)
	}
	return kinds
}

// packagesOf are the packages of the usual services, which all labs share, and of chosen ones.
func packagesOf(chosen []service) []string {
	packages := basePackages()
	for _, s := range append(usual(), chosen...) {
		packages = append(packages, s.packages...)
	}
	slices.Sort(packages)
	return slices.Compact(packages)
}

// processDatabase is the process of the database, the first of the services to be started.
const processDatabase = "mariadb"

// programsOf are the names of the programs of services.
func programsOf(chosen []service) []string {
	var names []string
	for _, s := range chosen {
		for _, p := range s.programs {
			names = append(names, p.name)
		}
	}
	return names
}

// processesOf are the processes of a lab in the order of starting; they are stopped in the opposite one.
func processesOf(state *layout.OpenStack, chosen []service) []string {
	var names []string
	if state.Servers == ServersContainers {
		names = append(names, processServers)
	}
	return append(append(names, processDatabase), programsOf(chosen)...)
}

// port is the port of a service.
func port(ports layout.OpenStackPorts, kind string) int {
	if kind == queue {
		return ports.Service(queueClients)
	}
	return ports.Service(1 + slices.Index(Kinds(), kind))
}

// place is where a service stands among all; negative for none.
func place(kind string) int {
	return slices.IndexFunc(services(), func(s service) bool { return s.kind == kind })
}

// address is the URL of a service.
func address(ports layout.OpenStackPorts, kind string) string {
	return "http://" + layout.Address(port(ports, kind))
}

// kinds are all types that a service has in the catalogue.
func (s service) kinds() []string { return append([]string{s.kind}, s.aliases...) }

// endpoint is what the catalogue says of a service.
func endpoint(ports layout.OpenStackPorts, s service) string { return address(ports, s.kind) + s.path }
