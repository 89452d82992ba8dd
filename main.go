// Command terraform-provider-vnf is a Terraform provider that is an ETSI NFV VNF manager: it onboards VNF packages and runs
// the lifecycle of VNF instances on Kubernetes and OpenStack, of workload clusters and of private registries.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command"
	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/provider"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tracing"
)

// address is the provider's name in the registry. Terraform compares it with the source address when a debugged
// provider attaches, so it holds the host as well.
const address = "registry.terraform.io/nfv-iac/vnf"

// version is set by the linker to the released version.
var version = "dev"

func main() {
	p := command.Program{
		Version: version,
		Serve: func(ctx context.Context, debug bool) error {
			err := serve(ctx, debug)
			if err != nil {
				return fmt.Errorf("serving the provider %s: %w", address, err)
			}
			return nil
		},
	}
	os.Exit(p.Run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// serve answers Terraform until it ends the provider.
func serve(ctx context.Context, debug bool) error {
	run, logged := process.Run(), true
	var (
		options []tf6server.ServeOpt
		end     func()
	)
	if debug {
		// A person has started it and ends it with Ctrl-C. It serves all runs of Terraform.
		run, options = "", append(options, tf6server.WithManagedDebug())
		end = func() {
			tracing.Stop(ctx)
			os.Exit(0)
		}
	} else {
		var err error
		if logged, err = setLogLevels(); err != nil {
			return err
		}
	}
	tracing.SetLogging(logged)
	tracing.Setup(ctx, version, run)
	defer tracing.Stop(ctx)
	life := newLifetime(ctx, end)
	life.follow()
	server := provider.NewServer(version)()
	err := tf6server.Serve(address, func() tfprotov6.ProviderServer { return interruptible{server, life} }, options...)
	if err == nil {
		// Terraform waits up to 2 s for the end of the process.
		server.Close(ctx)
	}
	return err
}
