package openstack

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// reported reads when the processes of a service have said last that they run. What one said
// that was killed counts for a while: what its successor is asked for before it listens is
// lost, so that only a report since its start tells that it does.
func reported(ctx context.Context, admin *client, url string, since time.Time, programs ...string) error {
	var list struct {
		Services []struct {
			Binary  string `json:"binary"`
			State   string `json:"state"`
			Updated string `json:"updated_at"`
		} `json:"services"`
	}
	if _, err := admin.call(ctx, http.MethodGet, url, nil, &list); err != nil {
		return err
	}
	up := map[string]bool{}
	for _, s := range list.Services {
		// In UTC, without saying so.
		at, err := time.Parse("2006-01-02T15:04:05.999999", s.Updated)
		up[s.Binary] = err == nil && s.State == "up" && at.After(since)
	}
	for _, name := range programs {
		if !up[name] {
			return fmt.Errorf("%s has not reported", name)
		}
	}
	return nil
}
