//go:build unix

package e2e_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	address       = "vnf_instance.test"
	labelInstance = "vnf.nfv-iac.github.io/instance-id"
	annotationKey = "vnf.nfv-iac.github.io/key"
)

// targetCluster is a cluster that an instance can be on.
type targetCluster struct {
	// connection is the VIM connection there, empty for the instance's own VIM.
	connection string
	lab        labtest.Env
	way        way
	server     *labtest.Server
}

// vim is the name of the vnf_vim.
func (s *targetCluster) vim() string { return cmp.Or(s.connection, "test") }

// testEnv is a lab with a gateway before it, a store, a namespace and one module.
type testEnv struct {
	*module
	// targetCluster is the instance's own cluster, further are the others.
	targetCluster
	further []*targetCluster
	gateway *gateway
	// store is the local one, remote one that outlives the runner, used instead unless nil. records is a handle of either.
	store   acctest.Store
	remote  *remoteStore
	records store.Store
	// forgetful says that no store outlives the runner. perRun are then the entries of the provider's argument vims, which may use
	// var.secret.
	forgetful bool
	perRun    string
	namespace string
	// foreign is set once somebody else has made the namespace.
	foreign bool
}

// newEnv returns an environment whose namespace does not exist yet.
func newEnv(t *testing.T) *testEnv {
	t.Helper()
	lab, built := requirements(t)
	env := &testEnv{module: newModule(t, built), gateway: &gateway{}, store: acctest.NewStore(t)}
	env.records = env.store.Records(t)
	random := make([]byte, 5)
	if _, err := rand.Read(random); err != nil {
		t.Fatal(err)
	}
	env.namespace = "e2e-" + hex.EncodeToString(random)
	env.targetCluster = *env.reach(t, "", lab)
	return env
}

// reach returns a cluster that the provider reaches through the gateway.
func (env *testEnv) reach(t *testing.T, connection string, lab labtest.Env) *targetCluster {
	t.Helper()
	s := &targetCluster{connection: connection, lab: lab, way: env.gateway.open(t, lab), server: lab.Server(t)}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if _, err := s.server.Do(ctx, http.MethodDelete, "/api/v1/namespaces/"+env.namespace, ""); err != nil {
			t.Logf("removing namespace %s: %v", env.namespace, err)
		}
	})
	return s
}

// targets are all clusters.
func (env *testEnv) targets() []*targetCluster {
	return append([]*targetCluster{&env.targetCluster}, env.further...)
}

// vims are the vnf_vim of all clusters, reached through the gateway; without a connection where that comes with each run.
func (env *testEnv) vims() string {
	var out strings.Builder
	for _, s := range env.targets() {
		if env.forgetful {
			fmt.Fprintf(&out, "\nresource \"vnf_vim\" %[1]q {\n  name = %[1]q\n}\n", s.vim())
			continue
		}
		fmt.Fprintf(&out, `
resource "vnf_vim" %[1]q {
  name = %[1]q
  kubernetes = {
    endpoint       = %[2]q
    ca_certificate = file(%[3]q)
    bearer_token   = %[4]q
  }
}
`, s.vim(), s.way.endpoint, s.way.caFile, s.lab.AdminToken)
	}
	return out.String()
}

// instance is a vnf_instance with further arguments, and the postcondition that
// resources with on_failure = "resume" need.
func (env *testEnv) instance(name string, arguments ...string) string {
	return fmt.Sprintf(`
resource "vnf_instance" "test" {
  name            = %q
  vim_id          = vnf_vim.test.id
  package_id      = vnf_package.test.id
  namespace       = %q
  deletion_policy = { volumes = "delete", namespace = "delete", crds = "delete" }
  %s
  lifecycle {
    postcondition {
      condition     = self.status == "INSTANTIATED"
      error_message = "The instance is ${self.status}: apply again to continue."
    }
  }
}
`, name, env.namespace, strings.Join(arguments, "\n  "))
}

func pkg(source string) string {
	return fmt.Sprintf("\nresource \"vnf_package\" \"test\" {\n  name   = \"test\"\n  source = %q\n}\n", source)
}

// configure writes a whole configuration over the package of that path.
func (env *testEnv) configure(source string, arguments ...string) {
	env.Helper()
	env.write(env.provider(), env.vims(), pkg(source), env.instance("test", arguments...))
}

// uids maps each object that the provider made to its UID.
func (env *testEnv) uids() map[string]string {
	env.Helper()
	out := map[string]string{}
	for _, e := range labelledObjects(env.labelled()) {
		out[e.key] = e.uid
	}
	return out
}

// objects are those that the private state of the instance has, without the release of a chart: that is records, which belong to Helm and
// have no label of ours.
func (env *testEnv) objects() []string {
	env.Helper()
	var digests map[string]string
	require.NoError(env, json.Unmarshal(env.resource(address).private["objects"], &digests))
	maps.DeleteFunc(digests, func(key, _ string) bool { return strings.HasPrefix(key, "helm.sh/v1/Release ") })
	return slices.Sorted(maps.Keys(digests))
}

// expectConsistent checks that server and store hold the instance of the state, whole, once,
// and nothing else.
func (env *testEnv) expectConsistent() {
	env.Helper()
	instance := env.resource(address)
	all := env.labelled()
	var keys []string
	for _, e := range labelledObjects(all) {
		keys = append(keys, e.key)
	}
	slices.Sort(keys)
	if diff := gocmp.Diff(env.objects(), keys); diff != "" {
		env.Errorf("objects of the private state (-) and of the server (+) differ:\n%s", diff)
	}
	for _, e := range all {
		if e.instance != instance.text("id") {
			env.Errorf("%s belongs to instance %s, and there should be %s alone", e, e.instance, instance.text("id"))
		}
		if strings.HasSuffix(e.kind, "/Lease") {
			env.Errorf("%s was left behind", e)
		}
	}
	var vims []string
	for _, s := range env.targets() {
		vims = append(vims, "vnf_vim."+s.vim())
	}
	for kind, addresses := range map[store.Kind][]string{
		store.KindVIM: vims, store.KindPackage: {"vnf_package.test"}, store.KindInstance: {address},
	} {
		var known, ids []string
		for _, address := range addresses {
			known = append(known, env.resource(address).text("id"))
		}
		for _, r := range env.list(kind) {
			ids = append(ids, r.ID)
		}
		slices.Sort(known)
		slices.Sort(ids)
		if diff := gocmp.Diff(known, ids); diff != "" {
			env.Errorf("records of kind %s, state (-) and store (+) differ:\n%s", kind, diff)
		}
	}
	for _, op := range env.operations() {
		if !op.State.Final() {
			env.Errorf("operation %s is %s", op.Type, op.State)
		}
		if op.InstanceID != instance.text("id") {
			env.Errorf("operation %s belongs to instance %s", op.Type, op.InstanceID)
		}
	}
}

// expectNothing checks that server and store hold nothing of an instance.
func (env *testEnv) expectNothing() {
	env.Helper()
	if left := env.labelled(); len(left) > 0 {
		env.Errorf("left on the server: %v", left)
	}
	for _, kind := range []store.Kind{store.KindInstance, store.KindOperation} {
		if left := env.list(kind); len(left) > 0 {
			env.Errorf("the store holds %d records of kind %s: %s", len(left), kind, left[0].Data)
		}
	}
}

// destroyed checks that nothing is left at all: no object, no namespace, no
// record, no content.
func (env *testEnv) destroyed() {
	env.Helper()
	env.expectNothing()
	for _, kind := range []store.Kind{store.KindVIM, store.KindPackage} {
		if left := env.list(kind); len(left) > 0 {
			env.Errorf("the store holds %d records of kind %s: %s", len(left), kind, left[0].Data)
		}
	}
	for _, s := range env.targets() {
		if status, err := s.server.Do(env.Context(), http.MethodGet, "/api/v1/namespaces/"+env.namespace, ""); err != nil || (status == http.StatusOK) != env.foreign {
			env.Errorf("namespace %s on VIM %s: status %d, %v; somebody else's: %t", env.namespace, s.vim(), status, err, env.foreign)
		}
	}
	if left := env.blobs(); len(left) > 0 {
		env.Errorf("contents left in the store: %v", left)
	}
}

// blobs are the contents of packages that the store holds: files of the local store, digests of another. What a killed process was
// writing is none; a later one removes it once it is old.
func (env *testEnv) blobs() []string {
	env.Helper()
	if contents, ok := env.records.(store.Portable); ok && env.remote != nil {
		digests, err := contents.Contents(env.Context())
		require.NoError(env, err)
		return digests
	}
	var out []string
	err := filepath.WalkDir(filepath.Join(filepath.Dir(env.storeFile()), "blobs", "sha256"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			out = append(out, path)
		}
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	})
	require.NoError(env, err)
	return out
}

// entity is an object on the server.
type entity struct {
	kind, name, uid string
	// key is the identity as the package writes it, empty for what the server
	// derived from other objects. instance is the id in the label.
	key, instance string
}

func (e entity) String() string { return e.kind + " " + e.name }

// labelledObjects are the entities that the provider made as objects of a package.
func labelledObjects(all []entity) []entity {
	return slices.DeleteFunc(slices.Clone(all), func(e entity) bool { return e.key == "" })
}

// labelled lists the objects of the namespace that carry the label of an
// instance, and the namespace itself, on all clusters. Endpoints are left out: controllers copy the labels of a Service to them, and
// delete them some time after it.
func (env *testEnv) labelled() []entity {
	env.Helper()
	var all []entity
	for _, s := range env.targets() {
		found, err := s.server.Labelled(env.Context(), env.namespace, labelInstance)
		require.NoError(env, err)
		for _, o := range found {
			if o.Kind == "Endpoints" || o.Kind == "EndpointSlice" {
				continue
			}
			e := entity{kind: o.GroupVersion + "/" + o.Kind, name: o.Name, uid: o.UID, key: o.Annotations[annotationKey], instance: o.Labels[labelInstance]}
			if s.connection != "" && e.key != "" {
				e.key = s.connection + ": " + e.key
			}
			all = append(all, e)
		}
	}
	return all
}

func (env *testEnv) list(kind store.Kind) []store.Record {
	env.Helper()
	var found []store.Record
	env.looked(func(s store.Store) {
		var err error
		found, err = s.List(env.Context(), store.Query{Kind: kind})
		require.NoError(env, err)
	})
	return found
}

func (env *testEnv) operations() []vnfm.Operation {
	env.Helper()
	return decode[vnfm.Operation](env, store.KindOperation)
}

// decode reads all records of a kind.
func decode[T any](env *testEnv, kind store.Kind) []T {
	env.Helper()
	var out []T
	for _, r := range env.list(kind) {
		var v T
		require.NoError(env, json.Unmarshal(r.Data, &v))
		out = append(out, v)
	}
	return out
}

// kubectl runs kubectl in the namespace of the test.
func (env *testEnv) kubectl(args ...string) string {
	env.Helper()
	return strings.TrimSpace(env.lab.Kubectl(env, append([]string{"-n", env.namespace}, args...)...))
}
