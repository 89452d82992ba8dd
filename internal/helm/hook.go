package helm

import (
	"cmp"
	"slices"
	"time"

	release "helm.sh/helm/v4/pkg/release/v1"
)

// Event is a moment in the life of a release at which hooks run.
type Event string

// The moments at which hooks run. Hooks of a rollback are kept in the record of the
// release and never run.
const (
	PreInstall  Event = "pre-install"
	PostInstall Event = "post-install"
	PreUpgrade  Event = "pre-upgrade"
	PostUpgrade Event = "post-upgrade"
	PreDelete   Event = "pre-delete"
	PostDelete  Event = "post-delete"
	// Test is the moment of `helm test`.
	Test Event = "test"
)

// Policy says when the object of a hook is removed.
type Policy string

// The policies of Helm; BeforeHookCreation is what a hook has that names none.
const (
	BeforeHookCreation Policy = "before-hook-creation"
	HookSucceeded      Policy = "hook-succeeded"
	HookFailed         Policy = "hook-failed"
)

// Hook is an object of a chart that is made at certain moments only.
type Hook struct {
	Manifest
	record *release.Hook
}

func newHook(c *Chart, h *release.Hook) *Hook {
	if len(h.DeletePolicies) == 0 {
		h.DeletePolicies = []release.HookDeletePolicy{release.HookBeforeHookCreation}
	}
	return &Hook{Manifest: Manifest{File: c.place(h.Path), Text: h.Manifest}, record: h}
}

// At reports whether the hook runs at a moment.
func (h *Hook) At(e Event) bool { return slices.Contains(h.record.Events, release.HookEvent(e)) }

// Runs reports whether the hook ever runs; tests only do where they are asked for.
func (h *Hook) Runs(tests bool) bool {
	return slices.ContainsFunc([]Event{PreInstall, PostInstall, PreUpgrade, PostUpgrade, PreDelete, PostDelete}, h.At) || (tests && h.At(Test))
}

// Has reports whether the hook has a policy.
func (h *Hook) Has(p Policy) bool {
	return slices.Contains(h.record.DeletePolicies, release.HookDeletePolicy(p))
}

// Began notes in the record that the hook runs.
func (h *Hook) Began() {
	h.record.LastRun = release.HookExecution{StartedAt: time.Now(), Phase: release.HookPhaseRunning}
}

// Ended notes in the record how the hook ended.
func (h *Hook) Ended(succeeded bool) {
	h.record.LastRun.CompletedAt = time.Now()
	h.record.LastRun.Phase = release.HookPhaseFailed
	if succeeded {
		h.record.LastRun.Phase = release.HookPhaseSucceeded
	}
}

// HooksAt returns the hooks of a moment in the order in which they run: by weight,
// then by name, then by kind.
func (r *Rendering) HooksAt(e Event) []*Hook {
	var out []*Hook
	for _, h := range r.Hooks {
		if h.At(e) {
			out = append(out, h)
		}
	}
	slices.SortStableFunc(out, func(a, b *Hook) int {
		return cmp.Or(cmp.Compare(a.record.Weight, b.record.Weight), cmp.Compare(a.record.Name, b.record.Name))
	})
	return out
}
