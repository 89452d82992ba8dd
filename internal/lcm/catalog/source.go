package catalog

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/csar"
	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/endpoint"
	"github.com/nfv-iac/terraform-provider-vnf/internal/fetch"
	"github.com/nfv-iac/terraform-provider-vnf/internal/helm/repo"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tempfile"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// maxDownload bounds a package behind a URL: images make packages large, an
// endless answer must not fill the disk.
const maxDownload = 16 << 30

// fetched is a package source that is open.
type fetched struct {
	// shown is the source as messages name it, without what may hold a token.
	shown string
	// file is what the checksum was taken of: nothing is read by its path again.
	file *os.File
	// checksum is the digest of the file; empty for a directory.
	checksum string
	etag     string
	// unchanged is set when the server said that the content of etag is current.
	unchanged bool
	// remove deletes a downloaded file.
	remove func()
}

// close gives up a source that was not taken over.
func (f *fetched) close() {
	_ = f.file.Close()
	f.remove()
}

// isRemote reports whether a source is to be downloaded.
func isRemote(source string) bool { return endpoint.IsHTTP(source) || isOCI(source) }

func isOCI(source string) bool { return strings.HasPrefix(source, repo.OCIScheme) }

// checkPlain refuses to send secrets without TLS unless that was asked for.
func checkPlain(source string, access *vnfm.ChartAccess) error {
	if access == nil || access.PlainHTTP || access.Password == "" && access.Token == "" && len(access.Headers) == 0 {
		return nil
	}
	if u, err := url.Parse(source); err == nil && !endpoint.IsPlain(u) {
		return nil
	}
	return vnfm.Invalid("source", "the credentials would be sent without TLS", "use an https URL, or set plain_http = true where the network is trusted")
}

// openSource opens a source and checks what is open. etag may be that of an earlier fetch, access nil.
func openSource(ctx context.Context, source, checksum, etag string, access *vnfm.ChartAccess) (*fetched, error) {
	f := &fetched{remove: func() {}}
	if isRemote(source) {
		if err := f.download(ctx, source, etag, access); err != nil {
			return nil, err
		}
		if f.unchanged {
			return f, nil
		}
	} else if scheme, _, ok := strings.Cut(source, "://"); ok {
		return nil, fmt.Errorf("package source %q: the scheme %q is not supported; give a path, an http or https URL, or oci://", fetch.Redact(source), scheme)
	} else {
		var err error
		if f.file, err = csar.OpenSource(source); err != nil {
			return nil, fmt.Errorf("reading the package source: %w", fromHere(source, err))
		}
	}
	if f.shown = source; endpoint.IsHTTP(source) {
		f.shown = fetch.Redact(source)
	}
	info, err := f.file.Stat()
	if err != nil {
		f.close()
		return nil, fmt.Errorf("reading the package source: %w", err)
	}
	if info.IsDir() {
		if checksum != "" {
			f.close()
			return nil, fmt.Errorf("package source %q is a directory: a checksum can be given for a file or a URL only", source)
		}
		return f, nil
	}
	if f.checksum == "" {
		if f.checksum, err = fileDigest(f.file); err != nil {
			f.close()
			return nil, fmt.Errorf("reading the package source: %w", err)
		}
	}
	if checksum != "" && !strings.EqualFold(checksum, f.checksum) {
		f.close()
		return nil, fmt.Errorf("package source %q has the checksum %s, expected %s: it is another file, or it is damaged", f.shown, f.checksum, checksum)
	}
	return f, nil
}

// fromHere adds to the error of a relative path that does not exist where it starts.
func fromHere(source string, err error) error {
	here, unknown := os.Getwd()
	if !errors.Is(err, fs.ErrNotExist) || filepath.IsAbs(source) || unknown != nil {
		return err
	}
	return fmt.Errorf("%w; a relative path starts at the working directory, %s; in a configuration %q starts at the folder of the module", err, here, "${path.module}/"+filepath.ToSlash(source))
}

func fileDigest(file io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return digest.Sum(h), nil
}

func (f *fetched) download(ctx context.Context, source, etag string, access *vnfm.ChartAccess) (err error) {
	if err := checkPlain(source, access); err != nil {
		return err
	}
	extension := ""
	if u, err := url.Parse(source); err == nil {
		extension = filepath.Ext(u.Path)
	}
	file, remove, err := tempfile.Create(extension)
	if err != nil {
		return fmt.Errorf("storing the downloaded package: %w", err)
	}
	f.file, f.remove = file, remove
	defer func() {
		if err != nil || f.unchanged {
			f.close()
		}
	}()
	get := fetch.Get
	if isOCI(source) {
		get = repo.FetchPackage
	}
	answer, err := get(ctx, fetch.Request{URL: source, What: "the package", ETag: etag, Limit: maxDownload, Access: access}, file)
	if err != nil {
		return err
	}
	f.unchanged, f.checksum, f.etag = answer.Unchanged, answer.Checksum, answer.ETag
	return nil
}
