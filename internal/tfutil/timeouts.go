package tfutil

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Timeouts returns the "timeouts" attribute of a resource, described.
func Timeouts(ctx context.Context, opts timeouts.Opts) schema.Attribute {
	attribute, ok := timeouts.Attributes(ctx, opts).(schema.SingleNestedAttribute)
	if !ok {
		return timeouts.Attributes(ctx, opts)
	}
	attribute.MarkdownDescription = "Time limits of the operations on this object, as durations such as `30s` or `10m`. Changing anything here applies to the next operation."
	return attribute
}

// WithTimeout returns a context that ends after the duration that read returns
// (one of the methods of timeouts.Value), or after fallback when none is set.
func WithTimeout(
	ctx context.Context, read func(context.Context, time.Duration) (time.Duration, diag.Diagnostics), fallback time.Duration, diags *diag.Diagnostics,
) (context.Context, context.CancelFunc) {
	limit, more := read(ctx, fallback)
	diags.Append(more...)
	return vnfm.WithTimeLimit(ctx, limit)
}
