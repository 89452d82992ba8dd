package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// logsOff are the variables with which the plugin libraries write no log.
var logsOff = []string{"TF_LOG_SDK", "TF_LOG_PROVIDER_VNF"}

// quietUnlessAsked turns logs off unless the user asks for some: without a level the plugin libraries write all of TRACE, and Terraform
// throws it away. That was a fifth of the plan of 1,000 objects. Any variable TF_LOG… of the user leaves everything to Terraform, which
// filters by its levels.
func quietUnlessAsked() error {
	asked := slices.ContainsFunc(os.Environ(), func(v string) bool {
		name, value, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "TF_LOG") && value != ""
	})
	if asked {
		return nil
	}
	for _, name := range logsOff {
		if err := os.Setenv(name, "OFF"); err != nil {
			return fmt.Errorf("turning logs off: %w", err)
		}
	}
	return nil
}
