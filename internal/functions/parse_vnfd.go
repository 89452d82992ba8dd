package functions

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfd"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// NewParseVNFD returns the function parse_vnfd.
func NewParseVNFD() function.Function {
	return parser{name: "parse_vnfd", parse: readVNFD, definition: function.Definition{
		Summary: "Parse a VNFD",
		Description: "Returns the content of a VNFD (ETSI GS NFV-SOL 001): vnfd_id, vnfd_version, vnf_provider, product_name, software_version, vnfm_info, " +
			"default_flavour_id and flavours with their scaling aspects, instantiation levels and VDUs.",
		MarkdownDescription: "Returns the content of one TOSCA document of a VNFD (ETSI GS NFV-SOL 001): `vnfd_id`, `vnfd_version`, `vnf_provider`, `product_name`, " +
			"`software_version`, `vnfm_info`, `default_flavour_id` and `flavours`, a map by flavour id with `description`, `default_instantiation_level_id`, `scaling_aspects`, `instantiation_levels` and `vdus`.\n\n" +
			"The function reads this one document: imports are not followed. If the deployment flavours of a VNFD are in separate documents, parse each of them.",
		Parameters: []function.Parameter{function.StringParameter{
			Name:                "content",
			Description:         "Content of the VNFD, YAML.",
			MarkdownDescription: "Content of the VNFD, YAML.",
		}},
		Return: function.ObjectReturn{AttributeTypes: vnfdTypes()},
	}}
}

func vnfdTypes() map[string]attr.Type {
	return map[string]attr.Type{
		"vnfd_id":            types.StringType,
		"vnfd_version":       types.StringType,
		"vnf_provider":       types.StringType,
		"product_name":       types.StringType,
		"software_version":   types.StringType,
		"vnfm_info":          types.SetType{ElemType: types.StringType},
		"default_flavour_id": types.StringType,
		"flavours":           attrs.FlavoursType(),
	}
}

func readVNFD(ctx context.Context, content string, _ []string) (types.Object, diag.Diagnostics, *function.FuncError) {
	d, problems := vnfd.Parse(budget.New(ctx, budget.Limits{}), "content", []byte(content))
	if problems.HasErrors() {
		return types.Object{}, nil, function.NewArgumentFuncError(0, problemText("Cannot read the VNFD", problems))
	}
	value, diags := types.ObjectValue(vnfdTypes(), map[string]attr.Value{
		"vnfd_id":            tfutil.OptionalString(d.ID),
		"vnfd_version":       tfutil.OptionalString(d.Version),
		"vnf_provider":       tfutil.OptionalString(d.Provider),
		"product_name":       tfutil.OptionalString(d.ProductName),
		"software_version":   tfutil.OptionalString(d.SoftwareVersion),
		"vnfm_info":          tfutil.StringSet(d.VNFMInfo),
		"default_flavour_id": tfutil.OptionalString(d.DefaultFlavourID),
		"flavours":           attrs.FlavoursValue(d.Flavours),
	})
	return value, diags, nil
}

// problemText lists the errors among findings, one per line with its position.
func problemText(what string, problems vnfm.Problems) string {
	lines := []string{what + ":"}
	for _, p := range problems {
		if p.Severity == vnfm.SeverityError {
			lines = append(lines, p.String())
		}
	}
	return strings.Join(lines, "\n")
}
