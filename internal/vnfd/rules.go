package vnfd

import "github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"

// The rules that a VNFD is held against. The ids are part of the output of "package lint".
const (
	ruleTOSCA         = "vnfd-tosca"
	ruleVNF           = "vnfd-vnf"
	ruleFlavour       = "vnfd-flavour"
	ruleVDU           = "vnfd-vdu"
	ruleNetwork       = "vnfd-network"
	ruleStorage       = "vnfd-storage"
	ruleContainer     = "vnfd-container"
	ruleMCIOP         = "vnfd-mciop"
	ruleAspects       = "vnfd-scaling-aspects"
	ruleDeltas        = "vnfd-scaling-deltas"
	ruleInitialDelta  = "vnfd-initial-delta"
	ruleLevels        = "vnfd-instantiation-levels"
	ruleVDULevels     = "vnfd-vdu-levels"
	ruleAffinity      = "vnfd-affinity"
	ruleSecurityGroup = "vnfd-security-group-rule"
	ruleChange        = "vnfd-package-change"
	ruleLCM           = "vnfd-lcm-interface"
	ruleArtifact      = "vnfd-artifact"
	ruleTackerScaling = "vnfd-tacker-scaling"
)

// Rules are the rules of SOL001 by which descriptors are read.
func Rules() []vnfm.Rule {
	return []vnfm.Rule{
		{ID: ruleTOSCA, Title: "The VNFD is a service template whose types, imports and functions can be resolved in the package", Clause: "TOSCA Simple Profile in YAML 1.3, 3.10"},
		{ID: ruleVNF, Title: "The VNF node identifies the VNFD, its provider, product and version", Clause: "SOL001 tosca.nodes.nfv.VNF"},
		{ID: ruleFlavour, Title: "Each deployment flavour is a service template with substitution mappings, and its parts refer to one another", Clause: "SOL001 6.11, deployment flavours"},
		{ID: ruleVDU, Title: "A VDU has a profile with its numbers of instances, and its demands can be read", Clause: "SOL001 tosca.nodes.nfv.Vdu.Compute, tosca.nodes.nfv.Vdu.OsContainerDeployableUnit"},
		{ID: ruleNetwork, Title: "Connection points are bound to VDUs and linked to virtual links that exist", Clause: "SOL001 tosca.nodes.nfv.VduCp, tosca.nodes.nfv.VnfVirtualLink"},
		{ID: ruleStorage, Title: "Storages have a size and are used by VDUs", Clause: "SOL001 tosca.nodes.nfv.Vdu.VirtualBlockStorage"},
		{ID: ruleContainer, Title: "Containers have an image, and their resources, ports and attachments can be read", Clause: "SOL001 tosca.nodes.nfv.Vdu.OsContainer, tosca.nodes.nfv.VirtualCp"},
		{ID: ruleMCIOP, Title: "An MCIOP has one Helm chart in the package and is associated with VDUs", Clause: "SOL001 tosca.nodes.nfv.Mciop"},
		{ID: ruleAspects, Title: "Scaling aspects have a highest level, and a delta for all steps or one for each", Clause: "SOL001 tosca.policies.nfv.ScalingAspects"},
		{ID: ruleDeltas, Title: "Deltas belong to an aspect and target VDUs of the flavour", Clause: "SOL001 tosca.policies.nfv.VduScalingAspectDeltas"},
		{ID: ruleInitialDelta, Title: "Initial deltas target VDUs of the flavour, one for each", Clause: "SOL001 tosca.policies.nfv.VduInitialDelta"},
		{ID: ruleLevels, Title: "Instantiation levels set scaling aspects that exist to levels that they have, and one is the default", Clause: "SOL001 tosca.policies.nfv.InstantiationLevels"},
		{ID: ruleVDULevels, Title: "Numbers of instances are given for instantiation levels and VDUs that exist", Clause: "SOL001 tosca.policies.nfv.VduInstantiationLevels"},
		{ID: ruleAffinity, Title: "Affinity rules have a scope and target nodes or groups of the flavour", Clause: "SOL001 tosca.policies.nfv.AffinityRule, tosca.policies.nfv.AntiAffinityRule"},
		{ID: ruleSecurityGroup, Title: "Security group rules target connection points or virtual links of the flavour", Clause: "SOL001 tosca.policies.nfv.SecurityGroupRule"},
		{ID: ruleChange, Title: "Changes of the package say from and to which VNFD they lead", Clause: "SOL001 tosca.policies.nfv.VnfPackageChange"},
		{ID: ruleLCM, Title: "The operations of the LCM interface name artifacts of the VNF node", Clause: "SOL001 tosca.interfaces.nfv.Vnflcm"},
		{ID: ruleArtifact, Title: "Artifacts name files of the package, and software images have what a VIM needs of them", Clause: "SOL001 tosca.artifacts.nfv.SwImage"},
		{ID: ruleTackerScaling, Title: "Scaling policies of Tacker's older templates have limits and target VDUs", Clause: "Tacker, tosca.policies.tacker.Scaling"},
	}
}
