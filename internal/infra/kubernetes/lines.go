package kubernetes

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// objectLines collects lines about objects that are written concurrently.
type objectLines struct {
	mu    sync.Mutex
	lines []string
}

func (l *objectLines) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

// sorted returns each line once.
func (l *objectLines) sorted() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(l.lines)))
}

// joined joins at most maxErrors lines.
func joined(lines []string) string {
	if more := len(lines) - maxErrors; more > 0 {
		lines = append(lines[:maxErrors:maxErrors], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}
