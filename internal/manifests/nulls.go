package manifests

// textMaps are the fields that hold a map of texts wherever Kubernetes' own objects have them.
var textMaps = map[string]bool{"annotations": true, "labels": true, "matchLabels": true, "nodeSelector": true}

// dropNulls removes the fields whose value is null, which the Kubernetes API takes as not set. In a map of texts it takes null as an
// empty text, which is what Helm and kubectl install.
func dropNulls(object map[string]any) {
	for _, field := range []string{"data", "stringData"} {
		if values, ok := object[field].(map[string]any); ok && (object["kind"] == "ConfigMap" || object["kind"] == "Secret") {
			emptyNulls(values)
		}
	}
	dropNullsOf(object)
}

func dropNullsOf(fields map[string]any) {
	for name, value := range fields {
		switch value := value.(type) {
		case nil:
			delete(fields, name)
		case map[string]any:
			if textMaps[name] {
				emptyNulls(value)
			}
			dropNullsOf(value)
		case []any:
			dropNullsIn(value)
		}
	}
}

func dropNullsIn(items []any) {
	for _, item := range items {
		switch item := item.(type) {
		case map[string]any:
			dropNulls(item)
		case []any:
			dropNullsIn(item)
		}
	}
}

func emptyNulls(texts map[string]any) {
	for name, value := range texts {
		if value == nil {
			texts[name] = ""
		}
	}
}
