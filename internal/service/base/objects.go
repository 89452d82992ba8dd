package base

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	// fillLimit bounds the computing of digests after an operation: a chart may have to be
	// rendered.
	fillLimit = time.Minute
	// objectsKey is where the private state of an instance keeps its objects.
	objectsKey = "objects"
	// maxObjects is how many objects an attribute names; moreObjects is what it says of the others.
	maxObjects  = 40
	moreObjects = "and more"
	// deleted is what drift says of an object that is gone.
	deleted = "deleted"
)

// Objects are the objects of an instance as vnfm.Preview and vnfm.Observation have them, with their digests. They decide whether an
// apply has something to do. They are in the private state, since a person who reads a plan can do nothing with a digest. Nil says that
// they are not known; an empty digest, that this one is not known yet.
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

// changedFrom are the objects that are not as before, or not known yet, with what was known before.
func (o Objects) changedFrom(before Objects) map[string]string {
	out := map[string]string{}
	for key, digest := range o {
		if was, ok := before[key]; !ok || was != digest || digest == "" {
			out[key] = was
		}
	}
	return out
}

// names are the names of the objects, as many as an attribute names.
func (o Objects) names() types.List {
	values := make([]attr.Value, 0, min(len(o), maxObjects+1))
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if more := len(o) - maxObjects; more > 1 && len(values) == maxObjects {
			values = append(values, types.StringValue(fmt.Sprintf("%s: %d objects", moreObjects, more)))
			break
		}
		values = append(values, types.StringValue(key))
	}
	return types.ListValueMust(types.StringType, values)
}

// observed are the objects that an observation shows and, where it could not look, those that were known before.
func (o Objects) observed(seen *vnfm.Observation) Objects {
	out := make(Objects, len(seen.Objects))
	maps.Copy(out, seen.Objects)
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

// driftAttribute describes the attribute drift.
func driftAttribute() schema.Attribute {
	return schema.MapAttribute{
		MarkdownDescription: "Objects that differ from what was applied, at the last refresh: from `group/version/Kind namespace/name` to the paths of the fields that were changed, or to `deleted`. " +
			"It is null if there are none, and has 41 entries at most; the next apply repairs them.",
		ElementType: types.StringType,
		Computed:    true,
	}
}

// setDrift fills the attribute drift with what an observation shows. Where it could not look, drift stays. An instance that is not complete has
// none: the next apply goes on with it.
func (m *InstanceModel) setDrift(seen *vnfm.Observation, complete bool) {
	found := map[string]string{}
	for key, text := range m.Drift.Elements() {
		if text, ok := text.(types.String); ok && unseen(seen, key) {
			found[key] = text.ValueString()
		}
	}
	for key, text := range seen.Objects {
		if fields, ok := strings.CutPrefix(text, vnfm.Drifted); ok {
			found[key] = fields
		}
	}
	for _, key := range seen.Gone {
		found[key] = deleted
	}
	if m.Drift = types.MapNull(types.StringType); len(found) == 0 || !complete {
		return
	}
	values := make(map[string]attr.Value, min(len(found), maxObjects+1))
	for _, key := range slices.Sorted(maps.Keys(found)) {
		if more := len(found) - maxObjects; more > 1 && len(values) == maxObjects {
			values[moreObjects] = types.StringValue(fmt.Sprintf("%d objects", more))
			break
		}
		values[key] = types.StringValue(found[key])
	}
	m.Drift = types.MapValueMust(types.StringType, values)
}

// readObjects takes over the objects of the private state.
func (m *InstanceModel) readObjects(ctx context.Context, private privateState, diags *diag.Diagnostics) {
	packed, err := readNote[[]byte](ctx, private, objectsKey, diags)
	if err != nil || len(packed) == 0 {
		return
	}
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil || json.Unmarshal(text, &m.Objects) != nil {
		// What cannot be read is not known: the next apply compares all objects.
		m.Objects = nil
	}
}

// writeObjects keeps the objects in the private state. The names of objects are much alike, so that they take a fraction of their length.
func (m *InstanceModel) writeObjects(ctx context.Context, private privateStateOut, diags *diag.Diagnostics) {
	// Texts can be encoded, and memory be written.
	text, _ := json.Marshal(m.Objects)
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.DefaultCompression)
	_, _ = w.Write(text)
	_ = w.Close()
	writeNote(ctx, private, objectsKey, packed.Bytes(), diags)
}
