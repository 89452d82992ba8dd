package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/openstack"
)

const openStackUsage = `usage: lab openstack <verb> --dir <directory> ...

  up      [--services identity,image,...] [--timeout 15m]
                                     start an OpenStack lab, or what is missing of it
  down                               stop it and delete its directory
  status                             say what runs; exit code 1 when something does not
  env     [--format json|shell]      print endpoints, users and files
`

// openStack carries out the verbs of the OpenStack lab.
func openStack(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	verbs := map[string]func(context.Context, []string, io.Writer, io.Writer) error{
		"up": openStackUp, "down": openStackDown, "status": openStackStatus, "env": openStackEnv,
	}
	if len(args) == 0 || verbs[args[0]] == nil {
		fmt.Fprint(stderr, openStackUsage)
		return exitCode(exitUsage)
	}
	return verbs[args[0]](ctx, args[1:], stdout, stderr)
}

// openOpenStack finds, or makes, the lab of a directory.
func openOpenStack(dir string, find func(string) (layout.Dir, error), stderr io.Writer) (*openstack.Lab, error) {
	if dir == "" {
		return nil, errNoDirectory
	}
	found, err := find(dir)
	if err != nil {
		return nil, err
	}
	executable, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program's file: %w", err)
	}
	return &openstack.Lab{Dir: found, Executable: executable, Log: slog.New(slog.NewTextHandler(stderr, nil))}, nil
}

func openStackUp(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags, dir := newFlags("openstack up", stderr)
	services := flags.String("services", "", "some of "+strings.Join(openstack.Kinds(), ",")+"; all when not given")
	timeout := flags.Duration("timeout", 15*time.Minute, "how long to wait until the lab can be used; the first start installs it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	lab, err := openOpenStack(*dir, layout.OpenOpenStack, stderr)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	kinds := slices.DeleteFunc(strings.Split(*services, ","), func(kind string) bool { return kind == "" })
	start := time.Now()
	reused, err := lab.Up(ctx, openstack.UpOptions{Services: kinds})
	if err != nil {
		return err
	}
	if reused {
		_, err = fmt.Fprintf(stdout, "the lab in %s is running\n", lab.Dir)
		return err
	}
	_, err = fmt.Fprintf(stdout, "the lab in %s is ready after %.1f s\n", lab.Dir, time.Since(start).Seconds())
	return err
}

func openStackDown(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags, dir := newFlags("openstack down", stderr)
	if err := flags.Parse(args); err != nil {
		return err
	}
	lab, err := openOpenStack(*dir, layout.Find, stderr)
	if errors.Is(err, layout.ErrNoLab) {
		_, err = fmt.Fprintln(stdout, "there is nothing to stop")
		return err
	}
	if err != nil {
		return err
	}
	if err := lab.Down(ctx); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "the lab in %s is gone\n", lab.Dir)
	return err
}

func openStackStatus(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags, dir := newFlags("openstack status", stderr)
	if err := flags.Parse(args); err != nil {
		return err
	}
	lab, err := openOpenStack(*dir, layout.Find, stderr)
	if err != nil {
		return err
	}
	return lab.Status(ctx, stdout)
}

func openStackEnv(_ context.Context, args []string, stdout, stderr io.Writer) error {
	flags, dir := newFlags("openstack env", stderr)
	format := formatFlag(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	lab, err := openOpenStack(*dir, layout.Find, stderr)
	if err != nil {
		return err
	}
	environment, err := lab.Environment()
	if err != nil {
		return err
	}
	return write(environment, *format, stdout)
}

// enter is not for people: the lab starts its programs with it.
func enter(_ context.Context, args []string, _, stderr io.Writer) error {
	flags := flag.NewFlagSet("lab "+openstack.ProcessEnter, flag.ContinueOnError)
	flags.SetOutput(stderr)
	root := flags.String("root", "", "what becomes the root directory")
	dir := flags.String("dir", "", "directory of the lab")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("no program named")
	}
	return openstack.Enter(*root, *dir, flags.Args())
}
