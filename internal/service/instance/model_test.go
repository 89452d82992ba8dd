package instance

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// A VIM that no driver registers is known to be none; one that a record has is not forgotten.
func TestRegisteredVIM(t *testing.T) {
	for _, tt := range []struct {
		registers    bool
		before, want types.String
	}{
		{false, types.StringUnknown(), types.StringNull()},
		{true, types.StringUnknown(), types.StringUnknown()},
		{false, types.StringValue("a"), types.StringValue("a")},
	} {
		m := &model{RegisteredVIMID: tt.before}
		m.SetPreview(&vnfm.Preview{RegistersVIM: tt.registers})
		if !m.RegisteredVIMID.Equal(tt.want) {
			t.Errorf("%+v: %s", tt, m.RegisteredVIMID)
		}
	}
}

// TestConceal reads secret parameters as far as they are known, and says of which not all is.
func TestConceal(t *testing.T) {
	object := func(values map[string]attr.Value) types.Dynamic {
		kinds := map[string]attr.Type{}
		for name, v := range values {
			kinds[name] = v.Type(t.Context())
		}
		return types.DynamicValue(types.ObjectValueMust(kinds, values))
	}
	for _, tt := range []struct {
		name    string
		given   types.Dynamic
		want    vnfm.InstanceSpec
		secrets []string
		invalid bool
	}{
		{name: "null", given: types.DynamicNull()},
		{name: "unknown", given: types.DynamicUnknown(), want: vnfm.InstanceSpec{SecretsLater: true}},
		{name: "unknown inside", given: types.DynamicValue(types.StringUnknown()), want: vnfm.InstanceSpec{SecretsLater: true}},
		{
			name:    "known",
			given:   object(map[string]attr.Value{"a": types.StringValue("planted"), "b": types.Int64Value(1)}),
			want:    vnfm.InstanceSpec{SecretParams: map[string]any{"a": "planted", "b": int64(1)}},
			secrets: []string{"1", "planted"},
		},
		{
			name:    "known in part",
			given:   object(map[string]attr.Value{"a": types.StringValue("planted"), "b": types.StringUnknown()}),
			want:    vnfm.InstanceSpec{SecretParams: map[string]any{"a": "planted", "b": nil}, SecretsLater: true, SecretNamesLater: []string{"b"}},
			secrets: []string{"planted"},
		},
		{name: "no parameters", given: object(map[string]attr.Value{})},
		{name: "no object", given: types.DynamicValue(types.StringValue("planted")), invalid: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got vnfm.InstanceSpec
			var diags diag.Diagnostics
			secrets := (&model{}).Conceal(t.Context(), &model{SecretParams: tt.given}, &got, &diags)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			slices.Sort(secrets)
			if diff := cmp.Diff(tt.secrets, secrets); diff != "" || diags.HasError() != tt.invalid {
				t.Errorf("secrets (-want +got):\n%s%v", diff, diags)
			}
		})
	}
}

// TestTried: other zones have the VIM look at the stacks, which are as they were.
func TestTried(t *testing.T) {
	t.Parallel()
	of := func(zones ...string) *model {
		m := &model{AvailabilityZones: tfutil.StringList(zones)}
		m.Objects = base.Objects{"OS::Heat::Stack fw": "sha256:1", "edge: OS::Heat::Stack fw": "sha256:2", "OS::Nova::Server FW": "sha256:3"}
		return m
	}
	if got := of("a", "b").Tried(of("a", "b")); got != nil {
		t.Errorf("the same zones: %v", got)
	}
	want := []string{"OS::Heat::Stack fw", "edge: OS::Heat::Stack fw"}
	if got := of("b", "a").Tried(of("a", "b")); !slices.Equal(got, want) {
		t.Errorf("another order: %v, want %v", got, want)
	}
}
