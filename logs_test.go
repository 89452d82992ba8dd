package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSetLogLevels(t *testing.T) {
	for name, test := range map[string]struct {
		set           map[string]string
		asked         bool
		framework, us string
	}{
		"nothing asked":        {map[string]string{"TF_LOG": ""}, false, "OFF", "OFF"},
		"other tools":          {map[string]string{"TF_CLI_ARGS": "-no-color"}, false, "OFF", "OFF"},
		"all":                  {map[string]string{"TF_LOG": "TRACE"}, true, "", ""},
		"all as JSON":          {map[string]string{"TF_LOG": "JSON"}, true, "", ""},
		"no more than shown":   {map[string]string{"TF_LOG": "debug"}, true, "DEBUG", "DEBUG"},
		"providers":            {map[string]string{"TF_LOG": "TRACE", "TF_LOG_PROVIDER": "INFO"}, true, "INFO", "INFO"},
		"the core":             {map[string]string{"TF_LOG_CORE": "DEBUG"}, true, "", ""},
		"the framework's own":  {map[string]string{"TF_LOG_PROVIDER": "DEBUG", "TF_LOG_SDK": "TRACE"}, true, "TRACE", "DEBUG"},
		"one subsystem's":      {map[string]string{"TF_LOG_PROVIDER": "DEBUG", "TF_LOG_PROVIDER_VNF": "WARN", "TF_LOG_PROVIDER_VNF_SSH": "DEBUG"}, true, "DEBUG", "WARN"},
		"no level that exists": {map[string]string{"TF_LOG": "LOUD"}, true, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, variable := range os.Environ() {
				if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "TF_LOG") {
					t.Setenv(name, "")
				}
			}
			for _, variable := range logLevels {
				t.Setenv(variable, "")
			}
			for variable, value := range test.set {
				t.Setenv(variable, value)
			}
			asked, err := setLogLevels()
			require.NoError(t, err)
			assert.Equal(t, test.asked, asked)
			assert.Equal(t, test.framework, os.Getenv("TF_LOG_SDK"))
			assert.Equal(t, test.us, os.Getenv("TF_LOG_PROVIDER_VNF"))
		})
	}
}
