//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLifetime: a process that no Terraform ends does so when it is terminated and its last call is answered.
func TestLifetime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		alone, called, orphan, ends bool
	}{
		"nobody has called":   {ends: true},
		"Terraform will end":  {called: true},
		"Terraform is gone":   {called: true, orphan: true, ends: true},
		"a person debugs":     {alone: true, called: true, ends: true},
		"gone before a call":  {orphan: true, ends: true},
		"gone while debugged": {alone: true, orphan: true, ends: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ended := false
				l := newLifetime(t.Context(), test.alone, func() { ended = true })
				if test.called {
					l.called()
				}
				l.enter()
				if test.orphan {
					l.orphaned()
				}
				l.interrupt()
				l.endWhenIdle()
				if ended {
					t.Fatal("the process ended before its call")
				}
				l.leave()
				if ended {
					t.Error("the process ended before the answer was sent")
				}
				<-time.After(2 * answerTime)
				synctest.Wait()
				require.Equal(t, test.ends, ended)
			})
		})
	}
}

// TestEndsWithoutClient: nobody has to kill a provider that no Terraform waits for.
func TestEndsWithoutClient(t *testing.T) {
	t.Parallel()
	t.Run("SIGTERM", func(t *testing.T) {
		t.Parallel()
		cmd := served(t.Context(), os.Args[0])
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		_, err = bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		require.NoError(t, cmd.Wait())
	})
	t.Run("parent is gone", func(t *testing.T) {
		t.Parallel()
		// The shell ends when it is told that the provider has begun. Its child has the pipe until it ends.
		cmd := served(t.Context(), "sh", "-c", `"$0" & read line`, os.Args[0])
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewReader(out)
		_, err = lines.ReadString('\n')
		require.NoError(t, err)
		require.NoError(t, in.Close())
		_, err = io.Copy(io.Discard, lines)
		require.NoError(t, err)
		_ = cmd.Wait()
	})
}
