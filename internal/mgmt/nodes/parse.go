package nodes

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The attributes of a connection in a request.
const (
	attributeType        = "connection_type"
	attributeServer      = "server"
	attributeUsername    = "username"
	attributePassword    = "password"
	attributeCertificate = "certificate_path"
	attributeHosts       = "hosts_string"
)

var attributes = []string{attributeType, attributeServer, attributeUsername, attributePassword, attributeCertificate, attributeHosts}

// Parse reads the list private_registry_connection_info of a request. attribute is where it
// stands there, for the problems, and read returns a file of the package.
func Parse(value any, attribute string, read func(path string) ([]byte, error)) ([]Connection, vnfm.Problems) {
	p := parser{read: read}
	if value == nil {
		return nil, nil
	}
	list, ok := value.([]any)
	if !ok {
		p.refuse(attribute, "the connections to registries are not a list", "it has one object for each registry, with connection_type and server")
		return nil, p.problems
	}
	var out []Connection
	for i, item := range list {
		at := fmt.Sprintf("%s.%d", attribute, i)
		entry, ok := item.(map[string]any)
		if !ok {
			p.refuse(at, "a connection to a registry is not an object", "it has connection_type and server, and may have username, password, certificate_path and hosts_string")
			continue
		}
		out = append(out, p.connection(entry, at))
	}
	p.together(out, attribute)
	if p.problems.HasErrors() {
		return nil, p.problems
	}
	return out, p.problems
}

type parser struct {
	read     func(path string) ([]byte, error)
	problems vnfm.Problems
}

func (p *parser) refuse(attribute, summary, detail string) {
	p.problems = append(p.problems, vnfm.Problem{Attribute: attribute, Summary: summary, Detail: detail})
}

func (p *parser) connection(entry map[string]any, at string) Connection {
	for _, name := range slices.Sorted(maps.Keys(entry)) {
		if slices.Contains(attributes, name) {
			continue
		}
		detail := "it has " + strings.Join(attributes, ", ")
		if near := nearest(name, attributes); near != "" {
			detail = fmt.Sprintf("did you mean %s?", near)
		}
		p.refuse(at+"."+name, fmt.Sprintf("a connection to a registry has no attribute %q", name), detail)
	}
	c := Connection{
		Type: p.kind(entry[attributeType], at+"."+attributeType), Server: p.text(entry, attributeServer, at),
		Username: p.text(entry, attributeUsername, at), Password: p.secret(entry, attributePassword, at),
	}
	if err := checkServer(c.Server); err != nil {
		p.refuse(at+"."+attributeServer, "the server of a registry cannot be used", err.Error())
	}
	p.credentials(c, at)
	p.certificate(&c, p.text(entry, attributeCertificate, at), at+"."+attributeCertificate)
	if text := p.text(entry, attributeHosts, at); text != "" {
		address, names, err := hostsLine(text)
		if err != nil {
			p.refuse(at+"."+attributeHosts, fmt.Sprintf("%q is no line for /etc/hosts", text), err.Error())
		} else {
			c.HostsString = address.String() + " " + strings.Join(names, " ")
		}
	}
	return c
}

// kind reads the type of a connection, which may be a number, a number in a text, or the
// name of the protocol.
func (p *parser) kind(value any, at string) Type {
	text := ""
	switch v := value.(type) {
	case nil:
		p.refuse(at, "connection_type is missing", "give 0 or http, or 1 or https")
		return ""
	case string:
		text = v
	case float64, int, int64, json.Number:
		text = fmt.Sprint(v)
	}
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "0", "http":
		return HTTP
	case "1", "https":
		return HTTPS
	}
	p.refuse(at, fmt.Sprintf("%v is no type of connection", value), "0 or http, and 1 or https, are the types there are")
	return ""
}

func (p *parser) text(entry map[string]any, name, at string) string {
	switch v := entry[name].(type) {
	case nil:
		return ""
	case string:
		return v
	}
	p.refuse(at+"."+name, name+" is not a text", "write it in quotes")
	return ""
}

// secret is a text that a request may hold as a secret. It repeats nothing of it.
func (p *parser) secret(entry map[string]any, name, at string) vnfm.Secret {
	if s, ok := entry[name].(vnfm.Secret); ok {
		return s
	}
	return vnfm.Secret(p.text(entry, name, at))
}

func (p *parser) credentials(c Connection, at string) {
	switch {
	case c.Username != "" && c.Password == "":
		p.refuse(at+"."+attributePassword, fmt.Sprintf("user %q has no password", c.Username), "give both, or none of them for a registry that everybody may read")
	case c.Username == "" && c.Password != "":
		p.refuse(at+"."+attributeUsername, "there is a password and no user", "give both, or none of them for a registry that everybody may read")
	case strings.ContainsAny(c.Username, ":\r\n"):
		p.refuse(at+"."+attributeUsername, "the name of a user has no colon and no line break", "it ends at the colon where it is sent")
	}
}

func (p *parser) certificate(c *Connection, path, at string) {
	if path == "" {
		return
	}
	if c.Type == HTTP {
		p.problems = append(p.problems, vnfm.Problem{
			Severity: vnfm.SeverityWarning, Attribute: at, Summary: "HTTP has no certificates, so that this one is not used", Detail: "set connection_type to 1, or leave certificate_path out",
		})
		return
	}
	content, err := p.read(path)
	if err != nil {
		p.refuse(at, fmt.Sprintf("the certificate %s cannot be read from the package", path), err.Error())
		return
	}
	if err := checkAuthorities(string(content), time.Now()); err != nil {
		p.refuse(at, fmt.Sprintf("the certificate %s cannot be used", path), err.Error())
		return
	}
	c.Certificate = string(content)
}

// together finds connections that do not go together.
func (p *parser) together(connections []Connection, attribute string) {
	servers, addresses := map[string]int{}, map[string]string{}
	for i, c := range connections {
		if first, ok := servers[c.Server]; ok && c.Server != "" {
			p.refuse(fmt.Sprintf("%s.%d.%s", attribute, i, attributeServer), fmt.Sprintf("registry %s is there twice", c.Server),
				fmt.Sprintf("connection %d is to it as well, and nodes have one way to each registry", first))
		} else {
			servers[c.Server] = i
		}
		fields := strings.Fields(c.HostsString)
		if len(fields) == 0 {
			continue
		}
		for _, name := range fields[1:] {
			name = strings.ToLower(name)
			if other, ok := addresses[name]; ok && other != fields[0] {
				p.refuse(fmt.Sprintf("%s.%d.%s", attribute, i, attributeHosts), fmt.Sprintf("%s is at two addresses", name), fmt.Sprintf("another connection has it at %s", other))
			}
			addresses[name] = fields[0]
		}
	}
}

// nearest is the name that was probably meant; empty when none is near.
func nearest(name string, names []string) string {
	best, least := "", len(name)/3+2
	for _, candidate := range names {
		if d := distance(strings.ToLower(name), candidate); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// distance is the number of letters to change, add or leave out between two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
