package heat

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/hot"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ParamStackName is the additional parameter that gives the stack of an instance its name. Such a stack may be there already, made by
// somebody else: the instance takes it over where the user says so, and has it as its templates describe it, without copies of resources.
const ParamStackName = "heat_stack_name"

// ownerPrefix begins the tag with the id of the instance of a stack whose name does not have it.
const ownerPrefix = "vnf-instance-id:"

// givenName is the name that the stack of an instance was given; empty for none.
func givenName(i *vnfm.Instance) string {
	name, _ := i.AdditionalParams[ParamStackName].(string)
	return name
}

// ownerOf is the id of the instance of a stack; empty for a stack of nobody.
func ownerOf(stack *openstack.Stack) string {
	for _, tag := range stack.Tags {
		if id, ok := strings.CutPrefix(tag, ownerPrefix); ok {
			return id
		}
	}
	id, ok := strings.CutPrefix(stack.Name, stackPrefix)
	if !ok {
		return ""
	}
	return id
}

// owns reports whether a stack is that of the instance: by its name, by its tag, or by its id, which the record has.
func (s *session) owns(stack *openstack.Stack) bool {
	i := s.target.Instance
	if givenName(i) == "" || i.ID != "" && ownerOf(stack) == i.ID {
		return true
	}
	return slices.ContainsFunc(i.Inventory, func(item vnfm.InventoryItem) bool { return item.Type == vnfm.InventoryStack && item.UID == stack.ID })
}

// find returns the stack of the instance, nil for none: one of its name that belongs to somebody else is none.
func (s *session) find(ctx context.Context) (*openstack.Stack, error) {
	stack, err := s.client.FindStack(ctx, stackName(s.target.Instance))
	if err != nil || stack == nil || !s.owns(stack) {
		return nil, err
	}
	return stack, nil
}

// findOrAdopt is find for an operation that makes the stack: one of nobody is taken over, or in the way.
func (s *session) findOrAdopt(ctx context.Context) (*openstack.Stack, error) {
	stack, err := s.client.FindStack(ctx, stackName(s.target.Instance))
	if err != nil || stack == nil || s.owns(stack) {
		return stack, err
	}
	if conflict := s.conflict(stack); conflict != nil {
		return nil, conflict
	}
	return stack, nil
}

// conflict says to whom a stack belongs that the instance may not take over; nil where it may.
func (s *session) conflict(stack *openstack.Stack) *vnfm.ConflictError {
	out := &vnfm.ConflictError{Object: fmt.Sprintf("stack %s (%s) on VIM %q", stack.Name, stack.ID, s.target.VIM.Name), OwnerID: ownerOf(stack)}
	switch {
	case out.OwnerID != "":
		out.Owner, out.Detail = "VNF instance "+out.OwnerID, "give this instance another "+ParamStackName
	case !s.target.AdoptExisting:
		out.Owner, out.Detail = "no VNF instance", "give this instance another "+ParamStackName+", or set adopt_existing to take it over"
	case isDeleting(stack):
		out.Owner, out.Detail = "no VNF instance", "it is being deleted: apply again when it is gone"
	default:
		return nil
	}
	return out
}

// foreignStack finds a stack of the name that the instance gives its own, before there is one.
func (s *session) foreignStack(ctx context.Context) (vnfm.Problems, error) {
	if givenName(s.target.Instance) == "" {
		return nil, nil
	}
	stack, err := s.client.FindStack(ctx, stackName(s.target.Instance))
	if err != nil || stack == nil || s.owns(stack) {
		return nil, err
	}
	conflict := s.conflict(stack)
	if conflict == nil || conflict.OwnerID != "" && s.target.Yields != nil && s.target.Yields(ctx, conflict.OwnerID) {
		return nil, nil
	}
	//findings:says give this instance another stack_name, or set adopt_existing to take over a stack that no instance has
	return vnfm.Problems{{Attribute: vnfm.AttributeParams, Key: ParamStackName, Summary: fmt.Sprintf("%s belongs to %s", conflict.Object, conflict.Owner), Detail: conflict.Detail}}, nil
}

// checkName checks the name that a stack is given, and keeps the templates as they are where there is one.
func checkName(t *vnfm.Target, source *hot.Source, ps *vnfm.Problems) {
	value, given := t.Params()[ParamStackName]
	if !given {
		return
	}
	refuse := func(summary, detail string) {
		p := vnfm.Problem{Attribute: vnfm.AttributeParams, Key: ParamStackName, Summary: fmt.Sprintf("additional parameter %q %s", ParamStackName, summary), Detail: detail}
		if _, secret := t.SecretParams[ParamStackName]; secret {
			p.Attribute = vnfm.AttributeSecretParams
		}
		*ps = append(*ps, p)
	}
	name, _ := value.(string)
	switch {
	case t.SecretParams[ParamStackName] != nil:
		refuse("cannot be secret", "everybody who lists the stacks of the project sees it: set it in additional_params")
		return
	case !validStackName.MatchString(name):
		refuse("must be a name that Heat takes for a stack", "a letter, then letters, digits and _ - ., 255 at most")
		return
	case strings.HasPrefix(name, stackPrefix):
		refuse("must not begin with "+stackPrefix, "stacks of instances that are given no name begin so")
		return
	case source.Translated:
		refuse("needs templates", "the package brings none for the deployment flavour, and its VNFD would be translated; what makes such a package of a stack is: package pack --from-stack")
		return
	}
	for _, item := range t.Instance.Inventory {
		if item.Type == vnfm.InventoryStack && item.UID != "" && item.Name != name {
			refuse(fmt.Sprintf("cannot be changed: the stack of the instance is %s", item.Name), "Heat cannot rename a stack")
		}
	}
	source.Keep()
	for id, vdu := range source.VDUs {
		if n := t.Counts[id]; vdu.Form == hot.Kept && n != 1 && t.Part.Has(id) && t.Instance.OperationalState != vnfm.Stopped {
			refuse(fmt.Sprintf("leaves VDU %q with one VNFC, and %d are asked for", id, n), fmt.Sprintf("the resource %s stands once in the template; a group can be scaled", vdu.Resource))
		}
	}
}

// tagsFor are the tags of the stack of an instance: those of others stay.
func (s *session) tagsFor(l *live) []string {
	i := s.target.Instance
	tags := tagsOf(i)
	if givenName(i) == "" {
		return tags
	}
	tags = append(tags, ownerPrefix+i.ID)
	if l != nil {
		for _, tag := range l.stack.Tags {
			if !strings.HasPrefix(tag, tagPrefix) && !strings.HasPrefix(tag, ownerPrefix) {
				tags = append(tags, tag)
			}
		}
	}
	return tags
}
