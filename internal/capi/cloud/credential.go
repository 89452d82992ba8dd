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

// An application credential belongs to its cluster like an object: it is created before the
// objects that need it, refreshed with them, and deleted after them. Keystone returns its
// secret only once, and only the Secret on the management cluster keeps it. Cluster API
// Provider OpenStack reads it from there. A rotation changes the content of the Secret and
// not its name, so that no machine is replaced.

const (
	// labelMove makes clusterctl move the Secret together with the cluster.
	labelMove = "clusterctl.cluster.x-k8s.io/move"
	// labelCredential marks the Secrets that hold an application credential.
	labelCredential = vnfm.LabelPrefix + "application-credential"
	// annotationMadeFor is a digest of the arguments of the credential: another owner, other
	// roles or another trigger require another credential.
	annotationMadeFor = vnfm.LabelPrefix + "made-for"
	// annotationCloud is the id of the VIM whose user created the credential.
	annotationCloud = vnfm.LabelPrefix + "openstack-vim"
)

// CredentialKey returns the key of the application credential among the objects of its cluster.
func CredentialKey(cluster string) string {
	return "keystone/v3/ApplicationCredential " + cluster
}

// CredentialText returns the OpenStack part of a specification, as input for the digest of the cluster.
func CredentialText(spec *vnfm.ClusterOpenStack) []byte {
	if spec == nil {
		return nil
	}
	// The specification has only strings and booleans.
	text, _ := json.Marshal(spec)
	return text
}

// CredentialDigest returns the digest of the application credential in a plan.
func CredentialDigest(spec *vnfm.ClusterOpenStack) string {
	wanted := *spec
	wanted.Cleanup, wanted.Config = vnfm.CloudCleanup{}, nil
	sum := sha256.Sum256(CredentialText(&wanted))
	return digest.Shown(sum[:])
}

// madeFor returns the digest for annotationMadeFor.
func madeFor(spec *vnfm.ClusterOpenStack) string {
	parts := append([]string{spec.VIMID, spec.UserID, spec.ProjectID, spec.Credential.RotationTrigger}, spec.Credential.Roles...)
	if at := spec.Credential.ExpiresAt; at != "" {
		parts = append(parts, "expires at "+at)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	return hex.EncodeToString(sum[:8])
}

// CheckSecret reports a Secret of the same name among the objects of the cluster.
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
	// wanted is nil for a cluster without an application credential.
	wanted *vnfm.ClusterOpenStack
	// current is the id of the credential in use, and secret its secret, once they are known.
	current string
	secret  vnfm.Secret
	// vimID is the VIM whose user created the existing credentials, once it is known.
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

// prefix is the prefix of the names of all application credentials of the cluster. After a
// crash, the next run finds the credentials of the cluster by it.
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
	// own is false for a Secret of another owner.
	own bool
}

func (a *Credential) secretKind(ctx context.Context) (kube.Resource, error) {
	return a.Client.Resource(ctx, schema.GroupVersionKind{Version: "v1", Kind: "Secret"})
}

// read returns the content of the Secret; nil if there is none.
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
		// An unreadable Secret counts as one without a credential.
		h.id, h.secret, _ = openstack.ReadCloudsYAML(clouds, a.wanted.Credential.CloudName)
	}
	return h
}

// Ensure makes sure that the Secret holds a valid application credential with the wanted
// arguments. It runs before the objects that need the credential are applied. A new credential
// is tried before it is written, so that it never replaces a valid one by an invalid one. The
// former credential is kept until the cluster is ready.
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

// isUsable reports whether the credential in the Secret has the wanted arguments and is valid.
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

// renew creates another application credential. It first deletes the credentials of earlier
// tries, whose secrets are lost.
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

// expiryOf returns the expiry of a new application credential; zero if it does not expire.
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

// unique returns a random suffix for the name of an application credential.
func unique() string {
	text := make([]byte, 4)
	// crypto/rand does not fail.
	_, _ = rand.Read(text)
	return hex.EncodeToString(text)
}

// wantedSecret returns the Secret with an application credential.
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

// write applies the Secret, unless it is unchanged.
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

// ownSecrets returns the Secrets with application credentials of the cluster.
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

// deleteOwnBut deletes the application credentials of the cluster that belong to the user of
// the client, except the one with the id keep.
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
