package provider

import (
	"context"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	foreignText = "\x1b]52;c;aGk=\a \u009b1m \b \r \u202e \u2066 \u200b \ufeff \x7f, 漢\n\tÄ"
	shownText   = `\u001b]52;c;aGk=\u0007 \u009b1m \u0008 \u000d \u202e \u2066 \u200b \ufeff \u007f, 漢` + "\n\tÄ"
)

func foreignDiagnostics() []*tfprotov6.Diagnostic {
	return []*tfprotov6.Diagnostic{{Summary: foreignText, Detail: foreignText}}
}

var shownDiagnostics = []*tfprotov6.Diagnostic{{Summary: shownText, Detail: shownText}}

// foreignServer answers with what other programs say.
type foreignServer struct{ Server }

func (foreignServer) ReadResource(context.Context, *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	return &tfprotov6.ReadResourceResponse{Diagnostics: foreignDiagnostics()}, nil
}

func (foreignServer) ListResource(context.Context, *tfprotov6.ListResourceRequest) (*tfprotov6.ListResourceServerStream, error) {
	return &tfprotov6.ListResourceServerStream{Results: slices.Values([]tfprotov6.ListResourceResult{{DisplayName: foreignText, Diagnostics: foreignDiagnostics()}})}, nil
}

func (foreignServer) InvokeAction(context.Context, *tfprotov6.InvokeActionRequest) (*tfprotov6.InvokeActionServerStream, error) {
	return &tfprotov6.InvokeActionServerStream{Events: slices.Values([]tfprotov6.InvokeActionEvent{
		{Type: tfprotov6.ProgressInvokeActionEventType{Message: foreignText}},
		{Type: tfprotov6.CompletedInvokeActionEventType{Diagnostics: foreignDiagnostics()}},
	})}, nil
}

// TestControlCharacters shows what would command a terminal.
func TestControlCharacters(t *testing.T) {
	t.Parallel()
	s := printableServer{foreignServer{}}
	read, err := s.ReadResource(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, shownDiagnostics, read.Diagnostics)
	list, err := s.ListResource(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, []tfprotov6.ListResourceResult{{DisplayName: shownText, Diagnostics: shownDiagnostics}}, slices.Collect(list.Results))
	action, err := s.InvokeAction(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, []tfprotov6.InvokeActionEvent{
		{Type: tfprotov6.ProgressInvokeActionEventType{Message: shownText}},
		{Type: tfprotov6.CompletedInvokeActionEventType{Diagnostics: shownDiagnostics}},
	}, slices.Collect(action.Events))
}
