package acctest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
)

// Diagnostics records the diagnostics of the provider under test: plugin-testing checks
// neither warnings nor the attribute of an error. It also interrupts an apply.
type Diagnostics struct {
	mu       sync.Mutex
	warnings []string
	step     string
	planned  map[string][]string
	// interrupted is the type of the resource whose next apply is interrupted when interrupt returns.
	interrupted string
	interrupt   func()
}

// Factories returns the provider for the field ProtoV6ProviderFactories, with its diagnostics recorded.
func (d *Diagnostics) Factories() map[string]func() (tfprotov6.ProviderServer, error) {
	out := Factories()
	for name, factory := range out {
		out[name] = func() (tfprotov6.ProviderServer, error) {
			server, err := factory()
			if err != nil {
				return nil, err
			}
			return recordedServer{ProviderServer: server, diagnostics: d}, nil
		}
	}
	return out
}

// InterruptApply interrupts the next apply of a resource type, as Ctrl-C does, once wait returns.
func (d *Diagnostics) InterruptApply(typeName string, wait func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.interrupted, d.interrupt = typeName, wait
}

// HasWarning checks that each pattern matches a warning, and drops all that were recorded so far.
func (d *Diagnostics) HasWarning(patterns ...string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		given := strings.Join(d.takeWarnings(), "\n")
		for _, pattern := range patterns {
			if !regexp.MustCompile(pattern).MatchString(given) {
				return fmt.Errorf("no warning matches %q; given were:\n%s", pattern, given)
			}
		}
		return nil
	}
}

// NoWarnings checks that no warning was recorded since the last check.
func (d *Diagnostics) NoWarnings() resource.TestCheckFunc {
	return func(*terraform.State) error {
		if given := d.takeWarnings(); len(given) > 0 {
			return fmt.Errorf("unexpected warnings:\n%s", strings.Join(given, "\n"))
		}
		return nil
	}
}

// OnlyWarning checks that one warning was recorded since the last check, however often.
func (d *Diagnostics) OnlyWarning(want string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		given := d.takeWarnings()
		if len(given) == 0 || slices.ContainsFunc(given, func(w string) bool { return w != want }) {
			return fmt.Errorf("want the warning %q alone; given were:\n%s", want, strings.Join(given, "\n"))
		}
		return nil
	}
}

// BeginStep names the step that runs from now on.
func (d *Diagnostics) BeginStep(step string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.step = step
}

// OfPlans returns the different diagnostics of the plans of a step, such as "WARNING network.internal: summary: detail".
func (d *Diagnostics) OfPlans(step string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.planned[step]
}

// Discard drops the warnings that were recorded so far.
func (d *Diagnostics) Discard() { d.takeWarnings() }

func (d *Diagnostics) takeWarnings() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	given := d.warnings
	d.warnings = nil
	return given
}

func (d *Diagnostics) takeInterrupt(typeName string) func() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if typeName != d.interrupted {
		return nil
	}
	interrupt := d.interrupt
	d.interrupted, d.interrupt = "", nil
	return interrupt
}

func (d *Diagnostics) record(diagnostics []*tfprotov6.Diagnostic) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, each := range diagnostics {
		if each.Severity == tfprotov6.DiagnosticSeverityWarning {
			d.warnings = append(d.warnings, each.Summary+": "+each.Detail)
		}
	}
}

func (d *Diagnostics) recordPlan(diagnostics []*tfprotov6.Diagnostic) {
	d.record(diagnostics)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, each := range diagnostics {
		line := fmt.Sprintf("%s %s: %s: %s", each.Severity, attributePath(each.Attribute), each.Summary, each.Detail)
		if !slices.Contains(d.planned[d.step], line) {
			if d.planned == nil {
				d.planned = map[string][]string{}
			}
			d.planned[d.step] = append(d.planned[d.step], line)
		}
	}
}

// attributePath writes the path of an attribute as a configuration does.
func attributePath(path *tftypes.AttributePath) string {
	var names []string
	for _, step := range path.Steps() {
		names = append(names, fmt.Sprint(step))
	}
	return strings.Join(names, ".")
}

// recordedServer is a provider server whose diagnostics are recorded.
type recordedServer struct {
	tfprotov6.ProviderServer
	diagnostics *Diagnostics
}

// ApplyResourceChange implements tfprotov6.ResourceServer.
func (s recordedServer) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	if interrupt := s.diagnostics.takeInterrupt(req.TypeName); interrupt != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		go func() {
			defer cancel()
			interrupt()
		}()
	}
	resp, err := s.ProviderServer.ApplyResourceChange(ctx, req)
	if resp != nil {
		s.diagnostics.record(resp.Diagnostics)
	}
	return resp, err
}

// PlanResourceChange implements tfprotov6.ResourceServer.
func (s recordedServer) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	resp, err := s.ProviderServer.PlanResourceChange(ctx, req)
	if resp != nil {
		s.diagnostics.recordPlan(resp.Diagnostics)
	}
	return resp, err
}

// ReadResource implements tfprotov6.ResourceServer.
func (s recordedServer) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	resp, err := s.ProviderServer.ReadResource(ctx, req)
	if resp != nil {
		s.diagnostics.record(resp.Diagnostics)
	}
	return resp, err
}

// ReadDataSource implements tfprotov6.DataSourceServer.
func (s recordedServer) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	resp, err := s.ProviderServer.ReadDataSource(ctx, req)
	if resp != nil {
		s.diagnostics.record(resp.Diagnostics)
	}
	return resp, err
}

// OpenEphemeralResource implements tfprotov6.EphemeralResourceServer.
func (s recordedServer) OpenEphemeralResource(ctx context.Context, req *tfprotov6.OpenEphemeralResourceRequest) (*tfprotov6.OpenEphemeralResourceResponse, error) {
	resp, err := s.ProviderServer.OpenEphemeralResource(ctx, req)
	if resp != nil {
		s.diagnostics.record(resp.Diagnostics)
	}
	return resp, err
}
