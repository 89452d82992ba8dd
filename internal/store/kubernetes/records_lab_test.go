package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestPages lists more records than a page has, in the order of their creation.
func TestPages(t *testing.T) {
	t.Parallel()
	env := labtest.Kubernetes(t)
	place := adminSite(t, env)
	g := newGateway(t, place)
	s := place.handle(t, quick())
	const n = 501
	must(t, each(t.Context(), n, func(ctx context.Context, i int) error {
		return s.Create(ctx, &store.Record{Kind: store.KindOperation, ID: fmt.Sprint(i)})
	}))
	other := g.handle(t, quick())
	list, err := other.List(t.Context(), store.Query{Kind: store.KindOperation})
	must(t, err)
	ids := map[string]bool{}
	for i, r := range list {
		ids[r.ID] = true
		if i > 0 && r.CreatedAt.Before(list[i-1].CreatedAt) {
			t.Errorf("record %d was created before record %d", i, i-1)
		}
	}
	require.Len(t, list, n, "records")
	require.Len(t, ids, n, "records")
	requests := g.take()
	// The format is asked for at the same time.
	slices.Sort(requests)
	same(t, "requests", requests, []string{"GET secrets", "LIST secrets", "LIST secrets"})
}

// TestKeysAreUnique has 20 take the same natural keys on several handles, by creations and by
// updates, while some of them are killed half-way: each key has one record at most, and whoever
// comes later gets what nobody has.
func TestKeysAreUnique(t *testing.T) {
	t.Parallel()
	env := labtest.Kubernetes(t)
	place := adminSite(t, env)
	times := quick()
	times.patience = 200 * time.Millisecond
	handles := []*kubeStore{place.handle(t, times), place.handle(t, times), place.handle(t, times), place.handle(t, times)}
	const workers, keys = 20, 4
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			s := handles[w%len(handles)]
			own := store.Record{Kind: store.KindVIM, ID: fmt.Sprint("own ", w)}
			if err := s.Create(t.Context(), &own); err != nil {
				t.Errorf("worker %d: %v", w, err)
				return
			}
			for k := range keys {
				key := fmt.Sprint("key ", k)
				var err error
				switch w % 4 {
				case 0:
					// This one is killed at some request.
					g := newGateway(t, place)
					dying, openErr := g.open(t.Context(), times)
					if openErr != nil {
						t.Error(openErr)
						return
					}
					ctx, cancel := context.WithCancel(t.Context())
					var count atomic.Int32
					last := int32(2 + rand.N(5)) //nolint:gosec // Any moment.
					g.on(func(*http.Request) bool {
						if count.Add(1) > last {
							cancel()
						}
						return ctx.Err() == nil
					}, nil)
					_ = dying.Create(ctx, &store.Record{Kind: store.KindVIM, ID: fmt.Sprintf("killed %d %d", w, k), Key: key})
					cancel()
					continue
				case 1:
					next := own
					next.Key = key
					if err = s.Update(t.Context(), &next); err == nil {
						own = next
					}
				default:
					err = s.Create(t.Context(), &store.Record{Kind: store.KindVIM, ID: fmt.Sprintf("new %d %d", w, k), Key: key})
				}
				if err != nil && !errors.Is(err, store.ErrExists) {
					t.Errorf("worker %d, key %d: %v", w, k, err)
				}
			}
		})
	}
	wg.Wait()
	s := place.handle(t, times)
	for k := range keys {
		list, err := s.List(t.Context(), store.Query{Kind: store.KindVIM, Key: fmt.Sprint("key ", k)})
		must(t, err)
		require.LessOrEqual(t, len(list), 1, "key %d has", k)
		err = s.Create(t.Context(), &store.Record{Kind: store.KindVIM, ID: fmt.Sprint("last ", k), Key: fmt.Sprint("key ", k)})
		if len(list) == 0 && err != nil || len(list) == 1 && !errors.Is(err, store.ErrExists) {
			t.Errorf("key %d has %d records, and a new one gives %v", k, len(list), err)
		}
	}
}

// TestPendingOfOthers has creations of other machines half-way: they are waited for, and taken
// for those of killed processes in the end. Their makers learn that.
func TestPendingOfOthers(t *testing.T) {
	t.Parallel()
	env := labtest.Kubernetes(t)
	place := adminSite(t, env)
	times := quick()
	times.patience = 500 * time.Millisecond
	s := place.handle(t, times)
	must(t, s.ready(t.Context(), "beginning", true))
	p := s.enter(t.Context())
	begin := func(id string) (*store.Record, *meta) {
		r := sample(id)
		r.Key, r.Revision, r.CreatedAt, r.UpdatedAt = "k", 1, time.Now(), time.Now()
		m := &meta{name: recordName(r.Kind, id), kind: r.Kind, id: id, key: "k", revision: 1, created: r.CreatedAt, pending: true, mark: random(), maker: "pid=1 host=elsewhere"}
		_, err := s.post(t.Context(), p, &r, m)
		must(t, err)
		return &r, m
	}
	r, m := begin("theirs")
	var err error
	m.reservation, _, err = s.reserve(t.Context(), r.Kind, "k", r.ID)
	must(t, err)
	_, err = s.Get(t.Context(), r.Kind, r.ID)
	require.ErrorIs(t, err, store.ErrNotFound, "reading a pending record")
	begun := time.Now()
	mine := sample("mine")
	mine.Key = "k"
	must(t, s.Create(t.Context(), &mine))
	require.GreaterOrEqual(t, time.Since(begun), times.patience, "a pending record was given up after")
	m.pending = false
	if err := s.put(t.Context(), p, r, m); !missing(err, s.secret(m.name)) && !apierrors.IsConflict(err) {
		t.Errorf("the commit of the other one = %v, want it to be refused", err)
	}
	same(t, "record", get(t, s, mine.Kind, mine.ID), &mine)

	// The same id, without a natural key.
	begin("same")
	again := sample("same")
	again.Key = ""
	must(t, s.Create(t.Context(), &again))
	same(t, "record", get(t, s, again.Kind, again.ID), &again)
}

// TestKeyTakenDuringUpdate stops an update that gives a record another natural key after it has
// reserved that: whoever takes it meanwhile has it alone.
func TestKeyTakenDuringUpdate(t *testing.T) {
	t.Parallel()
	env := labtest.Kubernetes(t)
	place := adminSite(t, env)
	g := newGateway(t, place)
	slow, other := g.handle(t, quick()), place.handle(t, quick())
	r := sample("slow")
	must(t, slow.Create(t.Context(), &r))
	stopped, goOn := g.stopAt("PUT", recordName(r.Kind, r.ID))
	updated := make(chan error, 1)
	go func() {
		next := r
		next.Key = "k"
		updated <- slow.Update(t.Context(), &next)
	}()
	<-stopped
	mine := sample("mine")
	mine.Key = "k"
	must(t, other.Create(t.Context(), &mine))
	goOn()
	require.ErrorIs(t, <-updated, store.ErrExists, "the update")
	list, err := other.List(t.Context(), store.Query{Kind: r.Kind})
	must(t, err)
	same(t, "records", list, []store.Record{r, mine})
}

// TestForeignObjects shares the namespace with others.
func TestForeignObjects(t *testing.T) {
	t.Parallel()
	env := labtest.Kubernetes(t)
	place := adminSite(t, env)
	path := "/api/v1/namespaces/" + place.Namespace + "/secrets"
	ask(t, env, http.MethodPost, path, `{"metadata":{"name":"theirs","labels":{"app":"x"}},"stringData":{"a":"b"}}`, nil)
	ask(t, env, http.MethodPost, path, `{"metadata":{"name":"`+recordName(store.KindVIM, "taken")+`"},"stringData":{"a":"b"}}`, nil)
	s := place.handle(t, quick())
	r := sample("a")
	must(t, s.Create(t.Context(), &r))
	list, err := s.List(t.Context(), store.Query{})
	must(t, err)
	require.Len(t, list, 1, "records")
	_, err = s.Get(t.Context(), store.KindVIM, "taken")
	require.NotErrorIs(t, err, store.ErrNotFound, "reading a Secret of others")
	require.ErrorContains(t, err, "not an object of the store", "reading a Secret of others")
	require.ErrorContains(t, s.Create(t.Context(), &store.Record{Kind: store.KindVIM, ID: "taken"}), "not an object of the store", "creating a record where a Secret of others")
	twice := sample("b")
	twice.Key = r.Key
	require.ErrorIs(t, s.Create(t.Context(), &twice), store.ErrExists, "creating a record with the natural key of another one")
	must(t, s.Delete(t.Context(), r.Kind, r.ID))
	left := env.Kubectl(t, "-n", place.Namespace, "get", "secrets", "-o", "name")
	for _, name := range []string{"theirs", "vnf-store", recordName(store.KindVIM, "taken")} {
		require.Contains(t, left, "secret/"+name+"\n", "the Secret")
	}
	require.Equal(t, 3, strings.Count(left, "\n"), "left")
}

// TestNewerFormat refuses what a newer release wrote, whether the handle was open already or not.
func TestNewerFormat(t *testing.T) {
	t.Parallel()
	env := labtest.Kubernetes(t)
	place := adminSite(t, env)
	s := place.handle(t, quick())
	r := sample("a")
	must(t, s.Create(t.Context(), &r))
	for _, name := range []string{recordName(r.Kind, r.ID), formatName} {
		env.Kubectl(t, "-n", place.Namespace, "annotate", "--overwrite", "secret", name, annotationFormat+"=2", annotationRelease+"=9.9.9")
	}
	later := place.handle(t, quick())
	_, getErr := later.Get(t.Context(), r.Kind, r.ID)
	for what, err := range map[string]error{
		"reading":                        getErr,
		"a write by a handle that knows": s.Update(t.Context(), &r),
		"a write":                        later.Update(t.Context(), &r),
	} {
		require.ErrorIs(t, err, errNewerFormat, what)
		require.ErrorContains(t, err, "9.9.9", what)
	}
}

// TestRequests counts what each operation costs.
func TestRequests(t *testing.T) {
	t.Parallel()
	env := labtest.Kubernetes(t)
	g := newGateway(t, adminSite(t, env))
	times := quick()
	times.lease, times.renew = time.Minute, 20*time.Second
	s, fresh := g.handle(t, times), g.handle(t, times)
	var r, plain store.Record
	var l store.Lease
	ctx := t.Context()
	small, big := strings.Repeat("x", 1000), strings.Repeat("x", 2*chunkSize)
	put := func(content string) error {
		return s.PutBlob(ctx, store.Digest([]byte(content)), strings.NewReader(content))
	}
	open := func(content string) error {
		r, err := s.OpenBlob(ctx, store.Digest([]byte(content)))
		if err == nil {
			err = r.Close()
		}
		return err
	}
	for _, step := range []struct {
		what string
		do   func() error
		want string
	}{
		{"the first read of a store that is empty", func() error { _, err := s.List(ctx, store.Query{}); return err }, "GET namespaces, GET secrets, LIST secrets"},
		{"the first write of all", func() error {
			plain = store.Record{Kind: store.KindDryRun, ID: "a"}
			return s.Create(ctx, &plain)
		}, "POST secrets, POST secrets"},
		{"create", func() error { return s.Create(ctx, &store.Record{Kind: store.KindDryRun, ID: "b"}) }, "POST secrets"},
		{"create with a natural key", func() error { r = sample("a"); return s.Create(ctx, &r) }, "POST secrets, POST secrets, PUT secrets"},
		{"the first read of a handle", func() error { _, err := fresh.Get(ctx, r.Kind, r.ID); return err }, "GET secrets, GET secrets"},
		{"get", func() error { _, err := s.Get(ctx, r.Kind, r.ID); return err }, "GET secrets"},
		{"list", func() error { _, err := s.List(ctx, store.Query{Kind: r.Kind, Owner: r.Owner}); return err }, "LIST secrets"},
		{"update", func() error { return s.Update(ctx, &r) }, "PUT secrets"},
		{"update of the natural key", func() error { r.Key = "another"; return s.Update(ctx, &r) }, "POST secrets, PUT secrets, DELETE secrets"},
		{"acquire for the first time", func() (err error) { l, err = s.Acquire(ctx, "a", "x"); return err }, "GET leases, POST leases"},
		{"release", func() error { return l.Release(ctx) }, "PUT leases"},
		{"acquire", func() (err error) {
			l, err = s.Acquire(ctx, "a", "x")
			return err
		}, "PUT leases"},
		{"release for the second time", func() error { return l.Release(t.Context()) }, "PUT leases"},
		{"acquire what another handle had", func() (err error) {
			if l, err = fresh.Acquire(t.Context(), "a", "x"); err != nil {
				return err
			}
			return l.Release(t.Context())
		}, "GET leases, PUT leases, PUT leases"},
		{"acquire what another handle had last", func() (err error) {
			l, err = s.Acquire(ctx, "a", "x")
			ctx = store.Under(t.Context(), l.Fence())
			return err
		}, "PUT leases, GET leases, PUT leases"},
		{"the first update under a lease", func() error { return s.Update(ctx, &r) }, "PATCH secrets, PUT secrets"},
		{"update under a lease", func() error { return s.Update(ctx, &r) }, "PUT secrets"},
		{"create under a lease", func() error { return s.Create(ctx, &store.Record{Kind: store.KindOperation, ID: "a"}) }, "POST secrets, PUT secrets"},
		{"delete under a lease", func() error { return s.Delete(ctx, store.KindOperation, "a") }, "DELETE secrets"},
		{"delete with a natural key", func() error { return s.Delete(ctx, r.Kind, r.ID) }, "DELETE secrets, DELETE secrets"},
		{"put the first content", func() error { return put(small) }, "GET secrets, LIST secrets, LIST secrets, POST secrets"},
		{"put a content that is there", func() error { return put(small) }, "GET secrets"},
		{"put a content of two chunks", func() error { return put(big) }, "GET secrets, POST secrets, POST secrets, POST secrets"},
		{"open a content", func() error { return open(small) }, "GET secrets"},
		{"open a content of two chunks", func() error { return open(big) }, "GET secrets, GET secrets, GET secrets"},
		{"delete a content of two chunks", func() error { return s.DeleteBlob(t.Context(), store.Digest([]byte(big))) }, "GET secrets, DELETE secrets, DELETE secrets, DELETE secrets"},
	} {
		g.take()
		must(t, step.do())
		requests := g.take()
		if strings.HasPrefix(step.what, "the first read") || strings.HasPrefix(step.what, "put the first") {
			// The format is asked for, and what was left is looked for, at the same time.
			slices.Sort(requests)
		}
		require.Equal(t, step.want, strings.Join(requests, ", "), step.what)
	}
}

// TestOrphans finds what killed processes left the day before, and nothing else, at the next
// content that is stored.
func TestOrphans(t *testing.T) {
	t.Parallel()
	env := labtest.Kubernetes(t)
	place := adminSite(t, env)
	s := place.handle(t, quick())
	whole := strings.Repeat("whole ", chunkSize/4)
	must(t, s.PutBlob(t.Context(), store.Digest([]byte(whole)), strings.NewReader(whole)))
	u := s.newUpload(t.Context(), store.Digest([]byte("x")), MaxContent)
	_, err := u.Write(make([]byte, 3*chunkSize))
	must(t, err)
	u.wg.Wait()
	r := sample("pending")
	_, err = s.post(t.Context(), s.enter(t.Context()), &r, &meta{name: recordName(r.Kind, r.ID), kind: r.Kind, id: r.ID, revision: 1, pending: true, mark: random()})
	must(t, err)
	count := func() int {
		return strings.Count(env.Kubectl(t, "-n", place.Namespace, "get", "secrets", "-o", "name"), "\n")
	}
	// The format, the content of three objects, two chunks and the pending record.
	same(t, "Secrets", count(), 7)
	for _, step := range []struct {
		age  time.Duration
		left int
	}{{time.Hour, 8}, {25 * time.Hour, 6}} {
		later := place.handle(t, quick())
		later.clock = func() time.Time { return time.Now().Add(step.age) }
		content := step.age.String()
		must(t, later.PutBlob(t.Context(), store.Digest([]byte(content)), strings.NewReader(content)))
		same(t, "Secrets after "+content, count(), step.left)
	}
	got, err := s.OpenBlob(t.Context(), store.Digest([]byte(whole)))
	must(t, err)
	text, err := io.ReadAll(got)
	must(t, err)
	require.Equal(t, whole, string(text), "the content is another one")
}

// TestContentBounds stores contents of no bytes up to the bound, and refuses one byte more
// without a trace.
func TestContentBounds(t *testing.T) {
	t.Parallel()
	env := labtest.Kubernetes(t)
	place := adminSite(t, env)
	s := place.handle(t, quick())
	const bound = 3*chunkSize + chunkSize/2
	s.maxContent = bound
	whole := make([]byte, bound+1)
	_, err := rand.NewChaCha8([32]byte{1}).Read(whole)
	must(t, err)
	for _, size := range []int{0, 1, chunkSize, chunkSize + 1, 2 * chunkSize, bound, bound + 1} {
		content := string(whole[:size])
		digest := store.Digest(whole[:size])
		err := s.PutBlob(t.Context(), digest, strings.NewReader(content))
		if size > bound {
			var large *store.TooLargeError
			if !errors.As(err, &large) || large.Limit != bound {
				t.Errorf("a content of %d bytes = %v, want a TooLargeError", size, err)
			}
			continue
		}
		must(t, err)
		r, err := s.OpenBlob(t.Context(), digest)
		must(t, err)
		got := new(strings.Builder)
		if _, err := io.Copy(got, r); err != nil || got.String() != content {
			t.Errorf("a content of %d bytes reads as %d bytes, %v", size, got.Len(), err)
		}
		must(t, s.DeleteBlob(t.Context(), digest))
	}
	require.Equal(t, "secret/vnf-store\n", env.Kubectl(t, "-n", place.Namespace, "get", "secrets", "-o", "name"), "left")
}
