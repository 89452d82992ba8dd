package labtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// EnvOpenStackDir is the environment variable that names the directory of a running
// OpenStack lab to be used instead of the one that tests share.
const EnvOpenStackDir = "VNF_LAB_OPENSTACK_DIR"

// openStackTimeout bounds the start of an OpenStack lab, whose first start in a
// checkout fetches and unpacks its packages.
const openStackTimeout = 15 * time.Minute

// The users of an OpenStack lab. Each has a project of his own, in which the last two
// have the roles member and reader; nfv_user may also make secrets and stacks.
const (
	OpenStackAdmin = "admin"
	OpenStackNFV   = "nfv_user"
	OpenStackOther = "other_user"
)

// OpenStackEnv is an OpenStack lab that runs. The JSON keys are those of `lab
// openstack env --format json`.
type OpenStackEnv struct {
	Dir string `json:"dir"`
	// AuthURL is Keystone's, with its version.
	AuthURL string `json:"auth_url"`
	Region  string `json:"region"`
	// Domain is the name of the domain of all users and projects.
	Domain string `json:"domain"`
	// Users are there by name.
	Users map[string]OpenStackUser `json:"users"`
	// Images are the identifiers of the public images by name. Two of them have the
	// property kube_version.
	Images map[string]string `json:"images"`
	// Flavors and Networks are those that all projects may use, in a lab of
	// OpenStackCompute; net0, net1 and net_mgmt are shared, public is external.
	Flavors  map[string]string `json:"flavors"`
	Networks map[string]string `json:"networks"`
	// Endpoints are the services of the catalogue by their kind, such as "image".
	Endpoints map[string]string `json:"endpoints"`
	// Clouds is a clouds.yaml: cloud "lab" is that of nfv_user.
	Clouds string         `json:"clouds_file"`
	PIDs   map[string]int `json:"pids"`
}

// OpenStackUser is a user of the lab.
type OpenStackUser struct {
	Name     string `json:"name"`
	Password string `json:"password"`
	Project  string `json:"project"`
	// ID is that of a user made by NewUser.
	ID string `json:"-"`

	projectID string
}

// OpenStack returns a running OpenStack lab with real Keystone and Glance: the one
// that VNF_LAB_OPENSTACK_DIR names, else one inside the directory of the lab of
// Kubernetes, which the first test that needs it starts and which ends with that
// one. It needs Linux, root and Debian's packages; where it does not start, the test
// is skipped.
func OpenStack(t testing.TB) OpenStackEnv {
	t.Helper()
	return openStack(t, findOpenStack)
}

// OpenStackCompute is OpenStack for a lab that has all services, Nova and Neutron and
// those around them. It is another one, which takes longer to start and 2 GiB of
// memory.
func OpenStackCompute(t testing.TB) OpenStackEnv {
	t.Helper()
	env := openStack(t, findOpenStackCompute)
	if env.Endpoints["compute"] == "" {
		Missing(t, "OpenStack lab: the one in "+env.Dir+" has no compute service")
	}
	return env
}

func openStack(t testing.TB, find func() (OpenStackEnv, error)) OpenStackEnv {
	t.Helper()
	if os.Getenv(EnvOpenStackDir) == "" {
		Kubernetes(t)
	}
	env, err := find()
	if err != nil {
		Missing(t, fmt.Sprintf("OpenStack lab: %v", err))
	}
	return env
}

// The OpenStack labs are started once in a process.
var (
	findOpenStack = sync.OnceValues(func() (OpenStackEnv, error) {
		return startOpenStack("openstack", "--services", "identity,image")
	})
	findOpenStackCompute = sync.OnceValues(func() (OpenStackEnv, error) {
		return startOpenStack("openstack-compute")
	})
)

// startOpenStack starts the OpenStack lab of a directory in that of the lab of
// Kubernetes, or finds it running.
func startOpenStack(name string, args ...string) (OpenStackEnv, error) {
	root, err := repository()
	if err != nil {
		return OpenStackEnv{}, err
	}
	binary := filepath.Join(root, "bin", "lab")
	if _, err := os.Stat(binary); errors.Is(err, fs.ErrNotExist) {
		return OpenStackEnv{}, errors.New("bin/lab is not built")
	} else if err != nil {
		return OpenStackEnv{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), openStackTimeout)
	defer cancel()
	if dir := os.Getenv(EnvOpenStackDir); dir != "" {
		return readOpenStack(ctx, binary, dir)
	}
	lab, err := find()
	if err != nil {
		return OpenStackEnv{}, err
	}
	dir := filepath.Join(lab.Dir, name)
	unlock, err := lockFile(ctx, dir+".lock")
	if err != nil {
		return OpenStackEnv{}, fmt.Errorf("waiting for another test to start the lab in %s: %w", dir, err)
	}
	defer unlock()
	if _, err := run(ctx, binary, append([]string{"openstack", "up", "--dir", dir}, args...)...); err != nil {
		return OpenStackEnv{}, err
	}
	return readOpenStack(ctx, binary, dir)
}

func readOpenStack(ctx context.Context, binary, dir string) (OpenStackEnv, error) {
	out, err := run(ctx, binary, "openstack", "env", "--dir", dir, "--format", "json")
	if err != nil {
		return OpenStackEnv{}, err
	}
	env := OpenStackEnv{}
	if err := json.Unmarshal(out, &env); err != nil {
		return OpenStackEnv{}, fmt.Errorf("reading the output of lab openstack env: %w", err)
	}
	return env, nil
}

// NewUser makes a user with a fresh name and password and with roles in the project
// of nfv_user. He is gone when the test is over.
func (e OpenStackEnv) NewUser(t testing.TB, roles ...string) OpenStackUser {
	t.Helper()
	admin := e.login(t, e.Users[OpenStackAdmin])
	project := e.Users[OpenStackNFV].Project
	user := OpenStackUser{
		Name: "test-" + strings.ToLower(rand.Text()[:10]), Password: rand.Text(), Project: project,
		projectID: admin.find(t, "projects", project),
	}
	var made struct{ User struct{ ID string } }
	admin.call(t, http.MethodPost, "/users", map[string]any{"user": map[string]any{
		"name": user.Name, "password": user.Password, "domain_id": "default", "default_project_id": user.projectID,
	}}, &made)
	user.ID = made.User.ID
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), openStackRequest)
		defer cancel()
		if _, err := admin.try(ctx, http.MethodDelete, "/users/"+user.ID, nil, nil); err != nil && !isStatus(err, http.StatusNotFound) {
			t.Logf("removing user %s: %v", user.Name, err)
		}
	})
	for _, role := range roles {
		admin.call(t, http.MethodPut, admin.grant(t, user, role), nil, nil)
	}
	return user
}

// DisableUser locks a user of NewUser out; EnableUser lets him in again.
func (e OpenStackEnv) DisableUser(t testing.TB, user OpenStackUser) {
	t.Helper()
	e.patchUser(t, user, "enabled", false)
}

// EnableUser lets a user in again. What was revoked when he was disabled stays so.
func (e OpenStackEnv) EnableUser(t testing.TB, user OpenStackUser) {
	t.Helper()
	e.patchUser(t, user, "enabled", true)
}

// SetPassword gives a user of NewUser another password.
func (e OpenStackEnv) SetPassword(t testing.TB, user OpenStackUser, password string) {
	t.Helper()
	e.patchUser(t, user, "password", password)
}

func (e OpenStackEnv) patchUser(t testing.TB, user OpenStackUser, key string, value any) {
	t.Helper()
	e.login(t, e.Users[OpenStackAdmin]).call(t, http.MethodPatch, "/users/"+user.ID,
		map[string]any{"user": map[string]any{key: value}}, nil)
}

// DeleteUser deletes a user of NewUser, and with him his application credentials.
func (e OpenStackEnv) DeleteUser(t testing.TB, user OpenStackUser) {
	t.Helper()
	e.login(t, e.Users[OpenStackAdmin]).call(t, http.MethodDelete, "/users/"+user.ID, nil, nil)
}

// RevokeRole takes a role from a user of NewUser, and with it the application
// credentials that he made while he had it.
func (e OpenStackEnv) RevokeRole(t testing.TB, user OpenStackUser, role string) {
	t.Helper()
	admin := e.login(t, e.Users[OpenStackAdmin])
	admin.call(t, http.MethodDelete, admin.grant(t, user, role), nil, nil)
}

// Get asks a service of the catalogue as the administrator and reads its JSON: kind
// is "identity" or "image", for example, and path what follows its address in
// Endpoints.
func (e OpenStackEnv) Get(t testing.TB, kind, path string, out any) {
	t.Helper()
	admin := e.login(t, e.Users[OpenStackAdmin])
	admin.base = e.Endpoints[kind]
	admin.call(t, http.MethodGet, path, nil, out)
}

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
	var found []struct{ ID string }
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

// call is try for what must succeed.
func (c openStackClient) call(t testing.TB, method, path string, in, out any) http.Header {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), openStackRequest)
	defer cancel()
	header, err := c.try(ctx, method, path, in, out)
	if err != nil {
		t.Fatal(err)
	}
	return header
}

// openStackError is an answer that is none of success.
type openStackError struct {
	what string
	code int
	said string
}

func (e *openStackError) Error() string { return fmt.Sprintf("%s: %d: %s", e.what, e.code, e.said) }

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
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
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
		return nil, &openStackError{what: method + " " + c.base + path, code: response.StatusCode, said: string(data)}
	}
	if out == nil {
		return response.Header, nil
	}
	return response.Header, json.Unmarshal(data, out)
}
