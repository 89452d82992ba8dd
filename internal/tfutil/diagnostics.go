package tfutil

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Problems turns findings into diagnostics. A finding that names an attribute of
// the request is put there; all others are put on the attribute at, with the file,
// line and column in the detail. An empty at gives diagnostics of the whole object.
func Problems(ps vnfm.Problems, at path.Path) diag.Diagnostics {
	var diags diag.Diagnostics
	for _, p := range ps {
		where := at
		if p.Attribute != "" {
			where = attributePath(p.Attribute)
			if p.Key != "" {
				where = where.AtMapKey(p.Key)
			}
			if p.Field != "" {
				where = where.AtName(p.Field)
			}
		}
		summary, detail := sentence(p.Summary), problemDetail(p)
		isRoot := len(where.Steps()) == 0
		switch {
		case p.Severity == vnfm.SeverityWarning && isRoot:
			diags.AddWarning(summary, detail)
		case p.Severity == vnfm.SeverityWarning:
			diags.AddAttributeWarning(where, summary, detail)
		case isRoot:
			diags.AddError(summary, detail)
		default:
			diags.AddAttributeError(where, summary, detail)
		}
	}
	return diags
}

// attributePath reads a dotted attribute name ("kubernetes.endpoint"), in which a
// number is the index in a list ("readiness.0.kind").
func attributePath(name string) path.Path {
	parts := strings.Split(name, ".")
	p := path.Root(parts[0])
	for _, part := range parts[1:] {
		if index, err := strconv.Atoi(part); err == nil {
			p = p.AtListIndex(index)
			continue
		}
		p = p.AtName(part)
	}
	return p
}

func problemDetail(p vnfm.Problem) string {
	var lines []string
	if loc := p.Location(); loc != "" {
		lines = append(lines, "At "+loc+".")
	}
	if p.Detail != "" {
		lines = append(lines, sentence(p.Detail)+period(p.Detail))
	}
	if len(lines) == 0 {
		lines = append(lines, sentence(p.Summary)+period(p.Summary))
	}
	return strings.Join(lines, "\n")
}

// sentence begins a text with a capital when its first word is a plain
// lower-case one; a name such as "vnfd_id" stays as it is.
func sentence(s string) string {
	word, _, _ := strings.Cut(s, " ")
	word = strings.TrimRight(word, ":,")
	for _, r := range word {
		if r < 'a' || r > 'z' {
			return s
		}
	}
	if word == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func period(s string) string {
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "\n") || s == "" {
		return ""
	}
	return "."
}

// AddError adds what the user must know of err: "Unable to <verb> <object>" and
// what can be done. The findings of an InvalidError become one diagnostic each, at
// their attributes or at the attribute at.
func AddError(diags *diag.Diagnostics, verb, object string, err error, at path.Path) {
	var invalid *vnfm.InvalidError
	if errors.As(err, &invalid) {
		diags.Append(Problems(invalid.Problems, at)...)
		return
	}
	summary := fmt.Sprintf("Unable to %s %s", verb, object)
	detail := ErrorDetail(err)
	if len(at.Steps()) == 0 {
		diags.AddError(summary, detail)
		return
	}
	diags.AddAttributeError(at, summary, detail)
}

// AddAdvisedError is AddError with advice of the caller's, where that knows more than the kind of the error.
func AddAdvisedError(diags *diag.Diagnostics, verb, object string, err error, advice string) {
	diags.AddError(fmt.Sprintf("Unable to %s %s", verb, object), errorDetail(err, advice))
}

// AddCreateError is AddError for a creation that leaves state behind, which Terraform marks as tainted.
func AddCreateError(diags *diag.Diagnostics, verb, object string, err error) {
	diags.AddError(fmt.Sprintf("Unable to %s %s", verb, object), errorDetail(err, taintAdvice(err)))
}

// taintAdvice names both ways on: without it the next apply destroys what was made.
func taintAdvice(err error) string {
	const ways = "Existing objects are kept, and Terraform marks the resource as tainted. Correct the cause, then either run \"terraform untaint\" with the address of the resource " +
		"and apply: the operation continues where it stopped; or apply at once: Terraform destroys what exists and creates it again."
	var operation *vnfm.OperationError
	var edited *vnfm.EditedError
	var lines []string
	if errors.As(err, &edited) {
		lines = append(lines, editedAdvice(edited))
	}
	if errors.As(err, &operation) {
		lines = append(lines, operationFacts(operation)...)
	}
	return strings.Join(append(lines, ways), "\n")
}

// ErrorDetail renders an error of the port for a user: what happened, and what to
// do next.
func ErrorDetail(err error) string { return errorDetail(err, advice(err)) }

func errorDetail(err error, advice string) string {
	if failed, ok := errors.AsType[*store.Error](err); ok && failed.Tell() && !errors.As(err, new(*vnfm.OperationError)) {
		return failed.Store + " cannot be used; another message says why and what to do."
	}
	text := sentence(err.Error())
	if errors.As(err, new(*vnfm.RolledBackError)) {
		text += ` (on_failure = "rollback")`
	}
	text += period(text)
	if advice != "" {
		return text + "\n\n" + advice
	}
	return text
}

func advice(err error) string {
	var (
		inUse       *vnfm.InUseError
		conflict    *vnfm.ConflictError
		busy        *vnfm.BusyError
		leaseLost   *vnfm.LeaseLostError
		unreachable *vnfm.UnreachableError
		notFound    *vnfm.NotFoundError
		operation   *vnfm.OperationError
		expired     *vnfm.ExpiredError
		edited      *vnfm.EditedError
		failed      *store.Error
	)
	switch {
	case errors.As(err, &edited):
		if errors.As(err, &operation) {
			return editedAdvice(edited) + "\n" + operationAdvice(operation)
		}
		return editedAdvice(edited)
	case errors.As(err, &expired):
		return "Change kubeconfig_rotation_trigger of the vnf_capi_workload_cluster to another string and apply: Cluster API creates a new kubeconfig. If no configuration manages the cluster, delete its Secret <name>-kubeconfig on the management cluster; only the control plane provider that created it recreates it."
	case errors.As(err, new(*vnfm.StrandedError)):
		return "To leave them behind with their kinds, set deletion_policy = { crds = \"keep\" } or termination = { type = \"forceful\" }, apply, then terminate."
	case errors.As(err, &inUse):
		return "Nothing was removed. Destroy what uses it first, or move it elsewhere; Terraform finds the right order by itself when the other configuration refers to the id of this object."
	case errors.As(err, &conflict):
		return "Objects of other owners were not changed. Choose another name or namespace, import the object into this configuration, or have its owner release it."
	case errors.As(err, &busy):
		return "Wait until that run has ended and apply again. The lease of a killed run expires by itself after a short while."
	case errors.As(err, &leaseLost) && leaseLost.Cause != nil:
		return "Apply again once the store answers: the operation continues where it stopped."
	case errors.As(err, &leaseLost):
		return "Wait until other runs on the object have ended, then apply again: the operation continues from their result. The usual cause is a suspended machine or a disk that did not answer."
	case errors.As(err, &failed) && failed.Advice != "":
		// It says itself what to do.
		return ""
	case errors.As(err, &unreachable):
		return "Check the endpoint, the proxy, the CA certificate and the network between this machine and the other side, then apply again."
	case errors.As(err, &operation):
		return operationAdvice(operation)
	case errors.As(err, &notFound):
		return "The store of this provider configuration has no such record. Check the \"store\" argument of the provider and the id; if the store was lost, terraform apply builds the record again."
	case errors.Is(err, context.DeadlineExceeded) && !isTimeAlone(err):
		return "The time limit was reached. Correct the cause named above, then apply again."
	case errors.Is(err, context.DeadlineExceeded):
		return "The time limit was reached. Raise it in the \"timeouts\" argument if the work needs more time."
	case errors.Is(err, context.Canceled):
		return "The run was interrupted. Apply again to continue."
	}
	return ""
}

// isTimeAlone reports whether an error names no other cause than the end of the time: neither what a server answered last, nor a server
// that does not answer.
func isTimeAlone(err error) bool {
	switch e := err.(type) { //nolint:errorlint // each part is looked at
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(err error) bool { return !isTimeAlone(err) })
	case interface{ Unwrap() error }:
		return isTimeAlone(e.Unwrap())
	default:
		return err == context.DeadlineExceeded //nolint:errorlint // the time limits of single requests are other errors
	}
}

func editedAdvice(e *vnfm.EditedError) string {
	switch e.Record {
	case vnfm.EditedVIM:
		return "Find out who edited the store, and register the VIM again: apply its vnf_vim with the credentials given, with another *_wo_version where the plan shows no change."
	case vnfm.EditedRegistry:
		return "Find out who edited the store, and apply its vnf_private_registry, which installs the registry as configured."
	case vnfm.EditedHostKeys:
		return "Find out who edited the store, give the keys as host_keys or make sure that the connection is not intercepted, and apply again."
	case vnfm.EditedInstance:
		return "Apply the instance first, then terminate it."
	}
	return ""
}

// operationFacts says how far an operation came.
func operationFacts(e *vnfm.OperationError) (lines []string) {
	if e.Operation.Progress != "" {
		lines = append(lines, "Last progress: "+e.Operation.Progress)
	}
	if !e.Operation.StartedAt.IsZero() && !e.Operation.StateEnteredAt.IsZero() {
		lines = append(lines, fmt.Sprintf("Operation %s started at %s and entered %s at %s.", e.Operation.ID,
			e.Operation.StartedAt.UTC().Format(time.RFC3339), e.Operation.State, e.Operation.StateEnteredAt.UTC().Format(time.RFC3339)))
	}
	if !e.Operation.ReportedAt.IsZero() {
		lines = append(lines, fmt.Sprintf("A report with timeline, objects, events and logs: terraform-provider-vnf operations show --report %s (with --store unless the store is the default one).", e.Operation.ID))
	}
	return lines
}

// continueAdvice says how an operation is continued. Its cause is nothing to correct when the user has ended the run.
func continueAdvice(e *vnfm.OperationError) string {
	const where = "again: the operation continues where it stopped."
	cause := "Correct the cause and "
	if vnfm.Interrupted(e) {
		cause = "To go on, "
	}
	if e.Operation.Type == vnfm.OpTerminate {
		return cause + "destroy " + where + " An apply of a configuration that still has the resource restores what is gone."
	}
	return cause + "apply " + where
}

func operationAdvice(e *vnfm.OperationError) string {
	lines := operationFacts(e)
	switch e.Operation.State {
	case vnfm.StateFailedTemp, vnfm.StateProcessing, vnfm.StateStarting, vnfm.StateRollingBack:
		lines = append(lines, "Existing objects are kept. "+continueAdvice(e))
	case vnfm.StateRolledBack:
		lines = append(lines, "The state before the operation is restored.")
	case vnfm.StateFailed, vnfm.StateCompleted:
	}
	return strings.Join(lines, "\n")
}
