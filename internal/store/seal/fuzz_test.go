package seal

import (
	"bytes"
	"context"
	"io"
	"testing"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
)

// FuzzValue opens foreign sealed values: only one that was sealed for this owner with this key opens, and as it was.
func FuzzValue(f *testing.F) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		f.Fatal(err)
	}
	plain := map[string]string{"password": "s3cret", "key": "a\nb"}
	good, err := seal("vim-1", key{identity: id}, plain, nil)
	if err != nil {
		f.Fatal(err)
	}
	to := Destination{"endpoint": "https://a.example"}
	bound, err := seal("vim-1", key{identity: id}, plain, to)
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range [][]byte{good, bound, good[:len(good)/2], []byte("{}"), []byte(`{"v":1,"scheme":"age"}`), bytes.Replace(good, []byte(`"v":1`), []byte(`"v":2`), 1), nil} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := parseValue(text)
		if err != nil {
			return
		}
		opened, err := v.open("vim-1", to, id)
		if err != nil {
			return
		}
		if diff := cmp.Diff(plain, opened); diff != "" {
			t.Errorf("something else was opened: %s", diff)
		}
		if _, err := v.open("vim-2", to, id); err == nil {
			t.Error("it opens for another owner")
		}
		if _, err := v.open("vim-1", Destination{"endpoint": "https://b.example"}, id); err == nil {
			t.Error("it opens for another destination")
		}
	})
}

// FuzzStream opens foreign sealed contents: what is read before an error is the beginning of what was sealed.
func FuzzStream(f *testing.F) {
	keys, err := keysFromText("the test", identityText(f))
	if err != nil {
		f.Fatal(err)
	}
	s := NewStore(noRecords{}, &Keyring{local: keys})
	plain := bytes.Repeat([]byte("0123456789"), 10_000)
	var sealed bytes.Buffer
	w, err := s.sealWriter(f.Context(), &sealed)
	if err != nil {
		f.Fatal(err)
	}
	if _, err := w.Write(plain); err != nil {
		f.Fatal(err)
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	good := sealed.Bytes()
	for _, text := range [][]byte{good, good[:len(good)-1], good[:maxHeader/8], append(good[:len(good):len(good)], 'x'), []byte("{}\n"), nil} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := s.openReader(context.Background(), bytes.NewReader(text))
		if err != nil {
			return
		}
		got, err := io.ReadAll(r)
		if !bytes.HasPrefix(plain, got) || err == nil && len(got) != len(plain) {
			t.Errorf("%d bytes that were never sealed were read", len(got))
		}
	})
}

func identityText(f *testing.F) string {
	f.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		f.Fatal(err)
	}
	return id.String() + "\n"
}
