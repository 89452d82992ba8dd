package openstack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
)

// databaseTemplate are databases with all tables and nearly no rows, made once for each choice of services and copied to each
// lab: making the tables takes longer than everything else in the start of a lab.
type databaseTemplate struct {
	root   root
	chosen []service
	// key tells templates apart: what they were made of.
	key string
}

func newTemplate(r root, chosen []service) (databaseTemplate, error) {
	packages, err := os.ReadFile(r.status())
	if err != nil {
		return databaseTemplate{}, fmt.Errorf("reading the list of packages: %w", err)
	}
	hash := sha256.New()
	fmt.Fprintln(hash, strings.Join(kindsOf(chosen), ","), databaseServer())
	for _, s := range chosen {
		fmt.Fprintln(hash, s.databases, s.tables)
		for _, name := range s.packages {
			fmt.Fprintln(hash, name, version(string(packages), name))
		}
	}
	return databaseTemplate{root: r, chosen: chosen, key: hex.EncodeToString(hash.Sum(nil))[:12]}, nil
}

// version is that of a package in apt's list.
func version(status, name string) string {
	_, entry, _ := strings.Cut("\n"+status, "\nPackage: "+name+"\n")
	entry, _, _ = strings.Cut(entry, "\n\n")
	_, found, _ := strings.Cut("\n"+entry, "\nVersion: ")
	found, _, _ = strings.Cut(found, "\n")
	return found
}

func (t databaseTemplate) path() string { return filepath.Join(t.root.cache, "template-"+t.key) }

// ensure makes the template when it is missing.
func (t databaseTemplate) ensure(ctx context.Context) error {
	if _, err := os.Stat(t.path()); err == nil {
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("looking for the template of the databases: %w", err)
	}
	work := t.path() + ".new"
	if err := os.RemoveAll(work); err != nil {
		return fmt.Errorf("removing a half-made template: %w", err)
	}
	dir, err := layout.OpenOpenStack(work)
	if err != nil {
		return err
	}
	start := time.Now()
	if err := t.fill(ctx, dir); err != nil {
		return fmt.Errorf("making the databases: %w", err)
	}
	if err := os.Rename(dir.Path("data", databaseFolder), t.path()); err != nil {
		return fmt.Errorf("keeping the template of the databases: %w", err)
	}
	t.root.lab.Log.InfoContext(ctx, "made the databases", "took", time.Since(start).Round(time.Second))
	if err := os.RemoveAll(work); err != nil {
		return fmt.Errorf("removing what made the template: %w", err)
	}
	return nil
}

// fill makes the databases in the directory of a lab that is none: nothing but the database runs there.
func (t databaseTemplate) fill(ctx context.Context, dir layout.Dir) error {
	if err := configure(dir, &layout.OpenStack{}, t.chosen); err != nil {
		return err
	}
	if err := t.root.createDatabases(ctx, dir, t.chosen); err != nil {
		return err
	}
	server := exec.CommandContext(ctx, t.root.lab.Executable, t.root.enter(dir, databaseServer())...) //nolint:gosec // This program.
	process.Isolate(server)
	// It writes down what it holds, which a kill would not let it.
	server.Cancel = func() error { return server.Process.Signal(syscall.SIGTERM) }
	server.WaitDelay = time.Minute
	if err := server.Start(); err != nil {
		return fmt.Errorf("starting the database: %w", err)
	}
	err := t.tables(ctx, dir)
	stop := server.Process.Signal(syscall.SIGTERM)
	return errors.Join(err, stop, server.Wait())
}

// tables makes the tables of all services, two services at a time.
func (t databaseTemplate) tables(ctx context.Context, dir layout.Dir) error {
	if err := poll.Until(ctx, "the database", func(ctx context.Context) error { return databaseReady(ctx, dir) }); err != nil {
		return err
	}
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

// copyTo gives a lab the databases.
func (t databaseTemplate) copyTo(dir layout.Dir) error {
	target := dir.Path("data", databaseFolder)
	if err := os.RemoveAll(target); err != nil {
		return fmt.Errorf("removing a database that was half copied: %w", err)
	}
	if err := os.CopyFS(target, os.DirFS(t.path())); err != nil {
		return fmt.Errorf("copying the databases: %w", err)
	}
	return nil
}
