package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
)

// logLevels are the variables for the levels of what the plugin libraries write: the framework, and the provider.
var logLevels = []string{"TF_LOG_SDK", "TF_LOG_PROVIDER_VNF"}

// passedOn are the levels that Terraform filters the logs of providers by.
var passedOn = []string{"DEBUG", "INFO", "WARN", "ERROR", "OFF"}

// setLogLevels sets the levels that the user has not set, and reports whether somebody asks for logs. Without a level the plugin libraries
// write all of TRACE, and Terraform throws away what it does not show: that was a fifth of the plan of 1,000 objects. Without any variable
// TF_LOG… nothing is written, else no more than Terraform shows.
func setLogLevels() (asked bool, err error) {
	asked = slices.ContainsFunc(os.Environ(), func(v string) bool {
		name, value, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "TF_LOG") && value != ""
	})
	level := "OFF"
	if asked {
		level = strings.ToUpper(cmp.Or(os.Getenv("TF_LOG_PROVIDER"), os.Getenv("TF_LOG")))
	}
	if !slices.Contains(passedOn, level) {
		return asked, nil
	}
	for _, name := range logLevels {
		if asked && os.Getenv(name) != "" {
			continue
		}
		if err := os.Setenv(name, level); err != nil {
			return asked, fmt.Errorf("setting the level of logs: %w", err)
		}
	}
	return asked, nil
}
