package vims

import (
	"context"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// What a user of an OpenStack has made for others, such as the application credential of a workload cluster, only that user may delete.
// An update that gives a VIM another user therefore keeps the credentials of the former one, in memory and until the process ends: what
// the same apply rotates afterwards is deleted with them. Nothing of them is stored.

// formerUser is a user that a VIM had before an update in this run.
type formerUser struct {
	vim         vnfm.VIM
	credentials vnfm.Credentials
}

type formerKey struct{ vimID, userID string }

// userBefore is the user of a VIM in the store; nil where a check saw the same one, or where it is not known. The update does not fail
// because of what it would only clean up with.
func (m *Manager) userBefore(ctx context.Context, id string, check vnfm.VIMCheck) *formerUser {
	if check.Cloud == nil {
		return nil
	}
	v, creds, perRun, err := m.openVIM(ctx, id)
	if err != nil || perRun || v.Cloud == nil || v.Cloud.UserID == check.Cloud.UserID {
		return nil
	}
	return &formerUser{vim: v.VIM, credentials: creds}
}

// keepFormer keeps the former user of a VIM.
func (m *Manager) keepFormer(u *formerUser) {
	if u != nil {
		m.former.Store(formerKey{u.vim.ID, u.vim.Cloud.UserID}, u)
	}
}

// Former is the access to a VIM that a user had before an update in this run.
func (m *Manager) Former(vimID, userID string) (*vnfm.VIM, vnfm.Credentials, bool) {
	found, ok := m.former.Load(formerKey{vimID, userID})
	if !ok {
		return nil, nil, false
	}
	u, _ := found.(*formerUser)
	v := u.vim
	return &v, u.credentials, true
}

// ExpectVIM implements vnfm.Manager.
func (m *Manager) ExpectVIM(id string, changes bool) {
	if changes {
		m.changing.Store(id, true)
	} else {
		m.changing.Delete(id)
	}
}

// Changes reports whether an update to come may give a VIM another user or endpoint.
func (m *Manager) Changes(id string) bool {
	_, changes := m.changing.Load(id)
	return changes
}
