package lcm

import (
	"context"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tracing"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// traced does the work of the operation in a span.
func (o *operation) traced(ctx context.Context, work func(ctx context.Context) error) error {
	if !tracing.Enabled() {
		return work(ctx)
	}
	started := o.snapshot()
	ctx, span := tracing.Start(ctx, tracing.Operations, string(started.Type))
	span.Text("vnf.operation.id", started.ID)
	span.Text("vnf.instance.id", started.InstanceID)
	span.Text("vnf.instance.name", o.instance.Value.Name)
	err := work(ctx)
	span.Text("vnf.operation.state", string(o.state()))
	span.End(err)
	return err
}

// inSteps returns a driver whose work on the VIM is steps: spans of a trace, and lines of the timeline of the operation that records it.
func inSteps(d vnfm.InfraDriver) vnfm.InfraDriver {
	steps := stepDriver{d}
	if keeper, ok := d.(vnfm.ResultKeeper); ok {
		return struct {
			stepDriver
			vnfm.ResultKeeper
		}{steps, keeper}
	}
	return steps
}

// stepDriver makes a step of each call that works on the VIM.
type stepDriver struct{ vnfm.InfraDriver }

// asked does a step that an answer is asked of.
func asked[T any](ctx context.Context, name string, work func(ctx context.Context) (T, error)) (T, error) {
	ctx, span := tracing.Start(ctx, tracing.Operations, name)
	out, err := work(ctx)
	span.End(err)
	return out, err
}

// step does a step of an operation.
func (d stepDriver) step(ctx context.Context, name string, t *vnfm.Target, r vnfm.Recorder, work func(ctx context.Context) error) error {
	if o, ok := r.(*operation); ok {
		o.works(name, t, d.InfraDriver)
	}
	return tracing.Do(ctx, tracing.Operations, name, work)
}

// DryRun implements vnfm.InfraDriver.
func (d stepDriver) DryRun(ctx context.Context, t *vnfm.Target, keys []string) (vnfm.Problems, error) {
	return asked(ctx, "dry run", func(ctx context.Context) (vnfm.Problems, error) { return d.InfraDriver.DryRun(ctx, t, keys) })
}

// Observe implements vnfm.InfraDriver.
func (d stepDriver) Observe(ctx context.Context, t *vnfm.Target) (*vnfm.Observation, error) {
	return asked(ctx, "observe", func(ctx context.Context) (*vnfm.Observation, error) { return d.InfraDriver.Observe(ctx, t) })
}

// Resources implements vnfm.InfraDriver.
func (d stepDriver) Resources(ctx context.Context, t *vnfm.Target) (*vnfm.ResourceInfo, error) {
	return asked(ctx, "resources", func(ctx context.Context) (*vnfm.ResourceInfo, error) { return d.InfraDriver.Resources(ctx, t) })
}

// Apply implements vnfm.InfraDriver.
func (d stepDriver) Apply(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	return d.step(ctx, "apply", t, r, func(ctx context.Context) error { return d.InfraDriver.Apply(ctx, t, r) })
}

// Scale implements vnfm.InfraDriver.
func (d stepDriver) Scale(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	return d.step(ctx, "scale", t, r, func(ctx context.Context) error { return d.InfraDriver.Scale(ctx, t, r) })
}

// Heal implements vnfm.InfraDriver.
func (d stepDriver) Heal(ctx context.Context, t *vnfm.Target, h vnfm.HealSpec, r vnfm.Recorder) error {
	return d.step(ctx, "heal", t, r, func(ctx context.Context) error { return d.InfraDriver.Heal(ctx, t, h, r) })
}

// Recover implements vnfm.InfraDriver.
func (d stepDriver) Recover(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	return d.step(ctx, "recover", t, r, func(ctx context.Context) error { return d.InfraDriver.Recover(ctx, t, r) })
}

// Terminate implements vnfm.InfraDriver.
func (d stepDriver) Terminate(ctx context.Context, t *vnfm.Target, s vnfm.TerminateSpec, r vnfm.Recorder) error {
	return d.step(ctx, "terminate", t, r, func(ctx context.Context) error { return d.InfraDriver.Terminate(ctx, t, s, r) })
}
