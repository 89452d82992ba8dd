package tfutil

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-log/tflog"
)

const (
	masked = "(sensitive)"
	// minMasked is the length below which a text is too common to be masked: a
	// log would lose every "a" to a password "a".
	minMasked = 4
	// minMaskedLine is the length from which a line of a secret of several lines
	// is masked by itself.
	minMaskedLine = 24
)

// Mask keeps secrets out of the logs of a request. It is called once where a
// request enters, with every secret text of its configuration. The returned
// context masks the texts as they are and as JSON and base64 carry them.
func Mask(ctx context.Context, secrets ...string) context.Context {
	forms := maskedForms(secrets)
	if len(forms) == 0 {
		return ctx
	}
	ctx = tflog.MaskLogStrings(ctx, forms...)
	return tflog.MaskMessageStrings(ctx, forms...)
}

// MaskDiagnostics returns the diagnostics with every secret replaced, for texts
// that came from another program and may repeat what was sent to it.
func MaskDiagnostics(diags diag.Diagnostics, secrets ...string) diag.Diagnostics {
	forms := maskedForms(secrets)
	if len(forms) == 0 {
		return diags
	}
	out := make(diag.Diagnostics, 0, len(diags))
	for _, d := range diags {
		out = append(out, maskDiagnostic(d, forms))
	}
	return out
}

func maskDiagnostic(d diag.Diagnostic, forms []string) diag.Diagnostic {
	summary, detail := maskText(d.Summary(), forms), maskText(d.Detail(), forms)
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

func maskText(text string, forms []string) string {
	for _, f := range forms {
		text = strings.ReplaceAll(text, f, masked)
	}
	return text
}

// maskedForms lists the forms in which a secret can show up, longest first so
// that no part of a secret survives the masking of another part.
func maskedForms(secrets []string) []string {
	var forms []string
	add := func(form string) {
		if len(form) >= minMasked && !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	for _, s := range secrets {
		trimmed := strings.TrimSpace(s)
		add(s)
		add(trimmed)
		for _, text := range []string{s, trimmed} {
			if quoted, err := json.Marshal(text); err == nil {
				add(strings.Trim(string(quoted), `"`))
			}
			add(base64.StdEncoding.EncodeToString([]byte(text)))
		}
		if !strings.Contains(trimmed, "\n") {
			continue
		}
		for line := range strings.Lines(trimmed) {
			line = strings.TrimSpace(line)
			if len(line) >= minMaskedLine && !strings.HasPrefix(line, "-----") {
				add(line)
			}
		}
	}
	slices.SortStableFunc(forms, func(a, b string) int { return len(b) - len(a) })
	return forms
}
