package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const project = "terraform-provider-vnf"

// dist is a snapshot as `make release-snapshot` has left it.
type dist struct {
	folder, version string
	// sums are the checksums of its list, by file.
	sums map[string]string
	// platforms have an archive, as os_arch.
	platforms []string
}

// openDist reads the snapshot in RELEASE_DIST.
func openDist(t *testing.T) *dist {
	t.Helper()
	folder := os.Getenv("RELEASE_DIST")
	lists, err := filepath.Glob(filepath.Join(folder, project+"_*_SHA256SUMS"))
	require.NoError(t, err)
	if folder == "" || len(lists) == 0 {
		const missing = "there is no release to test: make release-snapshot makes one, and RELEASE_DIST names its folder"
		if os.Getenv("LAB_REQUIRE") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	d := &dist{folder: folder, sums: map[string]string{}}
	d.version = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(lists[0]), project+"_"), "_SHA256SUMS")
	subjects, err := readChecksums(d.read(t, d.name("SHA256SUMS")))
	require.NoError(t, err)
	for _, s := range subjects {
		d.sums[s.Name] = s.Digest["sha256"]
		if platform, isArchive := strings.CutSuffix(strings.TrimPrefix(s.Name, d.name("")), ".zip"); isArchive {
			d.platforms = append(d.platforms, platform)
		}
	}
	require.NotEmpty(t, d.platforms)
	return d
}

// name is the name of a file of the release.
func (d *dist) name(what string) string { return project + "_" + d.version + "_" + what }

func (d *dist) archive(platform string) string { return d.name(platform + ".zip") }

func (d *dist) read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(d.folder, name))
	require.NoError(t, err)
	return content
}

func TestReleaseFiles(t *testing.T) {
	d := openDist(t)
	want := []string{d.name("manifest.json")}
	for _, platform := range d.platforms {
		want = append(want, d.archive(platform), d.name(platform+".cdx.json"))
	}
	var have []string
	for name, sum := range d.sums {
		have = append(have, name)
		path := name
		// The manifest keeps its own name in the repository.
		if name == d.name("manifest.json") {
			path = "../terraform-registry-manifest.json"
		}
		digest := sha256.Sum256(d.read(t, path))
		assert.Equal(t, hex.EncodeToString(digest[:]), sum, name)
	}
	assert.ElementsMatch(t, want, have, "every file is in the list of checksums, and nothing else")
}

func TestReleaseArchives(t *testing.T) {
	d := openDist(t)
	for _, platform := range d.platforms {
		binary := project + "_v" + d.version
		if strings.HasPrefix(platform, "windows_") {
			binary += ".exe"
		}
		content := d.read(t, d.archive(platform))
		z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		require.NoError(t, err)
		var names []string
		for _, f := range z.File {
			names = append(names, f.Name)
		}
		assert.ElementsMatch(t, []string{binary, "LICENSE"}, names, platform)
	}
}

func TestReleaseSignature(t *testing.T) {
	d := openDist(t)
	keys, err := openpgp.ReadArmoredKeyRing(bytes.NewReader(d.read(t, publicKey)))
	require.NoError(t, err)
	list, signature := d.read(t, d.name("SHA256SUMS")), d.read(t, d.name("SHA256SUMS.sig"))
	_, err = openpgp.CheckDetachedSignature(keys, bytes.NewReader(list), bytes.NewReader(signature), nil)
	require.NoError(t, err)
	_, err = openpgp.CheckDetachedSignature(keys, bytes.NewReader(append(list, ' ')), bytes.NewReader(signature), nil)
	require.Error(t, err)
}

func TestReleaseBillOfMaterials(t *testing.T) {
	d := openDist(t)
	for _, platform := range d.platforms {
		path := d.name(platform + ".cdx.json")
		var b bill
		require.NoError(t, json.Unmarshal(d.read(t, path), &b))
		assert.Equal(t, "CycloneDX", b.Format)
		require.NoError(t, checkLicences(t.Output(), []string{filepath.Join(d.folder, path)}))
		var names []string
		for _, c := range b.Components {
			names = append(names, c.Name)
		}
		assert.Contains(t, names, "github.com/hashicorp/terraform-plugin-framework")
	}
}

func TestReleaseProvenance(t *testing.T) {
	d := openDist(t)
	var s statement
	require.NoError(t, json.Unmarshal(d.read(t, d.name("SHA256SUMS.intoto.json")), &s))
	sums := map[string]string{}
	for _, subject := range s.Subject {
		sums[subject.Name] = subject.Digest["sha256"]
	}
	assert.Equal(t, d.sums, sums)
	commit, err := exec.CommandContext(t.Context(), "git", "-C", "../..", "rev-parse", "HEAD").Output()
	var want []resource
	if err == nil {
		want = []resource{{
			URI:    "git+https://github.com/nfv-iac/terraform-provider-vnf",
			Digest: map[string]string{"gitCommit": strings.TrimSpace(string(commit))},
		}}
	}
	assert.Equal(t, want, s.Predicate.BuildDefinition.ResolvedDependencies)
}

// A second build, in another folder, gives the same bytes.
func TestReleaseReproducible(t *testing.T) {
	d := openDist(t)
	platform := runtime.GOOS + "_" + runtime.GOARCH
	require.Contains(t, d.platforms, platform)
	root, copied := "../..", t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(copied, "internal"), os.DirFS(filepath.Join(root, "internal"))))
	files, err := filepath.Glob(filepath.Join(root, "*.go"))
	require.NoError(t, err)
	for _, name := range append(files, filepath.Join(root, "go.mod"), filepath.Join(root, "go.sum")) {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(copied, filepath.Base(name)), content, 0o600))
	}
	again := filepath.Join(t.TempDir(), "again")
	c := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.version="+d.version, "-o", again, ".")
	c.Dir, c.Env = copied, append(os.Environ(), "CGO_ENABLED=0")
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	built, err := os.ReadFile(again)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(built, d.binary(t, platform)), "two builds differ")
}

// binary is the provider in the archive of a platform.
func (d *dist) binary(t *testing.T, platform string) []byte {
	t.Helper()
	z, err := zip.OpenReader(filepath.Join(d.folder, d.archive(platform)))
	require.NoError(t, err)
	defer z.Close()
	f, err := z.Open(project + "_v" + d.version)
	require.NoError(t, err)
	defer f.Close()
	content, err := io.ReadAll(f)
	require.NoError(t, err)
	return content
}
