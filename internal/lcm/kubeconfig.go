package lcm

import (
	"context"
	"errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// noteKubeconfig notes which kubeconfig goes before it goes, so that a rotation that is resumed takes the new one for done.
func (u *update) noteKubeconfig(ctx context.Context) error {
	i, trigger := &u.instance.Value, u.spec.RotationTrigger
	if i.Rotation == nil || i.Rotation.Trigger != trigger {
		before, err := u.engine.WorkloadKubeconfig(ctx, i.ClusterRef(), vnfm.KubeconfigSpec{})
		if err != nil && !errors.Is(err, vnfm.ErrNotFound) {
			return err
		}
		i.Rotation = &vnfm.Rotation{Trigger: trigger}
		if before != nil {
			i.Rotation.Before = before.ID
		}
	}
	return saveInstance(ctx, u.store, u.instance)
}

// rotateKubeconfig has the kubeconfig of a workload cluster made again.
func (u *update) rotateKubeconfig(ctx context.Context, op *operation, _ *plannedOperation) error {
	d, err := u.engine.clusters()
	if err != nil {
		return err
	}
	i := &u.instance.Value
	vim, creds, err := u.engine.vims.Open(ctx, i.VIMID)
	if err != nil {
		return err
	}
	if err := d.RegenerateKubeconfig(ctx, vim, creds, i.ClusterRef(), i.Rotation.Before, op); err != nil {
		return err
	}
	i.Rotation = &vnfm.Rotation{Trigger: u.spec.RotationTrigger, Done: true}
	i.Generation++
	return nil
}

// kubeconfigExpired reports whether the kubeconfig that the request has made again has expired. Whatever else is wrong with
// it is an error where it is needed.
func (u *update) kubeconfigExpired(ctx context.Context) bool {
	i, trigger := &u.instance.Value, u.spec.RotationTrigger
	if trigger == "" || i.Cluster == nil || i.Rotation != nil && i.Rotation.Trigger == trigger {
		return false
	}
	k, err := u.engine.WorkloadKubeconfig(ctx, i.ClusterRef(), vnfm.KubeconfigSpec{})
	return err == nil && k.Expired(i.ClusterRef()) != nil
}
