package openstack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// requestTimeout bounds one request; the first one of a service has it read all of its program.
const requestTimeout = time.Minute

// client calls OpenStack's services as one user.
type client struct {
	identity string
	token    string
	http     *http.Client
}

// statusError is an answer that is none of success.
type statusError struct {
	method, url string
	code        int
	answer      string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s %s: %d %s: %s", e.method, e.url, e.code, http.StatusText(e.code), e.answer)
}

// login asks Keystone for a token.
func login(ctx context.Context, identity, user, password, project string) (*client, error) {
	type object = map[string]any
	domain := object{"id": domainID}
	c := &client{identity: identity, http: &http.Client{Timeout: requestTimeout}}
	body := object{"auth": object{
		"identity": object{"methods": []string{"password"}, "password": object{
			"user": object{"name": user, "domain": domain, "password": password},
		}},
		"scope": object{"project": object{"name": project, "domain": domain}},
	}}
	header, err := c.call(ctx, http.MethodPost, identity+"/v3/auth/tokens", body, nil)
	if err != nil {
		return nil, fmt.Errorf("logging in as %s: %w", user, err)
	}
	c.token = header.Get("X-Subject-Token")
	return c, nil
}

// call sends a request with a JSON body, or with a body of bytes as they are, and reads the JSON that comes back, if any
// does.
func (c *client) call(ctx context.Context, method, address string, in, out any) (http.Header, error) {
	var body io.Reader
	kind := "application/json"
	switch in := in.(type) {
	case nil:
	case []byte:
		body, kind = bytes.NewReader(in), "application/octet-stream"
	default:
		data, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("encoding the request: %w", err)
		}
		body = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	request.Header.Set("Content-Type", kind)
	if c.token != "" {
		request.Header.Set("X-Auth-Token", c.token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // It was read.
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the answer of %s %s: %w", method, address, err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		return nil, &statusError{method: method, url: address, code: response.StatusCode, answer: string(data)}
	}
	if out == nil || len(data) == 0 {
		return response.Header, nil
	}
	if err := json.Unmarshal(data, out); err != nil {
		return nil, fmt.Errorf("reading the answer of %s %s: %w", method, address, err)
	}
	return response.Header, nil
}

// ensure finds an object of Keystone's by its name, or makes it, and returns its identifier. where says where to look.
func (c *client) ensure(ctx context.Context, kind string, where url.Values, object map[string]any) (string, error) {
	where.Set("name", fmt.Sprint(object["name"]))
	var list map[string]json.RawMessage
	if _, err := c.call(ctx, http.MethodGet, c.identity+"/v3/"+kind+"s?"+where.Encode(), nil, &list); err != nil {
		return "", err
	}
	var present []identified
	if err := json.Unmarshal(list[kind+"s"], &present); err != nil {
		return "", fmt.Errorf("reading the list of %ss: %w", kind, err)
	}
	if len(present) > 0 {
		return present[0].ID, nil
	}
	return c.create(ctx, kind, object)
}

// create makes an object of Keystone's and returns its identifier.
func (c *client) create(ctx context.Context, kind string, object map[string]any) (string, error) {
	var made map[string]identified
	if _, err := c.call(ctx, http.MethodPost, c.identity+"/v3/"+kind+"s", map[string]any{kind: object}, &made); err != nil {
		return "", err
	}
	return made[kind].ID, nil
}

// identified is what is common to the objects of all services.
type identified struct {
	ID string `json:"id"`
}
