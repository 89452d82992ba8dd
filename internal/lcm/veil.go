package lcm

import (
	"context"
	"errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// veil is the infra driver of a target with secret parameters. What drivers, and VIMs through
// them, say of these may repeat a value: it is hidden in problems, errors, progress and notes
// before they reach a record or a user.
type veil struct {
	vnfm.InfraDriver
	mask vnfm.Mask
}

// veiled puts a veil over the driver of a target that has secret parameters.
func veiled(d vnfm.InfraDriver, t *vnfm.Target) vnfm.InfraDriver {
	mask := vnfm.NewMask(vnfm.TextsIn(t.SecretParams)...)
	if d == nil || len(mask.Forms()) == 0 {
		return d
	}
	return &veil{d, mask}
}

// hiddenError is an error with another text.
type hiddenError struct {
	text string
	err  error
}

func (e *hiddenError) Error() string { return e.text }

func (e *hiddenError) Unwrap() error { return e.err }

func (v *veil) error(err error) error {
	if err == nil {
		return nil
	}
	var invalid *vnfm.InvalidError
	if errors.As(err, &invalid) {
		// Its problems are told one by one.
		invalid.Problems = v.problems(invalid.Problems)
	}
	if text := v.mask.Hide(err.Error()); text != err.Error() {
		return &hiddenError{text, err}
	}
	return err
}

func (v *veil) problems(ps vnfm.Problems) vnfm.Problems {
	for n := range ps {
		ps[n].Summary, ps[n].Detail = v.mask.Hide(ps[n].Summary), v.mask.Hide(ps[n].Detail)
	}
	return ps
}

// veiledRecorder hides secrets in what a driver reports.
type veiledRecorder struct {
	vnfm.Recorder
	mask vnfm.Mask
}

func (v *veil) recorder(r vnfm.Recorder) vnfm.Recorder {
	if r == nil {
		return nil
	}
	return &veiledRecorder{r, v.mask}
}

// Progress implements vnfm.Recorder.
func (r *veiledRecorder) Progress(ctx context.Context, line string) {
	r.Recorder.Progress(ctx, r.mask.Hide(line))
}

// Preview implements vnfm.InfraDriver.
func (v *veil) Preview(t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
	p, found := v.InfraDriver.Preview(t)
	return p, v.problems(found)
}

// Render implements vnfm.InfraDriver.
func (v *veil) Render(t *vnfm.Target) (*vnfm.Rendering, vnfm.Problems) {
	r, found := v.InfraDriver.Render(t)
	if r != nil {
		for key, text := range r.Contents {
			r.Contents[key] = v.mask.Hide(text)
		}
	}
	return r, v.problems(found)
}

// DryRun implements vnfm.InfraDriver.
func (v *veil) DryRun(ctx context.Context, t *vnfm.Target, keys []string) (vnfm.Problems, error) {
	found, err := v.InfraDriver.DryRun(ctx, t, keys)
	return v.problems(found), v.error(err)
}

// Apply implements vnfm.InfraDriver.
func (v *veil) Apply(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	return v.error(v.InfraDriver.Apply(ctx, t, v.recorder(r)))
}

// Scale implements vnfm.InfraDriver.
func (v *veil) Scale(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	return v.error(v.InfraDriver.Scale(ctx, t, v.recorder(r)))
}

// Leaving implements vnfm.InfraDriver.
func (v *veil) Leaving(ctx context.Context, t *vnfm.Target) ([]string, error) {
	ids, err := v.InfraDriver.Leaving(ctx, t)
	return ids, v.error(err)
}

// Heal implements vnfm.InfraDriver.
func (v *veil) Heal(ctx context.Context, t *vnfm.Target, h vnfm.HealSpec, r vnfm.Recorder) error {
	return v.error(v.InfraDriver.Heal(ctx, t, h, v.recorder(r)))
}

// Observe implements vnfm.InfraDriver.
func (v *veil) Observe(ctx context.Context, t *vnfm.Target) (*vnfm.Observation, error) {
	o, err := v.InfraDriver.Observe(ctx, t)
	return o, v.error(err)
}

// Resources implements vnfm.InfraDriver.
func (v *veil) Resources(ctx context.Context, t *vnfm.Target) (*vnfm.ResourceInfo, error) {
	r, err := v.InfraDriver.Resources(ctx, t)
	return r, v.error(err)
}

// CheckTermination implements vnfm.InfraDriver.
func (v *veil) CheckTermination(ctx context.Context, t *vnfm.Target, s vnfm.TerminateSpec) error {
	return v.error(v.InfraDriver.CheckTermination(ctx, t, s))
}

// Terminate implements vnfm.InfraDriver.
func (v *veil) Terminate(ctx context.Context, t *vnfm.Target, s vnfm.TerminateSpec, r vnfm.Recorder) error {
	return v.error(v.InfraDriver.Terminate(ctx, t, s, v.recorder(r)))
}
