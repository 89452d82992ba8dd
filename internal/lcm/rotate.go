package lcm

import (
	"context"
	"errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// rotate has the kubeconfig of a workload cluster made anew, once for each trigger. It
// comes last: only a cluster that is whole makes a new one. Which one goes is written
// down before it goes, so that one that is continued takes the new one for done.
func (u *update) rotate(ctx context.Context) error {
	i, trigger := &u.instance.value, u.spec.RotationTrigger
	if trigger == "" || i.Cluster == nil {
		return nil
	}
	if i.Rotation == nil || i.Rotation.Trigger != trigger {
		before, err := u.engine.WorkloadKubeconfig(ctx, clusterRef(i), vnfm.KubeconfigSpec{})
		if err != nil && !errors.Is(err, vnfm.ErrNotFound) {
			return err
		}
		i.Rotation = &vnfm.Rotation{Trigger: trigger}
		if before != nil {
			i.Rotation.Before = before.ID
		}
	}
	if i.Rotation.Done {
		return nil
	}
	if err := saveInstance(ctx, u.store, u.instance); err != nil {
		return err
	}
	return u.operation(ctx, vnfm.OpHeal, map[string]any{"cause": "regenerate_kubeconfig", "trigger": trigger}, func(ctx context.Context, op *operation) error {
		d, err := u.engine.clusters()
		if err != nil {
			return err
		}
		vim, creds, err := u.engine.vimWithCredentials(ctx, i.VIMID)
		if err != nil {
			return err
		}
		if err := d.RegenerateKubeconfig(ctx, vim, creds, clusterRef(i), i.Rotation.Before, op); err != nil {
			return err
		}
		i.Rotation = &vnfm.Rotation{Trigger: trigger, Done: true}
		i.Generation++
		return nil
	})
}

// rotateExpired is rotate before all else, where the kubeconfig has expired: nothing that
// has to reach the workload API would come to an end with it.
func (u *update) rotateExpired(ctx context.Context) error {
	i, trigger := &u.instance.value, u.spec.RotationTrigger
	if trigger == "" || i.Cluster == nil || (i.Rotation != nil && i.Rotation.Trigger == trigger) {
		return nil
	}
	k, err := u.engine.WorkloadKubeconfig(ctx, clusterRef(i), vnfm.KubeconfigSpec{})
	if err != nil || k.Expired(clusterRef(i)) == nil {
		// Whatever is wrong with it is told where it is needed.
		return nil //nolint:nilerr // see above
	}
	return u.rotate(ctx)
}

// clusterRef names the workload cluster that an instance is.
func clusterRef(i *vnfm.Instance) vnfm.ClusterRef {
	return vnfm.ClusterRef{VIMID: i.VIMID, Namespace: i.Namespace, Name: i.Cluster.Name}
}
