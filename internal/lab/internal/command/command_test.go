package command

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"
)

// example has a verb for people, one for itself, and one that passes its arguments on.
func example() Program {
	return Program{Name: "lab", Notes: "LAB_DIR is a directory too.", Verbs: []Verb{
		{Name: "up", Arguments: "[--nodes 4]", Does: "start a lab", Action: func(_ context.Context, args []string, stdout, stderr io.Writer) error {
			flags := flag.NewFlagSet("lab up", flag.ContinueOnError)
			flags.SetOutput(stderr)
			nodes := flags.Int("nodes", 4, "number of nodes")
			if err := flags.Parse(args); err != nil {
				return err
			}
			if *nodes > 9 {
				return errors.New("too many")
			}
			_, err := fmt.Fprintf(stdout, "%d nodes", *nodes)
			return err
		}},
		{Name: "sweep", Does: "remove what is left", Action: func(context.Context, []string, io.Writer, io.Writer) error { return nil }},
		{Name: "serve", Action: func(context.Context, []string, io.Writer, io.Writer) error { return nil }},
		{Name: "run", Arguments: "<program>", Does: "run a program", Passes: true, Action: func(_ context.Context, args []string, _, stderr io.Writer) error {
			fmt.Fprint(stderr, strings.Join(args, " "))
			return ExitCode(3)
		}},
	}}
}

func TestRun(t *testing.T) {
	all := []string{"usage: lab <verb>", "\n  up     start a lab\n           [--nodes 4]\n", "\n  sweep  remove what is left\n", "\n  run    run a program", "LAB_DIR"}
	for line, want := range map[string]struct {
		code           int
		stdout, stderr []string
	}{
		"":                   {ExitUsage, nil, all},
		"--help":             {0, all, nil},
		"-h":                 {0, all, nil},
		"help":               {0, all, nil},
		"up --help":          {0, []string{"lab up [--nodes 4]: start a lab", "number of nodes"}, nil},
		"up --nodes 3 -help": {0, []string{"number of nodes"}, nil},
		"help up":            {0, []string{"lab up [--nodes 4]: start a lab", "number of nodes"}, nil},
		"up --nodes 3":       {0, []string{"3 nodes"}, nil},
		"up --nodes 10":      {ExitFailure, nil, []string{"lab up: too many"}},
		"up --node":          {ExitFailure, nil, []string{"not defined: -node", "number of nodes"}},
		"run etcd --help":    {3, nil, []string{"etcd --help"}},
		"halt":               {ExitUsage, nil, append([]string{`unknown verb "halt"`}, all...)},
		"serve":              {0, nil, nil},
	} {
		var stdout, stderr bytes.Buffer
		code := example().Run(t.Context(), strings.Fields(line), &stdout, &stderr)
		if code != want.code {
			t.Errorf("lab %s: exit code %d, want %d", line, code, want.code)
		}
		for _, out := range []struct {
			name, text string
			want       []string
		}{{"standard output", stdout.String(), want.stdout}, {"standard error", stderr.String(), want.stderr}} {
			if len(out.want) == 0 && out.text != "" {
				t.Errorf("lab %s: %s has %q", line, out.name, out.text)
			}
			for _, part := range out.want {
				if !strings.Contains(out.text, part) {
					t.Errorf("lab %s: %s lacks %q:\n%s", line, out.name, part, out.text)
				}
			}
		}
	}
	if usage := example().Usage(); strings.Contains(usage, "serve") {
		t.Errorf("the usage has a verb that is not for people:\n%s", usage)
	}
}
