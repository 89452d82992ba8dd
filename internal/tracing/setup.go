package tracing

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

const (
	// flushPatience bounds the wait for the collector after an operation, stopPatience at the end of the process, which Terraform kills
	// two seconds after it has asked it to end.
	flushPatience = 3 * time.Second
	stopPatience  = 1500 * time.Millisecond
)

var (
	noticesMu sync.Mutex
	// notices are what users need to know of variables.
	notices []string
	// ready is set once spans are sent.
	ready atomic.Bool
)

// Setup starts tracing when the environment asks for it. Run names the run of Terraform: spans of all its processes are of one trace also
// when the environment names none; empty for a process that is no part of a run. Nothing that it finds is an error: Warning has it.
func Setup(ctx context.Context, version, run string) {
	s := readEnvironment()
	if s.on {
		quiet()
		if err := connect(ctx, s.protocol, version, run); err != nil {
			s.problems = append(s.problems, "the exporter cannot be made, and nothing is traced")
		}
	}
	noticesMu.Lock()
	defer noticesMu.Unlock()
	notices = s.problems
}

// Warning says what was wrong with the environment, in one line; empty when nothing was.
func Warning() string {
	noticesMu.Lock()
	defer noticesMu.Unlock()
	return strings.Join(notices, "; ")
}

func connect(ctx context.Context, protocol, version, run string) error {
	var exporter sdktrace.SpanExporter
	var err error
	if protocol == protocolGRPC {
		exporter, err = otlptracegrpc.New(ctx)
	} else {
		exporter, err = otlptracehttp.New(ctx)
	}
	if err != nil {
		return err
	}
	// What cannot be read of OTEL_RESOURCE_ATTRIBUTES is left out.
	about, _ := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "terraform-provider-vnf"), attribute.String("service.version", version),
			attribute.Int("process.pid", os.Getpid())),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	options := []sdktrace.TracerProviderOption{sdktrace.WithBatcher(exporter), sdktrace.WithResource(about)}
	if run != "" {
		options = append(options, sdktrace.WithIDGenerator(newIDs(run)))
	}
	t := &running{provider: sdktrace.NewTracerProvider(options...), parent: parentOf(ctx)}
	t.tracer = t.provider.Tracer(scope, trace.WithInstrumentationVersion(version))
	active.Store(t)
	ready.Store(true)
	return nil
}

// parentOf is the span of the environment. One that is malformed is ignored, as the specification of the W3C has it.
func parentOf(ctx context.Context) trace.SpanContext {
	carrier := propagation.MapCarrier{"traceparent": os.Getenv(envParent), "tracestate": os.Getenv(envState)}
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(ctx, carrier))
}

// ids gives all spans without a parent the same trace.
type ids struct{ trace trace.TraceID }

func newIDs(run string) *ids {
	digest := sha256.Sum256([]byte("vnf run " + run))
	g := &ids{}
	copy(g.trace[:], digest[:])
	return g
}

// NewIDs implements sdktrace.IDGenerator.
func (g *ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	return g.trace, g.NewSpanID(ctx, g.trace)
}

// NewSpanID implements sdktrace.IDGenerator.
func (*ids) NewSpanID(context.Context, trace.TraceID) trace.SpanID {
	var id trace.SpanID
	for !id.IsValid() {
		_, _ = rand.Read(id[:])
	}
	return id
}

// quiet keeps what the SDK says out of the output: it quotes values of variables, which hold headers. That spans were not sent is said
// once, without them.
func quiet() {
	otel.SetLogger(logr.Discard())
	var once sync.Once
	ready.Store(false)
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {
		// Before Setup has ended, it is an error of a variable, which readEnvironment has found.
		if ready.Load() {
			once.Do(func() { _, _ = fmt.Fprintln(os.Stderr, "[WARN] spans were not sent to the collector of OpenTelemetry") })
		}
	}))
}

// Flush sends the spans that have ended, at the end of something that must not be lost, also when ctx has ended. A collector that does not
// answer delays it once.
func Flush(ctx context.Context) {
	t := active.Load()
	if t == nil || t.deaf.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushPatience)
	defer cancel()
	if err := t.provider.ForceFlush(ctx); err != nil {
		t.deaf.Store(true)
		otel.Handle(errors.New("flush"))
	}
}

// Stop sends what is left and ends tracing, also when ctx has ended.
func Stop(ctx context.Context) {
	t := active.Swap(nil)
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		otel.Handle(errors.New("shutdown"))
	}
}
