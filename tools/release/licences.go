package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// allowed are the SPDX identifiers of the licences that modules of a release may have.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0"}

// reviewed are licences of modules that cyclonedx-gomod does not detect, or takes for another one. They hold for one version:
// those of the next one have to be read again.
var reviewed = map[string]string{
	// The text of MIT in LICENSE, which is not detected.
	"github.com/cenkalti/backoff/v5@v5.0.3": "MIT",
	// The text of ISC in LICENSE; detected is 0BSD, which has one condition less.
	"github.com/davecgh/go-spew@v1.1.2-0.20180830191138-d8f796af33cc": "ISC",
	// The text of MIT in LICENSE.md, which is not detected.
	"github.com/fatih/color@v1.19.0": "MIT",
	// LICENSE is that of the code; detected is LICENSE.docs, that of the documentation.
	"github.com/opencontainers/go-digest@v1.0.0": "Apache-2.0",
}

// bill is the part of a bill of materials (CycloneDX) with the modules of a program and their licences.
type bill struct {
	Format     string      `json:"bomFormat"`
	Components []component `json:"components"`
}

type component struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	Evidence struct {
		Licences []struct {
			License struct {
				ID string `json:"id"`
			} `json:"license"`
		} `json:"licenses"`
	} `json:"evidence"`
}

// licences returns the reviewed licence of a module, or those that were detected.
func (c component) licences() []string {
	if l, found := reviewed[c.Name+"@"+c.Version]; found {
		return []string{l}
	}
	var out []string
	for _, l := range c.Evidence.Licences {
		out = append(out, l.License.ID)
	}
	return out
}

// checkLicences returns an error for each module in the bills of materials with a licence that is unknown or not allowed. It
// prints the number of modules by licence.
func checkLicences(out io.Writer, paths []string) error {
	var problems []error
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var b bill
		if err := json.Unmarshal(content, &b); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if b.Format != "CycloneDX" || len(b.Components) == 0 {
			return fmt.Errorf("%s is not a bill of materials of CycloneDX with components", path)
		}
		count := map[string]int{}
		for _, c := range b.Components {
			found := c.licences()
			count[strings.Join(found, " and ")]++
			switch {
			case len(found) == 0:
				problems = append(problems, fmt.Errorf("%s: no licence of %s %s was detected; read it and add it to tools/release/licences.go", path, c.Name, c.Version))
			case slices.ContainsFunc(found, func(l string) bool { return !slices.Contains(allowed, l) }):
				problems = append(problems, fmt.Errorf("%s: %s %s has the licence %s, which is not allowed", path, c.Name, c.Version, strings.Join(found, " and ")))
			}
		}
		_, _ = fmt.Fprintf(out, "%s: %d modules: %v\n", path, len(b.Components), count)
	}
	return errors.Join(problems...)
}
