package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReports: a program of another version, a prerelease and another product are not what was wanted. It runs before the parallel
// tests: a process that they start while a program is written would hold it open, and it could not be executed.
func TestReports(t *testing.T) { //nolint:paralleltest // see above
	for line, want := range map[string]bool{
		"Terraform v1.15.9":     true,
		"Terraform v1.15.9-dev": false,
		"Terraform v1.15.8":     false,
		"OpenTofu v1.15.9":      false,
	} {
		program := filepath.Join(t.TempDir(), "program")
		script := "#!/bin/sh\n[ \"$1\" = --version ] || exit 1\necho '" + line + "'\necho on linux_amd64\n"
		if err := os.WriteFile(program, []byte(script), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
		if err := products["terraform"].reports(t.Context(), program, "1.15.9"); (err == nil) != want {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// TestStubNestedModules: a folder that stands for a module gets a stub, a module that stands for another does not.
func TestStubNestedModules(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	const mod = `module example.com/main

go 1.25.0

replace example.com/main/backend/remote-state/kubernetes => ./backend/remote-state/kubernetes

replace example.com/main/legacy => ./legacy

replace example.com/other v1.0.0 => example.com/fork v1.0.1
`
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte(mod), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := stubNestedModules(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"backend/remote-state/kubernetes/go.mod":     "module example.com/main/backend/remote-state/kubernetes",
		"backend/remote-state/kubernetes/backend.go": "package kubernetes",
		"legacy/go.mod": "go 1.25.0",
	} {
		got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil || !strings.Contains(string(got), text) {
			t.Errorf("%s: %v\n%s", file, err, got)
		}
	}
	for _, file := range []string{"legacy/backend.go", "example.com"} {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(file))); !os.IsNotExist(err) {
			t.Errorf("%s is there: %v", file, err)
		}
	}
}
