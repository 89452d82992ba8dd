package kube

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// The states of an object in a diagnosis.
const (
	StatusReady       = "Ready"
	StatusInProgress  = "InProgress"
	StatusFailed      = "Failed"
	StatusTerminating = "Terminating"
	StatusNotFound    = "NotFound"
	// StatusUnknown means that the API server reported no state.
	StatusUnknown = "Unknown"
)

// ObjectState is the diagnosis of one object.
type ObjectState struct {
	Ref     Ref
	Status  string
	Reason  string
	Message string
	// Conditions are all conditions of the object; in reports only.
	Conditions []string
	// Events are the last events of the object, of its pods that are not ready, of the claims that
	// these pods wait for, and of controllers that create its pods; the newest last.
	Events []string
	// Pods are up to three pods of the object that are not ready.
	Pods []PodState
}

// PodState is the diagnosis of one pod.
type PodState struct {
	Name     string
	Phase    string
	Reason   string
	Message  string
	Restarts int32
	// Claims are the unbound claims of a pending pod.
	Claims []string
	// LogTail is the end of the log of a container that crashed: at most ten lines and 2 kB, in a
	// report 50 lines and 8 kB.
	LogTail string

	// container is the container whose log is read, unready the first one that runs but is not
	// ready.
	container, unready string
}

// String renders the diagnosis on several lines.
func (s ObjectState) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", s.Ref, s.Status)
	if s.Reason != "" && s.Reason != s.Status {
		fmt.Fprintf(&b, " (%s)", s.Reason)
	}
	if s.Message != "" {
		b.WriteString(": " + s.Message)
	}
	for _, c := range s.Conditions {
		b.WriteString("\n    condition: " + c)
	}
	for _, p := range s.Pods {
		fmt.Fprintf(&b, "\n    pod %s: %s", p.Name, cmp.Or(p.Phase, "phase unknown"))
		if p.Reason != "" {
			b.WriteString(", " + p.Reason)
		}
		if p.Restarts > 0 {
			fmt.Fprintf(&b, ", %d restarts", p.Restarts)
		}
		if p.Message != "" {
			b.WriteString(": " + p.Message)
		}
		for _, claim := range p.Claims {
			b.WriteString("\n      " + claim)
		}
		if p.LogTail != "" {
			b.WriteString("\n      log: " + strings.ReplaceAll(p.LogTail, "\n", "\n      log: "))
		}
	}
	for _, e := range s.Events {
		b.WriteString("\n    event: " + e)
	}
	return b.String()
}

// NotReadyError names the objects that are not ready, with the causes.
type NotReadyError struct {
	// Objects are in the order of the references, permanent failures first.
	Objects []ObjectState
	// Total is the number of objects to wait for.
	Total   int
	Elapsed time.Duration
	// Err is the end of the context, or the error that made waiting pointless; nil if an object has
	// failed permanently.
	Err error
}

func (e *NotReadyError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d objects are not ready after %s", len(e.Objects), e.Total, e.Elapsed.Round(100*time.Millisecond))
	if e.Err != nil {
		fmt.Fprintf(&b, " (%v)", e.Err)
	}
	b.WriteByte(':')
	for _, o := range e.Objects[:min(len(e.Objects), maxExplained)] {
		b.WriteString("\n* " + o.String())
	}
	if more := len(e.Objects) - maxExplained; more > 0 {
		fmt.Fprintf(&b, "\n* and %d more", more)
	}
	return b.String()
}

func (e *NotReadyError) Unwrap() error { return e.Err }
