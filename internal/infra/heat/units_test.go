package heat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/fielddiff"
	"github.com/nfv-iac/terraform-provider-vnf/internal/hot"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// renderingOf is a rendering of a package of the tests, and its target.
func renderingOf(t *testing.T, top, nested string, asset hot.Asset, parameters map[string]any) (*rendering, *vnfm.Target, *vnfm.Preview) {
	t.Helper()
	s, _ := sessionOf(t, top, nested, asset)
	s.request.Parameters = parameters
	stack, problems := s.source.Stack(s.request)
	require.NoError(t, problems.Err())
	two := 2
	target := &vnfm.Target{Instance: &vnfm.Instance{Name: "core"}, DigestKey: []byte("key")}
	return &rendering{source: s.source, request: s.request, stack: stack}, target, &vnfm.Preview{VDUs: map[string]vnfm.VDUState{"VDU1": {Replicas: &two}}}
}

// TestUnits: what Heat does to the servers of a VDU when its definition changes, in each form of template.
func TestUnits(t *testing.T) {
	t.Parallel()
	asset := hot.Asset{FlavorID: "f1", ImageID: "i1"}
	for form, tc := range stackForms {
		of := func(asset hot.Asset, replace ...string) vnfm.Unit {
			edit := strings.NewReplacer(replace...)
			r, target, preview := renderingOf(t, edit.Replace(tc.top), edit.Replace(tc.nested), asset, nil)
			unit := r.units(target, preview)["VDU1"]
			require.NotEmpty(t, unit.Parts, form)
			return unit
		}
		const properties = "networks: [{ port: { get_resource: VDU1_CP1 } }]"
		with := func(more string) []string { return []string{properties, properties + ", " + more} }
		for name, change := range map[string]struct {
			asset         hot.Asset
			before, after []string
			want          string
		}{
			"nothing":           {asset: asset},
			"flavor":            {asset: hot.Asset{FlavorID: "f2", ImageID: "i1"}, want: "resized, interrupted"},
			"flavor, replaced":  {asset: hot.Asset{FlavorID: "f2", ImageID: "i1"}, before: with("flavor_update_policy: REPLACE"), after: with("flavor_update_policy: REPLACE"), want: "replaced, interrupted"},
			"image":             {asset: hot.Asset{FlavorID: "f1", ImageID: "i2"}, want: "rebuilt, interrupted"},
			"image and flavor":  {asset: hot.Asset{FlavorID: "f2", ImageID: "i2"}, want: "rebuilt, interrupted"},
			"image, replaced":   {asset: hot.Asset{FlavorID: "f1", ImageID: "i2"}, before: with("image_update_policy: REPLACE"), after: with("image_update_policy: REPLACE"), want: "replaced, interrupted"},
			"user data":         {asset: asset, after: with("user_data: hello"), want: "replaced, interrupted"},
			"user data that is": {asset: asset, before: with("user_data: hello"), want: "replaced, interrupted"},
			"metadata":          {asset: asset, after: with("metadata: { a: b }"), want: "updated in place"},
		} {
			before, after := of(asset, change.before...), of(change.asset, change.after...)
			assert.Equal(t, change.want, after.Changed(&before), "%s, %s", form, name)
			assert.Equal(t, 2, *after.Count)
		}
	}
}

// TestFields compares templates and values of parameters, of hidden ones without the values.
func TestFields(t *testing.T) {
	t.Parallel()
	top := strings.Replace(flatServers, "login:", "size: { type: number, default: 0 }\n  login:", 1)
	was, target, _ := renderingOf(t, top, "", hot.Asset{FlavorID: "f1", ImageID: "i1"}, map[string]any{"size": 1, "login": "secret-1"})
	is, _, _ := renderingOf(t, strings.Replace(top, "network: net", "network: lan", 1), "", hot.Asset{FlavorID: "f1", ImageID: "i1"}, map[string]any{"size": 2, "login": "secret-2"})
	key := stackKey(target.Instance)
	assert.Equal(t, []string{
		"resources.VDU1_CP1.properties.network: net -> lan", "values.login: changed", "values.size: 1 -> 2",
	}, fielddiff.Diff(was.fields(target)[key], is.fields(target)[key], fielddiff.Masks{}))
}

// TestHiddenUserData: another value of a hidden parameter replaces servers, and is in none of their parts.
func TestHiddenUserData(t *testing.T) {
	t.Parallel()
	top := strings.Replace(flatServers, "networks:", "user_data: { get_param: login }, networks:", 1)
	of := func(login string) vnfm.Unit {
		r, target, preview := renderingOf(t, top, "", hot.Asset{FlavorID: "f1", ImageID: "i1"}, map[string]any{"login": login})
		return r.units(target, preview)["VDU1"]
	}
	before, after := of("secret-1"), of("secret-2")
	assert.Equal(t, "replaced, interrupted", after.Changed(&before))
	assert.NotContains(t, fmt.Sprint(after), "secret-2")
}
