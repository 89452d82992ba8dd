package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// backendStub stands for a remote state backend of Terraform whose module the proxy does not serve. State kept "there"
// lives in memory.
const backendStub = `package %s

import (
	"github.com/hashicorp/terraform/internal/backend"
	"github.com/hashicorp/terraform/internal/backend/remote-state/inmem"
)

// New returns the in-memory backend.
func New() backend.Backend { return inmem.New() }
`

// build compiles the named version into dir. The product is the main module of the build, in a copy of its source: its own
// go.mod and go.sum fix every dependency, and its replacements hold, for which `go install` refuses it. Nested modules (of
// Terraform nine remote state backends and internal/legacy) are not served by the module proxy and are replaced by stubs.
func build(ctx context.Context, p product, version, dir string) (string, error) {
	fmt.Fprintf(os.Stderr, "building %s %s from the Go module proxy: several minutes of processor time\n", p.title, version)
	cached, err := downloadModule(ctx, p, version, dir)
	if err != nil {
		return "", err
	}
	root := filepath.Join(dir, "source")
	if err := os.CopyFS(root, os.DirFS(cached)); err != nil {
		return "", fmt.Errorf("copy the source of %s %s: %w", p.title, version, err)
	}
	if err := stubNestedModules(ctx, root); err != nil {
		return "", err
	}
	program := filepath.Join(dir, "program")
	ldflags := "-s -w -X " + p.variable + "=" + strings.ReplaceAll(p.stamp, "%s", version)
	if _, err := runGo(ctx, root, "build", "-trimpath", "-ldflags", ldflags, "-o", program, p.program); err != nil {
		return "", fmt.Errorf("build %s %s: %w", p.title, version, err)
	}
	return program, nil
}

// downloadModule returns the folder of the module cache that holds the source; the checksum database vouches for it.
func downloadModule(ctx context.Context, p product, version, dir string) (string, error) {
	out, err := runGo(ctx, dir, "mod", "download", "-json", p.module+"@v"+version)
	var module struct {
		Dir   string `json:"Dir"`
		Error string `json:"Error"`
	}
	if jsonErr := json.Unmarshal(out, &module); jsonErr == nil && module.Error != "" {
		return "", fmt.Errorf("download module %s v%s: %s", p.module, version, module.Error)
	}
	if err != nil {
		return "", fmt.Errorf("download module %s v%s: %w", p.module, version, err)
	}
	if module.Dir == "" {
		return "", fmt.Errorf("download module %s v%s: go named no folder", p.module, version)
	}
	return module.Dir, nil
}

// stubNestedModules writes a module into every folder inside root that go.mod in root has as a replacement. A replacement
// by another module is left alone.
func stubNestedModules(ctx context.Context, root string) error {
	out, err := runGo(ctx, root, "mod", "edit", "-json")
	if err != nil {
		return fmt.Errorf("read go.mod of the source: %w", err)
	}
	type modulePath struct {
		Path string `json:"Path"`
	}
	var mod struct {
		Go      string `json:"Go"`
		Replace []struct {
			Old modulePath `json:"Old"`
			New modulePath `json:"New"`
		} `json:"Replace"`
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		return fmt.Errorf("read go.mod of the source: %w", err)
	}
	for _, replace := range mod.Replace {
		if !strings.HasPrefix(replace.New.Path, "./") {
			continue
		}
		files := map[string]string{"go.mod": fmt.Sprintf("module %s\n\ngo %s\n", replace.Old.Path, mod.Go)}
		if name := path.Base(replace.Old.Path); path.Base(path.Dir(replace.Old.Path)) == "remote-state" {
			files["backend.go"] = fmt.Sprintf(backendStub, name)
		}
		for name, content := range files {
			file := filepath.Join(root, filepath.FromSlash(replace.New.Path), name)
			if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
				return fmt.Errorf("stub module %s: %w", replace.Old.Path, err)
			}
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				return fmt.Errorf("stub module %s: %w", replace.Old.Path, err)
			}
		}
	}
	return nil
}

// runGo runs the go command in dir and returns its standard output.
func runGo(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	// A workspace or module flags of the caller belong to another module. Tables for debuggers would cost a fifth of the time.
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false -gcflags=all=-dwarf=false", "CGO_ENABLED=0")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.Bytes(), fmt.Errorf("go %s: %w\n%s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.Bytes(), nil
}
