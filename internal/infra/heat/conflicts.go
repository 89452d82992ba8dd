package heat

import (
	"context"
	"fmt"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// attributeName is the argument that gives an instance its name.
const attributeName = "name"

// takenName finds stacks of other instances that have the name of an instance which is not made yet: those of another store, or of
// an instance that was forgotten. Heat would make a second stack of the same name. A stack
// that is on its way out, or whose instance may go before, is left out.
func (s *session) takenName(ctx context.Context) (vnfm.Problems, error) {
	i := s.target.Instance
	tag := tagsOf(i)[0]
	if i.ID != "" || tag != tagPrefix+i.Name {
		// A tag that is not the whole name may be that of another one.
		return nil, nil
	}
	stacks, err := s.client.StacksTagged(ctx, tag)
	if openstack.IsForbidden(err) {
		// The check of the template says what the user may not do.
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var lines []string
	for n := range stacks {
		stack := &stacks[n]
		owner := ownerOf(stack)
		if stack.Status == "DELETE_IN_PROGRESS" || s.target.Yields != nil && s.target.Yields(ctx, owner) {
			continue
		}
		lines = append(lines, fmt.Sprintf("stack %s (%s, %s) belongs to another instance of this name", stack.Name, stack.ID, stack.Status))
	}
	if len(lines) == 0 {
		return nil, nil
	}
	return vnfm.Problems{{
		Attribute: attributeName,
		Summary:   fmt.Sprintf("the project of VIM %q has a stack of a VNF instance %q already", s.target.VIM.Name, i.Name),
		Detail: strings.Join(lines, "\n") + "\nIf it is this instance, import it by the name of the stack; else choose another name, or have its owner delete it. " +
			"If it goes before the apply, or if both are wanted, set server_dry_run = false.",
	}}, nil
}
