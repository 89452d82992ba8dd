package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// BenchmarkOpen opens an existing store and reads one record, as every start of the
// provider does.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "store.db")
	createVIM(b, openAt(b, path, defaultTiming()), "a")
	for b.Loop() {
		s, err := Open(b.Context(), path, "test")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Get(b.Context(), store.KindVIM, "a"); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpenNew makes a store with its first record.
func BenchmarkOpenNew(b *testing.B) {
	dir := b.TempDir()
	i := 0
	for b.Loop() {
		i++
		s, err := Open(b.Context(), filepath.Join(dir, fmt.Sprint(i), "store.db"), "test")
		if err != nil {
			b.Fatal(err)
		}
		createVIM(b, s, "a")
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func benchRecord(i int) store.Record {
	return store.Record{
		Kind: store.KindOperation, ID: fmt.Sprintf("operation-%d", i), Owner: "instance-1",
		Data: fmt.Appendf(nil, `{"type": "SCALE", "state": "COMPLETED", "progress": %0512d}`, i), Sealed: make([]byte, 256),
	}
}

func BenchmarkCreate(b *testing.B) {
	s := tempStore(b, defaultTiming())
	i := 0
	for b.Loop() {
		i++
		r := benchRecord(i)
		if err := s.Create(b.Context(), &r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	s := tempStore(b, defaultTiming())
	r := benchRecord(0)
	if err := s.Create(b.Context(), &r); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := s.Update(b.Context(), &r); err != nil {
			b.Fatal(err)
		}
	}
}

func filled(b *testing.B) *sqliteStore {
	b.Helper()
	s := tempStore(b, defaultTiming())
	for i := range 1000 {
		r := benchRecord(i)
		if err := s.Create(b.Context(), &r); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

func BenchmarkGet(b *testing.B) {
	s := filled(b)
	for b.Loop() {
		if _, err := s.Get(b.Context(), store.KindOperation, "operation-500"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkList1000(b *testing.B) {
	s := filled(b)
	for b.Loop() {
		list, err := s.List(b.Context(), store.Query{Kind: store.KindOperation, Owner: "instance-1"})
		if err != nil || len(list) != 1000 {
			b.Fatal(len(list), err)
		}
	}
}

func BenchmarkAcquireRelease(b *testing.B) {
	s := tempStore(b, defaultTiming())
	for b.Loop() {
		l, err := s.Acquire(b.Context(), "a", process.Name())
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Release(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
