package vnfd

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// fileExtensions are those of artifacts that are files of a package. The file of an artifact may also be the reference of a container
// image or a name that a registry knows.
var fileExtensions = []string{
	".aki", ".ami", ".ari", ".bz2", ".cfg", ".conf", ".csv", ".gz", ".img", ".iso", ".jar", ".json", ".ova", ".ploop", ".py", ".qcow2", ".raw",
	".rpm", ".sh", ".tar", ".tgz", ".txt", ".vdi", ".vhd", ".vhdx", ".vmdk", ".war", ".xml", ".xz", ".yaml", ".yml", ".zip",
}

// isFile tells whether the file of an artifact is meant to be in the package.
func isFile(ref string) bool {
	return !strings.Contains(ref, ":") && slices.Contains(fileExtensions, strings.ToLower(path.Ext(ref)))
}

// checkArtifacts warns of artifacts whose file is not in the package: an image may be on the VIM already, and a script may not be
// needed. SOL001 has one software image for a VDU or a storage, with its data.
func (r *reader) checkArtifacts(t *template) {
	if !r.readsImports() {
		return
	}
	for _, n := range t.nodes {
		if n.kind == kindMciop || n.kind == kindOther || n.kind == kindUnknown {
			continue
		}
		artifacts := n.get("artifacts")
		if !artifacts.isMap() {
			continue
		}
		images := 0
		for _, a := range artifacts.entries() {
			file := a.value
			if a.isMap() {
				file = a.get("file")
			}
			if n.takesImage() && r.isImage(n, a) {
				images++
				r.checkImage(n, a, images, file)
			}
			if !file.isText() || !isFile(file.node.Value) {
				continue
			}
			if _, found := r.locate(n.key.doc.file, file.node.Value); !found {
				//findings:says add the file, or write its path relative to the file of the node or from the root of the package
				file.warnf("the file %q of the artifact %s of the node %s is not in the package%s", file.node.Value, a.name, n.name, r.otherCase(n.key.doc.file, file.node.Value))
			}
		}
	}
}

// takesImage tells whether a server or a volume is made of the node.
func (n *node) takesImage() bool { return n.kind == kindVDU || n.kind == kindStorage }

func (r *reader) isImage(n *node, a entry) bool {
	typ := a.get("type")
	return a.isMap() && typ.isText() && r.types.kindOf(n.key.doc.scope, typ.node.Value) == kindSWImage
}

// checkImage judges one of the software images of a node, the number of which counts from 1.
func (r *reader) checkImage(n *node, a entry, number int, file value) {
	switch {
	case number > 1:
		a.key.warnf("the node %s has another software image, %s; the first is used, for SOL001 allows one", n.name, a.name)
	case !a.get("properties").ok() && !n.property("sw_image_data").ok() && file.isText() && isFile(file.node.Value):
		a.key.warnf("the software image %s of the node %s has no data; SOL001 requires name, version, checksum, container_format, disk_format, min_disk and size", a.name, n.name)
	}
}

// locate finds a file of the package that a document names: beside the document, as TOSCA says, or else from the root, as some
// packages write it.
func (r *reader) locate(from, ref string) (string, bool) {
	for _, file := range candidates(from, ref) {
		r.steps(1)
		if _, err := fs.Stat(r.fsys, file); err == nil {
			return file, true
		}
	}
	return "", false
}

// candidates are the paths that a reference can mean.
func candidates(from, ref string) []string {
	var out []string
	for _, file := range []string{path.Join(path.Dir(from), ref), path.Clean(strings.TrimLeft(ref, "/"))} {
		if fs.ValidPath(file) {
			out = append(out, file)
		}
	}
	return out
}

// otherCase is what to add to an error about a file that is not in the package, when one is whose name differs by case alone.
func (r *reader) otherCase(from, ref string) string {
	for _, file := range candidates(from, ref) {
		if other := r.foldedFile(file); other != "" {
			return "; there is " + other + ", and names differ by case"
		}
	}
	return ""
}

// foldedFile finds a file whose path equals another one but for case.
func (r *reader) foldedFile(file string) string {
	at := "."
	for segment := range strings.SplitSeq(file, "/") {
		list, err := fs.ReadDir(r.fsys, at)
		if err != nil {
			return ""
		}
		r.steps(len(list))
		i := slices.IndexFunc(list, func(e fs.DirEntry) bool { return strings.EqualFold(e.Name(), segment) })
		if i < 0 {
			return ""
		}
		at = path.Join(at, list[i].Name())
	}
	return at
}
