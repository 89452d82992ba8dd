package seal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"filippo.io/age"

	"github.com/nfv-iac/terraform-provider-vnf/internal/durable"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// maxKeyFile is far more than any key file has, and keeps a wrong path from being
// read into memory.
const maxKeyFile = 1 << 20

// errNoKey says that there is no key file, or no key in the store, and that none was to be made.
var errNoKey = errors.New("no key")

func readKeyFile(path string, create bool) ([]*age.X25519Identity, error) {
	// To open a pipe waits for whoever writes into it.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("the key file %s is not a file but %s: set encryption.key_file to a file, or give the key in %s", path, store.FileType(info.Mode()), EnvKey)
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && create {
		if err := createKeyFile(path); err != nil {
			return nil, fmt.Errorf("making the key file %s: %w: let this user write its directory, set encryption.key_file to another place, or give the key in %s", path, err, EnvKey)
		}
		f, err = os.Open(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoKey
	}
	if err != nil {
		return nil, fmt.Errorf("reading the key file %s: %w", path, err)
	}
	defer f.Close() //nolint:errcheck // A file that was only read.

	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading the key file %s: %w", path, err)
	}
	// Windows has no such mode bits.
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("the key file %s is open to others (mode %#o): chmod 600 it, and make a new key if somebody may have read it", path, mode)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFile))
	if err != nil {
		return nil, fmt.Errorf("reading the key file %s: %w", path, err)
	}
	identities, err := parseIdentities(string(text))
	if err != nil {
		return nil, fmt.Errorf("the key file %s: %w", path, err)
	}
	return identities, nil
}

// createKeyFile makes a key file with a new identity. When several processes do it
// at once, the first one's file stays and the others find it: a hard link is made
// only where nothing is, and the file is complete before.
func createKeyFile(path string) (err error) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := durable.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// CreateTemp makes files of mode 0600.
	f, err := os.CreateTemp(dir, ".key-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	_, err = io.WriteString(f, keyText(id))
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// Also that of another process: what is sealed with the key must not outlive it.
	return durable.SyncDir(dir)
}

// keyText is a key file with one identity, as age-keygen writes it.
func keyText(id *age.X25519Identity) string {
	return fmt.Sprintf("# created: %s\n# public key: %s\n%s\n", time.Now().UTC().Format(time.RFC3339), id.Recipient(), id)
}
