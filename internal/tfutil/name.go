package tfutil

import (
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

// trimmed is a text of one line that neither begins nor ends with white space.
var trimmed = regexp.MustCompile(`^[^\pZ\pC](?:[^\pC]*[^\pZ\pC])?$`)

// Name is the rule for the name of an object: a blank one cannot be told from none.
func Name() validator.String {
	return stringvalidator.RegexMatches(trimmed, "must be a name in one line: neither blank, nor with white space at its beginning or end")
}
