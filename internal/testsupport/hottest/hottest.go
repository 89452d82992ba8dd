// Package hottest has the same servers in each form of templates that a VNF package can bring.
package hottest

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Server is a VDU, with its connection points in the order of its network cards.
type Server struct {
	VDU    string
	Points []string
}

// Form is how the templates of a deployment flavour make the servers of its VDUs.
type Form string

// The forms of templates.
const (
	// Flat has servers and ports in the top template.
	Flat Form = "flat"
	// Nested has a nested template for the servers of a VDU.
	Nested Form = "nested"
	// Grouped has an auto-scaling group of such nested templates.
	Grouped Form = "grouped"
	// Translated has no template: the VNFD says it all.
	Translated Form = "translated"
)

// Forms are all of them.
func Forms() []Form { return []Form{Flat, Nested, Grouped, Translated} }

// Files are the templates of a deployment flavour by their paths in the package; there are none in the form Translated.
func Files(form Form, flavour string, servers ...Server) map[string]string {
	out := map[string]string{}
	top := "heat_template_version: 2018-08-31\nparameters:\n  nfv: { type: json }\nresources:\n"
	for _, s := range servers {
		switch form {
		case Flat:
			top += s.resources("{ get_param: [nfv, VDU, "+s.VDU+", computeFlavourId] }", "{ get_param: [nfv, VDU, "+s.VDU+", vcImageId] }", func(point string) string {
				return "{ get_param: [nfv, CP, " + point + ", network] }"
			})
		case Nested:
			top += fmt.Sprintf("  %s: %s\n", s.VDU, s.member())
		case Grouped:
			top += fmt.Sprintf("  %[1]s_group: { type: OS::Heat::AutoScalingGroup, properties: { min_size: 0, max_size: 9, desired_capacity: { get_param: [nfv, VDU, %[1]s, desired_capacity] }, resource: %[2]s } }\n",
				s.VDU, s.member())
		case Translated:
			continue
		}
		if form != Flat {
			out[path.Join("BaseHOT", flavour, "nested", s.VDU+".yaml")] = s.nested()
		}
	}
	if form != Translated {
		out[path.Join("BaseHOT", flavour, "top.yaml")] = top
	}
	return out
}

// member is the definition of the nested template.
func (s Server) member() string {
	networks := ""
	for n, point := range s.Points {
		networks += fmt.Sprintf(", net%d: { get_param: [nfv, CP, %s, network] }", n, point)
	}
	return fmt.Sprintf("{ type: %[1]s.yaml, properties: { flavor: { get_param: [nfv, VDU, %[1]s, computeFlavourId] }, image: { get_param: [nfv, VDU, %[1]s, vcImageId] }%[2]s } }", s.VDU, networks)
}

// nested is the nested template.
func (s Server) nested() string {
	text := "heat_template_version: 2018-08-31\nparameters:\n  flavor: { type: string }\n  image: { type: string }\n"
	for n := range s.Points {
		text += fmt.Sprintf("  net%d: { type: string }\n", n)
	}
	return text + "resources:\n" + s.resources("{ get_param: flavor }", "{ get_param: image }", func(point string) string {
		return fmt.Sprintf("{ get_param: net%d }", slices.Index(s.Points, point))
	})
}

// resources are the server and its ports.
func (s Server) resources(flavor, image string, network func(point string) string) string {
	var ports []string
	text := ""
	for _, point := range s.Points {
		ports = append(ports, "{ port: { get_resource: "+point+" } }")
		text += fmt.Sprintf("  %s: { type: OS::Neutron::Port, properties: { network: %s } }\n", point, network(point))
	}
	return fmt.Sprintf("  %s: { type: OS::Nova::Server, properties: { flavor: %s, image: %s, networks: [%s] } }\n%s", s.VDU, flavor, image, strings.Join(ports, ", "), text)
}
