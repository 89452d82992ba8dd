package openstack

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
)

// nodeLayer is a layer of the images of nodes: a file of tar that was written once, with the digest of what is in it.
type nodeLayer struct {
	file   string
	size   int64
	digest string
}

// nodeImage is an image of a node: some layers, the lowest first, under its names.
type nodeImage struct {
	names  []string
	layers []nodeLayer
	// entrypoint and command are what a container of it runs that names nothing else.
	entrypoint, command []string
}

// nodeFile is a file of a layer: that of a path of the machine, or a link when it has a target.
type nodeFile struct {
	path, from, target string
}

// writeLayer writes a layer.
func writeLayer(to string, files []nodeFile) (layer nodeLayer, err error) {
	out, err := os.Create(to) //nolint:gosec // A file of the cache.
	if err != nil {
		return layer, fmt.Errorf("making a layer: %w", err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	hash := sha256.New()
	w := tar.NewWriter(io.MultiWriter(out, hash))
	for _, file := range files {
		if err := writeNodeFile(w, file); err != nil {
			return layer, fmt.Errorf("packing %s: %w", file.path, err)
		}
	}
	if err := w.Close(); err != nil {
		return layer, fmt.Errorf("packing a layer: %w", err)
	}
	info, err := out.Stat()
	if err != nil {
		return layer, fmt.Errorf("packing a layer: %w", err)
	}
	return nodeLayer{file: to, size: info.Size(), digest: "sha256:" + hex.EncodeToString(hash.Sum(nil))}, nil
}

func writeNodeFile(w *tar.Writer, file nodeFile) error {
	if file.target != "" {
		return w.WriteHeader(&tar.Header{Name: file.path, Typeflag: tar.TypeSymlink, Linkname: file.target, Mode: 0o777})
	}
	in, err := os.Open(file.from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // It was only read from.
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if err := w.WriteHeader(&tar.Header{Name: file.path, Typeflag: tar.TypeReg, Mode: 0o755, Size: info.Size()}); err != nil {
		return err
	}
	_, err = io.Copy(w, in)
	return err
}

// writeImages writes one archive of images as `docker save` has it. A layer that several have is in it once.
func writeImages(to io.Writer, images []nodeImage) error {
	w := tar.NewWriter(to)
	var manifest []map[string]any
	var layers []nodeLayer
	for i, image := range images {
		var digests, names []string
		for _, layer := range image.layers {
			digests, names = append(digests, layer.digest), append(names, filepath.Base(layer.file))
			if !slices.Contains(layers, layer) {
				layers = append(layers, layer)
			}
		}
		config, err := json.Marshal(map[string]any{
			"architecture": runtime.GOARCH, "os": "linux",
			"config": map[string]any{
				"Env":        []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
				"Entrypoint": image.entrypoint, "Cmd": image.command,
			},
			"rootfs": map[string]any{"type": "layers", "diff_ids": digests},
		})
		if err != nil {
			return fmt.Errorf("encoding an image: %w", err)
		}
		name := fmt.Sprintf("config-%d.json", i)
		if err := writeText(w, name, config); err != nil {
			return err
		}
		manifest = append(manifest, map[string]any{"Config": name, "RepoTags": image.names, "Layers": names})
	}
	for _, layer := range layers {
		if err := writeNodeFile(w, nodeFile{path: filepath.Base(layer.file), from: layer.file}); err != nil {
			return fmt.Errorf("packing images: %w", err)
		}
	}
	text, err := json.Marshal(manifest)
	if err != nil {
		return fmt.Errorf("encoding the list of images: %w", err)
	}
	return errors.Join(writeText(w, "manifest.json", text), w.Close())
}

func writeText(w *tar.Writer, name string, text []byte) error {
	if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))}); err != nil {
		return fmt.Errorf("packing %s: %w", name, err)
	}
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("packing %s: %w", name, err)
	}
	return nil
}

// debian collects the files of a layer: programs of Debian's packages, with the libraries that they need.
type debian struct {
	// roots are those of the packages; what several have is that of the first one.
	roots []root
	files []nodeFile
}

// filterFiles are the programs with which kube-proxy and flannel set up packet filters.
func filterFiles(roots ...root) ([]nodeFile, error) {
	d := debian{roots: roots}
	programs := []string{"usr/sbin/xtables-nft-multi", "usr/sbin/nft", "usr/sbin/ipset", "usr/sbin/conntrack"}
	modules, err := d.find("usr/lib/*-linux-gnu*/xtables/*.so")
	if err != nil {
		return nil, err
	}
	if err := d.addPrograms(append(programs, modules...)...); err != nil {
		return nil, err
	}
	d.addLinks("usr/sbin", "xtables-nft-multi", "iptables", "iptables-save", "iptables-restore", "ip6tables", "ip6tables-save", "ip6tables-restore")
	return d.files, nil
}

// shellFiles are a shell with the usual commands, a client and a server of the web.
func shellFiles(roots ...root) ([]nodeFile, error) {
	d := debian{roots: roots}
	if err := d.addPrograms("usr/bin/busybox"); err != nil {
		return nil, err
	}
	d.addLinks("usr/bin", "busybox", "cat", "cp", "echo", "hostname", "httpd", "ls", "nslookup", "sh", "sleep", "wget")
	return d.files, nil
}

// addPrograms adds programs, and the links of the merged /usr.
func (d *debian) addPrograms(names ...string) error {
	for _, name := range names {
		if err := d.addProgram(name); err != nil {
			return err
		}
	}
	for _, folder := range []string{"lib", "lib64", "bin", "sbin"} {
		d.files = append(d.files, nodeFile{path: folder, target: "usr/" + folder})
	}
	return nil
}

// addLinks adds further names of a program in its folder.
func (d *debian) addLinks(folder, program string, names ...string) {
	for _, name := range names {
		d.files = append(d.files, nodeFile{path: path.Join(folder, name), target: program})
	}
}

// find is what the first root that has any has of a pattern, as paths inside of it.
func (d *debian) find(pattern string) ([]string, error) {
	for _, r := range d.roots {
		found, err := filepath.Glob(r.path(pattern))
		if err != nil {
			return nil, fmt.Errorf("looking for /%s: %w", pattern, err)
		}
		for i := range found {
			if found[i], err = filepath.Rel(r.path(), found[i]); err != nil {
				return nil, fmt.Errorf("looking for /%s: %w", pattern, err)
			}
		}
		if len(found) > 0 {
			return found, nil
		}
	}
	return nil, fmt.Errorf("finding /%s among the packages of nodes: %w", pattern, os.ErrNotExist)
}

// add adds a file of a root, with another path perhaps, and returns where it is. Links are followed.
func (d *debian) add(to, name string) (from string, fresh bool, err error) {
	for _, r := range d.roots {
		if from, err = filepath.EvalSymlinks(r.path(name)); err == nil {
			break
		}
	}
	if err != nil {
		return "", false, fmt.Errorf("finding /%s among the packages of nodes: %w", name, err)
	}
	if slices.ContainsFunc(d.files, func(file nodeFile) bool { return file.path == to }) {
		return from, false, nil
	}
	d.files = append(d.files, nodeFile{path: to, from: from})
	return from, true, nil
}

// addProgram adds a program, or a library, with its loader and all libraries that it needs.
func (d *debian) addProgram(name string) error {
	from, fresh, err := d.add(name, name)
	if err != nil || !fresh {
		return err
	}
	loader, err := interpreter(from)
	if err != nil {
		return err
	}
	if loader != "" {
		// Its usual path is a link that leads out of the root.
		found, err := d.find(path.Join("usr/lib/*-linux-gnu*", path.Base(loader)))
		if err != nil {
			return err
		}
		if _, _, err := d.add(path.Join("usr", loader), found[0]); err != nil {
			return err
		}
	}
	needed, err := imported(from)
	if err != nil {
		return err
	}
	for _, library := range needed {
		found, err := d.find(path.Join("usr/lib/*-linux-gnu*", library))
		if err != nil {
			return err
		}
		if err := d.addProgram(found[0]); err != nil {
			return err
		}
	}
	return nil
}
