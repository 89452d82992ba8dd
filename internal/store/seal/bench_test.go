package seal

import (
	"io"
	"testing"

	"filippo.io/age"
)

func benchRing(b *testing.B) *Keyring {
	b.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		b.Fatal(err)
	}
	k, err := New(Source{Key: id.String()})
	if err != nil {
		b.Fatal(err)
	}
	return k
}

func BenchmarkSeal(b *testing.B) {
	k := benchRing(b)
	for b.Loop() {
		if _, err := k.Seal(b.Context(), "vim-1", nil, secrets); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	k := benchRing(b)
	sealed, err := k.Seal(b.Context(), "vim-1", nil, secrets)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := k.Open(b.Context(), "vim-1", sealed); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSealWriter(b *testing.B) {
	s := NewStore(noRecords{}, benchRing(b))
	content := make([]byte, 16<<20)
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		w, err := s.sealWriter(b.Context(), io.Discard)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			b.Fatal(err)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
