package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
)

// newFlags are the flags that every verb has.
func newFlags(verb string, stderr io.Writer) (*flag.FlagSet, *string) {
	flags := flag.NewFlagSet("lab "+verb, flag.ContinueOnError)
	flags.SetOutput(stderr)
	return flags, flags.String("dir", os.Getenv("LAB_DIR"), "directory of the lab")
}

var errNoDirectory = errors.New("no directory given: use --dir or LAB_DIR")

// ownerFlag is the process that a lab ends with.
func ownerFlag(flags *flag.FlagSet) *process.Record {
	owner := &process.Record{}
	flags.Func("owner", "`PID` of the process with which the lab ends: a sweep stops it when that has ended; without it the lab stays", func(given string) error {
		pid, err := strconv.Atoi(given)
		if err == nil {
			*owner, err = process.Of(pid)
		}
		return err
	})
	return owner
}

// place is where a lab is, and what it starts its programs with: every kind of lab is made
// of these.
type place struct {
	Dir        layout.Dir
	Executable string
	Log        *slog.Logger
}

// placeOf finds, or makes, the directory of a lab.
func placeOf(dir string, find func(string) (layout.Dir, error), stderr io.Writer) (*place, error) {
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
	return &place{Dir: found, Executable: executable, Log: slog.New(slog.NewTextHandler(stderr, nil))}, nil
}

// lab is what the verbs that all kinds of labs have need of one.
type lab interface {
	Down(ctx context.Context) error
	Status(ctx context.Context, w io.Writer) error
}

// kind is a kind of labs.
type kind struct {
	// prefix comes before a verb in its usage.
	prefix string
	open   func(p *place) lab
	tell   func(p *place) (environment, error)
}

// started starts a lab and says how that went.
func started(dir layout.Dir, stdout io.Writer, up func() (reused bool, err error)) error {
	start := time.Now()
	reused, err := up()
	if err != nil {
		return err
	}
	if reused {
		_, err = fmt.Fprintf(stdout, "the lab in %s is running\n", dir)
		return err
	}
	_, err = fmt.Fprintf(stdout, "the lab in %s is ready after %.1f s\n", dir, time.Since(start).Seconds())
	return err
}

func (k kind) down(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags, dir := newFlags(k.prefix+"down", stderr)
	if err := flags.Parse(args); err != nil {
		return err
	}
	p, err := placeOf(*dir, layout.Find, stderr)
	if errors.Is(err, layout.ErrNoLab) {
		_, err = fmt.Fprintln(stdout, "there is nothing to stop")
		return err
	}
	if err != nil {
		return err
	}
	if err := k.open(p).Down(ctx); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "the lab in %s has been removed\n", p.Dir)
	return err
}

func (k kind) status(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags, dir := newFlags(k.prefix+"status", stderr)
	if err := flags.Parse(args); err != nil {
		return err
	}
	p, err := placeOf(*dir, layout.Find, stderr)
	if err != nil {
		return err
	}
	return k.open(p).Status(ctx, stdout)
}

func (k kind) env(_ context.Context, args []string, stdout, stderr io.Writer) error {
	flags, dir := newFlags(k.prefix+"env", stderr)
	format := formatFlag(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	p, err := placeOf(*dir, layout.Find, stderr)
	if err != nil {
		return err
	}
	variables, err := k.tell(p)
	if err != nil {
		return err
	}
	return write(variables, *format, stdout)
}

// The formats of an environment.
const (
	formatJSON  = "json"
	formatShell = "shell"
)

func formatFlag(flags *flag.FlagSet) *string {
	format := formatJSON
	flags.Func("format", "json or shell (default json)", func(given string) error {
		if given != formatJSON && given != formatShell {
			return errors.New("json or shell")
		}
		format = given
		return nil
	})
	return &format
}

// environment is what a lab tells those who use it.
type environment interface {
	WriteJSON(w io.Writer) error
	WriteShell(w io.Writer) error
}

func write(environment environment, format string, stdout io.Writer) error {
	if format == formatShell {
		return environment.WriteShell(stdout)
	}
	return environment.WriteJSON(stdout)
}
