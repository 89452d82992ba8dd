package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// snapshot makes a complete release of the work tree without publishing it.
type snapshot struct {
	root, version string
	// targets are platforms as os/arch, all of the configuration when there are none.
	targets []string
	log     io.Writer
}

// published is the mode of files that everybody gets.
const published = 0o644

// publicKey is the file in dist with the public half of the key that has signed a snapshot.
const publicKey = "snapshot-key.asc"

func (s *snapshot) run(ctx context.Context) error {
	work, err := os.MkdirTemp("", "vnf-release.")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	config := filepath.Join(s.root, ".goreleaser.yml")
	if len(s.targets) > 0 {
		if config, err = s.configFor(config, work); err != nil {
			return err
		}
	}
	k, err := newKey(ctx, filepath.Join(work, "gnupg"))
	if err != nil {
		return err
	}
	defer k.close(context.WithoutCancel(ctx))
	// Without a repository, as in an archive of the source, goreleaser makes a snapshot as well; its provenance names no commit.
	commit, err := exec.CommandContext(ctx, "git", "-C", s.root, "rev-parse", "HEAD").Output()
	if err != nil {
		commit = nil
		_, _ = fmt.Fprintf(s.log, "the provenance names no commit: git rev-parse: %v\n", err)
	}
	c := exec.CommandContext(ctx, filepath.Join(s.root, "bin/goreleaser"), "release", "--snapshot", "--clean", "--config", config)
	c.Dir, c.Stdout, c.Stderr = s.root, s.log, s.log
	c.Env = append(os.Environ(), "PATH="+filepath.Join(s.root, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"),
		"GNUPGHOME="+k.home, "GPG_FINGERPRINT="+k.fingerprint, "VERSION="+s.version)
	if err := c.Run(); err != nil {
		return fmt.Errorf("goreleaser: %w", err)
	}
	dist := filepath.Join(s.root, "dist")
	list := filepath.Join(dist, "terraform-provider-vnf_"+s.version+"_SHA256SUMS")
	b := build{version: s.version, commit: strings.TrimSpace(string(commit))}
	return errors.Join(writeProvenance(list, list+".intoto.json", b), os.WriteFile(filepath.Join(dist, publicKey), k.public, published))
}

// configFor writes a configuration that builds for the wanted platforms alone, and returns its path.
func (s *snapshot) configFor(path, work string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var config map[string]any
	if err := yaml.Unmarshal(text, &config); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	builds, _ := config["builds"].([]any)
	if len(builds) != 1 {
		return "", fmt.Errorf("%s: one build is expected, there are %d", path, len(builds))
	}
	provider, _ := builds[0].(map[string]any)
	known := platforms(provider)
	var targets []string
	for _, t := range s.targets {
		if !slices.Contains(known, t) {
			return "", fmt.Errorf("no release is built for %q; the platforms are %s", t, strings.Join(known, ", "))
		}
		targets = append(targets, strings.ReplaceAll(t, "/", "_"))
	}
	delete(provider, "goos")
	delete(provider, "goarch")
	provider["targets"] = targets
	out, err := yaml.Marshal(config)
	if err != nil {
		return "", err
	}
	reduced := filepath.Join(work, "goreleaser.yml")
	return reduced, os.WriteFile(reduced, out, 0o600)
}

// platforms are the pairs of goos and goarch of a build.
func platforms(provider map[string]any) []string {
	var out []string
	systems, _ := provider["goos"].([]any)
	processors, _ := provider["goarch"].([]any)
	for _, system := range systems {
		for _, processor := range processors {
			out = append(out, fmt.Sprintf("%v/%v", system, processor))
		}
	}
	return out
}

// key is a key of GnuPG that lives as long as its home.
type key struct {
	home, fingerprint string
	public            []byte
}

func newKey(ctx context.Context, home string) (*key, error) {
	if err := os.Mkdir(home, 0o700); err != nil {
		return nil, err
	}
	k := &key{home: home}
	// RSA: the registry of Terraform takes no other signature.
	if _, err := k.gpg(ctx, "--passphrase", "", "--quick-generate-key", "terraform-provider-vnf snapshot", "rsa3072", "sign", "1d"); err != nil {
		return nil, err
	}
	list, err := k.gpg(ctx, "--with-colons", "--list-keys")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(list)) {
		if fields := strings.Split(line, ":"); fields[0] == "fpr" && len(fields) > 9 {
			k.fingerprint = fields[9]
		}
	}
	if k.fingerprint == "" {
		return nil, errors.New("gpg lists no key")
	}
	k.public, err = k.gpg(ctx, "--armor", "--export", k.fingerprint)
	return k, err
}

// close ends the agent that gpg has started.
func (k *key) close(ctx context.Context) {
	c := exec.CommandContext(ctx, "gpgconf", "--kill", "all")
	c.Env = append(os.Environ(), "GNUPGHOME="+k.home)
	_ = c.Run() // An agent ends by itself when its home is gone.
}

func (k *key) gpg(ctx context.Context, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, "gpg", append([]string{"--batch", "--quiet"}, args...)...)
	c.Env = append(os.Environ(), "GNUPGHOME="+k.home)
	var problems bytes.Buffer
	c.Stderr = &problems
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("gpg: %w: %s", err, strings.TrimSpace(problems.String()))
	}
	return out, nil
}
