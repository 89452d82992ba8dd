package vnfm

import (
	"bytes"
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

// yamlScannerTexts are how complaints of its scanner begin. One without a line is about the first.
var yamlScannerTexts = []string{"found ", "did not find ", "could not find ", "mapping values are ", "block sequence entries are "}

// tabText is how the scanner complains of a tab. It then has the line where the value before the tab begins.
const tabText = "found a tab character "

// YAMLError takes the line, counted from 1 and 0 when it is unknown, and the
// message out of an error of go.yaml.in/yaml/v3 about a text, which has no other way to tell them.
func YAMLError(yaml []byte, err error) (line int, text string) {
	text = strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlPlace.FindStringSubmatch(text); m != nil {
		if n, convErr := strconv.Atoi(m[1]); convErr == nil {
			line, text = n, m[2]
		}
	}
	switch {
	case slices.Contains(yamlParserTexts, text):
		line++
	case line == 0 && slices.ContainsFunc(yamlScannerTexts, func(begin string) bool { return strings.HasPrefix(text, begin) }):
		line = 1
	}
	if strings.HasPrefix(text, tabText) {
		line = indentedByTab(yaml, line)
	}
	return line, text
}

// indentedByTab is the first line, from one on, whose indentation has a tab; that one if none has.
func indentedByTab(text []byte, from int) int {
	for i, line := range bytes.Split(text, []byte("\n")) {
		if indentation := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]; i+1 >= from && bytes.ContainsRune(indentation, '\t') {
			return i + 1
		}
	}
	return from
}
