//go:build unix

package remote

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestProgram runs what a host runs, with each shell that may be its /bin/sh.
func TestProgram(t *testing.T) {
	t.Parallel()
	for _, shell := range [][]string{{"/bin/sh"}, {"dash"}, {"bash", "--posix"}, {"busybox", "ash"}} {
		t.Run(strings.Join(shell, " "), func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(shell[0]); err != nil {
				t.Skip(err)
			}
			run := func(input string) (string, error) {
				file := filepath.Join(t.TempDir(), "whole")
				begin, err := program{script: `cat >"$1.part"; mv "$1.part" "$1"; exit 3`, args: []string{file}, size: 10}.input(direct, "")
				require.NoError(t, err)
				cmd := exec.Command(shell[0], append(shell[1:], "-c", bootstrap)...)
				// As sshd does. A script whose shell ends while it starts is found by its session alone.
				cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
				cmd.Stdin = strings.NewReader(begin + input)
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				ended := cmd.Run()
				assert.NotContains(t, stderr.String(), "rror")
				content, _ := os.ReadFile(file)
				return string(content), ended
			}
			content, err := run("0123456789" + strings.Repeat(".", 100_000))
			require.EqualError(t, err, "exit status 3")
			assert.Equal(t, "0123456789", content)

			// Input that is cut short is not an end of the input.
			content, err = run("01234")
			require.Error(t, err)
			assert.Empty(t, content)
		})
	}
}
