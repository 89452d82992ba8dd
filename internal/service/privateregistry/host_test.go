package privateregistry

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// TestCheckHost: another instance that the store does not have is rejected before the registry is removed for it.
func TestCheckHost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keys, err := seal.New(seal.Source{KeyFile: filepath.Join(dir, "key.txt")})
	require.NoError(t, err)
	engine := lcm.New(lcm.Config{Keyring: keys, OpenStore: func(ctx context.Context) (store.Store, error) {
		return sqlite.Open(ctx, filepath.Join(dir, "store.db"), "test")
	}})
	t.Cleanup(func() { require.NoError(t, engine.Close()) })
	r := &Resource{base.Resource{Data: &tfutil.ProviderData{Manager: engine}}}
	state := model{Name: types.StringValue("registry"), InstanceID: types.StringValue("one")}
	for name, c := range map[string]struct {
		id   types.String
		want string
	}{
		"the same, lost": {id: types.StringValue("one")},
		"unknown":        {id: types.StringUnknown()},
		"a host":         {id: types.StringNull()},
		"a name":         {id: types.StringValue("core"), want: `VNF Instance of Private Registry "registry" Not Found`},
	} {
		plan := state
		plan.InstanceID = c.id
		var diags diag.Diagnostics
		r.checkHost(t.Context(), &plan, &state, &diags)
		require.Equal(t, c.want != "", diags.HasError(), name)
		for _, d := range diags {
			require.Equal(t, c.want, d.Summary(), name)
			require.Contains(t, d.Detail(), `"core"`)
		}
	}
}
