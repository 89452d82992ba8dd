package capi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// manifestFile is the only file of the package that a workload cluster is made of.
const manifestFile = "cluster.yaml"

// Package implements vnfm.ClusterDriver.
func (d *Driver) Package(spec *vnfm.ClusterSpec) (*vnfm.Package, vnfm.Problems) {
	var ps vnfm.Problems
	objects := forms.Render(spec, &ps)
	checkCredential(spec, objects, &ps)
	if ps.HasErrors() {
		return nil, ps
	}
	if spec.Paused {
		pause(objects)
	}
	text, err := documents(objects)
	if err != nil {
		ps.Errorf("", 0, 0, "%v", err)
		return nil, ps
	}
	// What a cluster has besides its objects is part of what it consists of.
	sum := sha256.Sum256(slices.Concat(text, credentialText(spec.OpenStack)))
	digest := "sha256:" + hex.EncodeToString(sum[:])
	name := "workload-cluster/" + spec.Name
	return &vnfm.Package{
		ID: vnfm.PackageID(name, digest), Name: name, Digest: digest,
		Descriptor: &vnfm.Descriptor{
			ID: name, DefaultFlavourID: flavourID,
			Flavours: []vnfm.Flavour{{ID: flavourID}},
		},
		KubernetesFiles: []string{manifestFile},
		Content:         oneFile(text),
	}, ps
}

// Settle implements vnfm.ClusterDriver.
func (d *Driver) Settle(wanted, present *vnfm.ClusterSpec) { forms.KeepTemplateNames(wanted, present) }

// flavourID is that of the only deployment flavour of a workload cluster.
const flavourID = "default"

// annotationReadyPath is how the manifests of a package say when an object is ready.
const annotationReadyPath = vnfm.LabelPrefix + "ready-jsonpath"

// pause has Cluster API leave the cluster alone. Nobody works on the objects of a
// paused cluster, so that waiting for more than their existence would not end.
func pause(objects []map[string]any) {
	for _, o := range objects {
		apiVersion, _ := o["apiVersion"].(string)
		apiGroup, _, _ := strings.Cut(apiVersion, "/")
		if apiGroup != group && !strings.HasSuffix(apiGroup, "."+group) {
			continue
		}
		meta := forms.Child(o, "metadata")
		forms.Child(meta, "annotations")[annotationReadyPath] = fmt.Sprintf("{.metadata.name}=%v", meta["name"])
		if apiGroup == group && o["kind"] == "Cluster" {
			forms.Child(o, "spec")["paused"] = true
		}
	}
}

// documents writes objects as YAML documents, the keys of each in order.
func documents(objects []map[string]any) ([]byte, error) {
	var out bytes.Buffer
	for _, o := range objects {
		text, err := yaml.Marshal(o)
		if err != nil {
			return nil, fmt.Errorf("writing %v %v: %w", o["kind"], o["metadata"], err)
		}
		out.WriteString("---\n")
		out.Write(text)
	}
	return out.Bytes(), nil
}

// oneFile is a file system that holds manifestFile.
type oneFile []byte

// Open implements fs.FS.
func (f oneFile) Open(name string) (fs.File, error) {
	if name != manifestFile {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &openFile{Reader: bytes.NewReader(f), size: int64(len(f))}, nil
}

type openFile struct {
	io.Reader
	size int64
}

// Stat implements fs.File.
func (f *openFile) Stat() (fs.FileInfo, error) { return fileInfo(f.size), nil }

// Close implements fs.File.
func (f *openFile) Close() error { return nil }

type fileInfo int64

// The methods of fs.FileInfo.
func (fileInfo) Name() string       { return manifestFile }
func (i fileInfo) Size() int64      { return int64(i) }
func (fileInfo) Mode() fs.FileMode  { return 0o444 }
func (fileInfo) ModTime() time.Time { return time.Time{} }
func (fileInfo) IsDir() bool        { return false }
func (fileInfo) Sys() any           { return nil }
