package stores

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/command/connect"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
)

// answer is what a command has said.
type answer struct {
	code        int
	out, errors string
}

func run(t *testing.T, args ...string) answer {
	t.Helper()
	var out, problems bytes.Buffer
	root := &cobra.Command{Use: "terraform-provider-vnf", Args: cli.NoArguments}
	root.AddCommand(Command("v1.2.3"))
	code := cli.Run(t.Context(), root, args, &out, &problems)
	return answer{code: code, out: out.String(), errors: problems.String()}
}

// want checks the exit code of a command, and that it says all of that.
func (a answer) want(t *testing.T, code int, parts ...string) {
	t.Helper()
	require.Equal(t, code, a.code, a.out+a.errors)
	for _, part := range parts {
		require.Contains(t, a.out+a.errors, part, "the command does not say")
	}
	require.NotContains(t, a.out+a.errors, "secret-pw", "the command repeats a password")
}

// without takes the variables away that this machine may have.
func without(t *testing.T) {
	t.Helper()
	for _, name := range []string{envConnStr, connect.EnvKubeconfig, "PGHOST", "PGSERVICE", "PGPASSWORD", seal.EnvKey} {
		t.Setenv(name, "")
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
}

func TestCommandLine(t *testing.T) {
	without(t)
	there, empty := newStore(t), filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for name, test := range map[string]struct {
		args []string
		code int
		want []string
	}{
		"store":             {[]string{"store"}, 0, []string{"migrate", "check", "backup", "restore", "PG_CONN_STR"}},
		"help of migrate":   {[]string{"store", "migrate", "--help"}, 0, []string{"--from", "export PG_CONN_STR=", "postgres:SCHEMA"}},
		"no command, below": {[]string{"store", "move"}, cli.ExitUsage, []string{`no command or argument "move"`}},
		"no flag":           {[]string{"store", "check", "--key", "x"}, cli.ExitUsage, []string{"unknown flag: --key", "store check --help"}},
		"two stores":        {[]string{"store", "check", "a", "b"}, cli.ExitUsage, []string{"takes one store"}},
		"no from":           {[]string{"store", "migrate", "--to", "x"}, cli.ExitUsage, []string{"both --from STORE and --to STORE"}},
		"no file":           {[]string{"store", "backup", there}, cli.ExitUsage, []string{"--file FILE"}},
		"no file to read":   {[]string{"store", "restore", there}, cli.ExitUsage, []string{"--file FILE"}},
		"no such store":     {[]string{"store", "check", "/no/such/store.db"}, cli.ExitUsage, []string{"no local store at /no/such/store.db"}},
		"an empty name":     {[]string{"store", "check", ""}, cli.ExitUsage, []string{"argument 1 of", "store check is empty"}},
		"an empty file":     {[]string{"store", "check", empty}, cli.ExitUsage, []string{"no local store at " + empty}},
		"no default store":  {[]string{"store", "check"}, cli.ExitUsage, []string{"no local store at ", "terraform-provider-vnf/store.db"}},
		"a folder":          {[]string{"store", "check", filepath.Dir(there)}, cli.ExitUsage, []string{"is not a file"}},
		"no server":         {[]string{"store", "check", "postgres"}, cli.ExitUsage, []string{"set PG_CONN_STR"}},
		"connection string": {[]string{"store", "check", "postgres://u:secret-pw@host/d"}, cli.ExitUsage, []string{"no argument", "set PG_CONN_STR"}},
		"no schema":         {[]string{"store", "check", "postgres:"}, cli.ExitUsage, []string{"postgres: names no schema", "postgres:SCHEMA", "schema vnf"}},
		"no namespace":      {[]string{"store", "check", "kubernetes"}, cli.ExitUsage, []string{"kubernetes:NAMESPACE"}},
		"another kind":      {[]string{"store", "check", "consul://u:secret-pw@host"}, cli.ExitUsage, []string{`"consul://..."`, "postgres:SCHEMA"}},
		"no key file":       {[]string{"store", "check", "--key-file", "/no/key", there}, cli.ExitUsage, []string{"/no/key"}},
		"no such backup":    {[]string{"store", "restore", there, "--file", "/no/backup"}, cli.ExitUsage, []string{"/no/backup"}},
		"no folder of it":   {[]string{"store", "backup", there, "--file", "/no/folder/backup"}, cli.ExitUsage, []string{"/no/folder/backup"}},
		"the same store":    {[]string{"store", "migrate", "--from", there, "--to", there}, cli.ExitUsage, []string{"both stores are the same"}},
		"from nowhere":      {[]string{"store", "migrate", "--from", "/no/store.db", "--to", there}, cli.ExitUsage, []string{"no local store"}},
	} {
		t.Run(name, func(t *testing.T) { run(t, test.args...).want(t, test.code, test.want...) })
	}
	t.Run("connection string that cannot be read", func(t *testing.T) {
		t.Setenv(envConnStr, "postgres://u:secret-pw%@host/d")
		run(t, "store", "check", "postgres").want(t, cli.ExitUsage, "write a URL")
	})
}

// newStore makes a store with records, sealed values and contents, and its key, and returns
// its path.
func newStore(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	s := openSealed(t, path)
	for i := range 5 {
		id := fmt.Sprint("vim-", i)
		sealed, err := s.Seal(t.Context(), id, map[string]string{"password": "secret-pw"})
		require.NoError(t, err)
		r := store.Record{Kind: store.KindVIM, ID: id, Key: "key of " + id, Data: []byte(`{"id":"` + id + `"}`), Sealed: sealed}
		for range i + 1 {
			if r.Revision == 0 {
				err = s.Create(t.Context(), &r)
			} else {
				err = s.Update(t.Context(), &r)
			}
			require.NoError(t, err)
		}
	}
	for i := range 3 {
		content := strings.Repeat(fmt.Sprint("content ", i), 10_000*i)
		require.NoError(t, s.PutBlob(t.Context(), store.Digest([]byte(content)), strings.NewReader(content)))
	}
	require.NoError(t, s.Close())
	return path
}

// openSealed opens a local store with the key beside it.
func openSealed(t *testing.T, path string) *seal.Store {
	t.Helper()
	keys, err := seal.New(seal.Source{KeyFile: filepath.Join(filepath.Dir(path), "key.txt")})
	require.NoError(t, err)
	return seal.NewStore(openLocalStore(t, path), keys)
}

func openLocalStore(t *testing.T, path string) store.Portable {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, "test")
	require.NoError(t, err)
	p, ok := s.(store.Portable)
	require.True(t, ok, "a local store cannot be copied")
	t.Cleanup(func() {
		require.NoError(t, p.Close())
	})
	return p
}

// content is all that a store holds.
func content(t *testing.T, s store.Portable) (records []store.Record, sums map[string]string) {
	t.Helper()
	records, err := s.List(t.Context(), store.Query{})
	require.NoError(t, err)
	digests, err := s.Contents(t.Context())
	require.NoError(t, err)
	sums = map[string]string{}
	for _, digest := range digests {
		if sums[digest], err = sumOf(t.Context(), &place{Portable: s}, digest); err != nil {
			t.Fatal(err)
		}
	}
	return records, sums
}

func wantAlike(t *testing.T, a, b store.Portable) {
	t.Helper()
	wantRecords, wantSums := content(t, a)
	gotRecords, gotSums := content(t, b)
	if diff := cmp.Diff(wantRecords, gotRecords); diff != "" {
		t.Errorf("records differ (-want +got):\n%s", diff)
	}
	require.Equal(t, wantSums, gotSums, "contents differ")
}

func TestMigrate(t *testing.T) {
	without(t)
	from, to := newStore(t), filepath.Join(t.TempDir(), "store.db")
	migrate := func() answer { return run(t, "store", "migrate", "--from", from, "--to", to) }
	migrate().want(t, 0, "5 records and 3 contents", "copied and verified", "provider argument store")
	wantAlike(t, openLocalStore(t, from), openLocalStore(t, to))
	migrate().want(t, 0, "0 records and 0 contents", "5 records and 3 contents were there already")

	// The target alone goes on: another record is no matter, another revision is.
	source, target := openLocalStore(t, from), openLocalStore(t, to)
	require.NoError(t, target.Create(t.Context(), &store.Record{Kind: store.KindVIM, ID: "new"}))
	migrate().want(t, 0, "5 records and 3 contents were there already")
	r, err := target.Get(t.Context(), store.KindVIM, "vim-3")
	if err == nil {
		err = errors.Join(target.Update(t.Context(), r), source.Create(t.Context(), &store.Record{Kind: store.KindVIM, ID: "later"}))
	}
	require.NoError(t, err)
	migrate().want(t, cli.ExitFailure, `vim "vim-3" (revision 4 here, 5 there)`, "nothing was written", "choose an empty target")
	_, err = target.Get(t.Context(), store.KindVIM, "later")
	require.ErrorIs(t, err, store.ErrNotFound, "Get of a record of a refused migration")
}

func TestMigrateRefuses(t *testing.T) {
	without(t)
	from, to := newStore(t), filepath.Join(t.TempDir(), "store.db")
	source := openLocalStore(t, from)
	l, err := source.Acquire(t.Context(), "core5g", "somebody elsewhere")
	require.NoError(t, err)
	run(t, "store", "migrate", "--from", from, "--to", to).want(t, cli.ExitFailure, "a run works on", `"core5g" is held by somebody elsewhere since`, "wait until it has ended")
	run(t, "store", "backup", from, "--file", filepath.Join(t.TempDir(), "backup")).want(t, 0, "A run was at work", `"core5g"`)
	require.NoError(t, l.Release(t.Context()))
	_, err = os.Stat(to)
	require.Error(t, err, "a refused migration has made the target")

	empty := filepath.Join(t.TempDir(), "empty.db")
	s := openLocalStore(t, empty)
	require.NoError(t, errors.Join(s.Create(t.Context(), &store.Record{Kind: store.KindVIM, ID: "gone"}), s.Delete(t.Context(), store.KindVIM, "gone")))
	run(t, "store", "migrate", "--from", empty, "--to", to).want(t, cli.ExitUsage, "no records")
	t.Run("of what is sealed otherwise", func(t *testing.T) {
		other := openSealed(t, to)
		require.NoError(t, other.PutBlob(t.Context(), store.Digest(nil), strings.NewReader("")))
		run(t, "store", "migrate", "--from", from, "--to", to).want(t, cli.ExitFailure, "other contents", store.Digest(nil), "nothing was written")
	})
	t.Run("of the natural key of another one", func(t *testing.T) {
		to := filepath.Join(t.TempDir(), "store.db")
		require.NoError(t, openLocalStore(t, to).Create(t.Context(), &store.Record{Kind: store.KindVIM, ID: "other", Key: "key of vim-2"}))
		run(t, "store", "migrate", "--from", from, "--to", to).want(t, cli.ExitFailure, "natural key", "key of vim-2")
	})
}

// interrupted is a store that fails at the content of a number.
type interrupted struct {
	store.Portable
	left int
}

var errInterrupted = errors.New("interrupted by the test")

func (i *interrupted) PutEncoded(ctx context.Context, digest string, encode func(w io.Writer) error) error {
	if i.left == 0 {
		return errInterrupted
	}
	i.left--
	return i.Portable.PutEncoded(ctx, digest, encode)
}

func (i *interrupted) Import(ctx context.Context, records ...store.Record) error {
	if i.left == 0 {
		return errInterrupted
	}
	i.left--
	return i.Portable.Import(ctx, records...)
}

// TestMigrateInterrupted stops a copy before each of its writes, and goes on.
func TestMigrateInterrupted(t *testing.T) {
	without(t)
	from := openLocalStore(t, newStore(t))
	to := openLocalStore(t, filepath.Join(t.TempDir(), "store.db"))
	source := &place{Portable: from, name: "source"}
	for left := range 5 {
		_, err := copyStore(t.Context(), source, &place{Portable: &interrupted{Portable: to, left: min(left, 1)}, name: "target"})
		if left < 4 && !errors.Is(err, errInterrupted) || left == 4 && err != nil {
			t.Fatalf("copy %d: %v", left, err)
		}
	}
	wantAlike(t, from, to)
}

// small is a store that keeps small contents alone.
type small struct{ store.Portable }

func (small) MaxContent() int64 { return 100_000 }

func (s small) PutEncoded(ctx context.Context, digest string, encode func(w io.Writer) error) error {
	var content bytes.Buffer
	if err := encode(&content); err != nil {
		return err
	}
	if content.Len() > 100_000 {
		return &store.TooLargeError{What: "content " + digest, Limit: 100_000}
	}
	return s.Portable.PutEncoded(ctx, digest, func(w io.Writer) error {
		_, err := content.WriteTo(w)
		return err
	})
}

func TestMigrateLeavesLargeContents(t *testing.T) {
	without(t)
	from := openLocalStore(t, newStore(t))
	to := openLocalStore(t, filepath.Join(t.TempDir(), "store.db"))
	done, err := copyStore(t.Context(), &place{Portable: from, name: "source"}, &place{Portable: small{to}, name: "target"})
	if err != nil || done.contents != 2 || len(done.left) != 1 || !strings.Contains(done.left[0], "no record names it") || done.records != 5 {
		t.Errorf("copied %+v, %v, want 5 records, 2 contents and 1 that is left out", done, err)
	}
}
