package kubernetes

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// says checks that an error names the store and has parts of what the server said and of what
// to do.
func says(t *testing.T, err error, place site, parts ...string) {
	t.Helper()
	if err == nil {
		t.Error("no error")
		return
	}
	t.Log(err)
	for _, part := range append(parts, `store in namespace "`+place.Namespace+`" of `+place.Endpoint) {
		require.ErrorContains(t, err, part, "does not say")
	}
}

func TestNamespaceMissing(t *testing.T) {
	t.Parallel()
	env := labtest.Kubernetes(t)
	place := adminSite(t, env)
	place.Namespace += "-missing"
	s := place.handle(t, quick())
	_, err := s.Get(t.Context(), store.KindVIM, "a")
	says(t, err, place, "not found", "kubectl create namespace "+place.Namespace)
	require.NotErrorIs(t, err, store.ErrNotFound, "a missing namespace is taken for a missing record")
	says(t, s.Create(t.Context(), &store.Record{Kind: store.KindVIM, ID: "a"}), place, "not found", "kubectl create namespace "+place.Namespace)
	_, err = s.Acquire(t.Context(), "a", "x")
	says(t, err, place, "not found", "kubectl create namespace "+place.Namespace)
}

func TestNamespaceTerminating(t *testing.T) {
	t.Parallel()
	env := labtest.Kubernetes(t)
	place := adminSite(t, env)
	path := "/api/v1/namespaces/" + place.Namespace
	// Something that stays keeps the namespace in this state.
	ask(t, env, http.MethodPost, path+"/configmaps", `{"metadata":{"name":"stays","finalizers":["example.org/test"]}}`, nil)
	ask(t, env, http.MethodDelete, path, "", nil)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if _, err := env.TryKubectl(ctx, "-n", place.Namespace, "patch", "configmap", "stays", "--type=merge", `-p={"metadata":{"finalizers":null}}`); err != nil {
			t.Error(err)
		}
	})
	s := place.handle(t, quick())
	says(t, s.Create(t.Context(), &store.Record{Kind: store.KindVIM, ID: "a"}), place, "being terminated", "create the namespace")
}

func TestRightsMissing(t *testing.T) {
	t.Parallel()
	env := labtest.Kubernetes(t)
	place := roleSite(t, env, "vnf-planner")
	admin := place
	admin.Token = env.AdminToken
	r := sample("a")
	must(t, admin.handle(t, quick()).Create(t.Context(), &r))
	s := place.handle(t, quick())
	got, err := s.Get(t.Context(), r.Kind, r.ID)
	must(t, err)
	same(t, "record", got, &r)
	list, err := s.List(t.Context(), store.Query{Kind: r.Kind})
	must(t, err)
	same(t, "list", list, []store.Record{r})
	refused := s.Update(t.Context(), &r)
	says(t, refused, place, "cannot update", "needs the verb update on secrets", "vnf-planner", "role.yaml")
	_, err = s.Acquire(t.Context(), "a", "x")
	says(t, err, place, "cannot create", "needs the verb create on leases", "role.yaml")
	for _, err := range []error{refused, err, s.Delete(t.Context(), r.Kind, r.ID), s.Create(t.Context(), &store.Record{Kind: store.KindVIM, ID: "b"})} {
		require.ErrorIs(t, err, store.ErrReadOnly)
	}
	place.Token = "none"
	_, err = place.handle(t, quick()).Get(t.Context(), r.Kind, r.ID)
	says(t, err, place, "the cluster of the store", "Unauthorized", "wrong or have expired", "store.kubernetes")
	require.NotErrorIs(t, err, store.ErrReadOnly)
	require.NotContains(t, err.Error(), "vnf_vim", "speaks of a VIM")
}

func TestQuota(t *testing.T) {
	t.Parallel()
	env := labtest.Kubernetes(t)
	place := adminSite(t, env)
	// The format, the record and its key, and a pending one. What exists before a quota is counted some time after it.
	env.Quota(t, place.Namespace, "few", "count/secrets", 4)
	s := place.handle(t, quick())
	r := sample("a")
	must(t, s.Create(t.Context(), &r))
	r.Data = []byte("an update needs nothing")
	must(t, s.Update(t.Context(), &r))
	next := sample("b")
	for range 2 {
		says(t, s.Create(t.Context(), &next), place, "exceeded quota", "raise the ResourceQuota")
	}
	big := strings.Repeat("x", 3*chunkSize)
	says(t, s.PutBlob(t.Context(), store.Digest([]byte(big)), strings.NewReader(big)), place, "exceeded quota")
	env.Kubectl(t, "-n", place.Namespace, "delete", "quota", "few")
	labtest.Eventually(t, time.Minute, "the end of the quota", func() error {
		next = sample("b")
		return s.Create(t.Context(), &next)
	})
	same(t, "record", get(t, s, r.Kind, "a"), &r)
	list, err := s.List(t.Context(), store.Query{})
	must(t, err)
	same(t, "records", list, []store.Record{r, next})
}
