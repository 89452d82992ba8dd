package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
)

// lacking are the services that are asked for and that a lab does not have. They must be optional, and the lab must have what they
// need.
func (l *Lab) lacking(state *layout.OpenStack, kinds []string) ([]string, error) {
	var lacking, never []string
	for _, kind := range kinds {
		if slices.Contains(state.Services, kind) {
			continue
		}
		lacking = append(lacking, kind)
		at := place(kind)
		has := func(need string) bool { return slices.Contains(state.Services, need) }
		if !services()[at].optional || slices.ContainsFunc(services()[at].needs, func(need string) bool { return !has(need) }) {
			never = append(never, kind)
		}
	}
	if len(never) > 0 {
		return nil, fmt.Errorf("the lab in %s has %s, and not %s: stop it first with `lab openstack down --dir %s`",
			l.Dir, strings.Join(state.Services, ", "), strings.Join(never, ", "), l.Dir)
	}
	return lacking, nil
}

// extendServices gives a lab that runs optional services. When they do not start it stays as it was.
func (l *Lab) extendServices(ctx context.Context, state *layout.OpenStack, kinds []string) error {
	more, err := choose(kinds)
	if err != nil {
		return err
	}
	more = slices.DeleteFunc(more, func(s service) bool { return slices.Contains(state.Services, s.kind) })
	before := slices.Clone(state.Services)
	state.Services = append(state.Services, kindsOf(more)...)
	if err := l.startOptional(ctx, state, more); err != nil {
		state.Services = before
		stop := context.WithoutCancel(ctx)
		return errors.Join(err, state.Processes.Stop(stop, programsOf(more)), l.Dir.SaveOpenStack(state))
	}
	return l.Dir.SaveOpenStack(state)
}

func (l *Lab) startOptional(ctx context.Context, state *layout.OpenStack, more []service) error {
	chosen, err := choose(state.Services)
	if err != nil {
		return err
	}
	r, err := l.provide(ctx, state, chosen)
	if err != nil {
		return err
	}
	if err := configure(l.Dir, state, chosen); err != nil {
		return err
	}
	return l.startServices(ctx, r, state, more, programsOf(more), func() error { return nil })
}

// createDatabase is a program of Python that creates a database.
const createDatabase = "import pymysql, sys; " +
	"pymysql.connect(user=sys.argv[1], unix_socket=sys.argv[2]).cursor().execute('CREATE DATABASE IF NOT EXISTS ' + sys.argv[3])"

// add makes what there is of an optional service from the beginning, once in a lab, whose other services run. An attempt that was
// interrupted is begun again.
func (l *Lab) add(ctx context.Context, r root, state *layout.OpenStack, s service) error {
	if !s.optional || slices.Contains(state.Added, s.kind) {
		return nil
	}
	for _, name := range s.databases {
		if err := r.run(ctx, l.Dir, nil, "python3", "-c", createDatabase, databaseUser, databaseSocketInside, name); err != nil {
			return fmt.Errorf("creating the database of %s: %w", s.name, err)
		}
	}
	for _, command := range s.tables {
		if err := r.run(ctx, l.Dir, nil, command...); err != nil {
			return err
		}
	}
	admin, err := login(ctx, address(state.Ports, Identity), UserAdmin, state.Passwords[UserAdmin], "admin")
	if err != nil {
		return err
	}
	for _, kind := range s.kinds() {
		if err := leaveCatalogue(ctx, admin, kind); err != nil {
			return err
		}
		if err := enterCatalogue(ctx, admin, state, s, kind); err != nil {
			return fmt.Errorf("entering %s into the catalogue: %w", s.name, err)
		}
	}
	if err := s.fill(ctx, r.filling(l.Dir, admin, state)); err != nil {
		return err
	}
	state.Added = append(state.Added, s.kind)
	return l.Dir.SaveOpenStack(state)
}

// leaveCatalogue takes services of a kind out of the catalogue.
func leaveCatalogue(ctx context.Context, admin *client, kind string) error {
	var list struct {
		Services []identified `json:"services"`
	}
	if _, err := admin.call(ctx, http.MethodGet, admin.identity+"/v3/services?type="+kind, nil, &list); err != nil {
		return fmt.Errorf("reading the catalogue: %w", err)
	}
	for _, service := range list.Services {
		if _, err := admin.call(ctx, http.MethodDelete, admin.identity+"/v3/services/"+service.ID, nil, nil); err != nil {
			return err
		}
	}
	return nil
}
