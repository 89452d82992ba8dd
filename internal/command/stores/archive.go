package stores

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// A backup is a zip file: manifest.json, records.jsonl with a record on each line, and the
// contents as they are kept, under contents/ by the hexadecimal digits of their digests. The
// list of its entries is its end, so that a file that is cut off is none.

const (
	archiveFormat = 1

	manifestName   = "manifest.json"
	recordsName    = "records.jsonl"
	contentsFolder = "contents/"
)

// manifest describes a backup.
type manifest struct {
	Format  int       `json:"format"`
	Release string    `json:"release"`
	Store   string    `json:"store"`
	Created time.Time `json:"created"`
	Records int       `json:"records"`
	// RecordsSHA256 is that of records.jsonl, ContentsSHA256 those of the contents as they
	// are kept, by their digests.
	RecordsSHA256  string            `json:"records_sha256"`
	ContentsSHA256 map[string]string `json:"contents_sha256"`
}

// archivedRecord is a line of records.jsonl.
type archivedRecord struct {
	Kind      store.Kind `json:"kind"`
	ID        string     `json:"id"`
	Key       string     `json:"key,omitempty"`
	Owner     string     `json:"owner,omitempty"`
	Revision  int64      `json:"revision"`
	Data      []byte     `json:"data"`
	Sealed    []byte     `json:"sealed,omitempty"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt time.Time  `json:"updated_at"`
}

// writeArchive writes a backup of a store into a new file that its owner alone can read.
func writeArchive(ctx context.Context, from *place, path, release string) (m manifest, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return m, cli.Usagef("%s exists: name another file, or remove it", path)
	}
	if err != nil {
		return m, cli.Usagef("making the backup: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(path))
		}
	}()
	m = manifest{Format: archiveFormat, Release: release, Store: from.name, Created: time.Now().UTC().Round(time.Second), ContentsSHA256: map[string]string{}}
	z := zip.NewWriter(f)
	if err := archiveContents(ctx, from, z, m.ContentsSHA256); err != nil {
		return m, err
	}
	// After the contents, so that no record lacks one.
	records, err := from.List(ctx, store.Query{})
	if err != nil {
		return m, err
	}
	m.Records = len(records)
	if m.RecordsSHA256, err = archiveRecords(z, records); err != nil {
		return m, err
	}
	w, err := z.Create(manifestName)
	if err != nil {
		return m, err
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := errors.Join(encoder.Encode(m), z.Close(), f.Sync()); err != nil {
		return m, fmt.Errorf("writing the backup %s: %w", path, err)
	}
	return m, f.Close()
}

func archiveContents(ctx context.Context, from *place, z *zip.Writer, sums map[string]string) error {
	digests, err := from.Contents(ctx)
	if err != nil {
		return err
	}
	for _, digest := range digests {
		digits, err := store.ParseDigest(digest)
		if err != nil {
			return err
		}
		// Sealed contents cannot be compressed.
		w, err := z.CreateHeader(&zip.FileHeader{Name: contentsFolder + digits, Method: zip.Store})
		if err != nil {
			return err
		}
		r, err := from.OpenEncoded(ctx, digest)
		if err != nil {
			return err
		}
		sum := sha256.New()
		_, err = io.Copy(io.MultiWriter(w, sum), reader{ctx, r})
		if err := errors.Join(err, r.Close()); err != nil {
			return fmt.Errorf("backing up the content %s: %w", digest, err)
		}
		sums[digest] = hex.EncodeToString(sum.Sum(nil))
	}
	return nil
}

func archiveRecords(z *zip.Writer, records []store.Record) (sum string, err error) {
	w, err := z.Create(recordsName)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	encoder := json.NewEncoder(io.MultiWriter(w, hash))
	for i := range records {
		if err := encoder.Encode(archivedRecord(records[i])); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
