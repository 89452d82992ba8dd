// Package tracing makes spans of what the provider does, sends them to a collector of OpenTelemetry and logs them, when the environment asks
// for it. Otherwise nothing is started, and Start costs two loads.
package tracing

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

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

// Enabled reports whether spans are made, for a trace or for the log.
func Enabled() bool { return active.Load() != nil || logging.Load() }

// Span is a piece of work. A nil one, which Start returns when nothing is traced and logged, takes all calls and does nothing.
type Span struct {
	span trace.Span
	ctx  context.Context
	// log writes a line with fields; both are nil when nothing is logged.
	log    func()
	fields map[string]any
}

// Start begins a span below that of the context. The caller ends it.
func Start(ctx context.Context, subsystem Subsystem, name string) (context.Context, *Span) {
	return start(ctx, subsystem, name, trace.SpanKindInternal)
}

func start(ctx context.Context, subsystem Subsystem, name string, kind trace.SpanKind) (context.Context, *Span) {
	t, logged := active.Load(), logging.Load()
	if t == nil && !logged {
		return ctx, nil
	}
	s := &Span{span: noop.Span{}}
	if t != nil {
		if t.parent.IsValid() && !trace.SpanContextFromContext(ctx).IsValid() {
			ctx = trace.ContextWithRemoteSpanContext(ctx, t.parent)
		}
		ctx, s.span = t.tracer.Start(ctx, name, trace.WithSpanKind(kind))
	}
	if logged && subsystem != Calls {
		began := time.Now()
		s.fields = map[string]any{}
		s.log = func() {
			line := tflog.SubsystemSetField(ctx, string(subsystem), durationField, time.Since(began).Milliseconds())
			tflog.SubsystemDebug(line, string(subsystem), name, s.fields)
		}
	}
	s.ctx = ctx
	return ctx, s
}

// Text adds an attribute, without the secrets that the context knows. An empty one is left out.
func (s *Span) Text(key, value string) {
	if s == nil || value == "" {
		return
	}
	value = hidden(s.ctx, value)
	s.span.SetAttributes(attribute.String(key, value))
	if s.fields != nil {
		s.fields[key] = value
	}
}

// Int adds an attribute that is a number.
func (s *Span) Int(key string, value int) {
	if s == nil {
		return
	}
	s.span.SetAttributes(attribute.Int(key, value))
	if s.fields != nil {
		s.fields[key] = value
	}
}

// Fail marks the span as failed, with a text without the secrets that the context knows.
func (s *Span) Fail(text string) {
	if s == nil {
		return
	}
	text = hidden(s.ctx, text)
	s.span.SetStatus(codes.Error, text)
	if s.fields != nil {
		s.fields["error"] = text
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
	if s.log != nil {
		s.log()
	}
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
func Do(ctx context.Context, subsystem Subsystem, name string, work func(ctx context.Context) error) error {
	ctx, span := Start(ctx, subsystem, name)
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
