package vnfm

import "strings"

// ForeignDescriptor says what a document is whose top has these keys, when it is a descriptor of SOL006 (YANG), which is how OSM
// writes VNFs and network services; empty when it is none.
func ForeignDescriptor(keys []string) string {
	for _, key := range keys {
		switch bare := key[strings.LastIndexByte(key, ':')+1:]; bare {
		case "vnfd", "vnfd-catalog":
			return "a VNFD of SOL006 (YANG), the form of OSM"
		case "nsd", "nsd-catalog":
			return "a network service descriptor of SOL006 (YANG), the form of OSM"
		}
	}
	return ""
}

// ForeignDescriptorAdvice says what to do about a descriptor that is not a VNFD of SOL001.
const ForeignDescriptorAdvice = "a VNF manager takes VNF packages, whose VNFD is a TOSCA service template (SOL001)"
