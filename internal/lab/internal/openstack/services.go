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
	// kind is its type in the catalogue, by which it is asked for.
	kind string
	// name is that of the project that makes it, and of its configuration: name.conf.
	name string
	// needs are the kinds of services it does not work without.
	needs []string
	// packages are Debian's.
	packages []string
	// databases are made before its tables.
	databases []string
	// tables are the commands that make its tables, in this order.
	tables [][]string
	// path is what follows the address in the catalogue.
	path string
	// programs are its processes.
	programs []program
	// fill makes what there is of it from the beginning; nil for nothing.
	fill func(ctx context.Context, admin *client, state *layout.OpenStack) error
}

// program is a process of a service.
type program struct {
	name    string
	command func(listen string) []string
}

// The kinds of services.
const (
	Identity = "identity"
	Image    = "image"
)

// services are all that the lab knows, in the order of starting. The place of a service is also that of its port.
func services() []service {
	return []service{
		{
			kind: Identity, name: "keystone",
			packages:  []string{"keystone"},
			databases: []string{"keystone"},
			tables:    [][]string{{"keystone-manage", "db_sync"}},
			programs:  []program{{"keystone", wsgi("/usr/bin/keystone-wsgi-public", identityThreads)}},
		},
		{
			kind: Image, name: "glance", needs: []string{Identity},
			packages:  []string{"glance-api"},
			databases: []string{"glance"},
			tables:    [][]string{{"glance-manage", "db_sync"}},
			// By itself and not below a web server: that of Debian takes no upload whose length is unknown.
			programs: []program{{"glance", func(string) []string { return []string{"glance-api"} }}},
			fill:     fillImages,
		},
	}
}

// basePackages are needed by every lab: the database, the server of programs that bring none of their own, and what
// their scripts use. Nothing is configured by scripts of the packages, see install.
func basePackages() []string {
	return []string{"base-files", "bash", "coreutils", "dash", "grep", "libc-bin", "mariadb-server-core", "python3-pymysql", "uwsgi-core", "uwsgi-plugin-python3"}
}

// identityThreads is how many requests Keystone answers at once; every other service asks it about each of its own.
const identityThreads = 8

// wsgi is a program that needs a web server.
func wsgi(script string, threads int) func(string) []string {
	return func(listen string) []string {
		return []string{
			"uwsgi-core", "--plugin", "python311", "--http-socket", listen, "--wsgi-file", script,
			"--enable-threads", "--threads", strconv.Itoa(threads), "--buffer-size", "65535",
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
		at := slices.IndexFunc(services(), func(s service) bool { return s.kind == kind })
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

// Kinds are the kinds of all services.
func Kinds() []string { return kindsOf(services()) }

func kindsOf(chosen []service) []string {
	var kinds []string
	for _, s := range chosen {
		kinds = append(kinds, s.kind)
	}
	return kinds
}

// packagesOf are the packages of services.
func packagesOf(chosen []service) []string {
	packages := basePackages()
	for _, s := range chosen {
		packages = append(packages, s.packages...)
	}
	return packages
}

// processDatabase is the process of the database, the first to be started.
const processDatabase = "mariadb"

// processesOf are the processes of services in the order of starting; they are stopped in the opposite one.
func processesOf(chosen []service) []string {
	names := []string{processDatabase}
	for _, s := range chosen {
		for _, p := range s.programs {
			names = append(names, p.name)
		}
	}
	return names
}

// port is the port of a service.
func port(ports layout.OpenStackPorts, kind string) int {
	return ports.Service(1 + slices.Index(Kinds(), kind))
}

// address is the URL of a service.
func address(ports layout.OpenStackPorts, kind string) string {
	return "http://" + layout.Address(port(ports, kind))
}

// endpoint is what the catalogue says of a service.
func endpoint(ports layout.OpenStackPorts, s service) string { return address(ports, s.kind) + s.path }
