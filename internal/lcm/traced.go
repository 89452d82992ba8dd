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
	ctx, span := tracing.Start(ctx, string(started.Type))
	span.Text("vnf.operation.id", started.ID)
	span.Text("vnf.instance.id", started.InstanceID)
	span.Text("vnf.instance.name", o.instance.Value.Name)
	err := work(ctx)
	span.Text("vnf.operation.state", string(o.state()))
	span.End(err)
	return err
}

// traced returns a driver whose steps are spans; d itself when nothing is traced.
func traced(d vnfm.InfraDriver) vnfm.InfraDriver {
	if d == nil || !tracing.Enabled() {
		return d
	}
	steps := tracedDriver{d}
	if keeper, ok := d.(vnfm.ResultKeeper); ok {
		return struct {
			tracedDriver
			vnfm.ResultKeeper
		}{steps, keeper}
	}
	return steps
}

// tracedDriver makes a span of each step that works on the VIM.
type tracedDriver struct{ vnfm.InfraDriver }

// step does what a span is made of.
func step[T any](ctx context.Context, name string, work func(ctx context.Context) (T, error)) (T, error) {
	ctx, span := tracing.Start(ctx, name)
	out, err := work(ctx)
	span.End(err)
	return out, err
}

// DryRun implements vnfm.InfraDriver.
func (d tracedDriver) DryRun(ctx context.Context, t *vnfm.Target, keys []string) (vnfm.Problems, error) {
	return step(ctx, "dry run", func(ctx context.Context) (vnfm.Problems, error) { return d.InfraDriver.DryRun(ctx, t, keys) })
}

// Apply implements vnfm.InfraDriver.
func (d tracedDriver) Apply(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	return tracing.Do(ctx, "apply", func(ctx context.Context) error { return d.InfraDriver.Apply(ctx, t, r) })
}

// Scale implements vnfm.InfraDriver.
func (d tracedDriver) Scale(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	return tracing.Do(ctx, "scale", func(ctx context.Context) error { return d.InfraDriver.Scale(ctx, t, r) })
}

// Heal implements vnfm.InfraDriver.
func (d tracedDriver) Heal(ctx context.Context, t *vnfm.Target, h vnfm.HealSpec, r vnfm.Recorder) error {
	return tracing.Do(ctx, "heal", func(ctx context.Context) error { return d.InfraDriver.Heal(ctx, t, h, r) })
}

// Observe implements vnfm.InfraDriver.
func (d tracedDriver) Observe(ctx context.Context, t *vnfm.Target) (*vnfm.Observation, error) {
	return step(ctx, "observe", func(ctx context.Context) (*vnfm.Observation, error) { return d.InfraDriver.Observe(ctx, t) })
}

// Resources implements vnfm.InfraDriver.
func (d tracedDriver) Resources(ctx context.Context, t *vnfm.Target) (*vnfm.ResourceInfo, error) {
	return step(ctx, "resources", func(ctx context.Context) (*vnfm.ResourceInfo, error) { return d.InfraDriver.Resources(ctx, t) })
}

// Recover implements vnfm.InfraDriver.
func (d tracedDriver) Recover(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	return tracing.Do(ctx, "recover", func(ctx context.Context) error { return d.InfraDriver.Recover(ctx, t, r) })
}

// Terminate implements vnfm.InfraDriver.
func (d tracedDriver) Terminate(ctx context.Context, t *vnfm.Target, s vnfm.TerminateSpec, r vnfm.Recorder) error {
	return tracing.Do(ctx, "terminate", func(ctx context.Context) error { return d.InfraDriver.Terminate(ctx, t, s, r) })
}
