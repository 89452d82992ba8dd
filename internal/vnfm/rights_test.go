package vnfm_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func TestLacksRightsOnly(t *testing.T) {
	t.Parallel()
	lacking, other := &vnfm.RightsError{Doing: "reading", Err: errors.New("forbidden")}, errors.New("unreachable")
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"none":          {nil, false},
		"another":       {other, false},
		"itself":        {lacking, true},
		"wrapped":       {fmt.Errorf("edge: %w", errors.Join(lacking)), true},
		"one of two":    {errors.Join(lacking, other), false},
		"two":           {fmt.Errorf("%w, %w", lacking, fmt.Errorf("edge: %w", lacking)), true},
		"beside a text": {fmt.Errorf("%w, %w", other, lacking), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, vnfm.LacksRightsOnly(c.err))
		})
	}
}
