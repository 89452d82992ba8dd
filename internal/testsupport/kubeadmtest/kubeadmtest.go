// Package kubeadmtest is a stand-in of kubeadm for servers of a lab with
// labtest.OpenStackDocker. It takes the commands, flags and configurations (v1beta4) of
// kubeadm and refuses others. It makes a small Kubernetes without containers: etcd,
// API servers with their controllers and KWOK, which plays nodes and pods, all from the
// program of the lab. Complete runs have it; `make test-nodes` has the real kubeadm, whose nodes
// take more processor time.
package kubeadmtest

import (
	_ "embed" // the stand-in
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/kubespraytest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

//go:embed kubeadm.py
var program string

// Carried is a shell script that brings the stand-in along: servers that an operation makes
// have it at the first call of the script, as they would have kubeadm from their image.
func Carried(t testing.TB, script string) string {
	t.Helper()
	line, rest, ok := strings.Cut(script, "\n")
	require.True(t, ok, "the script begins with %q", line)
	require.True(t, strings.HasPrefix(line, "#!"), "the script begins with %q", line)
	return line + fmt.Sprintf(`
# The stand-in of kubeadm and kubectl, which a real image of nodes has.
mkdir -p /usr/local/share/kubeadm
cat >/usr/local/share/kubeadm/stages.yaml <<'END-OF-STAGES'
%s
END-OF-STAGES
cat >/usr/local/share/kubeadm/kubeadm <<'END-OF-KUBEADM'
%s
END-OF-KUBEADM
chmod 755 /usr/local/share/kubeadm/kubeadm
ln -sf /usr/local/share/kubeadm/kubeadm /usr/local/bin/kubeadm
ln -sf /usr/local/share/kubeadm/kubeadm /usr/local/bin/kubectl
`, kubespraytest.Stages(t), program) + rest
}

// Calls are the command lines of kubeadm on a server, in their order.
func Calls(t testing.TB, server *labtest.Shell) []string {
	t.Helper()
	var calls []string
	for line := range strings.Lines(server.Root(t, "cat /var/log/kubeadm-calls.jsonl")) {
		var args []string
		require.NoError(t, json.Unmarshal([]byte(line), &args), "reading the call %q", line)
		calls = append(calls, strings.Join(args, " "))
	}
	return calls
}
