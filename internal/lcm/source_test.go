package lcm_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/csar"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// packageServer serves one package and counts who asked for what.
type packageServer struct {
	*httptest.Server
	content  atomic.Pointer[[]byte]
	complete atomic.Int64
	upToDate atomic.Int64
}

func newPackageServer(t *testing.T, content []byte) *packageServer {
	t.Helper()
	s := &packageServer{}
	s.content.Store(&content)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data := *s.content.Load()
		etag := `"` + digestOf(data)[:16] + `"`
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			s.upToDate.Add(1)
			w.WriteHeader(http.StatusNotModified)
			return
		}
		s.complete.Add(1)
		if _, err := w.Write(data); err != nil {
			t.Log(err)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func zipped(t *testing.T, version string) []byte {
	t.Helper()
	dir := filepath.Join(t.TempDir(), version)
	writePackage(t, dir, version)
	archive, err := csar.OpenDirectory(dir, csar.DefaultLimits())
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, csar.WriteZip(archive, &out))
	require.NoError(t, archive.Close())
	return out.Bytes()
}

// TestProblemsAreCapped reads a package whose TOSCA.meta names thousands of files that are outside of the package.
func TestProblemsAreCapped(t *testing.T) {
	w := newEnv(t)
	dir := t.TempDir()
	writePackage(t, dir, "1.0")
	meta := filepath.Join(dir, "TOSCA-Metadata", "TOSCA.meta")
	text, err := os.ReadFile(meta) //nolint:gosec // a path of the test
	require.NoError(t, err)
	for i := range 5000 {
		text = fmt.Appendf(text, "\nName: ../missing-%d.yaml\nContent-Type: application/yaml\n", i)
	}
	if err := os.WriteFile(meta, text, 0o600); err != nil { //nolint:gosec // a path of the test
		t.Fatal(err)
	}
	_, problems, err := w.ReadPackage(t.Context(), vnfm.PackageSpec{Name: "many", Source: dir, Integrity: "enforce", Signature: "ignore"})
	if err != nil || len(problems) != 101 || problems[0].Severity != vnfm.SeverityError || !strings.Contains(problems[100].Summary, "are not listed") {
		t.Errorf("%d problems, %v", len(problems), err)
	}
}

func TestDownloads(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	w := newEnv(t)
	first := zipped(t, "1.0")
	s := newPackageServer(t, first)
	spec := vnfm.PackageSpec{Name: "remote", Source: s.URL + "/p.csar?token=hunter2-token", Integrity: "enforce", Signature: "verify_if_present"}

	read, problems, err := w.ReadPackage(t.Context(), spec)
	if err != nil || problems.HasErrors() {
		t.Fatal(err, problems)
	}
	require.Equal(t, w.pkg.Digest, read.Digest, "the zip has the digest")
	if data, err := fs.ReadFile(read.Content, "Files/a.yaml"); err != nil || !strings.Contains(string(data), "1.0") {
		t.Errorf("content of a download: %q, %v", data, err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("downloads stay in the temporary directory: %v, %v", left, err)
	}

	if _, problems, err = w.OnboardPackage(t.Context(), spec, read.ID); err != nil || problems.HasErrors() {
		t.Fatal(err, problems)
	}
	if known, err := w.KnownPackage(t.Context(), read.ID); !errors.Is(err, vnfm.ErrNotFound) {
		t.Errorf("a URL that may hold a token would go into Terraform's state: %v, %v", known, err)
	}
	if got := s.complete.Load(); got != 2 {
		t.Errorf("%d downloads for plan and apply", got)
	}
	again, _, err := w.ReadPackage(t.Context(), spec)
	require.NoError(t, err, "second plan")
	require.Equal(t, read.ID, again.ID, "second plan")
	if s.complete.Load() != 2 || s.upToDate.Load() != 1 {
		t.Errorf("an unchanged package was downloaded again: %d whole, %d up to date", s.complete.Load(), s.upToDate.Load())
	}

	second := zipped(t, "2.0")
	s.content.Store(&second)
	changed, _, err := w.ReadPackage(t.Context(), spec)
	require.NoError(t, err, "a changed package behind the same URL")
	require.NotEqual(t, read.ID, changed.ID, "a changed package behind the same URL")
	if _, _, err := w.OnboardPackage(t.Context(), spec, read.ID); err == nil || !strings.Contains(err.Error(), "changed between plan and apply") {
		t.Errorf("a content that is not the planned one: %v", err)
	}

	spec.Checksum = "sha256:" + digestOf(first)
	_, _, err = w.ReadPackage(t.Context(), spec)
	require.NoError(t, err, "a stored package with the wanted checksum needs no download")
	spec.Name = "other"
	_, _, err = w.ReadPackage(t.Context(), spec)
	require.ErrorContains(t, err, "has the checksum sha256:"+digestOf(second), "a wrong checksum")
	if err != nil && strings.Contains(err.Error(), "hunter2-token") {
		t.Errorf("the query of the URL is in the error: %v", err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("downloads stay in the temporary directory: %v, %v", left, err)
	}
}

func TestAPackageThatComesBackIsNotSuperseded(t *testing.T) {
	w := newEnv(t)
	specs := make([]vnfm.PackageSpec, 2)
	ids := make([]string, 2)
	for i, version := range []string{"1.0", "2.0"} {
		specs[i] = vnfm.PackageSpec{Name: "remote", Source: newPackageServer(t, zipped(t, version)).URL + "/p.csar", Integrity: "enforce", Signature: "verify_if_present"}
		p, problems, err := w.OnboardPackage(t.Context(), specs[i], "")
		if err != nil || problems.HasErrors() {
			t.Fatal(err, problems)
		}
		ids[i] = p.ID
	}
	known, err := w.KnownPackage(t.Context(), ids[0])
	require.NoError(t, err)
	require.Equal(t, specs[0], known.PackageSpec)
	spec := w.spec()
	spec.PackageID = ids[0]
	i := w.mustInstantiate(t, spec)
	require.NoError(t, w.ReleasePackage(t.Context(), ids[0], ""))
	if _, _, err := w.OnboardPackage(t.Context(), specs[0], ids[0]); err != nil {
		t.Fatal(err)
	}
	require.NoError(t, w.ReleasePackage(t.Context(), ids[1], ""))
	require.NoError(t, w.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}))
	if now, err := w.PackageByName(t.Context(), "remote"); err != nil || now.ID != ids[0] {
		t.Errorf("the package that came back: %v, %v", now, err)
	}
}

func TestSourcesThatCannotBeFetched(t *testing.T) {
	w := newEnv(t)
	s := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	dir := filepath.Join(t.TempDir(), "p")
	writePackage(t, dir, "1.0")
	here, err := os.Getwd()
	require.NoError(t, err)
	for _, tc := range []struct{ source, checksum, want string }{
		{source: s.URL + "/p.csar", want: "downloading the package from " + s.URL + "/p.csar: the server answered 404 Not Found"},
		{source: "file:///etc/passwd", want: `package source "file:///etc/passwd": the scheme "file" is not supported; give a path, an http or https URL, or oci://`},
		{source: filepath.Join(dir, "missing"), want: "reading the package source: stat " + filepath.Join(dir, "missing") + ": no such file or directory"},
		{source: "../missing", want: "reading the package source: stat ../missing: no such file or directory; a relative path starts at the working directory, " + here +
			`; in a configuration "${path.module}/../missing" starts at the folder of the module`},
		{source: dir, checksum: "sha256:00", want: `package source "` + dir + `" is a directory: a checksum can be given for a file or a URL only`},
	} {
		t.Run(tc.source, func(t *testing.T) {
			_, _, err := w.ReadPackage(t.Context(), vnfm.PackageSpec{Name: "p", Source: tc.source, Checksum: tc.checksum, Integrity: "enforce", Signature: "ignore"})
			require.Error(t, err)
			require.Equal(t, tc.want, err.Error())
		})
	}
}
