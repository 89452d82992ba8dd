package lcm_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/otlptest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tracing"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestOperationsAreTraced leads an instance through a failed and a completed operation and looks at their spans.
func TestOperationsAreTraced(t *testing.T) {
	collector := otlptest.New(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("TRACEPARENT", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	tracing.Setup(t.Context(), "test", "")
	t.Cleanup(func() { tracing.Stop(context.Background()) })
	const secret = "planted-secret"
	w, worker, spec := newWorkerEnv(t)
	w.management = map[string]vnfm.ManagementDriver{vnfm.ArtifactBash: &talker{}}
	spec.SecretParams = map[string]any{"site": map[string]any{"password": secret}}
	_, err := w.open(t).Instantiate(t.Context(), spec)
	require.ErrorContains(t, err, "login as root with (sensitive) failed")
	w.management = map[string]vnfm.ManagementDriver{vnfm.ArtifactBash: worker}
	_, err = w.open(t).Update(t.Context(), failedInstance(t, err).ID, spec)
	require.NoError(t, err)
	tracing.Flush(t.Context())

	assert.Equal(t, []string{"4bf92f3577b34da6a3ce929d0e0e4736"}, collector.Traces())
	assert.NotContains(t, string(collector.Raw()), secret)
	var steps, states []string
	for _, s := range collector.Spans() {
		path := strings.Join(collector.Path(s), " > ")
		if s.GetName() == "INSTANTIATE" {
			states = append(states, otlptest.Attribute(s, "vnf.operation.state"))
			assert.Equal(t, "core", otlptest.Attribute(s, "vnf.instance.name"))
		}
		if strings.HasPrefix(path, "^00f067aa0ba902b7 > INSTANTIATE") && !slices.Contains(steps, path) {
			steps = append(steps, path)
		}
	}
	assert.Equal(t, []string{string(vnfm.StateFailedTemp), string(vnfm.StateCompleted)}, states)
	for _, want := range []string{"INSTANTIATE", "INSTANTIATE > apply", "INSTANTIATE > store update", "INSTANTIATE > apply > store update", "INSTANTIATE > hook instantiate_end"} {
		assert.Contains(t, steps, "^00f067aa0ba902b7 > "+want)
	}
}
