package heat

import (
	"context"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/hot"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Driver is the infra driver for OpenStack VIMs. It is safe for concurrent use.
type Driver struct {
	vnfm.VIMDriver
	clients *openstack.Pool
	// images are those that are being uploaded or deleted.
	images turns
}

var _ vnfm.InfraDriver = (*Driver)(nil)

// New returns the driver. It takes its clients from the pool.
func New(clients *openstack.Pool) *Driver {
	return &Driver{VIMDriver: openstack.NewDriver(clients), clients: clients}
}

// session is one call of the driver for one target.
type session struct {
	target   *vnfm.Target
	recorder vnfm.Recorder
	client   *openstack.Client
	images   *turns
	// source is what the stack is made of; nil when the package has been lost.
	source  *hot.Source
	request hot.Request
	// objects are the digests of what the target consists of.
	objects map[string]string
}

// open prepares a call. It sends no request. Without a package, or a part of the instance on the
// VIM, only what the VIM has can be looked at and removed.
func (d *Driver) open(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) (*session, error) {
	s := &session{target: t, recorder: r, images: &d.images}
	var err error
	if s.client, err = d.clients.Client(t.VIM.Name, t.VIM.OpenStack, t.Credentials); err != nil {
		return nil, err
	}
	if t.Package == nil || t.Flavour == nil || t.Part.Empty() {
		return s, nil
	}
	rendered, problems := render(budget.New(ctx, budget.Limits{}), t)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	s.source, s.request, s.objects = rendered.source, rendered.request, rendered.objects
	return s, nil
}

// CheckTermination implements vnfm.InfraDriver. Nothing of others can depend on a stack
// that Heat itself would not tell of when it deletes it.
func (d *Driver) CheckTermination(context.Context, *vnfm.Target, vnfm.TerminateSpec) error {
	return nil
}

// progress tells the user what is being done.
func (s *session) progress(ctx context.Context, line string) {
	if s.recorder != nil {
		s.recorder.Progress(ctx, line)
	}
}
