package openstack

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
)

// The names of the archives: images as `docker save` writes them. The one is Docker's registry, which listens on port 5000 and
// keeps what it has in /var/lib/registry; the other, which is small, a shell with the usual commands.
const (
	registryArchive = "registry.tar"
	sampleArchive   = "sample.tar"
)

// archivePackages are Debian's, which the archives are made of.
func archivePackages() []string { return []string{"busybox-static", "docker-registry"} }

// registryConfig is that of the registry, in the place and form of the image that its makers publish: all of it can be
// overridden by variables REGISTRY_*.
const registryConfig = `version: 0.1
log:
  fields:
    service: registry
storage:
  cache:
    blobdescriptor: inmemory
  filesystem:
    rootdirectory: /var/lib/registry
  delete:
    enabled: true
http:
  addr: :5000
  headers:
    X-Content-Type-Options: [nosniff]
health:
  storagedriver:
    enabled: true
    interval: 10s
    threshold: 3
`

// archive is an image of one layer.
type archive struct {
	tag    string
	config map[string]any
	files  []archived
}

// archived is a file of an image, or a link when it has a target.
type archived struct {
	path    string
	content []byte
	mode    int64
	target  string
}

// provideArchives sees to the archives, and links them into the lab.
func (l *Lab) provideArchives(ctx context.Context) error {
	packages, image := l.systemRoot("archives"), l.imageRoot()
	if err := packages.ensure(ctx, archivePackages()); err != nil {
		return fmt.Errorf("fetching what images for Docker are made of: %w", err)
	}
	registry, err := registryImage(packages, image)
	if err != nil {
		return err
	}
	sample, err := sampleImage(packages)
	if err != nil {
		return err
	}
	for name, made := range map[string]archive{registryArchive: registry, sampleArchive: sample} {
		data, err := made.write()
		if err != nil {
			return fmt.Errorf("making %s: %w", name, err)
		}
		// A lab that has an earlier one keeps it.
		sum := sha256.Sum256(data)
		file := filepath.Join(packages.cache, hex.EncodeToString(sum[:6])+"-"+name)
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			if err := layout.WriteFile(file, data); err != nil {
				return err
			}
		}
		if err := link(file, filepath.Join(l.systemsFolder(), name)); err != nil {
			return err
		}
	}
	return nil
}

// registryImage is Docker's registry with the libraries that it needs.
func registryImage(packages, image root) (archive, error) {
	const program = "usr/bin/docker-registry"
	files, err := libraries(packages.path(program), image)
	if err != nil {
		return archive{}, err
	}
	data, err := os.ReadFile(packages.path(program))
	if err != nil {
		return archive{}, fmt.Errorf("reading the registry: %w", err)
	}
	const config = "/etc/docker/registry/config.yml"
	files = append(files,
		archived{path: "bin/registry", content: data, mode: 0o755},
		archived{path: config[1:], content: []byte(registryConfig), mode: 0o644},
	)
	return archive{
		tag: "registry:latest",
		config: map[string]any{
			"Entrypoint": []string{"/bin/registry"}, "Cmd": []string{"serve", config}, "Env": []string{"PATH=/bin"},
			"ExposedPorts": map[string]any{"5000/tcp": struct{}{}}, "Volumes": map[string]any{"/var/lib/registry": struct{}{}},
		},
		files: files,
	}, nil
}

// sampleImage is a shell.
func sampleImage(packages root) (archive, error) {
	data, err := os.ReadFile(packages.path("usr/bin/busybox"))
	if err != nil {
		return archive{}, fmt.Errorf("reading the shell: %w", err)
	}
	files := []archived{{path: "bin/busybox", content: data, mode: 0o755}}
	for _, name := range []string{"sh", "echo", "cat", "ls", "sleep", "true", "wget", "hostname"} {
		files = append(files, archived{path: "bin/" + name, target: "busybox"})
	}
	return archive{
		tag:    "sample:latest",
		config: map[string]any{"Cmd": []string{"/bin/sh"}, "Env": []string{"PATH=/bin"}},
		files:  files,
	}, nil
}

// libraries are the shared ones that a program needs, and the loader, from a root, where programs look for them.
func libraries(program string, from root) ([]archived, error) {
	var files []archived
	var add func(path string) error
	add = func(name string) error {
		needed, err := imported(name)
		if err != nil {
			return err
		}
		for _, library := range needed {
			found, err := filepath.Glob(from.path("usr", "lib", "*-linux-gnu*", library))
			if err != nil || len(found) == 0 {
				return fmt.Errorf("finding %s, which %s needs: %w", library, name, errors.Join(err, fs.ErrNotExist))
			}
			to := path.Join("lib", filepath.Base(filepath.Dir(found[0])), library)
			if slices.ContainsFunc(files, func(f archived) bool { return f.path == to }) {
				continue
			}
			data, err := os.ReadFile(found[0])
			if err != nil {
				return fmt.Errorf("reading a library: %w", err)
			}
			files = append(files, archived{path: to, content: data, mode: 0o755})
			if err := add(found[0]); err != nil {
				return err
			}
		}
		return nil
	}
	if err := add(program); err != nil {
		return nil, err
	}
	loader, err := interpreter(program)
	if err != nil || loader == "" {
		return files, err
	}
	data, err := os.ReadFile(from.path(loader))
	if err != nil {
		return nil, fmt.Errorf("reading the loader of programs: %w", err)
	}
	return append(files, archived{path: loader[1:], content: data, mode: 0o755}), nil
}

// imported are the names of the shared libraries that a program, or one of them, needs itself.
func imported(program string) ([]string, error) {
	file, err := elf.Open(program)
	if err != nil {
		return nil, fmt.Errorf("reading what %s needs: %w", program, err)
	}
	defer file.Close() //nolint:errcheck // It was read.
	needed, err := file.ImportedLibraries()
	if err != nil {
		return nil, fmt.Errorf("reading what %s needs: %w", program, err)
	}
	return needed, nil
}

// interpreter is the loader of a program; empty for one that needs none.
func interpreter(program string) (string, error) {
	file, err := elf.Open(program)
	if err != nil {
		return "", fmt.Errorf("reading what %s needs: %w", program, err)
	}
	defer file.Close() //nolint:errcheck // It was read.
	for _, part := range file.Progs {
		if part.Type != elf.PT_INTERP {
			continue
		}
		name := make([]byte, part.Filesz)
		if _, err := part.ReadAt(name, 0); err != nil {
			return "", fmt.Errorf("reading what %s needs: %w", program, err)
		}
		return string(bytes.TrimRight(name, "\x00")), nil
	}
	return "", nil
}

// write is the archive: the same for the same files.
func (a archive) write() ([]byte, error) {
	layer, err := pack(a.files)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(layer)
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux", "config": a.config,
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + hex.EncodeToString(sum[:])}},
	})
	if err != nil {
		return nil, fmt.Errorf("encoding the configuration: %w", err)
	}
	manifest, err := json.Marshal([]map[string]any{{"Config": "config.json", "RepoTags": []string{a.tag}, "Layers": []string{"layer.tar"}}})
	if err != nil {
		return nil, fmt.Errorf("encoding the manifest: %w", err)
	}
	return pack([]archived{
		{path: "manifest.json", content: manifest, mode: 0o644},
		{path: "config.json", content: config, mode: 0o644},
		{path: "layer.tar", content: layer, mode: 0o644},
	})
}

func pack(files []archived) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, file := range files {
		header := &tar.Header{Name: file.path, Mode: file.mode, Size: int64(len(file.content)), Typeflag: tar.TypeReg}
		if file.target != "" {
			header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, file.target, 0o777
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("packing %s: %w", file.path, err)
		}
		if _, err := w.Write(file.content); err != nil {
			return nil, fmt.Errorf("packing %s: %w", file.path, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("packing an image: %w", err)
	}
	return out.Bytes(), nil
}
