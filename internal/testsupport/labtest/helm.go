package labtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Helm is the command of Helm, as a user of the lab's cluster runs it.
type Helm struct {
	binary, home, kubeconfig, namespace string
}

// Helm returns the command of Helm for the releases of a namespace. Where bin/helm is
// not built the test is skipped.
func (e Env) Helm(t testing.TB, namespace string) Helm {
	t.Helper()
	binary := filepath.Join(Root(t), "bin", "helm")
	if _, err := os.Stat(binary); err != nil {
		Missing(t, fmt.Sprintf("helm: %v, run make bin/helm", err))
	}
	return Helm{binary: binary, home: t.TempDir(), kubeconfig: e.Kubeconfig, namespace: namespace}
}

// Try runs the command and returns its standard output; an error holds what it said.
func (h Helm) Try(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, h.binary, append(args, "--namespace", h.namespace)...) //nolint:gosec // a tool of the tests
	// Nothing of the user's own Helm reaches the test.
	cmd.Env = []string{"HOME=" + h.home, "KUBECONFIG=" + h.kubeconfig, "PATH=" + os.Getenv("PATH")}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err != nil {
		err = errors.Join(fmt.Errorf("helm %s: %w", strings.Join(args, " "), err), errors.New(strings.TrimSpace(stderr.String())))
	}
	return stdout.String(), err
}

// Run runs the command and returns its standard output.
func (h Helm) Run(t testing.TB, args ...string) string {
	t.Helper()
	out, err := h.Try(t.Context(), args...)
	require.NoError(t, err)
	return out
}
