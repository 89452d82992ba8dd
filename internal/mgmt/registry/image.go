package registry

import (
	"context"
	"fmt"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

// installImage loads the image from its archive, or pulls it, unless it is there.
func (i *installer) installImage(ctx context.Context) error {
	if i.note.Source == i.source() && i.note.Image != "" {
		present, err := i.imageID(ctx, i.note.lookup(i.Runtime))
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
		return fmt.Errorf("%s does not know the image %s, although it has just taken it", i.Runtime, reference)
	}
	i.note.Source, i.note.Image, i.note.Reference = i.source(), id, reference
	return i.writeNote(ctx)
}

// lookup is what an engine finds an image by: containerd knows names alone.
func (n note) lookup(runtime Runtime) string {
	if runtime == Containerd {
		return n.Reference
	}
	return n.Image
}

// imageID is what the engine identifies an image by; empty when it has none.
func (i *installer) imageID(ctx context.Context, reference string) (string, error) {
	out, err := i.do(ctx, call{what: "look for the image " + reference, function: []string{"image", reference}})
	return strings.TrimSpace(out), err
}

// fetchImage has the engine take the image, and returns its name.
func (i *installer) fetchImage(ctx context.Context) (string, error) {
	if i.Archive == nil {
		i.report("pulling " + i.Image)
		_, err := i.do(ctx, call{
			what: "pull " + i.Image, function: []string{"pull", i.Image}, env: i.Proxy.environment(), secrets: i.secrets(), timeout: imageTimeout,
		})
		if err != nil {
			return "", i.imageError(ctx, fmt.Errorf("pulling the image %s: %w; where the host does not reach its registry, give the image as a file of the package in image_path, or a proxy", i.Image, err))
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
	if folder, free := i.space(ctx); free >= 0 && free < i.Archive.Size {
		return "", fmt.Errorf("the disk of %s is too full for the image %s: %s has %s free, and the archive %s alone has %s",
			i.client.Name(), name, folder, size(free), i.Archive.Path, size(i.Archive.Size))
	}
	i.report(fmt.Sprintf("loading %s from %s (%s)", name, i.Archive.Path, size(i.Archive.Size)))
	file, err := i.Archive.Open()
	if err != nil {
		return "", fmt.Errorf("opening the archive of the image: %s: %w", i.Archive.Path, err)
	}
	defer func() { _ = file.Close() }()
	// The engine reads the archive as it comes, so that no copy of it is ever on the host.
	if _, err := i.do(ctx, call{what: "load the image " + name, function: []string{"load"}, stdin: file, timeout: imageTimeout}); err != nil {
		return "", i.imageError(ctx, fmt.Errorf("loading the image %s: %w", name, err))
	}
	return canonical(name), nil
}

// forgetImage removes the image that an update took the place of.
func (i *installer) forgetImage(ctx context.Context, before note) error {
	known := before.lookup(i.Runtime)
	if known == "" || known == i.note.lookup(i.Runtime) || before.Container == nil || before.Container.Runtime != i.Runtime {
		return nil
	}
	_, err := i.do(ctx, call{what: "remove the former image " + before.Reference, function: []string{"forget_image", known}})
	return err
}

// imageError adds what is free where the disk was full.
func (i *installer) imageError(ctx context.Context, err error) error {
	if !strings.Contains(err.Error(), "no space left on device") {
		return err
	}
	if folder, free := i.space(ctx); free >= 0 {
		return fmt.Errorf("the disk of %s is full: %s has %s free now: %w", i.client.Name(), folder, size(free), err)
	}
	return fmt.Errorf("the disk of %s is full: %w", i.client.Name(), err)
}

// size writes a number of bytes for people.
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

// remove removes the container of an engine, and its unit.
func remove(ctx context.Context, client *remote.Client, c Config, e engine) error {
	_, err := e.run(ctx, client, call{what: "remove the container " + c.Name, function: []string{"remove", c.Name, c.unit(), c.unitFile()}})
	if text := said(err); text != "" {
		return fmt.Errorf("%w: %s", err, text)
	}
	return err
}
