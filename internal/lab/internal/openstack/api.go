package openstack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	said        string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s %s: %d %s: %s", e.method, e.url, e.code, http.StatusText(e.code), e.said)
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

// call sends a request with a JSON body, or with a body of bytes as they are, and reads the JSON that comes back.
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
		return nil, &statusError{method: method, url: address, code: response.StatusCode, said: string(data)}
	}
	if out == nil {
		return response.Header, nil
	}
	if err := json.Unmarshal(data, out); err != nil {
		return nil, fmt.Errorf("reading the answer of %s %s: %w", method, address, err)
	}
	return response.Header, nil
}

// ensure finds an object of a collection by what identifies it, or makes it, and returns its identifier. collection is a
// URL; plural and singular are the names of the list and of the object in JSON.
func (c *client) ensure(ctx context.Context, collection, plural, singular string, key url.Values, object map[string]any) (string, error) {
	type found struct {
		ID string `json:"id"`
	}
	var list map[string]json.RawMessage
	if _, err := c.call(ctx, http.MethodGet, collection+"?"+key.Encode(), nil, &list); err != nil {
		return "", err
	}
	var present []found
	if err := json.Unmarshal(list[plural], &present); err != nil {
		return "", fmt.Errorf("reading the list of %s: %w", plural, err)
	}
	if len(present) > 0 {
		return present[0].ID, nil
	}
	var made map[string]found
	if _, err := c.call(ctx, http.MethodPost, collection, map[string]any{singular: object}, &made); err != nil {
		return "", err
	}
	if made[singular].ID == "" {
		return "", errors.New("the answer to making a " + singular + " holds none")
	}
	return made[singular].ID, nil
}
