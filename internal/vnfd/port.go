package vnfd

import (
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// readPorts reads the ports that a container listens on: 80, "80" or "53/udp", or a
// map with name, protocol and port.
func readPorts(v value) []vnfm.Port {
	var ports []vnfm.Port
	for _, item := range v.items() {
		if item.isMap() {
			if p, ok := portData(item); ok {
				ports = append(ports, p)
			}
			continue
		}
		text, ok := item.text()
		if !ok {
			continue
		}
		number, protocol, ok := splitPort(text)
		if !ok {
			item.errorf("%s must be a port such as 80 or 53/udp, not %q", item.path, text)
			continue
		}
		ports = append(ports, vnfm.Port{Number: number, Protocol: protocol})
	}
	return ports
}

// mappedPorts reads Tacker's mapping_ports: "80:8080" leads port 80 of the service
// to port 8080 of the container, "80" to the same one.
func mappedPorts(v value) []vnfm.Port {
	var ports []vnfm.Port
	for _, item := range v.items() {
		text, ok := item.text()
		if !ok {
			continue
		}
		outer, inner, mapped := strings.Cut(text, ":")
		if !mapped {
			inner = outer
		} else if _, protocol, found := strings.Cut(inner, "/"); found {
			outer += "/" + protocol
		}
		number, protocol, okOuter := splitPort(outer)
		target, _, okInner := splitPort(inner)
		if !okOuter || !okInner {
			item.errorf("%s must be one port or two, such as 80, 80:8080 or 53:5353/udp, not %q", item.path, text)
			continue
		}
		ports = append(ports, vnfm.Port{Number: number, Protocol: protocol, Target: target})
	}
	return ports
}

// splitPort reads a number with an optional protocol.
func splitPort(text string) (number int, protocol string, ok bool) {
	text, protocol, given := strings.Cut(strings.TrimSpace(text), "/")
	if !given {
		protocol = "TCP"
	}
	protocol, known := protocolName(protocol)
	number, err := strconv.Atoi(text)
	return number, protocol, err == nil && known && number >= 1 && number <= 65535
}

func protocolName(s string) (string, bool) {
	s = strings.ToUpper(s)
	return s, s == "TCP" || s == "UDP" || s == "SCTP"
}

// portData reads ServicePortData (SOL001 6.2.65): name, protocol and port.
func portData(v value) (vnfm.Port, bool) {
	if !v.isMap() {
		v.errorf("%s must be a mapping with name, protocol and port, not %s", v.path, describe(v))
		return vnfm.Port{}, false
	}
	p := vnfm.Port{Name: v.get("name").str(), Protocol: "TCP"}
	if protocol, ok := v.get("protocol").text(); ok {
		if p.Protocol, ok = protocolName(protocol); !ok {
			v.get("protocol").errorf("%s must be TCP, UDP or SCTP, not %q", v.get("protocol").path, protocol)
			return p, false
		}
	}
	number, ok := v.get("port").count()
	if !v.get("port").ok() {
		//findings:says add port, a number from 1 to 65535
		v.errorf("%s has no port", v.path)
	}
	if ok && (number < 1 || number > 65535) {
		v.get("port").errorf("%s must be between 1 and 65535, not %d", v.get("port").path, number)
		ok = false
	}
	p.Number = number
	if target, given := v.get("target_port").count(); given {
		p.Target = target
	}
	return p, ok
}

// serviceTypes are the types of Services that have endpoints of their own.
var serviceTypes = map[string]bool{"ClusterIP": true, "NodePort": true, "LoadBalancer": true}

func readServiceType(v value) string {
	s, ok := v.text()
	if ok && !serviceTypes[s] {
		v.errorf("%s must be ClusterIP, NodePort or LoadBalancer, not %q", v.path, s)
		return ""
	}
	return s
}

// readVirtualCPs gives the VDUs the services that VirtualCp nodes (SOL001 6.8.15)
// put in front of them.
func (r *reader) readVirtualCPs(f *indexed, t *template) {
	for _, n := range t.of(kindVirtualCp) {
		var reached []*vnfm.VDU
		for _, req := range n.required("target") {
			if v := f.VDU(req.node); v != nil && v.Workload != nil {
				reached = append(reached, v)
			}
		}
		if len(reached) == 0 {
			continue
		}
		w := reached[0].Workload
		w.Problems = append(w.Problems, r.aside(func() {
			ports := servicePorts(n)
			switch {
			case len(ports) == 0:
			case len(reached) > 1:
				n.key.errorf("the connection point %s has the VDUs %s and %s as its target; give each of them a VirtualCp of its own",
					n.name, reached[0].ID, reached[1].ID)
			default:
				w.Services = append(w.Services, vnfm.Service{
					Name: n.name, Type: readServiceType(n.property("service_type")), Ports: ports, Place: n.key.written(),
				})
			}
		})...)
	}
}

// servicePorts reads the ports that a VirtualCp exposes.
func servicePorts(n *node) []vnfm.Port {
	var ports []vnfm.Port
	for _, data := range n.property("additionalServiceData").items() {
		for _, item := range data.get("portData").items() {
			if p, ok := portData(item); ok {
				ports = append(ports, p)
			}
		}
	}
	return ports
}
