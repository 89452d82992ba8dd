package provider

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newState is the version whose states `go test ./internal/provider -run TestStates -new-state 0.2.0` writes.
var newState = flag.String("new-state", "", "version whose states are written to testdata/states")

// storedState is the state of a resource as Terraform has it in its file.
type storedState struct {
	SchemaVersion int64          `json:"schema_version"`
	Attributes    map[string]any `json:"attributes"`
}

// A state that a released version has written is read by each later one, and nothing of it is lost. Its files in
// testdata/states have a value in every attribute; after a change of the schema that they do not fit, the resource needs
// resource.ResourceWithUpgradeState and a higher version of its schema, and never other files.
func TestStates(t *testing.T) {
	server := NewServer("test")()
	schemas, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	require.NoError(t, err)
	if *newState != "" {
		writeStates(t, filepath.Join("testdata/states", *newState), schemas.ResourceSchemas)
	}
	files, err := filepath.Glob("testdata/states/*/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		kind := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(filepath.Base(filepath.Dir(file))+"/"+kind, func(t *testing.T) {
			var stored storedState
			content, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(content, &stored))
			raw, err := json.Marshal(stored.Attributes)
			require.NoError(t, err)
			schema := schemas.ResourceSchemas[kind]
			require.NotNil(t, schema, "the resource is gone")
			got, err := server.UpgradeResourceState(t.Context(), &tfprotov6.UpgradeResourceStateRequest{
				TypeName: kind, Version: stored.SchemaVersion, RawState: &tfprotov6.RawState{JSON: raw},
			})
			require.NoError(t, err)
			require.Empty(t, got.Diagnostics)
			state, err := got.UpgradedState.Unmarshal(schema.ValueType())
			require.NoError(t, err)
			if stored.SchemaVersion != schema.Version {
				return // The resource's own test of its upgrade says what became of each attribute.
			}
			// Strict, other than the upgrade, which drops what the schema does not know.
			want, err := (&tfprotov6.RawState{JSON: raw}).Unmarshal(schema.ValueType())
			require.NoError(t, err, "an attribute of the state is gone, or has another type")
			assert.True(t, want.Equal(state), "the state is read as another one")
		})
	}
	for kind := range schemas.ResourceSchemas {
		assert.FileExists(t, filepath.Join("testdata/states/0.1.0", kind+".json"), "go test . -run TestStates -new-state VERSION writes it with a release")
	}
}

func writeStates(t *testing.T, dir string, schemas map[string]*tfprotov6.Schema) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for kind, schema := range schemas {
		text, err := json.MarshalIndent(storedState{schema.Version, sampleObject(schema.Block.Attributes)}, "", "  ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, kind+".json"), append(text, '\n'), 0o644))
	}
}

// sampleObject has a value for each attribute that a state holds.
func sampleObject(attributes []*tfprotov6.SchemaAttribute) map[string]any {
	out := map[string]any{}
	for _, a := range attributes {
		switch {
		case a.WriteOnly:
			out[a.Name] = nil
		case a.NestedType == nil:
			out[a.Name] = sample(a.Type)
		default:
			out[a.Name] = sampleNested(a.NestedType)
		}
	}
	return out
}

func sampleNested(object *tfprotov6.SchemaObject) any {
	element := sampleObject(object.Attributes)
	switch object.Nesting {
	case tfprotov6.SchemaObjectNestingModeMap:
		return map[string]any{"key": element}
	case tfprotov6.SchemaObjectNestingModeList, tfprotov6.SchemaObjectNestingModeSet:
		return []any{element}
	default:
		return element
	}
}

// sample is a value of a type, as JSON.
func sample(t tftypes.Type) any {
	switch typed := t.(type) {
	case tftypes.List:
		return []any{sample(typed.ElementType)}
	case tftypes.Set:
		return []any{sample(typed.ElementType)}
	case tftypes.Map:
		return map[string]any{"key": sample(typed.ElementType)}
	case tftypes.Object:
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(typed.AttributeTypes)) {
			out[name] = sample(typed.AttributeTypes[name])
		}
		return out
	}
	switch {
	case t.Is(tftypes.Bool):
		return true
	case t.Is(tftypes.Number):
		return 1
	case t.Is(tftypes.DynamicPseudoType):
		return map[string]any{"type": "string", "value": "text"}
	default:
		return "text"
	}
}
