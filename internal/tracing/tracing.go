// Package tracing makes spans of what the provider does and sends them to a collector of OpenTelemetry, when the environment asks for it.
// Otherwise nothing is started, and Start costs one load.
package tracing

import (
	"context"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// scope names the instrumentation.
const scope = "github.com/nfv-iac/terraform-provider-vnf"

// running is what traces, nil when nothing does.
type running struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	// parent is the span of the environment, which spans without another parent belong to.
	parent trace.SpanContext
	// deaf is set when the collector did not take spans: nobody waits for it again.
	deaf atomic.Bool
}

var active atomic.Pointer[running]

// Enabled reports whether spans are made.
func Enabled() bool { return active.Load() != nil }

// Span is a piece of work. A nil one, which Start returns when nothing is traced, takes all calls and does nothing.
type Span struct {
	span trace.Span
	ctx  context.Context
}

// Start begins a span below that of the context. The caller ends it.
func Start(ctx context.Context, name string) (context.Context, *Span) {
	t := active.Load()
	if t == nil {
		return ctx, nil
	}
	return t.start(ctx, name, trace.SpanKindInternal)
}

func (t *running) start(ctx context.Context, name string, kind trace.SpanKind) (context.Context, *Span) {
	if t.parent.IsValid() && !trace.SpanContextFromContext(ctx).IsValid() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, t.parent)
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(kind))
	return ctx, &Span{span: span, ctx: ctx}
}

// Text adds an attribute, without the secrets that the context knows. An empty one is left out.
func (s *Span) Text(key, value string) {
	if s != nil && value != "" {
		s.span.SetAttributes(attribute.String(key, hidden(s.ctx, value)))
	}
}

// Int adds an attribute that is a number.
func (s *Span) Int(key string, value int) {
	if s != nil {
		s.span.SetAttributes(attribute.Int(key, value))
	}
}

// Fail marks the span as failed, with a text without the secrets that the context knows.
func (s *Span) Fail(text string) {
	if s != nil {
		s.span.SetStatus(codes.Error, hidden(s.ctx, text))
	}
}

// End ends the span, as failed when there is an error.
func (s *Span) End(err error) {
	if s == nil {
		return
	}
	if err != nil {
		s.Fail(err.Error())
	}
	s.span.End()
}

// Event adds a line to the span of a context.
func Event(ctx context.Context, line string) {
	if active.Load() == nil {
		return
	}
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.AddEvent("progress", trace.WithAttributes(attribute.String("vnf.progress", hidden(ctx, line))))
	}
}

// Do does work in a span.
func Do(ctx context.Context, name string, work func(ctx context.Context) error) error {
	ctx, span := Start(ctx, name)
	err := work(ctx)
	span.End(err)
	return err
}

// maxText bounds a text, in bytes.
const maxText = 4 << 10

func hidden(ctx context.Context, text string) string {
	text = vnfm.ConcealedIn(ctx).Hide(text)
	if len(text) > maxText {
		return text[:maxText] + "…"
	}
	return text
}
