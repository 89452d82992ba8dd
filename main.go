// Command terraform-provider-vnf is a Terraform provider that is an ETSI NFV VNF manager: it onboards VNF packages and runs
// the lifecycle of VNF instances on Kubernetes and OpenStack, of workload clusters and of private registries.
package main

import (
	"context"
	"flag"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/nfv-iac/terraform-provider-vnf/internal/provider"
)

// address is the provider's name in the registry. Terraform compares it with the source address when a debugged
// provider attaches, so it holds the host as well.
const address = "registry.terraform.io/nfv-iac/vnf"

// version is set by the linker to the released version.
var version = "dev"

func main() {
	debug := flag.Bool("debug", false, "serve one debugger session: print TF_REATTACH_PROVIDERS and wait")
	flag.Parse()

	err := providerserver.Serve(context.Background(), provider.New(version), providerserver.ServeOpts{
		Address:         address,
		Debug:           *debug,
		ProtocolVersion: 6,
	})
	if err != nil {
		log.Fatalf("serve provider %s: %s", address, err)
	}
}
