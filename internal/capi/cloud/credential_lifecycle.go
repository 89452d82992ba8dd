package cloud

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Observe adds the application credential to the observation of the cluster: its digest if the
// credential is unchanged and valid, else the problem, so that the plan shows its renewal. The
// credential counts as valid if Keystone does not answer.
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
		// Application credentials are immutable in Keystone, so that the argument is the actual time.
		seen.Cluster.CredentialExpiresAt, _ = time.Parse(time.RFC3339, a.wanted.Credential.ExpiresAt)
	}
	seen.Objects[key] = CredentialDigest(a.wanted)
	client, err := a.cloud(ctx, a.wanted.VIMID)
	if err != nil {
		// The refresh of the VIM reports its errors.
		return nil //nolint:nilerr // see above
	}
	if problem := a.problem(ctx, client, h); problem != "" {
		seen.Objects[key] = vnfm.Drifted + problem
	}
	return nil
}

// problem returns the reason why an application credential has to be created or written again.
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

// RemoveSecrets deletes the Secrets, after the Cluster that needs them.
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

// RemoveAll deletes the application credentials of a deleted cluster. Credentials that the user of
// the VIM may not delete, or cannot because Keystone rejects the user, are left behind: they are
// unused, and must not block the destroy for ever.
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
