package catalog

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// Reference is a content that the record of a package or chart names.
type Reference struct {
	// Object is the file or archive, with what has it.
	Object string
	// Size is in bytes.
	Size int64
	// Source is where the file is read when the store does not have it; empty for what is read in the store alone.
	Source string
}

func (r Reference) String() string { return fmt.Sprintf("%s (%d bytes)", r.Object, r.Size) }

// References are the contents that records name, by their digests. One that several records have is that of a record which
// does not say where else it can be read, if there is one. Records that cannot be read are left out.
func References(all []store.Record) map[string]Reference {
	out := map[string]Reference{}
	add := func(digest string, r Reference) {
		if before, ok := out[digest]; !ok || before.Source != "" {
			out[digest] = r
		}
	}
	for i := range all {
		switch all[i].Kind {
		case store.KindPackage:
			var p packageRecord
			if json.Unmarshal(all[i].Data, &p) == nil && !p.Removing { //nolint:musttag // its tags are in vnfm.Package
				addFiles(&p, add)
			}
		case store.KindChart:
			var c chartRecord
			if json.Unmarshal(all[i].Data, &c) == nil && !c.Removing {
				add(c.Digest, Reference{Object: fmt.Sprintf("the archive of chart %s %s", c.Name, c.Version), Size: c.Size})
			}
		default:
		}
	}
	return out
}

func addFiles(p *packageRecord, add func(digest string, r Reference)) {
	files, of := p.Files, " of VNF package "+strconv.Quote(p.Name)
	if p.Bundle != "" {
		var small int64
		_, files = partFiles(p.Files)
		for _, f := range p.Files {
			small += f.Size
		}
		for _, f := range files {
			small -= f.Size
		}
		add(p.Bundle, Reference{Object: "the small files" + of, Size: small})
	}
	for _, f := range files {
		r := Reference{Object: f.Path + of, Size: f.Size}
		if f.Size > maxCachedFile {
			r.Source = p.Origin.Location
		}
		add(f.Digest, r)
	}
}
