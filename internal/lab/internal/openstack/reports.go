package openstack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// reports are what the processes of a service write into its database, every few seconds, so
// that others know that they run.
type reports struct {
	// path is where they are read from.
	path     string
	programs []string
	// answered are requests that go through the queue to a process and back, asked once all
	// have reported: a report says that a process runs, not that it knows of the others yet.
	answered []question
}

// question is asked of a service; the answer contains says when it can be used.
type question struct{ path, want string }

// ready tells whether the service can be used, of which processes were started since a
// moment; see look.
func (r *reports) ready(ctx context.Context, admin *client, base string, seen map[string]time.Time, since time.Time) error {
	if err := r.look(ctx, admin, base, seen, since); err != nil {
		return err
	}
	for _, q := range r.answered {
		var answer json.RawMessage
		if _, err := admin.call(ctx, http.MethodGet, base+q.path, nil, &answer); err != nil {
			return err
		}
		if !strings.Contains(string(answer), q.want) {
			return fmt.Errorf("%s does not say %s", q.path, q.want)
		}
	}
	return nil
}

// look tells whether all processes that were started since a moment listen. What one said
// that was killed counts for a while, and the first that its successor writes is its version,
// before it listens: what it is asked for until then is lost. So it takes two reports; seen
// has the first ones. Without a moment any report will do.
func (r *reports) look(ctx context.Context, admin *client, base string, seen map[string]time.Time, since time.Time) error {
	var list struct {
		Services []struct {
			Binary  string `json:"binary"`
			State   string `json:"state"`
			Updated string `json:"updated_at"`
		} `json:"services"`
	}
	if _, err := admin.call(ctx, http.MethodGet, base+r.path, nil, &list); err != nil {
		return err
	}
	listens := map[string]bool{}
	for _, s := range list.Services {
		// In UTC, without saying so.
		at, err := time.Parse("2006-01-02T15:04:05.999999", s.Updated)
		if err != nil || s.State != "up" || !at.After(since) {
			continue
		}
		first, known := seen[s.Binary]
		if !known && seen != nil {
			seen[s.Binary] = at
		}
		listens[s.Binary] = since.IsZero() || (known && at.After(first))
	}
	for _, name := range r.programs {
		if !listens[name] {
			return fmt.Errorf("%s has not reported", name)
		}
	}
	return nil
}
