package install

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

// State is the state of a registry on its host.
type State struct {
	// System is the name of the operating system, EngineVersion the version of the engine.
	System, EngineVersion string
	// Installed says that the container exists, Running that it runs, Ready that the registry answers as expected.
	Installed, Running, Ready bool
	// Image is the engine's id of the image. ImageSource is the digest of its archive, or its reference.
	Image, ImageSource string
	Port               int
	// Drift lists the differences from the desired state, by the names of the arguments if possible. The next Apply corrects them.
	Drift []string
}

// state returns the state after an installation.
func (i *installer) state() State {
	return State{
		System: i.found.system, EngineVersion: i.found.version,
		Installed: true, Running: true, Ready: true,
		Image: i.note.Image, ImageSource: i.note.Source, Port: i.Port,
	}
}

// Read reads the state of a registry and changes nothing. The config needs only the digest of an archive, and no secrets: empty
// passwords and an empty key are taken to equal the host's.
func Read(ctx context.Context, client *remote.Client, c Config) (State, error) {
	i := &installer{Config: c.completed(), client: client, report: func(string) {}}
	i.engine = engines[i.Runtime]
	if err := i.readHost(ctx); err != nil {
		return State{}, fmt.Errorf("reading the registry %s: %w", i.Name, err)
	}
	state := State{
		System: i.found.system, EngineVersion: i.found.version,
		Installed: i.found.container && i.found.digest != "", Running: i.found.running, Image: i.note.Image, ImageSource: i.note.Source,
		Port: i.Port,
	}
	if i.note.Container != nil {
		state.Port = i.note.Container.Port
		if i.found.present && i.found.version == "" {
			// Without its engine the container cannot be read; it is assumed to exist.
			state.Installed, state.Drift = true, []string{string(i.Runtime) + " does not answer"}
			return state, nil
		}
	}
	if !state.Installed {
		state.Drift = []string{"the container " + i.Name + " is missing"}
		return state, nil
	}
	drift, err := i.drift(ctx)
	if err != nil {
		return State{}, fmt.Errorf("reading the registry %s on %s: %w", i.Name, client.Name(), err)
	}
	state.Drift = drift
	if !state.Running {
		state.Drift = append(state.Drift, "the container "+i.Name+" does not run: it is "+i.found.status)
		return state, nil
	}
	if err := i.answers(ctx, client); err != nil {
		if ctx.Err() != nil {
			return State{}, ctx.Err()
		}
		state.Drift = append(state.Drift, err.Error())
		return state, nil
	}
	state.Ready = true
	return state, nil
}

// drift compares the container, the note and the files on the host with the config.
func (i *installer) drift(ctx context.Context) ([]string, error) {
	wanted, err := i.wantedFiles(ctx)
	if err != nil {
		return nil, err
	}
	if i.Secure() && i.Key == "" {
		delete(wanted, fileKey)
	}
	sums := map[string]string{}
	for name, content := range wanted {
		sums[name] = sum(content)
	}
	if i.Secure() && i.Key == "" {
		sums[fileKey] = i.found.files[fileKey]
	}
	var out []string
	image := i.note
	if i.note.Source != i.source() {
		out = append(out, fmt.Sprintf("image is from %s", strings.TrimSpace("another file "+i.note.Source)))
	} else if present, err := i.imageID(ctx, i.note.Image); err != nil {
		return nil, err
	} else if present != i.note.Image {
		out = append(out, "image is missing on the host")
	}
	target := i.spec(image, sums)
	switch {
	case i.note.Container == nil || i.note.Container.digest() != i.found.digest:
		if i.found.digest != target.digest() {
			out = append(out, "the container was created with other settings")
		}
	default:
		out = append(out, i.note.Container.differences(target)...)
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		if i.found.files[name] != sums[name] && !slices.Contains(out, attributes[name]) {
			out = append(out, attributes[name])
		}
	}
	return out, nil
}
