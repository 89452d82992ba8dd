package provider_test

import (
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/provider"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// TestSecretsInValuesAreWarnedOf walks the arguments in which a user may write any value:
// variables and values warn of secrets, which plan and state have in clear.
func TestSecretsInValuesAreWarnedOf(t *testing.T) {
	t.Parallel()
	checked := 0
	var walk func(at string, attributes map[string]schema.Attribute)
	warns := func(at string, found bool) {
		checked++
		if !found {
			t.Errorf("%s does not warn of secrets", at)
		}
	}
	walk = func(at string, attributes map[string]schema.Attribute) {
		for name, a := range attributes {
			where := at + "." + name
			switch a := a.(type) {
			case schema.SingleNestedAttribute:
				walk(where, a.Attributes)
			case schema.MapNestedAttribute:
				walk(where, a.NestedObject.Attributes)
			case schema.ListNestedAttribute:
				walk(where, a.NestedObject.Attributes)
			case schema.DynamicAttribute:
				// The owner of each parameter of an instance is known with its package.
				if !a.WriteOnly && where != "vnf_instance.additional_params" {
					warns(where, isShown(a.Validators))
				}
			case schema.MapAttribute:
				if slices.Contains([]string{"variables", "labels"}, name) && a.Optional {
					warns(where, isShown(a.Validators))
				}
			case schema.StringAttribute:
				if name == "class_variables" {
					warns(where, isShown(a.Validators))
				}
			case schema.ListAttribute:
				if name == "values" {
					warns(where, isShown(a.Validators))
				}
			}
		}
	}
	for _, newResource := range provider.New("test")().Resources(t.Context()) {
		r := newResource()
		var meta resource.MetadataResponse
		r.Metadata(t.Context(), resource.MetadataRequest{ProviderTypeName: "vnf"}, &meta)
		var s resource.SchemaResponse
		r.Schema(t.Context(), resource.SchemaRequest{}, &s)
		walk(meta.TypeName, s.Schema.Attributes)
	}
	if checked < 7 {
		t.Errorf("%d arguments were looked at", checked)
	}
}

func isShown[V any](validators []V) bool {
	return slices.ContainsFunc(validators, func(v V) bool { _, ok := any(v).(tfutil.ShownSecrets); return ok })
}
