package cloud

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// noteRenewed is the note of an operation that has created an application credential. It limits the warning about remaining former
// credentials to this operation.
const noteRenewed = "application-credential-renewed"

// RemoveFormer deletes former application credentials and Secrets of other names, which the
// ready cluster no longer uses.
func (a *Credential) RemoveFormer(ctx context.Context) error {
	if a.wanted == nil && len(a.inventory.items()) == 0 {
		return nil
	}
	secrets, err := a.ownSecrets(ctx)
	if err != nil {
		return err
	}
	former := slices.DeleteFunc(secrets, func(h *storedCredential) bool {
		return a.wanted != nil && h.object.GetName() == a.wanted.Credential.SecretName
	})
	if err := a.removeSecrets(ctx, former); err != nil || a.vimID == "" {
		return err
	}
	client, err := a.cloud(ctx, a.vimID)
	if err != nil {
		return err
	}
	left, err := a.deleteAllBut(ctx, client, a.current)
	if err == nil {
		a.warnOfFormer(left)
	}
	return err
}

// deleteAllBut deletes all application credentials of the cluster but one. Keystone lets only their owner or an administrator delete
// credentials: credentials of a former user are deleted if this run still has access as that user, or if the present user is an
// administrator. The others are returned and stay recorded.
func (a *Credential) deleteAllBut(ctx context.Context, client *openstack.Client, keep string) (left []vnfm.InventoryItem, err error) {
	if err := a.deleteOwnBut(ctx, client, keep); err != nil {
		return nil, err
	}
	userID, _, err := client.Owner(ctx)
	if err != nil {
		return nil, err
	}
	a.deleteAsFormer(ctx, userID, keep)
	for _, item := range a.inventory.items() {
		if item.UID == keep && keep != "" {
			continue
		}
		if item.UID != "" && item.UserID != userID {
			switch err := client.DeleteApplicationCredential(ctx, item.UserID, item.UID); {
			case openstack.IsForbidden(err):
				left = append(left, item)
				continue
			case err != nil:
				return left, err
			}
		}
		if err := a.inventory.remove(ctx, func(i vnfm.InventoryItem) bool { return i == item }); err != nil {
			return left, err
		}
	}
	return left, nil
}

// deleteAsFormer deletes the application credentials of former users of the VIM for whom this run has access. Failures are ignored:
// the caller finds the remaining credentials.
func (a *Credential) deleteAsFormer(ctx context.Context, userID, keep string) {
	if a.target.FormerAccess == nil {
		return
	}
	tried := map[string]bool{userID: true}
	for _, item := range a.inventory.items() {
		if tried[item.UserID] {
			continue
		}
		tried[item.UserID] = true
		vim, creds, ok := a.target.FormerAccess(a.vimID, item.UserID)
		if !ok || vim.OpenStack == nil {
			continue
		}
		if client, err := a.clouds.Fresh(vim.Name, *vim.OpenStack, creds); err == nil {
			_ = a.deleteOwnBut(ctx, client, keep)
		}
	}
}

// describe names an application credential and its owner.
func describe(item vnfm.InventoryItem) string {
	return fmt.Sprintf("application credential %s (%q) of user %s", item.UID, item.Name, item.UserID)
}

// warnOfFormer warns, in the operation that has created another application credential, of former ones that could not be deleted.
func (a *Credential) warnOfFormer(left []vnfm.InventoryItem) {
	if len(left) == 0 || a.target.Warn == nil || a.inventory.Note(noteRenewed) == "" {
		return
	}
	names := make([]string, 0, len(left))
	for _, item := range left {
		names = append(names, describe(item))
	}
	a.target.Warn(vnfm.Problem{
		Severity: vnfm.SeverityWarning, Attribute: "openstack.vim_id",
		Summary: fmt.Sprintf("%s, which %s does not use any more, was left behind", strings.Join(names, " and "), a.Cluster),
		Detail:  "only its owner or an administrator of Keystone may delete it, and this run has no access as that user: delete it as one of them, for example with \"openstack application credential delete\"",
	})
}
