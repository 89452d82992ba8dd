package tfutil

import (
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
)

// trimmed is a text of one line that neither begins nor ends with white space.
var trimmed = lazyregexp.New(`^[^\pZ\pC](?:[^\pC]*[^\pZ\pC])?$`)

// Name is the rule for the name of an object: a blank one cannot be told from none.
func Name() validator.String {
	return Matches(trimmed, "must be a name in one line: neither blank, nor with white space at its beginning or end")
}
