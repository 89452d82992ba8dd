package openstack

import (
	"context"
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Server is a server of Nova.
type Server struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status"`
	// Task is what Nova is doing with it; empty for nothing.
	Task      string               `json:"OS-EXT-STS:task_state"`
	Zone      string               `json:"OS-EXT-AZ:availability_zone"`
	Host      string               `json:"OS-EXT-SRV-ATTR:host"`
	CreatedAt time.Time            `json:"created"`
	Addresses map[string][]Address `json:"addresses"`
	// Volumes are those that are attached to it.
	Volumes []struct {
		ID string `json:"id"`
	} `json:"os-extended-volumes:volumes_attached"`
	// Image is what it was made of: the text "" for a server that boots from a volume.
	Image json.RawMessage `json:"image"`
	// Fault is why the status is ERROR.
	Fault Fault `json:"fault"`
}

// BootsFromVolume reports whether the root of the server is a volume.
func (s *Server) BootsFromVolume() bool { return string(s.Image) == `""` }

// Address is one of a server's.
type Address struct {
	Address string `json:"addr"`
	Version int    `json:"version"`
	MAC     string `json:"OS-EXT-IPS-MAC:mac_addr"`
	// Type is "fixed" or "floating".
	Type string `json:"OS-EXT-IPS:type"`
}

// Fault is what Nova says of a server that it could not bring up.
type Fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Statuses of servers that the driver looks for.
const (
	ServerActive  = "ACTIVE"
	ServerShutoff = "SHUTOFF"
	ServerError   = "ERROR"
)

// Servers returns the servers of the project by id: one request for each thousand.
func (c *Client) Servers(ctx context.Context) (map[string]*Server, error) {
	all, err := list[Server](ctx, c, call{doing: "listing the servers", service: ServiceCompute, path: "/servers/detail", query: url.Values{"limit": {"1000"}}}, "servers")
	if err != nil {
		return nil, err
	}
	out := make(map[string]*Server, len(all))
	for i := range all {
		out[all[i].ID] = &all[i]
	}
	return out, nil
}

// Server returns a server by its id.
func (c *Client) Server(ctx context.Context, id string) (*Server, error) {
	var out struct{ Server Server }
	err := c.do(ctx, call{doing: "reading server " + id, service: ServiceCompute, path: "/servers/" + url.PathEscape(id), out: &out})
	if err != nil {
		return nil, err
	}
	return &out.Server, nil
}

// Port is a port of Neutron.
type Port struct {
	ID string `json:"id"`
	// Device is the id of the server that it belongs to; empty for none.
	Device  string    `json:"device_id"`
	Network string    `json:"network_id"`
	Fixed   []FixedIP `json:"fixed_ips"`
}

// Addresses are those of the port, in the order of Neutron.
func (p *Port) Addresses() []string {
	out := make([]string, 0, len(p.Fixed))
	for _, fixed := range p.Fixed {
		out = append(out, fixed.Address)
	}
	return out
}

// FixedIP is an address of a port.
type FixedIP struct {
	Address string `json:"ip_address"`
	Subnet  string `json:"subnet_id"`
}

// Ports returns the ports of the project by id: one request for each page of Neutron's.
func (c *Client) Ports(ctx context.Context) (map[string]*Port, error) {
	own, err := c.authenticated(ctx)
	if err != nil {
		return nil, err
	}
	// An administrator would get the ports of all projects.
	query := url.Values{"project_id": {own.project.ID}, "fields": {"id", "device_id", "network_id", "fixed_ips"}, "limit": {"1000"}}
	all, err := list[Port](ctx, c, call{doing: "listing the ports", service: ServiceNetwork, path: "/ports", query: query}, "ports")
	if err != nil {
		return nil, err
	}
	out := make(map[string]*Port, len(all))
	for i := range all {
		out[all[i].ID] = &all[i]
	}
	return out, nil
}

// FloatingIP is a floating address of Neutron.
type FloatingIP struct {
	ID string `json:"id"`
}

// FloatingIPs returns the floating addresses of the project by id: one request for each page of Neutron's.
func (c *Client) FloatingIPs(ctx context.Context) (map[string]*FloatingIP, error) {
	own, err := c.authenticated(ctx)
	if err != nil {
		return nil, err
	}
	query := url.Values{"project_id": {own.project.ID}, "fields": {"id"}, "limit": {"1000"}}
	all, err := list[FloatingIP](ctx, c, call{doing: "listing the floating addresses", service: ServiceNetwork, path: "/floatingips", query: query}, "floatingips")
	if err != nil {
		return nil, err
	}
	out := make(map[string]*FloatingIP, len(all))
	for i := range all {
		out[all[i].ID] = &all[i]
	}
	return out, nil
}

// StartServer turns a server on, by and by. One that runs is left alone.
func (c *Client) StartServer(ctx context.Context, s *Server) error {
	return c.act(ctx, "starting server "+s.Name, s.ID, "os-start")
}

// StopServer has the system on a server end, by and by. One that does not run is left alone.
func (c *Client) StopServer(ctx context.Context, s *Server) error {
	return c.act(ctx, "stopping server "+s.Name, s.ID, "os-stop")
}

// DetachPort takes a port from a server, by and by. One that the server does not have any more is left alone. Nova refuses it with a
// conflict for a server that is neither active nor off.
func (c *Client) DetachPort(ctx context.Context, server, port string) error {
	return c.discard(ctx, "detaching port "+port+" from server "+server, "/servers/"+url.PathEscape(server)+"/os-interface/"+url.PathEscape(port), http.StatusAccepted)
}

// AttachVolume gives a server a volume, by and by.
func (c *Client) AttachVolume(ctx context.Context, server, volume string) error {
	return c.do(ctx, call{
		doing: "attaching volume " + volume + " to server " + server, service: ServiceCompute, method: http.MethodPost,
		path: "/servers/" + url.PathEscape(server) + "/os-volume_attachments", body: map[string]any{"volumeAttachment": map[string]any{"volumeId": volume}},
		ok: []int{http.StatusOK},
	})
}

// DeleteServer deletes a server, by and by. One that is gone is left alone.
func (c *Client) DeleteServer(ctx context.Context, id string) error {
	return c.discard(ctx, "deleting server "+id, "/servers/"+url.PathEscape(id), http.StatusNoContent)
}

// discard deletes something of Nova's, if it is there.
func (c *Client) discard(ctx context.Context, doing, path string, ok int) error {
	err := c.do(ctx, call{doing: doing, service: ServiceCompute, method: http.MethodDelete, path: path, ok: []int{ok}})
	if IsNotFound(err) {
		return nil
	}
	return err
}

func (c *Client) act(ctx context.Context, doing, id, action string) error {
	err := c.do(ctx, call{
		doing: doing, service: ServiceCompute, method: http.MethodPost, path: "/servers/" + url.PathEscape(id) + "/action",
		body: map[string]any{action: nil}, ok: []int{http.StatusAccepted},
	})
	if IsConflict(err) || IsNotFound(err) {
		// It is in that state already, or on its way, or gone; the wait will show it.
		return nil
	}
	return err
}

// specsMicroversion is the first one in which the list of flavors has their extra specs.
const specsMicroversion = "2.61"

// AllFlavors returns the flavors that the project may use, with their extra specs.
func (c *Client) AllFlavors(ctx context.Context) ([]Flavor, error) {
	return list[Flavor](ctx, c, call{doing: "listing the flavors", service: ServiceCompute, path: "/flavors/detail", microversion: specsMicroversion}, "flavors")
}

// Fixed are the addresses of the server that are its ports' own, in order.
func (s *Server) Fixed() []string { return s.addresses("fixed") }

// Floating are those that lead to it from elsewhere.
func (s *Server) Floating() []string { return s.addresses("floating") }

func (s *Server) addresses(kind string) []string {
	var out []string
	for _, each := range s.Addresses {
		for _, a := range each {
			if a.Type == kind {
				out = append(out, a.Address)
			}
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		x, errX := netip.ParseAddr(a)
		y, errY := netip.ParseAddr(b)
		if errX != nil || errY != nil {
			return strings.Compare(a, b)
		}
		return x.Compare(y)
	})
	return out
}
