package cluster_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestDriftInRounds changes the definitions of a master and of all workers outside of Terraform, alone and together with a scale and a
// heal. The repair replaces them in rounds: each leaves the cluster before, and joins it again.
func TestDriftInRounds(t *testing.T) {
	labtest.FullRun(t, "several rounds of drift")
	e, s, spec, id := clusterOf(t)
	v := &evolution{servers: s, engine: e, spec: spec}
	for _, with := range []string{"", "one aspect", "heal"} {
		v.n++
		foreign := append(s.of("workerNode"), s.of("masterNode")[1])
		lives := map[*server]int{}
		for _, one := range foreign {
			one.image, lives[one] = "foreign", one.life
		}
		if with != "" {
			v.changes()[with]()
		}
		_, err := e.Update(t.Context(), id, v.spec)
		require.NoError(t, err, with)
		masters, workers := v.levels()
		s.check(t, map[string]int{"masterNode": 1 + 2*masters, "workerNode": 1 + workers, "externalLB": 1})
		operations, err := e.Operations(t.Context(), id)
		require.NoError(t, err)
		last := operations[len(operations)-1]
		require.Equal(t, vnfm.OpHeal, last.Type, with)
		require.Contains(t, last.Parameters["cause"], "changed outside of Terraform", with)
		for _, one := range foreign {
			if s.server(one.id) == one {
				require.Equal(t, "old", one.image, "%s, %s", with, one.id)
				require.Equal(t, lives[one]+1, one.life, "%s, %s is made again once", with, one.id)
			}
		}
	}
}
