package kubernetes

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// digestHex is how many hexadecimal digits of the SHA-256 sum a digest shows.
const digestHex = 16

// objectDigest sums up a rendered object: "sha256:" and 16 hexadecimal digits over its
// canonical JSON, in which keys are sorted. The values that may be secrets enter as
// HMAC-SHA256 under key only, so that a digest cannot be used to try guesses of
// what they are. It is empty when they need a key that there is not. The object has
// neither the driver's own labels nor the replicas of a VDU.
func objectDigest(o *object, key []byte) (string, error) {
	content, secret := keyed(o, key)
	if o.keyed = o.keyed || secret; o.keyed && len(key) == 0 {
		return "", nil
	}
	sum := sha256.New()
	if err := json.NewEncoder(sum).Encode(content); err != nil {
		return "", fmt.Errorf("digest of %s: %w", o.key, err)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))[:digestHex], nil
}

// keyedDigest is the digest of an object that may hold secrets anywhere: without the key no
// guess can be tried.
func keyedDigest(key []byte, plain string) string {
	return digest.Short(key, []byte(plain))
}

// keyed returns the content of an object with keyed digests in the place of the values
// that may be secrets, and whether it has any: the data of a Secret, and of other kinds
// what goes by the name of a secret (vnfm.NamesSecret): fields, variables of containers,
// and the files of bootstrap configurations.
func keyed(o *object, key []byte) (content map[string]any, found bool) {
	k := keying{key: key, files: o.gvk.Group == "bootstrap.cluster.x-k8s.io" || o.gvk.Group == "controlplane.cluster.x-k8s.io"}
	if o.isSecret() {
		if data, ok := o.content["data"].(map[string]any); ok && len(data) > 0 {
			return merged(o.content, map[string]any{"data": k.all(data)}), true
		}
		return o.content, false
	}
	out, found := k.fields(o.content)
	return out, found
}

// keying replaces values by their keyed digests. What it changes it copies.
type keying struct {
	key []byte
	// files is set where a list "files" holds files of machines, with credentials among them.
	files bool
}

func (k *keying) sum(text string) string { return digest.Keyed(k.key, []byte(text)) }

// all replaces every text of a map.
func (k *keying) all(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for name, value := range m {
		text, _ := value.(string)
		out[name] = k.sum(text)
	}
	return out
}

// fields replaces the secrets of a mapping.
func (k *keying) fields(m map[string]any) (map[string]any, bool) {
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

// field replaces the secrets of one field. The value of a variable is a secret by the
// variable's name, which stands beside it.
func (k *keying) field(m map[string]any, field string, value any) (any, bool) {
	switch value := value.(type) {
	case string:
		name, _ := m["name"].(string)
		if value != "" && (vnfm.NamesSecret(field) || (field == "value" && vnfm.NamesSecret(name))) {
			return k.sum(value), true
		}
	case map[string]any:
		return k.fields(value)
	case []any:
		return k.list(value, k.files && field == "files")
	}
	return value, false
}

// list replaces the secrets of the elements of a list; of files, their content.
func (k *keying) list(items []any, files bool) (any, bool) {
	var out []any
	for i, item := range items {
		fields, ok := item.(map[string]any)
		if !ok {
			continue
		}
		fresh, found := k.fields(fields)
		if text, ok := fields["content"].(string); files && ok {
			fresh, found = merged(fresh, map[string]any{"content": k.sum(text)}), true
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

// normalizeSecret moves stringData into data, as the API server would, and
// writes the base64 of data without line breaks. Problems never show a value.
func normalizeSecret(m *manifest, refuse func(path []string, format string, args ...any)) {
	data, ok := textMap(m.content, "data", refuse)
	if !ok {
		return
	}
	plain, ok := textMap(m.content, "stringData", refuse)
	if !ok {
		return
	}
	if len(data)+len(plain) == 0 {
		delete(m.content, "stringData")
		return
	}
	out := make(map[string]any, len(data)+len(plain))
	for name, text := range data {
		raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
		if err != nil {
			refuse([]string{"data", name}, "data of the Secret is not base64 at key %q; plain text belongs under stringData", name)
			continue
		}
		out[name] = base64.StdEncoding.EncodeToString(raw)
	}
	for name, text := range plain {
		out[name] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	m.content["data"] = out
	delete(m.content, "stringData")
}

// textMap returns a map of texts of an object; ok is false when it is not one.
func textMap(content map[string]any, field string, refuse func([]string, string, ...any)) (map[string]string, bool) {
	value, present := content[field]
	if !present {
		return nil, true
	}
	entries, isMap := value.(map[string]any)
	if !isMap {
		refuse([]string{field}, "%s must be a mapping, not %s", field, typeName(value))
		return nil, false
	}
	out := make(map[string]string, len(entries))
	valid := true
	for _, name := range sortedKeys(entries) {
		text, isText := entries[name].(string)
		if !isText {
			refuse([]string{field, name}, "%s must hold texts, but %q is %s; quote it", field, name, typeName(entries[name]))
			valid = false
			continue
		}
		out[name] = text
	}
	return out, valid
}
