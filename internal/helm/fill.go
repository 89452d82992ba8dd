package helm

import (
	"fmt"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

// fill does the work of Fill.
func fill(text string, values map[string]any) (string, error) {
	parsed, err := template.New("text").Funcs(sprig.HermeticTxtFuncMap()).Parse(text)
	if err != nil {
		return "", fmt.Errorf("reading the template: %w", err)
	}
	var out strings.Builder
	if err := parsed.Execute(&out, values); err != nil {
		return "", fmt.Errorf("filling the template: %w", err)
	}
	return out.String(), nil
}
