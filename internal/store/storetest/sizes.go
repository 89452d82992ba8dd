package storetest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// random returns a content that cannot be compressed, the same for the same size.
func random(t *testing.T, size int64) []byte {
	t.Helper()
	content := make([]byte, size)
	_, err := rand.NewChaCha8(sha256.Sum256([]byte(fmt.Sprint(size)))).Read(content)
	must(t, err)
	return content
}

// testBlobSizes keeps contents around the sizes that stores divide them into, up to the
// largest. One that is larger is refused, and nothing of it stays.
func testBlobSizes(t *testing.T, b Backend) {
	handles := b.open(t, b.New(t), 2)
	sizes := []int64{0, 1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 1<<20 - 1, 1 << 20, 1<<20 + 1, 3 << 20}
	if b.MaxContent != 0 {
		sizes = append(sizes, b.MaxContent-1, b.MaxContent)
	}
	var kept []string
	for _, size := range sizes {
		if b.MaxContent != 0 && size > b.MaxContent {
			continue
		}
		content := random(t, size)
		must(t, handles[0].PutBlob(t.Context(), store.Digest(content), bytes.NewReader(content)))
		wantBlob(t, handles[1], string(content))
		kept = append(kept, store.Digest(content))
	}
	if b.MaxContent == 0 {
		return
	}
	large := random(t, b.MaxContent+1)
	digest := store.Digest(large)
	err := handles[0].PutBlob(t.Context(), digest, bytes.NewReader(large))
	tooLarge, ok := errors.AsType[*store.TooLargeError](err)
	if !ok || !strings.Contains(tooLarge.What, digest) || tooLarge.Limit != b.MaxContent {
		t.Errorf("PutBlob of %d bytes = %v, want a TooLargeError of the digest and %d bytes", len(large), err, b.MaxContent)
	}
	wantNoBlob(t, handles[0], digest)
	// In another form it is as large.
	if encoded, ok := handles[0].(store.EncodedBlobs); ok {
		digest := digestOf("small")
		must(t, handles[0].PutBlob(t.Context(), digest, reader("small")))
		kept = append(kept, digest)
		err := encoded.PutEncoded(t.Context(), digest, func(w io.Writer) error {
			_, err := io.Copy(w, bytes.NewReader(large))
			return err
		})
		if !errors.As(err, new(*store.TooLargeError)) {
			t.Errorf("PutEncoded of %d bytes = %v, want a TooLargeError", len(large), err)
		}
		wantBlob(t, handles[1], "small")
	}
	if portable, ok := handles[1].(store.Portable); ok {
		wantContents(t, portable, kept...)
	}
}

// shortRecords is how many records the test of many has in a short run: more than one import takes. It must be a multiple of
// the number of owners.
const shortRecords = 600

// testManyRecords fills a store. Reading it must stay possible.
func testManyRecords(t *testing.T, b Backend) {
	count := b.Records
	if count == 0 {
		count = 10_000
	}
	if testing.Short() {
		count = min(count, shortRecords)
	}
	const owners = 10
	s := b.one(t)
	begun := time.Now()
	records := make([]store.Record, count)
	for i := range records {
		created := begun.UTC().Round(0).Add(time.Duration(i))
		records[i] = store.Record{
			Kind: store.KindOperation, ID: fmt.Sprint(i), Key: fmt.Sprint("key ", i), Owner: fmt.Sprint("owner ", i%owners),
			Revision: 1, Data: bytes.Repeat([]byte("data"), 50), CreatedAt: created, UpdatedAt: created,
		}
	}
	if portable, ok := s.(store.Portable); ok {
		for at := 0; at < count; at += 500 {
			must(t, portable.Import(t.Context(), records[at:min(at+500, count)]...))
		}
	} else {
		for i := range records {
			must(t, s.Create(t.Context(), &records[i]))
		}
	}
	written := time.Now()
	all, err := s.List(t.Context(), store.Query{Kind: store.KindOperation})
	must(t, err)
	same(t, "number of records", len(all), count)
	for i := range all {
		// To compare them all at once takes longer than to write them.
		if all[i].ID != records[i].ID || !bytes.Equal(all[i].Data, records[i].Data) {
			t.Fatalf("record %d of the list is %q, want %q", i, all[i].ID, records[i].ID)
		}
	}
	owned, err := s.List(t.Context(), store.Query{Kind: store.KindOperation, Owner: "owner 7"})
	must(t, err)
	same(t, "number of records of an owner", len(owned), count/owners)
	for _, r := range owned {
		same(t, "owner", r.Owner, "owner 7")
	}
	last := records[count-1]
	same(t, "last record", get(t, s, last.Kind, last.ID), &last)
	t.Logf("%d records: written in %s, read in %s", count, written.Sub(begun).Round(time.Millisecond), time.Since(written).Round(time.Millisecond))
}
