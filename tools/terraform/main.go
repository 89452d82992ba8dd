// Command terraform obtains a terraform binary for tests, demonstrations and generated documentation: the release from
// releases.hashicorp.com, with its signature and checksum verified, or, where that host cannot be reached, a build from
// the source that the Go module proxy serves.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// defaultVersion is the version that is obtained. Every feature that the provider uses is in it, and both sources serve it.
const defaultVersion = "1.15.9"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "terraform:", err)
		os.Exit(1)
	}
}

// run obtains the binary and puts it in its place in one step, so that nobody sees half a file.
func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("terraform", flag.ContinueOnError)
	out := flags.String("o", "terraform", "`path` of the binary that is written")
	version := flags.String("version", defaultVersion, "`version` of Terraform, without the leading v")
	source := flags.String("source", "any", "release, module or any: where the binary comes from")
	if err := flags.Parse(args); err != nil {
		return err
	}
	target, err := filepath.Abs(*out)
	if err != nil {
		return fmt.Errorf("resolve %s: %w", *out, err)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
		return fmt.Errorf("create the folder of %s: %w", target, err)
	}
	// Beside the target, for a rename does not cross file systems.
	work, err := os.MkdirTemp(filepath.Dir(target), ".terraform-")
	if err != nil {
		return fmt.Errorf("create a work folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()

	binary, err := obtain(ctx, *source, *version, work)
	if err != nil {
		return err
	}
	if err := os.Rename(binary, target); err != nil {
		return fmt.Errorf("put the binary in its place: %w", err)
	}
	return nil
}

// obtain tries the sources in order and returns the path of the binary inside work.
func obtain(ctx context.Context, source, version, work string) (string, error) {
	start := time.Now()
	report := func(from string) {
		fmt.Fprintf(os.Stderr, "terraform %s %s in %s\n", version, from, time.Since(start).Round(time.Second))
	}
	var refused error
	if source == "any" || source == "release" {
		binary, err := download(ctx, version, work)
		if err == nil {
			report("downloaded")
			return binary, nil
		}
		refused = err
	}
	if ctx.Err() == nil && (source == "any" || source == "module") {
		if refused != nil {
			fmt.Fprintln(os.Stderr, refused)
		}
		fmt.Fprintf(os.Stderr, "building terraform %s from the Go module proxy: several minutes of processor time\n", version)
		binary, err := build(ctx, version, work)
		if err == nil {
			report("built from source")
			return binary, nil
		}
		return "", errors.Join(refused, err)
	}
	if refused == nil {
		return "", fmt.Errorf("unknown source %q: use release, module or any", source)
	}
	return "", refused
}
