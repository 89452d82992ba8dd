package servers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/poll"
)

// networks are the networks of a lab, in a network namespace that nobody but the host holds: bridges, one for each network
// of Neutron, that have the addresses of its gateways, and forward between each other. One link leads out to the machine,
// which has the routes. With the namespace goes all of it.
type networks struct {
	octet  int
	space  netns.NsHandle
	inside *netlink.Handle
	// uplink is the machine's end of the link.
	uplink netlink.Link
}

// uplinkName is the name of the machine's end of the link of a lab: as there cannot be two of a name, it is also the claim
// on the lab's addresses.
func uplinkName(octet int) string { return fmt.Sprintf("lab%d", octet) }

// newNetworks makes the namespace, and the link to it. octet is that of a lab that was started before, and zero for a new
// one, which gets the first that is free.
func newNetworks(ctx context.Context, octet int) (*networks, error) {
	space, err := newSpace()
	if err != nil {
		return nil, err
	}
	inside, err := netlink.NewHandleAt(space)
	if err != nil {
		return nil, fmt.Errorf("%w: reaching into a network namespace: %w", ErrUnable, err)
	}
	n := &networks{space: space, inside: inside}
	if octet != 0 {
		return n, n.reclaim(ctx, octet)
	}
	for octet = FirstChoice; octet <= lastChoice; octet++ {
		if err = n.claim(octet); err == nil {
			return n, nil
		}
		if !errors.Is(err, errTaken) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("no addresses are left on this machine for the servers of a lab: %w", err)
}

// errTaken says that addresses are somebody else's.
var errTaken = errors.New("the addresses are taken")

// newSpace makes a network namespace in which addresses are forwarded.
func newSpace() (netns.NsHandle, error) {
	// The namespace of a thread is changed for a moment: no other goroutine may run on it meanwhile.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	own, err := netns.Get()
	if err != nil {
		return 0, fmt.Errorf("finding the network namespace of this process: %w", err)
	}
	defer own.Close() //nolint:errcheck // It was only looked up.
	space, err := netns.New()
	if err != nil {
		return 0, fmt.Errorf("%w: making a network namespace: %w", ErrUnable, err)
	}
	err = errors.Join(
		setting("net/ipv4/ip_forward", "1"),
		setting("net/ipv4/conf/all/rp_filter", "0"), setting("net/ipv4/conf/default/rp_filter", "0"),
		// A port whose address went to another server is believed at once.
		setting("net/ipv4/conf/all/arp_accept", "1"), setting("net/ipv4/conf/default/arp_accept", "1"),
	)
	comeBack(own)
	return space, err
}

// setting sets what the kernel lets be set in a namespace.
func setting(name, value string) error {
	if err := os.WriteFile("/proc/sys/"+name, []byte(value), 0); err != nil {
		return fmt.Errorf("%w: setting %s: %w", ErrUnable, name, err)
	}
	return nil
}

// claim makes the link between the machine and the networks. The error is errTaken when the addresses are.
func (n *networks) claim(octet int) error {
	all := Networks(octet)
	if err := free(all); err != nil {
		return err
	}
	link := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: uplinkName(octet), TxQLen: -1}, PeerName: "uplink", PeerNamespace: netlink.NsFd(int(n.space)),
	}
	if err := netlink.LinkAdd(link); errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("%w: another lab has %s", errTaken, all)
	} else if err != nil {
		return fmt.Errorf("%w: making a link to the networks of servers: %w", ErrUnable, err)
	}
	n.octet, n.uplink = octet, link
	own, err := netlink.NewHandle()
	if err != nil {
		return fmt.Errorf("reaching the network of the machine: %w", err)
	}
	defer own.Close()
	if err := raise(own, link, hostAddress(octet)); err != nil {
		return err
	}
	peer, err := n.inside.LinkByName("uplink")
	if err != nil {
		return fmt.Errorf("finding the link to the machine: %w", err)
	}
	if err := raise(n.inside, peer, networkAddress(octet)); err != nil {
		return err
	}
	if err := n.inside.RouteAdd(&netlink.Route{Gw: hostAddress(octet).Addr().AsSlice()}); err != nil {
		return fmt.Errorf("routing from servers to the machine: %w", err)
	}
	return n.route(all)
}

// route has the machine reach addresses of the networks.
func (n *networks) route(to netip.Prefix) error {
	route := &netlink.Route{LinkIndex: n.uplink.Attrs().Index, Dst: ipNet(to), Gw: networkAddress(n.octet).Addr().AsSlice()}
	if err := netlink.RouteAdd(route); err != nil {
		return fmt.Errorf("routing from the machine to %s: %w", to, err)
	}
	return nil
}

// reclaim is claim for a lab that had the addresses before. Its link may be about to go.
func (n *networks) reclaim(ctx context.Context, octet int) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var failed error
	err := poll.Until(ctx, "the addresses of the lab", func(context.Context) error {
		err := n.claim(octet)
		if errors.Is(err, errTaken) {
			return err
		}
		failed = err
		return nil
	})
	return errors.Join(err, failed)
}

// free tells whether nobody on the machine has any of some addresses. The error is errTaken when somebody has.
func free(all netip.Prefix) error {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return fmt.Errorf("listing the addresses of the machine: %w", err)
	}
	for _, address := range addresses {
		if prefix, err := netip.ParsePrefix(address.String()); err == nil && prefix.Overlaps(all) {
			return fmt.Errorf("%w: this machine has %s, which is among %s", errTaken, address, all)
		}
	}
	routes, err := netlink.RouteList(nil, netlink.FAMILY_V4)
	if err != nil {
		return fmt.Errorf("listing the routes of the machine: %w", err)
	}
	for _, route := range routes {
		if route.Dst == nil {
			continue
		}
		if prefix, err := netip.ParsePrefix(route.Dst.String()); err == nil && prefix.Bits() > 0 && prefix.Overlaps(all) {
			return fmt.Errorf("%w: this machine has a route to %s, which is among %s", errTaken, prefix, all)
		}
	}
	return nil
}

// plug connects a network card of the process that has the namespace.
func (n *networks) plug(card Interface, space netns.NsHandle) error {
	bridge, err := n.bridge(card)
	if err != nil {
		return err
	}
	// The link of a server that has just ended may still be there: the kernel takes it away in its own time.
	if err := n.unplug(card); err != nil {
		return err
	}
	mac, err := net.ParseMAC(card.MAC)
	if err != nil {
		return fmt.Errorf("reading the address of port %s: %w", card.Port, err)
	}
	server, err := netlink.NewHandleAt(space)
	if err != nil {
		return fmt.Errorf("reaching the network of a server: %w", err)
	}
	defer server.Close()
	name, err := freeName(server)
	if err != nil {
		return err
	}
	link := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: card.tap(), MasterIndex: bridge.Attrs().Index, TxQLen: -1, MTU: card.MTU},
		PeerName:  name, PeerHardwareAddr: mac, PeerNamespace: netlink.NsFd(int(space)), PeerMTU: uint32(max(card.MTU, 0)), //nolint:gosec // Never negative.
	}
	if err := n.inside.LinkAdd(link); err != nil {
		return fmt.Errorf("making the link of port %s: %w", card.Port, err)
	}
	if err := n.inside.LinkSetUp(link); err != nil {
		return fmt.Errorf("starting the link of port %s: %w", card.Port, err)
	}
	peer, err := server.LinkByName(name)
	if err != nil {
		return fmt.Errorf("finding the interface of port %s: %w", card.Port, err)
	}
	if err := raise(server, peer, card.Addresses...); err != nil {
		return err
	}
	if gateway := card.gateway(); gateway.IsValid() {
		// The first card that has a gateway has the default route.
		err := server.RouteAdd(&netlink.Route{LinkIndex: peer.Attrs().Index, Gw: gateway.AsSlice()})
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("routing from port %s: %w", card.Port, err)
		}
	}
	return nil
}

// freeName is the first name of an interface that a server does not have: the cards of one that boots are numbered in
// their order, and one that comes later takes the place of one that has gone.
func freeName(server *netlink.Handle) (string, error) {
	links, err := server.LinkList()
	if err != nil {
		return "", fmt.Errorf("listing the interfaces of a server: %w", err)
	}
	for place := 0; ; place++ {
		name := fmt.Sprintf("eth%d", place)
		if !slices.ContainsFunc(links, func(l netlink.Link) bool { return l.Attrs().Name == name }) {
			return name, nil
		}
	}
}

// unplug takes a network card away.
func (n *networks) unplug(card Interface) error {
	link, err := n.inside.LinkByName(card.tap())
	if errors.As(err, &netlink.LinkNotFoundError{}) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("finding the link of port %s: %w", card.Port, err)
	}
	if err := n.inside.LinkDel(link); err != nil && !errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("removing the link of port %s: %w", card.Port, err)
	}
	return nil
}

// bridge finds or makes the bridge of a card's network, with the addresses of its gateways.
func (n *networks) bridge(card Interface) (netlink.Link, error) {
	link, err := n.inside.LinkByName(card.bridge())
	if errors.As(err, &netlink.LinkNotFoundError{}) {
		link = &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: card.bridge(), TxQLen: -1}}
		err = n.inside.LinkAdd(link)
	}
	if err != nil {
		return nil, fmt.Errorf("making the bridge of network %s: %w", card.Network, err)
	}
	if err := raise(n.inside, link, card.Gateways...); err != nil {
		return nil, err
	}
	for _, gateway := range card.Gateways {
		subnet := gateway.Masked()
		if Networks(n.octet).Overlaps(subnet) || !subnet.Addr().Is4() || free(subnet) != nil {
			// There is a way to it, or it is one of the machine's or of another network's: servers reach each other alone.
			continue
		}
		if err := n.route(subnet); err != nil {
			return nil, err
		}
	}
	return link, nil
}

// drop removes the bridge of a network that no server is on any more, and the routes to it.
func (n *networks) drop(card Interface) error {
	for _, gateway := range card.Gateways {
		subnet := gateway.Masked()
		if Networks(n.octet).Overlaps(subnet) {
			continue
		}
		err := netlink.RouteDel(&netlink.Route{LinkIndex: n.uplink.Attrs().Index, Dst: ipNet(subnet)})
		if err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("removing the route to %s: %w", subnet, err)
		}
	}
	link, err := n.inside.LinkByName(card.bridge())
	if errors.As(err, &netlink.LinkNotFoundError{}) {
		return nil
	}
	if err == nil {
		err = n.inside.LinkDel(link)
	}
	if err != nil {
		return fmt.Errorf("removing the bridge of network %s: %w", card.Network, err)
	}
	return nil
}

// raise starts an interface with addresses. It may have them.
func raise(in *netlink.Handle, link netlink.Link, addresses ...netip.Prefix) error {
	for _, address := range addresses {
		own := ipNet(address)
		own.IP = address.Addr().AsSlice()
		if err := in.AddrAdd(link, &netlink.Addr{IPNet: own}); err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("giving %s the address %s: %w", link.Attrs().Name, address, err)
		}
	}
	if err := in.LinkSetUp(link); err != nil {
		return fmt.Errorf("starting %s: %w", link.Attrs().Name, err)
	}
	return nil
}

func ipNet(prefix netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: prefix.Masked().Addr().AsSlice(), Mask: net.CIDRMask(prefix.Bits(), prefix.Addr().BitLen())}
}
