package servers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/vishvananda/netlink"
)

// Probe tries what servers need, in a folder that is there for it: a root over another, and a bridge with a link in a
// network of its own. This process must have namespaces as that of Serve. The error is ErrUnable.
func Probe(folder string) (err error) {
	if err := own(); err != nil {
		return err
	}
	image, root := filepath.Join(folder, "image"), filepath.Join(folder, folderRoot)
	if err := os.MkdirAll(image, 0o755); err != nil { //nolint:gosec // A folder of the lab, with nothing in it.
		return fmt.Errorf("%w: making a folder: %w", ErrUnable, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }() //nolint:gosec // A folder of the lab.
	if err := overlay([]string{image}, folder, root); err != nil {
		return err
	}
	if err := syscall.Unmount(root, 0); err != nil {
		return fmt.Errorf("%w: leaving a root: %w", ErrUnable, err)
	}
	space, err := newSpace()
	if err != nil {
		return err
	}
	defer space.Close() //nolint:errcheck // With it goes what is in it.
	inside, err := netlink.NewHandleAt(space)
	if err != nil {
		return fmt.Errorf("%w: reaching into a network namespace: %w", ErrUnable, err)
	}
	defer inside.Close()
	bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "bridge", TxQLen: -1}}
	if err := inside.LinkAdd(bridge); err != nil {
		return fmt.Errorf("%w: making a bridge: %w", ErrUnable, err)
	}
	link := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "near", MasterIndex: bridge.Attrs().Index, TxQLen: -1}, PeerName: "far"}
	if err := inside.LinkAdd(link); err != nil {
		return fmt.Errorf("%w: making a link to a bridge: %w", ErrUnable, err)
	}
	return nil
}
