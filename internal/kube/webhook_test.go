package kube

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWebhookIn(t *testing.T) {
	t.Parallel()
	const call = `Internal error occurred: failed calling webhook "v.example.com": failed to call webhook: Post "https://hook.core.svc:443/v?timeout=10s": `
	for message, want := range map[string]string{
		call + `no endpoints available for service "hook"`:                                                "webhook v.example.com: no endpoints available for service \"hook\"",
		call + `service "hook" not found`:                                                                 "webhook v.example.com: service \"hook\" not found",
		call + `dial tcp 10.0.0.1:443: connect: connection refused`:                                       "webhook v.example.com: connection refused",
		call + `tls: failed to verify certificate: x509: certificate signed by unknown authority`:         "webhook v.example.com: x509: certificate signed by unknown authority",
		call + `context deadline exceeded`:                                                                "webhook v.example.com: context deadline exceeded",
		call + `EOF`:                                                                                      "webhook v.example.com: EOF",
		call + `tls: failed to verify certificate: x509: certificate is valid for a, not hook.core.svc`:   "",
		`Internal error occurred: something else: connection refused`:                                     "",
		`conversion webhook for example.com/v1, Kind=Cell failed: Post "https://h": connection refused`:   "webhook for the conversion of example.com/v1 Cell: connection refused",
		`conversion webhook for example.com/v1, Kind=Cell failed: expected 1 converted objects, got 0`:    "",
		`admission webhook "v.example.com" denied the request: connection refused by the network planner`: "",
	} {
		got := ""
		if w := webhookIn(http.StatusInternalServerError, message); w != nil {
			got = w.String()
		}
		assert.Equal(t, want, got, "%s", message)
	}
	assert.Nil(t, webhookIn(http.StatusForbidden, call+"connection refused"), "an answer of 403 is taken for silence")
}

func TestWebhooksAreAwaited(t *testing.T) {
	t.Parallel()
	const refused = `failed calling webhook "v.example.com": failed to call webhook: Post "https://127.0.0.1:1": dial tcp: connect: connection refused`
	const unknown = `failed calling webhook "v.example.com": failed to call webhook: x509: certificate signed by unknown authority`
	silent := answer(500, "InternalError", unknown)
	denied := answer(500, "InternalError", `admission webhook "v.example.com" denied the request: no`)
	ref := Ref{Resource: Resource{GVK: gvk("v1", "ConfigMap"), GVR: gvk("v1", "").GroupVersion().WithResource("configmaps"), Namespaced: true}, Namespace: "n", Name: "a"}
	apply := func(ctx context.Context, c *Client) error {
		_, err := c.Apply(ctx, ref, manifest(ref, nil), ApplyOptions{})
		return err
	}

	t.Run("until it answers", func(t *testing.T) {
		t.Parallel()
		answers := []func(http.ResponseWriter){answer(500, "InternalError", refused)}
		for range 9 {
			answers = append(answers, silent)
		}
		c, n := scripted(t, append(answers, configMap)...)
		waits := map[string]int{}
		require.NoError(t, apply(AwaitWebhooks(t.Context(), func(what string) { waits[what]++ }), c))
		want := map[string]int{
			"webhook v.example.com: connection refused":                            1,
			"webhook v.example.com: x509: certificate signed by unknown authority": 9,
		}
		if diff := cmp.Diff(want, waits); diff != "" || n.Load() != 11 {
			t.Errorf("%d requests; waits (-want +got):\n%s", n.Load(), diff)
		}
	})
	t.Run("until the end", func(t *testing.T) {
		t.Parallel()
		c, _ := scripted(t, silent)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		err := apply(AwaitWebhooks(ctx, func(string) {}), c)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		mustSay(t, err, "applying ConfigMap n/a: context deadline exceeded; the last answer was: "+unknown)
	})
	for name, tc := range map[string]struct {
		ctx      context.Context
		answer   func(http.ResponseWriter)
		requests int64
	}{
		"not without patience": {t.Context(), silent, 3},
		"not when it denies":   {AwaitWebhooks(t.Context(), func(what string) { t.Errorf("waited for %s", what) }), denied, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, n := scripted(t, tc.answer)
			err := apply(tc.ctx, c)
			require.Error(t, err)
			assert.Equal(t, tc.requests, n.Load())
			mustSay(t, err, "applying ConfigMap n/a", "v.example.com")
		})
	}
	t.Run("not for a look", func(t *testing.T) {
		t.Parallel()
		c, n := scripted(t, silent)
		_, err := c.Get(AwaitWebhooks(t.Context(), func(what string) { t.Errorf("waited for %s", what) }), ref)
		require.Error(t, err)
		assert.Equal(t, int64(3), n.Load())
	})
}
