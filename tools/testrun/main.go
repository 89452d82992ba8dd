// Command testrun runs the tests of several modules as one: it compiles each test binary once, starts the longest tests
// first, keeps the processors busy without overloading them, and ends with a report of where the time went. Tests that
// take long run in a process each, which is what their processor time is read from.
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
The last line is "N passed, N failed, N skipped". What fails is run once more. The exit code is 1 when a test failed both
times, or when more than two tests passed only then. With a limit of time, the last line ends with ", N left out" when tests
were left out.

`

// options are the flags of the command.
type options struct {
	root      string
	binaries  string
	report    string
	durations string
	match     *regexp.Regexp
	short     bool
	race      []string
	timeout   time.Duration
	limit     time.Duration
	seed      string
	labs      []string
	announce  string
	modules   []module
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
	var match, labs, race string
	flags.StringVar(&o.root, "root", ".", "`folder` of the repository")
	flags.StringVar(&o.binaries, "binaries", "bin/tests", "`folder` of the test binaries, kept between runs")
	flags.StringVar(&o.report, "report", "bin/test-report", "`path` of the report, written as .txt and .json")
	flags.StringVar(&o.durations, "durations", "tools/testrun/durations.txt", "`file` with the tests that take long and their seconds")
	flags.StringVar(&match, "run", "", "run only the top-level tests that match this `pattern`")
	flags.BoolVar(&o.short, "short", false, "pass -short to the tests")
	flags.StringVar(&race, "race", "", "`packages` of the module in the root, separated by commas, that run under the race detector")
	flags.DurationVar(&o.timeout, "timeout", time.Hour, "end a test process after this time")
	flags.DurationVar(&o.limit, "limit", 0, "leave out, and name, the tests that would not end within this `time`, long ones first; 0 runs all")
	flags.StringVar(&o.seed, "seed", os.Getenv("TEST_SEED"), "any `text`, which the choice of long tests follows from when not all of them fit into the limit")
	flags.StringVar(&labs, "labs", os.Getenv("VNF_LAB_DIR"), "`folders` of running labs, separated by commas; their processor time is shared among the tests that use them")
	flags.StringVar(&o.announce, "announce", "", "`text` that says what cannot run here, printed at the start")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if race != "" {
		o.race = strings.Split(race, ",")
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
