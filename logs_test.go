package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestQuietUnlessAsked(t *testing.T) {
	for name, test := range map[string]struct{ variable, value, want string }{
		"nothing asked": {"TF_LOG", "", "OFF"},
		"all":           {"TF_LOG", "TRACE", ""},
		"providers":     {"TF_LOG_PROVIDER", "INFO", ""},
		"the core":      {"TF_LOG_CORE", "DEBUG", ""},
		"other tools":   {"TF_CLI_ARGS", "-no-color", "OFF"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, variable := range append([]string{"TF_LOG", "TF_LOG_PROVIDER", "TF_LOG_CORE", "TF_LOG_PATH"}, logsOff...) {
				t.Setenv(variable, "")
			}
			t.Setenv(test.variable, test.value)
			require.NoError(t, quietUnlessAsked())
			for _, variable := range logsOff {
				assert.Equal(t, test.want, os.Getenv(variable), variable)
			}
		})
	}
}
