package manifests

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/yamlpos"
)

// A plan or apply reads the same manifests several times: when the package is read, and whenever they are rendered, for the preview,
// the observation, the dry run and the operation. Most of that time is spent on files and YAML, which are read once in
// a process.

// Bounds of the cache: bytes of the files, and the values in them, which aliases can
// multiply.
const (
	maxCachedBytes  = 4 << 20
	maxCachedValues = 400_000
)

// cache caches the manifests of files, by path and content.
type cache struct {
	mu   sync.Mutex
	byID map[cacheKey]*cachedFile
	// size is in bytes.
	size   int64
	values int64
}

// cachedFile is a file that was read without a problem.
type cachedFile struct {
	// manifests are not changed.
	manifests []Manifest
	// written has one for each of them.
	written []Written
	// bytes, and values to parse the file and to make manifests of it, are what reading it takes from a budget.
	bytes, parsed, made int64
	// objects is set when each document is an object of an API.
	objects bool
}

type cacheKey struct{ file, digest string }

// processCache is that of the process.
var processCache cache

// digested are files whose digests are known and checked whenever they are read.
type digested interface {
	// FileDigest is "sha256:<hex>", or empty where it is not known.
	FileDigest(name string) string
}

// fileDigest returns the digest of a file without reading it, or nothing.
func fileDigest(fsys fs.FS, file string) string {
	if known, ok := fsys.(digested); ok {
		return known.FileDigest(file)
	}
	return ""
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (c *cache) get(id cacheKey) *cachedFile {
	if id.digest == "" {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byID[id]
}

// readAdvice is an error of reading a file, and the way on where the error has none.
func readAdvice(err error) string {
	if _, ok := errors.AsType[*budget.Error](err); ok {
		return err.Error() + "; make the files that the instance reads fewer or smaller"
	}
	return err.Error()
}

// read returns the manifests of a file as Decode does. The caller may
// change them. The budget is charged alike for a cached file, so that the cache does not
// decide what is rejected.
func (c *cache) read(b *budget.Budget, fsys fs.FS, file string, ps *vnfm.Problems) []Manifest {
	id := cacheKey{file, fileDigest(fsys, file)}
	if kept := c.get(id); kept != nil && kept.takeAll(b) {
		return kept.copied(b, fsys)
	}
	text, err := b.ReadFile(fsys, file)
	if err != nil {
		//findings:says make the files that the instance reads fewer or smaller, or what the error says
		*ps = append(*ps, vnfm.Problem{File: file, Summary: "cannot be read", Detail: readAdvice(err)})
		return nil
	}
	if id.digest == "" {
		id.digest = digestOf(text)
		if kept := c.get(id); kept != nil && kept.takeAll(b) {
			return kept.copied(b, fsys)
		}
	}
	before := len(*ps)
	bytes, values := b.Taken()
	docs, problems := yamlpos.Parse(b, file, text, yamlpos.Options{})
	*ps = append(*ps, problems...)
	kept := &cachedFile{}
	afterBytes, afterValues := b.Taken()
	kept.bytes, kept.parsed = afterBytes-bytes, afterValues-values
	d := decoder{file: file, ps: ps}
	d.decode(docs)
	if len(*ps) > before {
		return d.found
	}
	_, made := b.Taken()
	kept.made, kept.manifests = made-afterValues, withoutDocuments(d.found)
	if kept = c.keep(id, kept); kept == nil {
		return d.found
	}
	return kept.copied(b, fsys)
}

// keep keeps a file while there is room, and returns it then.
func (c *cache) keep(id cacheKey, read *cachedFile) *cachedFile {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size+read.bytes > maxCachedBytes || c.values+read.parsed+read.made > maxCachedValues {
		return nil
	}
	if c.byID == nil {
		c.byID = map[cacheKey]*cachedFile{}
	}
	if old := c.byID[id]; old != nil {
		old.objects = old.objects || read.objects
		return old
	}
	read.written = make([]Written, len(read.manifests))
	for i, m := range read.manifests {
		read.written[i].content = m.Content
	}
	c.byID[id] = read
	c.size += read.bytes
	c.values += read.parsed + read.made
	return read
}

// takeAll takes from a budget what reading the file and making manifests of it takes.
func (f *cachedFile) takeAll(b *budget.Budget) bool {
	return b.TakeKnown(f.bytes, f.parsed+f.made)
}

// copied returns the manifests, which the caller may change. Their file is read again, once for all of them, when the place of a
// problem is needed. It was read within a budget before, and is bounded by maxCachedBytes.
func (f *cachedFile) copied(b *budget.Budget, fsys fs.FS) []Manifest {
	if len(f.manifests) == 0 {
		return nil
	}
	again := sync.OnceValue(func() []Manifest {
		file := f.manifests[0].File
		text, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil
		}
		var ps vnfm.Problems
		return Decode(budget.New(b.Context(), budget.Limits{}), file, text, false, &ps)
	})
	out := make([]Manifest, 0, len(f.manifests))
	for i, m := range f.manifests {
		m.Content, _ = copyValue(m.Content).(map[string]any)
		m.Written = &f.written[i]
		lean := m
		m.withDocument = func() *Manifest {
			if read := again(); i < len(read) {
				return &read[i]
			}
			return &lean
		}
		out = append(out, m)
	}
	return out
}

// withoutDocuments drops the documents: they take most of the room, and only the places of
// problems need them.
func withoutDocuments(all []Manifest) []Manifest {
	out := make([]Manifest, 0, len(all))
	for _, m := range all {
		m.Node = &yaml.Node{Kind: m.Node.Kind, Line: m.Node.Line, Column: m.Node.Column}
		m.doc = nil
		out = append(out, m)
	}
	return out
}

// copyValue copies a value of JSON.
func copyValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			out[name] = copyValue(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = copyValue(item)
		}
		return out
	default:
		return v
	}
}

// Read reads all documents of a file of the package. JSON is read as YAML. The caller may change the manifests.
func Read(b *budget.Budget, fsys fs.FS, file string, ps *vnfm.Problems) []Manifest {
	return processCache.read(b, fsys, file, ps)
}

// HoldsObjects reports that a file was kept by KeepObjects with its content. It takes from the budget what parsing it takes.
func HoldsObjects(b *budget.Budget, fsys fs.FS, file string) bool {
	return processCache.holdsObjects(b, fsys, file)
}

func (c *cache) holdsObjects(b *budget.Budget, fsys fs.FS, file string) bool {
	id := cacheKey{file, fileDigest(fsys, file)}
	kept := c.get(id)
	if kept == nil {
		return false
	}
	c.mu.Lock()
	known := kept.objects
	c.mu.Unlock()
	return known && b.TakeKnown(kept.bytes, kept.parsed)
}

// KeepObjects keeps what a file holds whose documents were parsed without a problem, and are all objects of an API. The values are those
// that parsing it took from a budget. That of its caller is not charged.
func KeepObjects(b *budget.Budget, file string, text []byte, docs []*yamlpos.Document, values int64) {
	processCache.keepObjects(b, file, text, docs, values)
}

func (c *cache) keepObjects(b *budget.Budget, file string, text []byte, docs []*yamlpos.Document, values int64) {
	c.mu.Lock()
	full := c.size+int64(len(text)) > maxCachedBytes || c.values+values > maxCachedValues
	c.mu.Unlock()
	if full {
		return
	}
	var ps vnfm.Problems
	// A value costs two at most, unless aliases multiply it: such a file is read when it is rendered.
	own := budget.New(b.Context(), budget.Limits{Values: 2*values + 1})
	d := decoder{file: file, ps: &ps}
	for _, doc := range docs {
		if doc.Repeats() {
			return
		}
		d.decode([]*yamlpos.Document{doc.In(own)})
		if len(ps) > 0 {
			return
		}
	}
	_, made := own.Taken()
	c.keep(cacheKey{file, digestOf(text)}, &cachedFile{manifests: withoutDocuments(d.found), bytes: int64(len(text)), parsed: values, made: made, objects: true})
}
