package labtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// EnvOpenStackDir is the environment variable that names the directory of a running
// OpenStack lab to be used instead of the one that tests share.
const EnvOpenStackDir = "VNF_LAB_OPENSTACK_DIR"

// openStackTimeout bounds the start of an OpenStack lab, whose first start in a
// checkout fetches and unpacks its packages.
const openStackTimeout = 15 * time.Minute

// The systems that servers of an OpenStack lab can have instead of the plain one, and
// the images whose servers have them.
const (
	OpenStackDocker  = "docker"
	OpenStackAnsible = "ansible"

	OpenStackDockerImage  = "ubuntu-22.04-docker"
	OpenStackAnsibleImage = "ubuntu-22.04-ansible"
)

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
	// Servers says what is behind the servers of Nova, ServersReason why it is nothing.
	Servers       string `json:"servers"`
	ServersReason string `json:"servers_reason"`
	// Systems are those of OpenStackSystems that its servers can have.
	Systems []string `json:"systems"`
	// RegistryArchive and SampleArchive are files as `docker save` writes them, in a lab
	// with OpenStackDocker: `registry:latest`, the distribution's registry, which listens
	// on port 5000, keeps its data in /var/lib/registry and takes variables REGISTRY_*, and
	// `sample:latest`, a shell of two megabytes.
	RegistryArchive string `json:"registry_archive"`
	SampleArchive   string `json:"sample_archive"`
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
	NotShort(t, "an OpenStack lab")
	FullRun(t, "OpenStack")
	if os.Getenv(EnvOpenStackDir) == "" {
		Kubernetes(t)
	}
	env, err := findOpenStack()
	if err != nil {
		Missing(t, fmt.Sprintf("OpenStack lab: %v", err))
	}
	return env
}

// OpenStackCompute is OpenStack for a lab that has all services, Nova, Neutron and Heat
// among them. One that a variable names may have some only.
func OpenStackCompute(t testing.TB) OpenStackEnv {
	t.Helper()
	env := OpenStack(t)
	if env.Endpoints["compute"] == "" {
		Missing(t, "OpenStack lab: the one in "+env.Dir+" has no compute service")
	}
	return env
}

// OpenStackStacks is OpenStackCompute for a test that has Heat make stacks. Three of them are
// at work at a time, in all processes together: Heat polls each second, so that every
// further stack slows the others.
func OpenStackStacks(t testing.TB) OpenStackEnv {
	t.Helper()
	env := OpenStackCompute(t)
	unlock, err := lockFile(t.Context(), filepath.Join(env.Dir, "stacks.1.lock"), filepath.Join(env.Dir, "stacks.2.lock"),
		filepath.Join(env.Dir, "stacks.3.lock"))
	require.NoError(t, err, "waiting for other tests that make stacks")
	t.Cleanup(unlock)
	return env
}

// OpenStackServers is OpenStackCompute for a lab whose servers are reached over SSH at
// their addresses, from the machine of the test: ubuntu with the password ubuntu, or with
// the server's key, and root with its adminPass. It needs a kernel with overlayfs, network
// namespaces and bridges.
func OpenStackServers(t testing.TB) OpenStackEnv {
	t.Helper()
	env := OpenStackCompute(t)
	if env.Servers != "containers" {
		Missing(t, "OpenStack lab: nothing is behind its servers: "+env.ServersReason)
	}
	return env
}

// OpenStackSystems is OpenStackServers for a lab whose servers can have some systems: the
// first test that needs one has the lab fetch it. A server of OpenStackDockerImage has
// systemd as its first process, Docker, which runs, and HAProxy and keepalived, which do not; the program
// of the lab is /usr/local/bin/lab there, with etcd, kube-apiserver and
// kube-controller-manager beside it, and its kubectl as lab-kubectl. One of
// OpenStackAnsibleImage has ansible-core and sshpass. OpenStackDocker needs a kernel with
// control groups of version 2.
func OpenStackSystems(t testing.TB, systems ...string) OpenStackEnv {
	t.Helper()
	env := OpenStackServers(t)
	if !slices.ContainsFunc(systems, func(system string) bool { return !slices.Contains(env.Systems, system) }) {
		return env
	}
	env, err := withLab(openStackTimeout, func(ctx context.Context, binary string) (OpenStackEnv, error) {
		return startOpenStack(ctx, binary, env.Dir, "--systems", strings.Join(systems, ","))
	})
	if err != nil {
		Missing(t, fmt.Sprintf("OpenStack lab: %v", err))
	}
	return env
}

// FullZone is the name of an availability zone of Nova that has no place for a server. The first test that asks has the lab make it: a
// host more, on which nothing runs, and which nothing else goes to.
func (e OpenStackEnv) FullZone(t testing.TB) string {
	t.Helper()
	const zone = "full"
	_, err := withLab(openStackTimeout, func(ctx context.Context, binary string) (struct{}, error) {
		_, err := run(ctx, binary, "openstack", "full-zone", "--dir", e.Dir, zone)
		return struct{}{}, err
	})
	require.NoError(t, err, "making an availability zone")
	return zone
}

// findOpenStack starts the lab, or finds it, once in a process.
var findOpenStack = sync.OnceValues(func() (OpenStackEnv, error) {
	return withLab(openStackTimeout, func(ctx context.Context, binary string) (OpenStackEnv, error) {
		if dir := os.Getenv(EnvOpenStackDir); dir != "" {
			return readOpenStack(ctx, binary, dir)
		}
		lab, err := find()
		if err != nil {
			return OpenStackEnv{}, err
		}
		return startOpenStack(ctx, binary, filepath.Join(lab.Dir, "openstack"))
	})
})

// startOpenStack starts the OpenStack lab of a directory, or what is missing of it, or
// finds it running.
func startOpenStack(ctx context.Context, binary, dir string, options ...string) (OpenStackEnv, error) {
	start := func() error {
		return up(ctx, binary, dir, dir+".lock", append([]string{"openstack", "up"}, options...)...)
	}
	if err := start(); err != nil {
		// A service that ends while it starts is started again, as a supervisor of services does.
		fmt.Fprintln(os.Stderr, "OpenStack is started again:", err)
		if err := start(); err != nil {
			return OpenStackEnv{}, err
		}
	}
	return readOpenStack(ctx, binary, dir)
}

func readOpenStack(ctx context.Context, binary, dir string) (OpenStackEnv, error) {
	var env OpenStackEnv
	err := readInto(ctx, binary, dir, &env, "openstack", "env")
	return env, err
}

// NewUser makes a user with a fresh name and password and with roles in the project
// of nfv_user. He is gone when the test is over.
func (e OpenStackEnv) NewUser(t testing.TB, roles ...string) OpenStackUser {
	t.Helper()
	admin := e.login(t, e.Users[OpenStackAdmin])
	project := e.Users[OpenStackNFV].Project
	return admin.newUser(t, project, admin.find(t, "projects", project), roles)
}

// NewProject makes a project with a user who may do there what nfv_user may in his. Both
// are gone when the test is over; what the project holds is the test's own to remove.
func (e OpenStackEnv) NewProject(t testing.TB) OpenStackUser {
	t.Helper()
	admin := e.login(t, e.Users[OpenStackAdmin])
	name := "test-" + strings.ToLower(rand.Text()[:10])
	var made struct{ Project struct{ ID string } }
	admin.call(t, http.MethodPost, "/projects", map[string]any{"project": map[string]any{"name": name, "domain_id": "default"}}, &made)
	admin.removeLater(t, "/projects/"+made.Project.ID)
	return admin.newUser(t, name, made.Project.ID, e.memberRoles())
}

// Limit gives the project of a user of NewProject a quota of a resource of Nova, such as
// "instances", or of Neutron's "port".
func (e OpenStackEnv) Limit(t testing.TB, user OpenStackUser, resource string, limit int) {
	t.Helper()
	if resource == "port" {
		e.at(t, "network").call(t, http.MethodPut, "/v2.0/quotas/"+user.projectID, map[string]any{"quota": map[string]any{resource: limit}}, nil)
		return
	}
	e.at(t, "compute").call(t, http.MethodPut, "/os-quota-sets/"+user.projectID, map[string]any{"quota_set": map[string]any{resource: limit, "force": true}}, nil)
}

// NewNetwork makes a network that belongs to the project of a user of NewProject, with a
// subnet of IPv4 and of the same name, and returns its identifier. It is gone when the test
// is over.
func (e OpenStackEnv) NewNetwork(t testing.TB, user OpenStackUser, name, cidr string) string {
	t.Helper()
	admin := e.at(t, "network")
	var made struct{ Network struct{ ID string } }
	admin.call(t, http.MethodPost, "/v2.0/networks", map[string]any{"network": map[string]any{"name": name, "project_id": user.projectID}}, &made)
	admin.removeLater(t, "/v2.0/networks/"+made.Network.ID)
	e.NewSubnet(t, user, made.Network.ID, name, cidr)
	return made.Network.ID
}

// NewSubnet makes a subnet, of IPv4 or IPv6 as its addresses say, in a network of NewNetwork, with which it goes, and returns its
// identifier.
func (e OpenStackEnv) NewSubnet(t testing.TB, user OpenStackUser, network, name, cidr string) string {
	t.Helper()
	version := 4
	if netip.MustParsePrefix(cidr).Addr().Is6() {
		version = 6
	}
	var made struct{ Subnet struct{ ID string } }
	e.at(t, "network").call(t, http.MethodPost, "/v2.0/subnets", map[string]any{"subnet": map[string]any{
		"name": name, "network_id": network, "project_id": user.projectID, "cidr": cidr, "ip_version": version,
	}}, &made)
	return made.Subnet.ID
}

// NewPort makes a port of a user of NewProject with an address in each of these subnets, and returns its identifier. It is gone when
// the test is over.
func (e OpenStackEnv) NewPort(t testing.TB, user OpenStackUser, network string, subnets ...string) string {
	t.Helper()
	addresses := make([]map[string]any, 0, len(subnets))
	for _, subnet := range subnets {
		addresses = append(addresses, map[string]any{"subnet_id": subnet})
	}
	admin := e.at(t, "network")
	var made struct{ Port struct{ ID string } }
	admin.call(t, http.MethodPost, "/v2.0/ports", map[string]any{"port": map[string]any{
		"network_id": network, "project_id": user.projectID, "fixed_ips": addresses,
	}}, &made)
	admin.removeLater(t, "/v2.0/ports/"+made.Port.ID)
	return made.Port.ID
}

// NewKeypair makes a key pair of a user. It is gone when the test is over.
func (e OpenStackEnv) NewKeypair(t testing.TB, user OpenStackUser, name string) {
	t.Helper()
	c := e.login(t, user)
	c.base = e.Endpoints["compute"]
	c.call(t, http.MethodPost, "/os-keypairs", map[string]any{"keypair": map[string]any{"name": name}}, nil)
	c.removeLater(t, "/os-keypairs/"+name)
}

// DisableUser locks a user of NewUser out.
func (e OpenStackEnv) DisableUser(t testing.TB, user OpenStackUser) {
	t.Helper()
	e.patchUser(t, user, "enabled", false)
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

// GrantRole gives a user of NewUser a role in his project.
func (e OpenStackEnv) GrantRole(t testing.TB, user OpenStackUser, role string) {
	t.Helper()
	admin := e.login(t, e.Users[OpenStackAdmin])
	admin.call(t, http.MethodPut, admin.grant(t, user, role), nil, nil)
}

// Get asks a service of the catalogue as the administrator and reads its JSON: kind
// is "identity" or "image", for example, and path what follows its address in
// Endpoints.
func (e OpenStackEnv) Get(t testing.TB, kind, path string, out any) {
	t.Helper()
	e.at(t, kind).call(t, http.MethodGet, path, nil, out)
}

// Post sends an object to a service as the administrator and reads what comes back.
func (e OpenStackEnv) Post(t testing.TB, kind, path string, in, out any) {
	t.Helper()
	e.at(t, kind).call(t, http.MethodPost, path, in, out)
}

// PostAs is Post as a user.
func (e OpenStackEnv) PostAs(t testing.TB, user OpenStackUser, kind, path string, in, out any) {
	t.Helper()
	c := e.login(t, user)
	c.base = e.Endpoints[kind]
	c.call(t, http.MethodPost, path, in, out)
}

// Delete deletes an object of a service as the administrator, if it is there; a test
// that ends may use it too.
func (e OpenStackEnv) Delete(t testing.TB, kind, path string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), openStackRequest)
	defer cancel()
	if _, err := e.at(t, kind).try(ctx, http.MethodDelete, path, nil, nil); err != nil && !isStatus(err, http.StatusNotFound) {
		t.Error(err)
	}
}

// NewImage makes a public image whose servers have the system of OpenStackDocker, and returns its id. It is gone when the test is over.
func (e OpenStackEnv) NewImage(t testing.TB, name string) string {
	t.Helper()
	c := e.at(t, "image")
	c.base += "/v2/images"
	var made struct{ ID string }
	c.call(t, http.MethodPost, "", map[string]any{
		"name": name, "disk_format": "raw", "container_format": "bare", "visibility": "public", "lab_system": OpenStackDocker,
	}, &made)
	c.removeLater(t, "/"+made.ID)
	ctx, cancel := context.WithTimeout(t.Context(), openStackRequest)
	defer cancel()
	require.NoError(t, c.upload(ctx, "/"+made.ID+"/file", "the lab's "+name+"\n"))
	return made.ID
}

// at is a client of a service, as the administrator.
func (e OpenStackEnv) at(t testing.TB, kind string) openStackClient {
	t.Helper()
	c := e.login(t, e.Users[OpenStackAdmin])
	c.base = e.Endpoints[kind]
	return c
}
