package csar

import (
	"crypto/sha512"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const tackerMeta = `TOSCA-Meta-File-Version: 1.0
Created-by: Dummy User
CSAR-Version: 1.1
Entry-Definitions: Definitions/vnfd.yaml
`

const noManifest = `warning: TOSCA-Metadata/TOSCA.meta:1: the package has no manifest: SOL 004 requires ETSI-Entry-Manifest; the files listed in TOSCA.meta are taken instead`

// TestReadVariations holds what packages in use look like: each must be read, with the
// warnings named and no error.
func TestReadVariations(t *testing.T) {
	sum512 := sha512.Sum512([]byte(deploymentText))
	sum384 := sha512.Sum384([]byte(deploymentText))
	kubernetes := "Files/kubernetes/deployment.yaml"
	tests := []struct {
		name     string
		files    texts
		entry    string
		manifest string
		listed   []string
		check    func(*testing.T, *Package)
		warnings []string
	}{
		{
			name: "TOSCA-Metadata and manifest", files: goodPackage(), entry: "Definitions/vnfd.yaml", manifest: "vnfd.mf",
			listed: []string{"TOSCA-Metadata/TOSCA.meta", "Definitions/vnfd.yaml", "Files/kubernetes/service.yaml", kubernetes},
		},
		{
			name: "root template", files: rootPackage(), entry: "sample.yaml", manifest: "sample.mf",
			listed: []string{"sample.yaml", kubernetes},
		},
		{
			name:  "root template with metadata keys at the top, change log, tests, licences and certificate",
			files: rootPackage().with(texts{"sample.yaml": "template_name: a\ntemplate_version: 1\ntemplate_author: b\n", "sample.mf": goodMetadata, "ChangeLog.txt": "1.0\n", "Tests/t.txt": "t\n", "Licenses/l.txt": "l\n", "sample.cert": "not read without a signature"}),
			entry: "sample.yaml", manifest: "sample.mf",
			check: func(t *testing.T, p *Package) {
				got := []string{p.ChangeLog, p.Tests, p.Licenses, p.Certificate}
				assert.Equal(t, []string{"ChangeLog.txt", "Tests", "Licenses", "sample.cert"}, got)
			},
			warnings: []string{`warning: sample.mf: 5 files are not listed: ChangeLog.txt, Files/kubernetes/deployment.yaml, Licenses/l.txt, Tests/t.txt, sample.yaml: the Kubernetes objects of Files/kubernetes/deployment.yaml are by default no part of an instance, and nothing protects this content; add a Source with Algorithm and Hash for each`},
		},
		{
			name: "Tacker: Created-by, no manifest, blocks in TOSCA.meta, Content-type",
			files: texts{
				"TOSCA-Metadata/TOSCA.meta": tackerMeta + "\nName: " + kubernetes + "\nContent-type: application/yaml\nAlgorithm: sha-256\nHash: " + strings.ToUpper(sha(deploymentText)) + "\n",
				"Definitions/vnfd.yaml":     vnfdText, kubernetes: deploymentText,
			},
			entry: "Definitions/vnfd.yaml", listed: []string{kubernetes},
			check: func(t *testing.T, p *Package) {
				want := Artifact{Path: kubernetes, Algorithm: "SHA-256", Hash: sha(deploymentText), Digest: "sha256:" + sha(deploymentText), ContentType: "application/yaml", Size: int64(len(deploymentText))}
				assert.Equal(t, want, p.Artifacts[0])
			},
			warnings: []string{noManifest},
		},
		{
			name: "SOL 004 2.5.1 key names",
			files: goodPackage().with(texts{
				"TOSCA-Metadata/TOSCA.meta": strings.Replace(goodMeta, "ETSI-Entry-Manifest", "Entry-Manifest", 1) + "Entry-Change-Log: ChangeLog.txt\nEntry-Tests: Tests\nEntry-Licenses: Licenses/\nEntry-Certificate: a.cert\n",
				"ChangeLog.txt":             "x", "Tests/a": "x", "Licenses/a": "x", "a.cert": "x", "vnfd.mf": goodMetadata,
			}),
			entry: "Definitions/vnfd.yaml", manifest: "vnfd.mf",
			check: func(t *testing.T, p *Package) {
				got := []string{p.ChangeLog, p.Tests, p.Licenses, p.Certificate, p.Meta[keyManifest]}
				assert.Equal(t, []string{"ChangeLog.txt", "Tests", "Licenses", "a.cert", "vnfd.mf"}, got)
			},
			warnings: []string{`warning: vnfd.mf: 6 files are not listed: ChangeLog.txt, Definitions/vnfd.yaml, Files/kubernetes/deployment.yaml, Files/kubernetes/service.yaml, Licenses/a, Tests/a: the Kubernetes objects of Files/kubernetes/deployment.yaml, Files/kubernetes/service.yaml are by default no part of an instance, and nothing protects this content; add a Source with Algorithm and Hash for each`},
		},
		{
			name:  "metadata neither indented nor with a space, eight keys, lower-case source",
			files: texts{"s.yaml": rootText, "s.mf": "metadata:\nvnf_provider_id:Acme\nvnf_product_name:cnf\nvnf_release_date_time:2021-01-01T10:00:00+02:00\nvnf_package_version:1.0\nvnfd_id:testCnf\nvnf_software_version:1\nvnfm_info:etsivnfm:v2.3.1,0:myGreatVnfm-1\ncompatible_specification_versions:2.6.1,3.1.1\n\nsource: s.yaml\nalgorithm: SHA-256\nhash: " + sha(rootText) + "\n"},
			entry: "s.yaml", manifest: "s.mf", listed: []string{"s.yaml"},
			check: func(t *testing.T, p *Package) {
				got := []string{p.Manifest.Metadata[metadataVNFDID], p.Manifest.Metadata[metadataReleaseDateTime], p.Manifest.Metadata[metadataVNFMInfo], p.Manifest.Metadata[metadataSpecVersions]}
				assert.Equal(t, []string{"testCnf", "2021-01-01T10:00:00+02:00", "etsivnfm:v2.3.1,0:myGreatVnfm-1", "2.6.1,3.1.1"}, got)
			},
		},
		{
			name:  "misspelt vnf_release_data_time and a YAML list of versions",
			files: texts{"s.yaml": rootText, "s.mf": "metadata:\n  vnf_provider_id: \"Acme: Inc\"\n  vnf_product_name: 'cnf'\n  vnf_release_data_time: 2021\n  vnf_package_version: 1.0\n  compatible_specification_versions:\n    - 2.7.1\n    - 3.3.1\nSource: s.yaml\nAlgorithm: SHA256\nHash: " + sha(rootText) + "\n"},
			entry: "s.yaml", manifest: "s.mf", listed: []string{"s.yaml"},
			check: func(t *testing.T, p *Package) {
				got := []string{p.Manifest.Metadata[metadataProvider], p.Manifest.Metadata[metadataProduct], p.Manifest.Metadata[metadataReleaseDateTime], p.Manifest.Metadata[metadataSpecVersions]}
				assert.Equal(t, []string{"Acme: Inc", "cnf", "2021", "2.7.1,3.3.1"}, got)
			},
			warnings: []string{`warning: s.mf:4:3: vnf_release_data_time is a misspelling: read as vnf_release_date_time`},
		},
		{
			name:  "Source lines without blank lines and digests, the manifest and TOSCA.meta list themselves, comments",
			files: goodPackage().with(texts{"vnfd.mf": "# made by hand\n" + goodMetadata + "  # the files\nSource: vnfd.mf\nSource: TOSCA-Metadata/TOSCA.meta\nSource: Definitions/vnfd.yaml\nSource: ./Files/kubernetes/service.yaml\nSource: " + kubernetes}),
			entry: "Definitions/vnfd.yaml", manifest: "vnfd.mf",
			listed:   []string{"vnfd.mf", "TOSCA-Metadata/TOSCA.meta", "Definitions/vnfd.yaml", "Files/kubernetes/service.yaml", kubernetes},
			warnings: []string{`warning: vnfd.mf: 3 files are listed without digest: Definitions/vnfd.yaml, Files/kubernetes/deployment.yaml, Files/kubernetes/service.yaml: nothing protects this content; add Algorithm and Hash`},
		},
		{
			name:  "the manifest holds a digest of itself",
			files: goodPackage().with(texts{"vnfd.mf": goodPackage()["vnfd.mf"] + source("vnfd.mf", "anything")}),
			entry: "Definitions/vnfd.yaml", manifest: "vnfd.mf",
			listed:   []string{"TOSCA-Metadata/TOSCA.meta", "Definitions/vnfd.yaml", "Files/kubernetes/service.yaml", kubernetes, "vnfd.mf"},
			warnings: []string{`warning: vnfd.mf:23:9: the manifest holds a digest of itself: it cannot be right and is not checked; remove Algorithm and Hash`},
		},
		{
			name:  "CRLF in TOSCA.meta and manifest, byte order mark",
			files: goodPackage().with(texts{"TOSCA-Metadata/TOSCA.meta": "\ufeff" + crlf(goodMeta), "vnfd.mf": crlf(strings.Replace(goodPackage()["vnfd.mf"], sha(goodMeta), sha("\ufeff"+crlf(goodMeta)), 1))}),
			entry: "Definitions/vnfd.yaml", manifest: "vnfd.mf",
			listed: []string{"TOSCA-Metadata/TOSCA.meta", "Definitions/vnfd.yaml", "Files/kubernetes/service.yaml", kubernetes},
		},
		{
			name:  "no final newline",
			files: rootPackage().with(texts{"sample.mf": strings.TrimSuffix(rootPackage()["sample.mf"], "\n")}),
			entry: "sample.yaml", manifest: "sample.mf", listed: []string{"sample.yaml", kubernetes},
		},
		{
			name:  "external Source",
			files: rootPackage().with(texts{"sample.mf": rootPackage()["sample.mf"] + "\nSource: https://example.com/images/vdu.qcow2\nAlgorithm: SHA-256\nHash: " + sha("x") + "\n"}),
			entry: "sample.yaml", manifest: "sample.mf", listed: []string{"sample.yaml", kubernetes, "https://example.com/images/vdu.qcow2"},
			check: func(t *testing.T, p *Package) {
				want := Artifact{Path: "https://example.com/images/vdu.qcow2", Algorithm: "SHA-256", Hash: sha("x"), External: true}
				assert.Equal(t, want, p.Artifacts[2])
			},
		},
		{
			name:  "SHA-512 and SHA-384",
			files: texts{"s.yaml": rootText, "d.json": deploymentText, "e": deploymentText, "s.mf": goodMetadata + source("s.yaml", rootText) + "Source: d.json\nAlgorithm: SHA-512\nHash: " + hex.EncodeToString(sum512[:]) + "\nSource: e\nHash: " + hex.EncodeToString(sum384[:]) + "\nAlgorithm: sha384\n"},
			entry: "s.yaml", manifest: "s.mf", listed: []string{"s.yaml", "d.json", "e"},
		},
		{
			name: "non-MANO artifact sets, listed as Source too or not",
			files: rootPackage().with(texts{
				"Files/ves.yaml": "a: 1\n", "Files/pm.yaml": "b: 1\n", "Files/x.sh": "exit\n",
				"sample.mf": rootPackage()["sample.mf"] + source("Files/ves.yaml", "a: 1\n") + "\nnon_mano_artifact_sets:\n  onap_ves_events:\n    Source: Files/ves.yaml\n  onap_pm_dictionary:\n    Source: Files/pm.yaml\n    Algorithm: SHA-256\n    Hash: " + sha("b: 1\n") + "\n  onap_others:\n    Source: Files/x.sh\n",
			}),
			entry: "sample.yaml", manifest: "sample.mf", listed: []string{"sample.yaml", kubernetes, "Files/ves.yaml"},
			check: func(t *testing.T, p *Package) {
				want := map[string][]string{"onap_ves_events": {"Files/ves.yaml"}, "onap_pm_dictionary": {"Files/pm.yaml"}, "onap_others": {"Files/x.sh"}}
				assert.Equal(t, want, p.NonMANO)
				assert.Equal(t, []string{"onap_ves_events", "onap_pm_dictionary", "onap_others"}, p.Manifest.Sets)
			},
			warnings: []string{`warning: sample.mf: 1 file is listed without digest: Files/x.sh: nothing protects this content; add Algorithm and Hash`},
		},
		{
			name:  "Other-Definitions, manifest and certificate found by name, continued value, keys after a blank line",
			files: goodPackage().with(texts{"TOSCA-Metadata/TOSCA.meta": "TOSCA-Meta-Version: 1.0\n\nCSAR-Version: 1.0\nCreated-By: Acme\n  Network Functions\nEntry-Definitions: Definitions/vnfd.yaml\nOther-Definitions: \"Definitions/a.yaml\" Definitions/b.yml\n", "Definitions/a.yaml": "x", "Definitions/b.yml": "x", "vnfd.cert": "x", "vnfd.mf": goodMetadata}),
			entry: "Definitions/vnfd.yaml", manifest: "vnfd.mf",
			check: func(t *testing.T, p *Package) {
				assert.Equal(t, []string{"Definitions/a.yaml", "Definitions/b.yml"}, p.OtherDefinitions)
				assert.Equal(t, []string{"vnfd.cert", "Acme Network Functions"}, []string{p.Certificate, p.Meta[keyCreatedBy]})
			},
			warnings: []string{`warning: vnfd.mf: 5 files are not listed: Definitions/a.yaml, Definitions/b.yml, Definitions/vnfd.yaml, Files/kubernetes/deployment.yaml, Files/kubernetes/service.yaml: the Kubernetes objects of Files/kubernetes/deployment.yaml, Files/kubernetes/service.yaml are by default no part of an instance, and nothing protects this content; add a Source with Algorithm and Hash for each`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := tt.files.archive()
			p, problems := Read(a, Options{})
			checkProblems(t, tt.warnings, problems)
			require.Equal(t, tt.entry, p.Entry)
			assert.Equal(t, tt.manifest, p.ManifestFile, "entry")
			var listed []string
			for _, artifact := range p.Artifacts {
				listed = append(listed, artifact.Path)
			}
			assert.Equal(t, tt.listed, listed, "artifacts")
			assert.Equal(t, ContentDigest(a), p.Digest, "digest")
			if tt.check != nil {
				tt.check(t, p)
			}
		})
	}
}
