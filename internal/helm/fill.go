package helm

import (
	"fmt"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

// Fill fills values into one text that is no part of a chart, such as a patch of a
// ClusterClass: with the functions that templates of charts have as well, but for those
// that give something else at every call.
func Fill(text string, values map[string]any) (string, error) {
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
