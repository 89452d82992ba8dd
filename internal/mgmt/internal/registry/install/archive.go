package install

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// Annotations of an OCI index with the name of an image.
const (
	annotationName = "io.containerd.image.name"
	annotationRef  = "org.opencontainers.image.ref.name"
)

// Limits of the metadata of an archive: files that describe images are small.
const (
	maxDescription  = 1 << 20
	maxDescriptions = 32 << 20
)

// stored is one image of an archive.
type stored struct {
	// names are the references of the image, unchanged.
	names []string
	// architecture is a GOARCH; empty if unknown.
	architecture string
}

// contents are the images of an archive.
type contents struct {
	images []stored
	// layout says that the archive is an OCI layout without the manifest.json of Docker.
	layout bool
}

// read returns the images of an archive. It reads the archive once.
func (a *Archive) read() (*contents, error) {
	file, err := a.Open()
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", a.Path, err)
	}
	defer func() { _ = file.Close() }()
	files, err := descriptions(file)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", a.Path, err)
	}
	switch {
	case files["manifest.json"] != nil:
		return dockerContents(files)
	case files["index.json"] != nil:
		return layoutContents(files)
	}
	return nil, errors.New("it holds neither manifest.json nor index.json, so it is not an archive of images")
}

// descriptions returns the small JSON files of a tar archive.
func descriptions(r io.Reader) (map[string][]byte, error) {
	buffered := bufio.NewReader(r)
	r = buffered
	if magic, _ := buffered.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, err
		}
		r = unpacked
	}
	files, kept := map[string][]byte{}, 0
	for archive := tar.NewReader(r); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("it is not a complete tar archive: %w", err)
		}
		if header.Typeflag != tar.TypeReg || header.Size > maxDescription {
			continue
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			return nil, fmt.Errorf("it is not a complete tar archive: %w", err)
		}
		if first := bytes.TrimLeft(data, " \t\r\n"); len(first) == 0 || first[0] != '{' && first[0] != '[' {
			continue
		}
		if kept += len(data); kept > maxDescriptions {
			return nil, errors.New("it describes more images than an archive of a registry should")
		}
		files[path.Clean(header.Name)] = data
	}
}

// platform is the platform in the configuration of an image.
type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

func dockerContents(files map[string][]byte) (*contents, error) {
	var manifests []struct {
		Config   string   `json:"Config"`
		RepoTags []string `json:"RepoTags"`
	}
	if err := json.Unmarshal(files["manifest.json"], &manifests); err != nil {
		return nil, fmt.Errorf("its manifest.json cannot be read: %w", err)
	}
	out := &contents{}
	for _, m := range manifests {
		config := files[path.Clean(m.Config)]
		if config == nil {
			return nil, fmt.Errorf("its manifest.json names the file %s, which is not in it", m.Config)
		}
		var p platform
		if err := json.Unmarshal(config, &p); err != nil {
			return nil, fmt.Errorf("its file %s cannot be read: %w", m.Config, err)
		}
		out.images = append(out.images, stored{names: m.RepoTags, architecture: p.Architecture})
	}
	return out, nil
}

// descriptor is an OCI descriptor, of a manifest in an index or of the configuration in a manifest.
type descriptor struct {
	Digest      string            `json:"digest"`
	Annotations map[string]string `json:"annotations"`
	Platform    *platform         `json:"platform"`
}

func layoutContents(files map[string][]byte) (*contents, error) {
	var index struct {
		Manifests []descriptor `json:"manifests"`
	}
	if err := json.Unmarshal(files["index.json"], &index); err != nil {
		return nil, fmt.Errorf("its index.json cannot be read: %w", err)
	}
	out := &contents{layout: true}
	for _, d := range index.Manifests {
		image := stored{architecture: architectureOf(files, d)}
		if name := d.Annotations[annotationName]; name != "" {
			image.names = []string{name}
		} else if name := d.Annotations[annotationRef]; strings.ContainsAny(name, "/:") {
			image.names = []string{name}
		}
		out.images = append(out.images, image)
	}
	return out, nil
}

// architectureOf returns the architecture in a descriptor, else in the configuration of the image; empty for a nested index, which may
// have several.
func architectureOf(files map[string][]byte, d descriptor) string {
	if d.Platform != nil {
		return d.Platform.Architecture
	}
	var manifest struct {
		Config descriptor `json:"config"`
	}
	var p platform
	if json.Unmarshal(files[blob(d.Digest)], &manifest) != nil || json.Unmarshal(files[blob(manifest.Config.Digest)], &p) != nil {
		return ""
	}
	return p.Architecture
}

func blob(digest string) string {
	return "blobs/" + strings.Replace(digest, ":", "/", 1)
}

// choose returns the wanted image, or the only one, and its name in the archive.
func (c *contents) choose(wanted string) (string, stored, error) {
	if wanted != "" {
		for _, image := range c.images {
			for _, name := range image.names {
				if canonical(name) == canonical(wanted) {
					return name, image, nil
				}
			}
		}
		return "", stored{}, fmt.Errorf("it holds no image %s; it holds %s", wanted, c.list())
	}
	switch len(c.images) {
	case 0:
		return "", stored{}, errors.New("it holds no image")
	case 1:
		if names := c.images[0].names; len(names) > 0 {
			return names[0], c.images[0], nil
		}
		return "", stored{}, errors.New("its image has no name; save it by its name: docker save registry:3")
	}
	return "", stored{}, fmt.Errorf("it holds %d images: set image (container_image of a vnf_private_registry) to one of them: %s", len(c.images), c.list())
}

func (c *contents) list() string {
	var names []string
	for _, image := range c.images {
		names = append(names, image.names...)
	}
	if len(names) == 0 {
		return "no image with a name"
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
