package heat

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// volumeType is the type of resource that a volume is.
const volumeType = "OS::Cinder::Volume"

// The parts of a template by which it says what becomes of its resources.
const (
	keyVersion        = "heat_template_version"
	keyResources      = "resources"
	keyType           = "type"
	keyDeletionPolicy = "deletion_policy"
)

// deletionPolicies are Heat's policies for those of the user. Without one the template decides,
// or Heat's default: volumes are deleted.
var deletionPolicies = map[vnfm.VolumePolicy]string{vnfm.VolumesKeep: "Retain", vnfm.VolumesDelete: "Delete"}

// setVolumePolicy writes into the stack whether its volumes outlive it. Heat has no other way
// to be told than the template.
func (s *session) setVolumePolicy(ctx context.Context, policy vnfm.VolumePolicy) error {
	want, given := deletionPolicies[policy]
	if !given {
		return nil
	}
	l, err := s.awaitIdle(ctx)
	if err != nil || l == nil {
		return err
	}
	changed, err := setDeletion(l.content, want)
	if err != nil || !changed {
		return err
	}
	s.progress(ctx, fmt.Sprintf("setting the deletion policy of the volumes of stack %s", l.stack.Name))
	request := &openstack.StackRequest{Name: l.stack.Name, StackContent: *l.content, Tags: l.stack.Tags}
	err = s.update(ctx, l, request)
	if err == nil {
		err = s.finish(ctx, l.stack, &order{content: request})
	}
	if err != nil {
		return fmt.Errorf("nothing was deleted, because the deletion policy of the volumes of stack %s could not be set (deletion_policy.volumes = %q): %w", l.stack.Name, policy, err)
	}
	return nil
}

// setDeletion gives all volumes of a stack and of the templates nested in it a deletion
// policy, and reports whether one of them had another.
func setDeletion(content *openstack.StackContent, policy string) (bool, error) {
	changed := false
	resources, _ := content.Template[keyResources].(map[string]any)
	for _, resource := range resources {
		fields, _ := resource.(map[string]any)
		if has, _ := fields[keyDeletionPolicy].(string); fields[keyType] == volumeType && differs(has, policy) {
			fields[keyDeletionPolicy], changed = policy, true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(content.Files)) {
		// As nodes, which keep what is not understood here as it is written.
		var document yaml.Node
		if err := yaml.Unmarshal([]byte(content.Files[name]), &document); err != nil || len(document.Content) == 0 || child(document.Content[0], keyVersion) == nil {
			// No template: a script, or a file of some other kind.
			continue
		}
		if !setDeletionIn(child(document.Content[0], keyResources), policy) {
			continue
		}
		text, err := yaml.Marshal(&document)
		if err != nil {
			return false, fmt.Errorf("writing template %s: %w", name, err)
		}
		content.Files[name], changed = string(text), true
	}
	return changed, nil
}

// differs reports whether a deletion policy is another one. None at all is Delete.
func differs(has, want string) bool {
	if has == "" {
		has = deletionPolicies[vnfm.VolumesDelete]
	}
	return has != want
}

func setDeletionIn(resources *yaml.Node, policy string) bool {
	changed := false
	for i := 1; resources != nil && i < len(resources.Content); i += 2 {
		resource := resources.Content[i]
		kind, has := child(resource, keyType), child(resource, keyDeletionPolicy)
		if kind == nil || kind.Value != volumeType {
			continue
		}
		switch {
		case has == nil && differs("", policy):
			resource.Content = append(resource.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: keyDeletionPolicy}, &yaml.Node{Kind: yaml.ScalarNode, Value: policy})
			changed = true
		case has != nil && differs(has.Value, policy):
			has.SetString(policy)
			changed = true
		}
	}
	return changed
}

// child is the value of a key of a map; nil when there is none, or no map.
func child(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
