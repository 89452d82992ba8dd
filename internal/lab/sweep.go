package main

import (
	"context"
	"flag"
	"io"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/sweep"
)

// sweepLabs removes the labs whose owners have ended.
func sweepLabs(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("lab sweep", flag.ContinueOnError)
	flags.SetOutput(stderr)
	if err := flags.Parse(args); err != nil {
		return err
	}
	down := func(ctx context.Context, dir layout.Dir) (gone bool, err error) {
		p, err := placeOf(string(dir), layout.Find, stderr)
		if err != nil {
			return false, err
		}
		if dir.IsOpenStack() {
			return (*openstack.Lab)(p).DownAbandoned(ctx)
		}
		return (*cluster.Lab)(p).DownAbandoned(ctx)
	}
	return sweep.Sweep{Down: down, Out: stdout}.Run(ctx)
}
