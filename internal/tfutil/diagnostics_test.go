package tfutil_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func TestProblems(t *testing.T) {
	t.Parallel()
	got := tfutil.Problems(vnfm.Problems{
		{File: "a/vnfd.yaml", Line: 3, Column: 7, Summary: "descriptor_id is missing", Detail: "add it"},
		{Severity: vnfm.SeverityWarning, File: "a.mf", Summary: "no digest is given"},
		{Attribute: "scale_levels", Key: "web", Summary: "the level is too high"},
		{Attribute: "kubernetes.endpoint", Summary: "the endpoint is not a valid URL"},
	}, path.Root("source"))
	want := diag.Diagnostics{
		diag.NewAttributeErrorDiagnostic(path.Root("source"), "descriptor_id is missing", "At a/vnfd.yaml:3:7.\nAdd it."),
		diag.NewAttributeWarningDiagnostic(path.Root("source"), "No digest is given", "At a.mf."),
		diag.NewAttributeErrorDiagnostic(path.Root("scale_levels").AtMapKey("web"), "The level is too high", "The level is too high."),
		diag.NewAttributeErrorDiagnostic(path.Root("kubernetes").AtName("endpoint"), "The endpoint is not a valid URL", "The endpoint is not a valid URL."),
	}
	if !got.Equal(want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	unplaced := tfutil.Problems(vnfm.Problems{{Summary: "no way"}}, path.Empty())
	if _, has := unplaced[0].(diag.DiagnosticWithPath); has {
		t.Error("a problem of the whole object has a path")
	}
}

// requestTimeout is what package net/http returns at the end of the time that its client gives to one request.
type requestTimeout struct{}

func (requestTimeout) Error() string        { return "no answer" }
func (requestTimeout) Is(target error) bool { return target == context.DeadlineExceeded } //nolint:errorlint // as in net/http

func TestAddError(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, tt := range map[string]struct {
		err error
		// want are texts that the detail holds.
		want []string
	}{
		"in use":   {&vnfm.InUseError{Kind: "VIM", Name: "edge", By: []string{"VNF instance \"a\""}}, []string{`VIM "edge" is in use by VNF instance "a".`, "Destroy what uses it first"}},
		"conflict": {&vnfm.ConflictError{Object: "Deployment web", Owner: "helm"}, []string{"Deployment web belongs to helm.", "import the object"}},
		"lease lost": {
			&vnfm.OperationError{Err: &vnfm.LeaseLostError{Object: "instance/i", Holder: "pid 7 on host h"}},
			[]string{"lost the lease of instance/i to pid 7 on host h: nothing was written after that.", "Wait until other runs"},
		},
		"store away": {
			&vnfm.OperationError{Err: &vnfm.LeaseLostError{Object: "instance/i", Cause: errors.New("the store has not answered since noon: connection refused")}},
			[]string{"stopped the work on instance/i, because the store has not answered since noon: connection refused; nothing was written after that.", "Apply again once the store answers"},
		},
		"busy":        {&vnfm.BusyError{Object: "VNF instance \"a\"", Holder: "pid 7 on host h", Since: now}, []string{"pid 7 on host h since 2026-01-02T03:04:05Z.", "Wait until that run has ended"}},
		"unreachable": {&vnfm.UnreachableError{VIM: "edge", Err: errors.New("connection refused")}, []string{`VIM "edge" cannot be reached: connection refused.`, "Check the endpoint"}},
		"not found":   {&vnfm.NotFoundError{Kind: "VIM", ID: "1"}, []string{`VIM "1" is not in the store.`, `Check the "store" argument`}},
		"operation": {&vnfm.OperationError{Operation: vnfm.Operation{ID: "op", Type: vnfm.OpScale, State: vnfm.StateFailedTemp, InstanceID: "i", Progress: "waiting for web", StartedAt: now, StateEnteredAt: now},
			Err: errors.New("timed out")}, []string{`SCALE of VNF instance "i" is FAILED_TEMP: timed out.`, "Last progress: waiting for web", "apply again"}},
		"interrupted": {&vnfm.OperationError{Operation: vnfm.Operation{Type: vnfm.OpScale, State: vnfm.StateFailedTemp}, Err: context.Canceled},
			[]string{"Existing objects are kept. To go on, apply again: the operation continues"}},
		"termination": {&vnfm.OperationError{Operation: vnfm.Operation{Type: vnfm.OpTerminate, State: vnfm.StateFailedTemp}, Err: errors.New("timed out")},
			[]string{"Correct the cause and destroy again: the operation continues where it stopped. An apply of a configuration that still has the resource restores"}},
		"operation on a dead VIM": {&vnfm.OperationError{Operation: vnfm.Operation{State: vnfm.StateFailedTemp}, Err: &vnfm.UnreachableError{VIM: "edge", Err: errors.New("eof")}}, []string{"Check the endpoint"}},
		"deadline":                {fmt.Errorf("registering: %w", context.DeadlineExceeded), []string{"Registering: context deadline exceeded.", `"timeouts"`}},
		"deadline and its cause": {
			fmt.Errorf("creating web: %w; the last answer was: %w", context.DeadlineExceeded, errors.New("denied by policy")),
			[]string{"the last answer was: denied by policy.\n\nThe time limit was reached. Correct the cause named above"},
		},
		"time limit of a request": {&url.Error{Op: "Get", URL: "https://host", Err: requestTimeout{}}, []string{"no answer.\n\nThe time limit was reached. Correct the cause named above"}},
		"cancelled":               {context.Canceled, []string{"The run was interrupted"}},
		"plain":                   {errors.New("disk full"), []string{"Disk full."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var diags diag.Diagnostics
			tfutil.AddError(&diags, "Register", `VIM "edge"`, fmt.Errorf("%w", tt.err), path.Empty())
			require.Len(t, diags, 1, "diagnostics")
			require.Equal(t, `Unable to Register VIM "edge"`, diags[0].Summary(), "diagnostics")
			for _, want := range tt.want {
				require.Contains(t, diags[0].Detail(), want, "detail")
			}
		})
	}
	var diags diag.Diagnostics
	tfutil.AddError(&diags, "Read", "x", fmt.Errorf("reading: %w", &vnfm.InvalidError{Problems: vnfm.Problems{{Summary: "one"}, {Summary: "two"}}}), path.Root("source"))
	require.Len(t, diags, 2, "an InvalidError of two findings gives")
}

// TestStoreErrorOnce: a store that does not answer is explained once, in the first error that a user gets, not in one that was dropped.
func TestStoreErrorOnce(t *testing.T) {
	t.Parallel()
	given := &store.Given{}
	failed := func(doing, advice string) error {
		text := "PostgreSQL store db:5432/vnf: " + doing + ": connection refused; " + advice
		return fmt.Errorf("reading: %w", &store.Error{Store: "PostgreSQL store db:5432/vnf", Text: text, Advice: advice, Err: context.DeadlineExceeded, Given: given})
	}
	_ = failed("reading ahead", "check host and port")
	require.Equal(t, "Reading: PostgreSQL store db:5432/vnf: listing: connection refused; check host and port.", tfutil.ErrorDetail(failed("listing", "check host and port")))
	require.Equal(t, "PostgreSQL store db:5432/vnf cannot be used; another message says why and what to do.", tfutil.ErrorDetail(failed("looking", "check host and port")))
	require.Contains(t, tfutil.ErrorDetail(failed("writing", "make room")), "make room", "another cause")
	operation := tfutil.ErrorDetail(&vnfm.OperationError{Operation: vnfm.Operation{Type: vnfm.OpScale, State: vnfm.StateFailedTemp}, Err: failed("writing", "make room")})
	require.Contains(t, operation, "SCALE", "an operation says how far it came")
}

func TestMaskDiagnostics(t *testing.T) {
	t.Parallel()
	const key = "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg\n-----END PRIVATE KEY-----\n"
	diags := diag.Diagnostics{
		diag.NewAttributeErrorDiagnostic(path.Root("a"), "token hunter2-long refused", `body {"password":"hunter2-long"} aHVudGVyMi1sb25n`),
		diag.NewWarningDiagnostic("key", "line MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg, JSON -----BEGIN PRIVATE KEY-----\\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg\\n-----END PRIVATE KEY-----\\n"),
		diag.NewErrorDiagnostic("nothing", "to hide, not even a"),
	}
	got := tfutil.MaskDiagnostics(diags, "hunter2-long", key, "a", "")
	want := diag.Diagnostics{
		diag.NewAttributeErrorDiagnostic(path.Root("a"), "token (sensitive) refused", `body {"password":"(sensitive)"} (sensitive)`),
		diag.NewWarningDiagnostic("key", "line (sensitive), JSON (sensitive)"),
		diag.NewErrorDiagnostic("nothing", "to hide, not even a"),
	}
	if !got.Equal(want) {
		t.Error(cmp.Diff(fmt.Sprint(want), fmt.Sprint(got)))
	}
}
