// Package command is the command line of a program with verbs: its verbs and their usage.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// The exit codes besides 0.
const (
	ExitFailure = 1
	ExitUsage   = 2
)

// Action carries out a verb.
type Action func(ctx context.Context, args []string, stdout, stderr io.Writer) error

// Verb is something that a program does.
type Verb struct {
	Name string
	// Arguments and Does are for the usage. A verb without them is for the program itself, not for people.
	Arguments string
	Does      string
	Action    Action
	// Passes is a verb whose arguments are those of another program, which may be asked for its usage too.
	Passes bool
}

// Program is a program with verbs.
type Program struct {
	// Name is that of the program, with the verb that it is itself, if it is one.
	Name  string
	Verbs []Verb
	// Notes follow the verbs in the usage.
	Notes string
}

// ExitCode is the exit code of a verb that has already said what was wrong.
type ExitCode int

func (e ExitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// asked are the words that ask for the usage.
func asked(word string) bool {
	return slices.Contains([]string{"help", "-h", "-help", "--help"}, word)
}

// Usage describes the verbs of the program.
func (p Program) Usage() string {
	var text strings.Builder
	fmt.Fprintf(&text, "usage: %s <verb> --dir <directory> ...\n\n", p.Name)
	width := 0
	for _, v := range p.Verbs {
		if v.Does != "" {
			width = max(width, len(v.Name))
		}
	}
	for _, v := range p.Verbs {
		if v.Does != "" {
			fmt.Fprintf(&text, "  %-*s  %s\n", width, v.Name, v.Does)
			if v.Arguments != "" {
				fmt.Fprintf(&text, "  %-*s    %s\n", width, "", v.Arguments)
			}
		}
	}
	fmt.Fprintf(&text, "\n`%s <verb> --help` describes a verb.\n", p.Name)
	if p.Notes != "" {
		fmt.Fprintf(&text, "%s\n", p.Notes)
	}
	return text.String()
}

// helps tells whether arguments ask for the usage of a verb.
func (v Verb) helps(args []string) bool {
	if v.Passes {
		args = args[:min(1, len(args))]
	}
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.ContainsFunc(args, func(word string) bool { return word != "help" && asked(word) })
}

// Run carries out what the arguments say, and returns the exit code.
func (p Program) Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, p.Usage())
		return ExitUsage
	}
	if asked(args[0]) && len(args) == 1 {
		fmt.Fprint(stdout, p.Usage())
		return 0
	}
	if asked(args[0]) {
		args = append(args[1:], "--help")
	}
	at := slices.IndexFunc(p.Verbs, func(v Verb) bool { return v.Name == args[0] })
	if at < 0 {
		fmt.Fprintf(stderr, "%s: unknown verb %q\n%s", p.Name, args[0], p.Usage())
		return ExitUsage
	}
	verb, args := p.Verbs[at], args[1:]
	if verb.helps(args) {
		// The usage of the flags was requested, so it is not an error.
		stderr = stdout
		if verb.Does != "" {
			fmt.Fprintf(stdout, "%s\n", strings.TrimSpace(p.Name+" "+verb.Name+" "+verb.Arguments)+": "+verb.Does)
		}
	}
	err := verb.Action(ctx, args, stdout, stderr)
	var exit ExitCode
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &exit):
		return int(exit)
	default:
		fmt.Fprintf(stderr, "%s %s: %v\n", p.Name, verb.Name, err)
		return ExitFailure
	}
}
