package kubernetes

import (
	"context"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/release"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// readRecorded reads the manifest of a release that the instance takes over, before its chart is rendered. The rendering reuses the
// passwords and keys that random functions generated in Helm. An instance that has results, or whose chart needs none, reads nothing.
func (s *session) readRecorded(ctx context.Context) error {
	t := s.target
	if !t.AdoptExisting || t.Results == nil || len(t.Results.Data()) > 0 {
		return nil
	}
	planned, problems := s.renderings.Render(ctx, t)
	if problems.HasErrors() || planned.Release == nil {
		// The rendering for the apply reports the problems.
		return nil
	}
	history, err := release.ReadHistory(ctx, s.client, planned.Release, s.namespace, t.Instance.ID)
	if err != nil || history.Owned() || !history.Deployed() {
		return err
	}
	recorded, err := history.Manifests(ctx)
	if err != nil || len(recorded) == 0 {
		return err
	}
	own := *t
	own.Recorded = recorded[len(recorded)-1].Text
	s.target = &own
	return nil
}

// notRecorded warns before an apply of results that the release does not contain, and that are therefore generated again. The apply
// reports a release that cannot be read.
func (s *session) notRecorded(ctx context.Context) vnfm.Problems {
	if err := s.readRecorded(ctx); err != nil || s.target.Recorded == "" {
		return nil
	}
	_, problems := s.renderings.Render(ctx, s.target)
	return madeAgain(problems)
}

// madeAgain returns the problems of a rendering about results that the release does not contain.
func madeAgain(problems vnfm.Problems) vnfm.Problems {
	return slices.DeleteFunc(slices.Clone(problems), func(p vnfm.Problem) bool { return p.Summary != helm.NotRecorded })
}

// warn reports problems to the user.
func (s *session) warn(problems vnfm.Problems) {
	for _, p := range problems {
		if s.target.Warn != nil {
			s.target.Warn(p)
		}
	}
}
