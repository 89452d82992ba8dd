package tfutil

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

// OptionalText is an optional string argument that is not empty and follows the rules.
func OptionalText(description string, rules ...validator.String) schema.StringAttribute {
	return schema.StringAttribute{
		MarkdownDescription: description, Optional: true, Validators: append([]validator.String{stringvalidator.LengthAtLeast(1)}, rules...),
	}
}
