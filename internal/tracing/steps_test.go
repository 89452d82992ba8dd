package tracing

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestRunSteps: steps of a stage run in order, those inserted later first, and none after an error.
func TestRunSteps(t *testing.T) {
	var ran []string
	refused := errors.New("refused")
	step := func(at vnfm.Stage, name string, err error) vnfm.Step {
		return vnfm.Step{At: at, Name: name, Run: func(context.Context) error {
			ran = append(ran, name)
			return err
		}}
	}
	outer := &vnfm.Target{}
	outer.Insert(step(vnfm.AfterWrite, "add-ons", nil))
	inner := *outer
	inner.Insert(step(vnfm.AfterWrite, "machines", nil), step(vnfm.BeforePrune, "ready", refused), step(vnfm.AfterWrite, "configuration", nil),
		step(vnfm.BeforePrune, "former", nil))
	require.NoError(t, RunSteps(t.Context(), &inner, vnfm.AfterNamespaces))
	assert.Empty(t, ran)
	require.NoError(t, RunSteps(t.Context(), &inner, vnfm.AfterWrite))
	assert.Equal(t, []string{"machines", "configuration", "add-ons"}, ran)
	ran = nil
	require.ErrorIs(t, RunSteps(t.Context(), &inner, vnfm.BeforePrune), refused)
	assert.Equal(t, []string{"ready"}, ran)
	assert.Len(t, outer.Steps, 1, "the target of the outer driver changed")
}
