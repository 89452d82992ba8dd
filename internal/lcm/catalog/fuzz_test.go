package catalog

import (
	"bytes"
	"testing"
)

// FuzzBundle reads foreign bundles: each file is a part of the text, and they take no more room than it has.
func FuzzBundle(f *testing.F) {
	for _, text := range []string{"", "sha256:a 3\nabcsha256:b 0\n", "a 4\nabc", "a -1\n", "a 99999999999999999999\n", " 0\n", "a\n", "a 1\nxa 1\ny"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		files, err := readBundle(text)
		if err != nil {
			if files != nil {
				t.Error("files and an error")
			}
			return
		}
		size := 0
		for digest, content := range files {
			size += len(digest) + len(content)
			if !bytes.Contains(text, content) || cap(content) != len(content) {
				t.Errorf("file %q is not a part of the bundle", digest)
			}
		}
		if size > len(text) {
			t.Errorf("files of %d bytes in a bundle of %d", size, len(text))
		}
	})
}
