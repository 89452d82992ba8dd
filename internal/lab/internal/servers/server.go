// Package servers is what is behind the servers of an OpenStack lab: trees of processes in namespaces of their own, each
// with a root of its own over an image that all share, at the addresses that Neutron gave. One process, the host, starts
// them and has their networks; with it, however it ends, they end too, and nothing of them is left on the machine but files
// in the directory of the lab.
package servers

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"
)

// The verbs by which this program becomes the host of servers, tries whether it could, becomes the first process of a server,
// and removes what a host that has ended could not.
const (
	ProcessHost  = "servers"
	ProcessProbe = "servers-probe"
	ProcessBoot  = "servers-boot"
	ProcessSweep = "servers-sweep"
)

// Socket is the name of the host's socket among those of the lab.
const Socket = "servers.sock"

// LockFile is the name of the file, beside the socket, that a host has locked as long as it runs.
const LockFile = "servers.lock"

// ErrUnable says that the machine cannot run servers.
var ErrUnable = errors.New("servers cannot run here")

// Definition is a server as Nova wants it.
type Definition struct {
	// ID is Nova's.
	ID string `json:"id"`
	// Name is the name of the instance in Nova's own lists.
	Name     string `json:"name"`
	Hostname string `json:"hostname"`
	// Key is a line of authorized_keys; empty for none.
	Key string `json:"key,omitempty"`
	// UserData is what its user gave for the first boot.
	UserData []byte `json:"user_data,omitempty"`
	// System is what it is instead of the plain one, see Systems; empty for that.
	System string `json:"system,omitempty"`
	// Version is that of Kubernetes on a system of nodes; others ignore it.
	Version string `json:"version,omitempty"`
	// Interfaces are its network cards, eth0 and so on.
	Interfaces []Interface `json:"interfaces"`
	// Root is the file of the volume, one of Volumes, that it boots from; empty for a root that ends with it.
	Root string `json:"root,omitempty"`
	// Volumes are its disks beside its root.
	Volumes []Volume `json:"volumes,omitempty"`
	// Booted is set when it has been started, Running while it is to run: after an end of the host, it does again.
	Booted  bool `json:"booted"`
	Running bool `json:"running"`
}

// Interface is a network card.
type Interface struct {
	// Port and Network are the identifiers that Neutron gave.
	Port    string `json:"port"`
	Network string `json:"network"`
	MAC     string `json:"mac"`
	MTU     int    `json:"mtu,omitempty"`
	// Addresses are those of the port, with the length of their subnet's prefix.
	Addresses []netip.Prefix `json:"addresses"`
	// Gateways are those of the subnets, as the addresses that the bridge of the network has.
	Gateways []netip.Prefix `json:"gateways"`
}

// Volume is a disk: a file that Cinder made.
type Volume struct {
	// File is its name in the folder of volumes.
	File string `json:"file"`
	// Device is the name that it has below /dev; empty for the next one that is free.
	Device string `json:"device"`
}

// BootOptions are the arguments of a server that boots.
type BootOptions struct {
	// Layers are the folders of which its image is made, the uppermost first.
	Layers []string
	// Folder is that of the server, Written that of what it writes, Hostname its name.
	Folder, Written, Hostname string
	// System is that of its definition.
	System string
	// Group is the path of its control group in each hierarchy, empty for none; Template a folder that /var/lib/containerd begins
	// as, empty for none.
	Group, Template string
	// Disks are the names and numbers of its disks: "vdb=1792,vdc=1793".
	Disks string
}

// args are the arguments of ProcessBoot that ParseBoot reads.
func (o *BootOptions) args() []string {
	return append([]string{
		"--folder", o.Folder, "--written", o.Written, "--hostname", o.Hostname, "--system", o.System,
		"--group", o.Group, "--template", o.Template, "--disks", o.Disks, "--",
	}, o.Layers...)
}

// ParseBoot reads the arguments of ProcessBoot, and tells the user of a fault on stderr.
func ParseBoot(args []string, stderr io.Writer) (BootOptions, error) {
	flags := flag.NewFlagSet("lab "+ProcessBoot, flag.ContinueOnError)
	flags.SetOutput(stderr)
	var o BootOptions
	flags.StringVar(&o.Folder, "folder", "", "folder of the server")
	flags.StringVar(&o.Written, "written", "", "folder of what it writes")
	flags.StringVar(&o.Hostname, "hostname", "", "its name")
	flags.StringVar(&o.System, "system", "", "its system, empty for the plain one")
	flags.StringVar(&o.Group, "group", "", "path of its control group")
	flags.StringVar(&o.Template, "template", "", "what the images of its containers are copied from")
	flags.StringVar(&o.Disks, "disks", "", "names and numbers of its disks")
	if err := flags.Parse(args); err != nil {
		return BootOptions{}, fmt.Errorf("%s: %w", ProcessBoot, err)
	}
	o.Layers = flags.Args()
	return o, nil
}

// Status is what the host says of a server.
type Status struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Running bool   `json:"running"`
}

// Place is what the host says of itself.
type Place struct {
	// Octet is the second octet of the addresses that are this lab's on the machine, see Networks.
	Octet int `json:"octet"`
}

// identifier is a name that is safe as one of a folder, and of a host.
var identifier = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// check refuses what cannot be made, and names the devices of volumes.
func (d *Definition) check() error {
	for what, value := range map[string]string{"id": d.ID, "name": d.Name, "hostname": d.Hostname} {
		if !identifier.MatchString(value) {
			return fmt.Errorf("a server cannot have the %s %q", what, value)
		}
	}
	if d.System != "" {
		if _, err := findSystem(d.System); err != nil {
			return err
		}
	}
	if d.Version != "" && !identifier.MatchString(d.Version) {
		return fmt.Errorf("a server cannot have the version %q", d.Version)
	}
	for _, card := range d.Interfaces {
		if err := card.check(); err != nil {
			return err
		}
	}
	volumes := d.Volumes
	d.Volumes = nil
	for _, volume := range volumes {
		if err := d.add(volume); err != nil {
			return err
		}
	}
	if d.Root != "" && d.volume(d.Root) < 0 {
		return fmt.Errorf("server %s cannot boot from %q, which is none of its volumes", d.ID, d.Root)
	}
	return nil
}

// deviceName is the name of a disk.
var deviceName = regexp.MustCompile(`^(v|s|xv|h)d[a-z]{1,2}$`)

// add gives a server that does not have it a volume, with a device of its own.
func (d *Definition) add(volume Volume) error {
	if !identifier.MatchString(volume.File) {
		return fmt.Errorf("a volume cannot be the file %q", volume.File)
	}
	// The root of a server is not a disk, but it has the name of the first one in a real server, and in Nova's books.
	for letter := 'b'; volume.Device == "" && letter <= 'z'; letter++ {
		if device := "vd" + string(letter); !d.has(device) {
			volume.Device = device
		}
	}
	if !deviceName.MatchString(volume.Device) || d.has(volume.Device) {
		return fmt.Errorf("a volume cannot be the device %q of server %s", volume.Device, d.ID)
	}
	d.Volumes = append(slices.Clone(d.Volumes), volume)
	return nil
}

// has tells whether a server has a device.
func (d *Definition) has(device string) bool {
	return slices.ContainsFunc(d.Volumes, func(volume Volume) bool { return volume.Device == device })
}

// volume is where a server has a volume among its own; negative for none.
func (d *Definition) volume(file string) int {
	return slices.IndexFunc(d.Volumes, func(volume Volume) bool { return volume.File == file })
}

func (i Interface) check() error {
	if len(i.Port) < linkID || len(i.Network) < linkID || !identifier.MatchString(i.Port) || !identifier.MatchString(i.Network) {
		return fmt.Errorf("an interface cannot have port %q and network %q", i.Port, i.Network)
	}
	if _, err := net.ParseMAC(i.MAC); err != nil {
		return fmt.Errorf("the interface of port %s: %w", i.Port, err)
	}
	return nil
}

// linkID is how much of an identifier goes into the name of a link, which is short.
const linkID = 11

// tap is the name of the host's end of an interface, bridge that of its network.
func (i Interface) tap() string { return "tap" + i.Port[:linkID] }

func (i Interface) bridge() string { return "brq" + i.Network[:linkID] }

// gateway is where an interface's default route leads; not valid for none.
func (i Interface) gateway() netip.Addr {
	for _, gateway := range i.Gateways {
		if gateway.Addr().Is4() {
			return gateway.Addr()
		}
	}
	return netip.Addr{}
}

// folder is where the server of an identifier has its files.
func folder(data, id string) string { return filepath.Join(data, id) }

// The addresses of a lab's own networks begin with these octets; of labs that run side by side each has another second one.
const (
	firstOctet  = 10
	FirstChoice = 77
	lastChoice  = 127
)

// Networks are all addresses of a lab's own networks.
func Networks(octet int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{firstOctet, byte(octet), 0, 0}), 16) //nolint:gosec // An octet.
}

// hostAddress and networkAddress are the ends of the link between the machine and the networks of a lab.
func hostAddress(octet int) netip.Prefix { return linkAddress(octet, 1) }

func networkAddress(octet int) netip.Prefix { return linkAddress(octet, 2) }

func linkAddress(octet int, end byte) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{firstOctet, byte(octet), 255, end}), 30) //nolint:gosec // An octet.
}
