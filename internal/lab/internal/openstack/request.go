package openstack

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Request is one call of a service by a user of the lab.
type Request struct {
	User   string
	Method string
	// Service is the kind that it has in the catalogue, Path what comes after its endpoint.
	Service string
	Path    string
	// Body is JSON; empty for none.
	Body string
}

// Request calls a service and writes the JSON that it answers. An answer that is none of success is the error.
func (l *Lab) Request(ctx context.Context, r Request, w io.Writer) error {
	env, err := l.Environment()
	if err != nil {
		return err
	}
	user, ok := env.Users[r.User]
	if !ok {
		return fmt.Errorf("the lab has no user %q", r.User)
	}
	c, err := login(ctx, strings.TrimSuffix(env.AuthURL, "/v3"), user.Name, user.Password, user.Project)
	if err != nil {
		return err
	}
	endpoint, err := c.endpoint(ctx, r.Service)
	if err != nil {
		return err
	}
	var in any
	if r.Body != "" {
		in = json.RawMessage(r.Body)
	}
	var answer json.RawMessage
	if _, err := c.call(ctx, r.Method, endpoint+r.Path, in, &answer); err != nil {
		return err
	}
	if answer == nil {
		return nil
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(answer)
}

// endpoint is where the catalogue says that a service is, for the project of the user.
func (c *client) endpoint(ctx context.Context, kind string) (string, error) {
	var answer struct {
		Catalog []struct {
			Type      string `json:"type"`
			Endpoints []struct {
				Interface string `json:"interface"`
				URL       string `json:"url"`
			} `json:"endpoints"`
		} `json:"catalog"`
	}
	if _, err := c.call(ctx, http.MethodGet, c.identity+"/v3/auth/catalog", nil, &answer); err != nil {
		return "", err
	}
	for _, service := range answer.Catalog {
		for _, endpoint := range service.Endpoints {
			if service.Type == kind && endpoint.Interface == "public" {
				return endpoint.URL, nil
			}
		}
	}
	return "", fmt.Errorf("the catalogue has no service %q", kind)
}
