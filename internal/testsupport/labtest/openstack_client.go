package labtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// openStackRequest bounds one request to a service.
const openStackRequest = time.Minute

// openStackClient calls Keystone as a user.
type openStackClient struct{ base, token string }

// login asks for a token.
func (e OpenStackEnv) login(t testing.TB, user OpenStackUser) openStackClient {
	t.Helper()
	type object = map[string]any
	c := openStackClient{base: e.AuthURL}
	domain := object{"name": e.Domain}
	header := c.call(t, http.MethodPost, "/auth/tokens", object{"auth": object{
		"identity": object{"methods": []string{"password"}, "password": object{
			"user": object{"name": user.Name, "domain": domain, "password": user.Password},
		}},
		"scope": object{"project": object{"name": user.Project, "domain": domain}},
	}}, nil)
	c.token = header.Get("X-Subject-Token")
	return c
}

// find returns the identifier of the one object of a collection with a name.
func (c openStackClient) find(t testing.TB, collection, name string) string {
	t.Helper()
	var list map[string]json.RawMessage
	c.call(t, http.MethodGet, "/"+collection+"?name="+url.QueryEscape(name), nil, &list)
	var found []struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(list[collection], &found); err != nil || len(found) != 1 {
		t.Fatalf("looking for %q among the %s: %d found, %v", name, collection, len(found), err)
	}
	return found[0].ID
}

// grant is the path of a user's role in his project.
func (c openStackClient) grant(t testing.TB, user OpenStackUser, role string) string {
	t.Helper()
	return fmt.Sprintf("/projects/%s/users/%s/roles/%s", user.projectID, user.ID, c.find(t, "roles", role))
}

// newUser makes a user with roles in a project.
func (c openStackClient) newUser(t testing.TB, project, projectID string, roles []string) OpenStackUser {
	t.Helper()
	user := OpenStackUser{Name: "test-" + strings.ToLower(rand.Text()[:10]), Password: rand.Text(), Project: project, projectID: projectID}
	var made struct{ User struct{ ID string } }
	c.call(t, http.MethodPost, "/users", map[string]any{"user": map[string]any{
		"name": user.Name, "password": user.Password, "domain_id": "default", "default_project_id": projectID,
	}}, &made)
	user.ID = made.User.ID
	c.removeLater(t, "/users/"+user.ID)
	for _, role := range roles {
		c.call(t, http.MethodPut, c.grant(t, user, role), nil, nil)
	}
	return user
}

// removeLater deletes an object when the test is over.
func (c openStackClient) removeLater(t testing.TB, path string) {
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), openStackRequest)
		defer cancel()
		if _, err := c.try(ctx, http.MethodDelete, path, nil, nil); err != nil && !isStatus(err, http.StatusNotFound) {
			t.Logf("removing %s: %v", path, err)
		}
	})
}

// call is try for what must succeed, also in the cleanup of a test.
func (c openStackClient) call(t testing.TB, method, path string, in, out any) http.Header {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), openStackRequest)
	defer cancel()
	header, err := c.try(ctx, method, path, in, out)
	require.NoError(t, err)
	return header
}

// openStackError is an answer that is none of success.
type openStackError struct {
	what   string
	code   int
	answer string
}

func (e *openStackError) Error() string { return fmt.Sprintf("%s: %d: %s", e.what, e.code, e.answer) }

func isStatus(err error, code int) bool {
	var status *openStackError
	return errors.As(err, &status) && status.code == code
}

// try sends a request and reads the JSON that comes back.
func (c openStackClient) try(ctx context.Context, method, path string, in, out any) (http.Header, error) {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(data)
	}
	return c.send(ctx, method, path, "application/json", body, out)
}

// upload sends a text as the content of an object.
func (c openStackClient) upload(ctx context.Context, path, content string) error {
	_, err := c.send(ctx, http.MethodPut, path, "application/octet-stream", strings.NewReader(content), nil)
	return err
}

func (c openStackClient) send(ctx context.Context, method, path, kind string, body io.Reader, out any) (http.Header, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", kind)
	if c.token != "" {
		request.Header.Set("X-Auth-Token", c.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= http.StatusBadRequest {
		return nil, &openStackError{what: method + " " + c.base + path, code: response.StatusCode, answer: string(data)}
	}
	if out == nil {
		return response.Header, nil
	}
	return response.Header, json.Unmarshal(data, out)
}
