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

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/ansible"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/hosts"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/params"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/registry/connect"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Param is the additional parameter that describes the cluster.
const Param = "k8s_cluster_installation_param"

// Parameters of the networks of a cluster, and their defaults.
const (
	podCIDR            = "pod_cidr"
	serviceCIDR        = "cluster_cidr"
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
	// ScriptPath is a file of the package, and ScriptTimeout bounds each call of the script. Both are unset with Ansible.
	ScriptPath     string
	ScriptTimeout  time.Duration
	Master, Worker Group
	// PodCIDR and ServiceCIDR have no host bits.
	PodCIDR, ServiceCIDR netip.Prefix
	Proxy                Proxy
	Ansible              *Ansible
	LoadBalancer         *LoadBalancer
	Registries           []connect.Connection
	DrainTimeout         time.Duration
}

// Group are the nodes of one role.
type Group struct {
	AspectID string
	Access   hosts.Access
	// NIC is the connection point for traffic between nodes, Cluster the one of the API server.
	NIC, Cluster string
}

// Proxy is the HTTP proxy of the nodes.
type Proxy struct {
	HTTP, HTTPS vnfm.Secret
	None        []string
}

// NoProxy is the comma-separated list of hosts and networks that bypass the proxy.
func (p Proxy) NoProxy() string { return strings.Join(p.None, ",") }

// Ansible is the host that runs playbooks.
type Ansible struct {
	Host remote.Host
	// Root is the folder of kubespray, Inventory the folder of the inventory of the cluster.
	Root, Inventory string
	// Variables override the computed ones.
	Variables map[string]any
	Timeout   time.Duration
}

// Kind reads the parameters that only one kind of installer has, after the common ones.
type Kind func(r Reader, o *params.Object, s *Settings)

// Kubespray reads the host of Ansible with kubespray.
func Kubespray(r Reader, o *params.Object, s *Settings) {
	// An empty script_path is allowed: the specification of the driver has one.
	if o.Text(scriptPath) != "" {
		o.Errorf(scriptPath, fmt.Sprintf("remove it, or have the VNFD name the management driver %q, which runs a script of the package", vnfm.KubernetesScript),
			"cannot be used: kubespray installs the cluster")
	}
	s.Ansible = r.ansible(o)
	for _, of := range []struct {
		name  string
		group Group
	}{{masterNode, s.Master}, {workerNode, s.Worker}} {
		if login := of.group.Access.Login; login.User != "" {
			hosts.CheckAnsibleLogin(o.Object(of.name), login)
		}
	}
}

// Script reads the script of the package.
func Script(r Reader, o *params.Object, s *Settings) {
	s.ScriptPath = r.file(o, scriptPath, true)
	s.ScriptTimeout = o.Duration("script_timeout", defaultScriptTimeout)
}

// Parameters of the nodes of a role.
const (
	masterNode = "master_node"
	workerNode = "worker_node"
)

// scriptPath is the parameter for the path of a script in the package.
const scriptPath = "script_path"

// Read reads the parameters and adds problems.
func Read(values map[string]any, later bool, p *vnfm.Package, f *vnfm.Flavour, own Kind, problems *vnfm.Problems) *Settings {
	root := params.Root(values, later, problems)
	o := root.Needed(Param, "it says how the cluster is installed: master_node, worker_node and more")
	if o == nil {
		return nil
	}
	r := Reader{content: p.Content, flavour: f}
	s := &Settings{VIMName: o.Text("vim_name"), DrainTimeout: o.Duration("drain_timeout", defaultDrainTimeout)}
	s.Master, s.Worker = r.group(o, masterNode, s), r.group(o, workerNode, nil)
	own(r, o, s)
	s.Proxy = r.proxy(o)
	s.LoadBalancer = r.loadBalancer(o, s)
	s.Registries = r.registries(o)
	s.checkNetworks(o)
	s.checkVDUs(o)
	o.Done()
	return s
}

// Reader has the package and the flavour that parameters are checked against.
type Reader struct {
	content fs.FS
	flavour *vnfm.Flavour
}

// group reads the nodes of a role. The group of masters also has the networks of the cluster, which go into masters.
func (r Reader) group(o *params.Object, name string, masters *Settings) Group {
	below := o.Needed(name, "ssh_cp_name, username, and password or private_key of its servers")
	if below == nil {
		return Group{}
	}
	g := Group{AspectID: below.Text("aspect_id"), Access: hosts.ReadAccess(below, r.flavour)}
	r.checkAspect(below, g)
	g.NIC = r.point(below, "nic_cp_name", g.Access, g.Access.ConnectionPoint)
	g.Cluster = r.point(below, "cluster_cp_name", g.Access, g.NIC)
	if masters != nil {
		masters.PodCIDR, masters.ServiceCIDR = cidr(below, podCIDR, defaultPodCIDR), cidr(below, serviceCIDR, defaultServiceCIDR)
	} else {
		for _, unused := range []string{podCIDR, serviceCIDR} {
			if below.Text(unused) != "" {
				below.Warnf(unused, "the networks of the cluster are those of "+masterNode, "is not used")
			}
		}
	}
	below.Done()
	return g
}

// point reads a connection point, which must belong to the VDU of the access.
func (r Reader) point(o *params.Object, name string, a hosts.Access, otherwise string) string {
	if !o.Has(name) {
		o.Text(name)
		return otherwise
	}
	if vdu := hosts.VDUOf(o, name, r.flavour); vdu != "" && a.VDU != "" && vdu != a.VDU {
		//findings:says name a connection point of the same VDU in both
		o.Errorf(name, "", "is of VDU %s, and ssh_cp_name of VDU %s", vdu, a.VDU)
	}
	return o.Text(name)
}

// cidr reads a network; the prefix is invalid if it is unknown or cannot be parsed. Host bits are cleared.
func cidr(o *params.Object, name, otherwise string) netip.Prefix {
	text := o.Text(name)
	if text == "" && (otherwise == "" || o.Later()) {
		return netip.Prefix{}
	}
	text = cmp.Or(text, otherwise)
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		o.Errorf(name, "for example 10.233.64.0/18", "must be a network in CIDR form, not %q", text)
		return netip.Prefix{}
	}
	if masked := prefix.Masked(); masked != prefix {
		//findings:says write the network without host bits, as the finding has it at its end
		o.Warnf(name, "", "is %s, which has host bits: %s is used", prefix, masked)
		return masked
	}
	return prefix
}

func (r Reader) ansible(o *params.Object) *Ansible {
	below := o.Needed("ansible", "ip_address, username, password, kubespray_root_path and transferring_inventory_path of the server that runs kubespray")
	if below == nil {
		return nil
	}
	a := &Ansible{Host: hosts.ReadAnsibleHost(below), Timeout: below.Duration("timeout", 0)}
	folder := func(name, what string) string {
		text := below.Required(name)
		switch {
		case text == "":
			// The path is missing, which Required has reported, or still unknown.
			return ""
		case !path.IsAbs(text):
			below.Errorf(name, "", "must be the absolute path of %s on the Ansible server, not %q", what, text)
			return ""
		}
		return path.Clean(text)
	}
	a.Root = folder("kubespray_root_path", "kubespray")
	a.Inventory = folder("transferring_inventory_path", "the folder that is made for the cluster's inventory")
	if sample := path.Join(a.Root, "inventory", "sample"); a.Root != "" && a.Inventory != "" && (within(sample, a.Inventory) || within(a.Inventory, sample)) {
		below.Errorf("transferring_inventory_path", "it is removed with the cluster: name a folder of the cluster's own", "holds kubespray itself")
	}
	a.Variables = ansible.ReadVariables(below, "group_vars")
	below.Done()
	return a
}

// within reports whether a folder is other or below it.
func within(folder, other string) bool {
	return folder == other || strings.HasPrefix(folder, strings.TrimSuffix(other, "/")+"/")
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
		// The error of the parser is left out: it would quote the password.
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
	cidr(below, "k8s_node_cidr", "")
	below.Done()
	return p
}

func (r Reader) registries(o *params.Object) []connect.Connection {
	const name = "private_registry_connection_info"
	return connect.Read(o, name, func(file string) ([]byte, error) { return fs.ReadFile(r.content, path.Clean(file)) })
}

// file reads the path of a script, which must exist in the package.
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
		//findings:says add the file to the package, or write its path from the root of the package
		o.Errorf(name, "", "names a file that is not in the package: %q", text)
		return ""
	}
	if _, err := hosts.ReadProgram(r.content, clean); err != nil {
		//findings:says name a file of the package of 1 MiB at most
		o.Errorf(name, "", "cannot be used: %s", err)
		return ""
	}
	return clean
}

// Secrets are all secrets of the settings, for masking.
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
