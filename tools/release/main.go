// Command vnf-release makes what `make release-snapshot` and the workflow of releases need besides goreleaser: a complete
// release of the work tree, signed with a key made for it, a check of the licences in its bills of materials, and the provenance
// of its files.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "vnf-release:", err)
		os.Exit(1)
	}
}

const usage = "usage: vnf-release snapshot | licences | provenance [flags]"

func run(ctx context.Context, args []string, out, log io.Writer) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(out)
	switch args[0] {
	case "snapshot":
		s := snapshot{log: log}
		flags.StringVar(&s.root, "root", ".", "`folder` of the repository; the release is put into its folder dist")
		flags.StringVar(&s.version, "version", "0.1.0", "`version` of the release, without a leading v")
		targets := flags.String("targets", "", "`platforms` to build for, as linux/amd64,linux/arm64; all of .goreleaser.yml unless given")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		var err error
		if s.root, err = filepath.Abs(s.root); err != nil {
			return err
		}
		if *targets != "" {
			s.targets = strings.Split(*targets, ",")
		}
		return s.run(ctx)
	case "licences":
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		if flags.NArg() == 0 {
			return errors.New("licences: the path of a bill of materials is needed")
		}
		return checkLicences(out, flags.Args())
	case "provenance":
		var b build
		checksums := flags.String("checksums", "", "`path` of the list of checksums of the release")
		path := flags.String("o", "", "`path` of the statement that is written")
		flags.StringVar(&b.version, "version", "", "`version` of the release")
		flags.StringVar(&b.commit, "commit", "", "`commit` that was built")
		flags.StringVar(&b.ref, "ref", "", "`tag` of the commit, none of a snapshot")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		if *checksums == "" || *path == "" || b.commit == "" || b.version == "" {
			return errors.New("provenance: -checksums, -o, -commit and -version are needed")
		}
		return writeProvenance(*checksums, *path, b)
	default:
		return fmt.Errorf("unknown command %q; %s", args[0], usage)
	}
}
