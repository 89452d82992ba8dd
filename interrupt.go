package main

import (
	"context"
	"iter"
	"os"
	"os/signal"
	"syscall"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/nfv-iac/terraform-provider-vnf/internal/provider"
)

// onTermination returns a context that ends at the first SIGTERM. A second one ends the process at once, as a second Ctrl-C does with
// Terraform.
func onTermination(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	received := make(chan os.Signal, 1)
	signal.Notify(received, syscall.SIGTERM)
	go func() {
		<-received
		signal.Stop(received)
		cancel()
	}()
	return ctx
}

// interruptible is a provider whose calls are interrupted when terminated ends. A runner that ends the whole process group sends SIGTERM
// to the provider as well as to Terraform; without this, the provider would die with an operation unfinished and its lease held. Calls
// that do nothing outside the process, such as those for the schema, go on.
type interruptible struct {
	provider.Server
	terminated context.Context // a signal to all calls
}

// with returns the context of a call that ends with the call or with the provider.
func (p interruptible) with(ctx context.Context) (call context.Context, done func()) {
	call, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(p.terminated, cancel)
	return call, func() {
		stop()
		cancel()
	}
}

// ConfigureProvider implements tfprotov6.ProviderServer.
func (p interruptible) ConfigureProvider(ctx context.Context, req *tfprotov6.ConfigureProviderRequest) (*tfprotov6.ConfigureProviderResponse, error) {
	ctx, done := p.with(ctx)
	defer done()
	return p.Server.ConfigureProvider(ctx, req)
}

// ReadResource implements tfprotov6.ProviderServer.
func (p interruptible) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	ctx, done := p.with(ctx)
	defer done()
	return p.Server.ReadResource(ctx, req)
}

// PlanResourceChange implements tfprotov6.ProviderServer.
func (p interruptible) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	ctx, done := p.with(ctx)
	defer done()
	return p.Server.PlanResourceChange(ctx, req)
}

// ApplyResourceChange implements tfprotov6.ProviderServer.
func (p interruptible) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	ctx, done := p.with(ctx)
	defer done()
	return p.Server.ApplyResourceChange(ctx, req)
}

// ImportResourceState implements tfprotov6.ProviderServer.
func (p interruptible) ImportResourceState(ctx context.Context, req *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportResourceStateResponse, error) {
	ctx, done := p.with(ctx)
	defer done()
	return p.Server.ImportResourceState(ctx, req)
}

// ReadDataSource implements tfprotov6.ProviderServer.
func (p interruptible) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	ctx, done := p.with(ctx)
	defer done()
	return p.Server.ReadDataSource(ctx, req)
}

// OpenEphemeralResource implements tfprotov6.ProviderServer.
func (p interruptible) OpenEphemeralResource(ctx context.Context, req *tfprotov6.OpenEphemeralResourceRequest) (*tfprotov6.OpenEphemeralResourceResponse, error) {
	ctx, done := p.with(ctx)
	defer done()
	return p.Server.OpenEphemeralResource(ctx, req)
}

// ListResource implements tfprotov6.ListResourceServer.
func (p interruptible) ListResource(ctx context.Context, req *tfprotov6.ListResourceRequest) (*tfprotov6.ListResourceServerStream, error) {
	ctx, done := p.with(ctx)
	stream, err := p.Server.ListResource(ctx, req)
	if err != nil {
		done()
		return nil, err
	}
	stream.Results = followed(stream.Results, done)
	return stream, nil
}

// PlanAction implements tfprotov6.ActionServer.
func (p interruptible) PlanAction(ctx context.Context, req *tfprotov6.PlanActionRequest) (*tfprotov6.PlanActionResponse, error) {
	ctx, done := p.with(ctx)
	defer done()
	return p.Server.PlanAction(ctx, req)
}

// InvokeAction implements tfprotov6.ActionServer.
func (p interruptible) InvokeAction(ctx context.Context, req *tfprotov6.InvokeActionRequest) (*tfprotov6.InvokeActionServerStream, error) {
	ctx, done := p.with(ctx)
	stream, err := p.Server.InvokeAction(ctx, req)
	if err != nil {
		done()
		return nil, err
	}
	stream.Events = followed(stream.Events, done)
	return stream, nil
}

// followed is a sequence at whose end a function is called: the work of a stream is done while it is read.
func followed[T any](s iter.Seq[T], end func()) iter.Seq[T] {
	return func(yield func(T) bool) {
		defer end()
		s(yield)
	}
}
