package kube

import (
	"encoding/base64"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const redacted = "(sensitive)"

// redactor removes the data of a Secret from the server's answers: the server quotes values that it
// rejects.
type redactor struct{ mask *vnfm.Mask }

// quoted matches the forms in which an API server quotes a value of an object: strings, other
// scalars, and whole objects, whose end is ambiguous.
var quoted = lazyregexp.New(`(?s)((?:Invalid|Unsupported|Duplicate) value: )("(?:[^"\\]|\\.)*"|\{.*\}|\[.*\]|[^:\s]+)|(got )(&value\.valueUnstructured\{.*\}|&value\.[^,\s]*)`)

// secretRedactor returns a redactor for an object that is a Secret, else nil.
func secretRedactor(r Resource, obj map[string]any) *redactor {
	if r.GVK.Group != "" || r.GVK.Kind != "Secret" {
		return nil
	}
	var values []string
	for _, field := range []string{"data", "stringData"} {
		leaves(obj[field], func(v any) {
			text := fmt.Sprint(v)
			values = append(values, text)
			if raw, err := base64.StdEncoding.DecodeString(text); err == nil && field == "data" {
				values = append(values, string(raw))
			}
		})
	}
	return &redactor{vnfm.NewMask(values...)}
}

func leaves(v any, f func(any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, child := range v {
			leaves(child, f)
		}
	case map[string]string:
		for _, child := range v {
			f(child)
		}
	case []any:
		for _, child := range v {
			leaves(child, f)
		}
	case nil:
	default:
		f(v)
	}
}

// clean removes secrets from an answer. A nil redactor removes the values of fields that hold
// secrets in any kind.
func (r *redactor) clean(s *metav1.Status) {
	cleanFields(s)
	if r == nil {
		return
	}
	s.Message = r.text(s.Message)
	if s.Details == nil {
		return
	}
	for i := range s.Details.Causes {
		s.Details.Causes[i].Message = r.text(s.Details.Causes[i].Message)
	}
}

func (r *redactor) text(msg string) string {
	return quoted.ReplaceAllString(r.mask.Hide(msg), "${1}${3}"+redacted)
}
