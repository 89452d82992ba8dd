package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/fetch"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// index is index.yaml of a Helm repository, as far as it matters.
type index struct {
	Entries map[string][]release `yaml:"entries"`
}

// release is one version of a chart in a repository.
type release struct {
	Version string   `yaml:"version"`
	URLs    []string `yaml:"urls"`
	// Digest is that of the archive, without "sha256:".
	Digest string `yaml:"digest"`
}

// fetchRepository fetches a chart from a Helm repository.
func fetchRepository(ctx context.Context, source *vnfm.ChartSource, want wanted) ([]byte, error) {
	base := strings.TrimSuffix(source.Repository, "/") + "/"
	if err := checkPlain(base, source.Access); err != nil {
		return nil, err
	}
	list, err := readIndex(ctx, base, source.Access)
	if err != nil {
		return nil, err
	}
	releases, ok := list.Entries[source.Name]
	if !ok {
		return nil, vnfm.Invalid("name", fmt.Sprintf("repository %s has no chart %q", fetch.Redact(source.Repository), source.Name),
			"its charts are "+named(slices.Sorted(maps.Keys(list.Entries))))
	}
	versions := make([]string, 0, len(releases))
	for _, r := range releases {
		versions = append(versions, r.Version)
	}
	at := want.choose(versions)
	if at < 0 {
		return nil, want.unmet(source, versions)
	}
	return download(ctx, base, source, &releases[at])
}

// checkPlain refuses to send a password without TLS unless that was asked for.
func checkPlain(url string, access *vnfm.ChartAccess) error {
	if access == nil || access.Password == "" || access.PlainHTTP || !strings.HasPrefix(strings.ToLower(url), "http://") {
		return nil
	}
	return vnfm.Invalid("repository", "the password would be sent without TLS", "use an https URL, or set plain_http = true where the network is trusted")
}

func readIndex(ctx context.Context, base string, access *vnfm.ChartAccess) (*index, error) {
	var text bytes.Buffer
	_, err := fetch.Get(ctx, fetch.Request{URL: base + "index.yaml", What: "the index of the chart repository", Limit: maxIndex, Access: access}, &text)
	if err != nil {
		return nil, err
	}
	out := &index{}
	if err := yaml.Unmarshal(text.Bytes(), out); err != nil || out.Entries == nil {
		return nil, vnfm.Invalid("repository", fmt.Sprintf("%s is not a Helm repository", fetch.Redact(base)), "its index.yaml lists no charts under entries")
	}
	return out, nil
}

// download fetches the archive of a version. Where the archive is on another server than
// the index, that one gets no password, and is trusted no more than any other.
func download(ctx context.Context, base string, source *vnfm.ChartSource, r *release) ([]byte, error) {
	if len(r.URLs) == 0 {
		return nil, fmt.Errorf("version %s of chart %s has no URL in the index of its repository", r.Version, source)
	}
	where, err := url.Parse(base)
	if err != nil {
		return nil, errors.New("the URL of the repository is not a usable URL")
	}
	at, err := where.Parse(r.URLs[0])
	if err != nil {
		return nil, fmt.Errorf("version %s of chart %s has no usable URL in the index of its repository", r.Version, source)
	}
	access := source.Access
	if !fetch.SameOrigin(where, at) {
		access = nil
	}
	if where.Scheme == "https" && at.Scheme != "https" {
		return nil, fmt.Errorf("version %s of chart %s is at %s, without TLS, although its repository uses https: it is not fetched", r.Version, source, fetch.Redact(at.String()))
	}
	var archive bytes.Buffer
	got, err := fetch.Get(ctx, fetch.Request{URL: at.String(), What: "version " + r.Version + " of the chart " + source.Name, Limit: maxArchive, Access: access}, &archive)
	if err != nil {
		return nil, err
	}
	if published := strings.TrimPrefix(r.Digest, "sha256:"); published != "" && "sha256:"+published != got.Checksum {
		return nil, fmt.Errorf("the archive of version %s of chart %s has the digest %s, and the index of the repository says sha256:%s: it is not the one that was published", r.Version, source, got.Checksum, published)
	}
	if source.Digest != "" && source.Digest != got.Checksum {
		return nil, vnfm.Invalid("digest", fmt.Sprintf("chart %s does not have the expected digest", source), fmt.Sprintf("it is %s, expected %s", got.Checksum, source.Digest))
	}
	return archive.Bytes(), nil
}
