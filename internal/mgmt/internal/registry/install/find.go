package install

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Find returns the users of a registry that Apply has installed on a host, together with the users of the config, and
// vnfm.ErrNoRegistry if the host has no such registry. The note in its folder, or the label of its container, marks a registry of
// Apply. Find changes nothing.
func Find(ctx context.Context, client *remote.Client, c Config) ([]string, error) {
	i := &installer{Config: c.completed(), client: client, report: func(string) {}}
	i.engine = engines[i.Runtime]
	users, err := i.find(ctx)
	if err != nil {
		return nil, fmt.Errorf("looking for the registry %s on %s: %w", i.Name, client.Name(), err)
	}
	return users, nil
}

func (i *installer) find(ctx context.Context) ([]string, error) {
	if err := i.readHost(ctx); err != nil {
		return nil, err
	}
	if i.note.Container == nil && (!i.found.container || i.found.digest == "") {
		return nil, vnfm.ErrNoRegistry
	}
	present, err := i.presentUsers(ctx)
	if err != nil {
		return nil, err
	}
	users := map[string]bool{}
	for user := range usersIn(present) {
		users[user] = true
	}
	for user := range i.Users {
		users[user] = true
	}
	return slices.Sorted(maps.Keys(users)), nil
}
