package workloadcluster_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// heard collects what the plans of a cluster say, by the step that is said to be on:
// plugin-testing has no check for warnings, nor for the attribute of an error.
type heard struct {
	mu   sync.Mutex
	step string
	said map[string][]string
}

// at begins a step.
func (h *heard) at(step string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.step = step
}

// in is what the plans of a step said, each thing once: "WARNING network.internal: There is …".
func (h *heard) in(step string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.said[step]
}

func (h *heard) note(diagnostics []*tfprotov6.Diagnostic) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, d := range diagnostics {
		text := fmt.Sprintf("%s %s: %s: %s", d.Severity, dotted(d.Attribute), d.Summary, d.Detail)
		if !slices.Contains(h.said[h.step], text) {
			h.said[h.step] = append(h.said[h.step], text)
		}
	}
}

// dotted is the path of an attribute as a configuration has it.
func dotted(path *tftypes.AttributePath) string {
	var names []string
	for _, step := range path.Steps() {
		names = append(names, fmt.Sprint(step))
	}
	return strings.Join(names, ".")
}

// factories returns the provider with an ear at its plans.
func (h *heard) factories() map[string]func() (tfprotov6.ProviderServer, error) {
	h.said = map[string][]string{}
	out := acctest.Factories()
	for name, factory := range out {
		out[name] = func() (tfprotov6.ProviderServer, error) {
			server, err := factory()
			return listener{ProviderServer: server, heard: h}, err
		}
	}
	return out
}

// listener is a provider server that lets a test hear its plans.
type listener struct {
	tfprotov6.ProviderServer
	heard *heard
}

// PlanResourceChange implements tfprotov6.ResourceServer.
func (l listener) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	resp, err := l.ProviderServer.PlanResourceChange(ctx, req)
	if resp != nil {
		l.heard.note(resp.Diagnostics)
	}
	return resp, err
}
