package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/drift"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/release"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// asRevision does work as a revision of the chart's release: hooks before and after
// it, its tests where they are asked for, and Helm's record of how it went. Without a
// chart, and when the release is deployed as it is to be, it only does the work: a
// repair is no new revision.
func (s *session) asRevision(ctx context.Context, h *release.History, target []*targetObject, work func(context.Context) error) error {
	if h == nil {
		return work(ctx)
	}
	if err := s.applyPrerequisites(ctx, target); err != nil {
		return err
	}
	differing, err := h.Differences(ctx)
	if err != nil {
		return err
	}
	if len(differing) == 0 {
		if err := work(ctx); err != nil {
			return err
		}
		if err := h.Supersede(ctx); err != nil {
			return err
		}
		return s.deleteFormerRecords(ctx)
	}
	h.ObjectsExist = slices.ContainsFunc(target, s.showsRelease)
	if err := h.Begin(ctx); err != nil {
		return err
	}
	before, after := helm.PreInstall, helm.PostInstall
	if h.Deployed() {
		before, after = helm.PreUpgrade, helm.PostUpgrade
	}
	err = s.runHooks(ctx, before)
	if err == nil {
		err = work(ctx)
	}
	if err == nil {
		err = s.runHooks(ctx, after)
	}
	if err == nil && s.rendering.Release.Tested {
		err = s.runHooks(ctx, helm.Test)
	}
	if err != nil {
		return errors.Join(err, h.Fail(ctx, err))
	}
	if err := h.Complete(ctx); err != nil {
		return err
	}
	return s.deleteFormerRecords(ctx)
}

// history reads which revisions the release of the chart has; nil without a chart.
func (s *session) history(ctx context.Context) (*release.History, error) {
	if s.rendering == nil || s.rendering.Release == nil {
		return nil, nil
	}
	return release.ReadHistory(ctx, s.client, s.rendering.Release, s.namespace, s.target.Instance.ID)
}

// checkRevisionVersion refuses a new revision of a chart that is not for the version of
// Kubernetes which the VIM has. What is deployed is repaired all the same: a cluster
// may have grown out of the range of its charts.
func (s *session) checkRevisionVersion(ctx context.Context, h *release.History) error {
	if h == nil {
		return nil
	}
	differing, err := h.Differences(ctx)
	if err != nil || len(differing) == 0 {
		return err
	}
	p, err := s.checkKubeVersion(ctx)
	if err != nil || p == nil {
		return err
	}
	return vnfm.Problems{*p}.Err()
}

// checkKubeVersion says that the chart is not for the version that the VIM has.
func (s *session) checkKubeVersion(ctx context.Context) (*vnfm.Problem, error) {
	if s.rendering.Release == nil || !s.rendering.Release.Demands() {
		return nil, nil
	}
	version, err := s.client.ServerVersion(ctx)
	if err != nil {
		return nil, err
	}
	return s.rendering.Release.CheckServer(s.target.VIM.Name, version), nil
}

// applyPrerequisites makes what must be there before the record of a release and its
// first hook: the namespace, and the definitions of the chart's crds/ directory.
func (s *session) applyPrerequisites(ctx context.Context, target []*targetObject) error {
	var first []*targetObject
	for _, p := range target {
		isNamespace := p.ref.Resource.GVK == namespaceKind && p.ref.Name == s.namespace
		if isNamespace || (p.object != nil && p.object.Shared) {
			first = append(first, p)
		}
	}
	err := s.each(ctx, len(first), false, func(ctx context.Context, i int) error { return s.writeObject(ctx, first[i]) })
	if err != nil {
		return err
	}
	return s.awaitReady(ctx, first, render.WaveFoundation)
}

// forcefulAdvice is how to be rid of an instance whose hooks do not let it go.
const forcefulAdvice = "a forceful termination runs no hooks: apply with termination.type = \"forceful\", then destroy"

// beginUninstall begins the end of the release of an instance: hooks run, and the
// record says so. What it returns ends it, after the objects have gone and before
// the namespace goes: hooks run again, and the records are removed. A forceful
// termination runs no hooks, and neither does one of a release that never was
// deployed.
func (s *session) beginUninstall(ctx context.Context, spec vnfm.TerminateSpec, h *release.History, all []*targetObject) (end func(context.Context) error, err error) {
	if h == nil || spec.Type == vnfm.Forceful || !h.Owned() || !h.Deployed() || len(all) == 0 {
		return s.deleteReleaseRecords, nil
	}
	for _, p := range all {
		if i := slices.IndexFunc(s.rendering.Release.Hooks, func(h *render.Hook) bool { return h.Object == p.object }); p.object != nil && i >= 0 {
			p.item.Hook = true
			s.hooks = append(s.hooks, p)
		}
	}
	if err := h.SetStatus(ctx, helm.Uninstalling, "Deletion in progress"); err != nil {
		return nil, err
	}
	if err := s.runHooks(ctx, helm.PreDelete); err != nil {
		return nil, fmt.Errorf("%w; %s", err, forcefulAdvice)
	}
	return func(ctx context.Context) error {
		if err := s.runHooks(ctx, helm.PostDelete); err != nil {
			return fmt.Errorf("%w; %s", err, forcefulAdvice)
		}
		// What the hooks of the termination left would outlive the instance.
		if err := s.removeHooks(ctx, s.rendering.Release.Hooks, helm.BeforeHookCreation, helm.HookSucceeded, helm.HookFailed); err != nil {
			return err
		}
		return s.deleteReleaseRecords(ctx)
	}, nil
}

// deleteReleaseRecords removes the records of all releases of the instance.
func (s *session) deleteReleaseRecords(ctx context.Context) error {
	return s.deleteRecordsNamed(ctx, func(string) bool { return true })
}

// deleteFormerRecords removes the records under the names that the release had before.
func (s *session) deleteFormerRecords(ctx context.Context) error {
	name := s.rendering.Release.ReleaseName()
	return s.deleteRecordsNamed(ctx, func(release string) bool { return release != name })
}

// deleteRecordsNamed removes the records of the releases of the instance that have
// certain names.
func (s *session) deleteRecordsNamed(ctx context.Context, named func(release string) bool) error {
	r, err := s.client.Resource(ctx, secretKind)
	if err != nil {
		return err
	}
	list, err := s.listMetadata(ctx, r, s.namespace, kube.ListOptions{LabelSelector: release.LabelReleaseOf + "=" + s.target.Instance.ID})
	if apierrors.IsForbidden(err) && (s.rendering == nil || s.rendering.Release == nil) {
		// An instance without a chart needs no right to Secrets.
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking for the records of Helm releases: %w", err)
	}
	return s.each(ctx, len(list), true, func(ctx context.Context, i int) error {
		if !named(list[i].Labels["name"]) {
			return nil
		}
		ref := kube.Ref{Resource: r, Namespace: s.namespace, Name: list[i].Name}
		return s.client.Delete(ctx, ref, kube.DeleteOptions{UID: list[i].UID})
	})
}

// observeRelease returns the digest of the release when its last revision is deployed
// and is what was applied, else what of it is not; it is empty when there is none.
func (s *session) observeRelease(ctx context.Context) (string, error) {
	h, err := s.history(ctx)
	if err != nil {
		return "", err
	}
	if !h.Owned() {
		return "", nil
	}
	differing, err := h.Differences(ctx)
	if err != nil {
		return "", err
	}
	if len(differing) > 0 {
		return drift.Describe(differing), nil
	}
	return s.rendering.Release.Digest, nil
}
