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
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// archive is a backup that is as it was written. It is a source.
type archive struct {
	manifest manifest
	path     string
	file     *zip.ReadCloser
	entries  map[string]*zip.File
	records  []store.Record
}

// openArchive opens a backup and reads all of it. Every error is one of usage.
func openArchive(ctx context.Context, path string) (*archive, error) {
	z, err := zip.OpenReader(path)
	if errors.Is(err, zip.ErrFormat) {
		return nil, cli.Usagef("%s is not a backup of a store, or it was cut off: name a file that store backup has written to its end", path)
	}
	if err != nil {
		return nil, cli.Usagef("opening the backup %s: %w", path, err)
	}
	a := &archive{path: path, file: z, entries: map[string]*zip.File{}}
	for _, f := range z.File {
		a.entries[f.Name] = f
	}
	if err := a.read(ctx); err != nil {
		return nil, cli.Usagef("the backup %s cannot be used: %w", path, errors.Join(err, z.Close()))
	}
	return a, nil
}

// read reads everything and compares it with the manifest.
func (a *archive) read(ctx context.Context) error {
	text, err := a.entry(manifestName)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &a.manifest); err != nil {
		return fmt.Errorf("reading its %s: %w", manifestName, err)
	}
	if a.manifest.Format > archiveFormat {
		return fmt.Errorf("it has format %d and was written by release %s, this one reads formats up to %d: use that release", a.manifest.Format, a.manifest.Release, archiveFormat)
	}
	if err := a.readRecords(); err != nil {
		return err
	}
	for digest, want := range a.manifest.ContentsSHA256 {
		sum, err := sumOf(ctx, a, digest)
		if err != nil {
			return err
		}
		if sum != want {
			return fmt.Errorf("its content %s is damaged", digest)
		}
	}
	return nil
}

func (a *archive) readRecords() error {
	text, err := a.entry(recordsName)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	if hex.EncodeToString(sum[:]) != a.manifest.RecordsSHA256 {
		return fmt.Errorf("its %s is damaged", recordsName)
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	for {
		var r archivedRecord
		if err := decoder.Decode(&r); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("reading its record %d: %w", len(a.records)+1, err)
		}
		a.records = append(a.records, store.Record(r))
	}
	if len(a.records) != a.manifest.Records {
		return fmt.Errorf("it has %d records, and had %d when it was written", len(a.records), a.manifest.Records)
	}
	return nil
}

// entry returns an entry as a whole.
func (a *archive) entry(name string) ([]byte, error) {
	f := a.entries[name]
	if f == nil {
		return nil, fmt.Errorf("it has no %s", name)
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("reading its %s: %w", name, err)
	}
	text, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, fmt.Errorf("reading its %s: %w", name, err)
	}
	return text, nil
}

func (a *archive) Name() string { return "backup " + a.path }

func (a *archive) Close() error { return a.file.Close() }

// List returns all records, whatever is asked for.
func (a *archive) List(context.Context, store.Query) ([]store.Record, error) { return a.records, nil }

// Contents returns the digests of the contents.
func (a *archive) Contents(context.Context) ([]string, error) {
	return slices.Sorted(maps.Keys(a.manifest.ContentsSHA256)), nil
}

// OpenEncoded reads a content.
func (a *archive) OpenEncoded(_ context.Context, digest string) (io.ReadCloser, error) {
	digits, err := store.ParseDigest(digest)
	if err != nil {
		return nil, err
	}
	f := a.entries[contentsFolder+digits]
	if f == nil {
		return nil, fmt.Errorf("content %s: %w", digest, store.ErrNotFound)
	}
	return f.Open()
}
