package base

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// privateState is what requests of the plugin framework have of a resource.
type privateState interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
}

// privateStateOut is what responses of the plugin framework have of it.
type privateStateOut interface {
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// readNote reads a key of the private state, the zero value if it is missing or unreadable.
func readNote[T any](ctx context.Context, private privateState, key string, diags *diag.Diagnostics) (T, error) {
	var note, none T
	data, more := private.GetKey(ctx, key)
	diags.Append(more...)
	if len(data) == 0 {
		return none, nil
	}
	if err := json.Unmarshal(data, &note); err != nil {
		return none, fmt.Errorf("reading the private state: %w", err)
	}
	return note, nil
}

// writeNote keeps a note of strings, which can always be encoded, in the private state.
func writeNote(ctx context.Context, private privateStateOut, key string, note any, diags *diag.Diagnostics) {
	data, _ := json.Marshal(note)
	diags.Append(private.SetKey(ctx, key, data)...)
}
