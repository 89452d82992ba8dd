package privateregistry

import (
	"os"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/registrytest"
)

// TestMain is the registry in a container of a host, when its environment says so.
func TestMain(m *testing.M) {
	registrytest.Serve()
	os.Exit(m.Run())
}
