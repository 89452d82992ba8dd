package openstack

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// TypeRefusal says that the user may not use a type of resources of Heat.
type TypeRefusal struct {
	Type string
	// Sure is set when Heat names the type: the rule that refuses it is that of the type. Otherwise Heat leaves it out of its list,
	// and does not show it to this user for a reason that may be another one.
	Sure bool
	// Err is what Heat said.
	Err error
}

// RefusedTypes returns those of some types that Heat's policy keeps from the user. It is asked once for all, and then for each that
// is missing in its answer: types that Heat only has another name for, hides, or has no service for, are missing too.
func (c *Client) RefusedTypes(ctx context.Context, types []string) ([]TypeRefusal, error) {
	quoted := make([]string, 0, len(types))
	for _, name := range types {
		quoted = append(quoted, regexp.QuoteMeta(name))
	}
	offered, err := list[string](ctx, c, call{
		doing: "listing the types of resources", service: ServiceOrchestration, path: "/resource_types", query: url.Values{"name": {"^(" + strings.Join(quoted, "|") + ")$"}},
	}, "resource_types")
	if err != nil {
		return nil, err
	}
	var refused []TypeRefusal
	for _, name := range types {
		if slices.Contains(offered, name) {
			continue
		}
		err := c.do(ctx, call{doing: "reading the type of resources " + name, service: ServiceOrchestration, path: "/resource_types/" + url.PathEscape(name)})
		var answer *answerError
		switch {
		case err == nil:
		case errors.As(err, &answer) && answer.code == http.StatusForbidden:
			refused = append(refused, TypeRefusal{Type: name, Sure: strings.Contains(answer.message, name), Err: err})
		case errors.As(err, &answer) && answer.code < http.StatusInternalServerError:
			// The validation of the template says it with the place of the resource.
		default:
			return nil, err
		}
	}
	return refused, nil
}
