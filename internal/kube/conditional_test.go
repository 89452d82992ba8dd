package kube

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// TestUndecided checks which failures of a write leave its outcome unknown.
func TestUndecided(t *testing.T) {
	t.Parallel()
	abort := func(http.ResponseWriter) { panic(http.ErrAbortHandler) }
	conflict := answer(409, "Conflict", "the object has been modified")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tc := range []struct {
		name    string
		ctx     context.Context
		answers []func(http.ResponseWriter)
		tries   int64
		fails   bool
		// undecided is set if the outcome is unknown, conflict if the last answer was a conflict.
		undecided, conflict bool
	}{
		{name: "success", answers: []func(http.ResponseWriter){configMap}, tries: 1},
		{name: "cut, success", answers: []func(http.ResponseWriter){abort, configMap}, tries: 2},
		{name: "refused", answers: []func(http.ResponseWriter){answer(403, "Forbidden", "no")}, tries: 1, fails: true},
		{name: "conflict", answers: []func(http.ResponseWriter){conflict}, tries: 1, fails: true, conflict: true},
		{name: "later, conflict", answers: []func(http.ResponseWriter){answer(429, "TooManyRequests", "later"), conflict}, tries: 2, fails: true, conflict: true},
		{name: "cut, conflict", answers: []func(http.ResponseWriter){abort, conflict}, tries: 2, fails: true, undecided: true, conflict: true},
		{name: "internal error", answers: []func(http.ResponseWriter){answer(500, "InternalError", "no")}, tries: 3, fails: true, undecided: true},
		{name: "never sent", ctx: ended, answers: []func(http.ResponseWriter){configMap}, fails: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c, n := scripted(t, tc.answers...)
			// After a first answer, interruptions are retried for longer.
			c.answered.Store(true)
			ctx := tc.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			ref := Ref{Resource: Resource{GVK: gvk("v1", "ConfigMap"), GVR: gvk("v1", "ConfigMap").GroupVersion().WithResource("configmaps"), Namespaced: true}, Namespace: "n", Name: "a"}
			_, err := c.Replace(ctx, ref, map[string]any{"metadata": map[string]any{"name": "a", "resourceVersion": "1"}})
			if (err != nil) != tc.fails || errors.As(err, new(*UndecidedError)) != tc.undecided || apierrors.IsConflict(err) != tc.conflict {
				t.Errorf("got %v", err)
			}
			assert.Equal(t, tc.tries, n.Load())
		})
	}
}
