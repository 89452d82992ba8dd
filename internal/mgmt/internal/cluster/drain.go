package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

// AdminConfig is the path of the administrator's kubeconfig on masters, written by kubeadm, which kubespray uses too.
const AdminConfig = "/etc/kubernetes/admin.conf"

// drainScript evicts the pods of a node and respects PodDisruptionBudgets. A node that is not in the cluster has no pods. kubespray
// installs kubectl in /usr/local/bin, which may not be in PATH.
const drainScript = `PATH=$PATH:/usr/local/bin
export KUBECONFIG=$1
if [ -z "$(kubectl get node "$2" --ignore-not-found -o name)" ]; then exit 0; fi
exec kubectl drain "$2" --ignore-daemonsets --delete-emptydir-data --timeout="$3"
`

// drain evicts the pods of a node. It skips a node that does not answer: its pods do not run.
func (c *Cluster) drain(ctx context.Context, n *Node) error {
	if n.Gone || !n.Joined {
		return nil
	}
	_, client, err := c.Living(ctx, n)
	if err != nil {
		return err
	}
	c.Progress(ctx, "draining node %s", n.Name)
	_, err = client.Run(ctx, remote.Command{
		What: "kubectl drain " + n.Name, Script: drainScript, Args: []string{AdminConfig, n.Name, c.DrainTimeout.String()},
		Sudo: true, Timeout: c.DrainTimeout + time.Minute, Output: func(line string) { c.Progress(ctx, "draining %s: %s", n.Name, line) },
	})
	if _, refused := errors.AsType[*remote.StatusError](err); refused {
		return fmt.Errorf("node %s cannot be drained within %s: %w; its pods have nowhere to go, or a PodDisruptionBudget forbids it: make room and apply again, or raise drain_timeout", n.Name, c.DrainTimeout, err)
	}
	return err
}
