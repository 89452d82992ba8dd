package main

import (
	"context"
	"flag"
	"io"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/servers"
)

// The verbs here are not for people: the OpenStack lab starts what is behind its servers with them.

// serveServers runs the servers of an OpenStack lab.
func serveServers(ctx context.Context, args []string, _, stderr io.Writer) error {
	flags, dir := newFlags(servers.ProcessHost, stderr)
	image := flags.String("image", "", "root that servers share")
	systems := flags.String("systems", "", "folder of the layers of systems")
	octet := flags.Int("octet", 0, "second octet of the lab's addresses, zero for any")
	if err := flags.Parse(args); err != nil {
		return err
	}
	p, err := placeOf(*dir, layout.Find, stderr)
	if err != nil {
		return err
	}
	return (*openstack.Lab)(p).ServeServers(ctx, *image, *systems, *octet)
}

// probeServers tries whether this machine can run servers.
func probeServers(ctx context.Context, args []string, _, stderr io.Writer) error {
	flags := flag.NewFlagSet("lab "+servers.ProcessProbe, flag.ContinueOnError)
	flags.SetOutput(stderr)
	folder := flags.String("folder", "", "where to try it")
	managed := flags.Bool("managed", false, "try what servers with systemd need in addition")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *managed {
		return servers.ProbeManaged(ctx)
	}
	return servers.Probe(*folder)
}

// bootServer becomes the first process of a server.
func bootServer(_ context.Context, args []string, _, stderr io.Writer) error {
	options, err := servers.ParseBoot(args, stderr)
	if err != nil {
		return err
	}
	return servers.Boot(options)
}

// sweepServers removes what a host of servers could not.
func sweepServers(ctx context.Context, args []string, _, stderr io.Writer) error {
	flags := flag.NewFlagSet("lab "+servers.ProcessSweep, flag.ContinueOnError)
	flags.SetOutput(stderr)
	lock := flags.String("lock", "", "file that the host has locked as long as it runs")
	octet := flags.Int("octet", 0, "second octet of the lab's addresses")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return servers.Sweep(ctx, *lock, *octet)
}
