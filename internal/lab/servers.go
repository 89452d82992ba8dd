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
	octet := flags.Int("octet", 0, "second octet of the lab's addresses, zero for any")
	if err := flags.Parse(args); err != nil {
		return err
	}
	p, err := placeOf(*dir, layout.Find, stderr)
	if err != nil {
		return err
	}
	return (*openstack.Lab)(p).ServeServers(ctx, *image, *octet)
}

// probeServers tries whether this machine can run servers.
func probeServers(_ context.Context, args []string, _, stderr io.Writer) error {
	flags := flag.NewFlagSet("lab "+servers.ProcessProbe, flag.ContinueOnError)
	flags.SetOutput(stderr)
	folder := flags.String("folder", "", "where to try it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return servers.Probe(*folder)
}

// bootServer becomes the first process of a server.
func bootServer(_ context.Context, args []string, _, stderr io.Writer) error {
	flags := flag.NewFlagSet("lab "+servers.ProcessBoot, flag.ContinueOnError)
	flags.SetOutput(stderr)
	image := flags.String("image", "", "root that servers share")
	folder := flags.String("folder", "", "folder of the server")
	hostname := flags.String("hostname", "", "its name")
	disks := flags.String("disks", "", "names and numbers of its disks")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return servers.Boot(*image, *folder, *hostname, *disks)
}
