package base

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/require"
)

// TestChangesOnUnreachableAlone keeps an update from the VIM only where nothing else asks for one.
func TestChangesOnUnreachableAlone(t *testing.T) {
	names := []string{onUnreachable, "timeouts", "name", "status"}
	types := map[string]tftypes.Type{}
	for _, name := range names {
		types[name] = tftypes.String
	}
	value := func(values ...any) tftypes.Value {
		fields := map[string]tftypes.Value{}
		for k, name := range names {
			fields[name] = tftypes.NewValue(tftypes.String, values[k])
		}
		return tftypes.NewValue(tftypes.Object{AttributeTypes: types}, fields)
	}
	state := value(nil, "1m", "a", "FAILED_TEMP")
	require.True(t, changesOnUnreachableAlone(value("forget", "1m", "a", "FAILED_TEMP"), state))
	require.True(t, changesOnUnreachableAlone(value("forget", "2m", "a", tftypes.UnknownValue), state))
	require.False(t, changesOnUnreachableAlone(value("forget", "1m", "b", "FAILED_TEMP"), state), "another argument changes")
	require.False(t, changesOnUnreachableAlone(value(nil, "2m", "a", "FAILED_TEMP"), state), "on_unreachable does not change")
}
