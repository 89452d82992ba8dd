package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// module is a Go module and the patterns of its packages that are tested.
type module struct {
	dir      string
	patterns []string
}

// testPackage is a package that has tests.
type testPackage struct {
	path, dir string
	module    module
	// race is set when the tests run under the race detector.
	race   bool
	binary string
}

// unit is what runs as one process: one top-level test that takes long, or all others of its package.
type unit struct {
	pkg *testPackage
	// test is empty for all tests of the package but those of without.
	test     string
	without  []string
	expected time.Duration
	// again is set when the unit failed before.
	again bool
}

func (u unit) name() string {
	if u.test == "" {
		return u.pkg.path
	}
	return u.pkg.path + " " + u.test
}

// alone is how long a test takes that gets a process of its own.
const alone = 8 * time.Second

// list finds the packages of a module that have tests. Of the module in the root, those that the patterns of race match run
// under the race detector.
func list(ctx context.Context, root string, m module, race []string) ([]*testPackage, error) {
	raced := map[string]bool{}
	if m.dir == "." && len(race) > 0 {
		out, err := goCommand(ctx, filepath.Join(root, m.dir), append([]string{"list"}, race...)...)
		if err != nil {
			return nil, err
		}
		for path := range strings.FieldsSeq(string(out)) {
			raced[path] = true
		}
	}
	args := append([]string{"list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles"}, m.patterns...)
	out, err := goCommand(ctx, filepath.Join(root, m.dir), args...)
	if err != nil {
		return nil, err
	}
	var packages []*testPackage
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath   string   `json:"ImportPath"`
			Dir          string   `json:"Dir"`
			TestGoFiles  []string `json:"TestGoFiles"`
			XTestGoFiles []string `json:"XTestGoFiles"`
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading the output of go list: %w", err)
		}
		if len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
			packages = append(packages, &testPackage{path: p.ImportPath, dir: p.Dir, module: m, race: raced[p.ImportPath]})
		}
	}
}

func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = dir
	if slices.Contains(args, "-race") {
		// The race detector links with the C library.
		command.Env = append(os.Environ(), "CGO_ENABLED=1")
	}
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("go %s in %s: %w\n%s", args[0], dir, err, strings.TrimSpace(stderr.String()))
	}
	return stdout.Bytes(), nil
}

// batches parts packages of one module into groups that one `go test -c` can compile: it names binaries by the last
// element of the path, which must be unique in each group.
func batches(packages []*testPackage) [][]*testPackage {
	var out [][]*testPackage
	place := map[string]int{}
	for _, p := range packages {
		base := filepath.Base(p.path)
		at := place[base]
		if at == len(out) {
			out = append(out, nil)
		}
		out[at] = append(out[at], p)
		place[base]++
	}
	return out
}

// compile builds the test binaries of a group into a folder. The go command does not link again those that are
// there and current.
func compile(ctx context.Context, packages []*testPackage, folder string) error {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return fmt.Errorf("making the folder of the test binaries: %w", err)
	}
	// Vetting is what lint does, once for all packages.
	args := []string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", folder + string(filepath.Separator)}
	if packages[0].race {
		args = append(args, "-race")
	}
	for _, p := range packages {
		args = append(args, p.path)
		p.binary = filepath.Join(folder, filepath.Base(p.path)+".test")
	}
	_, err := goCommand(ctx, packages[0].dir, args...)
	return err
}

// units are the processes that run the tests of a package: one for each test that takes long, and one for all others.
func (s *session) units(p *testPackage) []unit {
	rest := unit{pkg: p, expected: unknownTest}
	var out []unit
	for _, name := range slices.Sorted(maps.Keys(s.known.tests[p.path])) {
		took := s.known.tests[p.path][name]
		switch {
		case took < alone:
			rest.expected += took
		case s.match == nil || s.match.MatchString(name):
			out = append(out, unit{pkg: p, test: name, expected: took})
			fallthrough
		default:
			rest.without = append(rest.without, name)
		}
	}
	return append(out, rest)
}
