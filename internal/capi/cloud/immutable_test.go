package cloud

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestChangeableFields: the fields that may change have other names in v1beta2 of Cluster API Provider OpenStack.
func TestChangeableFields(t *testing.T) {
	t.Parallel()
	for path, allowed := range map[string]bool{
		"apiServerLoadBalancer.allowedCIDRs": true, "apiServerLoadBalancer.provider": false,
		"apiServer.managedLoadBalancer.allowedCIDRs": true, "apiServer.managedLoadBalancer.monitor.delay": true, "apiServer.managedLoadBalancer.provider": false,
		"managedSecurityGroups.allNodesSecurityGroupRules": true, "managedSecurityGroups.clusterNodesSecurityGroupRules": true,
		"apiServer.enableFloatingIP": false, "apiServer.port": false, "enableExternalNetwork": false,
	} {
		assert.Equal(t, allowed, difference{path, "a", "b"}.allowed(), path)
	}
	for path, allowed := range map[string]bool{
		"apiServerFixedIP": true, "apiServerPort": true, "apiServer.fixedIP": true, "apiServer.port": true, "apiServer.floatingIP": false, "externalNetwork": false,
	} {
		assert.Equal(t, allowed, difference{path, nil, "b"}.allowed(), "%s, once", path)
	}
}
