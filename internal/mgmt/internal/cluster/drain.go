package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

// AdminConfig is where kubeadm, and with it kubespray, leave the kubeconfig of the
// administrator on masters.
const AdminConfig = "/etc/kubernetes/admin.conf"

// drainScript moves the pods of a node away, and respects their PodDisruptionBudgets. A node that
// the cluster does not know has none. kubectl is where kubespray has it, or on the path.
const drainScript = `PATH=$PATH:/usr/local/bin
export KUBECONFIG=$1
if [ -z "$(kubectl get node "$2" --ignore-not-found -o name)" ]; then exit 0; fi
exec kubectl drain "$2" --ignore-daemonsets --delete-emptydir-data --timeout="$3"
`

// drain moves the pods of a node to others. Those of a node that is gone are dead already.
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
