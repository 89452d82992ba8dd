package remote

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestWriteScriptCounts is input that was cut short without anybody else noticing.
func TestWriteScriptCounts(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	cmd := exec.Command("/bin/sh", "-c", writeScript, "sh", filepath.Join(folder, "file"), "10", "600", "", "", "")
	cmd.Stdin = strings.NewReader("123456789")
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	assert.Equal(t, "the content has not arrived completely\n", string(out))
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

// TestPasswordIsNoProgram has sudo take the password, or not: NOPASSWD may have come since it was tried.
func TestPasswordIsNoProgram(t *testing.T) {
	t.Parallel()
	for name, sudo := range map[string]string{
		"takes it": "#!/bin/sh\nIFS= read -r password\nwhile [ \"$1\" != /bin/sh ]; do shift; case $1 in \"\") shift ;; esac; done\nexec \"$@\"\n",
		"does not": "#!/bin/sh\nwhile [ \"$1\" != /bin/sh ]; do shift; case $1 in \"\") shift ;; esac; done\nexec \"$@\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(folder, "sudo"), []byte(sudo), 0o700))
			password := "touch " + filepath.Join(folder, "ran")
			begin, err := program{script: "echo done"}.input(bySudoPassword, password)
			require.NoError(t, err)
			cmd := exec.Command("/bin/sh", "-c", bootstrap)
			cmd.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"))
			cmd.Stdin = strings.NewReader(begin + "....")
			out, err := cmd.CombinedOutput()
			require.NoError(t, err)
			assert.Equal(t, "done\n", string(out))
			assert.NoFileExists(t, filepath.Join(folder, "ran"))
		})
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	secret := strings.Repeat("secret-of-mine-", 20)
	for name, test := range map[string]struct {
		pieces []string
		want   []string
	}{
		"lines":            {pieces: []string{"a\nb", "c\r\n\nd"}, want: []string{"a", "bc", "d"}},
		"progress":         {pieces: []string{"10%\r20%\r"}, want: []string{"10%", "20%"}},
		"secret in pieces": {pieces: []string{"x " + secret[:100], secret[100:] + " y\n"}, want: []string{"x (sensitive) y"}},
		"secret where a line breaks": {
			pieces: []string{strings.Repeat("x", lineSize-50) + secret[:100], secret[100:] + "y\n"},
			want:   []string{strings.Repeat("x", lineSize-50) + "(sensitive)y"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			l := &lines{mask: newMask(vnfm.Secret(secret)), each: func(line string) { got = append(got, line) }, shared: &sync.Mutex{}}
			for _, piece := range test.pieces {
				_, err := l.Write([]byte(piece))
				require.NoError(t, err)
			}
			kept := l.close()
			assert.Equal(t, strings.Join(test.want, ""), strings.Join(got, ""))
			assert.Equal(t, strings.Join(test.pieces, ""), kept)
			if name != "secret where a line breaks" {
				assert.Equal(t, test.want, got)
			}
		})
	}
}

func TestMask(t *testing.T) {
	t.Parallel()
	quoted := newMask(`pass"wörd 1`, "xyz")
	for _, text := range []string{`pass\"w\u00f6rd 1`, "pass%22w%C3%B6rd+1", `cGFzcyJ3w7ZyZCAx`, `'pass"wörd 1'`, `"xyz"`, "pw=xyz", `wörd 1`} {
		assert.Contains(t, quoted.hide(text), "(sensitive)", text)
	}
	m := newMask("pass", "password", "", "abc", "-----BEGIN KEY-----\nAAAAB3\nBBBB44\n-----END KEY-----")
	assert.Equal(t, "(sensitive) (sensitive)x abc (sensitive) -----END KEY-----", m.hide("password passx abc AAAAB3 -----END KEY-----"))
}
