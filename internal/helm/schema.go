package helm

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	chart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// schemaURL is what the schema of a chart is called by its own references.
const schemaURL = "file:///values.schema.json"

// checkSchemas checks values against the schemas of a chart and of its sub-charts.
// It does so itself, since Helm would fetch what a schema refers to.
func (c *Chart) checkSchemas(made *chart.Chart, o Options, values map[string]any, ps *vnfm.Problems) {
	if len(made.Schema) > 0 {
		c.checkSchema(made, o, values, ps)
	}
	for _, sub := range made.Dependencies() {
		if own, ok := values[sub.Name()].(map[string]any); ok {
			c.checkSchemas(sub, o, own, ps)
		}
	}
}

func (c *Chart) checkSchema(made *chart.Chart, o Options, values map[string]any, ps *vnfm.Problems) {
	file := c.place(path.Join(made.ChartFullPath(), "values.schema.json"))
	schema, err := compileSchema(made.Schema)
	if err != nil {
		//findings:says write values.schema.json as a JSON schema, or leave it out
		ps.Errorf(file, 0, 0, "cannot be used as a schema: %v", err)
		return
	}
	err = schema.Validate(plain(values))
	var invalid *jsonschema.ValidationError
	switch {
	case err == nil:
	case errors.As(err, &invalid):
		for _, leaf := range leaves(invalid) {
			attribute, reason := o.Attribute, leaf.ErrorKind.LocalizedString(message.NewPrinter(language.English))
			if way := valueWay(made, leaf.InstanceLocation); o.secret(way) {
				// The message may quote the value, or tell its length.
				attribute, reason = o.SecretAttribute, "it does not meet "+strings.Join(leaf.ErrorKind.KeywordPath(), ".")
			} else if extra, ok := leaf.ErrorKind.(*kind.AdditionalProperties); ok && slices.ContainsFunc(extra.Properties, func(name string) bool { return o.holds(append(way, name)) }) {
				attribute = o.SecretAttribute
			}
			*ps = append(*ps, vnfm.Problem{
				Attribute: attribute, Key: o.Key,
				//findings:says give a value that the schema accepts
				Summary: fmt.Sprintf("the value %s of the chart %s is rejected by %s: %s", valuePath(made, leaf.InstanceLocation), made.Name(), file, reason),
			})
		}
	default:
		//findings:says simplify values.schema.json, or leave it out of the chart
		ps.Errorf(file, 0, 0, "cannot be checked: %v", err)
	}
}

func compileSchema(text []byte) (*jsonschema.Schema, error) {
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	if err := compiler.AddResource(schemaURL, schema); err != nil {
		return nil, err
	}
	return compiler.Compile(schemaURL)
}

// noLoader refuses what a schema refers to outside of itself.
type noLoader struct{}

// Load implements jsonschema.URLLoader.
func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("it refers to %s; nothing is fetched: write it into the schema", url)
}

// leaves are the findings that have no cause of their own.
func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var out []*jsonschema.ValidationError
	for _, cause := range e.Causes {
		out = append(out, leaves(cause)...)
	}
	return out
}

// valuePath is the path of a value from the values of the root chart.
func valuePath(made *chart.Chart, inside []string) string {
	all := valueWay(made, inside)
	if len(all) == 0 {
		return "values"
	}
	return strings.Join(all, ".")
}

// globalValues are the values of a chart that its sub-charts have as well.
const globalValues = "global"

// valueWay is the way to a value from the values of the root chart. A global one is there,
// and nowhere else.
func valueWay(made *chart.Chart, inside []string) []string {
	if len(inside) > 0 && inside[0] == globalValues {
		return inside
	}
	var parents []string
	for at := made; !at.IsRoot(); at = at.Parent() {
		parents = append([]string{at.Name()}, parents...)
	}
	return slices.Concat(parents, inside)
}

// secret reports whether a value is a secret, or part of one.
func (o *Options) secret(way []string) bool {
	return slices.ContainsFunc(o.Secrets, func(s []string) bool { return len(s) <= len(way) && slices.Equal(s, way[:len(s)]) })
}

// holds reports whether a value is a secret, or part of one, or holds one.
func (o *Options) holds(way []string) bool {
	return o.secret(way) || slices.ContainsFunc(o.Secrets, func(s []string) bool { return len(s) > len(way) && slices.Equal(way, s[:len(way)]) })
}
