// Command cli obtains the programs that tests, demonstrations and generated documentation drive the provider with:
// Terraform, OpenTofu and Terragrunt. A release of Terraform comes from releases.hashicorp.com, with its signature and
// checksum verified. Where that host cannot be reached, and for the others, the program is built from the source that the
// Go module proxy serves.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// product is a program that can be obtained.
type product struct {
	// title is its name for people, and banner what it writes before its version.
	title, banner string
	// module is the Go module of its source, program the path of the main package in it.
	module, program string
	// version is the one that is obtained unless another is named. Every feature that the provider uses of it is in it.
	version string
	// variable is set to stamp by the linker: a build from source would report a prerelease, or no version. A %s in stamp is the version.
	variable, stamp string
	// sources are where it comes from, in the order in which they are tried.
	sources []source
}

// source obtains a version of a product, puts the program into the folder work, and returns its path.
type source struct {
	name string
	get  func(ctx context.Context, p product, version, work string) (string, error)
}

var (
	fromRelease = source{name: "release", get: download}
	fromModule  = source{name: "module", get: build}
)

var products = map[string]product{
	"terraform": {
		title: "Terraform", banner: "Terraform", module: "github.com/hashicorp/terraform", program: ".",
		version: "1.15.9", variable: "github.com/hashicorp/terraform/version.dev", stamp: "no", sources: []source{fromRelease, fromModule},
	},
	"opentofu": {
		title: "OpenTofu", banner: "OpenTofu", module: "github.com/opentofu/opentofu", program: "./cmd/tofu",
		version: "1.12.6", variable: "github.com/opentofu/opentofu/version.dev", stamp: "no", sources: []source{fromModule},
	},
	"terragrunt": {
		title: "Terragrunt", banner: "terragrunt version", module: "github.com/gruntwork-io/terragrunt", program: ".",
		version: "0.96.1", variable: "github.com/gruntwork-io/go-commons/version.Version", stamp: "v%s", sources: []source{fromModule},
	},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cli:", err)
		os.Exit(1)
	}
}

// run obtains the program and puts it in its place in one step, so that nobody sees half a file. A program of the wanted
// version that is there already is kept.
func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("cli", flag.ContinueOnError)
	name := flags.String("product", "terraform", "`name` of the product: terraform, opentofu or terragrunt")
	out := flags.String("o", "", "`path` of the program that is written; defaults to the name of the product")
	version := flags.String("version", "", "`version` without the leading v; defaults to the one that tests use")
	from := flags.String("source", "any", "release, module or any: where the program comes from")
	if err := flags.Parse(args); err != nil {
		return err
	}
	p, ok := products[*name]
	if !ok {
		return fmt.Errorf("unknown product %q: use terraform, opentofu or terragrunt", *name)
	}
	if *version == "" {
		*version = p.version
	}
	if *out == "" {
		*out = *name
	}
	target, err := filepath.Abs(*out)
	if err != nil {
		return fmt.Errorf("resolve %s: %w", *out, err)
	}
	if p.reports(ctx, target, *version) == nil {
		fmt.Fprintf(os.Stderr, "%s is %s %s already\n", target, p.title, *version)
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
		return fmt.Errorf("create the folder of %s: %w", target, err)
	}
	// Beside the target, for a rename does not cross file systems.
	work, err := os.MkdirTemp(filepath.Dir(target), ".cli-")
	if err != nil {
		return fmt.Errorf("create a work folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()

	program, err := p.obtain(ctx, *from, *version, work)
	if err != nil {
		return err
	}
	if err := p.reports(ctx, program, *version); err != nil {
		return err
	}
	if err := os.Rename(program, target); err != nil {
		return fmt.Errorf("put the program in its place: %w", err)
	}
	return nil
}

// obtain tries the sources that are named by from in their order, and returns the path of the program inside work.
func (p product) obtain(ctx context.Context, from, version, work string) (string, error) {
	sources := p.sources
	if from != "any" {
		sources = slices.DeleteFunc(slices.Clone(sources), func(s source) bool { return s.name != from })
	}
	if len(sources) == 0 {
		return "", fmt.Errorf("%s has no source %q: use release (Terraform only), module or any", p.title, from)
	}
	var refused []error
	for _, s := range sources {
		start := time.Now()
		program, err := s.get(ctx, p, version, work)
		if err == nil {
			fmt.Fprintf(os.Stderr, "%s %s (%s) in %s\n", p.title, version, s.name, time.Since(start).Round(time.Second))
			return program, nil
		}
		refused = append(refused, err)
		if ctx.Err() != nil {
			break
		}
		fmt.Fprintln(os.Stderr, err)
	}
	return "", errors.Join(refused...)
}

// reports returns an error unless the program says that it is this version of the product, and no prerelease of it: the
// features that a configuration and a test may use depend on what it says.
func (p product) reports(ctx context.Context, program, version string) error {
	cmd := exec.CommandContext(ctx, program, "--version") //nolint:gosec // the program that is obtained
	cmd.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE="+os.DevNull)
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("run %s --version: %w", program, err)
	}
	first, _, _ := strings.Cut(string(out), "\n")
	if want := p.banner + " v" + version; strings.TrimSpace(first) != want {
		return fmt.Errorf("%s reports %q and not %q", program, first, want)
	}
	return nil
}
