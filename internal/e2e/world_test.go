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
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

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

// site is a cluster that an instance can be on.
type site struct {
	// connection is the VIM connection there, empty for the instance's own VIM.
	connection string
	lab        labtest.Env
	way        way
	server     *labtest.Server
}

// vim is the name of the vnf_vim.
func (s *site) vim() string { return cmp.Or(s.connection, "test") }

// world is a lab with a gateway before it, a store, a namespace and one module.
type world struct {
	*module
	// site is the instance's own cluster, further are the others.
	site
	further   []*site
	gateway   *gateway
	store     acctest.Store
	records   store.Store
	namespace string
	// foreign is set once somebody else has made the namespace.
	foreign bool
}

// newWorld returns a world whose namespace does not exist yet.
func newWorld(t *testing.T) *world {
	t.Helper()
	lab, built := requirements(t)
	w := &world{module: newModule(t, built), gateway: &gateway{}, store: acctest.NewStore(t)}
	w.records = w.store.Records(t)
	random := make([]byte, 5)
	if _, err := rand.Read(random); err != nil {
		t.Fatal(err)
	}
	w.namespace = "e2e-" + hex.EncodeToString(random)
	w.site = *w.reach(t, "", lab)
	return w
}

// reach returns a cluster that the provider reaches through the gateway.
func (w *world) reach(t *testing.T, connection string, lab labtest.Env) *site {
	t.Helper()
	s := &site{connection: connection, lab: lab, way: w.gateway.open(t, lab), server: lab.Server(t)}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if _, err := s.server.Do(ctx, http.MethodDelete, "/api/v1/namespaces/"+w.namespace, ""); err != nil {
			t.Logf("removing namespace %s: %v", w.namespace, err)
		}
	})
	return s
}

// sites are all clusters of the world.
func (w *world) sites() []*site { return append([]*site{&w.site}, w.further...) }

// vims are the vnf_vim of all clusters, reached through the gateway.
func (w *world) vims() string {
	var out strings.Builder
	for _, s := range w.sites() {
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
// every example carries.
func (w *world) instance(name string, arguments ...string) string {
	return fmt.Sprintf(`
resource "vnf_instance" "test" {
  name            = %q
  vim_id          = vnf_vim.test.id
  package_id      = vnf_package.test.id
  namespace       = %q
  deletion_policy = { volumes = "delete" }
  %s
  lifecycle {
    postcondition {
      condition     = self.status == "INSTANTIATED"
      error_message = "The instance is ${self.status}: apply again to continue."
    }
  }
}
`, name, w.namespace, strings.Join(arguments, "\n  "))
}

func pkg(source string) string {
	return fmt.Sprintf("\nresource \"vnf_package\" \"test\" {\n  name   = \"test\"\n  source = %q\n}\n", source)
}

// configure writes a whole configuration over the package of that path.
func (w *world) configure(source string, arguments ...string) {
	w.Helper()
	w.write(w.store.Provider(), w.vims(), pkg(source), w.instance("test", arguments...))
}

// uids maps each object that the provider made to its UID.
func (w *world) uids() map[string]string {
	w.Helper()
	out := map[string]string{}
	for _, e := range made(w.labelled()) {
		out[e.key] = e.uid
	}
	return out
}

// exact checks that server and store hold the instance of the state, whole, once,
// and nothing else.
func (w *world) exact() {
	w.Helper()
	instance := w.resource(address)
	all := w.labelled()
	var keys []string
	for _, e := range made(all) {
		keys = append(keys, e.key)
	}
	slices.Sort(keys)
	// The release of a chart is records, which belong to Helm and have no label of ours.
	want := slices.DeleteFunc(instance.keys("objects"), func(key string) bool { return strings.HasPrefix(key, "helm.sh/v1/Release ") })
	if diff := gocmp.Diff(want, keys); diff != "" {
		w.Errorf("objects of the state (-) and of the server (+) differ:\n%s", diff)
	}
	for _, e := range all {
		if e.instance != instance.text("id") {
			w.Errorf("%s belongs to instance %s, and there should be %s alone", e, e.instance, instance.text("id"))
		}
		if strings.HasSuffix(e.kind, "/Lease") {
			w.Errorf("%s was left behind", e)
		}
	}
	var vims []string
	for _, s := range w.sites() {
		vims = append(vims, "vnf_vim."+s.vim())
	}
	for kind, addresses := range map[store.Kind][]string{
		store.KindVIM: vims, store.KindPackage: {"vnf_package.test"}, store.KindInstance: {address},
	} {
		var known, ids []string
		for _, address := range addresses {
			known = append(known, w.resource(address).text("id"))
		}
		for _, r := range w.list(kind) {
			ids = append(ids, r.ID)
		}
		slices.Sort(known)
		slices.Sort(ids)
		if diff := gocmp.Diff(known, ids); diff != "" {
			w.Errorf("records of kind %s, state (-) and store (+) differ:\n%s", kind, diff)
		}
	}
	for _, op := range w.operations() {
		if !op.State.Final() {
			w.Errorf("operation %s is %s", op.Type, op.State)
		}
		if op.InstanceID != instance.text("id") {
			w.Errorf("operation %s belongs to instance %s", op.Type, op.InstanceID)
		}
	}
}

// nothing checks that server and store hold nothing of an instance.
func (w *world) nothing() {
	w.Helper()
	if left := w.labelled(); len(left) > 0 {
		w.Errorf("left on the server: %v", left)
	}
	for _, kind := range []store.Kind{store.KindInstance, store.KindOperation} {
		if left := w.list(kind); len(left) > 0 {
			w.Errorf("the store holds %d records of kind %s: %s", len(left), kind, left[0].Data)
		}
	}
}

// destroyed checks that nothing is left at all: no object, no namespace, no
// record, no content.
func (w *world) destroyed() {
	w.Helper()
	w.nothing()
	for _, kind := range []store.Kind{store.KindVIM, store.KindPackage} {
		if left := w.list(kind); len(left) > 0 {
			w.Errorf("the store holds %d records of kind %s: %s", len(left), kind, left[0].Data)
		}
	}
	for _, s := range w.sites() {
		if status, err := s.server.Do(w.Context(), http.MethodGet, "/api/v1/namespaces/"+w.namespace, ""); err != nil || (status == http.StatusOK) != w.foreign {
			w.Errorf("namespace %s on VIM %s: status %d, %v; somebody else's: %t", w.namespace, s.vim(), status, err, w.foreign)
		}
	}
	if left := w.blobs(); len(left) > 0 {
		w.Errorf("contents left in the store: %v", left)
	}
}

// blobs are the files of the store that hold contents of packages.
func (w *world) blobs() []string {
	w.Helper()
	var out []string
	err := filepath.WalkDir(filepath.Join(filepath.Dir(w.store.Path), "blobs"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			out = append(out, path)
		}
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
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

// made are the entities that the provider made as objects of a package.
func made(all []entity) []entity {
	return slices.DeleteFunc(slices.Clone(all), func(e entity) bool { return e.key == "" })
}

// labelled lists the objects of the world's namespace that carry the label of an
// instance, and the namespace itself, on all clusters.
func (w *world) labelled() []entity {
	w.Helper()
	var all []entity
	for _, s := range w.sites() {
		found, err := s.server.Labelled(w.Context(), w.namespace, labelInstance)
		if err != nil {
			w.Fatal(err)
		}
		for _, o := range found {
			e := entity{kind: o.GroupVersion + "/" + o.Kind, name: o.Name, uid: o.UID, key: o.Annotations[annotationKey], instance: o.Labels[labelInstance]}
			if s.connection != "" && e.key != "" {
				e.key = s.connection + ": " + e.key
			}
			all = append(all, e)
		}
	}
	return all
}

func (w *world) list(kind store.Kind) []store.Record {
	w.Helper()
	found, err := w.records.List(w.Context(), store.Query{Kind: kind})
	if err != nil {
		w.Fatal(err)
	}
	return found
}

func (w *world) operations() []vnfm.Operation {
	w.Helper()
	return decode[vnfm.Operation](w, store.KindOperation)
}

// decode reads all records of a kind.
func decode[T any](w *world, kind store.Kind) []T {
	w.Helper()
	var out []T
	for _, r := range w.list(kind) {
		var v T
		if err := json.Unmarshal(r.Data, &v); err != nil {
			w.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// kubectl runs kubectl in the namespace of the world.
func (w *world) kubectl(args ...string) string {
	w.Helper()
	return strings.TrimSpace(w.lab.Kubectl(w, append([]string{"-n", w.namespace}, args...)...))
}
