package provider_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/nfv-iac/terraform-provider-vnf/internal/provider"
)

func getSchema(t *testing.T) *tfprotov6.GetProviderSchemaResponse {
	t.Helper()
	server, err := providerserver.NewProtocol6WithError(provider.New("test")())()
	if err != nil {
		t.Fatal(err)
	}
	resp, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range resp.Diagnostics {
		t.Errorf("%s: %s", d.Summary, d.Detail)
	}
	return resp
}

// TestManifestNamesTheProtocol compares the registry manifest with what is served:
// a registry that is told another protocol offers the provider to the wrong CLIs.
func TestManifestNamesTheProtocol(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../terraform-registry-manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Version  int `json:"version"`
		Metadata struct {
			ProtocolVersions []string `json:"protocol_versions"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		t.Fatal(err)
	}
	served := servedProtocol(t) + ".0"
	if manifest.Version != 1 || !slices.Equal(manifest.Metadata.ProtocolVersions, []string{served}) {
		t.Errorf("manifest says version %d, protocols %v; served is %s", manifest.Version, manifest.Metadata.ProtocolVersions, served)
	}
}

// servedProtocol starts the built provider as Terraform does and returns the major
// version of the protocol that it offers in its handshake, "1|<version>|unix|...".
func servedProtocol(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, buildProvider(t)) //nolint:gosec // the provider under test
	cmd.Env = append(os.Environ(),
		"TF_PLUGIN_MAGIC_COOKIE=d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
		"PLUGIN_PROTOCOL_VERSIONS=5,6")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
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

// TestSchemaIsDescribed walks every schema: each object and each attribute says
// what it is in whole sentences.
func TestSchemaIsDescribed(t *testing.T) {
	t.Parallel()
	resp := getSchema(t)
	checkBlock(t, "provider", resp.Provider.Block)
	for name, s := range resp.ResourceSchemas {
		checkBlock(t, "resource "+name, s.Block)
	}
	for name, s := range resp.DataSourceSchemas {
		checkBlock(t, "data source "+name, s.Block)
	}
	for name, f := range resp.Functions {
		if f.Summary == "" || !strings.Contains(f.Description, ".") {
			t.Errorf("function %s is not described", name)
		}
		for _, p := range f.Parameters {
			if p.Description == "" {
				t.Errorf("function %s: parameter %s is not described", name, p.Name)
			}
		}
	}
}

func checkBlock(t *testing.T, where string, b *tfprotov6.SchemaBlock) {
	t.Helper()
	if !strings.Contains(b.Description, ".") {
		t.Errorf("%s is not described", where)
	}
	for _, nested := range b.BlockTypes {
		t.Errorf("%s: block %q: attributes are used instead of blocks", where, nested.TypeName)
	}
	checkAttributes(t, where, b.Attributes)
}

func checkAttributes(t *testing.T, where string, attributes []*tfprotov6.SchemaAttribute) {
	t.Helper()
	for _, a := range attributes {
		name := where + "." + a.Name
		if first, _, _ := strings.Cut(a.Description, ". "); len(first) < 8 || !strings.HasSuffix(strings.TrimSpace(a.Description), ".") {
			t.Errorf("%s is not described in whole sentences: %q", name, a.Description)
		}
		if a.NestedType != nil {
			checkAttributes(t, name, a.NestedType.Attributes)
		}
	}
}
