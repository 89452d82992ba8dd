package helm

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// Charts have a random text in an annotation of their pods, so that every upgrade restarts
// them. A result that stands in annotations and nowhere else therefore holds for one revision
// alone: the next one, with another chart or other values, has another.

// minRolling is how long a text must be to be recognised.
const minRolling = 4

// rolling are the keys of the results of this rendering that hold for it alone.
func (k *calls) rolling(r *Rendering) map[string]bool {
	texts := map[string]string{}
	for key := range k.fresh {
		var text string
		function := k.used[key].Function
		if strings.HasPrefix(function, "rand") || function == "uuidv4" || function == "shuffle" {
			_ = json.Unmarshal(k.used[key].Value, &text)
		}
		if len(text) >= minRolling {
			texts[key] = text
		}
	}
	if len(texts) == 0 {
		return nil
	}
	var inside, outside strings.Builder
	for _, o := range r.objects() {
		splitAnnotations(o, false, &inside, &outside)
	}
	in, out := inside.String(), outside.String()
	for key, text := range texts {
		elsewhere := strings.Contains(out, text) || strings.Contains(out, base64.StdEncoding.EncodeToString([]byte(text)))
		if elsewhere || !strings.Contains(in, text) {
			delete(texts, key)
		}
	}
	keys := map[string]bool{}
	for key := range texts {
		keys[key] = true
	}
	return keys
}

// splitAnnotations collects the texts of annotations and all others.
func splitAnnotations(value any, annotations bool, inside, outside *strings.Builder) {
	switch value := value.(type) {
	case string:
		to := outside
		if annotations {
			to = inside
		}
		to.WriteString(value + "\n")
	case []any:
		for _, item := range value {
			splitAnnotations(item, annotations, inside, outside)
		}
	case map[string]any:
		meta, _ := value["metadata"].(map[string]any)
		for key, item := range value {
			if key == "metadata" && meta != nil {
				for field, own := range meta {
					splitAnnotations(own, annotations || field == "annotations", inside, outside)
				}
				continue
			}
			splitAnnotations(item, annotations, inside, outside)
		}
	}
}
