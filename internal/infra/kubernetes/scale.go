package kubernetes

import (
	"context"
	"errors"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Scale sets the replicas of the VDUs that have another number than the target
// asks for and waits until they are reached. Nothing else is touched. Replicas
// that an autoscaler decides on are left to it, except to stop and to start. Of a
// chart whose values say the counts everything is applied: what else a chart makes
// of a count is its own affair.
func (d *Driver) Scale(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	s, err := d.open(t, r)
	if err != nil {
		return err
	}
	if release := s.rendering.release; release != nil && len(release.replicas) > 0 {
		return s.locked(ctx, s.apply)
	}
	return s.locked(ctx, s.scale)
}

func (s *session) scale(ctx context.Context) error {
	workloads, err := s.workloads(ctx)
	if err != nil {
		return err
	}
	options := surveyOptions{selector: instanceSelector(s.target.Instance.ID), whole: func(*placement) bool { return true }}
	if err := s.survey(ctx, workloads, options); err != nil {
		return err
	}
	var errs []error
	var changed []*placement
	for _, p := range workloads {
		switch {
		case p.live == nil:
			errs = append(errs, fmt.Errorf("%s is not there any more: a scale changes replicas only; apply again to repair the instance", p))
		case wantsCount(p):
			changed = append(changed, p)
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	err = s.each(ctx, len(changed), false, func(ctx context.Context, i int) error {
		p := changed[i]
		s.progress(ctx, "scaling %s to %d", p, p.object.scaling.count)
		if err := s.setReplicas(ctx, p, p.object.scaling.count, true); err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	var refs []kube.Ref
	for _, p := range workloads {
		if !p.live.ready {
			refs = append(refs, p.ref)
		}
	}
	return s.client.WaitReady(ctx, refs, s.waitOptions(ctx, instanceSelector(s.target.Instance.ID)))
}
