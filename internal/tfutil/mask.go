package tfutil

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tracing"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Mask keeps secrets out of the logs of a request. It is called once where a
// request enters, with every secret text of its configuration. The returned
// context masks the texts as they are and as JSON and base64 carry them.
func Mask(ctx context.Context, secrets ...string) context.Context {
	forms := vnfm.NewMask(secrets...).Forms()
	if len(forms) == 0 {
		return ctx
	}
	ctx = tflog.MaskLogStrings(ctx, forms...)
	ctx = tflog.MaskMessageStrings(ctx, forms...)
	return tracing.MaskLogs(ctx, forms...)
}

// HideSecrets keeps secrets out of the logs of a request and, once the returned function was
// called at its end, out of its diagnostics.
func HideSecrets(ctx context.Context, diags *diag.Diagnostics, secrets ...string) (context.Context, func()) {
	return Mask(ctx, secrets...), func() { *diags = MaskDiagnostics(*diags, secrets...) }
}

// MaskDiagnostics returns the diagnostics with every secret replaced, for texts
// that came from another program and may repeat what was sent to it.
func MaskDiagnostics(diags diag.Diagnostics, secrets ...string) diag.Diagnostics {
	mask := vnfm.NewMask(secrets...)
	if mask.Empty() {
		return diags
	}
	out := make(diag.Diagnostics, 0, len(diags))
	for _, d := range diags {
		out = append(out, maskDiagnostic(d, mask))
	}
	return out
}

func maskDiagnostic(d diag.Diagnostic, mask *vnfm.Mask) diag.Diagnostic {
	summary, detail := mask.Hide(d.Summary()), mask.Hide(d.Detail())
	if summary == d.Summary() && detail == d.Detail() {
		return d
	}
	var clean diag.Diagnostic
	if d.Severity() == diag.SeverityWarning {
		clean = diag.NewWarningDiagnostic(summary, detail)
	} else {
		clean = diag.NewErrorDiagnostic(summary, detail)
	}
	if with, ok := d.(diag.DiagnosticWithPath); ok {
		return diag.WithPath(with.Path(), clean)
	}
	return clean
}
