// Package hosts finds the servers of a VNF instance and connects to them over SSH, for management drivers.
package hosts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/params"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Access is the SSH access to the servers of one VDU.
type Access struct {
	// ConnectionPoint is the VduCp whose address is dialled, VDU its VDU.
	ConnectionPoint string
	VDU             string
	// Login is everything but the address.
	Login remote.Host
	// Patience bounds the boot of a server; 0 means the constant Patience.
	Patience time.Duration
}

const paramBoot = "boot_timeout"

// ReadAccess reads ssh_cp_name, a login and boot_timeout. The connection point must belong to a server of the flavour.
func ReadAccess(o *params.Object, f *vnfm.Flavour) Access {
	a := Access{ConnectionPoint: o.Required("ssh_cp_name"), Login: readLogin(o), Patience: o.Duration(paramBoot, 0)}
	if a.ConnectionPoint != "" {
		a.VDU = VDUOf(o, "ssh_cp_name", f)
	}
	return a
}

// VDUOf returns the VDU of the connection point in an attribute.
func VDUOf(o *params.Object, name string, f *vnfm.Flavour) string {
	id := o.Text(name)
	if id == "" {
		return ""
	}
	var known []string
	for _, cp := range f.ConnectionPoints {
		if cp.VDUID == "" {
			continue
		}
		if cp.ID == id {
			return cp.VDUID
		}
		known = append(known, cp.ID)
	}
	detail := fmt.Sprintf("the servers of deployment flavour %q have %s; name the port: connections use its floating address where it has one", f.ID, strings.Join(known, ", "))
	if like := vnfm.Nearest(id, known); like != "" {
		detail = fmt.Sprintf("did you mean %q? %s", like, detail)
	}
	o.Errorf(name, detail, "names no connection point of a server: %q", id)
	return ""
}

// readLogin reads a login: user name, password or private key or the agent, host keys, port, and a jump host. Some names may begin
// with ssh_.
func readLogin(o *params.Object) remote.Host {
	prefixed := func(name string) string {
		if o.Has("ssh_"+name) && !o.Has(name) {
			return "ssh_" + name
		}
		return name
	}
	h := remote.Host{
		Port: o.Int(prefixed("port"), 0, 1, 65535), User: o.Text(prefixed("username")),
		Password: o.Secret(prefixed("password")), PrivateKey: o.Secret(prefixed("private_key")), Passphrase: o.Secret(prefixed("private_key_passphrase")),
		SudoPassword: o.Secret("sudo_password"), Agent: o.Bool("ssh_agent"), HostKeys: o.Texts("host_keys"),
	}
	switch policy := o.Text("host_key_policy"); policy {
	case "", "pin":
	case "strict":
		h.Strict = true
	default:
		o.Errorf("host_key_policy", "\"pin\" keeps the key that a host shows first, \"strict\" takes those of host_keys alone", "must be \"pin\" or \"strict\", not %q", policy)
	}
	if h.User == "" {
		o.Missing(prefixed("username"), "the name of the user who logs in")
	}
	if h.Password == "" && h.PrivateKey == "" && !h.Agent {
		o.Missing(prefixed("password"), "or private_key, or ssh_agent = true; secrets belong in additional_params_wo")
	}
	if jump := o.Object("jump_host"); jump != nil {
		through := readLogin(jump)
		through.Address = jump.Required("address")
		jump.Done()
		h.Jump = &through
	}
	if h.User == "" || (h.Password == "" && h.PrivateKey == "" && !h.Agent) || (h.Jump != nil && h.Jump.Address == "") {
		return h
	}
	// The address is unknown yet. Check requires one, whatever its value.
	check := h
	check.Address = "192.0.2.1"
	if err := check.Check(); err != nil {
		//findings:says give a user name, and a password or a private key that SSH can use
		o.Errorf("", "", "cannot be used to log in: %s", strings.TrimPrefix(err.Error(), "host 192.0.2.1: "))
	}
	return h
}

// ReadAnsibleHost reads ip_address, the address of the server that runs Ansible, and the login.
func ReadAnsibleHost(o *params.Object) remote.Host {
	address := o.Required("ip_address")
	h := readLogin(o)
	h.Address = address
	if parsed, err := netip.ParseAddr(address); address != "" && (err != nil || parsed.IsUnspecified()) {
		o.Errorf("ip_address", "", "must be the IP address of the server that runs Ansible, not %q", address)
	}
	return h
}

// CheckAnsibleLogin rejects logins to a server that the provider supports and Ansible on its host does not.
func CheckAnsibleLogin(o *params.Object, login remote.Host) {
	if login.Agent && login.Password == "" && login.PrivateKey == "" && !o.Later() {
		o.Errorf("ssh_agent", "the host of Ansible logs in to the servers itself: give a password or a private_key", "cannot be used: Ansible has no agent")
	}
	if login.PrivateKey != "" && login.Passphrase != "" {
		o.Errorf("private_key_passphrase", "give the key without a passphrase: the store keeps it sealed", "cannot be used: Ansible cannot ask for it")
	}
}

// ParamAccess is the additional parameter for the SSH access to the servers of each VDU.
const ParamAccess = "ssh_access"

// ReadAccesses reads ParamAccess, by the id of the VDU.
func ReadAccesses(root *params.Object, f *vnfm.Flavour) map[string]Access {
	out := map[string]Access{}
	o := root.Object(ParamAccess)
	if o == nil {
		return out
	}
	for _, vdu := range o.Names() {
		below := o.Object(vdu)
		if below == nil {
			continue
		}
		if f.VDU(vdu) == nil {
			o.Errorf(vdu, "its VDUs are "+strings.Join(f.VDUIDs(), ", "), "is not a VDU of deployment flavour %q", f.ID)
			continue
		}
		a := ReadAccess(below, f)
		below.Done()
		if a.VDU != "" && a.VDU != vdu {
			//findings:says name a connection point of the VDU for which the entry is
			below.Errorf("ssh_cp_name", "", "names a connection point of VDU %s: %q", a.VDU, a.ConnectionPoint)
		}
		out[vdu] = a
	}
	return out
}

// noAccess is the problem that ParamAccess lacks a VDU; why is the reason that the VDU needs access.
func noAccess(vdu, why string) vnfm.Problem {
	return vnfm.Problem{
		Attribute: vnfm.AttributeParams, Key: ParamAccess, Summary: fmt.Sprintf("%s.%s is missing", ParamAccess, vdu),
		Detail: why + "; say how they are reached: ssh_cp_name, username, and password or private_key",
	}
}

// CheckHooks checks the hooks of a driver that runs a program of the package on, or for, the servers of VDUs. program and preposition
// are words for its messages: "a script" and "on". read returns the VDUs of a hook, and an error if the hook is invalid.
func CheckHooks(c *vnfm.HookCheck, access map[string]Access, program, preposition string, problems *vnfm.Problems, read func(vnfm.Hook) ([]string, error)) {
	for _, hook := range c.Hooks {
		refuse := func(summary string) {
			problems.Errorf(hook.Implementation.File, 0, 0, "hook %s: %s", hook.Name, summary)
		}
		if hook.Name == "instantiate_start" || hook.Name == "terminate_end" {
			refuse(fmt.Sprintf("there are no servers %s which %s could run; servers exist from instantiate_end to terminate_start", preposition, program))
			continue
		}
		vdus, err := read(hook)
		if err != nil {
			//findings:says name a file of the package as the implementation of the hook, and VDUs of the flavour in its inputs
			refuse(err.Error())
		}
		for _, vdu := range vdus {
			if _, ok := access[vdu]; !ok && !c.Later {
				*problems = append(*problems, noAccess(vdu, fmt.Sprintf("the VNFD has %s run %s the servers of this VDU at hook %s", program, preposition, hook.Name)))
			}
		}
	}
}

// ReadVDUs reads a list of VDUs from an input of a hook, as JSON or separated by commas. An empty list means all VDUs of the flavour.
func ReadVDUs(text string, f *vnfm.Flavour) ([]string, error) {
	var out []string
	if json.Unmarshal([]byte(text), &out) != nil {
		for _, item := range strings.Split(text, ",") {
			if item = strings.TrimSpace(item); item != "" {
				out = append(out, item)
			}
		}
	}
	for _, vdu := range out {
		if f.VDU(vdu) == nil {
			return nil, fmt.Errorf("names %q, which is not a VDU of deployment flavour %q", vdu, f.ID)
		}
	}
	if len(out) == 0 {
		out = f.VDUIDs()
	}
	return out, nil
}

// Server is a VNFC with its address.
type Server struct {
	vnfm.VNFC
	Address  string
	host     remote.Host
	patience time.Duration
}

// Find returns the servers of the VDU, sorted by id, without missing ones. A server without an address at the connection point is an
// error.
func (a Access) Find(has *vnfm.ResourceInfo) ([]Server, error) {
	var out []Server
	for _, c := range has.VNFCs {
		if c.VDUID != a.VDU || c.State == vnfm.VNFCGone {
			continue
		}
		address := c.Dialled(a.ConnectionPoint)
		if address == "" {
			return nil, fmt.Errorf("VNFC %s has no address at connection point %s: the template of the package must have a port of that name, and the server must run (it is %s)", c.ID, a.ConnectionPoint, c.State)
		}
		out = append(out, a.server(c, address))
	}
	slices.SortFunc(out, func(x, y Server) int { return strings.Compare(x.ID, y.ID) })
	return out, nil
}

// FindAll returns the servers of VDUs, in the order of vdus.
func FindAll(access map[string]Access, vdus []string, has *vnfm.ResourceInfo) ([]Server, error) {
	var out []Server
	for _, vdu := range vdus {
		found, err := access[vdu].Find(has)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// isLeaving reports whether the operation is about to remove a server.
func (s Server) isLeaving(call *vnfm.HookCall) bool {
	return !call.End && slices.Contains(call.Leaving, s.ID)
}

// MayFail reports whether the failure of a server is ignored: a heal replaces it, possibly because it does not answer.
func (s Server) MayFail(ctx context.Context, call *vnfm.HookCall) bool {
	return call.Operation == vnfm.OpHeal && s.isLeaving(call) && ctx.Err() == nil
}

// KnownHosts returns the lines of known_hosts for a server: the keys in its login, else the pinned key.
func KnownHosts(call *vnfm.HookCall, login remote.Host, vnfc, address string) string {
	keys := login.HostKeys
	if len(keys) == 0 {
		keys = []string{call.HostKeys.Pinned(vnfm.HostKeyName(vnfc))}
	}
	name := address
	if login.Port != 0 && login.Port != 22 {
		name = fmt.Sprintf("[%s]:%d", address, login.Port)
	}
	var out strings.Builder
	for _, key := range keys {
		if key != "" {
			fmt.Fprintf(&out, "%s %s\n", name, key)
		}
	}
	return out.String()
}

// server returns a VNFC as a server at an address.
func (a Access) server(c vnfm.VNFC, address string) Server {
	s := Server{VNFC: c, Address: address, host: a.Login, patience: cmp.Or(a.Patience, Patience)}
	s.host.Address, s.host.PinName = address, vnfm.HostKeyName(c.ID)
	return s
}

// At returns the server of a VNFC of any VDU at an address that the caller has recorded; nil if the VNFC does not exist.
func (a Access) At(has *vnfm.ResourceInfo, vnfc, address string) *Server {
	for _, c := range has.VNFCs {
		if c.ID == vnfc && c.State != vnfm.VNFCGone && address != "" {
			s := a.server(c, address)
			return &s
		}
	}
	return nil
}

// Patience bounds the boot of a server, unless the user sets boot_timeout.
const Patience = 10 * time.Minute

// Open connects to a server. Its host key is pinned under the id of its VNFC, because a replacement at the same address has another key.
func (s Server) Open(ctx context.Context, call *vnfm.HookCall) (*remote.Client, error) {
	call.Recorder.Progress(ctx, fmt.Sprintf("connecting to VNFC %s at %s", s.ID, s.Address))
	patience := s.patienceIn(call)
	h := s.host
	h.Pins = call.HostKeys
	c, err := remote.Dial(ctx, h, patience)
	if err != nil {
		return nil, fmt.Errorf("VNFC %s: %w%s", s.ID, err, advice(ctx, err))
	}
	return c, nil
}

// leavingPatience bounds the wait for a server that the operation removes, possibly because it does not answer.
const leavingPatience = 20 * time.Second

// patienceIn bounds the wait of a call for the server.
func (s Server) patienceIn(call *vnfm.HookCall) time.Duration {
	if call.Forceful || s.isLeaving(call) {
		return min(s.patience, leavingPatience)
	}
	return s.patience
}

// advice ends the error about a server that does not answer. A rejected login needs none: its error has the reason.
func advice(ctx context.Context, err error) string {
	limit := ""
	if _, silent := errors.AsType[*remote.ConnectionError](err); silent {
		limit = paramBoot
	} else if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		limit = "timeouts"
	}
	if limit == "" {
		return ""
	}
	return "; see on its console whether it has booted and sshd runs, and whether security groups and routes let this machine reach it; one that boots longer needs a longer " + limit
}

// Secrets are the secrets of a login, for masking.
func Secrets(h remote.Host) []vnfm.Secret {
	out := []vnfm.Secret{h.Password, h.SudoPassword, h.PrivateKey, h.Passphrase}
	if h.Jump != nil {
		out = append(out, Secrets(*h.Jump)...)
	}
	return out
}
