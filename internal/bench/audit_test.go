//go:build linux

package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// auditLag is how long the API server may take to write what it was asked.
const auditLag = 1500 * time.Millisecond

// audit counts requests in the audit log of the API server.
type audit struct {
	path string
	// from is where the next count begins.
	from int64
}

// calls are the requests of one client.
type calls struct {
	total int
	// refused are those that were answered with a status of 400 or more.
	refused int
	// by counts them by verb and resource.
	by map[string]int
	// in counts them by namespace.
	in map[string]int
}

func newAudit(b *testing.B, path string) *audit {
	b.Helper()
	if path == "" {
		b.Skip("the lab writes no audit log: requests cannot be counted")
	}
	a := &audit{path: path}
	a.skip(b)
	return a
}

// skip leaves out everything that was asked until now.
func (a *audit) skip(b *testing.B) {
	b.Helper()
	wait(b, auditLag)
	info, err := os.Stat(a.path)
	require.NoError(b, err)
	a.from = info.Size()
}

// take counts the requests of a user agent since the last call of take or skip.
// Watches are counted when they end.
func (a *audit) take(b *testing.B, userAgent string) calls {
	b.Helper()
	wait(b, auditLag)
	f, err := os.Open(a.path)
	require.NoError(b, err)
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.Size() < a.from {
		a.from = 0 // The log was rotated.
	}
	if _, err := f.Seek(a.from, io.SeekStart); err != nil {
		b.Fatal(err)
	}
	out := calls{by: map[string]int{}, in: map[string]int{}}
	reader := bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			return out // A line without an end is counted next time.
		}
		a.from += int64(len(line))
		var event struct {
			UserAgent  string `json:"userAgent"`
			Verb       string `json:"verb"`
			RequestURI string `json:"requestURI"`
			ObjectRef  struct {
				Namespace   string `json:"namespace"`
				Resource    string `json:"resource"`
				Subresource string `json:"subresource"`
			} `json:"objectRef"`
			ResponseStatus struct {
				Code int `json:"code"`
			} `json:"responseStatus"`
		}
		if json.Unmarshal(line, &event) != nil || !strings.HasPrefix(event.UserAgent, userAgent) {
			continue
		}
		out.total++
		out.in[event.ObjectRef.Namespace]++
		what := strings.Trim(event.ObjectRef.Resource+"/"+event.ObjectRef.Subresource, "/")
		if what == "" {
			what, _, _ = strings.Cut(event.RequestURI, "?")
		}
		if event.ResponseStatus.Code >= 400 {
			out.refused++
			what += fmt.Sprintf(" (%d)", event.ResponseStatus.Code)
		}
		out.by[event.Verb+" "+what]++
	}
}

// and counts both together.
func (c calls) and(more calls) calls {
	out := calls{total: c.total + more.total, refused: c.refused + more.refused, by: maps.Clone(c.by)}
	for what, n := range more.by {
		out.by[what] += n
	}
	return out
}

// String lists the requests, the most frequent first.
func (c calls) String() string {
	keys := slices.Collect(maps.Keys(c.by))
	slices.SortFunc(keys, func(a, b string) int {
		if c.by[a] != c.by[b] {
			return c.by[b] - c.by[a]
		}
		return strings.Compare(a, b)
	})
	parts := make([]string, 0, len(keys))
	for _, k := range keys {
		parts = append(parts, fmt.Sprintf("%d %s", c.by[k], k))
	}
	return strings.Join(parts, ", ")
}

func wait(b *testing.B, d time.Duration) {
	b.Helper()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-b.Context().Done():
		b.Fatal(b.Context().Err())
	case <-t.C:
	}
}
