package openstack

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/poll"
)

// nova is one of Nova's programs; Debian has them in packages that bring hypervisors too.
func nova(command string) func(layout.OpenStackPorts, string) []string {
	return module("nova", command)
}

func novaTables() [][]string {
	manage := func(words ...string) []string { return append([]string{"nova-manage"}, words...) }
	return [][]string{
		manage("api_db", "sync"),
		manage("cell_v2", "map_cell0", "--database_connection", databaseURL("nova_cell0")),
		// The queue of a lab that was copied is another one: Nova takes it from its configuration.
		manage("cell_v2", "create_cell", "--name", "cell1", "--transport-url", "{scheme}://{username}:{password}@{hostname}:{port}/"),
		manage("db", "sync"),
	}
}

// flavor is a size of servers.
type flavor struct {
	name              string
	cpus, memory, gib int
	// specs are its extra specs: those of the lab are understood by its driver, see config/python/lab_virt.py.
	specs map[string]string
}

func flavors() []flavor {
	return []flavor{
		{name: "m1.tiny", cpus: 1, memory: 512, gib: 1},
		{name: "m1.small", cpus: 1, memory: 2048, gib: 20},
		{name: "m1.medium", cpus: 2, memory: 4096, gib: 40},
		{name: "m1.large", cpus: 4, memory: 8192, gib: 80},
		{name: "lab.slow", cpus: 1, memory: 512, gib: 1, specs: map[string]string{"lab:delay": "40"}},
		{name: "lab.fault", cpus: 1, memory: 512, gib: 1, specs: map[string]string{"lab:fault": "the flavour lab.fault has no server start"}},
		// More memory than the one host has.
		{name: "lab.huge", cpus: 1, memory: 1 << 20, gib: 1},
	}
}

// fillCompute makes flavours, lifts the quotas of the projects, and has Nova know its one host.
func fillCompute(ctx context.Context, f *filling) error {
	base := address(f.state.Ports, Compute) + "/v2.1"
	f.state.Flavors = map[string]string{}
	for i, flavor := range flavors() {
		id := fmt.Sprint(i + 1)
		_, err := f.admin.call(ctx, http.MethodPost, base+"/flavors", map[string]any{"flavor": map[string]any{
			"id": id, "name": flavor.name, "vcpus": flavor.cpus, "ram": flavor.memory, "disk": flavor.gib,
		}}, nil)
		if err != nil {
			return fmt.Errorf("making flavour %s: %w", flavor.name, err)
		}
		f.state.Flavors[flavor.name] = id
		if flavor.specs == nil {
			continue
		}
		specs := map[string]any{"extra_specs": flavor.specs}
		if _, err := f.admin.call(ctx, http.MethodPost, base+"/flavors/"+id+"/os-extra_specs", specs, nil); err != nil {
			return fmt.Errorf("making flavour %s: %w", flavor.name, err)
		}
	}
	quotas := map[string]any{"quota_class_set": map[string]any{"instances": -1, "cores": -1, "ram": -1, "server_groups": -1, "server_group_members": -1, "key_pairs": -1}}
	if _, err := f.admin.call(ctx, http.MethodPut, base+"/os-quota-class-sets/default", quotas, nil); err != nil {
		return fmt.Errorf("lifting the quotas of servers: %w", err)
	}
	return poll.Until(ctx, "Nova's host", func(ctx context.Context) error {
		if err := computeReports.look(ctx, f.admin, address(f.state.Ports, Compute), nil, time.Time{}); err != nil {
			return err
		}
		return f.run(ctx, "nova-manage", "cell_v2", "discover_hosts")
	})
}

// computeReports are those of Nova's processes.
var computeReports = &reports{path: "/v2.1/os-services", programs: []string{"nova-conductor", "nova-scheduler", "nova-compute"}}
