package loadbalancer

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/hosts"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

// Script is a script of the package that configures load balancers.
type Script struct {
	// Path is the path of the script in the package, Content its text.
	Path, Content string
	// Timeout bounds each call.
	Timeout time.Duration
	// Env names the instance and the operation of the call.
	Env map[string]string
}

// run calls the script as root on one of the load balancers. Each call lists all nodes and load balancers; the script finds the
// differences.
func (c Config) run(ctx context.Context, all []Server, at int) error {
	_, err := hosts.RunProgram(ctx, all[at].Client, remote.Command{
		What: fmt.Sprintf("script %s of the package on the load balancer", c.Script.Path), Args: []string{"-m", addresses(c.Masters), "-w", addresses(c.Workers)},
		Env: c.environment(all, at), Sudo: true, Timeout: c.Script.Timeout, Output: c.Report, Secrets: c.Secrets,
	}, c.Script.Content)
	return err
}

// environment is the environment of the script.
func (c Config) environment(all []Server, at int) map[string]string {
	env := maps.Clone(c.Proxy)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, c.Script.Env)
	balancers := make([]string, 0, len(all))
	for _, s := range all {
		balancers = append(balancers, s.Address)
	}
	ports := make([]string, 0, len(c.NodePorts))
	for _, port := range c.Ports() {
		ports = append(ports, strconv.Itoa(port))
	}
	maps.Copy(env, map[string]string{
		"VNF_MASTERS": named(c.Masters), "VNF_WORKERS": named(c.Workers), "VNF_API_PORT": strconv.Itoa(c.APIPort),
		"VNF_API_TARGET_PORT": strconv.Itoa(c.APITarget), "VNF_NODE_PORTS": strings.Join(ports, ","),
		"VNF_BALANCER_IP": all[at].Address, "VNF_BALANCERS": strings.Join(balancers, ","),
	})
	if c.Virtual != nil {
		env["VNF_VIRTUAL_ADDRESS"], env["VNF_VIRTUAL_ROUTER_ID"] = c.Virtual.Address.String(), strconv.Itoa(c.Virtual.RouterID)
	}
	return env
}

func addresses(nodes []Node) string {
	var out []string
	for _, n := range nodes {
		out = append(out, n.Address)
	}
	return strings.Join(out, ",")
}

// named are nodes as a comma-separated list of NAME=ADDRESS.
func named(nodes []Node) string {
	var out []string
	for _, n := range nodes {
		out = append(out, n.Name+"="+n.Address)
	}
	return strings.Join(out, ",")
}
