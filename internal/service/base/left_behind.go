package base

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// leftBehind collects what stays of an instance that is terminated, and why.
type leftBehind struct {
	mu sync.Mutex
	// reasons are in the order in which they were met, objects are by reason.
	reasons []string
	objects map[string][]string
}

// add notes an object. Each object is noted once: a termination may be tried twice.
func (l *leftBehind) add(object, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.objects == nil {
		l.objects = map[string][]string{}
	}
	if !slices.Contains(l.reasons, reason) {
		l.reasons = append(l.reasons, reason)
	}
	if !slices.Contains(l.objects[reason], object) {
		l.objects[reason] = append(l.objects[reason], object)
	}
}

// warn adds one warning for each reason.
func (l *leftBehind) warn(instance, vim string, diags *diag.Diagnostics) {
	for _, reason := range l.reasons {
		objects := l.objects[reason]
		if len(objects) == 1 {
			diags.AddWarning(objects[0]+" Was Left Behind", fmt.Sprintf("It belonged to %s and stays on the %s: %s.", instance, vim, reason))
			continue
		}
		slices.Sort(objects)
		diags.AddWarning(fmt.Sprintf("%d Objects Were Left Behind", len(objects)),
			fmt.Sprintf("They belonged to %s and stay on the %s: %s.\n\n  - %s", instance, vim, reason, strings.Join(objects, "\n  - ")))
	}
}
