package cloud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/cloudtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// tape is a Recorder that can be made to break off, as if the process had been killed.
type tape struct {
	items []vnfm.InventoryItem
	// until counts down with each call; at zero all calls fail.
	until int
	notes map[string]string
}

var errKilled = errors.New("killed")

func (t *tape) SaveInventory(_ context.Context, items []vnfm.InventoryItem) error {
	t.until--
	if t.until == 0 {
		return errKilled
	}
	t.items = items
	return nil
}

func (*tape) Progress(context.Context, string) {}
func (t *tape) Note(key string) string         { return t.notes[key] }

func (t *tape) Missing() {}

func (t *tape) SetNote(_ context.Context, key, note string) error {
	t.notes[key] = note
	return nil
}

// credentialEnv is a cluster on the lab's API server that has a cloud, and nothing else.
type credentialEnv struct {
	*testing.T
	cloud     *cloudtest.Cloud
	lab       labtest.Env
	clients   *kube.Client
	clouds    *openstack.Pool
	namespace string
	// connection and password of the VIM.
	connection vnfm.OpenStackConnection
	password   string
	spec       vnfm.ClusterSpec
	tape       *tape
	// former are users for whom the run has access, and warnings the warnings of the last operation.
	former   map[string]string
	warnings vnfm.Problems
}

// newCredentialEnv has a cloud in the memory of the test.
func newCredentialEnv(t *testing.T) *credentialEnv {
	t.Helper()
	w := bareCredentialEnv(t)
	w.cloud = cloudtest.New(t)
	w.cloud.AddUser("successor", "devstack")
	w.connection = vnfm.OpenStackConnection{AuthURL: w.cloud.URL, ProjectName: cloudtest.Project, Region: cloudtest.Region}
	w.password, w.spec.OpenStack.ProjectID = "devstack", cloudtest.ProjectID
	w.as("nfv_user")
	return w
}

func bareCredentialEnv(t *testing.T) *credentialEnv {
	t.Helper()
	lab := labtest.Kubernetes(t)
	w := &credentialEnv{T: t, lab: lab, clouds: openstack.NewPool("test/1"), namespace: lab.Namespace(t), tape: &tape{notes: map[string]string{}}}
	client, err := kube.NewPool("test/1").Client("lab", &vnfm.KubernetesConnection{Endpoint: lab.Endpoint, CACertificate: lab.ReadFile(t, lab.CAFile)}, vnfm.Credentials{vnfm.CredentialBearerToken: vnfm.Secret(lab.AdminToken)})
	require.NoError(t, err)
	w.clients = client
	w.spec = vnfm.ClusterSpec{Name: "edge", Namespace: w.namespace, OpenStack: &vnfm.ClusterOpenStack{
		VIMID: "cloud", Credential: &vnfm.ClusterCredential{SecretName: "edge-cloud", CloudName: "openstack"},
	}}
	return w
}

// as changes the user of the VIM.
func (w *credentialEnv) as(user string) {
	w.connection.Username, w.spec.OpenStack.UserID = user, w.cloud.User(user).ID
}

// credential returns the credential as a new process reads it.
func (w *credentialEnv) credential() *Credential {
	target := &vnfm.Target{
		VIM: &vnfm.VIM{Name: "cloud"}, Instance: &vnfm.Instance{ID: "0815", Name: "edge", Cluster: &w.spec, Inventory: w.tape.items},
		Access: func(context.Context, string) (*vnfm.VIM, vnfm.Credentials, error) {
			connection := w.connection
			return &vnfm.VIM{Name: "cloud", OpenStack: &connection}, vnfm.Credentials{vnfm.CredentialPassword: vnfm.Secret(w.password)}, nil
		},
	}
	target.Warn = func(p vnfm.Problem) { w.warnings = append(w.warnings, p) }
	target.FormerAccess = func(_, userID string) (*vnfm.VIM, vnfm.Credentials, bool) {
		connection := w.connection
		connection.Username = w.former[userID]
		return &vnfm.VIM{Name: "cloud", OpenStack: &connection}, vnfm.Credentials{vnfm.CredentialPassword: vnfm.Secret(w.password)}, connection.Username != ""
	}
	c := &Cluster{Client: w.clients, Spec: &w.spec, Instance: "0815", Namespace: w.namespace, Name: "edge"}
	return NewCredential(c, w.clouds, target, NewInventory(target, w.tape))
}

// apply handles the credential as an apply does, in a new operation.
func (w *credentialEnv) apply() error {
	clear(w.tape.notes)
	w.warnings = nil
	return w.resume()
}

// resume is apply in an existing operation.
func (w *credentialEnv) resume() error {
	a := w.credential()
	if err := a.Ensure(w.Context()); err != nil {
		return err
	}
	return a.RemoveFormer(w.Context())
}

// inUse returns the id of the credential in the Secret. It must be valid, with a number of other credentials left.
func (w *credentialEnv) inUse(others int) string {
	w.Helper()
	a := w.credential()
	h, err := a.read(w.Context())
	require.NoError(w, err)
	require.NotNil(w, h)
	client, err := a.cloud(w.Context(), "cloud")
	require.NoError(w, err)
	require.NoError(w, w.clouds.Try(w.Context(), "cloud", client.Connection(), h.id, h.secret))
	if w.cloud != nil {
		assert.Len(w, w.cloud.CredentialNames(), 1+others)
	}
	require.Len(w, w.tape.items, 1+others)
	assert.Equal(w, h.id, w.tape.items[others].UID)
	return h.id
}

func (w *credentialEnv) seen() string {
	w.Helper()
	o := &vnfm.Observation{Objects: map[string]string{}}
	require.NoError(w, w.credential().Observe(w.Context(), o))
	return o.Objects[CredentialKey("edge")]
}

func TestCredentialOfACluster(t *testing.T) {
	t.Parallel()
	w := newCredentialEnv(t)
	require.NoError(t, w.apply())
	first := w.inUse(0)
	assert.Equal(t, CredentialDigest(w.spec.OpenStack), w.seen())
	labels := w.lab.Kubectl(t, "-n", w.namespace, "get", "secret", "edge-cloud", "-o", "jsonpath={.metadata.labels}{.data}")
	for _, want := range []string{`"clusterctl.cluster.x-k8s.io/move":""`, `"cluster.x-k8s.io/cluster-name":"edge"`, "clouds.yaml"} {
		assert.Contains(t, labels, want)
	}
	assert.NotContains(t, labels, "cacert", "the cloud needs none")

	// A correct credential is not touched.
	before := len(w.cloud.Requests())
	require.NoError(t, w.apply())
	assert.Equal(t, first, w.inUse(0))
	for _, request := range w.cloud.Requests()[before:] {
		assert.NotContains(t, request, "POST /v3/users")
	}

	w.spec.OpenStack.Credential.RotationTrigger = "now"
	assert.Equal(t, "drifted: it was made for something else", w.seen())
	require.NoError(t, w.apply())
	second := w.inUse(0)
	assert.NotEqual(t, first, second)

	owner := w.cloud.User("nfv_user")
	w.cloud.Change(func() { delete(owner.Credentials, second) })
	assert.Equal(t, "drifted: Keystone refuses it", w.seen())
	require.NoError(t, w.apply())
	third := w.inUse(0)
	assert.NotEqual(t, second, third)

	w.lab.Kubectl(t, "-n", w.namespace, "patch", "secret", "edge-cloud", "--type=merge", "-p", `{"metadata":{"labels":{"clusterctl.cluster.x-k8s.io/move":null}}}`)
	assert.Equal(t, "drifted: the Secret is not as it was written", w.seen())
	require.NoError(t, w.apply())
	assert.Equal(t, third, w.inUse(0), "a Secret that is changed costs no credential")

	w.lab.Kubectl(t, "-n", w.namespace, "delete", "secret", "edge-cloud")
	assert.Empty(t, w.seen())
	require.NoError(t, w.apply())
	assert.NotEqual(t, third, w.inUse(0), "Keystone tells a secret once")

	// Another user may not delete the credential of the former user. It stays recorded, and the operation that creates another one warns.
	w.as("successor")
	former := w.tape.items[0]
	require.NoError(t, w.apply())
	w.inUse(1)
	leftBehind := vnfm.Problems{{
		Severity: vnfm.SeverityWarning, Attribute: "openstack.vim_id",
		Summary: fmt.Sprintf("application credential %s (%q) of user %s, which workload cluster %s/edge does not use any more, was left behind", former.UID, former.Name, owner.ID, w.namespace),
		Detail:  `only its owner or an administrator of Keystone may delete it, and this run has no access as that user: delete it as one of them, for example with "openstack application credential delete"`,
	}}
	assert.Equal(t, leftBehind, w.warnings)
	w.warnings = nil
	require.NoError(t, w.resume())
	assert.Equal(t, leftBehind, w.warnings, "an operation that is resumed says it as well")
	require.NoError(t, w.apply())
	assert.Empty(t, w.warnings, "said once")
	// The former user returns, who may delete the credential.
	w.as("nfv_user")
	require.NoError(t, w.apply())
	w.inUse(1)

	// Another Secret takes the place of the first.
	w.spec.OpenStack.Credential.SecretName = "edge-other"
	require.NoError(t, w.apply())
	w.inUse(1)
	assert.NotContains(t, w.lab.Kubectl(t, "-n", w.namespace, "get", "secrets", "-o", "name"), "edge-cloud")

	// An unreachable Keystone is neither drift nor a reason to create another credential.
	w.cloud.Refuse(func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(http.StatusBadGateway); return true })
	assert.Equal(t, CredentialDigest(w.spec.OpenStack), w.seen())
	require.ErrorContains(t, w.apply(), "502 Bad Gateway")
	w.cloud.Refuse(nil)
	w.inUse(1)

	// Another expiry requires another credential. A past expiry is an error that keeps the present one.
	last, expires := w.inUse(1), time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	w.spec.OpenStack.Credential.ExpiresAt = expires.Format(time.RFC3339)
	o := &vnfm.Observation{Objects: map[string]string{}, Cluster: &vnfm.ClusterState{}}
	require.NoError(t, w.credential().Observe(t.Context(), o))
	assert.Zero(t, o.Cluster.CredentialExpiresAt)
	require.NoError(t, w.apply())
	assert.NotEqual(t, last, w.inUse(1))
	assert.Equal(t, expires.Format("2006-01-02T15:04:05.000000Z"), owner.Credentials[w.inUse(1)].ExpiresAt)
	require.NoError(t, w.credential().Observe(t.Context(), o))
	assert.Equal(t, expires, o.Cluster.CredentialExpiresAt)
	w.spec.OpenStack.Credential.ExpiresAt = "2026-01-02T03:04:05Z"
	require.EqualError(t, w.apply(), "a new application credential would have expired at 2026-01-02T03:04:05Z: set a later time, or remove the argument for one that does not expire")
	w.inUse(1)

	// The argument is removed.
	w.spec.OpenStack.Credential = nil
	require.NoError(t, w.apply())
	assert.NotContains(t, w.lab.Kubectl(t, "-n", w.namespace, "get", "secrets", "-o", "name"), "edge-other")
	assert.Len(t, w.cloud.CredentialNames(), 1, "that of the former user")
}

// A run that has given the VIM another user deletes the credential of the former one as that user, once the cluster is ready.
func TestCredentialOfAFormerUser(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		former func(w *credentialEnv, id string)
		left   int
	}{
		"with access":    {former: func(w *credentialEnv, id string) { w.former = map[string]string{id: "nfv_user"} }},
		"without access": {former: func(*credentialEnv, string) {}, left: 1},
		"refused": {former: func(w *credentialEnv, id string) {
			w.former = map[string]string{id: "nfv_user"}
			w.cloud.Disable("nfv_user", true)
		}, left: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCredentialEnv(t)
			require.NoError(t, w.apply())
			owner := w.cloud.User("nfv_user").ID
			w.as("successor")
			c.former(w, owner)
			require.NoError(t, w.apply())
			w.inUse(c.left)
			assert.Len(t, w.warnings, c.left)
		})
	}
}

// A Secret of another owner with that name is not overwritten.
func TestCredentialLeavesOtherSecretsAlone(t *testing.T) {
	t.Parallel()
	w := newCredentialEnv(t)
	w.lab.Kubectl(t, "-n", w.namespace, "create", "secret", "generic", "edge-cloud", "--from-literal=clouds.yaml=mine")
	var conflict *vnfm.ConflictError
	require.ErrorAs(t, w.apply(), &conflict)
	assert.Empty(t, w.cloud.CredentialNames())
}

// Wherever the process is killed, the next one ends with one valid credential, which is
// deleted after the cluster.
func TestCredentialSurvivesKills(t *testing.T) {
	t.Parallel()
	w := newCredentialEnv(t)
	// Each step is a request to the cloud or a write of the record. The next process resumes a
	// failed run and gets one step further.
	kill := func(step int) {
		w.tape.until = 0
		asked := 0
		w.cloud.Lose(func(*http.Request) bool {
			asked++
			// A repeated request is killed as well.
			return asked >= step && asked < step+3
		})
	}
	for round, trigger := range []string{"first", "second"} {
		w.spec.OpenStack.Credential.RotationTrigger = trigger
		for step := 1; step < 12; step++ {
			kill(step)
			w.tape.until = step
			_ = w.apply()
		}
		w.cloud.Lose(nil)
		w.tape.until = 0
		require.NoError(t, w.apply(), "round %d", round)
		w.inUse(0)
	}
	for step := 1; step < 6; step++ {
		kill(step)
		a := w.credential()
		if err := a.RemoveSecrets(t.Context()); err == nil {
			_ = a.RemoveAll(t.Context(), nil)
		}
	}
	w.cloud.Lose(nil)
	a := w.credential()
	require.NoError(t, a.RemoveSecrets(t.Context()))
	require.NoError(t, a.RemoveAll(t.Context(), nil))
	assert.Empty(t, w.cloud.CredentialNames())
	assert.Empty(t, w.tape.items)
	assert.NotContains(t, w.lab.Kubectl(t, "-n", w.namespace, "get", "secrets", "-o", "name"), "edge-cloud")
}

// If Keystone rejects the user after the deletion of the cluster, the credential is left behind with a report.
func TestCredentialIsLeftBehind(t *testing.T) {
	t.Parallel()
	w := newCredentialEnv(t)
	require.NoError(t, w.apply())
	w.cloud.Disable("nfv_user", true)
	var left []string
	a := w.credential()
	require.NoError(t, a.RemoveSecrets(t.Context()))
	require.NoError(t, a.RemoveAll(t.Context(), func(object, reason string) { left = append(left, fmt.Sprintf("%s: %s", object, reason)) }))
	require.Len(t, left, 1)
	assert.Contains(t, left[0], "application credential of workload cluster")
	assert.Contains(t, left[0], "refused the credentials")
	assert.NotContains(t, strings.Join(left, ""), "devstack")
}
