package attrs

import (
	"context"
	"regexp"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// SinkAttribute is the name of the argument that SinkSchema describes.
const SinkAttribute = "credentials_sink"

// headerName is a name of a header (RFC 9110) but those that a delivery sets itself.
var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// SinkSchema describes a web server that is sent kubeconfigs; when says on what.
func SinkSchema(when string) schema.Attribute {
	names := []validator.Map{mapvalidator.NoNullValues(), mapvalidator.KeysAre(
		stringvalidator.RegexMatches(headerName, "must be the name of a header"),
		stringvalidator.NoneOfCaseInsensitive("Content-Type", "Content-Length", "Host", "Idempotency-Key"))}
	return schema.SingleNestedAttribute{
		MarkdownDescription: when + " After the creation, after a rotation and whenever an operation finds a kubeconfig that was not sent yet, it gets a `POST` with the header `Idempotency-Key` and the JSON object " +
			"`{\"schema_version\": 1, \"cluster_name\": …, \"namespace\": …, \"endpoint\": …, \"ca_certificate\": …, \"kubeconfig\": …, \"not_after\": …}`: `endpoint` is the URL of the workload API, `ca_certificate` its CA as PEM, " +
			"`kubeconfig` the whole kubeconfig as text, `not_after` the expiry of its client certificate in RFC 3339, or `null`. `schema_version` rises when a field changes its meaning or goes; other fields may come. " +
			"Any answer of 2xx accepts it. No answer, 429 and 5xx are tried again, with growing pauses or as `Retry-After` says; another answer, a redirect included, or a certificate that cannot be verified fails at once. " +
			"What fails is the operation: it stops in `FAILED_TEMP`, and the next apply sends again. The same kubeconfig has the same key each time, so that the server can tell a repetition. A change of `url` sends to the new server; changes of the other arguments count from the next delivery on.",
		Optional: true,
		Attributes: map[string]schema.Attribute{
			"url": schema.StringAttribute{
				MarkdownDescription: "URL of the web server, `https://…`. It is kept in the state: secrets belong in `headers_wo`.",
				Required:            true,
				Validators:          []validator.String{sinkURL{}},
			},
			"headers": schema.MapAttribute{
				MarkdownDescription: "Headers of the request. They are kept in the state as sensitive values; use `headers_wo` for secrets with Terraform 1.11 or later.",
				Optional:            true,
				Sensitive:           true,
				ElementType:         types.StringType,
				Validators:          names,
			},
			"headers_wo": schema.MapAttribute{
				MarkdownDescription: "Headers of the request over those of `headers`, for secrets such as `Authorization`. This form is write-only: it reaches neither plan nor state and accepts ephemeral values. It is read in every apply that sends.",
				Optional:            true,
				WriteOnly:           true,
				Sensitive:           true,
				ElementType:         types.StringType,
				Validators:          names,
			},
			"headers_wo_version": schema.Int64Attribute{
				MarkdownDescription: "Version of `headers_wo`, any number. Changing it notes in the state that they are others; they count from the next delivery on.",
				Optional:            true,
				Validators:          []validator.Int64{int64validator.AlsoRequires(tfutil.Sibling("headers_wo"))},
			},
			"ca_certificate": schema.StringAttribute{
				MarkdownDescription: "CA certificates that the server's certificate is verified with, as PEM. Default are those of the system. It is always verified.",
				Optional:            true,
				Validators:          []validator.String{tfutil.Certificates()},
			},
			"timeout": schema.StringAttribute{
				MarkdownDescription: "Limit of one try. Default `30s`.",
				CustomType:          tfutil.DurationType{},
				Optional:            true,
			},
			"attempts": schema.Int64Attribute{
				MarkdownDescription: "Number of tries. Default 5.",
				Optional:            true,
				Validators:          []validator.Int64{int64validator.Between(1, 20)},
			},
		},
	}
}

// sinkModel is a credentials sink as Terraform has it.
type sinkModel struct {
	URL              types.String    `tfsdk:"url"`
	Headers          types.Map       `tfsdk:"headers"`
	HeadersWO        types.Map       `tfsdk:"headers_wo"`
	HeadersWOVersion types.Int64     `tfsdk:"headers_wo_version"`
	CACertificate    types.String    `tfsdk:"ca_certificate"`
	Timeout          tfutil.Duration `tfsdk:"timeout"`
	Attempts         types.Int64     `tfsdk:"attempts"`
}

// Sink reads a credentials sink; nil when there is none. Only a configuration has the
// write-only headers. A sink that is unknown is empty, but not nil.
func Sink(ctx context.Context, o types.Object, diags *diag.Diagnostics) *vnfm.CredentialsSink {
	if o.IsNull() {
		return nil
	}
	s := &vnfm.CredentialsSink{Headers: map[string]vnfm.Secret{}}
	m := tfutil.As[sinkModel](ctx, o, diags)
	if m == nil {
		return s
	}
	s.URL, s.CACertificate = m.URL.ValueString(), m.CACertificate.ValueString()
	s.Timeout, s.Attempts = m.Timeout.Duration(), int(m.Attempts.ValueInt64())
	for _, headers := range []types.Map{m.Headers, m.HeadersWO} {
		for name, value := range tfutil.Texts(headers) {
			s.Headers[name] = vnfm.Secret(value)
		}
	}
	return s
}

// WithSink takes the credentials sink of a resource over from its configuration, which
// alone has the write-only headers, and keeps them out of the logs.
func WithSink(ctx context.Context, config tfsdk.Config, spec *vnfm.InstanceSpec, diags *diag.Diagnostics) context.Context {
	var o types.Object
	diags.Append(config.GetAttribute(ctx, path.Root(SinkAttribute), &o)...)
	s := Sink(ctx, o, diags)
	spec.Sink = s
	if s == nil {
		return ctx
	}
	var secrets []string
	for _, value := range s.Headers {
		secrets = append(secrets, value.Reveal())
		// A scheme such as Bearer is no secret, and what follows it may stand alone.
		if _, rest, ok := strings.Cut(value.Reveal(), " "); ok {
			secrets = append(secrets, rest)
		}
	}
	return tfutil.Mask(ctx, secrets...)
}

// SinkMoved reports whether a plan has a credentials sink that the state does not have.
func SinkMoved(plan, state types.Object) bool {
	at := func(o types.Object) attr.Value {
		if o.IsUnknown() {
			return types.StringUnknown()
		}
		return o.Attributes()["url"]
	}
	return !plan.IsNull() && (state.IsNull() || !at(plan).Equal(at(state)))
}

// sinkURL is the rule for the URL of a credentials sink.
type sinkURL struct{}

// Description implements validator.Describer.
func (sinkURL) Description(context.Context) string { return "must be a URL that begins with https://" }

// MarkdownDescription implements validator.Describer.
func (v sinkURL) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

// ValidateString implements validator.String.
func (sinkURL) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if tfutil.Set(req.ConfigValue) {
		tfutil.CheckURL(req.Path, req.ConfigValue.ValueString(), true, &resp.Diagnostics, "https")
	}
}
