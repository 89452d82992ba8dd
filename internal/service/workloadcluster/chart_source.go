package workloadcluster

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var (
	sha256Digest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	ociAddress   = regexp.MustCompile(`^oci://[^/@]+/[^:@]+$`)
)

// embeddedCharts are the charts of clusters that need no download.
var embeddedCharts = []string{"openstack", "in-memory"}

// chartSource are the arguments that say where a chart comes from. Embedded charts are
// for the cluster itself.
func chartSource(embedded ...string) map[string]schema.Attribute {
	name := "Name of the chart in `repository`."
	if len(embedded) > 0 {
		name = "An embedded chart: `openstack`, a cluster on servers of OpenStack (v1beta1 of Cluster API Provider OpenStack, v1beta2 of Cluster API), or `in-memory`, a cluster of machines that exist in the memory of Cluster API's development provider only. " +
			"With `repository`, the name of the chart there."
	}
	text := func(description string, rules ...validator.String) schema.Attribute {
		return schema.StringAttribute{MarkdownDescription: description, Optional: true, Validators: append([]validator.String{stringvalidator.LengthAtLeast(1)}, rules...)}
	}
	attributes := map[string]schema.Attribute{
		"name":       text(name),
		"path":       text("A chart on the machine that Terraform runs on, a directory or an archive. It is read at each plan."),
		"repository": text("URL of a Helm repository, `https://…`: what has an `index.yaml`.", repositoryURL{}),
		"oci":        text("A chart in an OCI registry, `oci://<registry>/<path>`.", stringvalidator.RegexMatches(ociAddress, "must be oci://<registry>/<path>, without a tag or digest: version and digest say which one it is")),
		"version": text("Version of the chart in the repository or registry, or a range such as `~1.16` or `>=1.16, <2`. Default is the newest that is no pre-release. " +
			"A range is resolved when the source is planned first, and again when one of the arguments of the source changes: until then it is the same version, and the network is not needed."),
		"digest": text("Digest that the chart must have, `sha256:…`: of a repository that of the archive, of a registry that of the manifest, as `helm pull` and `helm push` print it.",
			stringvalidator.RegexMatches(sha256Digest, "must be sha256: and 64 hexadecimal digits")),
		"username":       text("Name that the repository or registry asks for."),
		"ca_certificate": text("CA certificates that the certificate of the server is verified with, as PEM. Default are those of the system.", tfutil.Certificates()),
		"insecure_skip_tls_verify": schema.BoolAttribute{
			MarkdownDescription: "Leave the certificate of the server unverified. Anybody on the way can then replace the chart, unless `digest` is given.", Optional: true,
		},
		"plain_http": schema.BoolAttribute{
			MarkdownDescription: "Speak to the registry without TLS, and allow a password to be sent without it.", Optional: true,
		},
	}
	tfutil.Secret{Name: "password", Description: "Password, or token, that the repository or registry asks for."}.AddTo(attributes)
	return attributes
}

// sourceRules is what the arguments of a source must have in common.
type sourceRules struct{ embedded []string }

// Description implements validator.Describer.
func (sourceRules) Description(context.Context) string { return "names one source of a chart" }

// MarkdownDescription implements validator.Describer.
func (v sourceRules) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

// ValidateObject implements validator.Object.
func (v sourceRules) ValidateObject(_ context.Context, req validator.ObjectRequest, resp *validator.ObjectResponse) {
	o := fieldsOf(req.ConfigValue)
	if o == nil {
		return
	}
	refuse := func(summary, detail string) { resp.Diagnostics.AddAttributeError(written(req.Path), summary, detail) }
	var sources []string
	for _, name := range []string{"path", "repository", "oci"} {
		if o.given(name) {
			sources = append(sources, name)
		}
	}
	const several = "Several Sources of One Chart"
	switch {
	case len(sources) > 1:
		refuse(several, sources[0]+" and "+sources[1]+" are two sources: give one of them.")
	case len(sources) == 1 && sources[0] != "repository" && o.given("name"):
		refuse(several, "name is of a chart in a repository, or of an embedded one, and "+sources[0]+" is another source: give one of them.")
	case len(sources) == 0 && !o.given("name"):
		refuse("No Source of the Chart", "Give one of "+v.choices()+".")
	case len(sources) == 0 && len(v.embedded) == 0:
		refuse("No Source of the Chart", "name is of a chart in a repository: give repository as well.")
	case len(sources) == 0:
		v.checkEmbedded(o, refuse)
	case sources[0] == "repository" && !o.given("name"):
		refuse("No Name of the Chart", "A repository has many charts: name says which one is meant.")
	}
	if len(sources) == 1 && sources[0] != "path" {
		return
	}
	for _, name := range []string{"version", "digest", "username", "password", "password_wo", "ca_certificate", "insecure_skip_tls_verify", "plain_http"} {
		if o.given(name) && len(sources) < 2 {
			refuse("Not for This Source", name+" is for a chart from a repository or registry.")
		}
	}
}

func (v sourceRules) choices() string {
	if len(v.embedded) > 0 {
		return "name, path, repository and oci"
	}
	return "path, repository and oci"
}

func (v sourceRules) checkEmbedded(o fields, refuse func(summary, detail string)) {
	name, ok := o["name"].(types.String)
	if ok && tfutil.Set(name) && !slices.Contains(v.embedded, name.ValueString()) {
		refuse("Unknown Embedded Chart", fmt.Sprintf("There is no embedded chart %q, only %s. For a chart of a repository give repository as well.", name.ValueString(), strings.Join(v.embedded, " and ")))
	}
}

// written is where Terraform can show a source. It finds an argument of the resource and
// a key of it; of what is deeper it would quote an argument of the resource with that name.
func written(at path.Path) path.Path {
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

// given reports whether an argument was not left out.
func (f fields) given(name string) bool { return f[name] != nil && !f[name].IsNull() }

// source reads the source of a chart.
func (f fields) source() vnfm.ChartSource {
	return vnfm.ChartSource{
		Name: f.text("name"), Path: f.text("path"), Repository: f.text("repository"), OCI: f.text("oci"),
		Version: f.text("version"), Digest: f.text("digest"),
	}
}

// access reads, from the arguments of a configuration, how one gets to a source. It is not
// known while a secret is not.
func (f fields) access() (*vnfm.ChartAccess, bool) {
	for _, name := range []string{"username", "password", "password_wo", "ca_certificate", "insecure_skip_tls_verify", "plain_http"} {
		if f[name] != nil && f[name].IsUnknown() {
			return nil, false
		}
	}
	on := func(name string) bool {
		v, _ := f[name].(types.Bool)
		return v.ValueBool()
	}
	plain, _ := f["password"].(types.String)
	writeOnly, _ := f["password_wo"].(types.String)
	return &vnfm.ChartAccess{
		Username: f.text("username"), Password: vnfm.Secret(tfutil.SecretValue(plain, writeOnly).ValueString()),
		CACertificate: f.text("ca_certificate"), InsecureSkipTLSVerify: on("insecure_skip_tls_verify"), PlainHTTP: on("plain_http"),
	}, true
}

// resolveChart finds the chart that a source means, and says what is wrong where that is
// written. Nil is a source that does not tell.
func resolveChart(ctx context.Context, manager vnfm.Manager, at path.Path, source vnfm.ChartSource, diags *diag.Diagnostics) *vnfm.Chart {
	chart, err := manager.ResolveChart(ctx, source)
	if err == nil {
		return chart
	}
	var invalid *vnfm.InvalidError
	if !errors.As(err, &invalid) {
		tfutil.AddError(diags, "Fetch", "the Chart "+source.String(), err, written(at))
		return nil
	}
	for _, p := range invalid.Problems {
		p.Attribute = ""
		if steps := at.Steps(); len(steps) > 1 {
			// Terraform shows where the add-ons begin, and not which one it is.
			p.Summary = fmt.Sprintf("add-on %s: %s", strings.Trim(steps[1].String(), "[]"), p.Summary)
		}
		diags.Append(tfutil.Problems(vnfm.Problems{p}, written(at))...)
	}
	return nil
}
