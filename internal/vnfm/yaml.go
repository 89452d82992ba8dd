package vnfm

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
)

var yamlPlace = lazyregexp.New(`(?s)line (\d+): (.*)$`)

// yamlParserTexts are what the parser of go.yaml.in/yaml/v3 complains of. It counts
// the lines of these from 0, those of its scanner from 1 (decode.go, parser.fail).
var yamlParserTexts = []string{
	"did not find expected ',' or ']'", "did not find expected ',' or '}'", "did not find expected '-' indicator",
	"did not find expected <document start>", "did not find expected key", "did not find expected node content",
	"found duplicate %TAG directive", "found duplicate %YAML directive", "found incompatible YAML document",
	"found undefined tag handle",
}

// YAMLError takes the line, counted from 1 and 0 when it is unknown, and the
// message out of an error of go.yaml.in/yaml/v3, which has no other way to tell them.
func YAMLError(err error) (line int, text string) {
	text = strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlPlace.FindStringSubmatch(text); m != nil {
		if n, convErr := strconv.Atoi(m[1]); convErr == nil {
			line, text = n, m[2]
		}
	}
	if slices.Contains(yamlParserTexts, text) {
		line++
	}
	return line, text
}
