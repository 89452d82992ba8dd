package base

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	// fillLimit bounds the computing of digests after an operation: a chart may have to be
	// rendered.
	fillLimit = time.Minute
	// objectsKey is where the private state of an instance keeps its objects.
	objectsKey = "objects"
	// maxObjects is how many objects an attribute names.
	maxObjects = 40
	// deleted stands for an object that is gone.
	deleted = "deleted"
)

// Objects maps the objects of an instance to their digests, as vnfm.Preview and vnfm.Observation have them, or to deleted. They decide
// whether an apply has something to do, and are in the private state, since digests tell a reader of a plan nothing. Nil means that
// the objects are not known, an empty digest that it is not known yet.
type Objects map[string]string

// PlannedObjects are those of a preview.
func PlannedObjects(p *vnfm.Preview) Objects {
	if p.NamesLater {
		return nil
	}
	return maps.Clone(Objects(p.Objects))
}

// known reports whether all digests are known.
func (o Objects) known() bool {
	return o != nil && !slices.Contains(slices.Collect(maps.Values(o)), "")
}

// same reports whether both are known, and equal.
func (o Objects) same(other Objects) bool { return o.known() && other != nil && maps.Equal(o, other) }

// changedFrom are the objects that are not as before, or not known yet, with what was known before: nothing of what is gone.
func (o Objects) changedFrom(before Objects) map[string]string {
	out := map[string]string{}
	former := vnfm.FormerKeys(o, before)
	for key, digest := range o {
		was, ok := before[key]
		if !ok {
			was = before[former[key]]
		}
		if was == deleted {
			was = ""
		}
		if !ok || was != digest || digest == "" {
			out[key] = was
		}
	}
	return out
}

// leftFrom are the keys of the objects before that are not among these, in whatever version of their API.
func (o Objects) leftFrom(before Objects) []string {
	stays := vnfm.FormerKeys(before, o)
	var out []string
	for key := range before {
		_, ok := o[key]
		if _, same := stays[key]; !ok && !same {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// observed are the objects that an observation shows and, where it could not look, those that were known before.
func (o Objects) observed(seen *vnfm.Observation) Objects {
	out := make(Objects, len(seen.Objects)+len(seen.Gone))
	maps.Copy(out, seen.Objects)
	for _, key := range seen.Gone {
		out[key] = deleted
	}
	for key, was := range o {
		if _, ok := out[key]; !ok && unseen(seen, key) {
			out[key] = was
		}
	}
	return out
}

// unseen reports whether an observation could not look at an object.
func unseen(seen *vnfm.Observation, key string) bool {
	connection, _ := vnfm.CutConnection(key)
	return slices.Contains(seen.Unseen, connection) || slices.Contains(seen.Unread, key)
}

// Present are the objects that exist.
func (o Objects) Present() Objects {
	out := maps.Clone(o)
	maps.DeleteFunc(out, func(_, digest string) bool { return digest == deleted })
	return out
}

// drift is the attribute of that name: null without drift.
func (o Objects) drift() types.List {
	var lines []string
	for key, digest := range o {
		if fields, ok := strings.CutPrefix(digest, vnfm.Drifted); ok {
			lines = append(lines, key+": "+fields)
		} else if digest == deleted {
			lines = append(lines, key+": "+deleted)
		}
	}
	if len(lines) == 0 {
		return types.ListNull(types.StringType)
	}
	return limited(lines)
}

// limited is a list of texts in their order, of which it counts all but the first ones.
func limited(texts []string) types.List {
	slices.Sort(texts)
	if more := len(texts) - maxObjects; more > 1 {
		texts = append(texts[:maxObjects], fmt.Sprintf("and %d more", more))
	}
	return tfutil.StringList(texts)
}

// driftAttribute describes the attribute drift.
func driftAttribute() schema.Attribute {
	return schema.ListAttribute{
		MarkdownDescription: "Objects that differ from what was applied, at the last refresh: `group/version/Kind namespace/name: <field paths> (changed by <field managers>)`, or `deleted` in place of the paths. " +
			"It is null if there are none, and has 41 lines at most; the next apply repairs them.",
		ElementType: types.StringType,
		Computed:    true,
	}
}

// readObjects reads the objects from the private state. If they are unreadable, the next apply compares all objects.
func (m *InstanceModel) readObjects(ctx context.Context, private privateState, diags *diag.Diagnostics) {
	m.Objects, _ = readNote[Objects](ctx, private, objectsKey, diags)
}

// writeObjects writes the objects to the private state.
func (m *InstanceModel) writeObjects(ctx context.Context, private privateStateOut, diags *diag.Diagnostics) {
	writeNote(ctx, private, objectsKey, m.Objects, diags)
}
