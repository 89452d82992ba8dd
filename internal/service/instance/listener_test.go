package instance_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// heard collects the warnings that the provider gives, which Terraform prints and
// plugin-testing has no check for.
type heard struct {
	mu       sync.Mutex
	warnings []string
	// interrupt, when set, is called at the beginning of the next apply of an
	// instance; when it returns, the apply is interrupted as by Ctrl-C.
	interrupt func()
}

// factories returns the provider with an ear at its answers.
func (h *heard) factories() map[string]func() (tfprotov6.ProviderServer, error) {
	out := acctest.Factories()
	for name, factory := range out {
		out[name] = func() (tfprotov6.ProviderServer, error) {
			server, err := factory()
			if err != nil {
				return nil, err
			}
			return listener{ProviderServer: server, heard: h}, nil
		}
	}
	return out
}

func (h *heard) note(diagnostics []*tfprotov6.Diagnostic) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, d := range diagnostics {
		if d.Severity == tfprotov6.DiagnosticSeverityWarning {
			h.warnings = append(h.warnings, d.Summary+": "+d.Detail)
		}
	}
}

// warned checks that a warning matches, and forgets all that were given so far.
func (h *heard) warned(pattern string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		given := h.take()
		if regexp.MustCompile(pattern).MatchString(strings.Join(given, "\n")) {
			return nil
		}
		return fmt.Errorf("no warning matches %q; given were:\n%s", pattern, strings.Join(given, "\n"))
	}
}

// silent checks that there was no warning.
func (h *heard) silent() resource.TestCheckFunc {
	return func(*terraform.State) error {
		if given := h.take(); len(given) > 0 {
			return fmt.Errorf("unexpected warnings:\n%s", strings.Join(given, "\n"))
		}
		return nil
	}
}

func (h *heard) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	given := h.warnings
	h.warnings = nil
	return given
}

func (h *heard) takeInterrupt(typeName string) func() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if typeName != "vnf_instance" {
		return nil
	}
	interrupt := h.interrupt
	h.interrupt = nil
	return interrupt
}

// listener is a provider server that lets a test hear its warnings.
type listener struct {
	tfprotov6.ProviderServer
	heard *heard
}

// ApplyResourceChange implements tfprotov6.ResourceServer.
func (l listener) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	if interrupt := l.heard.takeInterrupt(req.TypeName); interrupt != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		go func() {
			defer cancel()
			interrupt()
		}()
	}
	resp, err := l.ProviderServer.ApplyResourceChange(ctx, req)
	if resp != nil {
		l.heard.note(resp.Diagnostics)
	}
	return resp, err
}

// PlanResourceChange implements tfprotov6.ResourceServer.
func (l listener) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	resp, err := l.ProviderServer.PlanResourceChange(ctx, req)
	if resp != nil {
		l.heard.note(resp.Diagnostics)
	}
	return resp, err
}

// ReadResource implements tfprotov6.ResourceServer.
func (l listener) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	resp, err := l.ProviderServer.ReadResource(ctx, req)
	if resp != nil {
		l.heard.note(resp.Diagnostics)
	}
	return resp, err
}

// ReadDataSource implements tfprotov6.DataSourceServer.
func (l listener) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	resp, err := l.ProviderServer.ReadDataSource(ctx, req)
	if resp != nil {
		l.heard.note(resp.Diagnostics)
	}
	return resp, err
}
