// Package loadbalancer sets up the server in front of a Kubernetes cluster: with a script
// of the VNF package, or with a configuration of HAProxy of its own.
package loadbalancer

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/hosts"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Node is a node behind the load balancer.
type Node struct{ Name, Address string }

// Config is what a load balancer passes on, and to whom.
type Config struct {
	// Script is the path of a script of the package, and Content its text; empty means
	// HAProxy.
	Script, Content string
	// APIPort is the port for the API server, which has APITarget on the masters.
	APIPort, APITarget int
	// NodePorts go to the same port of all nodes.
	NodePorts        []int
	Masters, Workers []Node
	// Proxy is the environment in which packages are fetched.
	Proxy map[string]string
	// Secrets are kept out of what is shown.
	Secrets []vnfm.Secret
	Report  func(line string)
}

// Apply sets the load balancer up, and does nothing when it is as it should be. The script
// runs each time, with all nodes: how it gets from what is to what should be is its affair.
func Apply(ctx context.Context, c *remote.Client, cfg Config) error {
	if cfg.Script != "" {
		_, err := hosts.RunProgram(ctx, c, remote.Command{
			What: fmt.Sprintf("script %s of the package on the load balancer", cfg.Script), Args: []string{"-m", addresses(cfg.Masters), "-w", addresses(cfg.Workers)},
			Env: cfg.Proxy, Output: cfg.Report, Secrets: cfg.Secrets,
		}, cfg.Content)
		return err
	}
	text, err := render(cfg)
	if err != nil {
		return err
	}
	if _, err := c.Run(ctx, remote.Command{
		What: "installing HAProxy on the load balancer", Script: install, Sudo: true, Env: cfg.Proxy, Output: cfg.Report, Secrets: cfg.Secrets,
	}); err != nil {
		return err
	}
	const next = "/etc/haproxy/haproxy.cfg.next"
	present, err := c.ReadFile(ctx, "/etc/haproxy/haproxy.cfg", true)
	if err == nil && bytes.Equal(present, text) {
		// It may have been stopped, and a reload that was interrupted is made up for.
		_, err = c.Run(ctx, remote.Command{What: "starting HAProxy on the load balancer", Script: service + keep, Sudo: true, Args: []string{strconv.Itoa(cfg.APIPort)}})
		return err
	}
	if _, err := c.WriteFile(ctx, remote.File{Path: next, Content: text, Mode: fs.FileMode(0o644), Sudo: true}); err != nil {
		return err
	}
	_, err = c.Run(ctx, remote.Command{What: "putting the configuration of HAProxy in place on the load balancer", Script: service + swap, Sudo: true, Args: []string{next, strconv.Itoa(cfg.APIPort)}})
	return err
}

var (
	//go:embed install.sh
	install string
	//go:embed service.sh
	service string
	//go:embed swap.sh
	swap string
	//go:embed keep.sh
	keep string
	//go:embed haproxy.cfg.tmpl
	configText string
)

var config = template.Must(template.New("haproxy.cfg").Parse(configText))

func addresses(nodes []Node) string {
	var out []string
	for _, n := range nodes {
		out = append(out, n.Address)
	}
	return strings.Join(out, ",")
}

// render writes the whole configuration.
func render(cfg Config) ([]byte, error) {
	var out bytes.Buffer
	err := config.Execute(&out, map[string]any{
		"APIPort": cfg.APIPort, "APITarget": cfg.APITarget, "NodePorts": slices.Sorted(slices.Values(cfg.NodePorts)),
		"Masters": cfg.Masters, "Nodes": slices.Concat(cfg.Masters, cfg.Workers),
	})
	return out.Bytes(), err
}
