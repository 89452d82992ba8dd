package requests

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/configuration"
)

// converter converts one request.
type converter struct {
	name, vimName, source string
	findings              findings
	// variables are those of the configuration, in order.
	variables []variable
}

// variable is a variable of the configuration.
type variable struct {
	name, description string
	secret            bool
}

// use adds a variable and returns the reference to it.
func (c *converter) use(name, description string, secret bool) configuration.Expression {
	name = configuration.Name(name)
	for n, base := 2, name; slices.ContainsFunc(c.variables, func(v variable) bool { return v.name == name }); n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	c.variables = append(c.variables, variable{name, description, secret})
	return configuration.Expression("var." + name)
}

// convert returns the configuration.
func (c *converter) convert(request, vimConfig map[string]any) ([]byte, error) {
	r, err := newObject("", request, &c.findings)
	if err != nil {
		return nil, err
	}
	vimID, vim, err := c.vimOf(r, vimConfig)
	if err != nil {
		return nil, err
	}
	instance, err := c.instance(r, vimID)
	if err != nil {
		return nil, err
	}
	r.rest()
	name := configuration.Name(c.name)
	source := any(c.source)
	if c.source == "" {
		source = c.use("package", "Directory, file or URL of the VNF package.", false)
	}
	f := configuration.New()
	for _, line := range c.findings.lines {
		f.Comment("Not converted: %s", line)
	}
	f.Terraform()
	for _, v := range c.variables {
		arguments := configuration.Fields{{Name: "description", Value: v.description}, {Name: "type", Value: configuration.Expression("string")}}
		if v.secret {
			arguments = append(arguments, configuration.Field{Name: "sensitive", Value: true}, configuration.Field{Name: "ephemeral", Value: true})
		}
		f.Block("variable", []string{v.name}, arguments)
	}
	if vim != nil {
		f.Block("resource", []string{"vnf_vim", configuration.Name(c.vimName)}, vim)
	}
	f.Block("resource", []string{"vnf_package", name}, configuration.Fields{{Name: "name", Value: c.name}, {Name: "source", Value: source}})
	f.Block("resource", []string{"vnf_instance", name}, instance)
	return f.Bytes(), nil
}

// instance are the arguments of the vnf_instance.
func (c *converter) instance(r *object, vimID configuration.Expression) (configuration.Fields, error) {
	flavour, err := r.text("flavourId")
	if err != nil {
		return nil, err
	}
	if flavour == "" {
		return nil, errors.New("the request has no flavourId, which an InstantiateVnfRequest needs")
	}
	level, err := r.text("instantiationLevelId")
	if err != nil {
		return nil, err
	}
	links, err := c.links(r)
	if err != nil {
		return nil, err
	}
	managed, err := c.managedLinks(r)
	if err != nil {
		return nil, err
	}
	params, err := r.object("additionalParams")
	if err != nil {
		return nil, err
	}
	out := configuration.Fields{
		{Name: "name", Value: c.name}, {Name: "vim_id", Value: vimID},
		{Name: "package_id", Value: configuration.Expression("vnf_package." + configuration.Name(c.name) + ".id")},
		{Name: "flavour_id", Value: flavour}, {Name: "instantiation_level_id", Value: level},
		{Name: "ext_virtual_links", Value: links}, {Name: "ext_managed_virtual_links", Value: managed},
	}
	if params == nil {
		return out, nil
	}
	for _, name := range []string{"lcm-operation-user-data", "lcm-operation-user-data-class"} {
		if _, given := params.fields[name]; given {
			c.findings.add(params.at(name), why[name])
		}
	}
	given := maps.Clone(params.fields)
	delete(given, "lcm-operation-user-data")
	delete(given, "lcm-operation-user-data-class")
	shown, secret, _ := configuration.Part(given)
	out = append(out, configuration.Field{Name: "additional_params", Value: shown})
	if len(secret) > 0 {
		hidden := configuration.Hide(secret, func(path string) any {
			return c.use(strings.NewReplacer(".", "_", "[", "_", "]", "").Replace(path), "additionalParams."+path+" of the request.", true)
		})
		out = append(out, configuration.Field{Name: "additional_params_wo", Value: hidden}, configuration.Field{Name: "additional_params_wo_version", Value: 1})
	}
	return out, nil
}

// links are the external virtual links.
func (c *converter) links(r *object) (configuration.Fields, error) {
	all, keys, err := r.objects("extVirtualLinks")
	if err != nil {
		return nil, err
	}
	var out configuration.Fields
	for n, link := range all {
		id, err := link.text("id")
		if err != nil {
			return nil, err
		}
		network, err := link.text("resourceId")
		if err != nil {
			return nil, err
		}
		if network == "" {
			return nil, fmt.Errorf("%s has no resourceId, the id of the network", link.path)
		}
		if id == "" {
			id = keys[n]
		}
		ports, err := linkPorts(link)
		if err != nil {
			return nil, err
		}
		cps, err := c.points(link, ports)
		if err != nil {
			return nil, err
		}
		link.rest()
		out = append(out, configuration.Field{Name: id, Value: configuration.Fields{{Name: "resource_id", Value: network}, {Name: "ext_cps", Value: cps}}})
	}
	return out, nil
}

// linkPorts are the ids of ports by the ids that the request gives them.
func linkPorts(link *object) (map[string]string, error) {
	all, _, err := link.objects("extLinkPorts")
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, port := range all {
		id, err := port.text("id")
		if err != nil {
			return nil, err
		}
		handle, err := port.object("resourceHandle")
		if err != nil {
			return nil, err
		}
		if handle == nil {
			return nil, fmt.Errorf("%s has no resourceHandle", port.path)
		}
		if out[id], err = handle.text("resourceId"); err != nil {
			return nil, err
		}
		handle.rest()
		port.rest()
	}
	return out, nil
}

// points are the external connection points of a link.
func (c *converter) points(link *object, ports map[string]string) (any, error) {
	all, _, err := link.objects("extCps")
	if err != nil {
		return nil, err
	}
	var out configuration.Fields
	for _, cp := range all {
		id, err := cp.text("cpdId")
		if err != nil {
			return nil, err
		}
		if id == "" {
			return nil, fmt.Errorf("%s has no cpdId", cp.path)
		}
		point, err := c.point(cp, ports)
		if err != nil {
			return nil, err
		}
		cp.rest()
		out = append(out, configuration.Field{Name: id, Value: point})
	}
	if len(out) == 0 {
		return configuration.Expression("{}"), nil
	}
	return out, nil
}

// address is an address of each port of a connection point.
type address struct {
	subnet string
	fixed  []any
}

// point is one connection point: each entry of cpConfig is the port of one VNFC.
func (c *converter) point(cp *object, ports map[string]string) (any, error) {
	configs, _, err := cp.objects("cpConfig")
	if err != nil {
		return nil, err
	}
	var port, mac string
	var addresses []address
	for n, config := range configs {
		id, err := config.text("linkPortId")
		if err != nil {
			return nil, err
		}
		if id != "" && n > 0 {
			c.findings.add(config.at("linkPortId"), "a connection point has the port of one VNFC")
		} else if id != "" {
			port = id
			if known := ports[id]; known != "" {
				port = known
			}
		}
		own, err := c.protocols(config, n, &addresses)
		if err != nil {
			return nil, err
		}
		if own != "" && n > 0 {
			c.findings.add(config.path, "a connection point has the MAC address of one VNFC")
		} else if own != "" {
			mac = own
		}
		config.rest()
	}
	var list []any
	for _, a := range addresses {
		if a.subnet != "" || len(a.fixed) > 0 {
			list = append(list, configuration.Fields{{Name: "subnet_id", Value: a.subnet}, {Name: "fixed_addresses", Value: a.fixed}})
		}
	}
	if port == "" && mac == "" && len(list) == 0 {
		return configuration.Expression("{}"), nil
	}
	return configuration.Fields{{Name: "link_port_id", Value: port}, {Name: "mac_address", Value: mac}, {Name: "ip_addresses", Value: list}}, nil
}

// protocols reads the addresses of the port of the VNFC with a number, and returns its MAC address.
func (c *converter) protocols(config *object, number int, addresses *[]address) (mac string, err error) {
	all, _, err := config.objects("cpProtocolData")
	if err != nil {
		return "", err
	}
	for n, protocol := range all {
		layer, err := protocol.text("layerProtocol")
		if err != nil {
			return "", err
		}
		if n > 0 || layer != "" && layer != "IP_OVER_ETHERNET" {
			c.findings.add(protocol.path, "a port has one protocol, IP_OVER_ETHERNET")
			continue
		}
		ip, err := protocol.object("ipOverEthernet")
		if err != nil {
			return "", err
		}
		if ip != nil {
			if mac, err = ip.text("macAddress"); err != nil {
				return "", err
			}
			if err := c.addresses(ip, number, addresses); err != nil {
				return "", err
			}
			ip.rest()
		}
		protocol.rest()
	}
	return mac, nil
}

// addresses reads the addresses of a port. The first entry of cpConfig says which ones a port has, each one which its VNFC has.
func (c *converter) addresses(ip *object, number int, out *[]address) error {
	all, _, err := ip.objects("ipAddresses")
	if err != nil {
		return err
	}
	for n, a := range all {
		a.take("type")
		subnet, err := a.text("subnetId")
		if err != nil {
			return err
		}
		fixed, err := a.texts("fixedAddresses")
		if err != nil {
			return err
		}
		if a.fields["numDynamicAddresses"] == json.Number("1") {
			// That is what an entry without fixed addresses is.
			a.take("numDynamicAddresses")
		}
		a.rest()
		switch {
		case n < len(*out):
			(*out)[n].fixed = append((*out)[n].fixed, fixed...)
		case number == 0:
			*out = append(*out, address{subnet, fixed})
		default:
			c.findings.add(a.path, "the first entry of cpConfig has no such address")
		}
	}
	return nil
}

// managedLinks are the internal virtual links that the user manages.
func (c *converter) managedLinks(r *object) (configuration.Fields, error) {
	all, _, err := r.objects("extManagedVirtualLinks")
	if err != nil {
		return nil, err
	}
	var out configuration.Fields
	for _, link := range all {
		link.take("id")
		id, err := link.text("vnfVirtualLinkDescId")
		if err != nil {
			return nil, err
		}
		if id == "" {
			if id, err = link.text("virtualLinkDescId"); err != nil {
				return nil, err
			}
		}
		network, err := link.text("resourceId")
		if err != nil {
			return nil, err
		}
		if id == "" || network == "" {
			return nil, fmt.Errorf("%s needs vnfVirtualLinkDescId and resourceId", link.path)
		}
		link.rest()
		out = append(out, configuration.Field{Name: id, Value: configuration.Fields{{Name: "resource_id", Value: network}}})
	}
	return out, nil
}
