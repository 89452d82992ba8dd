package openstack

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
)

// template is the data of a lab of the usual services that was filled and stopped. New labs begin with a copy, whatever services
// they have: to make tables, users and images takes longer than everything else in the start of a lab.
type template struct {
	root   root
	chosen []service
	// key tells templates apart: what they were made of.
	key string
}

func newTemplate(r root) (template, error) {
	chosen := usual()
	packages, err := os.ReadFile(r.status())
	if err != nil {
		return template{}, fmt.Errorf("reading the list of packages: %w", err)
	}
	hash := sha256.New()
	fmt.Fprintln(hash, kindsOf(chosen), databaseServer(), accounts(), images(), flavors(), networks())
	for _, s := range chosen {
		fmt.Fprintln(hash, s.aliases, s.databases, s.tables, s.path)
		text, err := configFiles.ReadFile(configFile(s))
		if err != nil {
			return template{}, fmt.Errorf("reading the configuration of %s: %w", s.name, err)
		}
		fmt.Fprintln(hash, string(text))
		for _, name := range s.packages {
			fmt.Fprintln(hash, name, version(string(packages), name))
		}
	}
	return template{root: r, chosen: chosen, key: hex.EncodeToString(hash.Sum(nil))[:12]}, nil
}

// version is that of a package in apt's list.
func version(status, name string) string {
	_, entry, _ := strings.Cut("\n"+status, "\nPackage: "+name+"\n")
	entry, _, _ = strings.Cut(entry, "\n\n")
	_, found, _ := strings.Cut("\n"+entry, "\nVersion: ")
	found, _, _ = strings.Cut(found, "\n")
	return found
}

func (t template) dir() layout.Dir { return layout.Dir(filepath.Join(t.root.cache, "template-"+t.key)) }

// ensure makes the template when it is missing.
func (t template) ensure(ctx context.Context) error {
	if _, err := os.Stat(string(t.dir())); err == nil {
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("looking for the template of the lab: %w", err)
	}
	work := string(t.dir()) + ".new"
	if err := os.RemoveAll(work); err != nil {
		return fmt.Errorf("removing a half-made template: %w", err)
	}
	dir, err := layout.OpenOpenStack(work)
	if err != nil {
		return err
	}
	start := time.Now()
	if err := t.make(ctx, &Lab{Dir: dir, Executable: t.root.lab.Executable, Log: t.root.lab.Log}); err != nil {
		return fmt.Errorf("making the template of the lab in %s: %w", work, err)
	}
	if err := os.Rename(work, string(t.dir())); err != nil {
		return fmt.Errorf("keeping the template of the lab: %w", err)
	}
	t.root.lab.Log.InfoContext(ctx, "made the template of the lab", "took", time.Since(start).Round(time.Second))
	return nil
}

// make runs a lab from nothing, fills it and stops it.
func (t template) make(ctx context.Context, l *Lab) (err error) {
	ports, claim, err := layout.ChooseOpenStackPorts(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = claim.Close() }()
	state := &layout.OpenStack{Ports: ports, Services: kindsOf(t.chosen), Passwords: map[string]string{}, Processes: process.Set{}}
	for _, account := range accounts() {
		state.Passwords[account.User] = rand.Text()
	}
	if err := writeKeys(l.Dir); err != nil {
		return err
	}
	if err := configure(l.Dir, state, t.chosen); err != nil {
		return err
	}
	if err := t.root.createDatabases(ctx, l.Dir, t.chosen); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, state.Processes.Stop(context.WithoutCancel(ctx), processesOf(state, t.chosen)), l.Dir.SaveOpenStack(state))
	}()
	if err := l.startDatabase(ctx, t.root, state, claim); err != nil {
		return err
	}
	if err := t.tables(ctx, l.Dir); err != nil {
		return err
	}
	if err := t.root.bootstrapIdentity(ctx, l.Dir, state); err != nil {
		return err
	}
	if err := t.fill(ctx, l, state); err != nil {
		return err
	}
	database := state.Processes[processDatabase]
	services := processesOf(state, t.chosen)[1:]
	// The database writes down what it holds, which a kill would not let it.
	return errors.Join(state.Processes.Stop(ctx, services), database.Terminate(ctx))
}

// tables makes the tables of all services, two services at a time.
func (t template) tables(ctx context.Context, dir layout.Dir) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2)
	for _, s := range t.chosen {
		group.Go(func() error {
			for _, command := range s.tables {
				if err := t.root.run(ctx, dir, nil, command...); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// fill makes what a lab has from the beginning: the other services do not start without Keystone's part of it.
func (t template) fill(ctx context.Context, l *Lab, state *layout.OpenStack) error {
	var admin *client
	all := processesOf(state, t.chosen)
	err := l.startServices(ctx, t.root, state, t.chosen, all, func() (err error) {
		admin, err = login(ctx, address(state.Ports, Identity), UserAdmin, state.Passwords[UserAdmin], "admin")
		if err != nil {
			return err
		}
		return fillIdentity(ctx, admin, state, t.chosen)
	})
	if err != nil {
		return err
	}
	f := t.root.filling(l.Dir, admin, state)
	for _, s := range t.chosen {
		if s.fill == nil {
			continue
		}
		if err := s.fill(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// filling is what the making of a lab's first objects has at hand.
type filling struct {
	admin *client
	state *layout.OpenStack
	// run runs a program in the root.
	run func(ctx context.Context, command ...string) error
}

func (r root) filling(dir layout.Dir, admin *client, state *layout.OpenStack) *filling {
	return &filling{
		admin: admin, state: state,
		run: func(ctx context.Context, command ...string) error { return r.run(ctx, dir, nil, command...) },
	}
}

// copyTo gives a lab the data and what has been remembered of it.
func (t template) copyTo(dir layout.Dir, state *layout.OpenStack) error {
	filled, err := t.dir().LoadOpenStack()
	if err != nil {
		return err
	}
	target := dir.Path("data")
	if err := os.RemoveAll(target); err != nil {
		return fmt.Errorf("removing data that were half copied: %w", err)
	}
	if err := os.CopyFS(target, os.DirFS(t.dir().Path("data"))); err != nil {
		return fmt.Errorf("copying the template of the lab: %w", err)
	}
	state.Template, state.Passwords = t.key, filled.Passwords
	for kind, objects := range map[string]struct{ to, from *map[string]string }{
		Image: {&state.Images, &filled.Images}, Compute: {&state.Flavors, &filled.Flavors}, Network: {&state.Networks, &filled.Networks},
	} {
		if slices.Contains(state.Services, kind) {
			*objects.to = *objects.from
		}
	}
	return dir.SaveOpenStack(state)
}
