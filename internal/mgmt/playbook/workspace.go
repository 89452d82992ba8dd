package playbook

import (
	"archive/tar"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// maxFolder bounds the folder of a playbook, which is read into memory.
const maxFolder = 64 << 20

const (
	// extractScript unpacks the playbooks into a folder of their own.
	extractScript = `umask 077; mkdir "$1" && tar -xof - -C "$1"`
	// cleanupTimeout bounds the removal, which also follows a cancelled operation.
	cleanupTimeout = time.Minute
	removeScript   = `rm -rf -- "$1"`
)

//
//go:embed make.sh
var makeScript string

// workspace is a folder on the host of Ansible that other users cannot read.
type workspace struct {
	host   remote.Host
	call   *vnfm.HookCall
	client *remote.Client
	folder string
}

func (w *workspace) playbooks() string { return path.Join(w.folder, "playbooks") }
func (w *workspace) inventory() string { return path.Join(w.folder, "inventory.yml") }

func (w *workspace) dial(ctx context.Context, patience time.Duration) (err error) {
	h := w.host
	h.Pins, h.PinName = w.call.HostKeys, "ansible/"+h.Address
	if w.client, err = remote.Dial(ctx, h, patience); err != nil {
		return fmt.Errorf("reaching the host of Ansible: %w", err)
	}
	return nil
}

// open creates the folder and removes the folders of killed runs.
func (w *workspace) open(ctx context.Context) error {
	w.call.Recorder.Progress(ctx, "connecting to the host of Ansible "+w.host.Address)
	if err := w.dial(ctx, 0); err != nil {
		return err
	}
	made, err := w.client.Run(ctx, remote.Command{What: "making a folder for the playbook", Script: makeScript, Args: []string{w.call.Instance.ID}})
	if err != nil {
		_ = w.client.Close()
		return err
	}
	w.folder = strings.TrimSpace(made.Stdout)
	return nil
}

// close removes the folder, over a new connection if the first one broke.
func (w *workspace) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	remove := func() error {
		_, err := w.client.Run(ctx, remote.Command{What: "removing the folder of the playbook", Script: removeScript, Args: []string{w.folder}})
		return err
	}
	err := remove()
	_ = w.client.Close()
	if _, broken := errors.AsType[*remote.ConnectionError](err); !broken {
		return err
	}
	if err := w.dial(ctx, cleanupTimeout); err != nil {
		return err
	}
	defer func() { _ = w.client.Close() }()
	return remove()
}

// fill copies the folder of the playbook, the inventory and the keys.
func (w *workspace) fill(ctx context.Context, t *task, i *inventory) error {
	packed, err := pack(w.call.Package.ContentIn(ctx), t.folder())
	if err != nil {
		return err
	}
	if _, err := w.client.Run(ctx, remote.Command{
		What: "copying folder " + t.folder() + " of the package", Script: extractScript, Args: []string{w.playbooks()}, Stdin: bytes.NewReader(packed),
	}); err != nil {
		return err
	}
	text, err := i.encode(w.folder)
	if err != nil {
		return fmt.Errorf("writing the inventory: %w", err)
	}
	files := []remote.File{{Path: w.inventory(), Content: text}}
	for _, vdu := range i.vdus {
		if key := i.access[vdu].Login.PrivateKey; key != "" {
			files = append(files, remote.File{Path: path.Join(w.folder, i.keyFile(vdu)), Content: []byte(strings.TrimRight(key.Reveal(), "\n") + "\n")})
		}
	}
	for _, f := range files {
		f.Mode = 0o600
		if _, err := w.client.WriteFile(ctx, f); err != nil {
			return fmt.Errorf("writing the inventory: %w", err)
		}
	}
	return nil
}

// pack returns a folder of a package as a tar archive of at most 64 MiB.
func pack(files fs.FS, folder string) ([]byte, error) {
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	err := fs.WalkDir(files, folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == folder {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		h := &tar.Header{Name: strings.TrimPrefix(name, folder+"/"), Mode: 0o700, Typeflag: tar.TypeDir}
		switch {
		case info.IsDir():
			return archive.WriteHeader(h)
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is neither a file nor a folder", name)
		case int64(out.Len())+info.Size() > maxFolder:
			return fmt.Errorf("it has more than %d MiB", maxFolder>>20)
		}
		// Modules and dynamic inventories must stay executable.
		h.Mode, h.Typeflag, h.Size = int64(0o600|info.Mode().Perm()&0o100), tar.TypeReg, info.Size()
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		if err := archive.WriteHeader(h); err != nil {
			return err
		}
		_, err = archive.Write(data)
		return err
	})
	if err == nil {
		err = archive.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("reading folder %s of the package: %w", folder, err)
	}
	return out.Bytes(), nil
}
