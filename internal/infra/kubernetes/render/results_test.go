package render

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// passwordChart has a Secret with a random password, a Deployment whose pods read the Secret, and an unrelated Deployment.
func passwordChart() *vnfm.Target {
	return targettest.Chart(map[string]string{
		"templates/secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: { name: login }\nstringData: { password: {{ randAlphaNum 20 }} }\n",
		"templates/a.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: amf }\n" +
			"spec: { template: { spec: { containers: [ { name: amf, envFrom: [ { secretRef: { name: login } } ] } ] } } }\n",
		"templates/b.yaml": deploymentOf("smf", ""),
	}, nil)
}

func digestsOf(t *testing.T, target *vnfm.Target, render func(*budget.Budget, *vnfm.Target) (*Rendering, vnfm.Problems)) map[string]string {
	t.Helper()
	r, ps := render(budget.New(t.Context(), budget.Limits{}), target)
	require.Empty(t, ps)
	return r.digests()
}

// TestWhatDependsOnAResultHasNoDigest: the Secret, the Deployment that reads it and the release have no digest until an apply has made
// and saved the password.
func TestWhatDependsOnAResultHasNoDigest(t *testing.T) {
	target := passwordChart()
	target.Results = vnfm.NewResults(nil)
	planned := digestsOf(t, target, Render)
	for _, key := range []string{"v1/Secret login", "apps/v1/Deployment amf", "helm.sh/v1/Release core-1"} {
		require.Contains(t, planned, key)
		require.Empty(t, planned[key], key)
	}
	require.NotEmpty(t, planned["apps/v1/Deployment smf"])
	require.Empty(t, target.Results.Data(), "a plan has made something")

	refused := errors.New("the store does not answer")
	target.Results.SavedBy(func(context.Context, []byte) error { return refused })
	_, ps := Make(budget.New(t.Context(), budget.Limits{}), target)
	require.Len(t, ps, 1)
	require.Equal(t, "the results of random functions cannot be saved: the store does not answer", ps[0].String())
	require.Empty(t, target.Results.Data())

	saved := 0
	target.Results.SavedBy(func(context.Context, []byte) error { saved++; return nil })
	made := digestsOf(t, target, Make)
	require.Equal(t, made, digestsOf(t, target, Render))
	require.Equal(t, made, digestsOf(t, target, Make))
	require.Equal(t, planned["apps/v1/Deployment smf"], made["apps/v1/Deployment smf"])
	require.NotContains(t, made, "")
	require.Equal(t, 1, saved)
}

// TestPartsHaveTheirResultsInCommon renders concurrently with the same results, like the VIMs of an instance.
func TestPartsHaveTheirResultsInCommon(t *testing.T) {
	results := vnfm.NewResults(nil)
	var all sync.WaitGroup
	got := make([]map[string]string, 4)
	for i := range got {
		all.Go(func() {
			target := passwordChart()
			target.Results = results
			if r, ps := Make(budget.New(t.Context(), budget.Limits{}), target); len(ps) == 0 {
				got[i] = r.digests()
			}
		})
	}
	all.Wait()
	require.NotEmpty(t, got[0])
	for _, one := range got {
		require.Equal(t, got[0], one)
	}
}

// TestChartWithoutMemory rejects random functions for a target without results, because each rendering would differ.
func TestChartWithoutMemory(t *testing.T) {
	_, ps := Make(budget.New(t.Context(), budget.Limits{}), passwordChart())
	require.Len(t, ps, 1)
	require.Contains(t, ps[0].String(), "the template renders differently each time: it uses the function randAlphaNum")
}
