package vnfd

import (
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
)

// configKey is what is both a key of a ConfigMap and the name of an environment variable.
var configKey = lazyregexp.New(`^[-._a-zA-Z][-._a-zA-Z0-9]*$`)

// readConfig reads settings: maps, or text with a line "key: value" for each.
func readConfig(all ...value) map[string]string {
	config := map[string]string{}
	add := func(at value, key, text string) {
		if !configKey.MatchString(key) {
			//findings:says use letters, digits, points, dashes and underscores, and begin with no digit
			at.errorf("%s: %q cannot be the name of an environment variable", at.path, key)
			return
		}
		config[key] = text
	}
	for _, v := range all {
		if v.isMap() {
			for _, e := range v.entries() {
				add(e.value, e.name, e.str())
			}
			continue
		}
		text, _ := v.text()
		for i, line := range strings.Split(text, "\n") {
			if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			key, setting, ok := strings.Cut(line, ":")
			if !ok {
				// The line is not shown: it may hold what nobody should see.
				v.errorf("%s: line %d of the text has no colon; each line is a key and a value, as in \"key: value\"", v.path, i+1)
				continue
			}
			add(v, strings.TrimSpace(key), strings.TrimSpace(setting))
		}
	}
	if len(config) == 0 {
		return nil
	}
	return config
}
