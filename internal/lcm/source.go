package lcm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// maxDownload bounds a package behind a URL: images make packages large, an
// endless answer must not fill the disk.
const maxDownload = 16 << 30

// fetched is a package source as a path on this machine.
type fetched struct {
	path string
	// checksum is the digest of the file; empty for a directory.
	checksum string
	etag     string
	// unchanged is set when the server said that the content of etag is current.
	unchanged bool
	// remove deletes a downloaded file.
	remove func()
}

func isURL(source string) bool {
	return strings.HasPrefix(source, "http://") || strings.HasPrefix(source, "https://")
}

// fetch makes a source available as a path. etag may be that of an earlier fetch.
func fetch(ctx context.Context, source, checksum, etag string) (*fetched, error) {
	f := &fetched{path: source, remove: func() {}}
	if isURL(source) {
		if err := f.download(ctx, source, etag); err != nil {
			return nil, err
		}
		if f.unchanged {
			return f, nil
		}
	} else if scheme, _, ok := strings.Cut(source, "://"); ok {
		return nil, fmt.Errorf("package source %q: the scheme %q is not supported; give a path, or an http or https URL", redactURL(source), scheme)
	}
	info, err := os.Stat(f.path)
	if err != nil {
		f.remove()
		return nil, fmt.Errorf("reading the package source: %w", err)
	}
	if info.IsDir() {
		if checksum != "" {
			return nil, fmt.Errorf("package source %q is a directory: a checksum can be given for a file or a URL only", source)
		}
		return f, nil
	}
	if f.checksum == "" {
		if f.checksum, err = fileDigest(f.path); err != nil {
			return nil, fmt.Errorf("reading the package source: %w", err)
		}
	}
	if checksum != "" && !strings.EqualFold(checksum, f.checksum) {
		f.remove()
		return nil, fmt.Errorf("package source %q has the checksum %s, expected is %s: the file is not the one that was meant, or it is damaged", redactSource(source), f.checksum, checksum)
	}
	return f, nil
}

func fileDigest(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// redactURL drops user information and query from a URL for messages: both are
// places where people put tokens.
func redactURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "(URL)"
	}
	u.User = nil
	if u.RawQuery != "" {
		u.RawQuery = "..."
	}
	return u.String()
}

func redactSource(source string) string {
	if isURL(source) {
		return redactURL(source)
	}
	return source
}

func (f *fetched) download(ctx context.Context, source, etag string) (err error) {
	client := retryablehttp.NewClient()
	client.Logger = nil
	client.RetryMax = 4
	client.RetryWaitMin = 500 * time.Millisecond
	client.RetryWaitMax = 10 * time.Second
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, source, nil)
	if err != nil {
		return fmt.Errorf("package source %s is not a usable URL", redactURL(source))
	}
	if etag != "" {
		req.Header.Set("If-None-Match", etag)
	}
	resp, err := client.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		return fmt.Errorf("downloading the package from %s: %w", redactURL(source), err)
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode == http.StatusNotModified && etag != "":
		f.unchanged, f.etag = true, etag
		return nil
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("downloading the package from %s: the server answered %s", redactURL(source), resp.Status)
	}
	file, err := os.CreateTemp("", "vnf-package-*"+filepath.Ext(req.URL.Path))
	if err != nil {
		return fmt.Errorf("keeping the downloaded package: %w", err)
	}
	f.path = file.Name()
	f.remove = func() { _ = os.Remove(file.Name()) }
	defer func() {
		if closeErr := file.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("keeping the downloaded package: %w", closeErr)
		}
		if err != nil {
			f.remove()
		}
	}()
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(file, h), io.LimitReader(resp.Body, maxDownload+1))
	if err != nil {
		return fmt.Errorf("downloading the package from %s: the transfer broke after %d bytes: %w", redactURL(source), n, err)
	}
	if n > maxDownload {
		return fmt.Errorf("downloading the package from %s: it is larger than %d bytes", redactURL(source), int64(maxDownload))
	}
	f.checksum = "sha256:" + hex.EncodeToString(h.Sum(nil))
	f.etag = resp.Header.Get("ETag")
	return nil
}
