// Package release manages the revisions of the Helm release of a VNF instance. It reads and writes the Secrets with Helm's records
// in Helm's format, so that Helm's command shows the release and can take it over.
package release

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// LabelReleaseOf is a label on the Secrets with Helm's records of a release: the id of the instance that owns the release.
const LabelReleaseOf = vnfm.LabelPrefix + "release-of"

// maxRevisions bounds the revisions of a release. It is Helm's default.
const maxRevisions = 10

// History is the list of revisions of a release, read from the Secrets with Helm's records.
type History struct {
	client  *kube.Client
	secrets kube.Resource
	// namespace is the namespace of the release, instance the id of the VNF instance, chart the desired release.
	namespace, instance string
	chart               *render.ChartRelease
	// revisions are sorted by number.
	revisions []revision
	// current is the record of the unfinished revision.
	current *helm.Release
	// ObjectsExist is set when objects of the release exist, even without records.
	ObjectsExist bool
}

// revision is one record, described by its labels.
type revision struct {
	number int
	status helm.Status
	secret string
	// owner is the id of the instance that the revision belongs to; empty for none.
	owner string
	// record is nil until the revision is read.
	record *helm.Release
}

// ReadHistory lists the revisions of the release of a chart.
func ReadHistory(ctx context.Context, client *kube.Client, chart *render.ChartRelease, namespace, instance string) (*History, error) {
	h, err := readHistory(ctx, client, chart.ReleaseName(), namespace)
	if err != nil {
		return nil, err
	}
	h.instance, h.chart = instance, chart
	return h, nil
}

// readHistory lists the revisions of a release by name, independent of its chart.
func readHistory(ctx context.Context, client *kube.Client, name, namespace string) (*History, error) {
	r, err := client.Resource(ctx, schema.GroupVersionKind{Version: "v1", Kind: "Secret"})
	if err != nil {
		return nil, err
	}
	list, err := client.ListMetadata(ctx, r, namespace, kube.ListOptions{LabelSelector: helm.Selector(name)})
	if err != nil {
		return nil, fmt.Errorf("reading the history of Helm release %s: %w", name, err)
	}
	h := &History{client: client, secrets: r, namespace: namespace}
	for i := range list {
		if number, err := strconv.Atoi(list[i].Labels["version"]); err == nil {
			h.revisions = append(h.revisions, revision{
				number: number, status: helm.Status(list[i].Labels["status"]), secret: list[i].Name, owner: list[i].Labels[LabelReleaseOf],
			})
		}
	}
	slices.SortFunc(h.revisions, func(a, b revision) int { return cmp.Compare(a.number, b.number) })
	return h, nil
}

// Owned reports whether the first revision, and thus the release, belongs to the instance. Later revisions of Helm's command have no
// label and do not change the owner. A release that is taken over belongs to the instance as soon as one of the instance's revisions
// is deployed. A planned instance has no id and owns nothing.
func (h *History) Owned() bool {
	return h.instance != "" && len(h.revisions) > 0 && h.revisions[0].owner == h.instance
}

// CheckOwner returns a *vnfm.ConflictError if the release belongs to another instance or, without adopt, to none. A nil history has
// no owner.
func (h *History) CheckOwner(adopt bool) error {
	if h == nil {
		return nil
	}
	for _, r := range h.revisions {
		if r.owner == h.instance || (r.owner == "" && (adopt || h.Owned())) {
			continue
		}
		owner := "VNF instance " + r.owner
		detail := "give this instance another " + render.ParamReleaseName + ", or another namespace"
		if r.owner == "" {
			owner, detail = "no VNF instance", detail+", or set adopt_existing to take it over"
		}
		return &vnfm.ConflictError{Object: fmt.Sprintf("the Helm release %s in namespace %s", h.chart.ReleaseName(), h.namespace), Owner: owner, OwnerID: r.owner, Detail: detail}
	}
	return nil
}

// Deployed reports whether the release was deployed and not uninstalled since. Without records a release counts as deployed if its
// objects exist, because hooks of an installation must not run on existing data.
func (h *History) Deployed() bool {
	for _, r := range slices.Backward(h.revisions) {
		if r.status == helm.Uninstalled {
			return false
		}
		if r.status == helm.Deployed || r.status == helm.Superseded || r.status == helm.Uninstalling {
			return true
		}
	}
	return len(h.revisions) == 0 && h.ObjectsExist
}

// Differences describes how the last revision differs from the desired one; nil if they are equal and the last one is deployed.
func (h *History) Differences(ctx context.Context) ([]string, error) {
	n := len(h.revisions)
	if n == 0 {
		return []string{"no revision"}, nil
	}
	last := &h.revisions[n-1]
	if last.status != helm.Deployed {
		return []string{fmt.Sprintf("revision %d is %s", last.number, last.status)}, nil
	}
	if last.owner == "" {
		return []string{fmt.Sprintf("revision %d is of no VNF instance", last.number)}, nil
	}
	record, err := h.read(ctx, n-1)
	if errors.Is(err, helm.ErrNoRecord) {
		return []string{fmt.Sprintf("revision %d cannot be read", last.number)}, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, part := range h.chart.Record().Differing(record) {
		out = append(out, fmt.Sprintf("%s of revision %d", part, last.number))
	}
	return out, nil
}

// own takes over the revisions that belong to no instance.
func (h *History) own(ctx context.Context) error {
	for i := range h.revisions {
		if h.revisions[i].owner != "" {
			continue
		}
		if err := h.client.PatchMetadata(ctx, h.ref(h.revisions[i].secret), map[string]*string{LabelReleaseOf: &h.instance}, nil); err != nil {
			return err
		}
		h.revisions[i].owner = h.instance
	}
	return nil
}

// Begin writes the record of a new revision and marks an unfinished earlier one as interrupted.
func (h *History) Begin(ctx context.Context) error {
	if h.Owned() {
		if err := h.own(ctx); err != nil {
			return err
		}
	}
	for i := range h.revisions {
		if h.revisions[i].status.IsPending() {
			if err := h.setStatus(ctx, i, helm.Failed, "interrupted"); err != nil {
				return err
			}
		}
	}
	number, status, doing := 1, helm.PendingInstall, "Initial install underway"
	var first time.Time
	if n := len(h.revisions); n > 0 {
		last, err := h.read(ctx, n-1)
		if err != nil && !errors.Is(err, helm.ErrNoRecord) {
			return err
		}
		if number = h.revisions[n-1].number + 1; err == nil {
			first = last.FirstDeployed()
		}
	}
	if h.Deployed() {
		status, doing = helm.PendingUpgrade, "Preparing upgrade"
	}
	h.current = h.chart.Release(number, first, status, doing)
	return h.write(ctx, h.current, h.instance)
}

// failTimeout bounds the write of a failure, which also runs after an interruption.
const failTimeout = 2 * time.Second

// Fail records that the current revision has failed, with the cause.
func (h *History) Fail(ctx context.Context, cause error) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), failTimeout)
	defer stop()
	h.current.Set(helm.Failed, fmt.Sprintf("Release %q failed: %v", h.chart.ReleaseName(), cause))
	return h.write(ctx, h.current, h.instance)
}

// Complete records that the current revision is deployed, and supersedes the earlier ones.
func (h *History) Complete(ctx context.Context) error {
	done := "Upgrade complete"
	if !h.Deployed() {
		done = "Install complete"
	}
	h.current.Set(helm.Deployed, done)
	if err := h.write(ctx, h.current, h.instance); err != nil {
		return err
	}
	name := helm.SecretName(h.chart.ReleaseName(), h.current.Revision())
	h.revisions = append(h.revisions, revision{number: h.current.Revision(), status: helm.Deployed, secret: name, owner: h.instance})
	return h.Supersede(ctx)
}

// Supersede requires that the last revision is deployed. It takes over the revisions that belong to no instance, supersedes all
// earlier ones, and deletes the oldest ones beyond maxRevisions. An apply without changes calls it too, because a killed process may
// have left the work unfinished.
func (h *History) Supersede(ctx context.Context) error {
	if err := h.own(ctx); err != nil {
		return err
	}
	last := len(h.revisions) - 1
	for i := range h.revisions[:last] {
		// An abandoned termination leaves a revision in the state uninstalling.
		if status := h.revisions[i].status; status == helm.Deployed || status == helm.Uninstalling {
			if err := h.setStatus(ctx, i, helm.Superseded, ""); err != nil {
				return err
			}
		}
	}
	for len(h.revisions) > maxRevisions {
		if err := h.client.Delete(ctx, h.ref(h.revisions[0].secret), kube.DeleteOptions{}); err != nil {
			return fmt.Errorf("removing the oldest revision of the Helm release: %w", err)
		}
		h.revisions = h.revisions[1:]
	}
	return nil
}

// SetStatus changes the state of the last revision.
func (h *History) SetStatus(ctx context.Context, status helm.Status, description string) error {
	return h.setStatus(ctx, len(h.revisions)-1, status, description)
}

// setStatus changes the state of a revision; an empty description keeps the former one. An unreadable record is deleted.
func (h *History) setStatus(ctx context.Context, i int, status helm.Status, description string) error {
	r, err := h.read(ctx, i)
	if errors.Is(err, helm.ErrNoRecord) {
		return h.client.Delete(ctx, h.ref(h.revisions[i].secret), kube.DeleteOptions{})
	}
	if err != nil {
		return err
	}
	r.Set(status, cmp.Or(description, r.Description()))
	h.revisions[i].status = status
	return h.write(ctx, r, h.revisions[i].owner)
}

// ref names the Secret of a revision.
func (h *History) ref(secret string) kube.Ref {
	return kube.Ref{Resource: h.secrets, Namespace: h.namespace, Name: secret}
}

// read returns the record of a revision and reads it only once.
func (h *History) read(ctx context.Context, i int) (*helm.Release, error) {
	r := &h.revisions[i]
	if r.record != nil {
		return r.record, nil
	}
	obj, err := h.client.Get(ctx, h.ref(r.secret))
	if err != nil {
		return nil, fmt.Errorf("reading revision %d of the Helm release: %w", r.number, err)
	}
	data, _, err := unstructured.NestedString(obj.Object, "data", "release")
	if err != nil {
		return nil, fmt.Errorf("reading revision %d of the Helm release: %w", r.number, err)
	}
	text, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return nil, fmt.Errorf("reading revision %d of the Helm release: %w", r.number, err)
	}
	out, err := helm.Decode(string(text))
	if err != nil {
		return nil, fmt.Errorf("reading Secret %s/%s: %w", h.namespace, r.secret, err)
	}
	r.record = out
	return out, nil
}

// write writes the record of a revision, with the label of its owner unless that is empty.
func (h *History) write(ctx context.Context, r *helm.Release, owner string) error {
	text, err := r.Encode()
	if err != nil {
		return err
	}
	name := helm.SecretName(h.chart.ReleaseName(), r.Revision())
	labels := r.Labels()
	if owner != "" {
		labels = kube.Merged(labels, map[string]any{LabelReleaseOf: owner})
	}
	body := map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": helm.SecretType,
		"metadata": map[string]any{"name": name, "namespace": h.namespace, "labels": labels},
		"data":     map[string]any{"release": base64.StdEncoding.EncodeToString([]byte(text))},
	}
	if _, err := h.client.Apply(ctx, h.ref(name), body, kube.ApplyOptions{FieldManager: kube.FieldManager, Force: true}); err != nil {
		return fmt.Errorf("writing revision %d of the Helm release: %w", r.Revision(), err)
	}
	return nil
}

// RecordedManifest is the manifest of a revision and the name of the Secret with its record.
type RecordedManifest struct{ Secret, Text string }

// Manifests returns the manifests of the last revision and of deployed ones. Unreadable records are left out, because they must not
// block a termination.
func (h *History) Manifests(ctx context.Context) ([]RecordedManifest, error) {
	var out []RecordedManifest
	for i, r := range h.revisions {
		if i != len(h.revisions)-1 && r.status != helm.Deployed {
			continue
		}
		record, err := h.read(ctx, i)
		if errors.Is(err, helm.ErrNoRecord) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, RecordedManifest{r.secret, record.Manifest()})
	}
	return out, nil
}
