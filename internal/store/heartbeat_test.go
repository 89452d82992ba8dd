package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// A lease that is lost says whether the store has not answered, or somebody else has taken it.
func TestUnansweredRenewals(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		renew store.Renew
		want  string
	}{
		"refused": {func(context.Context) (time.Time, bool, error) {
			return time.Time{}, false, errors.New("connection refused")
		}, `^the store has not answered since 20.*Z: connection refused$`},
		"silent": {func(ctx context.Context) (time.Time, bool, error) {
			<-ctx.Done()
			return time.Time{}, false, ctx.Err()
		}, `^the store has not answered since 20.*Z`},
		"taken": {func(context.Context) (time.Time, bool, error) { return time.Time{}, true, nil }, ""},
	} {
		h := store.StartHeartbeat(t.Context(), time.Now().Add(50*time.Millisecond), 10*time.Millisecond, tt.renew)
		<-h.Lost()
		err := h.Unanswered()
		if tt.want == "" {
			require.NoError(t, err, name)
			continue
		}
		require.Error(t, err, name)
		require.Regexp(t, tt.want, err.Error(), name)
	}
}
