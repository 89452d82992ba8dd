package cluster

import (
	"cmp"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/hosts"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/params"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/runtimeregistries"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Param is the additional parameter that says what the cluster is.
const Param = "k8s_cluster_installation_param"

// The networks of a cluster whose parameters name none.
const (
	defaultPodCIDR     = "192.168.0.0/16"
	defaultServiceCIDR = "10.96.0.0/12"
)

const (
	defaultDrainTimeout  = 5 * time.Minute
	defaultScriptTimeout = 30 * time.Minute
)

// Settings are the parameters of a cluster.
type Settings struct {
	VIMName string
	// ScriptPath is a file of the package, and ScriptTimeout bounds each call of it; they
	// are there without Ansible.
	ScriptPath     string
	ScriptTimeout  time.Duration
	Master, Worker Group
	// PodCIDR and ServiceCIDR have no host bits.
	PodCIDR, ServiceCIDR netip.Prefix
	Proxy                Proxy
	Ansible              *Ansible
	LoadBalancer         *LoadBalancer
	Registries           []runtimeregistries.Connection
	DrainTimeout         time.Duration
}

// Group are the nodes of one role.
type Group struct {
	AspectID string
	Access   hosts.Access
	// NIC is the connection point whose address the nodes speak to one another by, Cluster
	// the one at which the API server is reached.
	NIC, Cluster string
}

// Proxy is what nodes reach the world through.
type Proxy struct {
	HTTP, HTTPS vnfm.Secret
	None        []string
}

// NoProxy is the list of what is reached without the proxy, as programs take it.
func (p Proxy) NoProxy() string { return strings.Join(p.None, ",") }

// Ansible is the host that runs playbooks.
type Ansible struct {
	Host remote.Host
	// Root is the folder of kubespray, Inventory that of the cluster's inventory.
	Root, Inventory string
	// Variables are laid over those that are computed.
	Variables map[string]any
	Timeout   time.Duration
}

// LoadBalancer is the server in front of the cluster.
type LoadBalancer struct {
	Access hosts.Access
	// Script is a file of the package; empty means the built-in configuration.
	Script string
	// APIPort is the port of the API server; NodePorts are passed on to all nodes.
	APIPort   int
	NodePorts []int
}

// Kind reads the parameters that one way to install clusters has for its own, after those
// that all have.
type Kind func(r Reader, o *params.Object, s *Settings)

// Kubespray is a host of Ansible that has kubespray.
func Kubespray(r Reader, o *params.Object, s *Settings) {
	// The specification of the driver has an empty script_path.
	o.Text("script_path")
	s.Ansible = r.ansible(o)
	for _, of := range []struct {
		name  string
		group Group
	}{{masterNode, s.Master}, {workerNode, s.Worker}} {
		if login := of.group.Access.Login; login.PrivateKey != "" && login.Passphrase != "" {
			o.Object(of.name).Errorf("private_key_passphrase", "give the key without a passphrase: the store keeps it sealed", "cannot be used: Ansible cannot ask for it")
		}
	}
}

// Script is a script of the package.
func Script(r Reader, o *params.Object, s *Settings) {
	s.ScriptPath = r.file(o, "script_path", true)
	s.ScriptTimeout = duration(o, "script_timeout", defaultScriptTimeout)
}

// The parameters of the nodes of a role.
const (
	masterNode = "master_node"
	workerNode = "worker_node"
)

// Read reads the parameters, and notes what is wrong with them.
func Read(values map[string]any, later bool, p *vnfm.Package, f *vnfm.Flavour, own Kind, problems *vnfm.Problems) *Settings {
	root := params.Root(values, later, problems)
	o := root.Object(Param)
	if o == nil {
		root.Missing(Param, "it says how the cluster is installed: master_node, worker_node and more")
		return nil
	}
	r := Reader{content: p.Content, flavour: f}
	s := &Settings{VIMName: o.Text("vim_name"), DrainTimeout: duration(o, "drain_timeout", defaultDrainTimeout)}
	s.Master, s.Worker = r.group(o, masterNode, s), r.group(o, workerNode, nil)
	own(r, o, s)
	s.Proxy = r.proxy(o)
	s.LoadBalancer = r.loadBalancer(o)
	s.Registries = r.registries(o)
	if s.PodCIDR.IsValid() && s.ServiceCIDR.IsValid() && s.PodCIDR.Overlaps(s.ServiceCIDR) {
		o.Errorf("master_node.cluster_cidr", "pods and services need networks of their own", "%s overlaps with pod_cidr %s", s.ServiceCIDR, s.PodCIDR)
	}
	o.Done()
	return s
}

// Reader has what parameters are checked against.
type Reader struct {
	content fs.FS
	flavour *vnfm.Flavour
}

// group reads the nodes of a role; that of masters has the networks of the cluster too.
func (r Reader) group(o *params.Object, name string, masters *Settings) Group {
	below := o.Object(name)
	if below == nil {
		o.Missing(name, "ssh_cp_name, username, and password or private_key of its servers")
		return Group{}
	}
	g := Group{AspectID: below.Text("aspect_id"), Access: hosts.ReadAccess(below, r.flavour)}
	if g.AspectID != "" && r.flavour.Aspect(g.AspectID) == nil {
		ids := make([]string, 0, len(r.flavour.Aspects))
		for _, a := range r.flavour.Aspects {
			ids = append(ids, a.ID)
		}
		detail := fmt.Sprintf("deployment flavour %q has %s", r.flavour.ID, strings.Join(ids, ", "))
		if like := vnfm.Nearest(g.AspectID, ids); like != "" {
			detail = fmt.Sprintf("did you mean %q? %s", like, detail)
		}
		below.Errorf("aspect_id", detail, "names no scaling aspect: %q", g.AspectID)
	}
	point := func(name string, otherwise string) string {
		if !below.Has(name) {
			below.Text(name)
			return otherwise
		}
		if vdu := hosts.VDUOf(below, name, r.flavour); vdu != "" && g.Access.VDU != "" && vdu != g.Access.VDU {
			below.Errorf(name, "", "is of VDU %s, and ssh_cp_name of VDU %s", vdu, g.Access.VDU)
		}
		return below.Text(name)
	}
	g.NIC = point("nic_cp_name", g.Access.ConnectionPoint)
	g.Cluster = point("cluster_cp_name", g.NIC)
	pods, services := cidr(below, "pod_cidr", defaultPodCIDR), cidr(below, "cluster_cidr", defaultServiceCIDR)
	if masters != nil {
		masters.PodCIDR, masters.ServiceCIDR = pods, services
	}
	below.Done()
	return g
}

// cidr reads a network. One with host bits is taken for the network that it is in.
func cidr(o *params.Object, name, otherwise string) netip.Prefix {
	text := cmp.Or(o.Text(name), otherwise)
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		o.Errorf(name, "for example 10.233.64.0/18", "must be a network in CIDR form, not %q", text)
		return netip.Prefix{}
	}
	if masked := prefix.Masked(); masked != prefix {
		o.Warnf(name, "", "is %s, which has host bits: %s is used", prefix, masked)
		return masked
	}
	return prefix
}

func (r Reader) ansible(o *params.Object) *Ansible {
	below := o.Object("ansible")
	if below == nil {
		o.Missing("ansible", "ip_address, username, password, kubespray_root_path and transferring_inventory_path of the server that runs kubespray")
		return nil
	}
	a := &Ansible{Timeout: duration(below, "timeout", 0)}
	address := below.Required("ip_address")
	a.Host = hosts.ReadLogin(below)
	a.Host.Address = address
	if parsed, err := netip.ParseAddr(address); address != "" && (err != nil || parsed.IsUnspecified()) {
		below.Errorf("ip_address", "", "must be the IP address of the server that runs Ansible, not %q", address)
	}
	folder := func(name, what string) string {
		text := below.Required(name)
		if text != "" && !path.IsAbs(text) {
			below.Errorf(name, "", "must be the absolute path of %s on the Ansible server, not %q", what, text)
		}
		return path.Clean(text)
	}
	a.Root = folder("kubespray_root_path", "kubespray")
	a.Inventory = folder("transferring_inventory_path", "the folder that is made for the cluster's inventory")
	if a.Root != "" && a.Inventory != "" && (strings.HasPrefix(a.Root+"/", a.Inventory+"/") || a.Inventory == path.Join(a.Root, "inventory", "sample")) {
		below.Errorf("transferring_inventory_path", "it is removed with the cluster: name a folder of the cluster's own", "holds kubespray itself")
	}
	if v, ok := below.Raw("group_vars").(map[string]any); ok {
		a.Variables = v
	} else if below.Has("group_vars") {
		below.Errorf("group_vars", "", "must be an object of Ansible variables")
	}
	below.Done()
	return a
}

func (r Reader) proxy(o *params.Object) Proxy {
	below := o.Object("proxy")
	if below == nil {
		return Proxy{}
	}
	read := func(name string) vnfm.Secret {
		text := below.Text(name)
		if text == "" {
			return ""
		}
		// The error of the parser would quote the password.
		if u, err := url.Parse(text); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			below.Errorf(name, "for example http://user:password@192.0.2.1:3128", "is not a valid URL of a proxy")
		}
		return vnfm.Secret(text)
	}
	p := Proxy{HTTP: read("http_proxy"), HTTPS: read("https_proxy")}
	for _, text := range []string{below.Text("no_proxy"), below.Text("k8s_node_cidr")} {
		for _, item := range strings.Split(text, ",") {
			if item = strings.TrimSpace(item); item != "" {
				p.None = append(p.None, item)
			}
		}
	}
	if below.Has("k8s_node_cidr") {
		cidr(below, "k8s_node_cidr", "")
	}
	below.Done()
	return p
}

func (r Reader) loadBalancer(o *params.Object) *LoadBalancer {
	below := o.Object("external_lb_param")
	if below == nil {
		return nil
	}
	lb := &LoadBalancer{Access: hosts.ReadAccess(below, r.flavour), Script: r.file(below, "script_path", false), APIPort: below.Int("api_port", DefaultAPIPort, 1, 65535)}
	if list, ok := below.Raw("node_ports").([]any); ok {
		for n, item := range list {
			if item == nil && below.Later() {
				continue
			}
			port, isNumber := item.(int64)
			if f, isFloat := item.(float64); isFloat {
				port, isNumber = int64(f), true
			}
			if !isNumber || port < 1 || port > 65535 {
				below.Errorf(fmt.Sprintf("node_ports.%d", n), "", "must be a port")
			}
			lb.NodePorts = append(lb.NodePorts, int(port))
		}
	} else if below.Has("node_ports") {
		below.Errorf("node_ports", "", "must be a list of ports")
	}
	if slices.Contains(lb.NodePorts, lb.APIPort) {
		below.Errorf("node_ports", "", "has the port of the API server, %d", lb.APIPort)
	}
	below.Done()
	return lb
}

// DefaultAPIPort is the port at which a load balancer serves the API server, as Tacker's
// users know it.
const DefaultAPIPort = 8383

func (r Reader) registries(o *params.Object) []runtimeregistries.Connection {
	const name = "private_registry_connection_info"
	return runtimeregistries.Read(o, name, func(file string) ([]byte, error) { return fs.ReadFile(r.content, path.Clean(file)) })
}

// file reads the path of a script of the package, which must be there.
func (r Reader) file(o *params.Object, name string, needed bool) string {
	text := o.Text(name)
	if text == "" {
		if needed {
			o.Missing(name, "the path of the script in the package")
		}
		return ""
	}
	clean := path.Clean(text)
	if info, err := fs.Stat(r.content, clean); err != nil || info.IsDir() {
		o.Errorf(name, "", "names a file that is not in the package: %q", text)
		return ""
	}
	return clean
}

func duration(o *params.Object, name string, otherwise time.Duration) time.Duration {
	text := o.Text(name)
	if text == "" {
		return otherwise
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		o.Errorf(name, "for example 10m", "must be a duration, not %q", text)
		return otherwise
	}
	return d
}

// Secrets are all of them, to be kept out of what is shown.
func (s *Settings) Secrets() []vnfm.Secret {
	out := slices.Concat(hosts.Secrets(s.Master.Access.Login), hosts.Secrets(s.Worker.Access.Login))
	if s.Ansible != nil {
		out = append(out, hosts.Secrets(s.Ansible.Host)...)
	}
	if s.LoadBalancer != nil {
		out = append(out, hosts.Secrets(s.LoadBalancer.Access.Login)...)
	}
	for _, proxy := range []vnfm.Secret{s.Proxy.HTTP, s.Proxy.HTTPS} {
		if u, err := url.Parse(proxy.Reveal()); err == nil && u.User != nil {
			password, _ := u.User.Password()
			out = append(out, vnfm.Secret(password))
		}
	}
	for _, c := range s.Registries {
		out = append(out, c.Password)
	}
	return out
}
