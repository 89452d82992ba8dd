package main

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
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

// registry serves a release by the provider registry protocol (https://developer.hashicorp.com/terraform/internals/provider-registry-protocol).
type registry struct {
	*httptest.Server
	dist *dist
	// tampered is the file that is served with another byte.
	tampered string
}

func serveRelease(t *testing.T, d *dist, tampered string) *registry {
	t.Helper()
	r := &registry{dist: d, tampered: tampered}
	armored := d.read(t, publicKey)
	keys, err := openpgp.ReadArmoredKeyRing(bytes.NewReader(armored))
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/terraform.json", answer(func(*http.Request) any { return map[string]string{"providers.v1": "/v1/providers/"} }))
	mux.HandleFunc("GET /v1/providers/nfv-iac/vnf/versions", answer(func(*http.Request) any { return r.versions() }))
	mux.HandleFunc("GET /v1/providers/nfv-iac/vnf/{version}/download/{os}/{arch}", answer(func(q *http.Request) any {
		return r.download(keys[0].PrimaryKey.KeyIdString(), string(armored), q.PathValue("os"), q.PathValue("arch"))
	}))
	mux.HandleFunc("GET /files/{name}", func(w http.ResponseWriter, q *http.Request) {
		content := d.read(t, q.PathValue("name"))
		if q.PathValue("name") == r.tampered {
			content = bytes.Clone(content)
			// The first line of the list is that of another file: what is left to find the change is the signature.
			at := len(content) / 2
			if strings.HasSuffix(r.tampered, "SHA256SUMS") {
				at = 0
			}
			content[at] ^= 1
		}
		_, _ = w.Write(content)
	})
	r.Server = httptest.NewTLSServer(mux)
	t.Cleanup(r.Close)
	return r
}

func answer(content func(*http.Request) any) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(content(q))
	}
}

func (r *registry) versions() any {
	var platforms []map[string]string
	for _, p := range r.dist.platforms {
		system, processor, _ := strings.Cut(p, "_")
		platforms = append(platforms, map[string]string{"os": system, "arch": processor})
	}
	return map[string]any{"versions": []any{map[string]any{"version": r.dist.version, "protocols": []string{"6.0"}, "platforms": platforms}}}
}

func (r *registry) download(keyID, armored, system, processor string) any {
	archive := r.dist.archive(system + "_" + processor)
	return map[string]any{
		"protocols": []string{"6.0"}, "os": system, "arch": processor,
		"filename": archive, "download_url": r.URL + "/files/" + archive, "shasum": r.dist.sums[archive],
		"shasums_url":           r.URL + "/files/" + r.dist.name("SHA256SUMS"),
		"shasums_signature_url": r.URL + "/files/" + r.dist.name("SHA256SUMS.sig"),
		"signing_keys": map[string]any{"gpg_public_keys": []any{
			map[string]string{"key_id": keyID, "ascii_armor": armored},
		}},
	}
}

// configuration is a root module that takes the provider from a source, with a terraform whose user has a configuration.
type configuration struct {
	folder string
	env    []string
}

const module = `terraform {
  required_providers {
    vnf = {
      source  = "%s"
      version = "%s"
    }
  }
}

provider "vnf" {
  store = {
    local = {
      path = "store.db"
    }
  }
}

resource "vnf_package" "web" {
  name   = "web"
  source = "%s"
}

output "id" {
  value = vnf_package.web.id
}
`

func newConfiguration(t *testing.T, d *dist, source, rc string, env ...string) *configuration {
	t.Helper()
	pkg, err := filepath.Abs("../../examples/packages/hello")
	require.NoError(t, err)
	c := &configuration{folder: t.TempDir()}
	require.NoError(t, os.WriteFile(filepath.Join(c.folder, "main.tf"), fmt.Appendf(nil, module, source, d.version, pkg), 0o600))
	file := filepath.Join(t.TempDir(), "terraform.rc")
	require.NoError(t, os.WriteFile(file, []byte("disable_checkpoint = true\n"+rc), 0o600))
	c.env = append(append(os.Environ(), "TF_CLI_CONFIG_FILE="+file, "NO_PROXY=127.0.0.1", "TF_PLUGIN_CACHE_DIR=", "NO_COLOR=1"), env...)
	return c
}

// fromRegistry is a configuration whose provider comes from a registry, whose certificate its user trusts.
func fromRegistry(t *testing.T, r *registry) *configuration {
	t.Helper()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate().Raw}), 0o600))
	return newConfiguration(t, r.dist, strings.TrimPrefix(r.URL, "https://")+"/nfv-iac/vnf", "", "SSL_CERT_FILE="+ca)
}

// terraform runs a command, and returns what it has printed and whether it succeeded.
func (c *configuration) terraform(t *testing.T, args ...string) (string, bool) {
	t.Helper()
	program := os.Getenv("TF_ACC_TERRAFORM_PATH")
	if program == "" {
		program = "terraform"
	}
	run := exec.CommandContext(t.Context(), program, append(args, "-no-color")...)
	run.Dir, run.Env = c.folder, c.env
	out, err := run.CombinedOutput()
	return string(out), err == nil
}

func (c *configuration) succeeds(t *testing.T, args ...string) string {
	t.Helper()
	out, ok := c.terraform(t, args...)
	require.True(t, ok, out)
	return out
}

// fails runs a command that prints a text, broken into lines or not, and fails.
func (c *configuration) fails(t *testing.T, want string, args ...string) {
	t.Helper()
	out, ok := c.terraform(t, args...)
	require.False(t, ok, out)
	plain := strings.Join(strings.Fields(strings.ReplaceAll(out, "│", " ")), " ")
	assert.Contains(t, plain, want)
}

// life onboards a package, finds nothing to do, and destroys.
func (c *configuration) life(t *testing.T) {
	t.Helper()
	c.succeeds(t, "apply", "-auto-approve", "-input=false")
	assert.Contains(t, c.succeeds(t, "plan", "-detailed-exitcode", "-input=false"), "No changes.")
	c.succeeds(t, "destroy", "-auto-approve", "-input=false")
}

func TestReleaseRegistry(t *testing.T) {
	d := openDist(t)
	c := fromRegistry(t, serveRelease(t, d, ""))
	assert.Contains(t, c.succeeds(t, "init", "-input=false"), "self-signed, key ID")
	lock, err := os.ReadFile(filepath.Join(c.folder, ".terraform.lock.hcl"))
	require.NoError(t, err)
	for _, sum := range d.sums {
		assert.Contains(t, string(lock), "zh:"+sum, "the signed checksums are in the lock file")
	}
	c.life(t)
}

func TestReleaseTampered(t *testing.T) {
	d := openDist(t)
	for name, want := range map[string]string{
		d.archive(runtime.GOOS + "_" + runtime.GOARCH): "checksum",
		d.name("SHA256SUMS"):                           "signature",
		d.name("SHA256SUMS.sig"):                       "signature",
	} {
		t.Run(name, func(t *testing.T) {
			fromRegistry(t, serveRelease(t, d, name)).fails(t, want, "init", "-input=false")
		})
	}
}

func TestReleaseMirror(t *testing.T) {
	d := openDist(t)
	mirror := t.TempDir()
	folder := filepath.Join(mirror, "registry.terraform.io/nfv-iac/vnf")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	archive := d.archive(runtime.GOOS + "_" + runtime.GOARCH)
	content := d.read(t, archive)
	require.NoError(t, os.WriteFile(filepath.Join(folder, archive), content, 0o600))
	c := newConfiguration(t, d, "nfv-iac/vnf", fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", mirror))
	c.succeeds(t, "init", "-input=false")
	c.life(t)

	// Another archive under the same version is refused by the lock file.
	require.NoError(t, os.RemoveAll(filepath.Join(c.folder, ".terraform")))
	tampered := bytes.Clone(content)
	tampered[len(tampered)/2] ^= 1
	require.NoError(t, os.WriteFile(filepath.Join(folder, archive), tampered, 0o600))
	_, ok := c.terraform(t, "init", "-input=false")
	assert.False(t, ok)
}
