package store

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestVerifyBlob(t *testing.T) {
	for name, test := range map[string]struct {
		content string
		want    error
	}{
		"whole":  {"the content", nil},
		"longer": {"the content!", ErrCorrupt},
		"cut":    {"the conten", ErrCorrupt},
		"empty":  {"", ErrCorrupt},
	} {
		r := VerifyBlob(strings.NewReader(test.content), io.NopCloser(nil), Digest([]byte("the content")))
		if _, err := io.ReadAll(r); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}
