package cloud

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// An application credential belongs to its cluster like an object does: it is made before
// the objects that need it, read back as they are, and removed after them. Its secret is
// only in the Secret on the management cluster, from where Cluster API Provider OpenStack
// reads it; Keystone tells it once. A rotation changes the content of the Secret and
// leaves its name, so that no machine is replaced.

const (
	// labelMove has clusterctl take the Secret along when the cluster is moved.
	labelMove = "clusterctl.cluster.x-k8s.io/move"
	// labelCredential marks the Secrets that hold an application credential.
	labelCredential = vnfm.LabelPrefix + "application-credential"
	// annotationMadeFor sums up what the credential was made for: another owner, other
	// roles or another trigger need another one.
	annotationMadeFor = vnfm.LabelPrefix + "made-for"
	// annotationCloud is the id of the VIM that it was made with.
	annotationCloud = vnfm.LabelPrefix + "openstack-vim"
)

// CredentialKey is how the application credential goes by among a cluster's objects.
func CredentialKey(cluster string) string {
	return "keystone/v3/ApplicationCredential " + cluster
}

// CredentialText is what the digest of a cluster has of its part in an OpenStack.
func CredentialText(spec *vnfm.ClusterOpenStack) []byte {
	if spec == nil {
		return nil
	}
	// The specification has only strings and booleans.
	text, _ := json.Marshal(spec)
	return text
}

// CredentialDigest is that of the application credential in a plan.
func CredentialDigest(spec *vnfm.ClusterOpenStack) string {
	wanted := *spec
	wanted.Cleanup, wanted.Config = vnfm.CloudCleanup{}, nil
	sum := sha256.Sum256(CredentialText(&wanted))
	return digest.Shown(sum[:])
}

// madeFor sums up for what an application credential is made.
func madeFor(spec *vnfm.ClusterOpenStack) string {
	parts := append([]string{spec.VIMID, spec.UserID, spec.ProjectID, spec.Credential.RotationTrigger}, spec.Credential.Roles...)
	if at := spec.Credential.ExpiresAt; at != "" {
		parts = append(parts, "expires at "+at)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	return hex.EncodeToString(sum[:8])
}

// CheckSecret finds what stands in the way of the Secret.
func CheckSecret(spec *vnfm.ClusterSpec, objects []map[string]any, ps *vnfm.Problems) {
	cloud := spec.OwnCredential()
	if cloud == nil {
		return
	}
	for _, o := range objects {
		meta, _ := o["metadata"].(map[string]any)
		if o["apiVersion"] == "v1" && o["kind"] == "Secret" && meta["name"] == cloud.SecretName {
			*ps = append(*ps, vnfm.Problem{
				Attribute: "openstack.application_credential.secret_name", Summary: fmt.Sprintf("the cluster brings the Secret %q itself", cloud.SecretName),
				Detail: "the application credential would be written over it: take it out of the cluster's objects, or choose another secret_name",
			})
		}
	}
}

// Credential is the application credential of one cluster.
type Credential struct {
	*Cluster
	clouds    *openstack.Pool
	target    *vnfm.Target
	inventory *Inventory
	// wanted is nil for a cluster that has none, or none any more.
	wanted *vnfm.ClusterOpenStack
	// current is the id of the one that is in use, and secret its secret, once that is known.
	current string
	secret  vnfm.Secret
	// vimID is the VIM that made what there is, once that is known.
	vimID string
}

// NewCredential returns the application credential of a cluster.
func NewCredential(c *Cluster, clouds *openstack.Pool, t *vnfm.Target, l *Inventory) *Credential {
	a := &Credential{Cluster: c, clouds: clouds, target: t, inventory: l}
	if c.Spec.OwnCredential() != nil {
		a.wanted, a.vimID = c.Spec.OpenStack, c.Spec.OpenStack.VIMID
	}
	return a
}

// prefix is what the names of the cluster's application credentials begin with. A process
// that was killed finds its own by it.
func (a *Credential) prefix() string { return a.Name + "-" + a.Instance + "-" }

// cloud returns the client of an OpenStack VIM.
func (a *Credential) cloud(ctx context.Context, vimID string) (*openstack.Client, error) {
	vim, creds, err := a.target.Access(ctx, vimID)
	if err != nil {
		return nil, fmt.Errorf("the OpenStack VIM of %s: %w", a.Cluster, err)
	}
	return a.clouds.Client(vim.Name, vim.OpenStack, creds)
}

// storedCredential is the content of the Secret on the management cluster.
type storedCredential struct {
	object  *unstructured.Unstructured
	id      string
	secret  vnfm.Secret
	madeFor string
	vimID   string
	// own is false for a Secret of somebody else.
	own bool
}

func (a *Credential) secretKind(ctx context.Context) (kube.Resource, error) {
	return a.Client.Resource(ctx, schema.GroupVersionKind{Version: "v1", Kind: "Secret"})
}

// read returns what the Secret has; nil when there is none.
func (a *Credential) read(ctx context.Context) (*storedCredential, error) {
	r, err := a.secretKind(ctx)
	if err != nil {
		return nil, err
	}
	obj, err := a.Client.Get(ctx, kube.Ref{Resource: r, Namespace: a.Namespace, Name: a.wanted.Credential.SecretName})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return a.readSecret(obj), nil
}

func (a *Credential) readSecret(obj *unstructured.Unstructured) *storedCredential {
	h := &storedCredential{object: obj, own: obj.GetLabels()[vnfm.InstanceLabel] == a.Instance}
	h.madeFor, h.vimID = obj.GetAnnotations()[annotationMadeFor], obj.GetAnnotations()[annotationCloud]
	if clouds, err := SecretValue(obj, openstack.FileClouds); err == nil && a.wanted != nil {
		// One that cannot be read holds nothing that can be used.
		h.id, h.secret, _ = openstack.ReadCloudsYAML(clouds, a.wanted.Credential.CloudName)
	}
	return h
}

// Ensure has the Secret hold an application credential that works and is made for what is
// wanted. It comes before the objects that need it. A new one is tried before it is
// written, so that none that does not work ever takes the place of one that does; the old
// one stays until the cluster is ready.
func (a *Credential) Ensure(ctx context.Context) error {
	if a.wanted == nil {
		return nil
	}
	client, err := a.cloud(ctx, a.wanted.VIMID)
	if err != nil {
		return err
	}
	h, err := a.read(ctx)
	if err != nil {
		return err
	}
	if h != nil && !h.own && !a.target.AdoptExisting {
		return &vnfm.ConflictError{
			Object: fmt.Sprintf("Secret %s/%s", a.Namespace, a.wanted.Credential.SecretName), Owner: "somebody else",
			Detail: "choose another openstack.application_credential.secret_name, or take it over with adopt_existing",
		}
	}
	good, err := a.isUsable(ctx, client, h)
	if err != nil {
		return err
	}
	if !good {
		if h, err = a.renew(ctx, client, h); err != nil {
			return err
		}
	}
	a.current, a.secret = h.id, h.secret
	return a.write(ctx, client, h)
}

// isUsable reports whether what the Secret has is made for what is wanted, and works.
func (a *Credential) isUsable(ctx context.Context, client *openstack.Client, h *storedCredential) (bool, error) {
	if h == nil || !h.own || h.id == "" || h.madeFor != madeFor(a.wanted) {
		return false, nil
	}
	err := a.clouds.Try(ctx, a.target.VIM.Name, client.Connection(), h.id, h.secret)
	if openstack.IsRefused(err) {
		return false, nil
	}
	return err == nil, err
}

// renew creates another application credential. Those of earlier tries, whose secret
// nobody knows any more, go first.
func (a *Credential) renew(ctx context.Context, client *openstack.Client, old *storedCredential) (*storedCredential, error) {
	expires, err := expiryOf(a.wanted.Credential)
	if err != nil {
		return nil, err
	}
	keep := ""
	if old != nil {
		keep = old.id
	}
	if err := a.deleteOwnBut(ctx, client, keep); err != nil {
		return nil, err
	}
	userID, projectID, err := client.Owner(ctx)
	if err != nil {
		return nil, err
	}
	if projectID != a.wanted.ProjectID {
		return nil, fmt.Errorf("the OpenStack VIM of %s is project %s now and was project %s when it was registered: apply the vnf_vim first", a.Cluster, projectID, a.wanted.ProjectID)
	}
	name := a.prefix() + unique()
	if err := a.inventory.add(ctx, a.Name, userID, name, ""); err != nil {
		return nil, err
	}
	if err := a.inventory.SetNote(ctx, noteRenewed, name); err != nil {
		return nil, err
	}
	a.inventory.Progress(ctx, "making an application credential for "+a.String())
	made, err := client.CreateApplicationCredential(ctx, openstack.NewApplicationCredential{
		Name: name, Description: fmt.Sprintf("Workload cluster %s/%s of Cluster API", a.Namespace, a.Name),
		Roles: a.wanted.Credential.Roles, ExpiresAt: expires,
	})
	if err != nil {
		return nil, err
	}
	if err := a.inventory.add(ctx, a.Name, userID, name, made.ID); err != nil {
		return nil, err
	}
	if err := a.clouds.Try(ctx, a.target.VIM.Name, client.Connection(), made.ID, made.Secret); err != nil {
		return nil, fmt.Errorf("trying the new application credential %q: %w", name, err)
	}
	return &storedCredential{id: made.ID, secret: made.Secret}, nil
}

// expiryOf is when an application credential that is created now is to expire; zero for never.
func expiryOf(c *vnfm.ClusterCredential) (time.Time, error) {
	if c.ExpiresAt == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, c.ExpiresAt)
	if err == nil && !at.After(time.Now()) {
		return at, &vnfm.InvalidError{Problems: vnfm.Problems{{
			Attribute: "openstack.application_credential.expires_at", Summary: "a new application credential would have expired at " + c.ExpiresAt,
			Detail: "set a later time, or remove the argument for one that does not expire",
		}}}
	}
	return at, err
}

// unique tells the names of one cluster's application credentials apart.
func unique() string {
	text := make([]byte, 4)
	// crypto/rand does not fail.
	_, _ = rand.Read(text)
	return hex.EncodeToString(text)
}

// wantedSecret is the Secret with an application credential.
func (a *Credential) wantedSecret(client *openstack.Client, h *storedCredential) (map[string]any, error) {
	at := client.Connection()
	clouds, err := openstack.CloudsYAML(a.wanted.Credential.CloudName, at, h.id, h.secret)
	if err != nil {
		return nil, err
	}
	data := map[string]any{openstack.FileClouds: base64.StdEncoding.EncodeToString([]byte(clouds.Reveal()))}
	if at.CACertificate != "" {
		data[openstack.FileCA] = base64.StdEncoding.EncodeToString([]byte(at.CACertificate))
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{
			"name": a.wanted.Credential.SecretName, "namespace": a.Namespace,
			"labels":      map[string]any{labelMove: "", clusterv1.ClusterNameLabel: a.Name, labelCredential: "", vnfm.InstanceLabel: a.Instance},
			"annotations": map[string]any{annotationMadeFor: madeFor(a.wanted), annotationCloud: a.wanted.VIMID},
		},
		"data": data,
	}, nil
}

// write writes the Secret, unless its content is right already.
func (a *Credential) write(ctx context.Context, client *openstack.Client, h *storedCredential) error {
	secret, err := a.wantedSecret(client, h)
	if err != nil || (h.object != nil && holds(h.object.Object, secret)) {
		return err
	}
	r, err := a.secretKind(ctx)
	if err != nil {
		return err
	}
	_, err = a.Client.Apply(ctx, kube.Ref{Resource: r, Namespace: a.Namespace, Name: a.wanted.Credential.SecretName}, secret, kube.ApplyOptions{Force: true})
	if err != nil {
		return fmt.Errorf("writing the application credential of %s: %w", a.Cluster, err)
	}
	return nil
}

// holds reports whether an object has all fields of another one.
func holds(object, fields map[string]any) bool {
	for name, want := range fields {
		if children, isMap := want.(map[string]any); isMap {
			inner, _ := object[name].(map[string]any)
			if !holds(inner, children) {
				return false
			}
		} else if object[name] != want {
			return false
		}
	}
	return true
}

// ownSecrets are the Secrets with application credentials of the cluster.
func (a *Credential) ownSecrets(ctx context.Context) ([]*storedCredential, error) {
	r, err := a.secretKind(ctx)
	if err != nil {
		return nil, err
	}
	all, err := a.Client.List(ctx, r, a.Namespace, kube.ListOptions{LabelSelector: labelCredential + "," + vnfm.InstanceLabel + "=" + a.Instance})
	if err != nil {
		return nil, err
	}
	out := make([]*storedCredential, 0, len(all))
	for i := range all {
		h := a.readSecret(&all[i])
		if a.vimID == "" {
			a.vimID = h.vimID
		}
		out = append(out, h)
	}
	return out, nil
}

func (a *Credential) removeSecrets(ctx context.Context, secrets []*storedCredential) error {
	r, err := a.secretKind(ctx)
	if err != nil {
		return err
	}
	for _, h := range secrets {
		ref := kube.Ref{Resource: r, Namespace: a.Namespace, Name: h.object.GetName()}
		if err := a.Client.Delete(ctx, ref, kube.DeleteOptions{UID: h.object.GetUID()}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// deleteOwnBut removes the application credentials of the cluster that belong to the client's
// user, but for the one with the id keep.
func (a *Credential) deleteOwnBut(ctx context.Context, client *openstack.Client, keep string) error {
	all, err := client.ApplicationCredentials(ctx)
	if err != nil {
		return err
	}
	for _, each := range all {
		if each.ID == keep || !strings.HasPrefix(each.Name, a.prefix()) {
			continue
		}
		if err := client.DeleteApplicationCredential(ctx, each.UserID, each.ID); err != nil {
			return err
		}
		if err := a.inventory.remove(ctx, func(i vnfm.InventoryItem) bool { return i.UID == each.ID }); err != nil {
			return err
		}
	}
	return nil
}
