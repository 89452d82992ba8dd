package install

import (
	"context"
	"fmt"
	"path"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

// Remove removes the container of a registry, its image and its files, and with removeData the images that were pushed to it. The
// engine and a foreign container of the same name stay. Missing parts are not an error.
func Remove(ctx context.Context, client *remote.Client, c Config, removeData bool) error {
	i := &installer{Config: c.completed(), client: client, report: func(string) {}}
	i.engine = engines[i.Runtime]
	if err := i.remove(ctx, removeData); err != nil {
		return fmt.Errorf("removing the registry %s from %s: %w", i.Name, client.Name(), err)
	}
	return nil
}

func (i *installer) remove(ctx context.Context, removeData bool) error {
	if err := i.readHost(ctx); err != nil {
		return err
	}
	if i.found.present && i.found.version == "" && i.note.Container != nil {
		// The next start of the engine would start the container again.
		if err := i.startEngine(ctx); err != nil {
			return err
		}
	}
	if last := i.note.Container; last != nil && last.Runtime != i.Runtime {
		// An update to another engine was interrupted before it removed the former container.
		if err := i.removeContainer(ctx, engines[last.Runtime]); err != nil {
			return err
		}
	}
	if i.found.container && i.found.digest != "" {
		if err := i.removeContainer(ctx, i.engine); err != nil {
			return err
		}
	}
	if i.found.version != "" && i.note.Image != "" {
		if err := i.do(ctx, call{what: "remove the image " + i.note.Reference, function: []string{"forget_image", i.note.Image}}); err != nil {
			return err
		}
	}
	if removeData {
		// Foreign files stay, and so does the folder, which may be the root of a volume.
		err := i.do(ctx, call{what: "remove the images in " + i.StoragePath, function: []string{"remove_data", i.StoragePath}})
		if err != nil {
			return err
		}
	}
	return i.do(ctx, call{what: "remove " + i.folder(), function: []string{"remove_folder", i.folder(), path.Dir(i.folder()), i.dropIn()}})
}

// removeContainer removes the container of an engine, and its unit.
func (i *installer) removeContainer(ctx context.Context, e engine) error {
	_, err := i.client.Run(ctx, e.command(call{what: "remove the container " + i.Name, function: []string{"remove", i.Name, i.unit(), i.unitFile()}}))
	return err
}
