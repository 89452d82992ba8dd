package base

import (
	"context"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// shareKey is where the private state of a resource keeps its share.
const shareKey = "share"

// Share is the name of a resource's share of an object that several resources may have together, of several configurations too. It
// is in the private state of the resource; empty when that has none, as after an import.
func Share(ctx context.Context, private privateState, diags *diag.Diagnostics) string {
	share, err := readNote[string](ctx, private, shareKey, diags)
	if err != nil {
		diags.AddError("Unreadable Private State", "The private state of the resource cannot be used: "+err.Error()+". This is always a bug in the provider and should be reported to its developers.")
	}
	return share
}

// NewShare makes a share and keeps it in the private state.
func NewShare(ctx context.Context, private privateStateOut, diags *diag.Diagnostics) string {
	share := uuid.NewString()
	writeNote(ctx, private, shareKey, share, diags)
	return share
}
