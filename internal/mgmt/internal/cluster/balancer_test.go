package cluster_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// checkBalancer returns the problems of a load balancer with further parameters and a number of servers.
func checkBalancer(t *testing.T, edit func(lb map[string]any), servers int) []string {
	t.Helper()
	var given map[string]any
	require.NoError(t, json.Unmarshal([]byte(specified), &given))
	below(given, "master_node")["pod_cidr"] = "192.168.0.0/16"
	lb := below(given, "external_lb_param")
	delete(lb, "script_path")
	if edit != nil {
		edit(lb)
	}
	driver := cluster.Driver{Name: "test", Own: cluster.Kubespray, CheckSettings: func(*vnfm.HookCheck, *cluster.Settings, *vnfm.Problems) {}}
	check := &vnfm.HookCheck{
		Params: map[string]any{cluster.Param: given}, Flavour: flavour(), Request: &vnfm.InstanceSpec{}, Counts: map[string]int{"externalLB": servers},
		Package: &vnfm.Package{Content: fstest.MapFS{"Scripts/lb.sh": {Data: []byte("true")}, "Scripts/large.sh": {Data: make([]byte, 1<<20+1)}}},
	}
	for _, hook := range []string{"instantiate_end", "scale_start", "scale_end", "terminate_start"} {
		check.Hooks = append(check.Hooks, vnfm.Hook{Name: hook})
	}
	var out []string
	for _, p := range driver.Check(check) {
		assert.Equal(t, cluster.Param, p.Key)
		out = append(out, strings.TrimPrefix(p.String(), cluster.Param+".external_lb_param."))
	}
	return out
}

// set returns an edit of parameters: names and values.
func set(values ...any) func(map[string]any) {
	return func(lb map[string]any) {
		for i := 0; i < len(values); i += 2 {
			name, _ := values[i].(string)
			lb[name] = values[i+1]
		}
	}
}

const (
	virtual = "virtual_address"
	example = ": an address of the network of the load balancers that no server has, for example 10.0.0.100"
	inside  = ", which nodes route inside of the cluster: "
)

// balancers are load balancers by their fault: further parameters, the number of servers, and the problems; empty means that they are
// valid.
var balancers = map[string]struct {
	edit    func(map[string]any)
	servers int
	want    string
}{
	"one server":      {nil, 1, ""},
	"one, shared":     {set(virtual, "10.0.0.100"), 1, ""},
	"several, shared": {set(virtual, "2001:db8::1", "virtual_router_id", 7.0, "follow_services", true, "nic_cp_name", "externalLB_CP1"), 3, ""},
	"script":          {set("script_path", "Scripts/lb.sh", "script_timeout", "5m", "node_ports", []any{30080.0}), 1, ""},
	"several": {
		nil, 2,
		"virtual_address is missing: VDU externalLB would have 2 servers: several load balancers share an address, at which the cluster is reached " +
			"while one of them works; without it the VDU must have one server",
	},
	"none":        {nil, 0, "ssh_cp_name is of VDU externalLB, which would have no server: a load balancer needs one server at least"},
	"no address":  {set(virtual, "10.0.0.300"), 1, `virtual_address must be an IP address, not "10.0.0.300"` + example},
	"network":     {set(virtual, "10.0.0.100/24"), 1, `virtual_address must be an IP address, not "10.0.0.100/24"` + example},
	"any address": {set(virtual, "0.0.0.0"), 1, "virtual_address must be an address that clients reach, not 0.0.0.0" + example},
	"loopback":    {set(virtual, "127.0.0.1"), 1, "virtual_address must be an address that clients reach, not 127.0.0.1" + example},
	"multicast":   {set(virtual, "224.0.0.18"), 1, "virtual_address must be an address that clients reach, not 224.0.0.18" + example},
	"link":        {set(virtual, "fe80::1%eth0"), 1, "virtual_address must be an address that clients reach, not fe80::1%eth0" + example},
	"of pods":     {set(virtual, "192.168.7.1"), 1, "virtual_address is within master_node.pod_cidr 192.168.0.0/16" + inside + "192.168.7.1" + example},
	"of Services": {set(virtual, "10.199.187.1"), 1, "virtual_address is within master_node.cluster_cidr 10.199.187.0/24" + inside + "10.199.187.1" + example},
	"list":        {set(virtual, []any{"10.0.0.100"}), 1, "virtual_address must be a string, not a list"},
	"router":      {set(virtual, "10.0.0.100", "virtual_router_id", 256.0), 1, "virtual_router_id must be a whole number between 1 and 255"},
	"router alone": {
		set("virtual_router_id", 7.0), 1,
		"virtual_router_id has no effect without virtual_address: it tells load balancers that share one address from others on their network",
	},
	"mistyped":            {set("virtual_adr", "10.0.0.100"), 1, `virtual_adr is not known: did you mean "virtual_address"?`},
	"other VDU":           {set("nic_cp_name", "workerNode_CP2"), 1, "nic_cp_name is of VDU workerNode, and ssh_cp_name of VDU externalLB"},
	"follow":              {set("follow_services", "some"), 1, "follow_services must be true or false"},
	"port of API server":  {set("node_ports", []any{30080.0, 8383.0}), 1, "node_ports has the port of the API server, 8383"},
	"port of SSH":         {set("node_ports", []any{22.0}), 1, "node_ports has the port of SSH, 22"},
	"port twice":          {set("node_ports", []any{30080.0, 30080.0}), 1, "node_ports has the same port twice, 30080"},
	"fraction":            {set("node_ports", []any{30080.5}), 1, "node_ports.0 must be a port"},
	"large port":          {set("node_ports", []any{65536.0}), 1, "node_ports.0 must be a port"},
	"text":                {set("node_ports", "30080"), 1, "node_ports must be a list of ports"},
	"API server over SSH": {set("api_port", 22.0), 1, "api_port is the port of SSH of the load balancer, 22"},
	"no script":           {set("script_path", "Scripts/balance.sh"), 1, `script_path names a file that is not in the package: "Scripts/balance.sh"`},
	"large script":        {set("script_path", "Scripts/large.sh"), 1, "script_path cannot be used: Scripts/large.sh of the package is not a script, or is larger than 1 MiB"},
	"limit alone":         {set("script_timeout", "5m"), 1, "script_timeout has no effect without script_path: it limits each call of the script"},
	"limit":               {set("script_path", "Scripts/lb.sh", "script_timeout", "soon"), 1, `script_timeout must be a duration, not "soon": for example 10m`},
}

// The plan reports each fault of a load balancer once.
func TestBadBalancers(t *testing.T) {
	for name, c := range balancers {
		t.Run(name, func(t *testing.T) {
			got := checkBalancer(t, c.edit, c.servers)
			if c.want == "" {
				assert.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			if name == "mistyped" {
				got[0], _, _ = strings.Cut(got[0], " known here")
			}
			assert.Equal(t, c.want, got[0])
		})
	}
}
