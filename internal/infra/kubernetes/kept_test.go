package kubernetes

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestKeptFits: key, results and arguments of the maximum sizes fit into a Secret. Larger arguments are omitted, with a warning of the
// plan.
func TestKeptFits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		results, arguments int
		kept, warned       bool
	}{
		"at their largest": {vnfm.MaxResults, maxArguments, true, false},
		"larger arguments": {0, maxArguments + 1, false, true},
	} {
		arguments := make([]byte, c.arguments)
		s := &session{rendering: &render.Rendering{}, target: &vnfm.Target{
			Instance: &vnfm.Instance{}, DigestKey: make([]byte, 32), Results: vnfm.NewResults(make([]byte, c.results)),
			Arguments: func(context.Context) ([]byte, error) { return arguments, nil },
		}}
		fields, err := s.wantedKept(t.Context())
		require.NoError(t, err, name)
		size := 32
		for field, value := range fields {
			if field != digestKeyField {
				size += len(value)
			}
		}
		require.LessOrEqual(t, size, maxKept, name)
		require.Equal(t, c.kept, fields[argumentsField] != nil, name)
		require.Equal(t, c.warned, len(s.checkKept(t.Context())) > 0, name)
	}
}
