package connect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// mark is the first line of files that the provider alone writes.
const mark = "# Managed by terraform-provider-vnf: changes are overwritten."

// registriesConf lists the registries without TLS, for CRI-O and other readers of the same files. HTTPS needs no entry.
func registriesConf(connections []Connection) []byte {
	var b strings.Builder
	for _, c := range connections {
		if c.Type == HTTP {
			fmt.Fprintf(&b, "\n[[registry]]\nlocation = %q\ninsecure = true\n", c.Server)
		}
	}
	if b.Len() == 0 {
		return nil
	}
	return []byte(mark + "\n" + b.String())
}

// object is a JSON object. Unknown keys are preserved.
type object map[string]json.RawMessage

func readObject(text []byte) (object, error) {
	out := object{}
	if len(bytes.TrimSpace(text)) == 0 {
		return out, nil
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, err
	}
	if out == nil {
		out = object{}
	}
	return out, nil
}

func (o object) set(name string, value any) {
	// Encoding maps and lists of strings cannot fail.
	text, _ := json.Marshal(value)
	o[name] = text
}

func (o object) text() []byte {
	text, _ := json.MarshalIndent(o, "", "  ")
	return append(text, '\n')
}

// withInsecure adds the wanted registries to Docker's daemon.json and removes former ones that are no longer wanted. added are the
// wanted registries that are new or ours. out is nil if the file would be empty.
func withInsecure(text []byte, wanted, former []string) (out []byte, added []string, err error) {
	config, err := readObject(text)
	if err != nil {
		return nil, nil, err
	}
	var present []string
	if raw, ok := config["insecure-registries"]; ok {
		if err := json.Unmarshal(raw, &present); err != nil {
			return nil, nil, fmt.Errorf("its insecure-registries: %w", err)
		}
	}
	list := slices.DeleteFunc(slices.Clone(present), func(server string) bool {
		return slices.Contains(former, server) && !slices.Contains(wanted, server)
	})
	for _, server := range wanted {
		if !slices.Contains(present, server) || slices.Contains(former, server) {
			added = append(added, server)
		}
		if !slices.Contains(list, server) {
			list = append(list, server)
		}
	}
	if slices.Equal(list, present) {
		return text, added, nil
	}
	if len(list) == 0 {
		delete(config, "insecure-registries")
	} else {
		config.set("insecure-registries", list)
	}
	if len(config) == 0 {
		return nil, nil, nil
	}
	return config.text(), added, nil
}

// withLogins adds the wanted logins, by server, to a file in the format of Docker's config.json and removes former ones that are no
// longer wanted. added are the servers whose logins are new, changed or ours. out is nil if the file would be empty.
func withLogins(text []byte, wanted map[string]string, former []string) (out []byte, added []string, err error) {
	config, err := readObject(text)
	if err != nil {
		return nil, nil, err
	}
	auths := map[string]object{}
	if raw, ok := config["auths"]; ok {
		if err := json.Unmarshal(raw, &auths); err != nil {
			return nil, nil, fmt.Errorf("its auths: %w", err)
		}
	}
	changed := false
	for _, server := range former {
		if _, ok := auths[server]; ok && wanted[server] == "" {
			delete(auths, server)
			changed = true
		}
	}
	for _, server := range slices.Sorted(maps.Keys(wanted)) {
		entry := object{}
		entry.set("auth", wanted[server])
		same := maps.EqualFunc(auths[server], entry, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
		if !same || slices.Contains(former, server) {
			added = append(added, server)
		}
		if !same {
			if auths == nil {
				auths = map[string]object{}
			}
			auths[server] = entry
			changed = true
		}
	}
	if !changed {
		return text, added, nil
	}
	if len(auths) == 0 {
		delete(config, "auths")
	} else {
		config.set("auths", auths)
	}
	if len(config) == 0 {
		return nil, nil, nil
	}
	return config.text(), added, nil
}

// Marks around our lines in /etc/hosts.
const (
	hostsBegin = "# BEGIN registries of terraform-provider-vnf"
	hostsEnd   = "# END registries of terraform-provider-vnf"
)

// withHosts replaces our block in a file in the format of /etc/hosts. Without lines it removes the block.
func withHosts(text string, lines []string) (string, error) {
	block := ""
	if len(lines) > 0 {
		block = hostsBegin + "\n" + strings.Join(lines, "\n") + "\n" + hostsEnd + "\n"
	}
	found := strings.Contains(text, hostsBegin)
	if (found || block != "") && text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if !found {
		return text + block, nil
	}
	before, rest, _ := strings.Cut(text, hostsBegin+"\n")
	_, after, ended := strings.Cut(rest, hostsEnd+"\n")
	if !ended {
		return "", fmt.Errorf("it has the line %q and no line %q after it: somebody changed our block; put the line back, or remove the block", hostsBegin, hostsEnd)
	}
	return before + block + after, nil
}

// hostsLines returns the lines of the connections without duplicates.
func hostsLines(connections []Connection) []string {
	var out []string
	for _, c := range connections {
		if c.HostsString != "" && !slices.Contains(out, c.HostsString) {
			out = append(out, c.HostsString)
		}
	}
	return out
}
