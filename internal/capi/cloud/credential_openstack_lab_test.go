package cloud

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// login has the VIM be a user of the lab.
func (w *credentialEnv) login(env labtest.OpenStackEnv, user labtest.OpenStackUser) *openstack.Client {
	w.Helper()
	w.connection = vnfm.OpenStackConnection{AuthURL: env.AuthURL, Region: env.Region, Username: user.Name, ProjectName: user.Project, UserDomainName: env.Domain, ProjectDomainName: env.Domain}
	w.password = user.Password
	client, err := w.credential().cloud(w.Context(), "cloud")
	require.NoError(w, err)
	userID, projectID, err := client.Owner(w.Context())
	require.NoError(w, err)
	w.spec.OpenStack.UserID, w.spec.OpenStack.ProjectID = userID, projectID
	return client
}

// The real Keystone shows the effects of changes of a user on application credentials.
func TestCredentialWithKeystone(t *testing.T) {
	env := labtest.OpenStack(t)
	w := bareCredentialEnv(t)
	user := env.NewUser(t, "member", "reader")
	client := w.login(env, user)
	w.spec.OpenStack.Credential.Roles = []string{"member"}
	names := func() []openstack.ApplicationCredential {
		all, err := client.ApplicationCredentials(t.Context())
		require.NoError(t, err)
		return all
	}
	require.NoError(t, w.apply())
	first := w.inUse(0)
	require.Len(t, names(), 1)
	assert.Equal(t, CredentialDigest(w.spec.OpenStack), w.seen())

	w.spec.OpenStack.Credential.RotationTrigger, w.spec.OpenStack.Credential.ExpiresAt = "now", time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	require.NoError(t, w.apply())
	second := w.inUse(0)
	assert.NotEqual(t, first, second)
	require.Len(t, names(), 1)

	// Keystone deletes the application credentials of a revoked role.
	env.RevokeRole(t, user, "member")
	assert.Equal(t, "drifted: Keystone refuses it", w.seen())
	w.spec.OpenStack.Credential.Roles = []string{"member"}
	client = w.login(env, user)
	require.ErrorContains(t, w.apply(), "making application credential")
	w.spec.OpenStack.Credential.Roles = []string{"reader"}
	require.NoError(t, w.apply())
	third := w.inUse(0)
	assert.NotEqual(t, second, third)
	require.Len(t, names(), 1)

	// A disabled user has no valid credential, and the VIM reports that.
	env.DisableUser(t, user)
	assert.Equal(t, "drifted: Keystone refuses it", w.seen())
	err := w.apply()
	assert.True(t, openstack.IsRefused(err), "%v", err)
	assert.NotContains(t, err.Error(), user.Password)

	// Another user of the project may not delete the credential of the former user.
	other := env.NewUser(t, "member", "reader")
	w.login(env, other)
	require.NoError(t, w.apply())
	w.inUse(1)

	// Keystone does not reveal whether the credential of a deleted user still exists.
	env.DeleteUser(t, user)
	require.NoError(t, w.apply())
	w.inUse(1)

	a := w.credential()
	require.NoError(t, a.RemoveSecrets(t.Context()))
	var left []string
	require.NoError(t, a.RemoveAll(t.Context(), func(object, _ string) { left = append(left, object) }))
	require.Len(t, left, 1)
	assert.Contains(t, left[0], "of user ")
	client = w.login(env, other)
	assert.Empty(t, names())
	assert.Empty(t, w.tape.items)
}

// A restricted application credential cannot create another one, and the error names the remedy.
func TestRestrictedCredentialMakesNone(t *testing.T) {
	env := labtest.OpenStack(t)
	w := bareCredentialEnv(t)
	made, err := w.login(env, env.NewUser(t, "member")).CreateApplicationCredential(t.Context(), openstack.NewApplicationCredential{Name: "restricted"})
	require.NoError(t, err)
	client, err := openstack.New(openstack.Config{
		VIM: "cloud", Connection: vnfm.OpenStackConnection{AuthURL: env.AuthURL, Region: env.Region, ApplicationCredentialID: made.ID},
		Credentials: vnfm.Credentials{vnfm.CredentialApplicationSecret: made.Secret},
	})
	require.NoError(t, err)
	_, err = client.CreateApplicationCredential(t.Context(), openstack.NewApplicationCredential{Name: "more"})
	require.ErrorContains(t, err, "403 Forbidden")
	require.ErrorContains(t, err, "--unrestricted")
}
