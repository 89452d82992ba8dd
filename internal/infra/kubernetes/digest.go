package kubernetes

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// digestHex is how many hexadecimal digits of the SHA-256 sum a digest shows.
const digestHex = 16

// digest sums up a rendered object: "sha256:" and 16 hexadecimal digits over its
// canonical JSON, in which keys are sorted. The values of a Secret enter as
// HMAC-SHA256 under key only, so that a digest cannot be used to try guesses of
// what the Secret holds. The object has neither the driver's own labels nor the
// replicas of a VDU.
func digest(o *object, key []byte) (string, error) {
	content := o.content
	if o.isSecret() {
		content = keyed(content, key)
	}
	sum := sha256.New()
	if err := json.NewEncoder(sum).Encode(content); err != nil {
		return "", fmt.Errorf("digest of %s: %w", o.key, err)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))[:digestHex], nil
}

// keyedDigest is the digest of an object that may hold secrets anywhere: without the key no
// guess can be tried.
func keyedDigest(key []byte, digest string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(digest))
	return "sha256:" + hex.EncodeToString(mac.Sum(nil))[:digestHex]
}

// keyed returns a copy of a Secret with the keyed digests of its values.
func keyed(content map[string]any, key []byte) map[string]any {
	data, ok := content["data"].(map[string]any)
	if !ok {
		return content
	}
	masked := make(map[string]any, len(data))
	for name, value := range data {
		text, _ := value.(string)
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(text))
		masked[name] = hex.EncodeToString(mac.Sum(nil))
	}
	return merged(content, map[string]any{"data": masked})
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
