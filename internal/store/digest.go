package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strings"
)

const sha256Prefix = "sha256:"

// Digest returns the name of a content: "sha256:" and 64 lower-case hex digits.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return sha256Prefix + hex.EncodeToString(sum[:])
}

// ParseDigest returns the 64 hex digits of "sha256:<hex>". Everything else is an
// error, so that the result is safe as a file or object name.
func ParseDigest(digest string) (string, error) {
	sum, ok := strings.CutPrefix(digest, sha256Prefix)
	if !ok || len(sum) != hex.EncodedLen(sha256.Size) || strings.Trim(sum, "0123456789abcdef") != "" {
		return "", fmt.Errorf("content digest %q is not of the form sha256:<64 lower-case hex digits>", digest)
	}
	return sum, nil
}

// CopyBlob copies a content from r to w, to the end of r or of ctx, and returns an
// error when its digest is another one.
func CopyBlob(ctx context.Context, w io.Writer, r io.Reader, digest string) error {
	if _, err := ParseDigest(digest); err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(w, sum), contextReader{ctx: ctx, r: r}); err != nil {
		return err
	}
	if got := sha256Prefix + hex.EncodeToString(sum.Sum(nil)); got != digest {
		return fmt.Errorf("content has the digest %s, not %s", got, digest)
	}
	return nil
}

// CheckUpload reads a content that the store has already, and returns an error when its digest is another one.
func CheckUpload(ctx context.Context, r io.Reader, digest string) error {
	if err := CopyBlob(ctx, io.Discard, r, digest); err != nil {
		return fmt.Errorf("storing the content %s: %w", digest, err)
	}
	return nil
}

// IsIntact reports whether a stored content has its digest. The error is that of ctx alone.
func IsIntact(ctx context.Context, r io.Reader, digest string) (bool, error) {
	err := CopyBlob(ctx, io.Discard, r, digest)
	return err == nil, ctx.Err()
}

// contextReader stops reading when ctx ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}

// VerifyBlob reads r, which holds the content of that digest, and gives an error
// that is ErrCorrupt instead of io.EOF when the digest is another one. Close
// closes c.
func VerifyBlob(r io.Reader, c io.Closer, digest string) io.ReadCloser {
	return &verifyingReader{r: r, c: c, digest: digest, sum: sha256.New()}
}

type verifyingReader struct {
	r      io.Reader
	c      io.Closer
	digest string
	sum    hash.Hash
}

func (v *verifyingReader) Read(p []byte) (int, error) {
	n, err := v.r.Read(p)
	v.sum.Write(p[:n])
	if err == io.EOF {
		if got := sha256Prefix + hex.EncodeToString(v.sum.Sum(nil)); got != v.digest {
			return n, fmt.Errorf("content %s: %w: it has the digest %s", v.digest, ErrCorrupt, got)
		}
	}
	return n, err
}

func (v *verifyingReader) Close() error { return v.c.Close() }
