package loadbalancer

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"net/netip"
	"strings"
	"text/template"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

// Virtual is an address that one of several load balancers has at a time (VRRP).
type Virtual struct {
	Address netip.Addr
	// RouterID is the same for all load balancers that share the address, and unique on their network.
	RouterID int
}

// The VRRP priorities of load balancers, descending from the first one.
const (
	firstPriority = 100
	lastPriority  = 1
)

// shared are the values of the configuration of keepalived. Without peers the configuration uses multicast, because keepalived
// rejects unicast without peers.
type shared struct {
	APIPort, RouterID, Priority int
	Interface, Own, Address     string
	Peers                       []string
}

// sharedBy is the configuration of keepalived on one of the load balancers.
func (c Config) sharedBy(all []Server, at int, device string) ([]byte, error) {
	s := shared{
		APIPort: c.APIPort, RouterID: c.Virtual.RouterID, Priority: max(firstPriority-at, lastPriority),
		Interface: device, Own: all[at].Address, Address: c.Virtual.Address.String(),
	}
	for other := range all {
		if other != at {
			s.Peers = append(s.Peers, all[other].Address)
		}
	}
	return render(keepalivedConfig, s)
}

// share configures keepalived on one of the load balancers.
func (c Config) share(ctx context.Context, all []Server, at int) error {
	client := all[at].Client
	device, err := client.Answer(ctx, remote.Command{What: "finding the interface of the load balancer", Script: findInterface, Args: []string{all[at].Address}})
	if err != nil {
		return err
	}
	text, err := c.sharedBy(all, at, device)
	if err != nil {
		return err
	}
	const file = "/etc/keepalived/keepalived.conf"
	if _, err := client.WriteFile(ctx, remote.File{
		Path: "/etc/keepalived/check-haproxy", Content: []byte(check), Mode: fs.FileMode(0o755), Sudo: true, MkdirAll: true,
	}); err != nil {
		return err
	}
	command := remote.Command{What: "starting keepalived on the load balancer", Script: serveAddress, Sudo: true}
	present, err := client.ReadFile(ctx, file, true)
	if err != nil || !bytes.Equal(present, text) {
		command.What, command.Args = "putting the configuration of keepalived in place on the load balancer", []string{file + ".next"}
		if _, err := client.WriteFile(ctx, remote.File{Path: file + ".next", Content: text, Mode: fs.FileMode(0o644), Sudo: true}); err != nil {
			return err
		}
	}
	_, err = client.Run(ctx, command)
	return err
}

// takeover bounds the time until one load balancer has the address: about four seconds, longer if HAProxy has just started on a slow
// server.
var takeover = 30 * time.Second

// await waits until exactly one of the load balancers has the address.
func (v *Virtual) await(ctx context.Context, all []Server) error {
	within, cancel := context.WithTimeout(ctx, takeover)
	defer cancel()
	for {
		var holders []string
		for _, s := range all {
			out, err := s.Client.Answer(ctx, remote.Command{What: "finding the virtual address", Script: findAddress, Args: []string{v.Address.String()}})
			if err != nil {
				return err
			}
			if out != "" {
				holders = append(holders, s.Name)
			}
		}
		if len(holders) == 1 {
			return nil
		}
		if err := poll.Sleep(within, takeover/100); err == nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(holders) == 0 {
			return fmt.Errorf("none of the load balancers has taken the virtual address %s within %s: see there what `journalctl -u keepalived` says", v.Address, takeover)
		}
		return fmt.Errorf("the load balancers %s have the virtual address %s at the same time: they do not hear one another; "+
			"have the security groups of their ports let VRRP, which is IP protocol 112, pass between them", strings.Join(holders, " and "), v.Address)
	}
}

var (
	//go:embed interface.sh
	findInterface string
	//go:embed address.sh
	findAddress string
	//go:embed check.sh
	check string
	//go:embed keepalived.sh
	serveAddress string
	//go:embed keepalived.conf.tmpl
	keepalivedText string
)

var keepalivedConfig = template.Must(template.New("keepalived.conf").Parse(keepalivedText))
