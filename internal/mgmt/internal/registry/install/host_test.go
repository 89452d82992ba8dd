package install

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/registrytest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestMain is the registry in a container of a host, when its environment says so.
func TestMain(m *testing.M) {
	registrytest.Serve()
	hashCost = bcrypt.MinCost
	os.Exit(m.Run())
}

// usualCost is the cost of hashes outside of tests.
var usualCost = hashCost

// TestHashCost: hashes of passwords are as expensive as the library finds right.
func TestHashCost(t *testing.T) {
	require.Equal(t, bcrypt.DefaultCost, usualCost)
	file, err := htpasswd(nil, map[string]vnfm.Secret{"reader": "password of reader"})
	require.NoError(t, err)
	cost, err := bcrypt.Cost([]byte(usersIn(file)["reader"]))
	require.NoError(t, err)
	require.Equal(t, hashCost, cost)
}

func silent(string) {}
