package tfutil

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"a": true, "core 5g": true, "Zürich-1": true, "": false, " ": false, "\t\n": false, " a": false, "a ": false, "a\nb": false, "\u00a0": false, "a\u200b": false,
	} {
		require.Equal(t, want, trimmed.MatchString(name), "%q", name)
	}
}
