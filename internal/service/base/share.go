package base

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// shareKey is where the private state of a resource keeps its share.
const shareKey = "share"

// privateState is what requests of the plugin framework have of a resource.
type privateState interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
}

// privateStateOut is what responses of the plugin framework have of it.
type privateStateOut interface {
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// Share is the name of a resource's share of an object that several resources may have together, of several configurations too. It
// is in the private state of the resource; empty when that has none, as after an import.
func Share(ctx context.Context, private privateState, diags *diag.Diagnostics) string {
	data, more := private.GetKey(ctx, shareKey)
	diags.Append(more...)
	var share string
	if len(data) > 0 {
		if err := json.Unmarshal(data, &share); err != nil {
			diags.AddError("Unreadable Private State", "The private state of the resource cannot be read: "+err.Error()+". This is always a bug in the provider and should be reported to its developers.")
		}
	}
	return share
}

// NewShare makes a share and keeps it in the private state.
func NewShare(ctx context.Context, private privateStateOut, diags *diag.Diagnostics) string {
	share := uuid.NewString()
	// A string is always encoded.
	data, _ := json.Marshal(share)
	diags.Append(private.SetKey(ctx, shareKey, data)...)
	return share
}
