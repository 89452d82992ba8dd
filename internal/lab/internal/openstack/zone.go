package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
)

// FullZone gives a lab that runs an availability zone of Nova that has no place for a server: that of a host on which nothing runs. A lab
// that has it keeps it.
func (l *Lab) FullZone(ctx context.Context, name string) error {
	unlock, err := l.Dir.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	state, err := l.Dir.LoadOpenStack()
	if err != nil {
		return err
	}
	if !state.Ready || !slices.Contains(state.Services, Compute) {
		return errors.New("the lab has no service " + Compute + " that runs")
	}
	admin, err := login(ctx, address(state.Ports, Identity), UserAdmin, state.Passwords[UserAdmin], "admin")
	if err != nil {
		return err
	}
	aggregates := address(state.Ports, Compute) + "/v2.1/os-aggregates"
	var there struct {
		Aggregates []aggregate `json:"aggregates"`
	}
	if _, err := admin.call(ctx, http.MethodGet, aggregates, nil, &there); err != nil {
		return fmt.Errorf("listing the zones: %w", err)
	}
	var zone struct {
		Aggregate aggregate `json:"aggregate"`
	}
	if at := slices.IndexFunc(there.Aggregates, func(a aggregate) bool { return a.Name == name }); at >= 0 {
		zone.Aggregate = there.Aggregates[at]
	} else {
		made := map[string]any{"aggregate": map[string]any{"name": name, "availability_zone": name}}
		if _, err := admin.call(ctx, http.MethodPost, aggregates, made, &zone); err != nil {
			return fmt.Errorf("making zone %s: %w", name, err)
		}
	}
	if slices.Contains(zone.Aggregate.Hosts, name) {
		return nil
	}
	if err := l.serviceRoot().run(ctx, l.Dir, nil, "python3", "-m", "lab_host", name); err != nil {
		return fmt.Errorf("adding host %s: %w", name, err)
	}
	add := map[string]any{"add_host": map[string]any{"host": name}}
	if _, err := admin.call(ctx, http.MethodPost, fmt.Sprintf("%s/%d/action", aggregates, zone.Aggregate.ID), add, nil); err != nil {
		return fmt.Errorf("adding host %s to its zone: %w", name, err)
	}
	return nil
}

// aggregate is a group of hosts of Nova.
type aggregate struct {
	ID    int      `json:"id"`
	Name  string   `json:"name"`
	Hosts []string `json:"hosts"`
}
