// Command testrun runs the tests of several modules as one: it compiles each test binary once, runs several tests of one
// package at a time, keeps the processors busy without overloading them, and ends with a report of where the time went.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"
)

const usage = `usage: testrun [flags] MODULE=PACKAGE,... [...]

Runs the tests of the packages of each module, for example .=./... internal/lab=./internal/...
The last line is "N passed, N failed, N skipped". The exit code is 1 when a test failed.

`

// options are the flags of the command.
type options struct {
	root     string
	binaries string
	report   string
	match    *regexp.Regexp
	timeout  time.Duration
	labs     []string
	announce string
	modules  []module
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
	}
	os.Exit(code)
}

// The exit codes besides 0.
const (
	exitFailed = 1
	exitUsage  = 2
)

func run(ctx context.Context, args []string) (int, error) {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return 0, nil
	}
	if err != nil {
		return exitUsage, err
	}
	s, err := newSession(ctx, o)
	if err != nil {
		return exitFailed, err
	}
	defer s.close()
	if err := s.run(ctx); err != nil {
		return exitFailed, err
	}
	return s.conclude()
}

func parse(args []string) (options, error) {
	o := options{}
	flags := flag.NewFlagSet("testrun", flag.ContinueOnError)
	flags.SetOutput(os.Stdout)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	var match, labs string
	flags.StringVar(&o.root, "root", ".", "`folder` of the repository")
	flags.StringVar(&o.binaries, "binaries", "bin/tests", "`folder` of the test binaries, kept between runs")
	flags.StringVar(&o.report, "report", "bin/test-report", "`path` of the report, written as .txt and .json")
	flags.StringVar(&match, "run", "", "run only the top-level tests that match this `pattern`")
	flags.DurationVar(&o.timeout, "timeout", time.Hour, "end a test process after this time")
	flags.StringVar(&labs, "labs", os.Getenv("VNF_LAB_DIR"), "`folders` of running labs, separated by commas; their processor time is shared among the tests that use them")
	flags.StringVar(&o.announce, "announce", "", "`text` that says what cannot run here, printed at the start")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if labs != "" {
		o.labs = strings.Split(labs, ",")
	}
	if match != "" {
		pattern, err := regexp.Compile(match)
		if err != nil {
			return o, fmt.Errorf("-run: %w", err)
		}
		o.match = pattern
	}
	for _, arg := range flags.Args() {
		dir, patterns, found := strings.Cut(arg, "=")
		if !found || patterns == "" {
			return o, fmt.Errorf("%q names no packages of a module, as .=./... does", arg)
		}
		o.modules = append(o.modules, module{dir: dir, patterns: strings.Split(patterns, ",")})
	}
	if len(o.modules) == 0 {
		return o, errors.New("no packages given, see -help")
	}
	return o, nil
}
