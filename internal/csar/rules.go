package csar

import "github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"

// The rules that a package is held against. The ids are part of the output of "package lint".
const (
	ruleArchive   = "csar-archive"
	ruleMeta      = "csar-tosca-meta"
	ruleRoot      = "csar-root-template"
	ruleManifest  = "csar-manifest"
	ruleIntegrity = "csar-integrity"
	ruleSignature = "csar-signature"
	ruleOption2   = "csar-signed-archive"
	ruleObjects   = "csar-kubernetes-manifests"
)

// Rules are the rules of SOL004 by which packages are read, and one of Kubernetes.
func Rules() []vnfm.Rule {
	return []vnfm.Rule{
		{ID: ruleArchive, Title: "The package is a zip archive or a directory whose names are safe on every system", Clause: "SOL004 4.1"},
		{ID: ruleMeta, Title: "TOSCA-Metadata/TOSCA.meta names the entry definitions, the manifest and the other files by paths in the package", Clause: "SOL004 4.1.2"},
		{ID: ruleRoot, Title: "A package without TOSCA-Metadata has one VNFD at its root", Clause: "SOL004 4.1.3"},
		{ID: ruleManifest, Title: "The manifest has the metadata of a VNF package and one entry for each file", Clause: "SOL004 4.3.2"},
		{ID: ruleIntegrity, Title: "Each file is listed with a digest, and has it", Clause: "SOL004 5.3"},
		{ID: ruleSignature, Title: "The manifest, or each artifact, is signed, and the signer's certificate leads to a trust root", Clause: "SOL004 5.2, 5.4"},
		{ID: ruleOption2, Title: "An archive of security option 2 holds a package, its signature and at most one certificate", Clause: "SOL004 5.1"},
		{ID: ruleObjects, Title: "Manifests of Kubernetes can be read", Clause: "Kubernetes API conventions, objects"},
	}
}
