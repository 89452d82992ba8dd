package helm

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// A release that Helm has installed shows in its record what random functions gave: where a rendering with stand-ins has one of them,
// alone or between other text, the recorded object has the result at the same place.

// maxSeedRounds is how often the chart is rendered to find results. The key of a call with the result of another one among its arguments,
// such as a certificate of a CA, is known only once that is.
const maxSeedRounds = 4

// NotRecorded is the summary of the warning of results that a recorded release does not show.
const NotRecorded = "the record of the adopted Helm release does not show all results of random functions"

// leaf is a text of an object as rendered with stand-ins and as recorded.
type leaf struct {
	rendered, recorded string
	// annotation is set for one in annotations.
	annotation bool
}

// seeds are the results that the recorded manifest of a release shows, and its Secrets. It warns of calls whose results it does not
// show: those are made.
func (c *Chart) seeds(o Options, caps *common.Capabilities, revision Revision, now time.Time, ps *vnfm.Problems) *Results {
	o.Random = RandomPlanned
	recorded := recordedObjects(o.Recorded)
	out := &Results{Calls: map[string]*Call{}}
	in := func(known *Results, p pass) (*Rendering, *calls) {
		var ignored vnfm.Problems
		k := newCalls(&o, known, revision, p, now)
		k.standing = map[string]*Call{}
		r, _ := c.renderOnce(o, caps, k, &ignored)
		return r, k
	}
	planned, k := in(out, settling)
	other, _ := in(out, varying)
	if planned == nil || other == nil {
		return out
	}
	planned.markLater(other)
	r := planned
	for range maxSeedRounds {
		found, leaves := false, r.leaves(recorded, o.Namespace)
		for key, standing := range k.standing {
			if seed := standing.seeded(leaves, revision.Inputs); seed != nil {
				out.Calls[key], found = seed, true
			}
		}
		if !found {
			break
		}
		if r, k = in(out, settling); r == nil {
			return out
		}
	}
	// A chart may leave out an object that lookup finds. Then the plan, which found nothing, would be wrong.
	with := &Results{Calls: out.Calls, Releases: map[string]*RenderedRelease{releaseKey(&o): {Secrets: secretsIn(recorded, o.Namespace)}}}
	if r, again := in(with, settling); r != nil && planned.foretells(r) {
		out, k = with, again
	}
	// Those of calls with a stand-in among their arguments are nobody's.
	out.Calls = k.used
	k.warnMissing(ps)
	return out
}

// foretells reports whether a later rendering has the objects of this one, and those that are known unchanged.
func (r *Rendering) foretells(later *Rendering) bool {
	if len(r.sources) != len(later.sources) {
		return false
	}
	for i := range r.sources {
		if r.sources[i].Identity != later.sources[i].Identity || (!r.Manifests[i].Later && r.sources[i].Content != later.sources[i].Content) {
			return r.NamesLater
		}
	}
	return true
}

// stand notes a result that stands in for another one.
func (k *calls) stand(key, function string, out []reflect.Value) {
	if k.standing == nil {
		return
	}
	if value, err := json.Marshal(out[0].Interface()); err == nil {
		k.standing[key] = &Call{File: k.file(), Function: function, Value: value}
	}
}

// warnMissing warns of results that the recorded release does not show.
func (k *calls) warnMissing(ps *vnfm.Problems) {
	var missing []string
	for _, c := range k.standing {
		if text := c.Function + " in " + c.File; !slices.Contains(missing, text) {
			missing = append(missing, text)
		}
	}
	if len(missing) == 0 {
		return
	}
	slices.Sort(missing)
	*ps = append(*ps, vnfm.Problem{
		Severity: vnfm.SeverityWarning, Attribute: "adopt_existing", Summary: NotRecorded,
		Detail: "made again: " + strings.Join(missing, ", ") + "; set the values of the chart for those that must stay",
	})
}

// seeded is the call with the result that the recorded texts show; nil where they show none, or several.
func (c *Call) seeded(leaves []leaf, inputs string) *Call {
	out := *c
	var value any
	if json.Unmarshal(c.Value, &value) != nil {
		return nil
	}
	annotations := true
	take := func(standing string) (string, bool) {
		found, elsewhere := seedOf(standing, leaves)
		annotations = annotations && !elsewhere
		return found, found != ""
	}
	switch value := value.(type) {
	case string:
		found, ok := take(value)
		if !ok {
			return nil
		}
		out.Value, _ = json.Marshal(found)
	case map[string]any:
		// A certificate: both parts of it are needed.
		for name, part := range value {
			text, _ := part.(string)
			found, ok := take(text)
			if !ok {
				return nil
			}
			value[name] = found
		}
		out.Value, _ = json.Marshal(value)
	default:
		return nil
	}
	if annotations {
		// It rolls, see rolling.
		out.Inputs = inputs
	}
	return &out
}

// seedOf is the text that the recorded objects have instead of a stand-in; empty for none, and where places differ. Elsewhere is
// set when one of the places is no annotation.
func seedOf(standing string, leaves []leaf) (found string, elsewhere bool) {
	body := strings.TrimSpace(standing)
	if len(body) < minRolling {
		return "", false
	}
	for _, l := range leaves {
		if strings.Count(l.rendered, body) != 1 {
			continue
		}
		before, after, _ := strings.Cut(l.rendered, body)
		text, fits := strings.CutPrefix(l.recorded, before)
		if text, _ = strings.CutSuffix(text, after); !fits || !strings.HasSuffix(l.recorded, after) || text == "" || text == body {
			continue
		}
		if found != "" && found != text {
			return "", false
		}
		found, elsewhere = text, elsewhere || !l.annotation
	}
	if found == "" {
		return "", false
	}
	// White space around it, such as the last line break of PEM, may be lost in an object.
	return strings.Replace(standing, body, found, 1), elsewhere
}

// objectKey identifies an object of a release.
func objectKey(o map[string]any, namespace string) string {
	meta, _ := o["metadata"].(map[string]any)
	own, _ := meta["namespace"].(string)
	return fmt.Sprint(o["apiVersion"], " ", o["kind"], " ", cmp.Or(own, namespace), " ", meta["name"])
}

// recordedObjects reads the objects of a recorded manifest.
func recordedObjects(manifest string) []map[string]any {
	var out []map[string]any
	for _, text := range releaseutil.SplitManifests(manifest) {
		if o, err := common.ReadValues([]byte(text)); err == nil && len(o) > 0 {
			out = append(out, o.AsMap())
		}
	}
	return out
}

// leaves are the texts that the objects of the rendering and the recorded ones have at the same places, also as they are before base64.
func (r *Rendering) leaves(recorded []map[string]any, namespace string) []leaf {
	by := map[string]map[string]any{}
	for _, o := range recorded {
		by[objectKey(o, namespace)] = o
	}
	var out []leaf
	for _, o := range r.objects() {
		if other := by[objectKey(o, namespace)]; other != nil {
			out = appendLeaves(out, o, other, false)
		}
	}
	return out
}

func appendLeaves(out []leaf, rendered, recorded any, annotation bool) []leaf {
	switch rendered := rendered.(type) {
	case string:
		text, ok := recorded.(string)
		if !ok || text == rendered {
			return out
		}
		out = append(out, leaf{rendered, text, annotation})
		plain, err := base64.StdEncoding.DecodeString(rendered)
		if other, otherErr := base64.StdEncoding.DecodeString(text); err == nil && otherErr == nil {
			out = append(out, leaf{string(plain), string(other), annotation})
		}
	case []any:
		other, _ := recorded.([]any)
		for i := range min(len(rendered), len(other)) {
			out = appendLeaves(out, rendered[i], other[i], annotation)
		}
	case map[string]any:
		other, _ := recorded.(map[string]any)
		for key, value := range rendered {
			out = appendLeaves(out, value, other[key], annotation || key == "annotations")
		}
	}
	return out
}
