package helm

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The process that renders a chart reaches no cluster. It returns the calls of lookup, the driver answers them, and the chart is rendered
// again until all have answers. The record of a revision keeps its answers.

// Lookup is a call of lookup.
type Lookup struct {
	APIVersion, Kind, Namespace, Name string
	// File is the template that calls it.
	File string
	// Own is set for an object that is known without the VIM: one that the release brings with its first revision, or a Secret of the
	// revision before.
	Own bool
}

// String identifies the call. A list has no name.
func (l Lookup) String() string {
	return l.APIVersion + " " + l.Kind + " " + l.Namespace + "/" + l.Name
}

// Found is the answer to a Lookup.
type Found struct {
	// Object is the object or the list as JSON; empty for none. TooLarge is set for a list of more objects than are read.
	Object   []byte
	TooLarge bool
	// Err says why there is no answer.
	Err error
}

const lookupFunction = "lookup"

const (
	// maxLookupRounds is how often a chart may ask for something that depends on an answer.
	maxLookupRounds = 8
	// maxLookups bounds the objects that a chart looks up, maxFound all answers in bytes as they are remembered.
	maxLookups = 200
	maxFound   = 128 << 10
)

// lookup is the function lookup.
func (k *calls) lookup(apiVersion, kind, namespace, name string) map[string]any {
	k.looked = true
	l := Lookup{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name, File: k.file()}
	key := l.String()
	secrets := k.release.Secrets
	_, isOwn := secrets[namespace+"/"+name]
	isOwn = isOwn && apiVersion == "v1" && kind == "Secret"
	remembered, known := k.revision.Found[key]
	asked, answered := k.options.Found[key]
	switch {
	case k.hides() && (isOwn || apiVersion == "v1" && kind == "Secret" && name == ""):
		return k.answer(key, nil)
	case known && !k.hides():
		return k.answer(key, remembered)
	case answered:
		return k.answer(key, asked)
	}
	l.Own = isOwn || (k.revision.Number == 1 && name != "")
	k.wanted[key] = l
	text := k.recorded(l)
	if !k.options.Asks {
		// Nothing else will be found, so that it is an answer.
		return k.answer(key, text)
	}
	return objectIn(text)
}

// recorded returns the Secrets of the previous revision that a lookup matches.
func (k *calls) recorded(l Lookup) []byte {
	secrets := k.release.Secrets
	switch {
	case l.APIVersion != "v1" || l.Kind != "Secret":
		return nil
	case l.Name != "":
		return secrets[l.Namespace+"/"+l.Name]
	}
	var items []json.RawMessage
	for _, key := range slices.Sorted(maps.Keys(secrets)) {
		if namespace, _, _ := strings.Cut(key, "/"); l.Namespace == "" || l.Namespace == namespace {
			items = append(items, secrets[key])
		}
	}
	if len(items) == 0 {
		return nil
	}
	// Objects that were decoded can be encoded.
	out, _ := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "SecretList", "items": items})
	return out
}

// answer notes an answer, which is remembered with the revision.
func (k *calls) answer(key string, text []byte) map[string]any {
	if len(text) == 0 {
		text = []byte("null")
	}
	k.answers[key] = text
	return objectIn(text)
}

func objectIn(text []byte) map[string]any {
	out := map[string]any{}
	if len(text) == 0 || json.Unmarshal(text, &out) != nil || out == nil {
		return map[string]any{}
	}
	return out
}

// foreignSecrets are the values of Secrets that lookup has found and that are not the release's own. Names of objects of the release
// are not among them, so that messages still name their object.
func (k *calls) foreignSecrets(r *Rendering) []string {
	var out []string
	var own map[string]bool
	for _, text := range k.answers {
		found := objectIn(text)
		items, isList := found["items"].([]any)
		if !isList {
			items = []any{found}
		}
		for _, item := range items {
			o, _ := item.(map[string]any)
			data, _ := o["data"].(map[string]any)
			if kind := cmp.Or(o["kind"], found["kind"]); len(data) == 0 || kind != "Secret" && kind != "SecretList" {
				continue
			}
			if own == nil {
				own = r.owned()
			}
			meta, _ := o["metadata"].(map[string]any)
			if own[fmt.Sprint("v1 Secret ", meta["namespace"], " ", meta["name"])] {
				continue
			}
			for _, value := range data {
				encoded, _ := value.(string)
				if plain, err := base64.StdEncoding.DecodeString(encoded); err == nil && len(plain) > 0 {
					out = append(out, string(plain))
				}
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	slices.Sort(out)
	named := r.named(k.options)
	return slices.DeleteFunc(slices.Compact(out), func(text string) bool { return named[text] })
}

// named are the names of the release, of its objects and of their namespaces.
func (r *Rendering) named(o *Options) map[string]bool {
	out := map[string]bool{o.Release: true, o.Namespace: true}
	if r == nil {
		return out
	}
	for _, object := range r.objects() {
		meta, _ := object["metadata"].(map[string]any)
		for _, field := range []string{"name", "namespace"} {
			text, _ := meta[field].(string)
			out[text] = true
		}
	}
	return out
}

// owned are the objects of the release by their objectKey; none of a rendering that failed.
func (r *Rendering) owned() map[string]bool {
	out := map[string]bool{}
	if r == nil {
		return out
	}
	for _, o := range r.objects() {
		out[objectKey(o, r.options.Namespace)] = true
	}
	return out
}

// lookups are the calls of lookup of a rendering: those without an answer, and the values of the Secrets of others that were found.
type lookups struct {
	Wanted  []Lookup
	Secrets []string
}

// lookups returns the calls of a rendering, which is nil where it failed. In the first revision, objects of the release itself do not exist yet.
func (k *calls) lookups(r *Rendering) lookups {
	var own map[string]bool
	if len(k.wanted) > 0 {
		own = r.owned()
	}
	out := lookups{Secrets: k.foreignSecrets(r)}
	for _, key := range sortedKeys(k.wanted) {
		l := k.wanted[key]
		if _, isSecret := k.release.Secrets[l.Namespace+"/"+l.Name]; l.Own && !isSecret {
			l.Own = own[fmt.Sprint(l.APIVersion, " ", l.Kind, " ", l.Namespace, " ", l.Name)]
		}
		out.Wanted = append(out.Wanted, l)
	}
	return out
}

// search answers what a chart has looked up. It reports whether there is something new to render with.
func (o *Options) search(ctx context.Context, wanted []Lookup, failed map[string]error, ps *vnfm.Problems) bool {
	wanted = slices.DeleteFunc(slices.Clone(wanted), func(l Lookup) bool { return failed[l.String()] != nil })
	if len(wanted) == 0 {
		return false
	}
	answers := make([]Found, len(wanted))
	err := errTooManyLookups
	if len(o.Found)+len(wanted) <= maxLookups {
		var got []Found
		if got, err = o.Lookup(ctx, wanted); err == nil {
			answers = got
		}
	}
	size := 0
	for _, text := range o.Found {
		size += packedSize(text)
	}
	found := false
	for i, l := range wanted {
		if reason := cmp.Or(err, answers[i].Err); reason != nil && !answers[i].TooLarge {
			failed[l.String()] = reason
			continue
		}
		text := answers[i].Object
		if more := packedSize(text); answers[i].TooLarge || size+more > maxFound {
			text = nil
			*ps = append(*ps, vnfm.Problem{
				Severity: vnfm.SeverityWarning,
				//findings:says name the object that the chart needs instead of a list, or set the value that the chart looks up
				Summary: fmt.Sprintf("lookup of %s finds nothing: the answers of a chart may have %d KiB together once they are compressed", l, maxFound>>10),
			})
		} else {
			size += more
		}
		if o.Found == nil {
			o.Found = map[string][]byte{}
		}
		o.Found[l.String()], found = text, true
	}
	return found
}

// packedSize is how many bytes a text takes among the results.
func packedSize(text []byte) int {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	// A write to memory does not fail.
	_, _ = w.Write(text)
	_ = w.Close()
	return b.Len()
}

var (
	errTooManyLookups = fmt.Errorf("a chart may look up %d objects", maxLookups)
	// errDependent is the reason of a lookup that another one without an answer precedes.
	errDependent = fmt.Errorf("it follows from a lookup without an answer, or from more than %d lookups", maxLookupRounds)
)

// unanswered reports the lookups that have no answer. A plan leaves the objects of the chart unknown; an apply fails. Without a
// cluster to ask there is nothing in either.
func (o *Options) unanswered(c *Chart, wanted []Lookup, failed map[string]error, ps *vnfm.Problems) (later bool) {
	for _, l := range wanted {
		reason := failed[l.String()]
		if reason == nil && o.Asks {
			reason = errDependent
		}
		if l.Own && o.Random != RandomKept || l.Own && reason == nil {
			continue
		}
		switch file := c.place(l.File); {
		case reason == nil:
			*ps = append(*ps, vnfm.Problem{
				Severity: vnfm.SeverityWarning, File: file,
				Summary: fmt.Sprintf("lookup of %s finds nothing: the chart is rendered without a cluster", l),
				Detail:  "set the value that the chart looks up, if it needs one",
			})
		case o.Random == RandomKept:
			*ps = append(*ps, vnfm.Problem{
				File:    file,
				Summary: fmt.Sprintf("lookup of %s fails: %v", l, reason),
				Detail:  "Helm fails here as well; see that the VIM allows the identity to read the object, or set the value that the chart looks up",
			})
		default:
			later = true
			*ps = append(*ps, vnfm.Problem{
				Severity: vnfm.SeverityWarning, File: file,
				Summary: fmt.Sprintf("lookup of %s has no answer: %v", l, reason),
				Detail:  "the plan shows no object of the chart, and the apply asks again; see that the VIM can be reached and allows the identity to read the object",
			})
		}
	}
	return later
}
