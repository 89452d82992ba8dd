package openstack

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestFromMachine: the variables and the clouds.yaml of a machine complete a connection, and
// what is set already wins.
func TestFromMachine(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, ".config", "openstack")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	clouds := "clouds:\n  edge:\n    auth: {auth_url: 'https://cloud.example:5000', username: u, password: planted, project_name: p}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, FileClouds), []byte(clouds), 0o600))
	pem := filepath.Join(home, "ca.pem")
	require.NoError(t, os.WriteFile(pem, []byte("a CA"), 0o600))
	variables := map[string]string{
		"HOME": home, "OS_AUTH_URL": "https://other.example:5000", "OS_USERNAME": "me", "OS_PASSWORD": "planted", "OS_PROJECT_NAME": "theirs", "OS_CACERT": pem,
	}
	getenv := func(name string) string { return variables[name] }

	c, credentials, err := FromMachine(vnfm.OpenStackConnection{ProjectName: "mine"}, vnfm.Credentials{}, true, getenv)
	require.NoError(t, err)
	require.Equal(t, vnfm.OpenStackConnection{AuthURL: "https://other.example:5000", Username: "me", ProjectName: "mine", CACertificate: "a CA"}, c)
	require.Equal(t, "planted", credentials[vnfm.CredentialPassword].Reveal())

	given := vnfm.Credentials{vnfm.CredentialToken: "given"}
	_, credentials, err = FromMachine(vnfm.OpenStackConnection{}, given, true, getenv)
	require.NoError(t, err)
	require.Equal(t, given, credentials)

	c, credentials, err = FromMachine(vnfm.OpenStackConnection{Cloud: "edge"}, vnfm.Credentials{}, false, getenv)
	require.NoError(t, err)
	require.Empty(t, c.AuthURL)
	require.Equal(t, clouds, credentials[vnfm.CredentialCloudsYAML].Reveal())
	resolved, err := Resolved(Config{Connection: c, Credentials: credentials})
	require.NoError(t, err)
	require.Equal(t, "https://cloud.example:5000", resolved.AuthURL)

	variables["OS_CACERT"] = filepath.Join(home, "none.pem")
	_, _, err = FromMachine(vnfm.OpenStackConnection{}, vnfm.Credentials{}, true, getenv)
	require.ErrorContains(t, err, "OS_CACERT")
}
