package provider_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/provider"
)

func getSchema(t *testing.T) *tfprotov6.GetProviderSchemaResponse {
	t.Helper()
	server, err := providerserver.NewProtocol6WithError(provider.New("test")())()
	require.NoError(t, err)
	resp, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	require.NoError(t, err)
	for _, d := range resp.Diagnostics {
		t.Errorf("%s: %s", d.Summary, d.Detail)
	}
	return resp
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
	for name, s := range resp.ListResourceSchemas {
		checkBlock(t, "list resource "+name, s.Block)
	}
	for name, a := range resp.ActionSchemas {
		checkBlock(t, "action "+name, a.Schema.Block)
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

// TestIdentities: each resource but the one that is in the configuration alone has an identity of attributes of its own, and a list.
func TestIdentities(t *testing.T) {
	t.Parallel()
	server := provider.NewServer("test")()
	resp, err := server.GetResourceIdentitySchemas(t.Context(), &tfprotov6.GetResourceIdentitySchemasRequest{})
	require.NoError(t, err)
	schemas := getSchema(t)
	for name, s := range schemas.ResourceSchemas {
		if name == "vnf_capi_cluster_template" {
			require.NotContains(t, resp.IdentitySchemas, name)
			continue
		}
		require.Contains(t, schemas.ListResourceSchemas, name)
		require.Contains(t, resp.IdentitySchemas, name)
		for _, i := range resp.IdentitySchemas[name].IdentityAttributes {
			require.True(t, i.RequiredForImport && i.Description != "", "%s.%s", name, i.Name)
			require.True(t, slices.ContainsFunc(s.Block.Attributes, func(a *tfprotov6.SchemaAttribute) bool { return a.Name == i.Name }), "%s.%s", name, i.Name)
		}
	}
}
