package lcm_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// visitor is a management driver that works on a host of the user's.
type visitor struct {
	worker
	lacks vnfm.Problems
	err   error
	asked []map[string]any
}

func (v *visitor) CheckHosts(_ context.Context, c *vnfm.HostCheck) (vnfm.Problems, error) {
	v.asked = append(v.asked, c.Params)
	return v.lacks, v.err
}

// What the user's hosts lack is an error of the plan, and of the apply before anything exists. A host that is not reached is a
// warning of the plan.
func TestHostsAreChecked(t *testing.T) {
	w, _, spec := newWorkerEnv(t)
	v := &visitor{}
	w.manage(t, v)
	plan := func(spec vnfm.InstanceSpec, key string) []string {
		t.Helper()
		found, err := w.open(t).DryRunInstance(t.Context(), "", spec, []string{key})
		require.NoError(t, err)
		var out []string
		for _, p := range found {
			out = append(out, p.String())
		}
		return out
	}
	v.err = errors.New("no route to host")
	assert.Contains(t, plan(spec, "v1/ConfigMap a")[0], `a host that a management driver works on was not checked: management driver "`+vnfm.ArtifactBash+`": no route to host`)
	v.err, v.lacks = nil, vnfm.Problems{{Attribute: vnfm.AttributeParams, Key: "site", Summary: "Ansible is too old"}}
	assert.Contains(t, plan(spec, "v1/ConfigMap b")[0], "Ansible is too old")
	assert.Equal(t, map[string]any{"site": map[string]any{"username": "root", "password": "planted-secret"}}, v.asked[0])

	_, err := w.Instantiate(t.Context(), spec)
	require.ErrorContains(t, err, "Ansible is too old")
	assert.Empty(t, v.taken(), "no hook was reached")
	assert.NotContains(t, w.driver.calls, "apply", "nothing was made")

	v.lacks, v.asked = nil, nil
	later := spec
	later.SecretsLater = true
	plan(later, "v1/ConfigMap c")
	assert.Empty(t, v.asked, "parameters that are not known yet")
	w.mustInstantiate(t, spec)
	assert.Len(t, v.asked, 1, "once, whatever the number of hooks")
}
