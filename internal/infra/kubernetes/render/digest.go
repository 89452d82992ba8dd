package render

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// objectDigest is "sha256:" and 16 hexadecimal digits over the canonical JSON of a rendered object, with sorted keys. Values
// that may be secrets enter only as HMAC-SHA256 under the key: without the key, guesses cannot be tested against the digest.
// The digest is empty if it needs a key and the target has none. It covers neither the driver's own labels nor the replicas of
// a VDU, which the object does not contain.
func objectDigest(o *Object, key []byte) (string, error) {
	if !o.keyed {
		if noted := o.written.Digest(o.Content); noted != "" {
			return noted, nil
		}
	}
	content, secret := keyedContent(o, key)
	if o.keyed = o.keyed || secret; o.keyed && len(key) == 0 {
		return "", nil
	}
	sum := sha256.New()
	if err := json.NewEncoder(sum).Encode(content); err != nil {
		return "", fmt.Errorf("digest of %s: %w", o.Key, err)
	}
	shown := digest.Shown(sum.Sum(nil))
	if !o.keyed {
		o.written.NoteDigest(o.Content, shown)
	}
	return shown, nil
}

// keyedContent returns the content of an object with keyed digests instead of values that may be secrets, and whether there are
// such values: the data of a Secret; in other kinds the fields and variables with the name of a secret (vnfm.NamesSecret) and
// the files of bootstrap configurations.
func keyedContent(o *Object, key []byte) (content map[string]any, found bool) {
	k := digester{key: key, files: o.GVK.Group == "bootstrap.cluster.x-k8s.io" || o.GVK.Group == "controlplane.cluster.x-k8s.io"}
	if o.isSecret() {
		if data, ok := o.Content["data"].(map[string]any); ok && len(data) > 0 {
			out := maps.Clone(o.Content)
			out["data"] = k.all(data)
			return out, true
		}
		return o.Content, false
	}
	out, found := k.fields(o.Content)
	return out, found
}

// digester replaces values by their keyed digests. It copies maps and lists before it changes them.
type digester struct {
	key []byte
	// files is set for kinds whose list "files" has the files of machines, which may contain credentials.
	files bool
}

func (k *digester) all(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for name, value := range m {
		text, _ := value.(string)
		out[name] = digest.Keyed(k.key, []byte(text))
	}
	return out
}

// fields replaces the secrets of a mapping.
func (k *digester) fields(m map[string]any) (map[string]any, bool) {
	var out map[string]any
	for field, value := range m {
		fresh, found := k.field(m, field, value)
		if !found {
			continue
		}
		if out == nil {
			out = maps.Clone(m)
		}
		out[field] = fresh
	}
	if out == nil {
		return m, false
	}
	return out, true
}

// field replaces the secrets of one field. A field "value" is a secret if the field "name" of the same map is the name of one.
func (k *digester) field(m map[string]any, field string, value any) (any, bool) {
	switch value := value.(type) {
	case string:
		name, _ := m["name"].(string)
		if value != "" && (vnfm.NamesSecret(field) || (field == "value" && vnfm.NamesSecret(name))) {
			return digest.Keyed(k.key, []byte(value)), true
		}
	case map[string]any:
		return k.fields(value)
	case []any:
		return k.list(value, k.files && field == "files")
	}
	return value, false
}

// list replaces the secrets in the elements of a list, and with files set the content of each element.
func (k *digester) list(items []any, files bool) (any, bool) {
	var out []any
	for i, item := range items {
		fields, ok := item.(map[string]any)
		if !ok {
			continue
		}
		fresh, found := k.fields(fields)
		if text, ok := fields["content"].(string); files && ok {
			fresh, found = kube.Merged(fresh, map[string]any{"content": digest.Keyed(k.key, []byte(text))}), true
		}
		if !found {
			continue
		}
		if out == nil {
			out = slices.Clone(items)
		}
		out[i] = fresh
	}
	if out == nil {
		return items, false
	}
	return out, true
}
