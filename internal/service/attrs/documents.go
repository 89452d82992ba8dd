package attrs

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ChartValues is an argument for values of a chart: a list of documents of YAML or JSON.
func ChartValues(description string) schema.Attribute {
	return schema.ListAttribute{
		MarkdownDescription: description,
		Optional:            true,
		ElementType:         types.StringType,
		Validators:          []validator.List{listvalidator.NoNullValues(), documents{}, tfutil.ShownToPlan()},
	}
}

// ClassVariables is an argument for variables of a ClusterClass: one document of YAML or JSON.
func ClassVariables(description string) schema.Attribute {
	return schema.StringAttribute{
		MarkdownDescription: description,
		Optional:            true,
		Validators:          []validator.String{documents{}, tfutil.ShownToPlan()},
	}
}

// Documents merges the documents of a list, later ones over earlier ones. All of them must be
// known. It reports each that is not an object, at its place in the list; at is that of the list.
func Documents(at path.Path, list types.List, diags *diag.Diagnostics) map[string]any {
	var out map[string]any
	for i, text := range tfutil.Strings(list) {
		out = vnfm.MergeValues(out, readDocument(at.AtListIndex(i), text, diags))
	}
	return out
}

// Document reads one document, which must be known.
func Document(at path.Path, text types.String, diags *diag.Diagnostics) map[string]any {
	return readDocument(at, text.ValueString(), diags)
}

// readDocument returns nil for a document that is empty or not an object.
func readDocument(at path.Path, text string, diags *diag.Diagnostics) map[string]any {
	refuse := func(reason string) map[string]any {
		diags.AddAttributeError(at, "Invalid YAML", fmt.Sprintf("%s: %s. An object in YAML or JSON is expected, for example yamlencode({ … }).", at, reason))
		return nil
	}
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return refuse(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(document.Content) == 0 || document.Content[0].Tag == "!!null" {
		return nil
	}
	if root := document.Content[0]; root.Kind != yaml.MappingNode {
		kind := "a string, number or boolean"
		if root.Kind == yaml.SequenceNode {
			kind = "a list"
		}
		return refuse(fmt.Sprintf("line %d, column %d: this is %s", root.Line, root.Column, kind))
	}
	values, err := helm.ReadValues(text)
	if err != nil {
		return refuse(err.Error())
	}
	return values
}

// documents validates the documents that are known.
type documents struct{}

// Description implements validator.Describer.
func (documents) Description(context.Context) string { return "must be objects in YAML or JSON" }

// MarkdownDescription implements validator.Describer.
func (v documents) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

// ValidateList implements validator.List.
func (documents) ValidateList(_ context.Context, req validator.ListRequest, resp *validator.ListResponse) {
	for i, e := range req.ConfigValue.Elements() {
		if text, ok := e.(types.String); ok && tfutil.Set(text) {
			readDocument(req.Path.AtListIndex(i), text.ValueString(), &resp.Diagnostics)
		}
	}
}

// ValidateString implements validator.String.
func (documents) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if tfutil.Set(req.ConfigValue) {
		readDocument(req.Path, req.ConfigValue.ValueString(), &resp.Diagnostics)
	}
}
