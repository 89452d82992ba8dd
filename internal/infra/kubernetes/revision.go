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

// asRevision does work as a revision of the chart's release: it runs the hooks before and after it and the tests if they are enabled,
// and writes Helm's record of the result. Without a chart, and if the deployed release has no difference, it only does the work: a
// repair creates no revision.
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

// checkRevisionVersion rejects a new revision of a chart that does not support the Kubernetes version of the VIM. A deployed revision
// is still repaired, because a cluster may be upgraded beyond the range of its charts.
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

// checkKubeVersion returns a problem if the chart does not support the Kubernetes version of the VIM.
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

// applyPrerequisites applies the namespace and the definitions of the chart's crds/ directory. They must exist before the record of a
// release and its first hook.
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

// forcefulAdvice describes how to remove an instance whose hooks fail.
const forcefulAdvice = "a forceful termination runs no hooks: apply with termination.type = \"forceful\", then destroy"

// beginUninstall runs the hooks before the deletion and records the deletion. The returned function runs the hooks after the deletion
// and removes the records. It has to be called after the deletion of the objects and before the deletion of the namespace. Forceful
// terminations, and releases that were never deployed, run no hooks.
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
		// The objects of the termination's hooks would outlive the instance.
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

// deleteFormerRecords removes the release records under former release names.
func (s *session) deleteFormerRecords(ctx context.Context) error {
	name := s.rendering.Release.ReleaseName()
	return s.deleteRecordsNamed(ctx, func(release string) bool { return release != name })
}

// deleteRecordsNamed removes the records of the instance's releases for whose name named is true.
func (s *session) deleteRecordsNamed(ctx context.Context, named func(release string) bool) error {
	r, err := s.client.Resource(ctx, secretKind)
	if err != nil {
		return fmt.Errorf("looking for the records of Helm releases: %w", err)
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

// observeRelease returns the digest of the release if its last revision is deployed without a difference, else a description of the
// differences. The result is empty if there is no release.
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
