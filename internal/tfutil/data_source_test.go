package tfutil

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadDescription: sentences about setting an argument are not part of what is read.
func TestReadDescription(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Name of the VIM. Changing this updates in place.": "Name of the VIM.",
		"URL of the API server, for example `https://10.0.0.10:6443`. Required unless a kubeconfig contains it. Changing this checks the new server.": "URL of the API server, for example `https://10.0.0.10:6443`.",
		"Type of the VIM. Defaults to `kubernetes`. Read from the server.":                                                                            "Type of the VIM. Read from the server.",
		"Status": "Status",
	} {
		require.Equal(t, want, readDescription(in))
	}
}
