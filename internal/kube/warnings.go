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

// Warnings are those that the API server has added to its answers: of deprecated versions, of the
// policies of a namespace, and of what a webhook admits and doubts.
type Warnings struct {
	mu sync.Mutex
	// objects are those that were written, by the text of the warning.
	objects map[string][]string
}

type warningsKey struct{}

// WithWarnings returns a context whose writes and dry runs collect the warnings of the API server. Those about what is deleted help nobody.
func WithWarnings(ctx context.Context) (context.Context, *Warnings) {
	w := &Warnings{objects: map[string][]string{}}
	return context.WithValue(ctx, warningsKey{}, w), w
}

// Lines are the warnings in their order, each with its object, or with the number of objects.
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

// noteWarnings takes over the warnings of an answer.
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
