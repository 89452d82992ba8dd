package csar

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	goodMeta = `TOSCA-Meta-File-Version: 1.0
CSAR-Version: 1.1
Created-By: Acme
Entry-Definitions: Definitions/vnfd.yaml
ETSI-Entry-Manifest: vnfd.mf
`
	goodMetadata = `metadata:
  vnf_provider_id: Acme
  vnf_product_name: Sample
  vnf_release_date_time: 2026-01-31T12:00:00Z
  vnf_package_version: 1.0
`
	vnfdText       = "tosca_definitions_version: tosca_simple_yaml_1_2\n"
	topologyText   = vnfdText + "topology_template: {}\n"
	deploymentText = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: vdu1\n"
	serviceText    = "apiVersion: v1\nkind: Service\nmetadata:\n  name: vdu1\n"
	rootText       = "tosca_definitions_version: tosca_simple_yaml_1_2\nmetadata:\n  template_name: sample\n  template_version: \"1.0\"\n  template_author: Acme\n"
)

// texts is a package under construction.
type texts map[string]string

// with returns a copy with changes; an empty text removes a file.
func (t texts) with(changes texts) texts {
	out := maps.Clone(t)
	for name, text := range changes {
		out[name] = text
		if text == "" {
			delete(out, name)
		}
	}
	return out
}

func (t texts) archive() Archive {
	files := map[string][]byte{}
	for name, text := range t {
		files[name] = []byte(text)
	}
	return FromFiles(files)
}

func (t texts) write(tb testing.TB, dir string) {
	tb.Helper()
	for name, text := range t {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(tb, os.MkdirAll(filepath.Dir(file), 0o750))
		require.NoError(tb, os.WriteFile(file, []byte(text), 0o600))
	}
}

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// source is a block of a manifest.
func source(name, text string) string {
	return "\nSource: " + name + "\nAlgorithm: SHA-256\nHash: " + sha(text) + "\n"
}

// goodPackage has TOSCA-Metadata and a manifest that covers all of it.
func goodPackage() texts {
	return texts{
		"TOSCA-Metadata/TOSCA.meta":        goodMeta,
		"Definitions/vnfd.yaml":            vnfdText,
		"Files/kubernetes/deployment.yaml": deploymentText,
		"Files/kubernetes/service.yaml":    serviceText,
		"vnfd.mf": goodMetadata + source("TOSCA-Metadata/TOSCA.meta", goodMeta) + source("Definitions/vnfd.yaml", vnfdText) +
			source("Files/kubernetes/service.yaml", serviceText) + source("Files/kubernetes/deployment.yaml", deploymentText),
	}
}

// rootPackage has its VNFD at the root and no TOSCA-Metadata.
func rootPackage() texts {
	return texts{
		"sample.yaml":                      rootText,
		"Files/kubernetes/deployment.yaml": deploymentText,
		"sample.mf":                        goodMetadata + source("sample.yaml", rootText) + source("Files/kubernetes/deployment.yaml", deploymentText),
	}
}

func render(ps vnfm.Problems) []string {
	lines := []string{}
	for _, p := range ps {
		word := "error: "
		if p.Severity == vnfm.SeverityWarning {
			word = "warning: "
		}
		lines = append(lines, word+p.String())
	}
	return lines
}

// checkProblems compares problems with those that are wanted, of which nil is none.
func checkProblems(tb testing.TB, want []string, problems vnfm.Problems) {
	tb.Helper()
	assert.Equal(tb, append([]string{}, want...), render(problems), "problems")
}

func zipBytes(tb testing.TB, a Archive) []byte {
	tb.Helper()
	var buf bytes.Buffer
	require.NoError(tb, WriteZip(a, &buf))
	return buf.Bytes()
}

func crlf(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
