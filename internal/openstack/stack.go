package openstack

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Stack is a stack of Heat.
type Stack struct {
	ID   string `json:"id"`
	Name string `json:"stack_name"`
	// Status is the last action and how it went: CREATE_COMPLETE, UPDATE_IN_PROGRESS.
	Status    string    `json:"stack_status"`
	Reason    string    `json:"stack_status_reason"`
	Tags      []string  `json:"tags"`
	CreatedAt Timestamp `json:"creation_time"`
	// UpdatedAt is when the last update began; zero for a stack that had none.
	UpdatedAt Timestamp `json:"updated_time"`
}

// InProgress reports whether Heat is at work on the stack.
func (s *Stack) InProgress() bool { return strings.HasSuffix(s.Status, "_IN_PROGRESS") }

// deleted reports whether the stack is only remembered.
func (s *Stack) deleted() bool { return s.Status == "DELETE_COMPLETE" }

// Failed reports whether the last action on the stack did not succeed.
func (s *Stack) Failed() bool { return strings.HasSuffix(s.Status, "_FAILED") }

// StackContent is what a stack is made of, as it was sent.
type StackContent struct {
	Template map[string]any
	Files    map[string]string
	// Parameters are the values for the template, Notes values that no template reads: what
	// is to be known of the stack by its readers (parameter_defaults).
	Parameters map[string]any
	Notes      map[string]any
	// Registry says what stands for types of resources. It is only read: no stack is sent with one.
	Registry map[string]any
}

// StackResource is a resource of a stack or of one nested in it.
type StackResource struct {
	Name string `json:"resource_name"`
	Type string `json:"resource_type"`
	// PhysicalID is that of the resource at the service it belongs to, or of a nested stack.
	PhysicalID string    `json:"physical_resource_id"`
	Status     string    `json:"resource_status"`
	Reason     string    `json:"resource_status_reason"`
	CreatedAt  Timestamp `json:"creation_time"`
	// UpdatedAt is when its status changed last.
	UpdatedAt Timestamp `json:"updated_time"`
	// Parent is the resource of the stack above whose nested stack the resource is in.
	Parent string `json:"parent_resource"`
	// RequiredBy are the resources of the same stack that refer to it.
	RequiredBy []string `json:"required_by"`
	Links      []link   `json:"links"`
}

// Failed reports whether the last action on the resource did not succeed.
func (r *StackResource) Failed() bool { return strings.HasSuffix(r.Status, "_FAILED") }

// StackID is the id of the stack that the resource is directly in.
func (r *StackResource) StackID() string { _, id := r.stack(); return id }

// stack is read from the link to the stack: the list itself has no other word of it.
func (r *StackResource) stack() (name, id string) {
	for _, l := range r.Links {
		if l.Rel != "stack" {
			continue
		}
		if u, err := url.Parse(l.Href); err == nil {
			parts := strings.Split(strings.TrimRight(u.Path, "/"), "/")
			if n := len(parts); n >= 2 {
				return parts[n-2], parts[n-1]
			}
		}
	}
	return "", ""
}

// Timestamp is a time as Heat writes it, with or without a zone. One without is UTC.
type Timestamp struct{ time.Time }

// UnmarshalJSON implements json.Unmarshaler. A text that is not a time gives the zero time.
func (t *Timestamp) UnmarshalJSON(text []byte) error {
	s := strings.Trim(string(text), `"`)
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
		if at, err := time.Parse(form, s); err == nil {
			t.Time = at
			return nil
		}
	}
	return nil
}

// StackEvent is what Heat did, or began, with a resource.
type StackEvent struct {
	ID       string    `json:"id"`
	At       Timestamp `json:"event_time"`
	Resource string    `json:"resource_name"`
	Status   string    `json:"resource_status"`
	Reason   string    `json:"resource_status_reason"`
}

// FindStack returns the stack of that name, or nil.
func (c *Client) FindStack(ctx context.Context, name string) (*Stack, error) {
	// A stack is looked for in the list: asked for by its name alone, Heat redirects.
	found, err := list[Stack](ctx, c, call{doing: "looking for stack " + name, service: ServiceOrchestration, path: "/stacks", query: url.Values{"name": {name}}}, "stacks")
	if err != nil {
		return nil, err
	}
	for i := range found {
		// The list is read before its stacks: one that has gone meanwhile is shown as deleted.
		if !found[i].deleted() {
			return &found[i], nil
		}
	}
	return nil, nil
}

// StacksTagged returns the stacks with a tag.
func (c *Client) StacksTagged(ctx context.Context, tag string) ([]Stack, error) {
	return c.stacks(ctx, "looking for stacks with tag "+tag, url.Values{"tags": {tag}})
}

// Stacks returns the stacks of the project, without those inside of others.
func (c *Client) Stacks(ctx context.Context) ([]Stack, error) {
	return c.stacks(ctx, "listing stacks", nil)
}

func (c *Client) stacks(ctx context.Context, doing string, query url.Values) ([]Stack, error) {
	found, err := list[Stack](ctx, c, call{doing: doing, service: ServiceOrchestration, path: "/stacks", query: query}, "stacks")
	return slices.DeleteFunc(found, func(s Stack) bool { return s.deleted() }), err
}

// StackByID returns a stack, or nil when it is gone.
func (c *Client) StackByID(ctx context.Context, name, id string) (*Stack, error) {
	var out struct {
		Stack Stack `json:"stack"`
	}
	err := c.do(ctx, call{doing: "reading stack " + name, service: ServiceOrchestration, path: stackPath(name, id), query: url.Values{"resolve_outputs": {"false"}}, out: &out})
	if IsNotFound(err) || (err == nil && out.Stack.deleted()) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &out.Stack, nil
}

// StackRequest is what Heat is asked to make.
type StackRequest struct {
	Name string
	StackContent
	Tags []string
	// Minutes bound the action; zero takes Heat's own limit.
	Minutes int
}

func (r *StackRequest) body() map[string]any {
	environment := map[string]any{"parameters": r.Parameters}
	if len(r.Notes) > 0 {
		environment["parameter_defaults"] = r.Notes
	}
	body := map[string]any{
		"stack_name": r.Name, "template": r.Template, "files": r.Files, "environment": environment,
		// A stack that failed stays as it is: it is continued, and it tells why.
		"disable_rollback": true, "tags": strings.Join(r.Tags, ","),
	}
	if r.Minutes > 0 {
		body["timeout_mins"] = r.Minutes
	}
	return body
}

// CreateStack begins to make a stack and returns its id.
func (c *Client) CreateStack(ctx context.Context, r StackRequest) (string, error) {
	var out struct {
		Stack Stack `json:"stack"`
	}
	err := c.do(ctx, call{
		doing: "creating stack " + r.Name, service: ServiceOrchestration, method: http.MethodPost, path: "/stacks",
		body: r.body(), out: &out, ok: []int{http.StatusCreated},
	})
	return out.Stack.ID, err
}

// UpdateStack begins to update a stack. Heat removes what is not in the request.
func (c *Client) UpdateStack(ctx context.Context, id string, r StackRequest) error {
	body := r.body()
	delete(body, "stack_name")
	return c.do(ctx, call{
		doing: "updating stack " + r.Name, service: ServiceOrchestration, method: http.MethodPut, path: stackPath(r.Name, id),
		body: body, ok: []int{http.StatusAccepted},
	})
}

// DeleteStack begins to delete a stack with all its resources.
func (c *Client) DeleteStack(ctx context.Context, name, id string) error {
	return c.remove(ctx, "deleting stack "+name, ServiceOrchestration, stackPath(name, id), nil)
}

// PreviewStack has Heat check a stack as it does before it makes one: the template, and what its values name. Nothing is made.
func (c *Client) PreviewStack(ctx context.Context, r StackRequest) error {
	return c.do(ctx, call{doing: "checking the stack", service: ServiceOrchestration, method: http.MethodPost, path: "/stacks/preview", body: r.body(), ok: []int{http.StatusOK}})
}

// ValidateStack has Heat look at a template without making anything.
func (c *Client) ValidateStack(ctx context.Context, r StackRequest) error {
	body := r.body()
	for _, name := range []string{"stack_name", "tags", "disable_rollback"} {
		delete(body, name)
	}
	return c.do(ctx, call{doing: "validating the template", service: ServiceOrchestration, method: http.MethodPost, path: "/validate", body: body, ok: []int{http.StatusOK}})
}

// ReadStack returns what a stack was made of last.
func (c *Client) ReadStack(ctx context.Context, s *Stack) (*StackContent, error) {
	content := &StackContent{}
	var environment struct {
		Parameters map[string]any `json:"parameters"`
		Defaults   map[string]any `json:"parameter_defaults"`
		Registry   map[string]any `json:"resource_registry"`
	}
	for _, part := range []struct {
		name string
		out  any
	}{{"template", &content.Template}, {"files", &content.Files}, {"environment", &environment}} {
		err := c.do(ctx, call{doing: fmt.Sprintf("reading the %s of stack %s", part.name, s.Name), service: ServiceOrchestration, path: stackPath(s.Name, s.ID) + "/" + part.name, out: part.out})
		if err != nil {
			return nil, err
		}
	}
	content.Parameters, content.Notes, content.Registry = environment.Parameters, environment.Defaults, environment.Registry
	return content, nil
}

// nestedDepth is deep enough for a group whose members are nested stacks with groups.
const nestedDepth = "5"

// StackResources returns the resources of a stack and of those nested in it.
func (c *Client) StackResources(ctx context.Context, s *Stack) ([]StackResource, error) {
	return list[StackResource](ctx, c, call{
		doing: "listing the resources of stack " + s.Name, service: ServiceOrchestration, path: stackPath(s.Name, s.ID) + "/resources",
		query: url.Values{"nested_depth": {nestedDepth}},
	}, "resources")
}

// StackEvents returns what happened in a stack after the event with the id after; empty
// for all that Heat remembers.
func (c *Client) StackEvents(ctx context.Context, s *Stack, after string) ([]StackEvent, error) {
	query := url.Values{"nested_depth": {nestedDepth}, "sort_dir": {"asc"}}
	if after != "" {
		query.Set("marker", after)
	}
	events, err := list[StackEvent](ctx, c, call{
		doing: "reading the events of stack " + s.Name, service: ServiceOrchestration, path: stackPath(s.Name, s.ID) + "/events", query: query,
	}, "events")
	if IsNotFound(err) {
		// Of a stack without an event that is the answer.
		return nil, nil
	}
	return events, err
}

// MarkUnhealthy has the next update of the stack replace a resource.
func (c *Client) MarkUnhealthy(ctx context.Context, r *StackResource, reason string) error {
	name, id := r.stack()
	return c.do(ctx, call{
		doing: "marking resource " + r.Name + " of stack " + name + " for replacement", service: ServiceOrchestration, method: http.MethodPatch,
		path: stackPath(name, id) + "/resources/" + url.PathEscape(r.Name),
		body: map[string]any{"mark_unhealthy": true, "resource_status_reason": reason},
	})
}

func stackPath(name, id string) string {
	return "/stacks/" + url.PathEscape(name) + "/" + url.PathEscape(id)
}
