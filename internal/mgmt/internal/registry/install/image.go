package install

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// installImage loads the image from its archive, or pulls it, unless the host has it.
func (i *installer) installImage(ctx context.Context) error {
	if i.note.Source == i.source() && i.note.Image != "" {
		present, err := i.imageID(ctx, i.note.Image)
		if err != nil {
			return err
		}
		if present == i.note.Image {
			return nil
		}
	}
	reference, err := i.fetchImage(ctx)
	if err != nil {
		return err
	}
	id, err := i.imageID(ctx, reference)
	if err != nil {
		return err
	}
	if id == "" {
		return fmt.Errorf("%s does not have the image %s, although it has just loaded it", i.Runtime, reference)
	}
	i.note.Source, i.note.Image, i.note.Reference = i.source(), id, reference
	return i.writeNote(ctx)
}

// imageID is the engine's id of an image; empty if the engine does not have the image.
func (i *installer) imageID(ctx context.Context, reference string) (string, error) {
	out, err := i.ask(ctx, "look for the image "+reference, "image", reference)
	return strings.TrimSpace(out), err
}

// fetchImage loads or pulls the image and returns its name.
func (i *installer) fetchImage(ctx context.Context) (string, error) {
	if i.Archive == nil {
		i.report("pulling " + i.Image)
		err := i.do(ctx, call{
			what: "pull " + i.Image, function: []string{"pull", i.Image}, env: i.Proxy.environment(), secrets: i.secrets(), timeout: imageTimeout,
		})
		if err != nil {
			return "", i.imageError(ctx, "engine", fmt.Errorf("pulling the image %s: %w; where the host does not reach its registry, give the image as a file of the package in image_path, or a proxy", i.Image, err))
		}
		return i.Image, nil
	}
	found, err := i.Archive.read()
	if err != nil {
		return "", fmt.Errorf("reading the archive of the image: %s: %w", i.Archive.Path, err)
	}
	name, image, err := found.choose(i.Image)
	if err != nil {
		return "", fmt.Errorf("finding the image in %s: %w", i.Archive.Path, err)
	}
	if host := machines[i.found.machine]; image.architecture != "" && image.architecture != host {
		return "", fmt.Errorf("the image %s in %s is for %s, and %s is a machine of %s: save the image of that architecture", name, i.Archive.Path, image.architecture, i.client.Name(), host)
	}
	if err := i.load(ctx, name); err != nil {
		return "", err
	}
	return canonical(name), nil
}

// load checks the free space on the host, copies the archive there and loads it. It uses a complete copy of an earlier run, and removes
// the copy at the end.
func (i *installer) load(ctx context.Context, name string) error {
	for _, folder := range []string{"upload", "engine"} {
		place, free := i.space(ctx, folder)
		if free >= 0 && free < i.Archive.Size {
			return fmt.Errorf("the disk of %s is too full for the image %s: %s has %s free, but %s has %s",
				i.client.Name(), name, place, size(free), i.Archive.Path, size(i.Archive.Size))
		}
	}
	i.report(fmt.Sprintf("loading %s from %s (%s)", name, i.Archive.Path, size(i.Archive.Size)))
	copied, err := i.ask(ctx, "make room for the image", "receive", i.uploadFolder(), archiveName, i.Archive.Digest)
	if err != nil {
		return err
	}
	if copied == "" {
		if err := i.upload(ctx); err != nil {
			return err
		}
	}
	err = i.do(ctx, call{what: "load the image " + name, function: []string{"load_archive", i.uploadFolder(), archiveName, i.Archive.Digest, canonical(name)}, timeout: imageTimeout})
	if err != nil {
		return i.imageError(ctx, "engine", err)
	}
	return nil
}

const archiveName = "image.tar"

// uploadFolder holds the archive while it is loaded. /tmp is avoided because it may be in memory.
func (c Config) uploadFolder() string { return "/var/tmp/private-registry-" + c.Name }

func (i *installer) upload(ctx context.Context) error {
	file, err := i.Archive.Open()
	if err != nil {
		return fmt.Errorf("opening the archive of the image: %s: %w", i.Archive.Path, err)
	}
	defer func() { _ = file.Close() }()
	ctx, cancel := context.WithTimeout(ctx, imageTimeout)
	defer cancel()
	if err := i.client.Upload(ctx, path.Join(i.uploadFolder(), archiveName), i.Archive.Size, file, 0o600, true); err != nil {
		return i.imageError(ctx, "upload", fmt.Errorf("copying %s to the host: %w", i.Archive.Path, err))
	}
	return nil
}

// forgetImage removes the image that an update has replaced, also from another engine.
func (i *installer) forgetImage(ctx context.Context, before note) error {
	if before.Container == nil || before.Image == "" {
		return nil
	}
	runtime := before.Container.Runtime
	if runtime == i.Runtime && before.Image == i.note.Image {
		return nil
	}
	_, err := i.client.Run(ctx, engines[runtime].command(call{what: "remove the former image " + before.Reference, function: []string{"forget_image", before.Image}}))
	return err
}

// imageError adds the free space to the error of a full disk.
func (i *installer) imageError(ctx context.Context, folder string, err error) error {
	if !strings.Contains(strings.ToLower(err.Error()), "no space left on device") {
		return err
	}
	place, free := i.space(ctx, folder)
	if free < 0 {
		return fmt.Errorf("the disk of %s is full: %w", i.client.Name(), err)
	}
	return fmt.Errorf("the disk of %s is full: %s has %s free now: %w", i.client.Name(), place, size(free), err)
}

// space returns the path and the free bytes (-1 if unknown) of a folder that needs space for an image: "upload" or "engine".
func (i *installer) space(ctx context.Context, folder string) (place string, free int64) {
	function := []string{"engine_space"}
	if folder == "upload" {
		function = []string{"space", path.Dir(i.uploadFolder())}
	}
	out, err := i.ask(ctx, "ask how much space there is", function...)
	if err != nil {
		return "", -1
	}
	values := pairs(out)
	if free, err = strconv.ParseInt(values["space"], 10, 64); err != nil {
		return "", -1
	}
	return values["folder"], free
}

// size formats a number of bytes.
func size(bytes int64) string {
	const unit = 1 << 20
	if bytes < unit {
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	if bytes < unit<<10 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(unit<<10))
}
