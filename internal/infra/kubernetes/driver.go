package kubernetes

import (
	"context"
	"sync"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// defaultConcurrency bounds the requests in flight when the target does not.
const defaultConcurrency = 16

// Driver is the infra driver for Kubernetes VIMs. It is safe for concurrent use.
type Driver struct {
	clients    *kube.Pool
	renderings render.Renderings
	// drifted maps the id of an instance to the drifted objects of its last observation, by key. The dry run that follows forces the
	// apply of these objects at once, instead of after a conflict.
	drifted sync.Map
}

// takeDrifted returns the drifted objects of the last observation of an instance and forgets them.
func (d *Driver) takeDrifted(id string) map[string]*live {
	found, _ := d.drifted.LoadAndDelete(id)
	out, _ := found.(map[string]*live)
	return out
}

var _ vnfm.InfraDriver = (*Driver)(nil)

// New returns the driver. It takes its clients from the pool.
func New(clients *kube.Pool) *Driver {
	d := &Driver{clients: clients}
	d.renderings.Lookup = d.lookup
	return d
}

// CheckVIM connects to the API server, authenticates, and reads its capabilities.
func (d *Driver) CheckVIM(ctx context.Context, spec vnfm.VIMSpec) (vnfm.VIMCheck, error) {
	client, err := d.clients.Client(spec.Name, spec.Kubernetes, spec.Credentials)
	if err != nil {
		return vnfm.VIMCheck{}, err
	}
	var (
		uid               string
		uidErr            error
		asking            sync.WaitGroup
		beside, endAsking = context.WithCancel(ctx)
	)
	defer asking.Wait()
	defer endAsking()
	if spec.ClusterUID == "" {
		asking.Go(func() { uid, uidErr = client.ClusterUID(beside) })
	}
	check, err := client.Check(ctx)
	if check.ClusterUID = spec.ClusterUID; err == nil && check.ClusterUID == "" {
		asking.Wait()
		check.ClusterUID, err = uid, uidErr
	}
	return check, err
}

// Preview implements vnfm.InfraDriver.
func (d *Driver) Preview(ctx context.Context, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
	return d.renderings.Preview(ctx, t)
}

// Render implements vnfm.InfraDriver.
func (d *Driver) Render(ctx context.Context, t *vnfm.Target) (*vnfm.Rendering, vnfm.Problems) {
	rendering, problems := d.renderings.YAML(ctx, t)
	if rendering != nil {
		rendering.FieldRules = fieldRules
	}
	return rendering, problems
}
