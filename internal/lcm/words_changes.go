package lcm

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/fielddiff"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Keys of changes that are not those of objects: objects that come and go, what stays of the latter, those that were deleted outside of Terraform, and what the bound
// leaves out.
const (
	addedObjects     = "added"
	removedObjects   = "removed"
	recreatedObjects = "recreated"
	keptObjects      = "kept, no longer managed"
	moreObjects      = "and more"
)

// oldUnknown is said of an object that changes from something that nothing describes any more.
const oldUnknown = "changed, old value not known"

// changes compares the objects that both the record and the request have, and says what is restored of those that were changed outside of
// Terraform.
func (w *words) changes() {
	for key, was := range w.changed {
		if lines := drifted(was); len(lines) > 0 {
			w.out.Changes[key] = lines
		} else if w.before == nil && was != "" {
			w.out.Changes[key] = []string{oldUnknown}
		}
	}
	if w.before == nil {
		return
	}
	w.before = inVersionsOf(w.after, w.before)
	for key, fields := range w.after.Fields {
		was, had := w.before.Fields[key]
		if !had || w.done(key) {
			continue
		}
		if found := w.countFields(w.fields(was, fields)); len(found) > 0 {
			w.out.Changes[key] = append(found, w.out.Changes[key]...)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(w.changed)) {
		was := w.changed[key]
		switch _, had := w.before.Objects[key]; {
		case had && was == "":
			delete(w.out.Changes, key)
			w.out.Changes[recreatedObjects] = append(w.out.Changes[recreatedObjects], key)
		case w.halfway && was != "" && len(w.out.Changes[key]) == 0:
			w.out.Changes[key] = []string{oldUnknown}
		}
	}
	w.joinCommon()
	w.onlyIn(addedObjects, w.after.Objects, w.before.Objects)
	w.onlyIn(removedObjects, w.before.Objects, w.after.Objects)
	w.keepRemoved()
}

// keepRemoved names what stays of the objects that leave the instance.
func (w *words) keepRemoved() {
	var gone, kept []string
	for _, key := range w.out.Changes[removedObjects] {
		stays := w.before.Kept[key]
		if stays != "" {
			kept = append(kept, stays)
		}
		if stays != key {
			gone = append(gone, key)
		}
	}
	delete(w.out.Changes, removedObjects)
	for key, names := range map[string][]string{removedObjects: gone, keptObjects: kept} {
		if len(names) > 0 {
			w.out.Changes[key] = names
		}
	}
}

// inVersionsOf returns a former rendering with the keys of another one for objects that both have in different versions of their API: they
// are neither new nor gone.
func inVersionsOf(after, before *vnfm.Rendering) *vnfm.Rendering {
	former := vnfm.FormerKeys(after.Objects, before.Objects)
	if len(former) == 0 {
		return before
	}
	out := *before
	out.Objects, out.Fields = maps.Clone(before.Objects), maps.Clone(before.Fields)
	for is, was := range former {
		out.Objects[is] = out.Objects[was]
		delete(out.Objects, was)
		if fields, ok := out.Fields[was]; ok {
			out.Fields[is] = fields
			delete(out.Fields, was)
		}
	}
	return &out
}

// done reports whether an object is as the request has it although a change failed half-way.
func (w *words) done(key string) bool {
	if !w.halfway || key == "" {
		return false
	}
	_, differs := w.changed[key]
	return !differs
}

// onlyIn names the objects that one rendering has and the other has not.
func (w *words) onlyIn(key string, objects, others map[string]string) {
	var names []string
	for name := range objects {
		if _, both := others[name]; !both && (key != addedObjects || !w.done(name)) {
			names = append(names, name)
		}
	}
	if slices.Sort(names); len(names) > 0 {
		w.out.Changes[key] = names
	}
}

// drifted is what a state says of an object that was changed outside of Terraform: the paths of its fields.
func drifted(was string) []string {
	paths, ok := strings.CutPrefix(was, vnfm.Drifted)
	if !ok {
		return nil
	}
	return []string{"changed outside of Terraform, restored: " + paths}
}

// fields are the fields of an object that change.
func (w *words) fields(was, is any) []string {
	var out []string
	for _, line := range fielddiff.Diff(was, is, fielddiff.Masks{Text: w.mask, Line: vnfm.HideNamed, Names: namesSecret}) {
		line = w.after.FieldRules.Reword(line)
		if !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}

// countFields says of the parts of an object that the driver has counted how many of their fields change.
func (w *words) countFields(lines []string) []string {
	const said = -1
	counts := map[string]int{}
	for _, line := range lines {
		if part := w.after.FieldRules.Counted(line); part != "" {
			counts[part]++
		}
	}
	var out []string
	for _, line := range lines {
		switch part := w.after.FieldRules.Counted(line); {
		case counts[part] == said:
		case counts[part] > 1:
			out = append(out, fmt.Sprintf("%s: %d fields", part, counts[part]))
			counts[part] = said
		default:
			out = append(out, line)
		}
	}
	return out
}

// namesSecret reports whether a field holds a secret by its name. Charts name an object in a field that is just called secret.
func namesSecret(name string) bool {
	return vnfm.NamesSecret(name) && !strings.EqualFold(name, "secret")
}

// manyObjects is from how many objects on a change that is common to all of them is said once.
const manyObjects = 4

// joinCommon says once what changes alike in many objects, such as the version of their chart in their labels.
func (w *words) joinCommon() {
	objects := map[string][]string{}
	for key, lines := range w.out.Changes {
		for _, line := range lines {
			if w.after.FieldRules.Common(line) {
				objects[line] = append(objects[line], key)
			}
		}
	}
	for _, line := range slices.Sorted(maps.Keys(objects)) {
		keys := objects[line]
		if len(keys) < manyObjects {
			continue
		}
		for _, key := range keys {
			left := slices.DeleteFunc(slices.Clone(w.out.Changes[key]), func(other string) bool { return other == line })
			if w.out.Changes[key] = left; len(left) == 0 {
				delete(w.out.Changes, key)
			}
		}
		all := fmt.Sprintf("%d objects", len(keys))
		w.out.Changes[all] = append(w.out.Changes[all], line)
	}
}

// maxPerObject is how many lines each object has, and the lists of those that come and go, where there are more than maxWords: many lines
// of one do not hide all others.
const maxPerObject = 10

// limitChanges leaves maxWords lines of changes: what runs comes first, then what many objects have alike, then the other objects in their order.
func (w *words) limitChanges() {
	all := 0
	for _, lines := range w.out.Changes {
		all += len(lines)
	}
	if all > maxWords {
		for key, lines := range w.out.Changes {
			w.out.Changes[key] = limited(lines, maxPerObject)
		}
	}
	left, more := maxWords, 0
	for _, key := range w.byWeight() {
		lines := w.out.Changes[key]
		if left == 0 {
			more += len(lines)
			delete(w.out.Changes, key)
			continue
		}
		w.out.Changes[key] = limited(lines, left)
		left -= len(w.out.Changes[key])
	}
	if more > 0 {
		w.out.Changes[moreObjects] = []string{fmt.Sprintf("%d lines of other objects", more)}
	}
}

// byWeight are the keys of the changes, those that matter most first.
func (w *words) byWeight() []string {
	weights := map[string]int{addedObjects: 1, removedObjects: 1, recreatedObjects: 1, keptObjects: 1}
	for _, rendering := range []*vnfm.Rendering{w.after, w.before} {
		if rendering == nil {
			continue
		}
		for key := range rendering.Objects {
			weights[key] = 2
		}
		for _, unit := range rendering.Units {
			weights[unit.Object] = 0
		}
	}
	return slices.SortedFunc(maps.Keys(w.out.Changes), func(a, b string) int {
		return cmp.Or(cmp.Compare(weights[a], weights[b]), strings.Compare(a, b))
	})
}
