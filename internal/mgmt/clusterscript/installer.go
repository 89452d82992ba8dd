package clusterscript

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/hosts"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Actions of the script.
const (
	actionInit   = "init"
	actionToken  = "token"
	actionJoin   = "join"
	actionForget = "forget"
	actionReset  = "reset"
)

// bound is the number of workers that join concurrently.
const bound = 8

// installer calls the script.
type installer struct {
	program string
}

var _ cluster.Installer = (*installer)(nil)

// Prepare implements cluster.Installer.
func (i *installer) Prepare(_ context.Context, c *cluster.Cluster) error {
	var err error
	i.program, err = hosts.ReadProgram(c.Call.Package.Content, c.ScriptPath)
	return err
}

// Install implements cluster.Installer: the first master creates the cluster, and the other nodes join it.
func (i *installer) Install(ctx context.Context, c *cluster.Cluster) error {
	first := c.Nodes(cluster.Master)[0]
	c.Progress(ctx, "beginning the cluster on node %s", first.Name)
	if err := i.call(ctx, c, action{name: actionInit, on: first}); err != nil {
		return err
	}
	if err := c.Join(ctx, first); err != nil {
		return err
	}
	return i.Add(ctx, c, slices.DeleteFunc(c.All(), func(n *cluster.Node) bool { return n == first }), false)
}

// Add implements cluster.Installer: masters join one after the other, since each changes the members of etcd, and workers concurrently.
// A resumed operation skips nodes that have joined. Nodes need no update when masters leave: they reach masters through the load balancer.
func (i *installer) Add(ctx context.Context, c *cluster.Cluster, added []*cluster.Node, _ bool) error {
	var workers []*cluster.Node
	for _, n := range added {
		if n.Role == cluster.Worker {
			workers = append(workers, n)
			continue
		}
		// The secret for masters is valid for a short time, and adding a master takes long.
		if err := i.join(ctx, c, []*cluster.Node{n}); err != nil {
			return err
		}
	}
	return i.join(ctx, c, workers)
}

// join adds servers of one role to the cluster.
func (i *installer) join(ctx context.Context, c *cluster.Cluster, joining []*cluster.Node) error {
	if len(joining) == 0 {
		return nil
	}
	token, err := i.token(ctx, c, joining[0].Role)
	if err != nil {
		return err
	}
	// The inventories are written first: they list joined nodes, and c.Join changes that list concurrently.
	commands := map[*cluster.Node]remote.Command{}
	for _, n := range joining {
		if commands[n], err = i.command(ctx, c, action{name: actionJoin, on: n, join: token}); err != nil {
			return err
		}
	}
	return remote.Each(ctx, bound, joining, func(ctx context.Context, n *cluster.Node) error {
		c.Progress(ctx, "joining node %s", n.Name)
		if err := i.run(ctx, c, n, commands[n]); err != nil {
			return err
		}
		return c.Join(ctx, n)
	})
}

// token gets from a master the secret with which nodes of a role join.
func (i *installer) token(ctx context.Context, c *cluster.Cluster, role cluster.Role) (vnfm.Secret, error) {
	n, client, err := c.Living(ctx, nil)
	if err != nil {
		return "", err
	}
	cmd, err := i.command(ctx, c, action{name: actionToken, args: []string{string(role)}, on: n})
	if err != nil {
		return "", err
	}
	// The output is the secret, so it is not reported as progress.
	cmd.Output = nil
	result, err := hosts.RunProgram(ctx, client, cmd, i.program)
	token := vnfm.Secret(strings.TrimSpace(result.Stdout))
	if err != nil {
		// The output so far may contain the secret already, and stderr may repeat it.
		if ended, ok := errors.AsType[*remote.StatusError](err); ok {
			ended.Result = remote.Result{Stderr: client.Mask(ended.Result.Stderr, secretsIn(token)...)}
		}
		return "", fmt.Errorf("node %s: %w", n.Name, err)
	}
	if token == "" {
		return "", fmt.Errorf("node %s: script %s with action %s printed nothing: it must print, on stdout, what a %s needs to join", n.Name, c.ScriptPath, actionToken, role)
	}
	return token, nil
}

// Remove implements cluster.Installer: a remaining master removes the node from the cluster. Then the node is reset, unless its server
// is missing or does not answer.
func (i *installer) Remove(ctx context.Context, c *cluster.Cluster, n *cluster.Node) error {
	master, _, err := c.Living(ctx, n)
	if err != nil {
		return err
	}
	if err := i.call(ctx, c, action{name: actionForget, args: []string{n.Name}, on: master, leaving: n}); err != nil {
		return err
	}
	if n.Gone {
		return nil
	}
	err = i.call(ctx, c, action{name: actionReset, on: n, leaving: n})
	if err != nil && c.Call.Replaces() && ctx.Err() == nil {
		// A replaced node may be broken, and it is already removed from the cluster.
		c.Progress(ctx, "node %s, which is replaced, was not reset: %s", n.Name, err)
		return nil
	}
	return err
}

// Discard implements cluster.Installer: there is no data outside the nodes.
func (*installer) Discard(context.Context, *cluster.Cluster) error { return nil }

// call runs an action of the script on its node.
func (i *installer) call(ctx context.Context, c *cluster.Cluster, a action) error {
	cmd, err := i.command(ctx, c, a)
	if err != nil {
		return err
	}
	return i.run(ctx, c, a.on, cmd)
}

func (i *installer) run(ctx context.Context, c *cluster.Cluster, n *cluster.Node, cmd remote.Command) error {
	client, err := c.Client(ctx, n)
	if err != nil {
		return err
	}
	if _, err := hosts.RunProgram(ctx, client, cmd, i.program); err != nil {
		return fmt.Errorf("node %s: %w", n.Name, err)
	}
	return nil
}

// secretsIn are the secret for joining and its longer words: a script, or a program that it calls, may print either.
func secretsIn(token vnfm.Secret) []vnfm.Secret {
	out := []vnfm.Secret{token}
	for word := range strings.FieldsSeq(token.Reveal()) {
		if len(word) >= shortest {
			out = append(out, vnfm.Secret(word))
		}
	}
	return out
}

// shortest is the length from which a word counts as a secret: the tokens of kubeadm have at least 23 characters, and addresses should
// stay readable.
const shortest = 16
