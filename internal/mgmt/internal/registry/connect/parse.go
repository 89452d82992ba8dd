package connect

import (
	"fmt"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/params"
)

// The attributes of a connection.
const (
	attributeType        = "connection_type"
	attributeServer      = "server"
	attributeUsername    = "username"
	attributePassword    = "password"
	attributeCertificate = "certificate_path"
	attributeHosts       = "hosts_string"
)

// Read reads a list of connections, usually private_registry_connection_info. file returns a file of the package; nil leaves
// certificates unread.
func Read(o *params.Object, name string, file func(path string) ([]byte, error)) []Connection {
	r := reader{file: file, servers: map[string]bool{}, addresses: map[string]string{}}
	var out []Connection
	for _, entry := range o.Objects(name) {
		out = append(out, r.connection(entry))
	}
	return out
}

type reader struct {
	file func(path string) ([]byte, error)
	// servers are the servers read so far, addresses the addresses by name for /etc/hosts.
	servers   map[string]bool
	addresses map[string]string
}

func (r *reader) connection(o *params.Object) Connection {
	c := Connection{
		Type: connectionType(o), Server: o.Required(attributeServer), Username: o.Text(attributeUsername), Password: o.Secret(attributePassword),
	}
	if c.Server != "" {
		if err := checkServer(c.Server); err != nil {
			//findings:says write host or host:port, for example registry.example:5000
			o.Errorf(attributeServer, err.Error(), "cannot be used: %q", c.Server)
		} else if r.servers[c.Server] {
			o.Errorf(attributeServer, "nodes have one connection to each registry", "is given twice: %q", c.Server)
		}
		r.servers[c.Server] = true
	}
	const both = "give both, or neither for a registry that everybody may read"
	switch {
	case c.Username != "" && c.Password == "":
		o.Missing(attributePassword, both)
	case c.Username == "" && c.Password != "":
		o.Missing(attributeUsername, both)
	case strings.ContainsAny(c.Username, ":\r\n"):
		o.Errorf(attributeUsername, "a user name ends at its first colon", "has a colon or a line break")
	}
	r.certificate(o, &c)
	r.hosts(o, &c)
	o.Done()
	return c
}

// connectionType reads a type: a number, also as a string, or the name of the protocol.
func connectionType(o *params.Object) Type {
	const known = "the types are 0 or http, and 1 or https"
	switch text := o.Text(attributeType); strings.ToLower(strings.TrimSpace(text)) {
	case "0", "http":
		return HTTP
	case "1", "https":
		return HTTPS
	case "":
		if !o.Has(attributeType) {
			o.Missing(attributeType, known)
			return ""
		}
		fallthrough
	default:
		o.Errorf(attributeType, known, "is not a type of connection: %q", text)
		return ""
	}
}

func (r *reader) certificate(o *params.Object, c *Connection) {
	path := o.Text(attributeCertificate)
	if path == "" || r.file == nil {
		return
	}
	if c.Type == HTTP {
		o.Warnf(attributeCertificate, "set connection_type to 1, or leave it out", "is not used, since HTTP has no certificates")
		return
	}
	content, err := r.file(path)
	if err == nil {
		err = checkAuthorities(string(content), time.Now())
	}
	if err != nil {
		//findings:says name a file of the package with CA certificates that are valid now, as PEM
		o.Errorf(attributeCertificate, err.Error(), "cannot be used: %q", path)
		return
	}
	c.Certificate = string(content)
}

func (r *reader) hosts(o *params.Object, c *Connection) {
	text := o.Text(attributeHosts)
	if text == "" {
		return
	}
	address, names, err := hostsLine(text)
	if err != nil {
		//findings:says write an IP address and a name, for example 192.0.2.1 registry.example
		o.Errorf(attributeHosts, err.Error(), "is not a line for /etc/hosts: %q", text)
		return
	}
	for _, name := range names {
		name = strings.ToLower(name)
		if other, ok := r.addresses[name]; ok && other != address.String() {
			o.Errorf(attributeHosts, fmt.Sprintf("another connection has it at %s", other), "has %s at a second address", name)
		}
		r.addresses[name] = address.String()
	}
	c.HostsString = address.String() + " " + strings.Join(names, " ")
}
