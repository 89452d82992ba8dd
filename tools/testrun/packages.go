package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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
	// acceptance is set when the tests drive the provider through Terraform.
	acceptance bool
	binary     string
}

// unit is what runs as one process: one top-level test that uses a lab, or all others of its package.
type unit struct {
	pkg *testPackage
	// test is empty for all tests of the package but those of without.
	test    string
	without []string
}

func (u unit) name() string {
	if u.test == "" {
		return u.pkg.path
	}
	return u.pkg.path + " " + u.test
}

// The names of tests that run in a process of their own: several tests of one package then run at a time, and each has its own
// processor time. Those of early start first, since operations of OpenStack and clusters take minutes.
var (
	alone = regexp.MustCompile(`^Test(Acc|Lab)|Example$|^TestCluster|^TestPairs$`)
	early = regexp.MustCompile(`(?i)openstack|kubespray|cluster|nodes|capo`)
)

// The order in which units start.
const (
	orderEarly = iota
	orderWhole
	orderAlone
)

// order puts the longest units first: tests of clusters and stacks, then the tests of whole packages, then single tests.
func (u unit) order() int {
	switch {
	case u.test == "":
		return orderWhole
	case early.MatchString(u.test):
		return orderEarly
	default:
		return orderAlone
	}
}

// acceptancePackage is imported by tests that drive the provider through Terraform.
const acceptancePackage = "/testsupport/acctest"

// list finds the packages of a module that have tests.
func list(ctx context.Context, root string, m module) ([]*testPackage, error) {
	args := append([]string{"list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles,TestImports,XTestImports"}, m.patterns...)
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
			TestImports  []string `json:"TestImports"`
			XTestImports []string `json:"XTestImports"`
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading the output of go list: %w", err)
		}
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
			continue
		}
		acceptance := slices.ContainsFunc(append(p.TestImports, p.XTestImports...), func(path string) bool {
			return strings.HasSuffix(path, acceptancePackage)
		})
		packages = append(packages, &testPackage{path: p.ImportPath, dir: p.Dir, module: m, acceptance: acceptance})
	}
}

func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = dir
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
	for _, p := range packages {
		args = append(args, p.path)
		p.binary = filepath.Join(folder, filepath.Base(p.path)+".test")
	}
	_, err := goCommand(ctx, packages[0].dir, args...)
	return err
}

// units are the processes that run the tests of a package: one for each test of a lab, and one for all others.
func (s *session) units(ctx context.Context, p *testPackage) ([]unit, error) {
	names, err := s.tests(ctx, p)
	if err != nil {
		return nil, err
	}
	var out []unit
	others := unit{pkg: p}
	for _, name := range names {
		if alone.MatchString(name) {
			out = append(out, unit{pkg: p, test: name})
			others.without = append(others.without, name)
		}
	}
	if len(out) == len(names) {
		return out, nil
	}
	return append(out, others), nil
}

// tests lists the top-level tests of a package that this run is to run.
func (s *session) tests(ctx context.Context, p *testPackage) ([]string, error) {
	match := "."
	if s.match != nil {
		match = s.match.String()
	}
	command := exec.CommandContext(ctx, p.binary, "-test.list="+match) //nolint:gosec // A test binary that was just built.
	command.Dir = p.dir
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the tests of %s: %w", p.path, err)
	}
	var names []string
	for name := range strings.FieldsSeq(string(out)) {
		// The list holds benchmarks, examples and fuzz targets as well; the seeds of the latter are tests.
		if !strings.HasPrefix(name, "Test") && !strings.HasPrefix(name, "Fuzz") && !strings.HasPrefix(name, "Example") {
			continue
		}
		names = append(names, name)
	}
	return names, nil
}
