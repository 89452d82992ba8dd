package vnfd

import (
	"maps"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// More types of ETSI and TOSCA that exist without a definition in the package. They mean nothing here, or tell that the file is
// no VNFD.
var otherTypes = func() map[string]kind {
	out := map[string]kind{}
	for k, names := range map[kind]string{
		kindOther: `
			tosca.nodes.Root tosca.nodes.Abstract.Compute tosca.nodes.Abstract.Storage tosca.nodes.Compute tosca.nodes.SoftwareComponent
			tosca.nodes.WebServer tosca.nodes.WebApplication tosca.nodes.DBMS tosca.nodes.Database tosca.nodes.LoadBalancer
			tosca.nodes.ObjectStorage tosca.nodes.BlockStorage tosca.nodes.Storage.ObjectStorage tosca.nodes.Storage.BlockStorage
			tosca.nodes.Container.Runtime tosca.nodes.Container.Application tosca.nodes.Container.Application.Docker
			tosca.nodes.network.Network tosca.nodes.network.Port tosca.nodes.network.FloatingIP
			tosca.nodes.BlockStorage.Tacker tosca.nodes.BlockStorageAttachment tosca.nodes.nfv.Cp

			tosca.policies.Root tosca.policies.Placement tosca.policies.Scaling tosca.policies.Monitoring tosca.policies.Update
			tosca.policies.Performance tosca.policies.Reservation
			tosca.policies.nfv.Abstract.SecurityGroupRule tosca.policies.nfv.LcmCoordinationAction
			tosca.policies.nfv.LcmCoordinationsForLcmOperation tosca.policies.nfv.SupportedVnfInterface
			tosca.policies.nfv.VipCpInitialDelta tosca.policies.nfv.VipCpInstantiationLevels tosca.policies.nfv.VipCpScalingAspectDeltas
			tosca.policies.nfv.VirtualLinkBitrateInitialDelta tosca.policies.nfv.VirtualLinkBitrateScalingAspectDeltas
			tosca.policies.nfv.VirtualLinkInstantiationLevels tosca.policies.nfv.VnfIndicator
			tosca.policies.tacker.Placement tosca.policies.tacker.Reservation tosca.policies.tacker.Alarming
			tosca.policies.tacker.Monitoring tosca.policies.tacker.Monitoring.NoOp tosca.policies.tacker.Monitoring.Ping
			tosca.policies.tacker.Monitoring.HttpPing tosca.policies.tacker.Failure tosca.policies.tacker.Failure.Respawn
			tosca.policies.tacker.Failure.Terminate tosca.policies.tacker.Failure.Log`,
		kindNS: `
			tosca.nodes.nfv.NS tosca.nodes.nfv.NsVirtualLink tosca.nodes.nfv.Sap tosca.nodes.nfv.NFP tosca.nodes.nfv.NfpPosition
			tosca.nodes.nfv.NfpPositionElement tosca.nodes.nfv.Forwarding

			tosca.policies.nfv.DataFlowInfo tosca.policies.nfv.NfpRule tosca.policies.nfv.NsAffinityRule
			tosca.policies.nfv.NsAntiAffinityRule tosca.policies.nfv.NsAutoScale tosca.policies.nfv.NsInstantiationLevels
			tosca.policies.nfv.NsMonitoring tosca.policies.nfv.NsScalingAspects tosca.policies.nfv.NsSecurityGroupRule
			tosca.policies.nfv.NsToInstantiationLevelMapping tosca.policies.nfv.NsToLevelMapping
			tosca.policies.nfv.VirtualLinkToInstantiationLevelMapping tosca.policies.nfv.VirtualLinkToLevelMapping
			tosca.policies.nfv.VnfMonitoring tosca.policies.nfv.VnfToInstantiationLevelMapping tosca.policies.nfv.VnfToLevelMapping`,
		kindPNF: `tosca.nodes.nfv.PNF tosca.nodes.nfv.PnfExtCp tosca.policies.nfv.PnfSecurityGroupRule`,
		kindASD: `tosca.nodes.asd tosca.nodes.asd.Asd`,
	} {
		for name := range strings.FieldsSeq(names) {
			out[name] = k
		}
	}
	return out
}()

// oldTypes are node types of the TOSCA NFV profile, which was before SOL001.
var oldTypes = map[string]bool{
	"tosca.nodes.nfv.VDU": true, "tosca.nodes.nfv.VDU.Compute": true, "tosca.nodes.nfv.VDU.VirtualStorage": true,
	"tosca.nodes.nfv.CP": true, "tosca.nodes.nfv.Cpd": true, "tosca.nodes.nfv.VduCpd": true, "tosca.nodes.nfv.VnfExtCpd": true,
	"tosca.nodes.nfv.VnfVirtualLinkDesc": true, "tosca.nodes.nfv.VL.ELine": true, "tosca.nodes.nfv.VL.ELAN": true,
	"tosca.nodes.nfv.VL.ETree": true, "tosca.nodes.nfv.FP": true, "tosca.nodes.nfv.FP.Tacker": true, "tosca.nodes.nfv.FP.TackerV2": true,
}

// toscaPrefix begins the names that belong to TOSCA and ETSI.
const toscaPrefix = "tosca."

// knownNames are the names of node and policy types that a VNFD has, in order.
var knownNames = func() []string {
	names := slices.Collect(maps.Keys(wellKnown))
	for name, k := range otherTypes {
		if k == kindOther {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}()

// maxSuggestions is for how many types of a VNFD the nearest is looked for.
const maxSuggestions = 50

// maxNearest is the length of the longest name for which the nearest is looked for.
const maxNearest = 100

// nearest returns the type that a name was probably meant to be: one of its section ("tosca.nodes.") that differs in few letters,
// in case the least. It is empty when there is none.
func nearest(name string) string {
	if len(name) > maxNearest {
		return ""
	}
	section := strings.SplitAfterN(name, ".", 3)
	if len(section) < 3 {
		return ""
	}
	prefix := section[0] + section[1]
	rest := strings.TrimPrefix(name[len(prefix):], "nfv.")
	best, out := max(len(rest)/3, 2)+1, ""
	for _, other := range knownNames {
		if !strings.HasPrefix(other, prefix) {
			continue
		}
		if d := levenshtein.Distance(strings.ToLower(name), strings.ToLower(other), nil); d < best {
			best, out = d, other
		}
	}
	return out
}

// missingType is a type that begins with "tosca." and exists nowhere.
type missingType struct {
	// name is what does not exist: the type itself, or one that it derives from.
	name, nearest string
}

// missing returns what of a type does not exist, if its name begins with "tosca."; ok is false when all of it does.
func (t typeTable) missing(scope, name string) (m missingType, ok bool) {
	k, last := t.resolve(scope, name)
	if k != kindUnknown || !strings.HasPrefix(last, toscaPrefix) {
		return m, false
	}
	m.name = last
	if t.r.suggestions < maxSuggestions {
		t.r.suggestions++
		m.nearest = nearest(last)
	}
	return m, true
}

// kind is what the nearest type is: reading goes on with it, so that no finding follows from this one.
func (m missingType) kind() kind {
	if k, ok := wellKnown[m.nearest]; ok {
		return k
	}
	return otherTypes[m.nearest]
}

// text says what does not exist; typ is the type as the part ("node VDU1") has it.
func (m missingType) text(typ, part string) string {
	text := "the type " + typ + " of the " + part
	if bare := typ[strings.LastIndexByte(typ, ':')+1:]; bare != m.name {
		text += " derives from " + m.name + ", which"
	}
	if m.nearest == "" {
		//findings:says define the type in the package and import that file, or use a type of SOL001
		return text + " does not exist: it is defined neither in the package nor by TOSCA or SOL001 (v4.4.1)"
	}
	return text + " does not exist; the nearest is " + m.nearest
}
