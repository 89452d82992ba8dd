package base

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Identity are the attributes that identify a resource to Terraform 1.12 and later, in the order in which the text of an import has them,
// with their descriptions. They never change during the life of the resource.
type Identity []IdentityAttribute

// IdentityAttribute is one attribute of an identity, and of the state.
type IdentityAttribute struct{ Name, Description string }

// Schema returns the schema of the identity.
func (i Identity) Schema() identityschema.Schema {
	s := identityschema.Schema{Attributes: map[string]identityschema.Attribute{}}
	for _, a := range i {
		s.Attributes[a.Name] = identityschema.StringAttribute{RequiredForImport: true, Description: a.Description}
	}
	return s
}

// Set sets an identity to what a state has of it. A state without a value of it, as after a failed creation, has no identity. It is
// meant for a deferred call, since the state is written on several ways.
func (i Identity) Set(ctx context.Context, identity *tfsdk.ResourceIdentity, state *tfsdk.State, diags *diag.Diagnostics) {
	if identity == nil || state.Raw.IsNull() {
		return
	}
	values := make([]types.String, len(i))
	for n, a := range i {
		if diags.Append(state.GetAttribute(ctx, path.Root(a.Name), &values[n])...); values[n].ValueString() == "" {
			return
		}
	}
	for n, a := range i {
		diags.Append(identity.SetAttribute(ctx, path.Root(a.Name), values[n])...)
	}
}

// Imported returns the text that an import names: that of the user, or the values of the identity, parted by slashes.
func (i Identity) Imported(ctx context.Context, req *resource.ImportStateRequest, diags *diag.Diagnostics) string {
	if req.ID != "" || req.Identity == nil || req.Identity.Raw.IsNull() {
		return req.ID
	}
	parts := make([]string, 0, len(i))
	for _, a := range i {
		var value types.String
		diags.Append(req.Identity.GetAttribute(ctx, path.Root(a.Name), &value)...)
		if len(i) > 1 && strings.Contains(value.ValueString(), "/") {
			diags.AddError("Invalid Identity", fmt.Sprintf("%s is %q, which no object has: it holds a slash.", a.Name, value.ValueString()))
		}
		parts = append(parts, value.ValueString())
	}
	return strings.Join(parts, "/")
}
