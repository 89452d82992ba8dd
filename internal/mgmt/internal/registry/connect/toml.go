package connect

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
)

// The plugins of containerd with registries, by version of the configuration. A configuration without a version has version 1.
const (
	pluginV1 = "cri"
	pluginV2 = "io.containerd.grpc.v1.cri"
	pluginV3 = "io.containerd.cri.v1.images"
)

// containerdSettings are the settings for registries in a configuration of containerd.
type containerdSettings struct {
	plugin string
	// configPath is the first folder with a hosts.toml for each registry; empty if unset.
	configPath string
	// disabled says that the plugin is disabled, so that no kubelet uses this containerd.
	disabled bool
	// former are the settings that containerd rejects together with a configPath. mirrors are the registries of the former settings
	// registry.mirrors; sole says that there are no other former settings.
	former  []string
	mirrors []string
	sole    bool
}

// readContainerd reads a configuration of containerd.
func readContainerd(text string) (containerdSettings, error) {
	var config struct {
		Version         int            `toml:"version"`
		DisabledPlugins []string       `toml:"disabled_plugins"`
		Plugins         map[string]any `toml:"plugins"`
	}
	if _, err := toml.Decode(text, &config); err != nil {
		return containerdSettings{}, err
	}
	out := containerdSettings{}
	switch config.Version {
	case 0, 1:
		out.plugin = pluginV1
	case 2:
		out.plugin = pluginV2
	case 3:
		out.plugin = pluginV3
	default:
		return out, fmt.Errorf("version %d of the configuration is not known", config.Version)
	}
	for _, name := range []string{pluginV1, pluginV2, pluginV3} {
		out.disabled = out.disabled || slices.Contains(config.DisabledPlugins, name)
	}
	registry := table(table(config.Plugins[out.plugin])["registry"])
	path, _ := registry["config_path"].(string)
	out.configPath, _, _ = strings.Cut(path, ":")
	for _, name := range slices.Sorted(maps.Keys(table(registry["mirrors"]))) {
		out.former, out.mirrors = append(out.former, fmt.Sprintf("registry.mirrors.%q", name)), append(out.mirrors, name)
	}
	for _, name := range slices.Sorted(maps.Keys(table(registry["configs"]))) {
		if table(table(registry["configs"])[name])["tls"] != nil {
			out.former = append(out.former, fmt.Sprintf("registry.configs.%q.tls", name))
		}
	}
	out.sole = len(out.former) == len(out.mirrors)
	return out, nil
}

func table(value any) map[string]any {
	t, _ := value.(map[string]any)
	return t
}

var (
	headerForm     = lazyregexp.New(`^\s*\[\s*([^\[\]]+?)\s*\]\s*(#.*)?$`)
	configPathForm = lazyregexp.New(`^(\s*)config_path\s*=.*$`)
)

// withConfigPath sets config_path in a configuration of containerd, and changes nothing else in its text. An empty text becomes a
// configuration that every containerd since 1.3 accepts.
func withConfigPath(text, folder string) (string, error) {
	if strings.TrimSpace(text) == "" {
		text = "version = 2\n"
	}
	settings, err := readContainerd(text)
	if err != nil {
		return "", err
	}
	header := []string{"plugins", settings.plugin, "registry"}
	line := fmt.Sprintf("config_path = %q", folder)
	lines, at := strings.Split(strings.TrimRight(text, "\n"), "\n"), -1
	for i, l := range lines {
		if m := headerForm.FindStringSubmatch(l); m != nil && slices.Equal(keys(m[1]), header) {
			at = i
		}
	}
	if at < 0 {
		lines = append(lines, "", fmt.Sprintf("[plugins.%q.registry]", settings.plugin), "  "+line)
	} else {
		indent := lines[at][:len(lines[at])-len(strings.TrimLeft(lines[at], " \t"))] + "  "
		done := false
		for i := at + 1; i < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[i]), "["); i++ {
			if m := configPathForm.FindStringSubmatch(lines[i]); m != nil {
				lines[i], done = m[1]+line, true
			}
		}
		if !done {
			lines = slices.Insert(lines, at+1, indent+line)
		}
	}
	out := strings.Join(lines, "\n") + "\n"
	if err := sameBut("config_path", text, out, settings.plugin); err != nil {
		return "", err
	}
	return out, nil
}

// withoutMirrors removes the tables of mirrors from a configuration of containerd, and changes nothing else in its text.
func withoutMirrors(text, plugin string) (string, error) {
	of := []string{"plugins", plugin, "registry", "mirrors"}
	var kept []string
	inside := false
	for line := range strings.Lines(text) {
		if m := headerForm.FindStringSubmatch(line); m != nil {
			name := keys(m[1])
			inside = len(name) >= len(of) && slices.Equal(name[:len(of)], of)
		}
		if !inside {
			kept = append(kept, line)
		}
	}
	out := strings.Join(kept, "")
	if err := sameBut("mirrors", text, out, plugin); err != nil {
		return "", err
	}
	if settings, err := readContainerd(out); err != nil || len(settings.mirrors) > 0 {
		return "", errUneditable
	}
	return out, nil
}

// keys returns the parts of the name of a table.
func keys(name string) []string {
	var out []string
	for name != "" {
		var part string
		if quote := name[:1]; quote == `"` || quote == `'` {
			part, name, _ = strings.Cut(name[1:], quote)
			name = strings.TrimLeft(name, " \t")
		} else {
			end := strings.IndexByte(name, '.')
			if end < 0 {
				end = len(name)
			}
			part, name = strings.TrimSpace(name[:end]), name[end:]
		}
		out = append(out, part)
		name = strings.TrimLeft(strings.TrimPrefix(name, "."), " \t")
	}
	return out
}

var errUneditable = errors.New("its tables are written in a form that cannot be edited")

// sameBut rejects an edited configuration that differs from the former one in more than a setting of registries.
func sameBut(setting, before, after, plugin string) error {
	var old, edited map[string]any
	if _, err := toml.Decode(before, &old); err != nil {
		return err
	}
	if _, err := toml.Decode(after, &edited); err != nil {
		return fmt.Errorf("%w: %w", errUneditable, err)
	}
	for _, config := range []map[string]any{old, edited} {
		delete(table(table(table(config["plugins"])[plugin])["registry"]), setting)
	}
	if !reflect.DeepEqual(pruned(old), pruned(edited)) {
		return errUneditable
	}
	return nil
}

// pruned leaves out empty tables, which have no effect.
func pruned(t map[string]any) map[string]any {
	out := map[string]any{}
	for name, value := range t {
		if inner, ok := value.(map[string]any); ok {
			if inner = pruned(inner); len(inner) == 0 {
				continue
			}
			value = inner
		}
		out[name] = value
	}
	return out
}
