// Package vims has the commands for VIMs. They do without a store what the resource vnf_vim does before it registers a VIM.
package vims

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/command/connect"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/provider"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Command is the group of the commands about VIMs. The version is that of the provider.
func Command(version string) *cobra.Command {
	return cli.Group("vim", "Look at VIMs", "A VIM is a Kubernetes cluster, or a project of an OpenStack.", checkCommand(version))
}

// The forms of the output.
const (
	asTable = "table"
)

// check is one check of a VIM.
type check struct {
	cluster   connect.Kubernetes
	cloud     connect.OpenStack
	namespace string
	output    string
	strict    bool
}

func checkCommand(version string) *cobra.Command {
	var c check
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check whether a VIM can be reached and used",
		Long: `Connects to a VIM, authenticates, and shows its version, what the credentials may not do that the
drivers do, and quotas: what vnf_vim checks before it registers the VIM. Nothing is registered. Of
a Kubernetes cluster, rights and quotas are those of a namespace; of an OpenStack, roles, services
and quotas are those of the project.

Without a flag the environment says which VIM is meant: KUBECONFIG, or the variables OS_* of
OpenStack's clients. The exit code is 1 if the VIM cannot be used, with --strict also if rights or
quotas are missing.`,
		Example: `  terraform-provider-vnf vim check --kubeconfig edge.kubeconfig --namespace core5g
  terraform-provider-vnf vim check --os-cloud edge --os-clouds clouds.yaml --output json`,
		Args: cli.NoArguments,
		RunE: cli.Interruptible(func(ctx context.Context, cmd *cobra.Command, _ []string) error { return c.run(ctx, cmd, version) }),
	}
	c.cluster.Flags(cmd)
	c.cloud.Flags(cmd)
	cmd.Flags().StringVar(&c.namespace, "namespace", "", "`NAME` of the namespace whose rights and quotas are shown; by default "+vnfm.DefaultNamespace)
	cli.Output(cmd, &c.output, asTable, cli.FormJSON)
	cmd.Flags().BoolVar(&c.strict, "strict", false, "fail on warnings as well")
	return cmd
}

// spec is the VIM that is meant.
func (c *check) spec() (vnfm.VIMSpec, error) {
	kubernetes, openstack := c.cluster.Given() || c.namespace != "", c.cloud.Given()
	switch {
	case kubernetes && openstack:
		return vnfm.VIMSpec{}, cli.Usagef("one VIM is checked: --kubeconfig, --context and --namespace are of a cluster, --os-cloud and --os-clouds of a cloud")
	case kubernetes, openstack:
	case os.Getenv(connect.EnvKubeconfig) != "" && connect.Set():
		return vnfm.VIMSpec{}, cli.Usagef("the environment names a cluster and a cloud: choose with --kubeconfig FILE or --os-cloud NAME")
	case connect.Set():
		openstack = true
	}
	if openstack {
		return c.cloud.Spec()
	}
	if err := cli.Namespace(c.namespace); err != nil {
		return vnfm.VIMSpec{}, err
	}
	spec, err := c.cluster.Spec()
	if err == nil {
		spec.Kubernetes.DefaultNamespace = cmp.Or(c.namespace, vnfm.DefaultNamespace)
	}
	return spec, err
}

// report is the result of a check.
type report struct {
	VIM       string `json:"vim"`
	Type      string `json:"type"`
	Usable    bool   `json:"usable"`
	Error     string `json:"error,omitempty"`
	Endpoint  string `json:"endpoint,omitempty"`
	Version   string `json:"version,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Rights says whether the credentials have all rights that the drivers use in the namespace.
	Rights *bool `json:"rights_complete,omitempty"`
	*vnfm.OpenStackState
	Roles    []string        `json:"roles,omitempty"`
	Quotas   []vnfm.VIMQuota `json:"quotas"`
	Warnings []string        `json:"warnings"`
}

func (c *check) run(ctx context.Context, cmd *cobra.Command, version string) (err error) {
	spec, err := c.spec()
	if err != nil {
		return err
	}
	e := provider.NewEngine(version, lcm.Config{})
	defer func() { err = errors.Join(err, e.Close()) }()
	found, failed := e.CheckVIM(ctx, spec)
	r := reportOf(&spec, &found)
	if failed == nil && spec.Kubernetes != nil {
		failed = c.readQuotas(ctx, version, r)
	}
	if invalid := new(vnfm.InvalidError); errors.As(failed, &invalid) && found.Endpoint == "" {
		return cli.Usage(connect.OneLine(failed))
	}
	if r.Usable = failed == nil; failed != nil {
		failed = connect.OneLine(failed)
		r.Error = failed.Error()
	}
	if c.output == cli.FormJSON {
		err = cli.JSON(cmd, r)
	} else {
		_, err = fmt.Fprint(cmd.OutOrStdout(), r.table())
	}
	switch {
	case err != nil:
		return err
	case failed != nil:
		return failed
	case c.strict && len(r.Warnings) > 0:
		return fmt.Errorf("the check of %s has %d warnings", r.VIM, len(r.Warnings))
	}
	return nil
}

// readQuotas reads those of the namespace. Where they may not be read, that is a warning.
func (c *check) readQuotas(ctx context.Context, version string, r *report) error {
	client, err := c.cluster.Client(version)
	if err != nil {
		return err
	}
	if r.Quotas, err = client.Quotas(ctx, r.Namespace); err != nil && ctx.Err() == nil {
		r.Quotas, r.Warnings = []vnfm.VIMQuota{}, append(r.Warnings, connect.OneLine(err).Error())
		return nil
	}
	if r.Quotas == nil {
		r.Quotas = []vnfm.VIMQuota{}
	}
	return err
}

func reportOf(spec *vnfm.VIMSpec, found *vnfm.VIMCheck) *report {
	r := &report{
		VIM: spec.Name, Type: string(spec.Type), Endpoint: found.Endpoint, Version: found.ServerVersion, OpenStackState: found.Cloud, Roles: found.Roles,
		Quotas: append([]vnfm.VIMQuota{}, found.Quotas...), Warnings: []string{},
	}
	if spec.Kubernetes != nil {
		r.Namespace = spec.Kubernetes.DefaultNamespace
		if complete := len(found.Problems) == 0; found.ServerVersion != "" {
			r.Rights = &complete
		}
	}
	for _, p := range found.Problems {
		r.Warnings = append(r.Warnings, strings.ReplaceAll(p.String(), "\n", "; "))
	}
	return r
}

// table is a report for people.
func (r *report) table() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(cells ...string) {
		_, _ = fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "\t"), "\t "))
	}
	usable := "yes"
	if !r.Usable {
		usable = "no"
	}
	row("VIM", r.VIM)
	row("type", r.Type)
	row("usable", usable)
	rights := ""
	switch {
	case r.Rights == nil:
	case *r.Rights:
		rights = "complete"
	default:
		rights = "incomplete"
	}
	for _, fact := range [][2]string{{"endpoint", r.Endpoint}, {"version", r.Version}, {"namespace", r.Namespace}, {"rights", rights}, {"roles", strings.Join(r.Roles, ", ")}} {
		if fact[1] != "" {
			row(fact[0], fact[1])
		}
	}
	if s := r.OpenStackState; s != nil {
		row("user", cmp.Or(s.UserName, s.UserID))
		row("project", cmp.Or(s.ProjectName, s.ProjectID))
		row("region", s.Region)
		_ = w.Flush()
		row("\nSERVICE", "VERSION", "ENDPOINT")
		for _, kind := range slices.Sorted(maps.Keys(s.Services)) {
			row(kind, cmp.Or(s.Services[kind].Version, "-"), s.Services[kind].Endpoint)
		}
	}
	_ = w.Flush()
	if len(r.Quotas) > 0 {
		row("\nQUOTA", "NAME", "USED", "LIMIT")
	}
	for _, q := range r.Quotas {
		limit := q.Limit
		if strings.HasPrefix(limit, "-") {
			limit = "none"
		}
		row(q.Service, q.Name, cmp.Or(q.Used, "-"), limit)
	}
	_ = w.Flush()
	for n, text := range r.Warnings {
		if n == 0 {
			b.WriteString("\n")
		}
		b.WriteString("Warning: " + text + "\n")
	}
	return b.String()
}
