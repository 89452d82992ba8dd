package kubespray

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The ConfigMap cluster-info names a master that stays, if it named the one that leaves.
func TestRepoint(t *testing.T) {
	at := func(server string) string {
		return "data:\n  kubeconfig: |\n    clusters:\n    - cluster:\n        server: " + server + "\n"
	}
	for name, c := range map[string]struct{ has, former, want string }{
		"the one that leaves": {has: at("https://10.0.0.1:6443"), former: "10.0.0.1:", want: at("https://10.0.0.9:6443")},
		"another master":      {has: at("https://10.0.0.11:6443"), former: "10.0.0.1:"},
		"a load balancer":     {has: at("https://api.example.org:8383"), former: "10.0.0.1:"},
		"no dot is any":       {has: at("https://10a0.0.1:6443"), former: "10.0.0.1:"},
		"IPv6":                {has: at("https://[2001:db8::1]:6443"), former: "[2001:db8::1]:", want: at("https://10.0.0.9:6443")},
		"no cluster-info":     {former: "10.0.0.1:"},
	} {
		t.Run(name, func(t *testing.T) {
			bin := t.TempDir()
			has, now := filepath.Join(bin, "has"), filepath.Join(bin, "now")
			require.NoError(t, os.WriteFile(has, []byte(c.has), 0o600))
			program := "#!/bin/sh\n[ \"$KUBECONFIG\" = admin.conf ] || exit 1\ncase $1 in --namespace) cat " + has + " ;; replace) cat >" + now + " ;; esac\n"
			require.NoError(t, os.WriteFile(filepath.Join(bin, "kubectl"), []byte(program), 0o700)) //nolint:gosec // it is run
			run := exec.CommandContext(t.Context(), "sh", "-c", repoint, "repoint.sh", "admin.conf", c.former, "10.0.0.9:")
			run.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
			out, err := run.CombinedOutput()
			require.NoError(t, err, string(out))
			got, _ := os.ReadFile(now)
			assert.Equal(t, c.want, string(got))
		})
	}
}
