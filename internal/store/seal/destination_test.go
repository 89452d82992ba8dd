package seal

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"filippo.io/age"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
)

var place = Destination{"kubernetes.endpoint": "https://a.example", "kubernetes.ca_certificate": "PEM"}

func sealFor(t *testing.T, k *Keyring, owner string, to Destination) []byte {
	t.Helper()
	sealed, err := k.SealFor(t.Context(), owner, to, nil, map[string]string{"token": planted})
	require.NoError(t, err)
	return sealed
}

const planted = "planted-token-of-the-test"

func TestDestinationOf(t *testing.T) {
	got, err := DestinationOf(map[string]any{
		"text": "x", "empty": "", "yes": true, "no": false, "none": nil, "zero": 0, "port": 22,
		"ssh": map[string]any{"host_keys": []string{"a", "b"}, "jump": map[string]any{"address": "c"}},
	})
	want := Destination{"text": "x", "yes": "true", "port": "22", "ssh.host_keys.0": "a", "ssh.host_keys.1": "b", "ssh.jump.address": "c"}
	require.Equal(t, want, got)
	require.NoError(t, err)
}

// Values open with the destination that they were sealed for, and with no other.
func TestDestinationIsSealed(t *testing.T) {
	k := ring(t, newIdentity(t))
	bound := sealFor(t, k, "vim-1", place)
	for name, test := range map[string]struct {
		sealed []byte
		to     Destination
		fields []string
	}{
		"as sealed":        {bound, place, nil},
		"another endpoint": {bound, Destination{"kubernetes.endpoint": "https://b.example", "kubernetes.ca_certificate": "PEM"}, []string{"kubernetes.endpoint"}},
		"without a CA":     {bound, Destination{"kubernetes.endpoint": "https://a.example"}, []string{"kubernetes.ca_certificate"}},
		"with a proxy": {bound, Destination{"kubernetes.endpoint": "https://a.example", "kubernetes.ca_certificate": "PEM", "kubernetes.proxy_url": "http://p.example"},
			[]string{"kubernetes.proxy_url"}},
		"none":                     {bound, nil, []string{"kubernetes.ca_certificate", "kubernetes.endpoint"}},
		"one of an earlier value":  {sealFor(t, k, "vim-1", Destination{"kubernetes.endpoint": "https://old.example"}), place, []string{"kubernetes.ca_certificate", "kubernetes.endpoint"}},
		"sealed for none":          {mustSeal(t, k, "vim-1", map[string]string{"token": planted}), place, []string{"kubernetes.ca_certificate", "kubernetes.endpoint"}},
		"empty, where nothing was": {sealFor(t, k, "vim-1", Destination{}), place, []string{"kubernetes.ca_certificate", "kubernetes.endpoint"}},
	} {
		t.Run(name, func(t *testing.T) {
			plain, err := k.OpenFor(t.Context(), "vim-1", test.to, test.sealed)
			if edited, ok := errors.AsType[*EditedError](err); ok {
				require.Equal(t, test.fields, edited.Fields)
				return
			}
			if err != nil || plain["token"] != planted || test.fields != nil {
				t.Errorf("%v, %v", plain, err)
			}
		})
	}
	t.Run("of another owner", func(t *testing.T) {
		_, err := k.OpenFor(t.Context(), "vim-2", place, bound)
		wantError(t, err, "changed since it was sealed, or sealed for another owner")
	})
}

// A rotation seals a record for the same destination.
func TestRotationKeepsTheDestination(t *testing.T) {
	before, after := newIdentity(t), newIdentity(t)
	inner, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), "test")
	require.NoError(t, err)
	defer inner.Close() //nolint:errcheck // a test
	destination := func(rec *store.Record) (Destination, error) {
		var d Destination
		err := json.Unmarshal(rec.Data, &d)
		return d, err
	}
	data, err := json.Marshal(place)
	require.NoError(t, err)
	rec := &store.Record{Kind: store.KindVIM, ID: "vim-1", Data: data, Sealed: sealFor(t, ring(t, before), "vim-1", place)}
	require.NoError(t, inner.Create(t.Context(), rec))
	for _, k := range []*Keyring{ring(t, before), ring(t, before), ring(t, after, before)} {
		rec, err := inner.Get(t.Context(), store.KindVIM, "vim-1")
		require.NoError(t, err)
		if plain, err := NewStore(inner, k).OpenRecord(t.Context(), rec, "vim-1", destination); err != nil || plain["token"] != planted {
			t.Fatalf("%v, %v", plain, err)
		}
	}
	rec, err = inner.Get(t.Context(), store.KindVIM, "vim-1")
	require.NoError(t, err)
	// One write, with the other key.
	if rec.Revision != 2 {
		t.Errorf("revision %d", rec.Revision)
	}
	rec.Data = []byte(`{"kubernetes.endpoint":"https://b.example"}`)
	_, err = NewStore(inner, ring(t, after)).OpenRecord(t.Context(), rec, "vim-1", destination)
	if _, ok := errors.AsType[*EditedError](err); !ok {
		t.Errorf("edited: %v", err)
	}
}

// forged is what who has the public key alone can seal: with an identity of their own where the
// form needs one, for the recipient whose public key the store has.
func forged(t *testing.T, id *age.X25519Identity) []byte {
	t.Helper()
	own := newIdentity(t)
	sealed, err := seal("vim-1", key{identity: own}, map[string]string{"token": planted}, place)
	require.NoError(t, err)
	v, err := parseValue(sealed)
	require.NoError(t, err)
	dataKey, err := unwrap(v.Key, own)
	require.NoError(t, err)
	v.Recipient = id.Recipient().String()
	v.Key, err = wrap(dataKey, id)
	require.NoError(t, err)
	sealed, err = json.Marshal(v)
	require.NoError(t, err)
	return sealed
}

// Only who has a key of the configuration can make a value that is proven.
func TestProof(t *testing.T) {
	id, other := newIdentity(t), newIdentity(t)
	given := func(ids ...*age.X25519Identity) *Keyring { return ring(t, ids...) }
	beside := func(k *Keyring) *Keyring {
		k.local.given = false
		return k
	}
	// The key of another place is in the record of the contents, which anybody can make.
	contents := &contentKeys{identities: []*age.X25519Identity{other}}
	vault := func(k *Keyring) *Keyring {
		k.vaultSeals = true
		return k
	}
	for name, test := range map[string]struct {
		keys   *Keyring
		sealed []byte
		proven bool
	}{
		"own key":                         {given(id), sealFor(t, given(id), "vim-1", place), true},
		"second key":                      {given(other, id), sealFor(t, given(id), "vim-1", place), true},
		"default key":                     {beside(given(id)), sealFor(t, given(id), "vim-1", place), true},
		"key of the contents":             {given(id), sealFor(t, given(other), "vim-1", place), false},
		"default key beside a vault":      {vault(beside(given(id))), sealFor(t, given(id), "vim-1", place), false},
		"given key beside a vault":        {vault(given(id)), sealFor(t, given(id), "vim-1", place), true},
		"nothing":                         {given(id), nil, false},
		"passed off as made with the key": {given(id), forged(t, id), true},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewStore(noRecords{}, test.keys)
			s.contents = contents
			proven, err := s.IsProven(t.Context(), test.sealed)
			require.NoError(t, err, "proven")
			require.Equal(t, test.proven, proven, "proven")
		})
	}
	// A value that claims to be proven and is not does not open.
	_, err := given(id).OpenFor(t.Context(), "vim-1", place, forged(t, id))
	wantError(t, err, "changed since it was sealed")
}
