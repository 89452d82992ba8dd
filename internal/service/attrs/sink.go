package attrs

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// SinkAttribute is the name of the argument that SinkSchema describes.
const SinkAttribute = "credentials_sink"

// headerName is the syntax of the name of a header (RFC 9110).
var headerName = lazyregexp.New("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// SinkSchema describes a web server that receives kubeconfigs. The description begins with
// the sentence when.
func SinkSchema(when string) schema.Attribute {
	names := []validator.Map{mapvalidator.NoNullValues(), mapvalidator.KeysAre(
		tfutil.Matches(headerName, "must be the name of a header"),
		stringvalidator.NoneOfCaseInsensitive("Content-Type", "Content-Length", "Host", "Idempotency-Key"))}
	return schema.SingleNestedAttribute{
		MarkdownDescription: when + " It gets a `POST` after the creation, after a rotation, and whenever an operation finds a kubeconfig that was not sent; a failed delivery fails the operation, and the next apply retries. " +
			"Changing this updates in place: a new `url` gets the kubeconfig, other changes apply to the next delivery. See [Credentials sink](../guides/workload-clusters.md#credentials-sink).",
		Optional: true,
		Attributes: map[string]schema.Attribute{
			"url": schema.StringAttribute{
				MarkdownDescription: "URL of the web server, `https://…`. It is in the state: secrets belong in `headers_wo`. Changing this sends the kubeconfig to the new server.",
				Required:            true,
				Validators:          []validator.String{sinkURL{}},
			},
			"headers": schema.MapAttribute{
				MarkdownDescription: "Headers of the request, sensitive values in the state; use `headers_wo` for secrets with Terraform 1.11 or later. Changing this applies to the next delivery.",
				Optional:            true,
				Sensitive:           true,
				ElementType:         types.StringType,
				Validators:          names,
			},
			"headers_wo": schema.MapAttribute{
				MarkdownDescription: "Headers of the request that override `headers`, for secrets such as `Authorization`. Write-only: it reaches neither plan nor state and accepts ephemeral values. Changing this applies to the next delivery; every apply that sends reads it.",
				Optional:            true,
				WriteOnly:           true,
				Sensitive:           true,
				ElementType:         types.StringType,
				Validators:          names,
			},
			"headers_wo_version": schema.Int64Attribute{
				MarkdownDescription: "Version of `headers_wo`, any number. Changing this records the change in the state; it applies to the next delivery.",
				Optional:            true,
				Validators:          []validator.Int64{int64validator.AlsoRequires(tfutil.Sibling("headers_wo"))},
			},
			"ca_certificate": schema.StringAttribute{
				MarkdownDescription: "PEM CA bundle used to verify the server; verification cannot be disabled. Defaults to the CA bundle of the system. Changing this applies to the next delivery.",
				Optional:            true,
				Validators:          []validator.String{tfutil.Certificates()},
			},
			"timeout": schema.StringAttribute{
				MarkdownDescription: fmt.Sprintf("Time limit of one attempt. Defaults to `%s`. Changing this applies to the next delivery.", vnfm.DefaultSinkTimeout),
				CustomType:          timetypes.GoDurationType{},
				Optional:            true,
				Computed:            true,
				Default:             stringdefault.StaticString(vnfm.DefaultSinkTimeout.String()),
				Validators:          []validator.String{tfutil.Positive()},
				PlanModifiers:       []planmodifier.String{tfutil.KeepEqualDuration()},
			},
			"attempts": schema.Int64Attribute{
				MarkdownDescription: fmt.Sprintf("Number of attempts. Defaults to `%d`. Changing this applies to the next delivery.", vnfm.DefaultSinkAttempts),
				Optional:            true,
				Computed:            true,
				Default:             int64default.StaticInt64(vnfm.DefaultSinkAttempts),
				Validators:          []validator.Int64{int64validator.Between(1, 20)},
			},
		},
	}
}

// sinkModel is a credentials sink as Terraform has it.
type sinkModel struct {
	URL              types.String         `tfsdk:"url"`
	Headers          types.Map            `tfsdk:"headers"`
	HeadersWO        types.Map            `tfsdk:"headers_wo"`
	HeadersWOVersion types.Int64          `tfsdk:"headers_wo_version"`
	CACertificate    types.String         `tfsdk:"ca_certificate"`
	Timeout          timetypes.GoDuration `tfsdk:"timeout"`
	Attempts         types.Int64          `tfsdk:"attempts"`
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
	s.Timeout, s.Attempts = tfutil.GoDuration(m.Timeout), int(m.Attempts.ValueInt64())
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
		// A scheme such as Bearer is not a secret, and what follows it may stand alone.
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
