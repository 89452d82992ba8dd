package cloud

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Observe adds the application credential to what is seen of the cluster: its digest when
// it is what was made and works, else what is wrong with it, so that the plan shows that it
// is made again. A Keystone that does not answer says nothing against it.
func (a *Credential) Observe(ctx context.Context, seen *vnfm.Observation) error {
	if a.wanted == nil {
		return nil
	}
	key := CredentialKey(a.Name)
	h, err := a.read(ctx)
	if err != nil {
		return err
	}
	if h == nil {
		seen.Gone = append(seen.Gone, key)
		return nil
	}
	a.current, a.secret = h.id, h.secret
	if seen.Cluster != nil && h.own && h.madeFor == madeFor(a.wanted) {
		// Keystone changes no application credential. Without the argument the time is none.
		seen.Cluster.CredentialExpiresAt, _ = time.Parse(time.RFC3339, a.wanted.Credential.ExpiresAt)
	}
	seen.Objects[key] = CredentialDigest(a.wanted)
	client, err := a.cloud(ctx, a.wanted.VIMID)
	if err != nil {
		// Errors of the VIM are reported where it is read.
		return nil //nolint:nilerr // see above
	}
	if problem := a.problem(ctx, client, h); problem != "" {
		seen.Objects[key] = vnfm.Drifted + problem
	}
	return nil
}

// problem says why an application credential has to be created or written again.
func (a *Credential) problem(ctx context.Context, client *openstack.Client, h *storedCredential) string {
	switch {
	case !h.own:
		return "the Secret is somebody else's"
	case h.id == "":
		return "the Secret holds no application credential"
	case h.madeFor != madeFor(a.wanted):
		return "it was made for something else"
	}
	if err := a.clouds.Try(ctx, a.target.VIM.Name, client.Connection(), h.id, h.secret); openstack.IsRefused(err) {
		return "Keystone refuses it"
	}
	if secret, err := a.wantedSecret(client, h); err == nil && !holds(h.object.Object, secret) {
		return "the Secret is not as it was written"
	}
	return ""
}

// RemoveSecrets removes the Secrets, once there is no Cluster any more that needs it.
func (a *Credential) RemoveSecrets(ctx context.Context) error {
	if a.wanted == nil && len(a.inventory.items()) == 0 {
		return nil
	}
	secrets, err := a.ownSecrets(ctx)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return a.removeSecrets(ctx, secrets)
}

// RemoveAll removes the application credentials of a cluster that is gone. Those that the VIM's
// user may not remove, or cannot because it is refused itself, are left behind: nothing
// uses them, and the cluster would never go otherwise.
func (a *Credential) RemoveAll(ctx context.Context, leftBehind func(object, reason string)) error {
	if a.vimID == "" {
		return nil
	}
	if leftBehind == nil {
		leftBehind = func(string, string) {}
	}
	client, err := a.cloud(ctx, a.vimID)
	if err != nil {
		return err
	}
	a.inventory.Progress(ctx, "removing the application credential of "+a.String())
	left, err := a.deleteAllBut(ctx, client, "")
	switch {
	case openstack.IsRefused(err), openstack.IsForbidden(err):
		leftBehind("The application credential of "+a.String(), err.Error())
	case err != nil:
		return err
	}
	for _, each := range left {
		leftBehind("The "+describe(each), "the user of the VIM may not remove what belongs to another user")
	}
	return a.inventory.remove(ctx, isCredential)
}
