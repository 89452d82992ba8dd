package labtest

import (
	"context"
	"crypto/rand"
	"net/http"
	"strings"
	"testing"
)

// NewProject makes a project and a user with roles in it: what a test counts and limits
// there is its own. Both are gone when the test is over, and what is left of servers and
// networks by then is not.
func (e OpenStackEnv) NewProject(t testing.TB, roles ...string) OpenStackUser {
	t.Helper()
	admin := e.login(t, e.Users[OpenStackAdmin])
	name := testName()
	var made struct {
		Project struct {
			ID string `json:"id"`
		} `json:"project"`
	}
	admin.call(t, http.MethodPost, "/projects", map[string]any{"project": map[string]any{"name": name, "domain_id": "default"}}, &made)
	id := made.Project.ID
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), openStackRequest)
		defer cancel()
		if _, err := admin.try(ctx, http.MethodDelete, "/projects/"+id, nil, nil); err != nil {
			t.Logf("removing project %s: %v", name, err)
		}
	})
	return e.newUser(t, admin, name, id, roles)
}

// ProjectID is the id of the project of a user of NewUser or NewProject.
func (u OpenStackUser) ProjectID() string { return u.projectID }

// As is the lab for requests of another user than the administrator.
func (e OpenStackEnv) As(user OpenStackUser) OpenStackEnv {
	e.actor = user
	return e
}

// testName is a name that nothing else has.
func testName() string { return "test-" + strings.ToLower(rand.Text()[:10]) }
