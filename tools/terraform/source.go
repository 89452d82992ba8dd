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
)

const terraformModule = "github.com/hashicorp/terraform"

// backendStub stands for a remote state backend whose module the proxy does not serve. State kept "there" lives in memory.
const backendStub = `package %s

import (
	"github.com/hashicorp/terraform/internal/backend"
	"github.com/hashicorp/terraform/internal/backend/remote-state/inmem"
)

// New returns the in-memory backend.
func New() backend.Backend { return inmem.New() }
`

// build compiles the named version into dir. Terraform's own go.mod and go.sum fix every dependency; its nested modules
// (nine remote state backends and internal/legacy) are not served by the module proxy and are replaced by stubs.
func build(ctx context.Context, version, dir string) (string, error) {
	module, err := downloadModule(ctx, version, dir)
	if err != nil {
		return "", err
	}
	source := filepath.Join(dir, "source")
	if err := os.CopyFS(source, os.DirFS(module)); err != nil {
		return "", fmt.Errorf("copy the source of terraform %s: %w", version, err)
	}
	if err := stubNestedModules(ctx, source); err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "terraform")
	// The linker flag takes the "-dev" from the version that the binary reports.
	ldflags := "-s -w -X " + terraformModule + "/version.dev=no"
	if _, err := runGo(ctx, source, "build", "-trimpath", "-ldflags", ldflags, "-o", binary, "."); err != nil {
		return "", fmt.Errorf("build terraform %s: %w", version, err)
	}
	return binary, nil
}

// downloadModule returns the folder of the module cache that holds the source; the checksum database vouches for it.
func downloadModule(ctx context.Context, version, dir string) (string, error) {
	out, err := runGo(ctx, dir, "mod", "download", "-json", terraformModule+"@v"+version)
	var module struct {
		Dir   string `json:"Dir"`
		Error string `json:"Error"`
	}
	if jsonErr := json.Unmarshal(out, &module); jsonErr == nil && module.Error != "" {
		return "", fmt.Errorf("download module %s v%s: %s", terraformModule, version, module.Error)
	}
	if err != nil {
		return "", fmt.Errorf("download module %s v%s: %w", terraformModule, version, err)
	}
	if module.Dir == "" {
		return "", fmt.Errorf("download module %s v%s: go named no folder", terraformModule, version)
	}
	return module.Dir, nil
}

// stubNestedModules writes a module into every folder that go.mod in source replaces by a path.
func stubNestedModules(ctx context.Context, source string) error {
	out, err := runGo(ctx, source, "mod", "edit", "-json")
	if err != nil {
		return fmt.Errorf("read terraform's go.mod: %w", err)
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
		return fmt.Errorf("read terraform's go.mod: %w", err)
	}
	for _, replace := range mod.Replace {
		if !filepath.IsLocal(replace.New.Path) {
			continue
		}
		files := map[string]string{"go.mod": fmt.Sprintf("module %s\n\ngo %s\n", replace.Old.Path, mod.Go)}
		if name := path.Base(replace.Old.Path); path.Base(path.Dir(replace.Old.Path)) == "remote-state" {
			files["backend.go"] = fmt.Sprintf(backendStub, name)
		}
		for name, content := range files {
			file := filepath.Join(source, filepath.FromSlash(replace.New.Path), name)
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
	// A workspace or module flags of the caller belong to another module.
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false", "CGO_ENABLED=0")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.Bytes(), fmt.Errorf("go %s: %w\n%s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.Bytes(), nil
}
