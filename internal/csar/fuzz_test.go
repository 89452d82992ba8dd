package csar

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// checkPlaces fails when a problem points to a place that the file does not have.
func checkPlaces(t *testing.T, data []byte, ps vnfm.Problems) {
	t.Helper()
	lines := bytes.Count(data, []byte("\n")) + 1
	for _, p := range ps {
		if p.Line < 0 || p.Line > lines || p.Column < 0 || p.Column > len(data)+2 || p.Summary == "" {
			t.Errorf("problem points outside of %d lines: %#v", lines, p)
		}
	}
}

func FuzzParseManifest(f *testing.F) {
	for _, seed := range []string{
		goodPackage()["vnfd.mf"], crlf(rootPackage()["sample.mf"]), "metadata:\nvnfd_id:a\nsource: a\nSource:b", goodMetadata + "non_mano_artifact_sets:\n  x:\n    Source: y\n",
		goodMetadata + "Source: a\nSignature: b\nCertificate: c\n-----BEGIN CMS-----\nMIIB\n-----END CMS-----\n", "\ufeff# x\n- a\n: b\n\"a\": b", "Source: https://x\nAlgorithm: sha512\nHash: 0",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, problems := ParseManifest("m", data)
		checkPlaces(t, data, problems)
		assert.True(t, bytes.HasPrefix(data, m.Signed), "the signed bytes are not the beginning of the manifest")
		for _, s := range append(m.Sources, m.NonMANO...) {
			if s.Path != "" && !s.External && !fs.ValidPath(s.Path) {
				t.Errorf("path %q leaves the package", s.Path)
			}
			if (s.Algorithm == "") != (s.Hash == "") || s.Hash != "" && len(s.Hash) != 2*algorithms[s.Algorithm].Size() {
				t.Errorf("digest %q %q", s.Algorithm, s.Hash)
			}
		}
		if m.CMS != nil && !problems.HasErrors() {
			// A manifest whose signature is cut off reads the same but for the signature.
			again, _ := ParseManifest("m", m.Signed)
			require.Len(t, again.Sources, len(m.Sources))
			assert.Nil(t, again.CMS, "the part that is signed reads differently")
		}
	})
}

func FuzzParseMeta(f *testing.F) {
	for _, seed := range []string{
		goodMeta, crlf(goodMeta), tackerMeta + "\nName: a\nContent-type: b\nAlgorithm: SHA-256\nHash: " + sha("x"), "Created-By: a\n b\n- c\nName: http://x\n", "Entry-Definitions: 'a'\nOther-Definitions: \"a\" b, c\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, problems := parseMeta("m", data, damagePolicy{})
		checkPlaces(t, data, problems)
		for _, s := range m.Files {
			if s.Path != "" && !s.External && !fs.ValidPath(s.Path) {
				t.Errorf("path %q leaves the package", s.Path)
			}
		}
		if m.Keys[keyEntryDefinitions] == "" && !problems.HasErrors() {
			t.Error("no Entry-Definitions and no problem")
		}
	})
}

func FuzzOpenZip(f *testing.F) {
	f.Add(zipBytes(f, goodPackage().archive()))
	f.Add(zipOf(f, plain("../x", "a//b", `a\b`, "./c", "A", "a")...))
	f.Add(zipOf(f, withMode("l", fs.ModeSymlink|0o777), withMode("d/", fs.ModeDir|0o777)))
	f.Add(understated(f))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	limits := Limits{MaxFiles: 100, MaxFileBytes: 1 << 20, MaxTotalBytes: 4 << 20}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := openBytes(data, limits)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, info := range a.Files() {
			if !fs.ValidPath(info.Path) || info.Path == "." || strings.Contains(info.Path, `\`) {
				t.Errorf("path %q", info.Path)
			}
			if key := strings.ToLower(info.Path); seen[key] {
				t.Errorf("path %q is there twice", info.Path)
			} else {
				seen[key] = true
			}
			content, err := a.ReadFile(info.Path)
			require.NoError(t, err)
			assert.Equal(t, info.Size, int64(len(content)), "%q: %d bytes", info.Path, len(content))
		}
		p, _ := Read(a, Options{})
		_, _ = p.KubernetesFiles(budget.New(t.Context(), budget.Limits{}), a)
		back, err := openBytes(zipBytes(t, a), Limits{})
		require.NoError(t, err)
		assert.Equal(t, ContentDigest(a), ContentDigest(back), "packed again")
	})
}

// FuzzSignature feeds arbitrary bytes to the CMS decoder, which must never panic.
func FuzzSignature(f *testing.F) {
	leaf := issue(f, "Leaf", nil, nil)
	f.Add([]byte(leaf.signDetached(f, "x")))
	f.Add([]byte("\x30\x80\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02\xa0\x80"))
	roots := certPEM(leaf.cert)
	f.Fuzz(func(t *testing.T, data []byte) {
		files := map[string][]byte{"s.yaml": []byte(rootText), "s.sig": data, "s.mf": []byte(goodMetadata + "Source: s.yaml\nSignature: s.sig\n")}
		p, problems := Read(FromFiles(files), Options{Signature: SignatureRequire, Trust: Trust{Roots: roots}})
		require.False(t, p.Security.Verified, "verified by %q", data)
		assert.True(t, problems.HasErrors(), "verified by %q", data)
	})
}
