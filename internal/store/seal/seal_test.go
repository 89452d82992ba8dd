package seal

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"filippo.io/age"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

func newIdentity(t *testing.T) *age.X25519Identity {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	return id
}

// ring makes a keyring of identities; the first seals.
func ring(t *testing.T, ids ...*age.X25519Identity) *Keyring {
	t.Helper()
	var lines []string
	for _, id := range ids {
		lines = append(lines, id.String())
	}
	k, err := New(Source{Key: strings.Join(lines, "\n")})
	require.NoError(t, err)
	return k
}

func mustSeal(t *testing.T, k *Keyring, owner string, plain map[string]string) []byte {
	t.Helper()
	sealed, err := k.Seal(t.Context(), owner, nil, plain)
	require.NoError(t, err)
	return sealed
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	require.Error(t, err, "no error, want one that says %q", parts)
	for _, part := range parts {
		require.ErrorContains(t, err, part, "error does not say")
	}
}

// noRecords is a store that has no records.
type noRecords struct{ store.Store }

func (noRecords) Get(context.Context, store.Kind, string) (*store.Record, error) {
	return nil, store.ErrNotFound
}

var secrets = map[string]string{"token": "planted-token-4711", "password": "planted \"päss\"\n", "empty": ""}

func TestSealOpen(t *testing.T) {
	k := ring(t, newIdentity(t))
	for name, plain := range map[string]map[string]string{"secrets": secrets, "empty": {}, "nil": nil, "big": {"x": strings.Repeat("y", 1<<20)}} {
		got, err := k.Open(t.Context(), "vim-1", mustSeal(t, k, "vim-1", plain))
		require.NoError(t, err, name)
		require.Equal(t, plain, got, name)
	}
	first, second := mustSeal(t, k, "vim-1", secrets), mustSeal(t, k, "vim-1", secrets)
	require.False(t, bytes.Equal(first, second), "the same secrets are sealed the same twice")
	if text := string(first); strings.Contains(text, "planted") || strings.Contains(text, "token") || strings.Contains(text, "vim-1") {
		t.Errorf("sealed value holds plain text: %s", text)
	}
}

// TestForm holds the form of stored values: later releases must open it.
func TestForm(t *testing.T) {
	id := newIdentity(t)
	var form map[string]any
	require.NoError(t, json.Unmarshal(mustSeal(t, ring(t, id), "vim-1", secrets), &form))
	for _, field := range []string{"key", "data"} {
		text, ok := form[field].(string)
		if _, err := base64.StdEncoding.DecodeString(text); !ok || err != nil || text == "" {
			t.Errorf("%s = %v, want base64", field, form[field])
		}
		delete(form, field)
	}
	want := map[string]any{"v": 1.0, "scheme": "age", "recipient": id.Recipient().String()}
	require.Equal(t, want, form, "form")
}

// TestOpenForm opens a stored value: later releases must open it too.
func TestOpenForm(t *testing.T) {
	key, err := os.ReadFile(filepath.Join("testdata", "v1.key"))
	require.NoError(t, err)
	sealed, err := os.ReadFile(filepath.Join("testdata", "v1.json"))
	require.NoError(t, err)
	k, err := New(Source{Key: string(key)})
	require.NoError(t, err)
	got, err := k.OpenFor(t.Context(), "vim-1", Destination{"kubernetes.endpoint": "https://a.example"}, sealed)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"token": "t", "password": "p"}, got)
	digestKey, err := NewStore(noRecords{}, k).DigestKey(t.Context())
	require.NoError(t, err)
	require.Equal(t, "j85HRC/fdgJK0bEB84+b7kDKhKuN7QGMukZVNLHirCU=", base64.StdEncoding.EncodeToString(digestKey), "digest key")
}

func TestOpenRefuses(t *testing.T) {
	id, other := newIdentity(t), newIdentity(t)
	k := ring(t, id)
	sealed := mustSeal(t, k, "vim-1", secrets)
	change := func(field string, f func(any) any) []byte {
		var form map[string]any
		require.NoError(t, json.Unmarshal(sealed, &form))
		form[field] = f(form[field])
		changed, err := json.Marshal(form)
		require.NoError(t, err)
		return changed
	}
	flip := func(v any) any {
		text, ok := v.(string)
		require.True(t, ok, "%v is no text", v)
		raw, err := base64.StdEncoding.DecodeString(text)
		require.NoError(t, err)
		raw[len(raw)-1] ^= 1
		return base64.StdEncoding.EncodeToString(raw)
	}
	for name, test := range map[string]struct {
		owner  string
		sealed []byte
		want   []string
	}{
		"another owner":   {"vim-2", sealed, []string{"vim-2", "another owner"}},
		"no owner":        {"", sealed, []string{"another owner"}},
		"changed data":    {"vim-1", change("data", flip), []string{"vim-1", "changed since it was sealed"}},
		"changed key":     {"vim-1", change("key", flip), []string{"vim-1", "changed since it was sealed"}},
		"no data":         {"vim-1", change("data", func(any) any { return "" }), []string{"changed since it was sealed"}},
		"other recipient": {"vim-1", change("recipient", func(any) any { return other.Recipient().String() }), []string{other.Recipient().String()}},
		"newer version":   {"vim-1", change("v", func(any) any { return 2 }), []string{"version 2", "release of the provider"}},
		"no version":      {"vim-1", change("v", func(any) any { return 0 }), []string{"version 0", "release of the provider"}},
		"other scheme":    {"vim-1", change("scheme", func(any) any { return "vault" }), []string{`"vault"`, "age and barbican"}},
		"in a vault":      {"vim-1", change("scheme", func(any) any { return schemeBarbican }), []string{"set encryption.barbican", "decrypt_only"}},
		"empty":           {"vim-1", nil, []string{"not a sealed value"}},
		"no JSON":         {"vim-1", []byte("x"), []string{"vim-1", "changed since it was sealed"}},
	} {
		t.Run(name, func(t *testing.T) {
			plain, err := k.Open(t.Context(), test.owner, test.sealed)
			wantError(t, err, test.want...)
			require.Nil(t, plain, "plain")
			require.NotContains(t, err.Error(), "planted", "the error holds a secret")
		})
	}
}

// TestDamagedByte damages each byte of a sealed value: the user reads the same of all that are not the name of a field or its form.
func TestDamagedByte(t *testing.T) {
	k := ring(t, newIdentity(t))
	sealed := mustSeal(t, k, "vim-1", secrets)
	for _, field := range []string{"key", "data"} {
		from := bytes.Index(sealed, []byte(`"`+field+`":"`))
		to := from + len(field) + 4 + bytes.IndexByte(sealed[from+len(field)+4:], '"')
		for i := from; i <= to; i++ {
			damaged := bytes.Clone(sealed)
			damaged[i] ^= 1
			opened, err := k.Open(t.Context(), "vim-1", damaged)
			if err == nil {
				// The last character of base64 has bits that stand for nothing.
				require.Equal(t, secrets, opened, "byte %d of %s", i-from, field)
				continue
			}
			wantError(t, err, "vim-1", "changed since it was sealed")
		}
	}
}

func TestWrongKey(t *testing.T) {
	then, now := newIdentity(t), newIdentity(t)
	sealed := mustSeal(t, ring(t, then), "vim-1", secrets)
	_, err := ring(t, now).Open(t.Context(), "vim-1", sealed)
	wrong, ok := errors.AsType[*WrongKeyError](err)
	require.True(t, ok, "Open")
	require.Equal(t, &WrongKeyError{Sealed: then.Recipient().String(), AtHand: []string{now.Recipient().String()}, Origin: wrong.Origin, Given: true}, wrong)
	wantError(t, err, "vim-1", then.Recipient().String(), now.Recipient().String(), "encryption.key", "raise the *_wo_version of the secrets")
	require.NotContains(t, err.Error(), now.String(), "the error holds the key")

	// Opening makes no key file: it could not open anything.
	file := filepath.Join(t.TempDir(), "key.txt")
	lost, err := New(Source{KeyFile: file})
	require.NoError(t, err)
	_, err = lost.Open(t.Context(), "vim-1", sealed)
	wantError(t, err, then.Recipient().String(), file, "does not exist", "restore it")
	_, err = os.Stat(file)
	require.ErrorIs(t, err, os.ErrNotExist, "a key file was made")
}

func TestRotation(t *testing.T) {
	before, after := newIdentity(t), newIdentity(t)
	old := mustSeal(t, ring(t, before), "vim-1", secrets)
	both := ring(t, after, before)
	if _, err := both.Open(t.Context(), "vim-1", old); err != nil {
		t.Errorf("the second key does not open: %v", err)
	}
	if _, err := ring(t, after).Open(t.Context(), "vim-1", mustSeal(t, both, "vim-1", secrets)); err != nil {
		t.Errorf("the first key does not seal: %v", err)
	}
}

func TestDigestKey(t *testing.T) {
	a, b := newIdentity(t), newIdentity(t)
	key := func(k *Keyring) string {
		got, err := NewStore(noRecords{}, k).DigestKey(t.Context())
		require.NoError(t, err, "DigestKey has")
		require.Len(t, got, 32, "DigestKey has")
		return string(got)
	}
	require.Equal(t, key(ring(t, a, b)), key(ring(t, a)), "the digest key depends on a later identity")
	require.NotEqual(t, key(ring(t, b)), key(ring(t, a)), "the digest key does not depend on the identity")
}

func TestSource(t *testing.T) {
	file, env, arg := newIdentity(t), newIdentity(t), newIdentity(t)
	path := filepath.Join(t.TempDir(), "key.txt")
	require.NoError(t, os.WriteFile(path, []byte("# a comment\n\n"+file.String()+"\r\n"), 0o600))
	for name, test := range map[string]struct {
		src  Source
		env  string
		want *age.X25519Identity
		err  string
	}{
		"file":                         {src: Source{KeyFile: path}, want: file},
		"file before the environment":  {src: Source{KeyFile: path}, env: env.String(), want: file},
		"text before the environment":  {src: Source{Key: arg.String()}, env: env.String(), want: arg},
		"environment before a default": {src: Source{DefaultKeyFile: path}, env: env.String(), want: env},
		"default":                      {src: Source{DefaultKeyFile: path}, want: file},
		"file and text":                {src: Source{KeyFile: path, Key: arg.String()}, err: "given twice"},
		"nothing":                      {err: EnvKey},
		"no key":                       {src: Source{Key: "hunter2"}, err: "line 1 is not an age identity"},
		"public key":                   {src: Source{Key: arg.Recipient().String()}, err: "line 1 is not an age identity"},
		"comments only":                {src: Source{Key: "# nothing\n"}, err: "no age identity"},
		"no key in the environment":    {env: arg.String() + "\nhunter2", err: EnvKey + ": line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(EnvKey, test.env)
			k, err := New(test.src)
			if test.err != "" {
				wantError(t, err, test.err)
				require.NotContains(t, err.Error(), "hunter2", "the error holds the key")
				return
			}
			require.NoError(t, err)
			var v sealedValue
			require.NoError(t, json.Unmarshal(mustSeal(t, k, "a", secrets), &v))
			require.Equal(t, test.want.Recipient().String(), v.Recipient, "sealed for")
		})
	}
}

func TestKeyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "key.txt")
	k, err := New(Source{DefaultKeyFile: path})
	require.NoError(t, err)
	_, err = os.Stat(filepath.Dir(path))
	require.ErrorIs(t, err, os.ErrNotExist, "something was made before the first use")
	sealed := mustSeal(t, k, "vim-1", secrets)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("key file: %v, %v, want the mode 0600", info, err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err, "beside the key file")
	require.Len(t, entries, 1, "beside the key file")
	again, err := New(Source{KeyFile: path})
	require.NoError(t, err)
	_, err = again.Open(t.Context(), "vim-1", sealed)
	require.NoError(t, err)
}

func TestKeyFileModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no mode bits")
	}
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: false, 0o604: false, 0o660: false, 0o644: false, 0o602: false} {
		path := filepath.Join(t.TempDir(), "key.txt")
		require.NoError(t, os.WriteFile(path, []byte(newIdentity(t).String()), 0o600))
		require.NoError(t, os.Chmod(path, mode))
		k, err := New(Source{KeyFile: path})
		require.NoError(t, err)
		_, err = k.Seal(t.Context(), "a", nil, secrets)
		if ok && err != nil {
			t.Errorf("mode %#o: %v", mode, err)
		}
		if !ok {
			wantError(t, err, path, "open to others", "chmod 600")
		}
	}
}

// TestKeyFileRace lets processes and goroutines make one key file at once: all of
// them must end up with the same key.
func TestKeyFileRace(t *testing.T) {
	if path := os.Getenv("SEAL_TEST_KEY_FILE"); path != "" {
		k, err := New(Source{KeyFile: path})
		require.NoError(t, err)
		_, err = io.ReadFull(os.Stdin, make([]byte, 1))
		require.NoError(t, err)
		sealed := mustSeal(t, k, "a", secrets)
		require.NoError(t, os.WriteFile(os.Getenv("SEAL_TEST_OUT"), sealed, 0o600))
		return
	}
	for range 5 {
		dir := t.TempDir()
		path := filepath.Join(dir, "state", "key.txt")
		type process struct {
			cmd *exec.Cmd
			in  io.WriteCloser
			out string
		}
		processes := make([]process, 4)
		for i := range processes {
			p := process{out: filepath.Join(dir, string(rune('a'+i)))}
			p.cmd = exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKeyFileRace$") //nolint:gosec // The test binary itself.
			p.cmd.Env = append(os.Environ(), "SEAL_TEST_KEY_FILE="+path, "SEAL_TEST_OUT="+p.out)
			p.cmd.Stderr = os.Stderr
			var err error
			if p.in, err = p.cmd.StdinPipe(); err != nil {
				t.Fatal(err)
			}
			require.NoError(t, p.cmd.Start())
			processes[i] = p
		}
		for _, p := range processes {
			if _, err := p.in.Write([]byte("g")); err != nil {
				t.Fatal(err)
			}
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				k, err := New(Source{KeyFile: path})
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := NewStore(noRecords{}, k).DigestKey(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		k, err := New(Source{KeyFile: path})
		require.NoError(t, err)
		for _, p := range processes {
			require.NoError(t, p.cmd.Wait())
			sealed, err := os.ReadFile(p.out)
			require.NoError(t, err)
			_, err = k.Open(t.Context(), "a", sealed)
			require.NoError(t, err)
		}
	}
}

func TestStream(t *testing.T) {
	k := ring(t, newIdentity(t))
	for _, content := range []string{"", "planted", strings.Repeat("planted secret ", 50_000)} {
		var sealed bytes.Buffer
		w, err := NewStore(noRecords{}, k).sealWriter(t.Context(), &sealed)
		require.NoError(t, err)
		_, err = io.WriteString(w, content)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.NotContains(t, sealed.String(), "planted", "the sealed stream holds plain text")
		open := func(k *Keyring, sealed []byte) (string, error) {
			r, err := NewStore(noRecords{}, k).openReader(t.Context(), bytes.NewReader(sealed))
			if err != nil {
				return "", err
			}
			plain, err := io.ReadAll(r)
			return string(plain), err
		}
		if got, err := open(k, sealed.Bytes()); err != nil || got != content {
			t.Errorf("%d bytes read as %d bytes, %v", len(content), len(got), err)
		}
		for _, n := range []int{0, 10, sealed.Len() / 2, sealed.Len() - 1} {
			_, err = open(k, sealed.Bytes()[:n])
			require.ErrorIs(t, err, errDamaged, "%d of %d bytes", n, sealed.Len())
		}
		_, err = open(ring(t, newIdentity(t)), sealed.Bytes())
		if _, ok := errors.AsType[*WrongKeyError](err); !ok {
			t.Errorf("with another key: %v, want a WrongKeyError", err)
		}
	}
}
