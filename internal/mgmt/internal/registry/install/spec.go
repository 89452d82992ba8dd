package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// labelDigest is the label of a container with the digest of its spec. The scripts use it too.
const labelDigest = "io.github.terraform-provider-vnf.digest"

// specVersion rises when containers are created differently, so that existing ones are replaced.
const specVersion = 1

// spec is the full specification of a container. Its digest is a label of the container.
type spec struct {
	Version int     `json:"version"`
	Runtime Runtime `json:"runtime"`
	// Image is the engine's id of the image, Reference its name.
	Image       string   `json:"image"`
	Reference   string   `json:"reference"`
	Port        int      `json:"port"`
	StoragePath string   `json:"storage_path"`
	Environment []string `json:"environment"`
	// Files are the SHA-256 digests of the files that the container reads.
	Files map[string]string `json:"files"`
}

func (c Config) spec(n note, files map[string]string) spec {
	return spec{
		Version: specVersion, Runtime: c.Runtime, Image: n.Image, Reference: n.Reference, Port: c.Port, StoragePath: c.StoragePath,
		Environment: c.environment(), Files: files,
	}
}

// digest depends on no password: the file of the users has salted hashes.
func (s spec) digest() string {
	// Encoding a struct of strings, numbers and maps of strings cannot fail.
	text, _ := json.Marshal(s)
	return sum(text)
}

func sum(data []byte) string {
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}

// differences lists the differences of a container from the desired state.
func (s spec) differences(wanted spec) []string {
	var out []string
	note := func(differs bool, format string, args ...any) {
		if differs {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	note(s.Runtime != wanted.Runtime, "runtime is %s, not %s", s.Runtime, wanted.Runtime)
	note(s.Image != wanted.Image, "image is %s", s.Image)
	note(s.Port != wanted.Port, "port is %d, not %d", s.Port, wanted.Port)
	note(s.StoragePath != wanted.StoragePath, "storage_path is %s, not %s", s.StoragePath, wanted.StoragePath)
	files := slices.AppendSeq(slices.Collect(maps.Keys(s.Files)), maps.Keys(wanted.Files))
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		note(s.Files[file] != wanted.Files[file], "%s", attributes[file])
	}
	return out
}

// attributes are the attributes of a config by the file that has them on the host.
var attributes = map[string]string{fileCertificate: "certificate", fileKey: "key", fileUsers: "users"}

// note is the record of the installation on the host. It links an archive to its image, which the engine does not record.
type note struct {
	// Source is the source of the image, Image the engine's id.
	Source string `json:"source"`
	Image  string `json:"image"`
	// Reference is the name of the image in the engine.
	Reference string `json:"reference"`
	// Container is the spec of the last created container.
	Container *spec `json:"container,omitempty"`
}

// dockerArguments returns the arguments of `docker create`.
func (c Config) dockerArguments(s spec, digest string) []string {
	args := []string{
		"--name", c.Name, "--restart", "always", "--user", "0:0", "--label", labelDigest + "=" + digest,
		"--log-driver", "json-file", "--log-opt", "max-size=10m", "--log-opt", "max-file=3",
		"--publish", fmt.Sprintf("%d:%d", c.Port, DefaultPort),
		"--volume", c.StoragePath + ":" + insideStorage, "--volume", c.folder() + ":" + insideFolder + ":ro",
	}
	for _, variable := range s.Environment {
		args = append(args, "--env", variable)
	}
	return append(args, s.Image)
}

// unitText returns the systemd unit that runs the container of Podman. systemd ignores keys that begin with X-.
func (c Config) unitText(s spec, digest string) []byte {
	start := []string{"podman", "run", "--name", c.Name, "--rm", "--network", "host", "--log-driver", "none", "--user", "0:0", "--label", labelDigest + "=" + digest,
		"--volume", c.StoragePath + ":" + insideStorage, "--volume", c.folder() + ":" + insideFolder + ":ro"}
	for _, variable := range s.Environment {
		start = append(start, "--env", variable)
	}
	start = append(start, s.Image)
	var b strings.Builder
	b.WriteString("# Managed by terraform-provider-vnf: changes are overwritten.\n[Unit]\nDescription=Private container registry " + c.Name + "\n" +
		"Wants=network-online.target\nAfter=network-online.target\n" +
		"StartLimitIntervalSec=0\nRequiresMountsFor=" + path.Clean(c.StoragePath) + "\nX-Digest=" + digest + "\n\n[Service]\nRestart=always\nRestartSec=2\nTimeoutStartSec=120\nTimeoutStopSec=30\n")
	b.WriteString("ExecStartPre=-podman rm --force --ignore " + c.Name + "\nExecStart=" + quoted(start) + "\nExecStop=-podman stop --ignore --time 10 " + c.Name + "\n")
	b.WriteString("\n[Install]\nWantedBy=multi-user.target\n")
	return []byte(b.String())
}

// quoted returns a command line for systemd, which expands $ and %.
func quoted(args []string) string {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `$$`, `%`, `%%`)
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = `"` + escape.Replace(arg) + `"`
	}
	return strings.Join(out, " ")
}
