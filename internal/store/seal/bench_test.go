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
		if _, err := k.Seal("vim-1", secrets); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	k := benchRing(b)
	sealed, err := k.Seal("vim-1", secrets)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := k.Open("vim-1", sealed); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSealWriter(b *testing.B) {
	k := benchRing(b)
	content := make([]byte, 16<<20)
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		w, err := k.SealWriter(io.Discard)
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
