package tfutil

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Suffixes of the write-only form of a secret argument and of its version.
const (
	WriteOnlySuffix        = "_wo"
	WriteOnlyVersionSuffix = "_wo_version"
)

// Secret is a secret argument in its three forms: "<name>", sensitive and kept in
// state, for Terraform before 1.11; "<name>_wo", write-only; and
// "<name>_wo_version", which says that the write-only value changed.
type Secret struct {
	Name string
	// Description is one sentence that says what the secret is, with its period.
	Description string
	Validators  []validator.String
}

// AddTo adds the three attributes to the attributes of one (nested) schema. They
// must be siblings there: the rules between them use relative paths.
func (s Secret) AddTo(attributes map[string]schema.Attribute) {
	wo, version := s.Name+WriteOnlySuffix, s.Name+WriteOnlyVersionSuffix
	rules := func(other string) []validator.String {
		return slices.Concat([]validator.String{stringvalidator.LengthAtLeast(1)}, s.Validators,
			[]validator.String{excludes(other)})
	}
	attributes[s.Name] = schema.StringAttribute{
		Optional:  true,
		Sensitive: true,
		MarkdownDescription: fmt.Sprintf("%s It is a sensitive value in the state; use `%s` with Terraform 1.11 or later. "+
			"Changing this updates in place.", s.Description, wo),
		Validators: rules(wo),
	}
	attributes[wo] = schema.StringAttribute{
		Optional:  true,
		WriteOnly: true,
		Sensitive: true,
		MarkdownDescription: fmt.Sprintf("%s This form is write-only: it reaches neither plan nor state and accepts ephemeral values. "+
			"Terraform cannot detect changes of write-only values. Changing this takes effect when `%s` is incremented.", s.Description, version),
		Validators: rules(s.Name),
	}
	attributes[version] = schema.Int64Attribute{
		Optional: true,
		MarkdownDescription: fmt.Sprintf("Version of `%s`, any number. Changing this sends the current value of `%s`, in place.",
			wo, wo),
		Validators: []validator.Int64{int64validator.AlsoRequires(Sibling(wo))},
	}
}

// Sibling is the attribute of that name beside the one that is validated.
func Sibling(name string) path.Expression {
	return path.MatchRelative().AtParent().AtName(name)
}

// SecretValue returns the secret that a configuration gives in one of its two
// forms. Both must come from the configuration: a write-only value is null in
// plan and state. The result is null when neither is set.
func SecretValue(plain, writeOnly types.String) types.String {
	if !writeOnly.IsNull() {
		return writeOnly
	}
	return plain
}

// excludes is the rule that a secret and its other form are not both set. Its error
// has no path: Terraform quotes the lines of a path, and with them a secret that
// is written there.
type excludes string

// Description implements validator.Describer.
func (e excludes) Description(context.Context) string {
	return fmt.Sprintf("cannot be set together with %q", string(e))
}

// MarkdownDescription implements validator.Describer.
func (e excludes) MarkdownDescription(ctx context.Context) string { return e.Description(ctx) }

// ValidateString implements validator.String.
func (e excludes) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	// An unknown value may become null. Terraform validates again once it is known.
	if !Set(req.ConfigValue) {
		return
	}
	var other types.String
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, req.Path.ParentPath().AtName(string(e)), &other)...)
	if resp.Diagnostics.HasError() || !Set(other) {
		return
	}
	resp.Diagnostics.AddError("Invalid Attribute Combination",
		fmt.Sprintf("%s cannot be set together with %q: they are two forms of one secret.", req.Path, string(e)))
}
