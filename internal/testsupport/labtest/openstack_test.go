package labtest_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

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
	if code := token(t, lab, user); code != http.StatusCreated {
		t.Errorf("a new user gets %d for a token", code)
	}
	lab.DisableUser(t, user)
	if code := token(t, lab, user); code != http.StatusUnauthorized {
		t.Errorf("a disabled user gets %d for a token", code)
	}
	lab.EnableUser(t, user)
	lab.SetPassword(t, user, "another")
	if code := token(t, lab, user); code != http.StatusUnauthorized {
		t.Errorf("a user with the password of before gets %d for a token", code)
	}
	user.Password = "another"
	lab.RevokeRole(t, user, "reader")
	if code := token(t, lab, user); code != http.StatusCreated {
		t.Errorf("a user with a role left gets %d for a token", code)
	}
	lab.RevokeRole(t, user, "member")
	if code := token(t, lab, user); code != http.StatusUnauthorized {
		t.Errorf("a user without roles gets %d for a token", code)
	}
	lab.DeleteUser(t, user)
}

// token asks for a token and returns the status.
func token(t *testing.T, lab labtest.OpenStackEnv, user labtest.OpenStackUser) int {
	t.Helper()
	body := fmt.Sprintf(`{"auth": {
		"identity": {"methods": ["password"], "password": {"user": {"name": %q, "domain": {"name": %q}, "password": %q}}},
		"scope": {"project": {"name": %q, "domain": {"name": %q}}}}}`,
		user.Name, lab.Domain, user.Password, user.Project, lab.Domain)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, strings.TrimSuffix(lab.AuthURL, "/")+"/auth/tokens", bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode
}
