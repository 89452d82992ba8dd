package chartsource

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// Rules validates the combination of the arguments of a source.
type Rules struct {
	// Embedded are the allowed embedded charts.
	Embedded []string
	// Optional allows no source.
	Optional bool
}

// Description implements validator.Describer.
func (Rules) Description(context.Context) string { return "names one source of a chart" }

// MarkdownDescription implements validator.Describer.
func (v Rules) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

// ValidateObject implements validator.Object.
func (v Rules) ValidateObject(_ context.Context, req validator.ObjectRequest, resp *validator.ObjectResponse) {
	if !tfutil.Set(req.ConfigValue) {
		return
	}
	o := req.ConfigValue.Attributes()
	given := func(name string) bool { return o[name] != nil && tfutil.Set(o[name]) }
	// An unknown value may become null. Terraform validates again once it is known.
	open := func(name string) bool { return o[name] != nil && o[name].IsUnknown() }
	refuse := func(summary, detail string) { resp.Diagnostics.AddAttributeError(Written(req.Path), summary, detail) }
	var sources []string
	unsure := false
	for _, name := range []string{"path", "repository", "oci"} {
		unsure = unsure || open(name)
		if given(name) {
			sources = append(sources, name)
		}
	}
	const several = "Conflicting Chart Sources"
	switch {
	case len(sources) > 1:
		refuse(several, sources[0]+" and "+sources[1]+" are two sources: set only one of them.")
	case len(sources) == 1 && sources[0] != "repository" && given("name"):
		refuse(several, "name is that of a chart in a repository, or of an embedded chart, and "+sources[0]+" is another source: set only one of them.")
	case len(sources) == 0 && (unsure || open("name")):
		return
	case len(sources) == 0 && !given("name") && v.Optional:
	case len(sources) == 0 && !given("name"):
		refuse("Missing Chart Source", "Set one of "+v.choices()+".")
	case len(sources) == 0 && len(v.Embedded) == 0:
		refuse("Missing Chart Source", "name is that of a chart in a repository: set repository as well.")
	case len(sources) == 0:
		v.checkEmbedded(o["name"], refuse)
	case sources[0] == "repository" && !given("name") && !open("name"):
		refuse("Missing Chart Name", "A repository has many charts: set name as well.")
	}
	if unsure || len(sources) == 1 && sources[0] != "path" {
		return
	}
	for _, name := range slices.Concat(choosing, login, server) {
		if given(name) && len(sources) < 2 {
			refuse("Argument Does Not Apply", name+" is only for a chart from a repository or registry.")
		}
	}
}

func (v Rules) choices() string {
	if len(v.Embedded) > 0 {
		return "name, path, repository and oci"
	}
	return "path, repository and oci"
}

func (v Rules) checkEmbedded(value attr.Value, refuse func(summary, detail string)) {
	name, ok := value.(types.String)
	if ok && tfutil.Set(name) && !slices.Contains(v.Embedded, name.ValueString()) {
		refuse("Unknown Embedded Chart", fmt.Sprintf("There is no embedded chart %q, only %s. For a chart of a repository set repository as well.", name.ValueString(), strings.Join(v.Embedded, " and ")))
	}
}

// Written is where Terraform can show a source. It finds an argument of the resource and
// a key of it; of what is deeper it would quote an argument of the resource with that name.
func Written(at path.Path) path.Path {
	steps := at.Steps()
	if len(steps) == 0 {
		return at
	}
	argument := path.Root(steps[0].String())
	if len(steps) > 1 {
		if key, ok := steps[1].(path.PathStepElementKeyString); ok {
			return argument.AtMapKey(string(key))
		}
	}
	return argument
}

// repositoryURL is the rule for the URL of a repository.
type repositoryURL struct{}

// Description implements validator.Describer.
func (repositoryURL) Description(context.Context) string { return "must be a URL" }

// MarkdownDescription implements validator.Describer.
func (v repositoryURL) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

// ValidateString implements validator.String.
func (repositoryURL) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if tfutil.Set(req.ConfigValue) {
		tfutil.CheckURL(req.Path, req.ConfigValue.ValueString(), false, &resp.Diagnostics, "https", "http")
	}
}
