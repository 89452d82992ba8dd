package kubespray

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// versionVariable is the variable of kubespray for the version of Kubernetes.
const versionVariable = "kube_version"

// versionForm matches a version, with or without v. A suffix after the three numbers is ignored.
var versionForm = lazyregexp.New(`^v?(\d+)\.(\d+)\.(\d+)`)

// parseVersion returns the three numbers of a version; nil if the text is not a version.
func parseVersion(text string) []int {
	m := versionForm.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return nil
	}
	out := make([]int, 3)
	for n := range out {
		out[n], _ = strconv.Atoi(m[n+1])
	}
	return out
}

func versionText(v []int) string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

// version formats a version for the release: releases from 2.28 on have no leading v.
func (r *release) version(text string) string {
	v := parseVersion(text)
	switch {
	case v == nil:
		return text
	case r.bareVersion:
		return versionText(v)
	default:
		return "v" + versionText(v)
	}
}

// wantedVersion is the version in the parameters; empty if unset.
func wantedVersion(s *cluster.Settings) string {
	text, _ := s.Ansible.Variables[versionVariable].(string)
	return text
}

// checkVersion rejects a version that cannot be parsed.
func checkVersion(s *cluster.Settings, problems *vnfm.Problems) {
	if s.Ansible == nil || s.Ansible.Variables[versionVariable] == nil {
		return
	}
	text, _ := s.Ansible.Variables[versionVariable].(string)
	if v := parseVersion(text); v == nil || strings.TrimPrefix(text, "v") != versionText(v) {
		*problems = append(*problems, cluster.Problem(vnfm.SeverityError, variablesParameter+versionVariable, `for example "1.31.9"`,
			"must be a version of Kubernetes in three numbers, not %q", fmt.Sprint(s.Ansible.Variables[versionVariable])))
	}
}

// versions are the versions of Kubernetes in a cluster.
type versions struct {
	// server is the version of the API server; nil if none answers.
	server []int
	// nodes are the versions of the kubelets by node name.
	nodes map[string][]int
}

// versionScript prints the versions of a cluster.
//
//go:embed version.sh
var versionScript string

// readVersions queries the first master whose API server answers.
func readVersions(ctx context.Context, c *cluster.Cluster) (versions, error) {
	out := versions{nodes: map[string][]int{}}
	for _, n := range c.Nodes(cluster.Master) {
		if n.Gone || !n.Joined {
			continue
		}
		client, err := c.Client(ctx, n)
		if err != nil {
			if ctx.Err() != nil {
				return out, err
			}
			continue
		}
		answer, err := client.Answer(ctx, remote.Command{What: "reading the version of the cluster", Script: versionScript, Args: []string{cluster.AdminConfig}, Sudo: true})
		if err != nil {
			return out, fmt.Errorf("node %s: %w", n.Name, err)
		}
		for line := range strings.Lines(answer) {
			switch words := strings.Fields(line); {
			case len(words) == 2 && words[0] == "server":
				out.server = parseVersion(words[1])
			case len(words) == 3 && words[0] == "node":
				out.nodes[words[1]] = parseVersion(words[2])
			}
		}
		if out.server != nil {
			return out, nil
		}
	}
	return out, nil
}

// runningVersion is the version of the cluster; empty before there is a cluster. Every playbook but an upgrade keeps it. After kubespray
// is replaced by another release, the sample inventory and the defaults name other versions.
func (i *installer) runningVersion(ctx context.Context, c *cluster.Cluster) (string, error) {
	if i.running == "" {
		v, err := readVersions(ctx, c)
		if err != nil || v.server == nil {
			return "", err
		}
		i.running = versionText(v.server)
	}
	return i.running, nil
}

// Update implements cluster.Updater: it upgrades a cluster to the version in the parameters with upgrade-cluster.yml, before nodes are
// added. It resumes an interrupted upgrade, which has left nodes with the former version.
func (i *installer) Update(ctx context.Context, c *cluster.Cluster) error {
	wanted := parseVersion(wantedVersion(c.Settings))
	if wanted == nil {
		return nil
	}
	has, err := readVersions(ctx, c)
	if err != nil {
		return err
	}
	if has.server == nil {
		return fmt.Errorf("%s is %s, and no API server of the cluster says which version it has: bring one up and apply again", versionVariable, versionText(wanted))
	}
	if has.all(wanted) {
		return nil
	}
	if err := upgradeable(has.server, wanted); err != nil {
		return err
	}
	c.Progress(ctx, "upgrading the cluster from %s to %s", versionText(has.server), versionText(wanted))
	extra := map[string]any{}
	// Ansible evaluates serial before it loads the variables of the inventory.
	if serial, given := c.Ansible.Variables["serial"]; given {
		extra["serial"] = serial
	}
	nodes := slices.DeleteFunc(c.All(), func(n *cluster.Node) bool { return !n.Joined })
	if err := i.play(ctx, c, run{playbook: "upgrade-cluster.yml", extra: i.even(c, extra), nodes: nodes, version: versionText(wanted)}); err != nil {
		return err
	}
	i.running = ""
	if has, err = readVersions(ctx, c); err != nil {
		return err
	}
	if has.server != nil && !has.all(wanted) {
		return fmt.Errorf("upgrade-cluster.yml ended, and the cluster has not reached %s: %s", versionText(wanted), has)
	}
	return nil
}

// all reports whether the API server and all kubelets have a version.
func (v versions) all(wanted []int) bool {
	for _, of := range v.nodes {
		if !slices.Equal(of, wanted) {
			return false
		}
	}
	return slices.Equal(v.server, wanted)
}

func (v versions) String() string {
	parts := []string{"the API server has " + versionText(v.server)}
	for name, of := range v.nodes {
		if of != nil && !slices.Equal(of, v.server) {
			parts = append(parts, fmt.Sprintf("node %s %s", name, versionText(of)))
		}
	}
	slices.Sort(parts[1:])
	return strings.Join(parts, ", ")
}

// upgradeable rejects upgrades that kubeadm and kubespray do not support.
func upgradeable(has, wanted []int) error {
	refuse := func(why string) error {
		return fmt.Errorf("%s is %s, and the cluster has %s: %s; nothing was changed", versionVariable, versionText(wanted), versionText(has), why)
	}
	switch {
	case slices.Compare(wanted, has) < 0:
		return refuse("Kubernetes cannot be downgraded")
	case wanted[0] != has[0] || wanted[1] > has[1]+1:
		return refuse(fmt.Sprintf("no minor version may be skipped, so upgrade to a version %d.%d first", has[0], has[1]+1))
	}
	return nil
}
