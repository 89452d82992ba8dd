package tracing

import (
	"context"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// RunSteps runs the steps of a target at a stage, each in a span, up to the first error.
func RunSteps(ctx context.Context, t *vnfm.Target, at vnfm.Stage) error {
	for _, step := range t.Steps {
		if step.At != at {
			continue
		}
		if err := Do(ctx, Operations, string(at)+": "+step.Name, step.Run); err != nil {
			return err
		}
	}
	return nil
}
