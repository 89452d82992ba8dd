package seal

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
)

var place = Destination{"kubernetes.endpoint": "https://a.example", "kubernetes.ca_certificate": "PEM"}

func sealFor(t *testing.T, k *Keyring, owner string, to Destination) []byte {
	t.Helper()
	sealed, err := k.SealFor(t.Context(), owner, to, nil, map[string]string{"token": planted})
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

const planted = "planted-token-of-the-test"

func TestDestinationOf(t *testing.T) {
	got, err := DestinationOf(map[string]any{
		"text": "x", "empty": "", "yes": true, "no": false, "none": nil, "zero": 0, "port": 22,
		"ssh": map[string]any{"host_keys": []string{"a", "b"}, "jump": map[string]any{"address": "c"}},
	})
	want := Destination{"text": "x", "yes": "true", "port": "22", "ssh.host_keys.0": "a", "ssh.host_keys.1": "b", "ssh.jump.address": "c"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
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
		"of an earlier release":    {mustSeal(t, k, "vim-1", map[string]string{"token": planted}), place, nil},
		"empty, where nothing was": {sealFor(t, k, "vim-1", Destination{}), place, []string{"kubernetes.ca_certificate", "kubernetes.endpoint"}},
	} {
		t.Run(name, func(t *testing.T) {
			plain, err := k.OpenFor(t.Context(), "vim-1", test.to, test.sealed)
			if edited, ok := errors.AsType[*EditedError](err); ok {
				if diff := cmp.Diff(test.fields, edited.Fields); diff != "" {
					t.Error(diff)
				}
				return
			}
			if err != nil || plain["token"] != planted || test.fields != nil {
				t.Errorf("%v, %v", plain, err)
			}
		})
	}
	t.Run("passed off as that of an earlier release", func(t *testing.T) {
		old := bytes.Replace(bound, []byte(`"v":2`), []byte(`"v":1`), 1)
		_, err := k.OpenFor(t.Context(), "vim-1", Destination{}, old)
		wantError(t, err, "changed since it was sealed")
	})
	t.Run("of another owner", func(t *testing.T) {
		_, err := k.OpenFor(t.Context(), "vim-2", place, bound)
		wantError(t, err, "changed since it was sealed, or sealed for another owner")
	})
}

// A record of an earlier release is sealed with its destination when it is opened, and a
// rotation keeps that.
func TestRecordGetsItsDestination(t *testing.T) {
	before, after := newIdentity(t), newIdentity(t)
	inner, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), "test")
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close() //nolint:errcheck // a test
	destination := func(data []byte) (Destination, error) {
		var d Destination
		err := json.Unmarshal(data, &d)
		return d, err
	}
	data, err := json.Marshal(place)
	if err != nil {
		t.Fatal(err)
	}
	rec := &store.Record{Kind: store.KindVIM, ID: "vim-1", Data: data, Sealed: mustSeal(t, ring(t, before), "vim-1", map[string]string{"token": planted})}
	if err := inner.Create(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	for _, k := range []*Keyring{ring(t, before), ring(t, before), ring(t, after, before)} {
		rec, err := inner.Get(t.Context(), store.KindVIM, "vim-1")
		if err != nil {
			t.Fatal(err)
		}
		if plain, err := NewStore(inner, k).OpenRecord(t.Context(), rec, "vim-1", destination); err != nil || plain["token"] != planted {
			t.Fatalf("%v, %v", plain, err)
		}
	}
	rec, err = inner.Get(t.Context(), store.KindVIM, "vim-1")
	if err != nil {
		t.Fatal(err)
	}
	// Two writes: with the destination, and with the other key.
	if rec.Revision != 3 {
		t.Errorf("revision %d", rec.Revision)
	}
	rec.Data = []byte(`{"kubernetes.endpoint":"https://b.example"}`)
	_, err = NewStore(inner, ring(t, after)).OpenRecord(t.Context(), rec, "vim-1", destination)
	if _, ok := errors.AsType[*EditedError](err); !ok {
		t.Errorf("edited: %v", err)
	}
}
