package lcm_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// witness is a driver that is asked for evidence.
type witness struct {
	*driver
	evidence []vnfm.ReportSection
	asked    int
}

func (d *witness) Evidence(_ context.Context, v *vnfm.VIM, credentials vnfm.Credentials, items []vnfm.InventoryItem) []vnfm.ReportSection {
	d.asked++
	if v.Name != "edge" || len(credentials) == 0 || len(items) == 0 {
		return nil
	}
	return d.evidence
}

// reports are those in the store.
func (w *env) reports(t *testing.T) []vnfm.Report {
	t.Helper()
	all, err := records.List[vnfm.Report](t.Context(), opened(t, w.dir), store.Query{Kind: store.KindReport})
	require.NoError(t, err)
	out := make([]vnfm.Report, 0, len(all))
	for _, en := range all {
		out = append(out, en.Value)
	}
	return out
}

// TestAFailedOperationLeavesAReport looks at what is stored of a failure, when it is replaced and when it goes.
func TestAFailedOperationLeavesAReport(t *testing.T) {
	w := newEnv(t)
	const secret = "planted-secret"
	d := &witness{driver: w.driver, evidence: []vnfm.ReportSection{{Title: "Objects", Text: "DB_PASSWORD=planted-by-name\npod web: " + secret + strings.Repeat("x", 200<<10)}}}
	w.Engine = w.openWith(t, onKubernetes(d))
	w.driver.does("wrote apps/v1/Deployment b", func() error { return errors.New("the VIM repeats " + secret) })
	spec := w.spec()
	spec.SecretParams = map[string]any{"password": secret}
	_, err := w.Instantiate(t.Context(), spec)
	id := failedInstance(t, err).ID
	reports := w.reports(t)
	require.Len(t, reports, 1)
	r := reports[0]
	assert.Contains(t, tfutil.ErrorDetail(err), "operations show --report "+r.Operation.ID)
	assert.Equal(t, "core", r.Instance)
	assert.Equal(t, "the VIM repeats (sensitive)", r.Error)
	var lines []string
	for _, l := range r.Timeline {
		lines = append(lines, l.Text)
	}
	assert.Subset(t, lines, []string{"PROCESSING", "apply"})
	require.Len(t, r.Sections, 2)
	assert.True(t, strings.HasPrefix(r.Sections[0].Text, "DB_PASSWORD=(sensitive)\npod web: (sensitive)x"))
	assert.Less(t, len(r.Sections[0].Text), 100<<10)
	assert.True(t, r.Cut)
	assert.Equal(t, "Rendered objects", r.Sections[1].Title)
	assert.Contains(t, r.Sections[1].Text, "# apps/v1/Deployment b")

	// The next failure takes its place. Who interrupts does not wait for evidence.
	ctx, cancel := context.WithCancel(t.Context())
	w.driver.does("wrote apps/v1/Deployment b", func() error {
		cancel()
		return context.Canceled
	})
	_, err = w.Update(ctx, id, spec)
	require.Error(t, err)
	reports = w.reports(t)
	require.Len(t, reports, 1)
	assert.Empty(t, reports[0].Sections)
	assert.Equal(t, 2, reports[0].Operation.Attempts)
	assert.Equal(t, 1, d.asked)

	w.driver.fail = nil
	require.NoError(t, w.Terminate(t.Context(), id, vnfm.TerminateSpec{}))
	assert.Empty(t, w.reports(t))
	notIn(t, w.dir, secret)
}

// TestARolledBackUpdateHasItsReport looks at the objects before they go.
func TestARolledBackUpdateHasItsReport(t *testing.T) {
	w := newEnv(t)
	spec := w.spec()
	i := w.mustInstantiate(t, spec)
	require.Empty(t, w.reports(t))
	spec.OnFailure, spec.PackageID = vnfm.OnFailureRollback, w.onboard(t, "2.0").ID
	failures := 0
	w.driver.does("applied", func() error {
		if failures++; failures == 1 {
			return errBroken
		}
		return nil
	})
	_, err := w.Update(t.Context(), i.ID, spec)
	var failed *vnfm.OperationError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, vnfm.StateRolledBack, failed.Operation.State)
	reports := w.reports(t)
	require.Len(t, reports, 1)
	assert.Equal(t, failed.Operation.ID, reports[0].Operation.ID)
	assert.Contains(t, tfutil.ErrorDetail(err), "operations show --report")
}
