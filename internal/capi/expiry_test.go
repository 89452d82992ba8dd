package capi

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestCertificateNotAfter: the first certificate of a chain that ends counts.
func TestCertificateNotAfter(t *testing.T) {
	t.Parallel()
	ca, key, _ := newCA(t)
	short, _, err := sign(ca, key, &vnfm.ClientCertificateSpec{CommonName: "intermediate", TTL: time.Minute})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		text string
		want time.Duration
	}{
		"one":            {string(ca), time.Hour},
		"chain":          {string(ca) + short, time.Minute},
		"chain, reverse": {short + string(ca), time.Minute},
		"no certificate": {string(key), 0},
		"no PEM":         {"tls.crt", 0},
	} {
		got := certificateNotAfter(c.text)
		if c.want == 0 {
			assert.Zero(t, got, name)
			continue
		}
		assert.WithinDuration(t, time.Now().Add(c.want), got, 30*time.Second, name)
	}
}

// TestMachinesNotAfter: the first machine whose certificates expire counts, unless it is being deleted.
func TestMachinesNotAfter(t *testing.T) {
	t.Parallel()
	expires := func(at string) unstructured.Unstructured {
		m := machine("edge-1", "", "v1.34.0")
		m.Object["status"] = map[string]any{"certificatesExpiryDate": at}
		return *m
	}
	deleted := expires("2026-01-01T00:00:00Z")
	deleted.Object["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T00:00:00Z" //nolint:forcetypeassert // see machine
	worker := expires("2026-01-01T00:00:00Z")
	worker.SetLabels(map[string]string{labelNodeGroup: "a"})
	first := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	assert.Equal(t, first, machinesNotAfter([]unstructured.Unstructured{deleted, worker, expires("2027-02-01T00:00:00Z"), expires("2027-01-01T01:00:00+01:00"), *machine("edge-2", "", "")}))
	assert.Zero(t, machinesNotAfter([]unstructured.Unstructured{deleted, *machine("edge-2", "", "")}))
}
