package seal_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"filippo.io/age"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/vaulttest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// mortal is a store whose process is killed.
type mortal struct {
	store.Store
	store.EncodedBlobs
	budget *vaulttest.Budget
}

func (s mortal) Create(ctx context.Context, r *store.Record) error {
	if err := s.budget.Spend(); err != nil {
		return err
	}
	return s.Store.Create(ctx, r)
}

func (s mortal) Update(ctx context.Context, r *store.Record) error {
	if err := s.budget.Spend(); err != nil {
		return err
	}
	return s.Store.Update(ctx, r)
}

// testEnv is a store with a vault, which processes come to one after another.
type testEnv struct {
	*testing.T
	inner store.Store
	vault *vaulttest.Vault
	file  string
}

func newTestEnv(t *testing.T) *testEnv {
	t.Helper()
	dir := t.TempDir()
	inner, err := sqlite.Open(t.Context(), filepath.Join(dir, "store.db"), "test")
	require.NoError(t, err)
	t.Cleanup(func() { _ = inner.Close() })
	return &testEnv{T: t, inner: inner, vault: vaulttest.New(), file: filepath.Join(dir, "key.txt")}
}

// process is what one process has. A nil budget lets it live.
func (s *testEnv) process(src seal.Source, b *vaulttest.Budget) (*seal.Store, *seal.Keyring) {
	s.Helper()
	s.vault.Budget = b
	src.DefaultKeyFile = s.file
	keys, err := seal.New(src)
	if err != nil {
		s.Fatal(err)
	}
	encoded, ok := s.inner.(store.EncodedBlobs)
	if !ok {
		s.Fatal("the store keeps no encoded contents")
	}
	return seal.NewStore(mortal{Store: s.inner, EncodedBlobs: encoded, budget: b}, keys), keys
}

func (s *testEnv) withVault(rotation string) seal.Source {
	return seal.Source{Vault: s.vault, Rotation: rotation}
}

const planted = "planted-in-a-vim"

// register stores a VIM with sealed credentials.
func (s *testEnv) register(src seal.Source) {
	s.Helper()
	_, keys := s.process(src, nil)
	sealed, err := keys.Seal(s.Context(), "vim-1", nil, map[string]string{"token": planted})
	if err != nil {
		s.Fatal(err)
	}
	if err := s.inner.Create(s.Context(), &store.Record{Kind: store.KindVIM, ID: "vim-1", Data: []byte("{}"), Sealed: sealed}); err != nil {
		s.Fatal(err)
	}
}

func (s *testEnv) open(in *seal.Store) (string, error) {
	s.Helper()
	rec, err := s.inner.Get(s.Context(), store.KindVIM, "vim-1")
	if err != nil {
		s.Fatal(err)
	}
	plain, err := in.OpenRecord(s.Context(), rec, "vim-1", nil)
	return plain["token"], err
}

// use does what a plan does: it opens the credentials, reads a content and asks for the
// key of digests.
func (s *testEnv) use(src seal.Source, b *vaulttest.Budget) (digestKey string, err error) {
	s.Helper()
	in, _ := s.process(src, b)
	got, err := s.open(in)
	if err != nil {
		return "", err
	}
	if got != planted {
		s.Fatalf("the token is %q", got)
	}
	key, err := in.DigestKey(s.Context())
	if err != nil {
		return "", err
	}
	if err := in.PutBlob(s.Context(), store.Digest([]byte("content")), strings.NewReader("content")); err != nil {
		return "", err
	}
	r, err := in.OpenBlob(s.Context(), store.Digest([]byte("content")))
	if err != nil {
		return "", err
	}
	defer r.Close() //nolint:errcheck // A content that was only read.
	if text, err := io.ReadAll(r); err != nil || string(text) != "content" {
		s.Fatalf("the content is %q, %v", text, err)
	}
	return string(key), nil
}

func (s *testEnv) must(src seal.Source) string {
	s.Helper()
	key, err := s.use(src, nil)
	if err != nil {
		s.Fatal(err)
	}
	return key
}

func TestVaultHasAKeyForEachOwner(t *testing.T) {
	s := newTestEnv(t)
	s.register(s.withVault(""))
	s.must(s.withVault(""))
	found := s.vault.Names()
	require.Len(t, found, 2, "secrets")
	require.Contains(t, found, "terraform-provider-vnf/vim-1", "secrets")
	for id, text := range s.vault.Texts {
		require.Contains(t, text.Reveal(), "\nAGE-SECRET-KEY-1", "secret %s holds no identity", id)
	}

	// Each is read once in a process, however often it is used.
	s.vault.Reads = map[string]int{}
	in, keys := s.process(s.withVault(""), nil)
	for range 3 {
		if _, err := s.open(in); err != nil {
			t.Fatal(err)
		}
		r, err := in.OpenBlob(t.Context(), store.Digest([]byte("content")))
		require.NoError(t, err)
		_ = r.Close()
	}
	for id, n := range s.vault.Reads {
		require.Equal(t, 1, n, "secret %s was read", id)
	}

	require.NoError(t, keys.Forget(t.Context(), "vim-1"))
	require.Len(t, s.vault.Names(), 1, "secrets after the VIM is gone")
	_, err := s.use(s.withVault(""), nil)
	if _, lost := errors.AsType[*seal.LostKeyError](err); !lost || !strings.Contains(err.Error(), "apply again: secrets are then taken from the configuration") {
		t.Errorf("opened without its key: %v", err)
	}
}

// TestVaultRotationIsKilled kills a rotation after each of its steps: nothing is lost,
// and the next process goes on until one key of each is left.
// TestVaultTriggerIsRemoved: without the trigger the present keys stay.
func TestVaultTriggerIsRemoved(t *testing.T) {
	s := newTestEnv(t)
	s.register(s.withVault("one"))
	digests := s.must(s.withVault("one"))
	keys := slices.Sorted(keysOf(s.vault.Texts))
	require.Equal(t, digests, s.must(s.withVault("")), "digests have another key")
	require.Equal(t, keys, slices.Sorted(keysOf(s.vault.Texts)), "the vault has the keys")
	if s.must(s.withVault("one")); !slices.Equal(slices.Sorted(keysOf(s.vault.Texts)), keys) {
		t.Error("the same trigger again rotates")
	}
}

func TestVaultRotationIsKilled(t *testing.T) {
	killed := 0
	for n := range 100 {
		s := newTestEnv(t)
		s.register(s.withVault("one"))
		digests := s.must(s.withVault("one"))
		before := s.vault.Names()
		old := slices.Collect(keysOf(s.vault.Texts))
		_, err := s.use(s.withVault("two"), vaulttest.Steps(n))
		if err != nil && !errors.Is(err, vaulttest.ErrKilled) {
			t.Fatalf("after %d steps: %v", n, err)
		}
		done := err == nil
		if !done {
			killed++
			if _, err := s.use(s.withVault("two"), vaulttest.Steps(n/2)); err != nil && !errors.Is(err, vaulttest.ErrKilled) {
				t.Fatalf("after %d and %d steps: %v", n, n/2, err)
			}
		}
		require.Equal(t, digests, s.must(s.withVault("two")), "after %d steps digests have another key", n)
		require.Equal(t, before, s.vault.Names(), "after %d steps the vault has", n)
		for _, id := range old {
			if _, there := s.vault.Texts[id]; there {
				t.Errorf("after %d steps the former key %s is there", n, id)
			}
		}
		if done {
			require.GreaterOrEqual(t, killed, 10, "killed at")
			return
		}
	}
	t.Fatal("a rotation does not end")
}

func keysOf(m map[string]vnfm.Secret) func(func(string) bool) {
	return func(yield func(string) bool) {
		for id := range m {
			if !yield(id) {
				return
			}
		}
	}
}

// TestVaultFirstUseIsKilled kills the process that first needs the key of the contents:
// one secret is there in the end.
func TestVaultFirstUseIsKilled(t *testing.T) {
	for n := range 100 {
		s := newTestEnv(t)
		s.register(s.withVault(""))
		_, err := s.use(s.withVault(""), vaulttest.Steps(n))
		s.must(s.withVault(""))
		require.Len(t, s.vault.Names(), 2, "after %d steps the vault has", n)
		if err == nil {
			return
		}
	}
	t.Fatal("a first use does not end")
}

// TestMovingToAVaultAndBack needs one run with both in each direction.
func TestMovingToAVaultAndBack(t *testing.T) {
	s := newTestEnv(t)
	s.register(seal.Source{})
	digests := s.must(seal.Source{})
	id, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	foreign := func(src seal.Source) seal.Source {
		src.Key = id.String()
		return src
	}
	_, err = s.use(foreign(s.withVault("")), nil)
	if _, wrong := errors.AsType[*seal.WrongKeyError](err); !wrong {
		t.Fatalf("opened without the key file: %v", err)
	}
	require.Empty(t, s.vault.Names(), "made for nothing")
	require.Equal(t, digests, s.must(s.withVault("")), "digests have another key in the vault")
	require.Equal(t, digests, s.must(foreign(s.withVault(""))), "digests have another key without the key file")
	require.Len(t, s.vault.Names(), 2, "secrets")

	_, err = s.use(seal.Source{}, nil)
	require.ErrorContains(t, err, "set encryption.barbican", "opened without the vault")
	require.ErrorContains(t, err, "decrypt_only", "opened without the vault")
	back := seal.Source{Vault: s.vault, VaultOpensOnly: true}
	require.Equal(t, digests, s.must(back), "digests have another key on the way back")
	require.Empty(t, s.vault.Names(), "left in the vault")
	require.Equal(t, digests, s.must(seal.Source{}), "digests have another key with the key file")
}

// TestVaultOutage shows that nothing is changed while the vault is away.
func TestVaultOutage(t *testing.T) {
	s := newTestEnv(t)
	s.register(s.withVault("one"))
	s.must(s.withVault("one"))
	before := s.vault.Names()
	s.vault.Outage = errors.New("the vault is away")
	for name, src := range map[string]seal.Source{"as it was": s.withVault("one"), "rotated": s.withVault("two"), "on the way back": {Vault: s.vault, VaultOpensOnly: true}} {
		if _, err := s.use(src, nil); !errors.Is(err, s.vault.Outage) || strings.Contains(err.Error(), planted) {
			t.Errorf("%s: %v", name, err)
		}
		in, keys := s.process(src, nil)
		require.ErrorIs(t, keys.Forget(t.Context(), "vim-1"), s.vault.Outage, "%s: Forget", name)
		require.ErrorIs(t, in.PutBlob(t.Context(), store.Digest([]byte("content")), strings.NewReader("content")), s.vault.Outage, "%s: PutBlob", name)
	}
	s.vault.Outage = nil
	s.must(s.withVault("one"))
	require.Equal(t, before, s.vault.Names(), "the vault has")
}

// TestContentsKeyIsLost starts again when the user asks for another key, and not before.
func TestContentsKeyIsLost(t *testing.T) {
	s := newTestEnv(t)
	s.register(seal.Source{})
	s.must(s.withVault("one"))
	for id, name := range s.vault.NameOf {
		if name != "terraform-provider-vnf/vim-1" {
			delete(s.vault.NameOf, id)
			delete(s.vault.Texts, id)
		}
	}
	_, err := s.use(s.withVault("one"), nil)
	if _, lost := errors.AsType[*seal.LostKeyError](err); !lost || !strings.Contains(err.Error(), "change encryption.barbican.rotation_trigger") {
		t.Errorf("used without its key: %v", err)
	}
	s.must(s.withVault("two"))
	s.must(s.withVault("two"))
}

// TestVaultAtOnce lets processes rotate at once.
func TestVaultAtOnce(t *testing.T) {
	s := newTestEnv(t)
	s.register(s.withVault("one"))
	s.must(s.withVault("one"))
	var all sync.WaitGroup
	stores := make([]*seal.Store, 6)
	for i := range stores {
		stores[i], _ = s.process(s.withVault("two"), nil)
	}
	for _, in := range stores {
		all.Go(func() {
			if got, err := s.open(in); err != nil || got != planted {
				t.Errorf("%q, %v", got, err)
			}
			if _, err := in.DigestKey(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s.must(s.withVault("two"))
	// Keys of the slower processes are removed by the next rotation at the latest.
	s.must(s.withVault("three"))
	require.Len(t, s.vault.Names(), 2, "the vault has")
}
