package e2e_test

import (
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

	"github.com/google/go-cmp/cmp"

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

// world is a lab with a gateway before it, a store, a namespace and one module.
type world struct {
	*module
	lab       labtest.Env
	gateway   *gateway
	store     acctest.Store
	records   store.Store
	namespace string
	// foreign is set once somebody else has made the namespace.
	foreign bool
	server  *server
}

// newWorld returns a world whose namespace does not exist yet.
func newWorld(t *testing.T) *world {
	t.Helper()
	lab, built := requirements(t)
	w := &world{module: newModule(t, built), lab: lab, gateway: newGateway(t, lab), store: acctest.NewStore(t)}
	w.records = w.store.Records(t)
	random := make([]byte, 5)
	if _, err := rand.Read(random); err != nil {
		t.Fatal(err)
	}
	w.namespace = "e2e-" + hex.EncodeToString(random)
	w.server = newServer(t, lab)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if _, err := w.server.do(ctx, http.MethodDelete, "/api/v1/namespaces/"+w.namespace, nil); err != nil {
			t.Logf("removing namespace %s: %v", w.namespace, err)
		}
	})
	return w
}

// vim is a vnf_vim that reaches the lab through the gateway.
func (w *world) vim() string {
	return fmt.Sprintf(`
resource "vnf_vim" "test" {
  name = "test"
  kubernetes = {
    endpoint       = %q
    ca_certificate = file(%q)
    bearer_token   = %q
  }
}
`, w.gateway.endpoint, w.gateway.caFile, w.lab.AdminToken)
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
	w.write(w.store.Provider(), w.vim(), pkg(source), w.instance("test", arguments...))
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
	if diff := cmp.Diff(instance.keys("objects"), keys); diff != "" {
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
	for kind, address := range map[store.Kind]string{
		store.KindVIM: "vnf_vim.test", store.KindPackage: "vnf_package.test", store.KindInstance: address,
	} {
		var ids []string
		for _, r := range w.list(kind) {
			ids = append(ids, r.ID)
		}
		if diff := cmp.Diff([]string{w.resource(address).text("id")}, ids); diff != "" {
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
	if status, err := w.server.do(w.Context(), http.MethodGet, "/api/v1/namespaces/"+w.namespace, nil); err != nil || (status == http.StatusOK) != w.foreign {
		w.Errorf("namespace %s: status %d, %v; somebody else's: %t", w.namespace, status, err, w.foreign)
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

// labelled lists the objects of the world's namespace that carry the label of an
// instance, and the namespace itself.
func (w *world) labelled() []entity {
	w.Helper()
	found, err := w.server.labelled(w.Context(), w.namespace)
	if err != nil {
		w.Fatal(err)
	}
	return found
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
