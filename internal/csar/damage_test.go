package csar

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
)

// TestDamage reads damaged and unprotected packages with each setting of integrity.
func TestDamage(t *testing.T) {
	stale := goodMetadata
	files := texts{"s.yaml": rootText}
	for i := range 12 {
		name := fmt.Sprintf("f%02d", i)
		files[name] = name
		stale += source(name, "other")
	}
	stale += source("s.yaml", rootText)
	list := make([]string, 0, 10)
	for i := range 10 {
		list = append(list, fmt.Sprintf("f%02d (line %d)", i, 9+4*i))
	}
	twelve := "s.mf:9:7: 12 files do not have the declared digest: " + strings.Join(list, ", ") + ", ...: the files were changed after the manifest was written, or damaged; in a package of your own, \"terraform-provider-vnf package hash DIRECTORY\" writes the digests again"
	bare := texts{"s.yaml": vnfdText, "web.yaml": deploymentText}
	template := vnfdText + "topology_template: {}\n"
	const (
		lack    = "s.yaml:1:1: the metadata of the template lack template_name, template_version, template_author: a package without TOSCA-Metadata needs them in its YAML file at the root"
		noMF    = "the package has no manifest s.mf: a package without TOSCA-Metadata needs one beside its YAML file"
		goesOn  = `; integrity = "warn" goes on without it`
		several = "the package has 2 YAML files at its root: s.yaml, web.yaml: "
	)
	tests := []struct {
		name                  string
		files                 texts
		enforce, warn, ignore []string
	}{
		{
			name: "twelve digests", files: files.with(texts{"s.mf": stale}),
			enforce: []string{"error: " + twelve + goesOn}, warn: []string{"warning: " + twelve},
		},
		{
			name: "malformed digests", files: texts{"s.yaml": rootText, "a": "a", "s.mf": goodMetadata + "Source: s.yaml\nAlgorithm: SHA-256\nHash: x\nSource: a\nAlgorithm: SHA-256\nHash: x\n"},
			enforce: []string{
				`error: s.mf:8:7: 2 files have a Hash that is not a digest: s.yaml (line 8), a (line 11): a SHA-256 digest has 64 hexadecimal digits` + goesOn,
				"warning: s.mf: 2 files are listed without digest: a, s.yaml: nothing protects this content; add Algorithm and Hash",
			},
			warn: []string{
				`warning: s.mf:8:7: 2 files have a Hash that is not a digest: s.yaml (line 8), a (line 11): a SHA-256 digest has 64 hexadecimal digits`,
				"warning: s.mf: 2 files are listed without digest: a, s.yaml: nothing protects this content; add Algorithm and Hash",
			},
		},
		{
			name: "neither TOSCA-Metadata nor manifest", files: texts{"s.yaml": vnfdText},
			enforce: []string{"error: " + lack + goesOn, "error: " + noMF + goesOn},
			warn:    []string{"warning: " + lack, "warning: " + noMF},
		},
		{
			name: "type definitions beside the VNFD", files: bare.with(texts{"s.yaml": template}),
			enforce: []string{"error: " + several + rootRule},
			warn: []string{
				"warning: s.yaml: " + several + "the VNFD is read from this one, the only service template with a topology_template; " + rootRule,
				"warning: " + lack, "warning: " + noMF,
			},
		},
		{
			name: "manifest with another name", files: texts{"s.yaml": rootText, "t.mf": goodMetadata + source("s.yaml", rootText)},
			enforce: []string{"error: t.mf: the manifest must be named s.mf: in a package without TOSCA-Metadata it is named after s.yaml" + goesOn},
			warn:    []string{"warning: t.mf: the manifest must be named s.mf: in a package without TOSCA-Metadata it is named after s.yaml"},
		},
	}
	for _, tt := range tests {
		for integrity, want := range map[Integrity][]string{IntegrityEnforce: tt.enforce, IntegrityWarn: tt.warn, IntegrityIgnore: tt.ignore} {
			t.Run(tt.name+"/"+string(integrity), func(t *testing.T) {
				p, problems := Read(tt.files.archive(), Options{Integrity: integrity})
				checkProblems(t, want, problems)
				if integrity != IntegrityEnforce {
					require.Equal(t, "s.yaml", p.Entry)
				}
				if _, manifest := tt.files["web.yaml"]; manifest && integrity != IntegrityEnforce {
					found, _ := p.KubernetesFiles(budget.New(t.Context(), budget.Limits{}), tt.files.archive())
					require.Equal(t, []string{"web.yaml"}, found)
				}
			})
		}
	}
}
