package kube

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube/readiness"
)

// Warnings are the warnings in the API server's answers: about deprecated versions, policies of a
// namespace, and the doubts of webhooks.
type Warnings struct {
	mu sync.Mutex
	// objects are the written objects by the text of the warning.
	objects map[string][]string
}

type warningsKey struct{}

// WithWarnings returns a context whose writes and dry runs collect the warnings of the API server.
// Warnings about deletions are dropped: they help no user.
func WithWarnings(ctx context.Context) (context.Context, *Warnings) {
	w := &Warnings{objects: map[string][]string{}}
	return context.WithValue(ctx, warningsKey{}, w), w
}

// Lines returns the warnings sorted by text, each with its object, or with the first object and the
// number of others.
func (w *Warnings) Lines() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, text := range slices.Sorted(maps.Keys(w.objects)) {
		of := w.objects[text][0]
		if n := len(w.objects[text]); n > 1 {
			of = fmt.Sprintf("%s and %d more", of, n-1)
		}
		out = append(out, of+": "+text)
	}
	return out
}

// noteWarnings records the warnings of an answer.
func noteWarnings(ctx context.Context, r *request, header http.Header) {
	w, ok := ctx.Value(warningsKey{}).(*Warnings)
	if !ok || r.method == http.MethodGet || r.method == http.MethodDelete || len(header["Warning"]) == 0 {
		return
	}
	parsed, _ := utilnet.ParseWarningHeaders(header["Warning"])
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, each := range parsed {
		said := metav1.Status{Message: each.Text}
		r.sensitive.clean(&said)
		if text := readiness.OneLine(said.Message); text != "" && !slices.Contains(w.objects[text], r.object) {
			w.objects[text] = append(w.objects[text], r.object)
			slices.Sort(w.objects[text])
		}
	}
}
