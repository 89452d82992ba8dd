package csar

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestReadBad holds packages that must not pass, each with all its problems.
func TestReadBad(t *testing.T) {
	const deployment = "Files/kubernetes/deployment.yaml"
	good, root := goodPackage(), rootPackage()
	meta := func(text string) texts {
		return good.with(texts{"TOSCA-Metadata/TOSCA.meta": text, "vnfd.mf": goodMetadata}).with(texts{deployment: "", "Files/kubernetes/service.yaml": ""})
	}
	mf := func(text string) texts { return texts{"s.yaml": rootText, "s.mf": text} }
	src := "Source: s.yaml\n"
	tests := []struct {
		name  string
		files texts
		o     Options
		want  []string
	}{
		{name: "empty", files: texts{}, want: []string{
			`error: the package is empty: a package holds at least a VNFD`,
		}},
		{name: "no VNFD at all", files: texts{"README.md": "x"}, want: []string{
			`error: the package has no VNFD: a package has TOSCA-Metadata/TOSCA.meta, or exactly one YAML file at its root`,
		}},
		{name: "manifests alone", files: texts{"web.yaml": deploymentText}, want: []string{
			`error: web.yaml: the package has Kubernetes manifests and no VNFD: write a VNFD and a manifest with digests beside them, as the guide "Writing packages" shows; a package has TOSCA-Metadata/TOSCA.meta, or exactly one YAML file at its root`,
		}},
		{name: "several manifests", files: texts{"web.yaml": deploymentText, "service.yaml": serviceText}, want: []string{
			`error: service.yaml: the package has Kubernetes manifests and no VNFD: write a VNFD and a manifest with digests beside them, as the guide "Writing packages" shows; a package has TOSCA-Metadata/TOSCA.meta, or exactly one YAML file at its root`,
		}},
		{name: "TOSCA.meta is missing", files: texts{"Definitions/sbc.yaml": topologyText, "Definitions/types.yaml": vnfdText, "k8s/sbc.yaml": deploymentText, "sbc.mf": goodMetadata}, want: []string{
			`error: TOSCA-Metadata/TOSCA.meta is missing: Definitions/sbc.yaml looks like the VNFD; write into TOSCA-Metadata/TOSCA.meta the lines "TOSCA-Meta-File-Version: 1.1", "CSAR-Version: 1.1", "Created-By: your name", "Entry-Definitions: Definitions/sbc.yaml" and "ETSI-Entry-Manifest: sbc.mf", as the guide "Writing packages" shows`,
		}},
		{name: "TOSCA.meta is missing, the manifest too, the VNFD has two templates", files: texts{"Definitions/top.yaml": topologyText, "Definitions/df.yaml": topologyText, "README.md": "x"}, want: []string{
			`error: TOSCA-Metadata/TOSCA.meta is missing: Definitions/df.yaml, Definitions/top.yaml look like the VNFD; write into TOSCA-Metadata/TOSCA.meta the lines "TOSCA-Meta-File-Version: 1.1", "CSAR-Version: 1.1", "Created-By: your name", "Entry-Definitions: " with the one that imports the others and "ETSI-Entry-Manifest: df.mf", as the guide "Writing packages" shows`,
		}},
		{name: "in a folder", files: texts{"core/s.yaml": rootText, "core/s.mf": goodMetadata}, want: []string{
			`error: all files of the package lie in its folder "core": if that folder is the package, pack its content, not the folder itself`,
		}},
		{name: "two YAML files at the root", files: root.with(texts{"values.yml": "a: 1\n"}), want: []string{
			`error: the package has 2 YAML files at its root: sample.yaml, values.yml: a package has TOSCA-Metadata/TOSCA.meta, or exactly one YAML file at its root`,
		}},
		{name: "packed with its folder", files: texts{"pkg/TOSCA-Metadata/TOSCA.meta": goodMeta, "pkg/Definitions/vnfd.yaml": vnfdText}, want: []string{
			`error: pkg/TOSCA-Metadata/TOSCA.meta: the package lies in a folder of its archive: pack the content of "pkg", not the folder itself`,
		}},
		{name: "TOSCA.meta in another case", files: texts{"TOSCA-Metadata/tosca.meta": goodMeta}, want: []string{
			`error: TOSCA-Metadata/tosca.meta: the file must be named TOSCA-Metadata/TOSCA.meta: names differ in case`,
		}},
		{name: "root YAML without metadata", files: texts{"compose.yaml": "services: {}\n", "compose.mf": goodMetadata + source("compose.yaml", "services: {}\n")}, want: []string{
			`error: compose.yaml:1:1: the metadata of the template lack template_name, template_version, template_author: a package without TOSCA-Metadata needs them in its YAML file at the root; integrity = "warn" goes on without it`,
		}},
		{name: "root YAML with half of the metadata", files: texts{"s.yaml": "tosca_definitions_version: x\nmetadata:\n  template_name: a\n", "s.mf": goodMetadata + "Source: s.yaml\nAlgorithm: SHA-256\nHash: " + sha("tosca_definitions_version: x\nmetadata:\n  template_name: a\n") + "\n"}, want: []string{
			`error: s.yaml:3:3: the metadata of the template lack template_version, template_author: a package without TOSCA-Metadata needs them in its YAML file at the root; integrity = "warn" goes on without it`,
		}},
		{name: "root YAML is a list", files: mf(goodMetadata).with(texts{"s.yaml": "- a\n"}), want: []string{
			`error: s.yaml:1:1: the file is not a TOSCA service template: a service template is a YAML mapping`,
			`warning: s.mf: 1 file is not listed: s.yaml: nothing protects this content; add a Source with Algorithm and Hash for each`,
		}},
		{name: "root YAML does not parse", files: mf(goodMetadata).with(texts{"s.yaml": "a: 1\nb: [\n"}), want: []string{
			`error: s.yaml:3: the file is not valid YAML: did not find expected node content`,
			`warning: s.mf: 1 file is not listed: s.yaml: nothing protects this content; add a Source with Algorithm and Hash for each`,
		}},
		{name: "root without manifest", files: texts{"s.yaml": rootText}, want: []string{
			`error: the package has no manifest s.mf: a package without TOSCA-Metadata needs one beside its YAML file; integrity = "warn" goes on without it`,
		}},
		{name: "root manifest with another name", files: texts{"s.yaml": rootText, "t.mf": goodMetadata}, want: []string{
			`error: t.mf: the manifest must be named s.mf: in a package without TOSCA-Metadata it is named after s.yaml; integrity = "warn" goes on without it`,
		}},
		{name: "TOSCA.meta without anything", files: meta("\n"), want: []string{
			`error: TOSCA-Metadata/TOSCA.meta:1: TOSCA-Meta-File-Version is missing: write "TOSCA-Meta-File-Version: 1.1"`,
			`error: TOSCA-Metadata/TOSCA.meta:1: CSAR-Version is missing: write "CSAR-Version: 1.1"`,
			`warning: TOSCA-Metadata/TOSCA.meta:1: Created-By is missing: TOSCA requires the name of the tool or person that made the package`,
			`error: TOSCA-Metadata/TOSCA.meta:1: Entry-Definitions is missing: it names the file where the VNFD begins, for example Definitions/vnfd.yaml`,
		}},
		{name: "TOSCA.meta with unknown versions", files: meta("TOSCA-Meta-File-Version: 9\nCSAR-Version: 2.0\nCreated-By: a\nEntry-Definitions: Definitions/vnfd.yaml\n"), want: []string{
			`error: TOSCA-Metadata/TOSCA.meta:1:26: TOSCA-Meta-File-Version "9" is not supported: known are 1.0 and 1.1`,
			`error: TOSCA-Metadata/TOSCA.meta:2:15: CSAR-Version "2.0" is not supported: known are 1.0 and 1.1`,
			`warning: vnfd.mf: 1 file is not listed: Definitions/vnfd.yaml: nothing protects this content; add a Source with Algorithm and Hash for each`,
		}},
		{name: "TOSCA.meta line without colon", files: meta(goodMeta + "what is this\n"), want: []string{
			`error: TOSCA-Metadata/TOSCA.meta:6:1: line is not "key: value" but "what is this"`,
			`warning: vnfd.mf: 1 file is not listed: Definitions/vnfd.yaml: nothing protects this content; add a Source with Algorithm and Hash for each`,
		}},
		{name: "TOSCA.meta key twice", files: meta(goodMeta + "Entry-Definitions: other.yaml\nCSAR-Version: 1.1\n"), want: []string{
			`error: TOSCA-Metadata/TOSCA.meta:6:1: Entry-Definitions is given twice with different values: first on line 4`,
			`warning: TOSCA-Metadata/TOSCA.meta:7:1: CSAR-Version is given twice: first on line 2`,
			`warning: vnfd.mf: 1 file is not listed: Definitions/vnfd.yaml: nothing protects this content; add a Source with Algorithm and Hash for each`,
		}},
		{name: "TOSCA.meta 2.5.1 and later name disagree", files: meta(goodMeta + "Entry-Manifest: other.mf\n"), want: []string{
			`error: TOSCA-Metadata/TOSCA.meta:6:1: ETSI-Entry-Manifest is given twice with different values: first on line 5`,
			`warning: vnfd.mf: 1 file is not listed: Definitions/vnfd.yaml: nothing protects this content; add a Source with Algorithm and Hash for each`,
		}},
		{name: "TOSCA.meta Hash without Name", files: meta(goodMeta + "\nAlgorithm: SHA-256\nHash: 00\n"), want: []string{
			`error: TOSCA-Metadata/TOSCA.meta:7:1: Algorithm without a Name: it belongs below the "Name:" line of its file`,
			`error: TOSCA-Metadata/TOSCA.meta:8:1: Hash without a Name: it belongs below the "Name:" line of its file`,
			`warning: vnfd.mf: 1 file is not listed: Definitions/vnfd.yaml: nothing protects this content; add a Source with Algorithm and Hash for each`,
		}},
		{name: "TOSCA.meta key in the block of a file", files: meta(goodMeta + "\nName: Definitions/vnfd.yaml\nETSI-Entry-Tests: Tests\n"), want: []string{
			`warning: TOSCA-Metadata/TOSCA.meta:8:1: ETSI-Entry-Tests stands in the block of a file: move it to the first block`,
			`warning: TOSCA-Metadata/TOSCA.meta:8:19: ETSI-Entry-Tests "Tests" is not in the package: add the file, or correct the path`,
			`warning: vnfd.mf: 1 file is listed without digest: Definitions/vnfd.yaml: nothing protects this content; add Algorithm and Hash`,
		}},
		{name: "TOSCA.meta is binary", files: meta("TOSCA-Meta-File-Version: 1.0\n\x00\x01"), want: []string{
			`error: TOSCA-Metadata/TOSCA.meta:2:1: the file holds a control character: this is a text file of "key: value" lines`,
		}},
		{name: "TOSCA.meta is UTF-16", files: meta("\xff\xfeT\x00"), want: []string{
			`error: TOSCA-Metadata/TOSCA.meta:1:1: the file is UTF-16: save it as UTF-8`,
		}},
		{name: "TOSCA.meta is Latin-1", files: meta("Created-By: M\xfcller\n"), want: []string{
			`error: TOSCA-Metadata/TOSCA.meta:1:14: the file is not UTF-8 text: save it as UTF-8`,
		}},
		{name: "entry missing, other case", files: good.with(texts{"TOSCA-Metadata/TOSCA.meta": strings.Replace(goodMeta, "vnfd.yaml", "VNFD.yaml", 1), "vnfd.mf": goodMetadata}).with(texts{deployment: "", "Files/kubernetes/service.yaml": ""}), want: []string{
			`error: TOSCA-Metadata/TOSCA.meta:4:20: Entry-Definitions "Definitions/VNFD.yaml" is not in the package: there is "Definitions/vnfd.yaml"; names differ in case`,
			`warning: vnfd.mf: 1 file is not listed: Definitions/vnfd.yaml: nothing protects this content; add a Source with Algorithm and Hash for each`,
		}},
		{name: "entry in another folder", files: meta(strings.Replace(goodMeta, "Definitions/vnfd.yaml", "vnfd.yaml", 1)), want: []string{
			`error: TOSCA-Metadata/TOSCA.meta:4:20: Entry-Definitions "vnfd.yaml" is not in the package: there is "Definitions/vnfd.yaml"; paths begin at the root of the package`,
			`warning: vnfd.mf: 1 file is not listed: Definitions/vnfd.yaml: nothing protects this content; add a Source with Algorithm and Hash for each`,
		}},
		{name: "entry is a directory", files: meta(strings.Replace(goodMeta, "Definitions/vnfd.yaml", "Definitions", 1)), want: []string{
			`error: TOSCA-Metadata/TOSCA.meta:4:20: Entry-Definitions "Definitions" is a directory: it must be a file`,
			`warning: vnfd.mf: 1 file is not listed: Definitions/vnfd.yaml: nothing protects this content; add a Source with Algorithm and Hash for each`,
		}},
		{name: "entry leaves the package", files: meta(strings.Replace(goodMeta, "Definitions/vnfd.yaml", "../../etc/passwd", 1)), want: []string{
			`error: TOSCA-Metadata/TOSCA.meta:4:20: Entry-Definitions "../../etc/passwd" is not a path in the package: the name leaves the package with ".."`,
			`warning: vnfd.mf: 1 file is not listed: Definitions/vnfd.yaml: nothing protects this content; add a Source with Algorithm and Hash for each`,
		}},
		{name: "entry is no YAML", files: meta(strings.Replace(goodMeta, "Definitions/vnfd.yaml", "vnfd.mf", 1)), want: []string{
			`error: TOSCA-Metadata/TOSCA.meta:4:20: Entry-Definitions "vnfd.mf" is not a YAML file: its name must end with .yaml or .yml`,
			`warning: vnfd.mf: 1 file is not listed: Definitions/vnfd.yaml: nothing protects this content; add a Source with Algorithm and Hash for each`,
		}},
		{name: "manifest, other definitions, change log and certificate missing", files: meta(strings.Replace(goodMeta, "vnfd.mf", "x.mf", 1) + "Other-Definitions: a.yaml, b.yaml\nETSI-Entry-Change-Log: log.txt\nETSI-Entry-Certificate: x.cert\n"), want: []string{
			`error: TOSCA-Metadata/TOSCA.meta:6:20: Other-Definitions "a.yaml" is not in the package: add the file, or correct the path`,
			`error: TOSCA-Metadata/TOSCA.meta:6:20: Other-Definitions "b.yaml" is not in the package: add the file, or correct the path`,
			`error: TOSCA-Metadata/TOSCA.meta:5:22: ETSI-Entry-Manifest "x.mf" is not in the package: add the file, or correct the path`,
			`warning: TOSCA-Metadata/TOSCA.meta:7:24: ETSI-Entry-Change-Log "log.txt" is not in the package: add the file, or correct the path`,
			`error: TOSCA-Metadata/TOSCA.meta:8:25: ETSI-Entry-Certificate "x.cert" is not in the package: add the file, or correct the path`,
		}},
		{name: "a PNF", files: mf("metadata:\n  pnfd_provider: a\n  pnfd_name: b\n  pnfd_release_date_time: c\n  pnfd_archive_version: d\n" + source("s.yaml", rootText)), want: []string{
			`error: s.mf: the package describes a PNF: a VNF manager takes VNF packages; their metadata begin with vnf_`,
		}},
		{name: "a network service", files: mf("metadata:\n  nsd_designer: a\n  nsd_name: b\n  nsd_release_date_time: c\n  nsd_file_structure_version: d\n" + source("s.yaml", rootText)), want: []string{
			`error: s.mf: the package describes a network service: a VNF manager takes VNF packages; their metadata begin with vnf_`,
		}},
		{name: "an ASD", files: mf("metadata:\n  application_name: a\n  application_provider: b\n  entry_definition_type: asd\n" + source("s.yaml", rootText)), want: []string{
			`error: s.mf: the package describes an application (ASD, the application service descriptor of O-RAN and ONAP): a VNF manager takes VNF packages; their metadata begin with vnf_`,
		}},
		{name: "a package of OSM", files: texts{"sample_vnfd.yaml": "vnfd:\n  id: sample\n", "checksums.txt": "x\n"}, want: []string{
			`error: sample_vnfd.yaml:1:1: the file is a VNFD of SOL006 (YANG), the form of OSM: a VNF manager takes VNF packages, whose VNFD is a TOSCA service template (SOL001)`,
		}},
		{name: "Content-Type in the first block", files: good.with(texts{"TOSCA-Metadata/TOSCA.meta": goodMeta + "Content-Type: application/vnd.oasis.tosca.definitions.yaml\n"}), o: Options{Integrity: IntegrityIgnore}, want: []string{
			`warning: TOSCA-Metadata/TOSCA.meta:6:1: Content-Type without a Name: it is ignored; it belongs below the "Name:" line of its file`,
		}},
		{name: "no metadata", files: mf(source("s.yaml", rootText)), want: []string{
			`warning: s.mf:1: the manifest has no metadata: SOL 004 requires vnf_provider_id, vnf_product_name, vnf_release_date_time, vnf_package_version`,
		}},
		{name: "incomplete metadata, a key twice, an unknown key", files: mf("metadata:\n  vnf_provider_id: a\n  vnf_provider_id: b\n  colour: red\n" + source("s.yaml", rootText)), want: []string{
			`error: s.mf:3:3: vnf_provider_id is given twice: first on line 2`,
			`warning: s.mf:4:3: unknown metadata key "colour": SOL 004 does not have it; it is kept`,
			`warning: s.mf:1: the metadata lack vnf_product_name, vnf_release_date_time, vnf_package_version: SOL 004 requires them`,
		}},
		{name: "metadata twice, with a value, late", files: mf(goodMetadata + "metadata: x\n" + source("s.yaml", rootText) + "metadata:\n"), want: []string{
			`error: s.mf:6:11: metadata takes no value: write the metadata as "key: value" lines below it`,
			`error: s.mf:11:1: metadata is given twice: a manifest has one metadata section`,
		}},
		{name: "metadata without their header", files: mf(strings.TrimPrefix(goodMetadata, "metadata:\n") + source("s.yaml", rootText)), want: []string{
			`warning: s.mf:1:3: vnf_provider_id stands outside of the metadata: write "metadata:" on a line before it`,
		}},
		{name: "line without colon, list item, unknown key", files: mf(goodMetadata + source("s.yaml", rootText) + "nonsense\n- item\nColour: red\n"), want: []string{
			`error: s.mf:10:1: line is not "key: value" but "nonsense"`,
			`error: s.mf:11:1: list item outside of the metadata: a manifest is made of "key: value" lines`,
			`warning: s.mf:12:1: unknown key "Colour": it is ignored`,
		}},
		{name: "Algorithm and Hash before any Source", files: mf(goodMetadata + "Algorithm: SHA-256\nHash: 00\n" + source("s.yaml", rootText)), want: []string{
			`error: s.mf:6:1: Algorithm without a Source: it belongs below the "Source:" line of its file`,
			`error: s.mf:7:1: Hash without a Source: it belongs below the "Source:" line of its file`,
		}},
		{name: "Hash without Algorithm", files: mf(goodMetadata + src + "Hash: " + sha(rootText) + "\n"), want: []string{
			`error: s.mf:7:7: Hash of "s.yaml" without Algorithm: add an Algorithm line before it, one of SHA-224, SHA-256, SHA-384, SHA-512`,
			`warning: s.mf: 1 file is listed without digest: s.yaml: nothing protects this content; add Algorithm and Hash`,
		}},
		{name: "Algorithm without Hash", files: mf(goodMetadata + src + "Algorithm: SHA-256\n"), want: []string{
			`error: s.mf:7:12: Algorithm of "s.yaml" without Hash: add a Hash line after it`,
			`warning: s.mf: 1 file is listed without digest: s.yaml: nothing protects this content; add Algorithm and Hash`,
		}},
		{name: "unknown algorithm", files: mf(goodMetadata + src + "  Algorithm: MD5\n  Hash: 00\n"), want: []string{
			`error: s.mf:7:14: digest algorithm "MD5" is not supported: use one of SHA-224, SHA-256, SHA-384, SHA-512`,
			`warning: s.mf: 1 file is listed without digest: s.yaml: nothing protects this content; add Algorithm and Hash`,
		}},
		{name: "hash too short", files: mf(goodMetadata + src + "Algorithm: SHA-256\nHash: abcd\n"), want: []string{
			`error: s.mf:8:7: Hash of "s.yaml" is not a SHA-256 digest: it must have 64 hexadecimal digits; integrity = "warn" goes on without it`,
			`warning: s.mf: 1 file is listed without digest: s.yaml: nothing protects this content; add Algorithm and Hash`,
		}},
		{name: "hash not hexadecimal, as a warning", files: mf(goodMetadata + src + "Algorithm: SHA-256\nHash: (replace me)\n"), o: Options{Integrity: IntegrityWarn}, want: []string{
			`warning: s.mf:8:7: Hash of "s.yaml" is not a SHA-256 digest: it must have 64 hexadecimal digits`,
			`warning: s.mf: 1 file is listed without digest: s.yaml: nothing protects this content; add Algorithm and Hash`,
		}},
		{name: "keys without values", files: mf(goodMetadata + "Source:\nSource: s.yaml\nAlgorithm:\nHash:\n"), want: []string{
			`error: s.mf:6:8: Source has no value: write the path of a file of the package`,
			`error: s.mf:8:11: Algorithm has no value`,
			`error: s.mf:9:6: Hash has no value`,
			`warning: s.mf: 1 file is listed without digest: s.yaml: nothing protects this content; add Algorithm and Hash`,
		}},
		{name: "keys twice in a block", files: mf(goodMetadata + source("s.yaml", rootText) + "Hash: 00\n"), want: []string{
			`error: s.mf:10:1: Hash is given twice for one Source: the Source is on line 7`,
		}},
		{name: "wrong digest", files: mf(goodMetadata + source("s.yaml", "other")), want: []string{
			`error: s.mf:9:7: SHA-256 of "s.yaml" is not the one declared: declared d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa, computed 83d2d37df4f3ab12f630a08fcb215f76f8ed01e3c595036d5ce05cec5222834e; the file was changed after the manifest was written, or damaged; in a package of your own, "terraform-provider-vnf package hash DIRECTORY" writes the digests again; integrity = "warn" goes on without it`,
		}},
		{name: "wrong digest, as a warning", files: mf(goodMetadata + source("s.yaml", "other")), o: Options{Integrity: IntegrityWarn}, want: []string{
			`warning: s.mf:9:7: SHA-256 of "s.yaml" is not the one declared: declared d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa, computed 83d2d37df4f3ab12f630a08fcb215f76f8ed01e3c595036d5ce05cec5222834e; the file was changed after the manifest was written, or damaged; in a package of your own, "terraform-provider-vnf package hash DIRECTORY" writes the digests again`,
		}},
		{name: "missing files", files: mf(goodMetadata + source("s.yaml", rootText) + source("Files/a", "x") + source("S.yaml", "x")), want: []string{
			`error: s.mf:11:9: 2 files are listed and not in the package: Files/a (line 11), S.yaml (line 15): add the files, or correct the paths; integrity = "warn" goes on without it`,
		}},
		{name: "missing file, as a warning", files: mf(goodMetadata + source("s.yaml", rootText) + source("Files/a", "x")), o: Options{Integrity: IntegrityWarn}, want: []string{
			`warning: s.mf:11:9: "Files/a" is not in the package: add the file, or correct the path`,
		}},
		{name: "a directory as Source", files: mf(goodMetadata + source("s.yaml", rootText) + "Source: Files/\n").with(texts{"Files/a": "x"}), want: []string{
			`warning: s.mf:10:9: "Files" is a directory: list its files one by one`,
			`warning: s.mf: 1 file is not listed: Files/a: nothing protects this content; add a Source with Algorithm and Hash for each`,
		}},
		{name: "manifests of Kubernetes that are not listed", files: mf(goodMetadata + source("s.yaml", rootText)).with(texts{"k8s/extra.yaml": deploymentText, "k8s/values.yaml": "a: 1\n"}), want: []string{
			`warning: s.mf: 2 files are not listed: k8s/extra.yaml, k8s/values.yaml: the Kubernetes objects of k8s/extra.yaml are by default no part of an instance, and nothing protects this content; add a Source with Algorithm and Hash for each`,
		}},
		{name: "Source listed twice", files: mf(goodMetadata + source("s.yaml", rootText) + source("s.yaml", rootText) + source("s.yaml", "x")), want: []string{
			`warning: s.mf:11:9: "s.yaml" is listed twice: first on line 7`,
			`error: s.mf:15:9: "s.yaml" is listed twice with different digests: first on line 7`,
			`error: s.mf:17:7: SHA-256 of "s.yaml" is not the one declared: declared 2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881, computed 83d2d37df4f3ab12f630a08fcb215f76f8ed01e3c595036d5ce05cec5222834e; the file was changed after the manifest was written, or damaged; in a package of your own, "terraform-provider-vnf package hash DIRECTORY" writes the digests again; integrity = "warn" goes on without it`,
		}},
		{name: "Source outside of the package", files: mf(goodMetadata + source("s.yaml", rootText) + "Source: ../x\nSource: /etc/passwd\nSource: C:\\x\nSource: Files\\x\n"), want: []string{
			`error: s.mf:10:9: "../x" is not a path in the package: the name leaves the package with ".."`,
			`error: s.mf:11:9: "/etc/passwd" is not a path in the package: the name is an absolute path`,
			`error: s.mf:12:9: "C:\\x" is not a path in the package: the name holds a backslash; names in a package are separated by slashes`,
			`error: s.mf:13:9: "Files\\x" is not a path in the package: the name holds a backslash; names in a package are separated by slashes`,
		}},
		{name: "Source with other URL schemes", files: mf(goodMetadata + source("s.yaml", rootText) + "Source: file:///etc/passwd\nSource: ftp://example.com/x\nSource: http://\n"), want: []string{
			`error: s.mf:10:9: URL scheme "file" is not allowed: an external file has an http or https URL`,
			`error: s.mf:11:9: URL scheme "ftp" is not allowed: an external file has an http or https URL`,
			`error: s.mf:12:9: "http://" is not a valid URL`,
		}},
		{name: "Certificate without Signature", files: mf(goodMetadata + source("s.yaml", rootText) + "Certificate: s.cert\n"), want: []string{
			`error: s.mf:10:14: Certificate of "s.yaml" without Signature: add a Signature line before it`,
		}},
		{name: "non-MANO sets: value, Source without set, set without Source, set twice, missing file", files: mf(goodMetadata + source("s.yaml", rootText) + "non_mano_artifact_sets: x\n  Source: s.yaml\n  onap_others: y\n  onap_ves_events:\n  onap_others:\n    Source: nowhere\n"), want: []string{
			`error: s.mf:10:25: non_mano_artifact_sets takes no value: write each set identifier with a colon on its own line below it`,
			`error: s.mf:11:3: Source in non_mano_artifact_sets without a set identifier: write the identifier of the set with a colon on the line before it`,
			`error: s.mf:12:16: non-MANO artifact set onap_others takes no value: write its files as "Source: path" lines below it`,
			`error: s.mf:13:3: non-MANO artifact set onap_ves_events has no Source`,
			`error: s.mf:14:3: non-MANO artifact set onap_others is given twice: put its files under one identifier`,
			`error: s.mf:15:13: "nowhere" is not in the package: add the file, or correct the path; integrity = "warn" goes on without it`,
		}},
		{name: "signature without end", files: mf(goodMetadata + source("s.yaml", rootText) + "-----BEGIN CMS-----\nMIIB\n"), want: []string{
			`error: s.mf:10:1: the signature has no end: its last line must be "-----END CMS-----"; the file may be cut off`,
		}},
		{name: "signature without beginning", files: mf(goodMetadata + source("s.yaml", rootText) + "MIIB\n-----END CMS-----\n"), want: []string{
			`error: s.mf:10:1: line is not "key: value" but "MIIB"`,
			`error: s.mf:11:1: end of a signature without its beginning: the line before the signature must be "-----BEGIN CMS-----"`,
		}},
		{name: "signature with another end, text after it", files: mf(goodMetadata + source("s.yaml", rootText) + "-----BEGIN CMS-----\nMIIB\n-----END PKCS7-----\nSource: x\n"), o: Options{Signature: SignatureIgnore}, want: []string{
			`error: s.mf:12:1: the signature ends with "-----END PKCS7-----": its end must be "-----END CMS-----"`,
			`error: s.mf:13:1: text after the signature: the signature is the last part of a manifest; nothing after it is signed`,
		}},
		{name: "two signatures, another block", files: mf(goodMetadata + source("s.yaml", rootText) + "-----BEGIN CERTIFICATE-----\n-----BEGIN CMS-----\nMIIB\n-----END CMS-----\n-----BEGIN CMS-----\n"), o: Options{Signature: SignatureIgnore}, want: []string{
			`error: s.mf:10:1: unexpected block "-----BEGIN CERTIFICATE-----": a manifest is signed by one "-----BEGIN CMS-----" block`,
			`error: s.mf:14:1: second signature: a manifest has one signature; the first begins on line 11`,
		}},
		{name: "not signed but required", files: root, o: Options{Signature: SignatureRequire}, want: []string{
			`error: sample.mf: the package is not signed: a signature is required: in the manifest (option 1) or beside the archive (option 2)`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := Read(tt.files.archive(), tt.o)
			assert.Equal(t, tt.want, render(problems), "problems")
			assert.NotEmpty(t, problems, "no problem was found")
		})
	}
}
