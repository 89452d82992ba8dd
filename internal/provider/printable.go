package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/printable"
)

// printableServer escapes control characters in diagnostics and in the progress of actions, which quote packages, API servers and logs.
type printableServer struct{ Server }

// notWhole matches the framework's error for a number that is not an int64. The framework converts numbers before it runs
// validators, and reports the user's mistake as an error of the provider.
var notWhole = lazyregexp.New(`Value %!s\(\*big\.Float=([^)]*)\) (is not an integer|cannot be represented as a 64-bit integer)`)

func printDiagnostics(all []*tfprotov6.Diagnostic) {
	for _, d := range all {
		if found := notWhole.FindStringSubmatch(d.Detail); found != nil {
			d.Summary, d.Detail = "Not a Whole Number", found[1]+" is not a whole number."
			if found[2] != "is not an integer" {
				d.Detail = found[1] + " is not a whole number of at most 64 bits."
			}
		}
		d.Summary, d.Detail = printable.Text(d.Summary), printable.Text(d.Detail)
	}
}

// ValidateProviderConfig implements tfprotov6.ProviderServer.
func (s printableServer) ValidateProviderConfig(ctx context.Context, req *tfprotov6.ValidateProviderConfigRequest) (*tfprotov6.ValidateProviderConfigResponse, error) {
	resp, err := s.Server.ValidateProviderConfig(ctx, req)
	if resp != nil {
		printDiagnostics(resp.Diagnostics)
	}
	return resp, err
}

// ConfigureProvider implements tfprotov6.ProviderServer.
func (s printableServer) ConfigureProvider(ctx context.Context, req *tfprotov6.ConfigureProviderRequest) (*tfprotov6.ConfigureProviderResponse, error) {
	resp, err := s.Server.ConfigureProvider(ctx, req)
	if resp != nil {
		printDiagnostics(resp.Diagnostics)
	}
	return resp, err
}

// ValidateResourceConfig implements tfprotov6.ResourceServer.
func (s printableServer) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	resp, err := s.Server.ValidateResourceConfig(ctx, req)
	if resp != nil {
		printDiagnostics(resp.Diagnostics)
	}
	return resp, err
}

// UpgradeResourceState implements tfprotov6.ResourceServer.
func (s printableServer) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	resp, err := s.Server.UpgradeResourceState(ctx, req)
	if resp != nil {
		printDiagnostics(resp.Diagnostics)
	}
	return resp, err
}

// ReadResource implements tfprotov6.ResourceServer.
func (s printableServer) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	resp, err := s.Server.ReadResource(ctx, req)
	if resp != nil {
		printDiagnostics(resp.Diagnostics)
	}
	return resp, err
}

// PlanResourceChange implements tfprotov6.ResourceServer.
func (s printableServer) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	resp, err := s.Server.PlanResourceChange(ctx, req)
	if resp != nil {
		printDiagnostics(resp.Diagnostics)
	}
	return resp, err
}

// ApplyResourceChange implements tfprotov6.ResourceServer.
func (s printableServer) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	resp, err := s.Server.ApplyResourceChange(ctx, req)
	if resp != nil {
		printDiagnostics(resp.Diagnostics)
	}
	return resp, err
}

// ImportResourceState implements tfprotov6.ResourceServer.
func (s printableServer) ImportResourceState(ctx context.Context, req *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportResourceStateResponse, error) {
	resp, err := s.Server.ImportResourceState(ctx, req)
	if resp != nil {
		printDiagnostics(resp.Diagnostics)
	}
	return resp, err
}

// MoveResourceState implements tfprotov6.ResourceServer.
func (s printableServer) MoveResourceState(ctx context.Context, req *tfprotov6.MoveResourceStateRequest) (*tfprotov6.MoveResourceStateResponse, error) {
	resp, err := s.Server.MoveResourceState(ctx, req)
	if resp != nil {
		printDiagnostics(resp.Diagnostics)
	}
	return resp, err
}

// ValidateDataResourceConfig implements tfprotov6.DataSourceServer.
func (s printableServer) ValidateDataResourceConfig(ctx context.Context, req *tfprotov6.ValidateDataResourceConfigRequest) (*tfprotov6.ValidateDataResourceConfigResponse, error) {
	resp, err := s.Server.ValidateDataResourceConfig(ctx, req)
	if resp != nil {
		printDiagnostics(resp.Diagnostics)
	}
	return resp, err
}

// ReadDataSource implements tfprotov6.DataSourceServer.
func (s printableServer) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	resp, err := s.Server.ReadDataSource(ctx, req)
	if resp != nil {
		printDiagnostics(resp.Diagnostics)
	}
	return resp, err
}

// ValidateEphemeralResourceConfig implements tfprotov6.EphemeralResourceServer.
func (s printableServer) ValidateEphemeralResourceConfig(
	ctx context.Context, req *tfprotov6.ValidateEphemeralResourceConfigRequest,
) (*tfprotov6.ValidateEphemeralResourceConfigResponse, error) {
	resp, err := s.Server.ValidateEphemeralResourceConfig(ctx, req)
	if resp != nil {
		printDiagnostics(resp.Diagnostics)
	}
	return resp, err
}

// OpenEphemeralResource implements tfprotov6.EphemeralResourceServer.
func (s printableServer) OpenEphemeralResource(ctx context.Context, req *tfprotov6.OpenEphemeralResourceRequest) (*tfprotov6.OpenEphemeralResourceResponse, error) {
	resp, err := s.Server.OpenEphemeralResource(ctx, req)
	if resp != nil {
		printDiagnostics(resp.Diagnostics)
	}
	return resp, err
}

// RenewEphemeralResource implements tfprotov6.EphemeralResourceServer.
func (s printableServer) RenewEphemeralResource(ctx context.Context, req *tfprotov6.RenewEphemeralResourceRequest) (*tfprotov6.RenewEphemeralResourceResponse, error) {
	resp, err := s.Server.RenewEphemeralResource(ctx, req)
	if resp != nil {
		printDiagnostics(resp.Diagnostics)
	}
	return resp, err
}

// CloseEphemeralResource implements tfprotov6.EphemeralResourceServer.
func (s printableServer) CloseEphemeralResource(ctx context.Context, req *tfprotov6.CloseEphemeralResourceRequest) (*tfprotov6.CloseEphemeralResourceResponse, error) {
	resp, err := s.Server.CloseEphemeralResource(ctx, req)
	if resp != nil {
		printDiagnostics(resp.Diagnostics)
	}
	return resp, err
}

// ValidateListResourceConfig implements tfprotov6.ListResourceServer.
func (s printableServer) ValidateListResourceConfig(ctx context.Context, req *tfprotov6.ValidateListResourceConfigRequest) (*tfprotov6.ValidateListResourceConfigResponse, error) {
	resp, err := s.Server.ValidateListResourceConfig(ctx, req)
	if resp != nil {
		printDiagnostics(resp.Diagnostics)
	}
	return resp, err
}

// ValidateActionConfig implements tfprotov6.ActionServer.
func (s printableServer) ValidateActionConfig(ctx context.Context, req *tfprotov6.ValidateActionConfigRequest) (*tfprotov6.ValidateActionConfigResponse, error) {
	resp, err := s.Server.ValidateActionConfig(ctx, req)
	if resp != nil {
		printDiagnostics(resp.Diagnostics)
	}
	return resp, err
}

// PlanAction implements tfprotov6.ActionServer.
func (s printableServer) PlanAction(ctx context.Context, req *tfprotov6.PlanActionRequest) (*tfprotov6.PlanActionResponse, error) {
	resp, err := s.Server.PlanAction(ctx, req)
	if resp != nil {
		printDiagnostics(resp.Diagnostics)
	}
	return resp, err
}

// CallFunction implements tfprotov6.FunctionServer.
func (s printableServer) CallFunction(ctx context.Context, req *tfprotov6.CallFunctionRequest) (*tfprotov6.CallFunctionResponse, error) {
	resp, err := s.Server.CallFunction(ctx, req)
	if resp != nil && resp.Error != nil {
		resp.Error.Text = printable.Text(resp.Error.Text)
	}
	return resp, err
}

// ListResource implements tfprotov6.ListResourceServer.
func (s printableServer) ListResource(ctx context.Context, req *tfprotov6.ListResourceRequest) (*tfprotov6.ListResourceServerStream, error) {
	stream, err := s.Server.ListResource(ctx, req)
	if err != nil {
		return stream, err
	}
	results := stream.Results
	stream.Results = func(yield func(tfprotov6.ListResourceResult) bool) {
		for result := range results {
			result.DisplayName = printable.Text(result.DisplayName)
			printDiagnostics(result.Diagnostics)
			if !yield(result) {
				return
			}
		}
	}
	return stream, nil
}

// InvokeAction implements tfprotov6.ActionServer.
func (s printableServer) InvokeAction(ctx context.Context, req *tfprotov6.InvokeActionRequest) (*tfprotov6.InvokeActionServerStream, error) {
	stream, err := s.Server.InvokeAction(ctx, req)
	if err != nil {
		return stream, err
	}
	events := stream.Events
	stream.Events = func(yield func(tfprotov6.InvokeActionEvent) bool) {
		for event := range events {
			switch kind := event.Type.(type) {
			case tfprotov6.ProgressInvokeActionEventType:
				kind.Message = printable.Text(kind.Message)
				event.Type = kind
			case tfprotov6.CompletedInvokeActionEventType:
				printDiagnostics(kind.Diagnostics)
			}
			if !yield(event) {
				return
			}
		}
	}
	return stream, nil
}
