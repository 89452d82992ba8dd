package labtest_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestOpenStack shows that users can be made and that what happens to them counts at once.
func TestOpenStack(t *testing.T) {
	lab := labtest.OpenStack(t)
	var images struct {
		Images []struct {
			Name    string
			Version string `json:"kube_version"`
		}
	}
	lab.Get(t, "image", "/v2/images", &images)
	versions := map[string]string{}
	for _, image := range images.Images {
		versions[image.Name] = image.Version
	}
	if versions["ubuntu-2204-kube-v1.33.1"] != "v1.33.1" || versions["ubuntu-22.04"] != "" || len(versions) < 3 {
		t.Errorf("the images have versions %v", versions)
	}

	user := lab.NewUser(t, "member", "reader")
	assert.Equal(t, http.StatusCreated, token(t, lab, user), "a new user gets")
	lab.DisableUser(t, user)
	assert.Equal(t, http.StatusUnauthorized, token(t, lab, user), "a disabled user gets")
	lab.EnableUser(t, user)
	lab.SetPassword(t, user, "another")
	assert.Equal(t, http.StatusUnauthorized, token(t, lab, user), "a user with the password of before gets")
	user.Password = "another"
	lab.RevokeRole(t, user, "reader")
	assert.Equal(t, http.StatusCreated, token(t, lab, user), "a user with a role left gets")
	lab.RevokeRole(t, user, "member")
	assert.Equal(t, http.StatusUnauthorized, token(t, lab, user), "a user without roles gets")
	lab.DeleteUser(t, user)
}

// TestOpenStackCompute has a server run, as Nova and Neutron see it.
func TestOpenStackCompute(t *testing.T) {
	lab := labtest.OpenStackCompute(t)
	require.GreaterOrEqual(t, len(lab.Flavors), 4)
	assert.NotEmpty(t, lab.Flavors["m1.small"], "the lab has flavours")
	var made struct{ Server struct{ ID string } }
	lab.Post(t, "compute", "/servers", map[string]any{"server": map[string]any{
		"name": "labtest", "flavorRef": lab.Flavors["m1.small"], "imageRef": lab.Images["ubuntu-22.04"],
		"networks": []any{map[string]any{"uuid": lab.Networks["net0"]}},
	}}, &made)
	path := "/servers/" + made.Server.ID
	t.Cleanup(func() { lab.Delete(t, "compute", path) })
	for deadline := time.Now().Add(5 * time.Minute); ; <-time.After(time.Second) {
		var got struct {
			Server struct {
				Status    string
				Fault     any
				Addresses map[string][]struct{ Addr string }
			}
		}
		lab.Get(t, "compute", path, &got)
		if got.Server.Status == "ACTIVE" {
			if addresses := got.Server.Addresses["net0"]; len(addresses) != 1 || !strings.HasPrefix(addresses[0].Addr, "10.") {
				t.Errorf("the server has addresses %v", got.Server.Addresses)
			}
			return
		}
		require.Equal(t, "BUILD", got.Server.Status)
		require.False(t, time.Now().After(deadline), "the server is %s: %v", got.Server.Status, got.Server.Fault)
	}
}

// token asks for a token and returns the status.
func token(t *testing.T, lab labtest.OpenStackEnv, user labtest.OpenStackUser) int {
	t.Helper()
	body := fmt.Sprintf(`{"auth": {
		"identity": {"methods": ["password"], "password": {"user": {"name": %q, "domain": {"name": %q}, "password": %q}}},
		"scope": {"project": {"name": %q, "domain": {"name": %q}}}}}`,
		user.Name, lab.Domain, user.Password, user.Project, lab.Domain)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, strings.TrimSuffix(lab.AuthURL, "/")+"/auth/tokens", bytes.NewBufferString(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode
}
