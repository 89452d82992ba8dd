package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// envServe has the test binary be the provider.
const envServe = "VNF_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(envServe) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestManifestNamesTheProtocol compares the registry manifest with what is served:
// a registry with another protocol offers the provider to the wrong CLIs.
func TestManifestNamesTheProtocol(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("terraform-registry-manifest.json")
	require.NoError(t, err)
	var manifest struct {
		Version  int `json:"version"`
		Metadata struct {
			ProtocolVersions []string `json:"protocol_versions"`
		} `json:"metadata"`
	}
	require.NoError(t, json.Unmarshal(data, &manifest))
	served := servedProtocol(t) + ".0"
	if manifest.Version != 1 || !slices.Equal(manifest.Metadata.ProtocolVersions, []string{served}) {
		t.Errorf("manifest says version %d, protocols %v; served is %s", manifest.Version, manifest.Metadata.ProtocolVersions, served)
	}
}

// served is the command that starts the provider as Terraform does.
func served(ctx context.Context, name string, arg ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, arg...)
	cmd.Env = append(os.Environ(), envServe+"=1",
		"TF_PLUGIN_MAGIC_COOKIE=d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
		"PLUGIN_PROTOCOL_VERSIONS=5,6")
	return cmd
}

// servedProtocol returns the major version of the protocol that the provider offers in its handshake, "1|<version>|unix|...".
func servedProtocol(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := served(ctx, os.Args[0])
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the handshake of the provider: %q, %v", line, err)
	}
	cancel()
	if err := cmd.Wait(); err == nil {
		t.Error("the provider ended before it was stopped")
	}
	fields := strings.Split(line, "|")
	if len(fields) < 5 {
		t.Fatalf("the handshake of the provider is %q", line)
	}
	return fields[1]
}
