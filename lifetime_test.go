//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLifetime: a terminated process ends itself when its last call is answered, unless Terraform ends it.
func TestLifetime(t *testing.T) {
	t.Parallel()
	for name, debugged := range map[string]bool{"Terraform ends it": false, "a person debugs": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ended := false
				var end func()
				if debugged {
					end = func() { ended = true }
				}
				l := newLifetime(t.Context(), end)
				l.enter()
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
				require.Equal(t, debugged, ended)
			})
		})
	}
}

// TestTerminated: a SIGTERM ends an idle debugged provider. Terraform's own provider waits for Terraform or a second SIGTERM.
func TestTerminated(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T, arg ...string) *exec.Cmd {
		t.Helper()
		cmd := served(t.Context(), os.Args[0], arg...)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		_, err = bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		return cmd
	}
	t.Run("debugged", func(t *testing.T) {
		t.Parallel()
		cmd := start(t, "-debug")
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		require.NoError(t, cmd.Wait())
	})
	t.Run("Terraform's own", func(t *testing.T) {
		t.Parallel()
		cmd := start(t)
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for {
			// Signals that arrive together are one.
			_ = cmd.Process.Signal(syscall.SIGTERM)
			select {
			case err := <-ended:
				require.EqualError(t, err, "signal: terminated")
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
}
