package heat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Find implements vnfm.InfraDriver. A stack is found by its own name, which has the id of the instance, or by the tag with the name of
// the instance. What it was made for is in its note.
func (d *Driver) Find(ctx context.Context, t *vnfm.Target, p vnfm.InstancePlace) ([]vnfm.FoundInstance, error) {
	s, err := d.open(ctx, t, nil)
	if err != nil {
		return nil, err
	}
	stacks, err := s.stacksAt(ctx, p)
	if err != nil {
		return nil, err
	}
	var out []vnfm.FoundInstance
	for i := range stacks {
		found, err := s.foundStack(ctx, &stacks[i])
		if p.ID+p.Name == "" && errors.As(err, new(*vnfm.ConflictError)) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, *found)
	}
	return out, nil
}

// stacksAt are the stacks that a place may mean.
func (s *session) stacksAt(ctx context.Context, p vnfm.InstancePlace) ([]openstack.Stack, error) {
	if p.ID+p.Name == "" {
		all, err := s.client.Stacks(ctx)
		return slices.DeleteFunc(all, func(stack openstack.Stack) bool { return ownerOf(&stack) == "" }), err
	}
	name := p.Name
	if p.ID != "" {
		name = stackPrefix + p.ID
	}
	stack, err := s.client.FindStack(ctx, name)
	if err == nil && stack == nil && p.ID != "" {
		// A stack that was given a name has the id in a tag.
		return s.client.StacksTagged(ctx, ownerPrefix+p.ID)
	}
	if err != nil || p.ID != "" || (stack != nil && strings.HasPrefix(name, stackPrefix)) {
		return only(stack), err
	}
	tagged, err := s.client.StacksTagged(ctx, tagsOf(&vnfm.Instance{Name: p.Name})[0])
	if err != nil || len(tagged) > 0 {
		return tagged, err
	}
	return only(stack), nil
}

func only(stack *openstack.Stack) []openstack.Stack {
	if stack == nil {
		return nil
	}
	return []openstack.Stack{*stack}
}

// foundStack reads what a stack was made for.
func (s *session) foundStack(ctx context.Context, stack *openstack.Stack) (*vnfm.FoundInstance, error) {
	content, err := s.client.ReadStack(ctx, stack)
	if err != nil {
		return nil, err
	}
	n := readNote(content.Notes)
	id := ownerOf(stack)
	if id == "" || n.Content == "" {
		return nil, &vnfm.ConflictError{
			Object: fmt.Sprintf("stack %s (%s) on VIM %q", stack.Name, stack.ID, s.target.VIM.Name), Owner: "somebody else",
			Detail: "this provider has not made it; name the stack of an instance, or the instance itself; package pack --from-stack makes a package with which an instance adopts it",
		}
	}
	out := &vnfm.FoundInstance{ID: id, Arguments: n.Arguments}
	for _, tag := range stack.Tags {
		if name, ok := strings.CutPrefix(tag, tagPrefix); ok {
			out.Name = name
		}
	}
	return out, nil
}

// keptArguments are the arguments for the note. Who reads it must not learn from it what Heat hides.
func (s *session) keptArguments(ctx context.Context, hides bool) (json.RawMessage, error) {
	if s.target.Arguments == nil {
		return nil, nil
	}
	text, err := s.target.Arguments(ctx)
	if err != nil || !hides {
		return text, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, fmt.Errorf("reading the arguments of the instance: %w", err)
	}
	delete(fields, vnfm.AttributeParams)
	return json.Marshal(fields)
}
