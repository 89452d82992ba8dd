package vnfd

import (
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// containers reads the OS containers of a flavour, each once however many VDUs
// require it.
type containers struct {
	r     *reader
	nodes map[string]*node
	read  map[string]readContainer
}

// readContainer is a container and what is wrong with it.
type readContainer struct {
	container vnfm.Container
	problems  vnfm.Problems
}

func (r *reader) containers(t *template) *containers {
	c := &containers{r: r, nodes: map[string]*node{}, read: map[string]readContainer{}}
	for _, n := range t.of(kindContainer) {
		c.nodes[n.name] = n
	}
	return c
}

// get returns the container of a node and what is wrong with it.
func (c *containers) get(n *node) (vnfm.Container, vnfm.Problems) {
	if _, ok := c.read[n.name]; !ok {
		var one readContainer
		one.problems = c.r.aside(func() { one.container = c.r.osContainer(n) })
		c.read[n.name] = one
	}
	one := c.read[n.name]
	return one.container, one.problems
}

// osContainer reads a Vdu.OsContainer. SOL001 says what a container needs and not
// what it runs; types derived from OsContainer say that by the names that Tacker
// has for it.
func (r *reader) osContainer(n *node) vnfm.Container {
	return vnfm.Container{
		ID:        n.name,
		Name:      n.property("name").str(),
		Image:     r.imageOf(n),
		Command:   n.property("command").texts(),
		Args:      n.property("args").texts(),
		Ports:     readPorts(n.property("ports")),
		Config:    readConfig(n.property("config"), n.property("env")),
		Resources: readResources(n),
		Place:     n.key.written(),
	}
}

// readResources reads the demands of a Vdu.OsContainer. CPUs are counted in
// thousandths there.
func readResources(n *node) vnfm.Resources {
	res := vnfm.Resources{
		CPURequest:     int64(math.Round(n.property("requested_cpu_resources").number())),
		CPULimit:       int64(math.Round(n.property("cpu_resource_limit").number())),
		MemoryRequest:  n.property("requested_memory_resources").bytes(),
		MemoryLimit:    n.property("memory_resource_limit").bytes(),
		StorageRequest: n.property("requested_ephemeral_storage_resources").bytes(),
		StorageLimit:   n.property("ephemeral_storage_resource_limit").bytes(),
		HugePages:      readHugePages(n.property("huge_pages_resources")),
		Extended:       readExtended(n.property("extended_resource_requests")),
		PinnedCPUs:     readPinning(n.property("cpu_pinning_requirements")),
	}
	for _, pair := range []struct {
		request, limit string
		low, high      int64
	}{
		{"requested_cpu_resources", "cpu_resource_limit", res.CPURequest, res.CPULimit},
		{"requested_memory_resources", "memory_resource_limit", res.MemoryRequest, res.MemoryLimit},
		{"requested_ephemeral_storage_resources", "ephemeral_storage_resource_limit", res.StorageRequest, res.StorageLimit},
	} {
		if limit := n.property(pair.limit); limit.ok() && pair.high < pair.low {
			//findings:says raise the limit at least to the request, or lower the request
			limit.errorf("the container %s may use less than it requests: %s is %s and %s is %s",
				n.name, pair.limit, limit.str(), pair.request, n.property(pair.request).str())
		}
	}
	return res
}

// readHugePages reads a list of {hugepage_size, requested_size}.
func readHugePages(v value) []vnfm.HugePages {
	var list []vnfm.HugePages
	for _, item := range v.items() {
		if !item.isMap() {
			item.errorf("%s must be a mapping with hugepage_size and requested_size, not %s", item.path, describe(item))
			continue
		}
		p := vnfm.HugePages{PageSize: item.get("hugepage_size").bytes(), Size: item.get("requested_size").bytes()}
		switch {
		case p.PageSize <= 0:
			//findings:says add hugepage_size, for example 2 MiB
			item.errorf("%s has no hugepage_size", item.path)
		case p.Size <= 0:
			//findings:says add requested_size, for example 1 GiB
			item.errorf("%s has no requested_size", item.path)
		case p.Size%p.PageSize != 0:
			//findings:says set requested_size to a multiple of hugepage_size
			item.get("requested_size").errorf("%s is %s, which is not a multiple of the page size %s",
				item.get("requested_size").path, item.get("requested_size").str(), item.get("hugepage_size").str())
		default:
			list = append(list, p)
		}
	}
	return list
}

// readExtended reads a list of {extended_resource, amount}. The resource is text, or
// as SOL001 v4 has it a mapping of one entry, of which key or value is its name.
func readExtended(v value) map[string]int64 {
	var all map[string]int64
	for _, item := range v.items() {
		if !item.isMap() {
			item.errorf("%s must be a mapping with extended_resource and amount, not %s", item.path, describe(item))
			continue
		}
		res := item.get("extended_resource")
		candidates := []string{}
		if res.isMap() {
			for _, e := range res.entries() {
				candidates = append(candidates, e.name, e.str())
			}
		} else if s, ok := res.text(); ok {
			candidates = append(candidates, s)
		}
		named := slices.IndexFunc(candidates, func(s string) bool { return strings.Contains(s, "/") })
		if named < 0 {
			at := res
			if !res.ok() {
				at = item
			}
			at.errorf("%s does not name an extended resource; such a name has a domain, for example intel.com/sriov", item.path)
			continue
		}
		amount, ok := item.get("amount").count()
		if !ok || amount == 0 {
			if !item.get("amount").ok() || ok {
				item.errorf("%s must have a positive amount of %s", item.path, candidates[named])
			}
			continue
		}
		if all == nil {
			all = map[string]int64{}
		}
		all[candidates[named]] += int64(amount)
	}
	return all
}

// readPinning reads VirtualCpuPinning; both names of the policy are in use.
func readPinning(v value) bool {
	policy := v.get("virtual_cpu_pinning_policy")
	if !policy.ok() {
		policy = v.get("cpu_pinning_policy")
	}
	switch s, ok := policy.text(); {
	case !ok, s == "dynamic":
		return false
	case s == "static":
		return true
	default:
		policy.errorf("%s must be static or dynamic, not %q", policy.path, s)
		return false
	}
}

// imageOf returns the reference of the image of a node: the property image, what
// the artifact names, or name and version of an image that is a file of the package
// and has to be in a registry under that name.
func (r *reader) imageOf(n *node) string {
	if image, ok := n.property("image").text(); ok {
		return image
	}
	images := r.images(n)
	if len(images) == 0 {
		return ""
	}
	img := images[0]
	file := img.File
	for _, scheme := range []string{"docker://", "oci://"} {
		file = strings.TrimPrefix(file, scheme)
	}
	if file != "" && !isArchive(file) && !r.inPackage(n.doc.file, file) {
		return file
	}
	if img.Name != "" && img.Version != "" && !tagged.MatchString(img.Name) {
		return img.Name + ":" + img.Version
	}
	return img.Name
}

// tagged matches references that have a tag or a digest.
var tagged = lazyregexp.New(`[:@][^/]*$`)

// isArchive tells a file of the package from a reference to a registry.
func isArchive(file string) bool {
	if strings.HasPrefix(file, ".") || strings.HasPrefix(file, "/") {
		return true
	}
	switch strings.ToLower(path.Ext(file)) {
	case ".tar", ".gz", ".tgz", ".xz", ".zst", ".bz2", ".zip", ".img", ".raw", ".qcow2":
		return true
	}
	return false
}

// inPackage tells whether there is such a file, beside the document that names it
// or from the root of the package.
func (r *reader) inPackage(from, file string) bool {
	if !r.readsImports() {
		return false
	}
	for _, at := range []string{path.Join(path.Dir(from), file), path.Clean(file)} {
		if _, err := fs.Stat(r.fsys, at); fs.ValidPath(at) && err == nil {
			return true
		}
	}
	return false
}

// written is the place of a value as the descriptor has it.
func (v value) written() vnfm.Place {
	at := v.place()
	return vnfm.Place{File: at.file, Line: at.line, Column: at.column}
}
