package main

import (
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/nfv-iac/terraform-provider-vnf/internal/provider"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tracing"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// interruptible is a provider whose calls are interrupted by a SIGTERM. A runner that ends the whole process
// group sends it to the provider as well as to Terraform; without this, the provider would die with an
// operation unfinished and its lease held. Calls that do nothing outside the process, such as those for the
// schema, continue.
type interruptible struct {
	provider.Server
	*lifetime
}

// with returns the context of a call that ends with the call or with the provider.
func (p interruptible) with(ctx context.Context) (call context.Context, done func()) {
	p.enter()
	call, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(p.terminated, cancel)
	return call, func() {
		stop()
		cancel()
		p.leave()
	}
}

// call is a call of Terraform's with what it is about.
type call[Q, A any] struct {
	// name is that of the protocol, object the type of the resource, data source or ephemeral resource.
	name, object string
	serve        func(context.Context, *Q) (*A, error)
	diagnostics  func(*A) []*tfprotov6.Diagnostic
	// lasting is a call whose spans are sent before it is answered: the process may be killed afterwards.
	lasting bool
}

// answer serves a call with a context that ends with the call or with the provider, in a span.
func answer[Q, A any](ctx context.Context, p interruptible, c call[Q, A], req *Q) (*A, error) {
	ctx, done := p.with(ctx)
	defer done()
	ctx, span := tracing.Start(tracing.WithLogs(ctx), tracing.Calls, c.name)
	span.Text("vnf.type", c.object)
	ctx, settle := vnfm.WithBackground(ctx)
	resp, err := c.serve(ctx, req)
	settle()
	if resp != nil && tracing.Enabled() {
		for _, d := range c.diagnostics(resp) {
			if d.Severity == tfprotov6.DiagnosticSeverityError {
				span.Fail(d.Summary)
			}
		}
	}
	span.End(err)
	if c.lasting {
		tracing.Flush(ctx)
	}
	return resp, err
}

// ConfigureProvider implements tfprotov6.ProviderServer.
func (p interruptible) ConfigureProvider(ctx context.Context, req *tfprotov6.ConfigureProviderRequest) (*tfprotov6.ConfigureProviderResponse, error) {
	return answer(ctx, p, call[tfprotov6.ConfigureProviderRequest, tfprotov6.ConfigureProviderResponse]{
		name: "ConfigureProvider", serve: p.Server.ConfigureProvider,
		diagnostics: func(resp *tfprotov6.ConfigureProviderResponse) []*tfprotov6.Diagnostic { return resp.Diagnostics },
	}, req)
}

// ReadResource implements tfprotov6.ProviderServer.
func (p interruptible) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	return answer(ctx, p, call[tfprotov6.ReadResourceRequest, tfprotov6.ReadResourceResponse]{
		name: "ReadResource", object: req.TypeName, serve: p.Server.ReadResource,
		diagnostics: func(resp *tfprotov6.ReadResourceResponse) []*tfprotov6.Diagnostic { return resp.Diagnostics },
	}, req)
}

// PlanResourceChange implements tfprotov6.ProviderServer.
func (p interruptible) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	return answer(ctx, p, call[tfprotov6.PlanResourceChangeRequest, tfprotov6.PlanResourceChangeResponse]{
		name: "PlanResourceChange", object: req.TypeName, serve: p.Server.PlanResourceChange,
		diagnostics: func(resp *tfprotov6.PlanResourceChangeResponse) []*tfprotov6.Diagnostic { return resp.Diagnostics },
	}, req)
}

// ApplyResourceChange implements tfprotov6.ProviderServer.
func (p interruptible) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	return answer(ctx, p, call[tfprotov6.ApplyResourceChangeRequest, tfprotov6.ApplyResourceChangeResponse]{
		name: "ApplyResourceChange", object: req.TypeName, serve: p.Server.ApplyResourceChange, lasting: true,
		diagnostics: func(resp *tfprotov6.ApplyResourceChangeResponse) []*tfprotov6.Diagnostic { return resp.Diagnostics },
	}, req)
}

// ImportResourceState implements tfprotov6.ProviderServer.
func (p interruptible) ImportResourceState(ctx context.Context, req *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportResourceStateResponse, error) {
	return answer(ctx, p, call[tfprotov6.ImportResourceStateRequest, tfprotov6.ImportResourceStateResponse]{
		name: "ImportResourceState", object: req.TypeName, serve: p.Server.ImportResourceState,
		diagnostics: func(resp *tfprotov6.ImportResourceStateResponse) []*tfprotov6.Diagnostic { return resp.Diagnostics },
	}, req)
}

// ReadDataSource implements tfprotov6.ProviderServer.
func (p interruptible) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	return answer(ctx, p, call[tfprotov6.ReadDataSourceRequest, tfprotov6.ReadDataSourceResponse]{
		name: "ReadDataSource", object: req.TypeName, serve: p.Server.ReadDataSource,
		diagnostics: func(resp *tfprotov6.ReadDataSourceResponse) []*tfprotov6.Diagnostic { return resp.Diagnostics },
	}, req)
}

// OpenEphemeralResource implements tfprotov6.ProviderServer.
func (p interruptible) OpenEphemeralResource(ctx context.Context, req *tfprotov6.OpenEphemeralResourceRequest) (*tfprotov6.OpenEphemeralResourceResponse, error) {
	return answer(ctx, p, call[tfprotov6.OpenEphemeralResourceRequest, tfprotov6.OpenEphemeralResourceResponse]{
		name: "OpenEphemeralResource", object: req.TypeName, serve: p.Server.OpenEphemeralResource,
		diagnostics: func(resp *tfprotov6.OpenEphemeralResourceResponse) []*tfprotov6.Diagnostic { return resp.Diagnostics },
	}, req)
}

// ListResource implements tfprotov6.ListResourceServer.
func (p interruptible) ListResource(ctx context.Context, req *tfprotov6.ListResourceRequest) (*tfprotov6.ListResourceServerStream, error) {
	ctx, done := p.streaming(ctx, "ListResource", req.TypeName)
	stream, err := p.Server.ListResource(ctx, req)
	if err != nil {
		done(err)
		return nil, err
	}
	stream.Results = followed(stream.Results, done)
	return stream, nil
}

// PlanAction implements tfprotov6.ActionServer.
func (p interruptible) PlanAction(ctx context.Context, req *tfprotov6.PlanActionRequest) (*tfprotov6.PlanActionResponse, error) {
	return answer(ctx, p, call[tfprotov6.PlanActionRequest, tfprotov6.PlanActionResponse]{
		name: "PlanAction", object: req.ActionType, serve: p.Server.PlanAction,
		diagnostics: func(resp *tfprotov6.PlanActionResponse) []*tfprotov6.Diagnostic { return resp.Diagnostics },
	}, req)
}

// InvokeAction implements tfprotov6.ActionServer.
func (p interruptible) InvokeAction(ctx context.Context, req *tfprotov6.InvokeActionRequest) (*tfprotov6.InvokeActionServerStream, error) {
	ctx, done := p.streaming(ctx, "InvokeAction", req.ActionType)
	stream, err := p.Server.InvokeAction(ctx, req)
	if err != nil {
		done(err)
		return nil, err
	}
	stream.Events = followed(stream.Events, done)
	return stream, nil
}

// streaming returns the context of a call whose work is done while its answer is read, and what ends it and its span.
func (p interruptible) streaming(ctx context.Context, name, object string) (call context.Context, done func(error)) {
	ctx, end := p.with(ctx)
	ctx, span := tracing.Start(tracing.WithLogs(ctx), tracing.Calls, name)
	span.Text("vnf.type", object)
	return ctx, func(err error) {
		span.End(err)
		tracing.Flush(ctx)
		end()
	}
}

// followed is a sequence at whose end a function is called: the work of a stream is done while it is read.
func followed[T any](s iter.Seq[T], end func(error)) iter.Seq[T] {
	return func(yield func(T) bool) {
		defer end(nil)
		s(yield)
	}
}
