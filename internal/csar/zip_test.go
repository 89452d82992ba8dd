package csar

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// zipOf writes headers and contents as they are given, safe or not.
func zipOf(tb testing.TB, entries ...zipTestEntry) []byte {
	tb.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, e := range entries {
		h := e.header
		h.Name = e.name
		if e.raw {
			out, err := w.CreateRaw(&h)
			require.NoError(tb, err)
			_, err = out.Write(e.data)
			require.NoError(tb, err)
			continue
		}
		out, err := w.CreateHeader(&h)
		require.NoError(tb, err)
		if strings.HasSuffix(e.name, "/") {
			continue
		}
		_, err = out.Write(e.data)
		require.NoError(tb, err)
	}
	require.NoError(tb, w.Close())
	return buf.Bytes()
}

type zipTestEntry struct {
	name   string
	data   []byte
	header zip.FileHeader
	raw    bool
}

func plain(names ...string) []zipTestEntry {
	entries := make([]zipTestEntry, 0, len(names))
	for _, n := range names {
		entries = append(entries, zipTestEntry{name: n, data: []byte("x")})
	}
	return entries
}

func withMode(name string, mode fs.FileMode) zipTestEntry {
	e := zipTestEntry{name: name, data: []byte("target")}
	e.header.SetMode(mode)
	return e
}

// openBytes is openZipFile of an archive that is in memory.
func openBytes(data []byte, l Limits) (Archive, error) {
	return openZip(bytes.NewReader(data), int64(len(data)), "test.csar", l, nil)
}

// renderError gives the problems of a refused archive.
func renderError(tb testing.TB, err error) []string {
	tb.Helper()
	var bad *vnfm.InvalidError
	require.ErrorAs(tb, err, &bad, "error is not an InvalidError")
	return render(bad.Problems)
}

// patch changes the central directory record of the only entry; offsets are those of APPNOTE.TXT 4.3.12.
func patch(tb testing.TB, data []byte, change func(local, central []byte)) []byte {
	tb.Helper()
	out := bytes.Clone(data)
	at := bytes.LastIndex(out, []byte("PK\x01\x02"))
	require.GreaterOrEqual(tb, at, 0, "no central directory")
	change(out, out[at:])
	return out
}

func TestOpenZipRefuses(t *testing.T) {
	const ambiguous = ": the package is rejected, because tools would not agree on which file this is"
	const regular = ": a package holds regular files only; replace the entry by its content"
	bomb := bytes.Repeat([]byte{0}, 2<<20)
	tests := []struct {
		name   string
		data   []byte
		limits Limits
		want   []string
	}{
		{name: "absolute path", data: zipOf(t, plain("/etc/passwd")...), want: []string{"error: /etc/passwd: the name is an absolute path" + ambiguous}},
		{name: "parent, several at once", data: zipOf(t, plain("../x", "a/../../x", "a/..", "ok")...), want: []string{
			`error: ../x: the name leaves the package with ".."` + ambiguous,
			`error: a/../../x: the name leaves the package with ".."` + ambiguous,
			`error: a/..: the name leaves the package with ".."` + ambiguous,
		}},
		{name: "parent as directory", data: zipOf(t, plain("../")...), want: []string{`error: ../: the name leaves the package with ".."` + ambiguous}},
		{name: "backslash", data: zipOf(t, plain(`a\b`, `..\..\x`)...), want: []string{
			`error: a\b: the name holds a backslash; names in a package are separated by slashes` + ambiguous,
			`error: ..\..\x: the name holds a backslash; names in a package are separated by slashes` + ambiguous,
		}},
		{name: "drive letter", data: zipOf(t, plain("C:/x")...), want: []string{"error: C:/x: the name is an absolute path with a drive letter" + ambiguous}},
		{name: "control character", data: zipOf(t, plain("a\x1b[2Jb", "a\x00b")...), want: []string{
			`error: a\x1b[2Jb: the name holds a control character` + ambiguous,
			`error: a\x00b: the name holds a control character` + ambiguous,
		}},
		{name: "not UTF-8", data: zipOf(t, zipTestEntry{name: "M\xfc", header: zip.FileHeader{NonUTF8: true}}), want: []string{`error: M\xfc: the name is not UTF-8` + ambiguous}},
		{name: "twice", data: zipOf(t, plain("a/b", "a/b")...), want: []string{"error: a/b: the name is given twice" + ambiguous}},
		{name: "twice with ./", data: zipOf(t, plain("a/b", "./a/b", "a/./b", "a//b")...), want: []string{
			"error: ./a/b: the name is given twice" + ambiguous,
			"error: a/./b: the name is given twice" + ambiguous,
			"error: a//b: the name is given twice" + ambiguous,
		}},
		{name: "twice but for case", data: zipOf(t, plain("a/B", "A/b")...), want: []string{`error: A/b: the name differs only by case from "a/B"` + ambiguous}},
		{name: "twice but for a case that is longer", data: zipOf(t, plain("straße", "STRASSE")...), want: []string{`error: STRASSE: the name equals "straße" on some systems: it differs only in the composition of letters, or in dots and spaces at an end` + ambiguous}},
		{name: "twice but for the form of a letter", data: zipOf(t, plain("\u00e4/b", "a\u0308/b")...), want: []string{"error: a\u0308/b: the name equals \"\u00e4/b\" on some systems: it differs only in the composition of letters, or in dots and spaces at an end" + ambiguous}},
		{name: "twice but for dots and spaces at an end", data: zipOf(t, plain("a/b", "a. /b .")...), want: []string{`error: a. /b .: the name equals "a/b" on some systems: it differs only in the composition of letters, or in dots and spaces at an end` + ambiguous}},
		{name: "characters that change what is shown", data: zipOf(t, plain("lmay.\u202efdnv", "a\u200bb", "a\u2028b")...), want: []string{
			`error: lmay.\u202efdnv: the name holds an invisible character, or one that changes the direction of the text` + ambiguous,
			`error: a\u200bb: the name holds an invisible character, or one that changes the direction of the text` + ambiguous,
			`error: a\u2028b: the name holds an invisible character, or one that changes the direction of the text` + ambiguous,
		}},
		{name: "file and directory", data: zipOf(t, plain("a", "a/b")...), want: []string{`error: a/b: the name lies in "a", which is a file` + ambiguous}},
		{name: "directory and file", data: zipOf(t, plain("a/b/c", "A")...), want: []string{`error: A: the name is a file and, in "a/b/c", a directory` + ambiguous}},
		{name: "symbolic link", data: zipOf(t, withMode("l", fs.ModeSymlink|0o777)), want: []string{"error: l: the entry is a symbolic link" + regular}},
		{name: "symbolic link with the name of a directory", data: zipOf(t, withMode("l/", fs.ModeSymlink|0o777)), want: []string{"error: l/: the entry is a symbolic link" + regular}},
		{name: "device and pipe", data: zipOf(t, withMode("d", fs.ModeDevice|fs.ModeCharDevice|0o666), withMode("p", fs.ModeNamedPipe|0o666)), want: []string{
			"error: d: the entry is not a regular file" + regular, "error: p: the entry is not a regular file" + regular,
		}},
		{name: "encrypted", data: patch(t, zipOf(t, plain("a")...), func(_, c []byte) { c[8] |= 1 }), want: []string{"error: a: the entry is encrypted: pack the package without a password"}},
		{name: "unknown compression", data: patch(t, zipOf(t, plain("a")...), func(_, c []byte) { c[10] = 12 }), want: []string{"error: a: the entry uses compression method 12: pack the package with deflate (8) or without compression (0)"}},
		{name: "ratio of an entry", data: zipOf(t, zipTestEntry{name: "zeros", data: bomb, header: zip.FileHeader{Method: zip.Deflate}}), want: []string{
			fmt.Sprintf("error: zeros: the entry declares 2097152 bytes in %d compressed, a ratio of more than 200: pack the file without compression if it is as it must be", compressedSize(t, bomb)),
		}},
		{name: "declared size of an entry", data: zipOf(t, plain("a", "b")...), limits: Limits{MaxFileBytes: 1}, want: nil},
		{name: "declared size over the limit", data: zipOf(t, zipTestEntry{name: "a", data: []byte("xx")}), limits: Limits{MaxFileBytes: 1}, want: []string{"error: a: the entry declares 2 bytes, more than 1: name large images by URL instead of packing them"}},
		{name: "declared sizes together", data: zipOf(t, plain("a", "b", "c")...), limits: Limits{MaxTotalBytes: 2}, want: []string{"error: the files declare 3 bytes together, more than 2"}},
		{name: "number of files", data: zipOf(t, plain("a", "b", "c")...), limits: Limits{MaxFiles: 2}, want: []string{"error: the package holds 3 files, more than 2"}},
		{name: "holds more than declared", data: understated(t), want: []string{"error: a: the entry cannot be read (zip: not a valid zip file): the archive is damaged; obtain or pack it again"}},
		{name: "holds less than declared", data: overstated(t), want: []string{"error: a: the entry cannot be read (unexpected EOF): the archive is damaged; obtain or pack it again"}},
		{name: "stored with two sizes", data: patch(t, zipOf(t, zipTestEntry{name: "a", data: []byte("xyz"), header: zip.FileHeader{Method: zip.Store}}), func(_, c []byte) { binary.LittleEndian.PutUint32(c[24:], 9) }), want: []string{
			"error: a: the entry is stored without compression but declares 9 bytes in 3: the archive is damaged; pack it again",
		}},
		{name: "damaged content", data: patch(t, zipOf(t, zipTestEntry{name: "a", data: []byte("xyz"), header: zip.FileHeader{Method: zip.Store}}), func(local, _ []byte) { local[30+1] = '?' }), want: []string{
			"error: a: the entry cannot be read (zip: checksum error): the archive is damaged; obtain or pack it again",
		}},
		{name: "cut off", data: zipOf(t, plain("a")...)[:40], want: []string{"error: test.csar: the file is not a readable zip archive (zip: not a valid zip file): a package is a directory or a zip archive; check that the file is complete"}},
		{name: "not a zip", data: []byte("hello"), want: []string{"error: test.csar: the file is not a readable zip archive (zip: not a valid zip file): a package is a directory or a zip archive; check that the file is complete"}},
		{name: "nothing", data: nil, want: []string{"error: test.csar: the file is not a readable zip archive (zip: not a valid zip file): a package is a directory or a zip archive; check that the file is complete"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := openBytes(tt.data, tt.limits)
			if tt.want == nil {
				require.NoError(t, err)
				return
			}
			if a != nil {
				t.Error("an archive came back")
			}
			assert.Equal(t, tt.want, renderError(t, err), "problems")
		})
	}
}

func compressedSize(tb testing.TB, data []byte) uint64 {
	tb.Helper()
	packed := zipOf(tb, zipTestEntry{name: "a", data: data, header: zip.FileHeader{Method: zip.Deflate}})
	r, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	require.NoError(tb, err)
	return r.File[0].CompressedSize64
}

// understated is an entry whose content is longer than all headers say.
func understated(tb testing.TB) []byte {
	tb.Helper()
	return patch(tb, zipOf(tb, zipTestEntry{name: "a", data: bytes.Repeat([]byte("abc"), 1000), header: zip.FileHeader{Method: zip.Deflate}}), func(_, c []byte) {
		binary.LittleEndian.PutUint32(c[24:], 10)
	})
}

func overstated(tb testing.TB) []byte {
	tb.Helper()
	return patch(tb, zipOf(tb, zipTestEntry{name: "a", data: bytes.Repeat([]byte("abc"), 1000), header: zip.FileHeader{Method: zip.Deflate}}), func(_, c []byte) {
		binary.LittleEndian.PutUint32(c[24:], 4000)
	})
}

// TestOpenZipOverlap is the kind of bomb whose entries share their compressed bytes: each
// is harmless, together they are not.
func TestOpenZipOverlap(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB, below the floor of the ratio
	single := zipOf(t, zipTestEntry{name: "00", data: data, header: zip.FileHeader{Method: zip.Deflate}})
	at := bytes.LastIndex(single, []byte("PK\x01\x02"))
	end := bytes.LastIndex(single, []byte("PK\x05\x06"))
	record := single[at:end]
	out := bytes.Clone(single[:at])
	const copies = 50
	for i := range copies {
		r := bytes.Clone(record)
		copy(r[46:], []byte{byte('0' + i/10), byte('0' + i%10)})
		out = append(out, r...)
	}
	tail := bytes.Clone(single[end:])
	binary.LittleEndian.PutUint16(tail[8:], copies)
	binary.LittleEndian.PutUint16(tail[10:], copies)
	binary.LittleEndian.PutUint32(tail[12:], uint32(copies*len(record)))
	out = append(out, tail...)
	_, err := openBytes(out, Limits{})
	got := renderError(t, err)
	require.Len(t, got, 1)
	assert.True(t, strings.HasPrefix(got[0], "error: the files declare 52428800 bytes in an archive of "))
}

// TestOpenZipInZip holds the ratio of an archive in an archive against what came, so that two ratios do not multiply.
func TestOpenZipInZip(t *testing.T) {
	files := make([]zipTestEntry, 300)
	for i := range files {
		files[i] = zipTestEntry{name: fmt.Sprintf("%03d", i), data: make([]byte, ratioFloor), header: zip.FileHeader{Method: zip.Deflate}}
	}
	inner := zipOf(t, files...)
	outer := filepath.Join(t.TempDir(), "outer.zip")
	require.NoError(t, os.WriteFile(outer, zipOf(t, zipTestEntry{name: "p.csar", data: inner, header: zip.FileHeader{Method: zip.Deflate}}), 0o600))
	st, err := os.Stat(outer)
	require.NoError(t, err)
	_, _, problems, err := Open(outer, Options{}, Limits{MaxRatio: 1500})
	require.NoError(t, err)
	want := []string{
		"warning: p.csar: the package lies in another archive without a signature: option 2 requires p.cms beside it",
		fmt.Sprintf("error: p.csar: the files declare %d bytes in an archive of %d, a ratio of more than 1500", len(files)*ratioFloor, st.Size()),
	}
	assert.Equal(t, want, render(problems), "problems")
}

func TestOpenZipAccepts(t *testing.T) {
	data := zipOf(t, append(plain("./", "./a/", "./a/x.txt", "b", "ä/ö"), zipTestEntry{name: "exe", data: []byte("x"), header: zip.FileHeader{ExternalAttrs: 0o100755 << 16, CreatorVersion: 3 << 8}})...)
	file := filepath.Join(t.TempDir(), "p.csar")
	require.NoError(t, os.WriteFile(file, data, 0o600))
	f, err := OpenSource(file)
	require.NoError(t, err)
	a, err := openZipFile(f, Limits{})
	require.NoError(t, err)
	var names []string
	for _, f := range a.Files() {
		names = append(names, f.Path)
	}
	assert.Equal(t, []string{"a/x.txt", "b", "exe", "ä/ö"}, names)
	if got, err := a.ReadFile("a/x.txt"); err != nil || string(got) != "x" {
		t.Errorf("ReadFile: %q, %v", got, err)
	}
	require.NoError(t, a.Close())
	_, err = a.ReadFile("b")
	require.Error(t, err, "reading after Close succeeded")
	_, err = OpenSource(file + ".missing")
	require.ErrorIs(t, err, fs.ErrNotExist, "missing file")
}
