package vims

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/cloudtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// run runs a command and returns its exit code and what it says.
func run(t *testing.T, args ...string) (code int, out, problems string) {
	t.Helper()
	root := &cobra.Command{Use: "terraform-provider-vnf", Args: cli.NoArguments}
	root.AddCommand(Command("v1.2.3"))
	var stdout, stderr bytes.Buffer
	code = cli.Run(t.Context(), root, args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// want checks the exit code of "vim check", and that it says all of that.
func want(t *testing.T, wantCode int, args []string, parts ...string) string {
	t.Helper()
	code, out, problems := run(t, append([]string{"vim", "check"}, args...)...)
	require.Equal(t, wantCode, code, "%v: %s%s", args, out, problems)
	plain := strings.Join(strings.Fields(out+problems), " ")
	for _, part := range parts {
		require.Contains(t, plain, part, "%v does not say", args)
	}
	require.NotContains(t, out+problems, "devstack", "%v says the password", args)
	return out
}

// alone has the environment name no VIM.
func alone(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, name := range []string{"KUBECONFIG", "OS_CLOUD", "OS_AUTH_URL", "OS_CLIENT_CONFIG_FILE", "HOME"} {
		t.Setenv(name, "")
	}
}

// TestExampleOfCloud runs the example of the help for a cloud, and the forms of its output.
func TestExampleOfCloud(t *testing.T) {
	alone(t)
	cloud := cloudtest.New(t)
	cloud.Offer("compute", "/compute/v2.1")
	cloud.Offer("network", "/network")
	refused := false
	cloud.Refuse(func(w http.ResponseWriter, r *http.Request) bool {
		answer := `{"limits": {"absolute": {"maxTotalInstances": 10, "totalInstancesUsed": 3, "maxTotalCores": -1, "maxPersonality": 5}}}`
		switch {
		case strings.Contains(r.URL.Path, "/quotas/") && refused:
			w.WriteHeader(http.StatusForbidden)
			return true
		case strings.Contains(r.URL.Path, "/quotas/"):
			answer = `{"quota": {"port": 50}}`
		case !strings.HasSuffix(r.URL.Path, "/limits"):
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(answer))
		return true
	})
	file := func(name, password string) {
		require.NoError(t, os.WriteFile(name, fmt.Appendf(nil,
			"clouds:\n  edge:\n    auth: { auth_url: %q, username: nfv_user, password: %s, project_name: %s }\n", cloud.URL, password, cloudtest.Project), 0o600))
	}
	file("clouds.yaml", "devstack")
	file("wrong.yaml", "devstack2")
	var args []string
	for line := range strings.Lines(checkCommand("").Example) {
		if strings.Contains(line, "--os-cloud") {
			args = strings.Fields(line)[3:]
		}
	}
	var read report
	require.NoError(t, json.Unmarshal([]byte(want(t, 0, args)), &read))
	quotas := []vnfm.VIMQuota{
		{Service: "compute", Name: "maxTotalCores", Limit: "-1"}, {Service: "compute", Name: "maxTotalInstances", Limit: "10", Used: "3"}, {Service: "network", Name: "port", Limit: "50"},
	}
	if diff := cmp.Diff(quotas, read.Quotas); diff != "" || !read.Usable || read.ProjectName != cloudtest.Project || len(read.Roles) == 0 || len(read.Services) == 0 {
		t.Errorf("quotas (-want +got):\n%s\n%+v", diff, read)
	}
	args = []string{"--os-cloud", "edge"}
	want(t, 0, args, "usable yes", "roles member", "compute maxTotalInstances 3 10", "compute maxTotalCores - none", "network port - 50")
	t.Setenv("OS_CLOUD", "edge")
	want(t, 0, []string{"--strict"}, "usable yes")
	refused = true
	want(t, 0, args, "Warning: the quotas of network cannot be read")
	want(t, cli.ExitFailure, append(args, "--strict"), "usable yes", "has 1 warnings")
	want(t, cli.ExitFailure, append(args, "--os-clouds", "wrong.yaml"), "usable no", "Error: ")
	cloud.Close()
	var gone report
	require.NoError(t, json.Unmarshal([]byte(want(t, cli.ExitFailure, append(args, "--output", "json"), "cannot be reached")), &gone))
	require.False(t, gone.Usable, "the report")
	require.Contains(t, gone.Error, "cannot be reached", "the report")
}

// TestExampleOfCluster runs the example of the help for a cluster.
func TestExampleOfCluster(t *testing.T) {
	lab := labtest.Kubernetes(t)
	namespace := lab.Namespace(t)
	lab.Kubectl(t, "-n", namespace, "create", "quota", "small", "--hard=pods=20")
	alone(t)
	config, err := os.ReadFile(lab.Kubeconfig)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("edge.kubeconfig", config, 0o600))
	for line := range strings.Lines(checkCommand("").Example) {
		if strings.Contains(line, "--kubeconfig") {
			want(t, 0, strings.Fields(strings.ReplaceAll(line, "core5g", namespace))[3:], "usable yes", "rights complete", "ResourceQuota small pods", "20")
		}
	}
	t.Setenv("KUBECONFIG", "edge.kubeconfig")
	want(t, 0, nil, "type kubernetes", "namespace default")
	require.NoError(t, os.WriteFile("limited.kubeconfig", fmt.Appendf(nil, `{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}],
clusters: [{name: a, cluster: {server: %q, certificate-authority: %q}}], users: [{name: a, user: {token: %q}}]}`, lab.Endpoint, lab.CAFile, lab.LimitedToken), 0o600))
	want(t, 0, []string{"--kubeconfig", "limited.kubeconfig"}, "rights incomplete", "Warning: ")
	want(t, cli.ExitFailure, []string{"--kubeconfig", "limited.kubeconfig", "--strict"}, "rights incomplete", "warnings")
}

// TestBadArguments: each is one line, and nothing is checked.
func TestBadArguments(t *testing.T) {
	alone(t)
	require.NoError(t, os.WriteFile("clouds.yaml", []byte("clouds: { a: { auth: { auth_url: x } } }"), 0o600))
	require.NoError(t, os.WriteFile("bad.kubeconfig", []byte("hunter2"), 0o600))
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "no cluster is named: give --kubeconfig FILE, or set KUBECONFIG"},
		{[]string{"x"}, "has no command or argument"},
		{[]string{"--output", "yaml"}, `--output is "yaml"`},
		{[]string{"--kubeconfig", "none"}, "reading the kubeconfig"},
		{[]string{"--kubeconfig", "bad.kubeconfig"}, "kubeconfig"},
		{[]string{"--kubeconfig", "bad.kubeconfig", "--os-cloud", "a"}, "one VIM is checked"},
		{[]string{"--namespace", "a", "--os-cloud", "a"}, "one VIM is checked"},
		{[]string{"--namespace", "Foo_Bar", "--kubeconfig", "none"}, `--namespace is "Foo_Bar"`},
		{[]string{"--os-cloud", "b"}, `it has no cloud "b"`},
		{[]string{"--os-cloud", "a"}, "no credentials are given"},
		{[]string{"--os-clouds", "clouds.yaml"}, "--os-clouds goes with --os-cloud"},
	} {
		code, out, problems := run(t, append([]string{"vim", "check"}, test.args...)...)
		if code != cli.ExitUsage || out != "" || !strings.Contains(problems, test.want) || strings.Count(problems, "\n") != 1 || strings.Contains(problems, "hunter2") {
			t.Errorf("%v: exit code %d, want %q\n%s%s", test.args, code, test.want, out, problems)
		}
	}
	t.Setenv("KUBECONFIG", "a")
	t.Setenv("OS_CLOUD", "a")
	want(t, cli.ExitUsage, nil, "the environment names a cluster and a cloud")
}
