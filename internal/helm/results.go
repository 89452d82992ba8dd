package helm

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
)

// Results are what a release remembers from one rendering to the next.
type Results struct {
	// Releases are the releases of the chart: one, unless parts of an instance are in several namespaces.
	Releases map[string]*RenderedRelease `json:"releases,omitempty"`
	// Calls are the results of functions by the keys of their calls.
	Calls map[string]*Call `json:"calls"`
}

// Call is the result of one call of a function.
type Call struct {
	File     string          `json:"file,omitempty"`
	Function string          `json:"function"`
	Value    json.RawMessage `json:"value"`
	// Inputs is set for a result that holds for one revision alone.
	Inputs string `json:"inputs,omitempty"`
	// Trigger is that of vnfm.RegenerateSpec when it was made.
	Trigger string `json:"trigger,omitempty"`
	// Idle counts the revisions that have not called it.
	Idle int `json:"idle,omitempty"`
}

const (
	// maxIdle is for how many revisions a result is remembered that none has called: an
	// upgrade may be taken back. Helm keeps as many revisions.
	maxIdle = 10
	// maxResults bounds the encoded results in bytes: a Secret has at most 1 MiB, the
	// arguments of the instance among them.
	maxResults = 256 << 10
	// maxUnpacked bounds them before they are packed.
	maxUnpacked = 8 << 20
	// maxSecret bounds a Secret that lookup can find, maxSecrets all of a revision, in bytes.
	maxSecret  = 32 << 10
	maxSecrets = 256 << 10
)

// decodeResults reads what Rendering.Results gave; nil is no results.
func decodeResults(packed []byte) (*Results, error) {
	out := &Results{}
	if len(packed) == 0 {
		return out, nil
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("reading the remembered results of functions: %w", err)
	}
	if err := json.NewDecoder(io.LimitReader(unpacked, maxUnpacked)).Decode(out); err != nil {
		return nil, fmt.Errorf("reading the remembered results of functions: %w", err)
	}
	return out, nil
}

// encode packs the results. The same results have the same encoding. Where they are too large, rollbacks go without the answers of
// lookup.
func (r *Results) encode() ([]byte, error) {
	out, err := r.packed()
	if err != nil {
		r.forgetFound()
		return r.packed()
	}
	return out, nil
}

func (r *Results) packed() ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encoding the results of functions: %w", err)
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if b.Len() > maxResults || len(text) > maxUnpacked {
		return nil, fmt.Errorf("the results of functions such as genCA and randAlphaNum take %d KiB, and at most %d are remembered; look for a call of one in a loop", b.Len()>>10, maxResults>>10)
	}
	return b.Bytes(), nil
}

// after are the results once a rendering is a revision.
func (k *calls) after(r *Rendering) *Results {
	out := &Results{Calls: map[string]*Call{}, Releases: k.releases(r)}
	own := k.known.releaseOf(k.options)
	another := own.present().Inputs != k.inputs
	for key, c := range k.known.Calls {
		kept := *c
		if another {
			kept.Idle++
		}
		if kept.Idle <= maxIdle {
			out.Calls[key] = &kept
		}
	}
	rolling := k.rolling(r)
	for key, c := range k.used {
		kept := *c
		if kept.Idle = 0; rolling[key] {
			kept.Inputs = k.inputs
		}
		out.Calls[key] = &kept
	}
	return out
}

// hides reports whether lookup finds nothing, so that what a chart keeps by it is made again.
func (k *calls) hides() bool {
	g := k.options.Regenerate
	return g != nil && (len(g.Functions)+len(g.Templates) == 0 || slices.Contains(g.Functions, lookupFunction))
}

// objects reads the objects of the release. What is not a mapping is left out.
func (r *Rendering) objects() []map[string]any {
	var out []map[string]any
	for _, m := range r.sources {
		if o, err := common.ReadValues([]byte(m.Content)); err == nil {
			out = append(out, o.AsMap())
		}
	}
	return out
}

// secrets are the Secrets of the release as lookup finds them, up to a size.
func (r *Rendering) secrets() map[string]json.RawMessage {
	return secretsIn(r.objects(), r.options.Namespace)
}

// secretsIn are the Secrets among objects of a release.
func secretsIn(objects []map[string]any, home string) map[string]json.RawMessage {
	out, size := map[string]json.RawMessage{}, 0
	for _, o := range objects {
		meta, _ := o["metadata"].(map[string]any)
		name, _ := meta["name"].(string)
		if o["apiVersion"] != "v1" || o["kind"] != "Secret" || name == "" {
			continue
		}
		namespace, _ := meta["namespace"].(string)
		text, err := json.Marshal(asServed(o))
		if err != nil || len(text) > maxSecret || size+len(text) > maxSecrets {
			continue
		}
		size += len(text)
		out[cmp.Or(namespace, home)+"/"+name] = text
	}
	return out
}

// asServed is a Secret as the API server returns it: with stringData in data.
func asServed(o map[string]any) map[string]any {
	plain, _ := o["stringData"].(map[string]any)
	if len(plain) == 0 {
		return o
	}
	out := maps.Clone(o)
	data, _ := o["data"].(map[string]any)
	if data = maps.Clone(data); data == nil {
		data = map[string]any{}
	}
	for name, value := range plain {
		text, _ := value.(string)
		data[name] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	delete(out, "stringData")
	out["data"] = data
	return out
}

// inputs is the digest of everything that decides on a rendering but for the results.
func (c *Chart) inputs(o *Options) (string, error) {
	sum := sha256.New()
	if err := json.NewEncoder(sum).Encode([]any{o.Release, o.Namespace, o.KubeVersion, o.APIVersions, plainMap(o.Values)}); err != nil {
		return "", fmt.Errorf("the digest of the values: %w", err)
	}
	files := slices.Clone(c.files)
	slices.SortFunc(files, func(a, b *archive.BufferedFile) int { return cmp.Compare(a.Name, b.Name) })
	for _, f := range files {
		// Hash.Write returns no error.
		_, _ = fmt.Fprintf(sum, "%q %d\n", f.Name, len(f.Data))
		_, _ = sum.Write(f.Data)
	}
	return hex.EncodeToString(sum.Sum(nil))[:32], nil
}
