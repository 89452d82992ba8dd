package servers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

// serviceTimeout is how long a service may take to answer at all.
const serviceTimeout = 10 * time.Second

// doors are the ports of a server at which it finds services of the machine.
type doors []net.Listener

// openDoors has a server reach services of the machine as the machine itself does, at ports of its own 127.0.0.1: those are the
// addresses that the catalogue names. Nothing else of the machine is reached through them, and from no other address.
func openDoors(space netns.NsHandle, ports []int) (_ doors, err error) {
	in, err := netlink.NewHandleAt(space)
	if err != nil {
		return nil, fmt.Errorf("reaching the network of a server: %w", err)
	}
	defer in.Close()
	lo, err := in.LinkByName("lo")
	if err != nil {
		return nil, fmt.Errorf("finding the loopback interface of a server: %w", err)
	}
	if err := raise(in, lo); err != nil {
		return nil, err
	}
	var open doors
	for _, port := range ports {
		address := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(port)).String() //nolint:gosec // It is a port.
		var door net.Listener
		err := within(space, func() (err error) {
			door, err = (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
			return err
		})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("opening port %d of a server: %w", port, err), open.close())
		}
		open = append(open, door)
		go serveDoor(door, port)
	}
	return open, nil
}

// close ends all that goes through the doors by and by.
func (d doors) close() error {
	var err error
	for _, door := range d {
		err = errors.Join(err, door.Close())
	}
	return err
}

// serveDoor leads what comes through a door to the service of the same port, until the door is closed.
func serveDoor(door net.Listener, port int) {
	for {
		client, err := door.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// There are too many files for the moment.
			<-time.After(time.Second)
			continue
		}
		go passOn(client, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	}
}

// passOn connects a client with an address until one of both has ended.
func passOn(client net.Conn, address string) {
	defer client.Close() //nolint:errcheck // It has ended.
	service, err := net.DialTimeout("tcp", address, serviceTimeout)
	if err != nil {
		return
	}
	defer service.Close() //nolint:errcheck // It has ended.
	ended := make(chan struct{}, 2)
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		ended <- struct{}{}
	}
	go pass(service, client)
	go pass(client, service)
	<-ended
}
