// Package cloudtest answers as the services of an OpenStack do, with the requests and
// answers of the real ones, where the laboratory has none or cannot be made to fail.
package cloudtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
)

// The resources of a test's cloud.
const (
	Region    = "RegionOne"
	ProjectID = "c2f1f1a5d0de4c7a8a3bd6a7a8a6d001"
	Project   = "nfv"
)

// User is a user of Keystone, with its application credentials by id.
type User struct {
	ID, Name, Password string
	Disabled           bool
	Credentials        map[string]*Credential
}

// Credential is an application credential.
type Credential struct {
	ID, Name, Secret string
	Roles            []string
	Unrestricted     bool
	// ExpiresAt is as it was requested; empty for never.
	ExpiresAt string
}

// Cloud is an OpenStack in the memory of a test.
type Cloud struct {
	*httptest.Server

	mu    sync.Mutex
	users map[string]*User
	// tokens are the users by their tokens, and credentialTokens those that an application
	// credential got.
	tokens, credentialTokens map[string]string
	// Requests are what was asked, "POST /v3/auth/tokens".
	requests []string
	// Refuse, when set, answers requests instead of the cloud: it returns true then.
	refuse func(w http.ResponseWriter, r *http.Request) bool
	// lose, when set, tells of which requests the answer is lost.
	lose func(r *http.Request) bool
	// collections are what the other services have, by path.
	collections map[string][]map[string]any
	// offered are further services in the catalogue, by type: the paths of their endpoints.
	offered map[string]string
}

// New starts a cloud with the user nfv_user, whose password is devstack.
func New(t testing.TB) *Cloud {
	t.Helper()
	c := &Cloud{users: map[string]*User{}, tokens: map[string]string{}, credentialTokens: map[string]string{}, collections: map[string][]map[string]any{}}
	c.AddUser("nfv_user", "devstack")
	c.Server = httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(c.Close)
	return c
}

// AddUser adds a user with the role member in the project.
func (c *Cloud) AddUser(name, password string) *User {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := &User{ID: hex(), Name: name, Password: password, Credentials: map[string]*Credential{}}
	c.users[u.ID] = u
	return u
}

// User returns the user of that name.
func (c *Cloud) User(name string) *User {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, u := range c.users {
		if u.Name == name {
			return u
		}
	}
	return nil
}

// Change does something to the cloud between two requests.
func (c *Cloud) Change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// Disable disables or enables a user.
func (c *Cloud) Disable(name string, disabled bool) {
	u := c.User(name)
	c.Change(func() { u.Disabled = disabled })
}

// Refuse has f answer requests instead of the cloud, as far as it wants to; nil ends that.
func (c *Cloud) Refuse(f func(w http.ResponseWriter, r *http.Request) bool) {
	c.Change(func() { c.refuse = f })
}

// Requests are what was asked so far, as "POST /v3/auth/tokens".
func (c *Cloud) Requests() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.requests)
}

// CredentialNames are those of all application credentials, sorted.
func (c *Cloud) CredentialNames() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for _, u := range c.users {
		for _, a := range u.Credentials {
			names = append(names, a.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Offer adds a service to the catalogue, whose endpoint has that path. Refuse answers for it.
func (c *Cloud) Offer(kind, path string) {
	c.Change(func() {
		if c.offered == nil {
			c.offered = map[string]string{}
		}
		c.offered[kind] = path
	})
}

// Put gives a service an object: "/image/v2/images", "/compute/v2.1/flavors" and so on.
func (c *Cloud) Put(collection string, object map[string]any) {
	c.Change(func() { c.collections[collection] = append(c.collections[collection], object) })
}

// Has are the objects of a collection.
func (c *Cloud) Has(collection string) []map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.collections[collection])
}

// Lose has the cloud do what it is asked and break the connection before it answers, for
// those requests for which f is true; nil ends that.
func (c *Cloud) Lose(f func(r *http.Request) bool) { c.Change(func() { c.lose = f }) }

func hex() string { return strings.ReplaceAll(uuid.NewString(), "-", "") }

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Openstack-Request-Id", "req-"+uuid.NewString())
	w.WriteHeader(code)
	if body != nil {
		_ = json.NewEncoder(w).Encode(body)
	}
}

// fail answers as Keystone does.
func fail(w http.ResponseWriter, code int, message string) {
	answer(w, code, map[string]any{"error": map[string]any{"code": code, "message": message, "title": http.StatusText(code)}})
}

func (c *Cloud) serve(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, r.Method+" "+r.URL.Path)
	if c.refuse != nil && c.refuse(w, r) {
		return
	}
	if c.lose != nil && c.lose(r) {
		c.handle(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	c.handle(w, r)
}

func (c *Cloud) handle(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case path == "/":
		answer(w, http.StatusMultipleChoices, map[string]any{"versions": map[string]any{"values": []any{
			map[string]any{"id": "v3.14", "status": "stable", "updated": "2020-04-07T00:00:00Z"},
		}}})
	case path == "/compute/":
		answer(w, http.StatusOK, map[string]any{"versions": []any{
			map[string]any{"id": "v2.0", "status": "SUPPORTED", "version": "", "min_version": ""},
			map[string]any{"id": "v2.1", "status": "CURRENT", "version": "2.93", "min_version": "2.1"},
		}})
	case path == "/network/":
		answer(w, http.StatusOK, map[string]any{"versions": []any{map[string]any{"id": "v2.0", "status": "CURRENT"}}})
	case path == "/v3/auth/tokens" && r.Method == http.MethodPost:
		c.authenticate(w, r)
	case path == "/v3/auth/tokens":
		c.validate(w, r)
	default:
		u := c.users[c.tokens[r.Header.Get("X-Auth-Token")]]
		if u == nil || u.Disabled {
			fail(w, http.StatusUnauthorized, "The request you have made requires authentication.")
			return
		}
		if rest, ok := strings.CutPrefix(path, "/v3/users/"); ok {
			c.credentials(w, r, u, rest)
			return
		}
		c.collection(w, r)
	}
}

type secretAuth struct {
	Name     string `json:"name"`
	ID       string `json:"id"`
	Password string `json:"password"`
	Secret   string `json:"secret"`
}

type authRequest struct {
	Auth struct {
		Identity struct {
			Methods  []string `json:"methods"`
			Password struct {
				User secretAuth `json:"user"`
			} `json:"password"`
			Token                 secretAuth `json:"token"`
			ApplicationCredential secretAuth `json:"application_credential"`
		} `json:"identity"`
	} `json:"auth"`
}

type credentialRequest struct {
	Credential struct {
		Name  string `json:"name"`
		Roles []struct {
			Name string `json:"name"`
		} `json:"roles"`
		Unrestricted bool   `json:"unrestricted"`
		ExpiresAt    string `json:"expires_at"`
	} `json:"application_credential"`
}

func (c *Cloud) authenticate(w http.ResponseWriter, r *http.Request) {
	var body authRequest
	if json.NewDecoder(r.Body).Decode(&body) != nil || len(body.Auth.Identity.Methods) != 1 {
		fail(w, http.StatusBadRequest, "Invalid input for field 'auth'")
		return
	}
	var found *User
	var with *Credential
	switch id := body.Auth.Identity; id.Methods[0] {
	case "password":
		for _, u := range c.users {
			if (u.Name == id.Password.User.Name || u.ID == id.Password.User.ID) && u.Password == id.Password.User.Password {
				found = u
			}
		}
	case "token":
		found = c.users[c.tokens[id.Token.ID]]
	case "application_credential":
		for _, u := range c.users {
			for _, a := range u.Credentials {
				if (a.ID == id.ApplicationCredential.ID || a.Name == id.ApplicationCredential.Name) && a.Secret == id.ApplicationCredential.Secret {
					found, with = u, a
				}
			}
		}
	}
	if found == nil || found.Disabled {
		fail(w, http.StatusUnauthorized, "The request you have made requires authentication.")
		return
	}
	token := "gAAAAA" + hex()
	c.tokens[token] = found.ID
	if with != nil && !with.Unrestricted {
		c.credentialTokens[token] = with.ID
	}
	w.Header().Set("X-Subject-Token", token)
	answer(w, http.StatusCreated, c.describe(found))
}

func (c *Cloud) validate(w http.ResponseWriter, r *http.Request) {
	u := c.users[c.tokens[r.Header.Get("X-Subject-Token")]]
	if u == nil || u.Disabled {
		fail(w, http.StatusUnauthorized, "The request you have made requires authentication.")
		return
	}
	w.Header().Set("X-Subject-Token", r.Header.Get("X-Subject-Token"))
	answer(w, http.StatusOK, c.describe(u))
}

// describe is the body of a token.
func (c *Cloud) describe(u *User) map[string]any {
	domain := map[string]any{"id": "default", "name": "Default"}
	var catalog []any
	services := map[string]string{
		"identity": "", "image": "/image", "compute": "/compute/v2.1", "network": "/network",
		"load-balancer": "/octavia", "volumev3": "/volume/v3/" + ProjectID,
	}
	maps.Copy(services, c.offered)
	for kind, path := range services {
		var endpoints []any
		for _, i := range []string{"public", "internal"} {
			endpoints = append(endpoints, map[string]any{"id": hex(), "interface": i, "region": Region, "region_id": Region, "url": c.URL + path})
		}
		catalog = append(catalog, map[string]any{"id": hex(), "name": kind, "type": kind, "endpoints": endpoints})
	}
	return map[string]any{"token": map[string]any{
		"methods": []string{"password"}, "expires_at": time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000000Z"),
		"user":    map[string]any{"id": u.ID, "name": u.Name, "domain": domain},
		"project": map[string]any{"id": ProjectID, "name": Project, "domain": domain},
		"roles":   []any{map[string]any{"id": hex(), "name": "member"}}, "catalog": catalog,
	}}
}

// credentials serves the application credentials of a user.
func (c *Cloud) credentials(w http.ResponseWriter, r *http.Request, asking *User, rest string) {
	userID, rest, _ := strings.Cut(rest, "/application_credentials")
	owner, id := c.users[userID], strings.TrimPrefix(rest, "/")
	forbidden := owner != asking || c.credentialTokens[r.Header.Get("X-Auth-Token")] != ""
	if forbidden && r.Method != http.MethodGet {
		action := map[string]string{http.MethodPost: "create", http.MethodDelete: "delete"}[r.Method]
		fail(w, http.StatusForbidden, fmt.Sprintf("You are not authorized to perform the requested action: identity:%s_application_credential.", action))
		return
	}
	switch r.Method {
	case http.MethodGet:
		all := []any{}
		for _, a := range owner.Credentials {
			all = append(all, a.wire(false))
		}
		answer(w, http.StatusOK, map[string]any{"application_credentials": all, "links": map[string]any{"next": nil}})
	case http.MethodPost:
		var body credentialRequest
		_ = json.NewDecoder(r.Body).Decode(&body)
		a := &Credential{ID: hex(), Name: body.Credential.Name, Secret: "secret-" + hex(), Unrestricted: body.Credential.Unrestricted, ExpiresAt: body.Credential.ExpiresAt}
		for _, role := range body.Credential.Roles {
			if role.Name != "member" {
				fail(w, http.StatusNotFound, fmt.Sprintf("Could not find role: %s.", role.Name))
				return
			}
			a.Roles = append(a.Roles, role.Name)
		}
		for _, other := range owner.Credentials {
			if other.Name == a.Name {
				fail(w, http.StatusConflict, "Conflict occurred attempting to store application_credential - Duplicate entry found with name "+a.Name+".")
				return
			}
		}
		owner.Credentials[a.ID] = a
		answer(w, http.StatusCreated, map[string]any{"application_credential": a.wire(true)})
	case http.MethodDelete:
		if owner.Credentials[id] == nil {
			fail(w, http.StatusNotFound, "Could not find Application Credential: "+id+".")
			return
		}
		delete(owner.Credentials, id)
		answer(w, http.StatusNoContent, nil)
	}
}

func (a *Credential) wire(withSecret bool) map[string]any {
	out := map[string]any{"id": a.ID, "name": a.Name, "project_id": ProjectID, "unrestricted": a.Unrestricted, "expires_at": nil}
	if a.ExpiresAt != "" {
		out["expires_at"] = a.ExpiresAt
	}
	if withSecret {
		out["secret"] = a.Secret
	}
	return out
}

// collection serves what Put gave a service.
func (c *Cloud) collection(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimSuffix(r.URL.Path, "/detail")
	if strings.HasSuffix(path, "/limits") || strings.Contains(path, "/quotas/") {
		answer(w, http.StatusOK, map[string]any{"limits": map[string]any{"absolute": map[string]any{"maxTotalInstances": 10}}})
		return
	}
	parts := strings.Split(path, "/")
	key := parts[len(parts)-1]
	if objects, ok := c.collections[path]; ok || isCollection(key) {
		found := []any{}
		for _, o := range objects {
			if fits(o, r.URL.Query()) {
				found = append(found, o)
			}
		}
		answer(w, http.StatusOK, map[string]any{strings.Replace(key, "security-", "security_", 1): found})
		return
	}
	parent, id := strings.Join(parts[:len(parts)-1], "/"), key
	at := slices.IndexFunc(c.collections[parent], func(o map[string]any) bool {
		return o["id"] == id || (strings.HasSuffix(parent, "os-keypairs") && o["name"] == id)
	})
	if at < 0 {
		answer(w, http.StatusNotFound, map[string]any{"itemNotFound": map[string]any{"code": 404, "message": id + " could not be found."}})
		return
	}
	if r.Method == http.MethodDelete {
		c.collections[parent] = slices.Delete(c.collections[parent], at, at+1)
		answer(w, http.StatusNoContent, nil)
		return
	}
	o := c.collections[parent][at]
	if strings.HasPrefix(path, "/image/") {
		// Glance alone wraps nothing.
		answer(w, http.StatusOK, o)
		return
	}
	name := parts[len(parts)-2]
	answer(w, http.StatusOK, map[string]any{strings.TrimPrefix(strings.TrimSuffix(name, "s"), "os-"): o})
}

// fits reports whether an object is what a query searches for.
func fits(o map[string]any, query url.Values) bool {
	for _, field := range []string{"name", "id", "network_id", "router:external"} {
		if wanted := query.Get(field); wanted != "" && fmt.Sprint(o[field]) != wanted {
			return false
		}
	}
	return true
}

func isCollection(key string) bool {
	return slices.Contains([]string{"images", "flavors", "networks", "subnets", "loadbalancers", "volumes", "os-keypairs", "floatingips", "security-groups"}, key)
}
