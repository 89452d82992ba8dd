package heat

import (
	"strings"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
)

func TestSetDeletion(t *testing.T) {
	t.Parallel()
	const nested = `heat_template_version: 2018-08-31
resources:
  data: # of the customer
    type: OS::Cinder::Volume
    properties: {size: 1}
  kept:
    type: OS::Cinder::Volume
    deletion_policy: Retain
  server: {type: OS::Nova::Server}
`
	content := func() *openstack.StackContent {
		return &openstack.StackContent{
			Template: map[string]any{"resources": map[string]any{
				"disk": map[string]any{"type": "OS::Cinder::Volume"},
				"fw":   map[string]any{"type": "fw.yaml"},
			}},
			Files: map[string]string{"fw.yaml": nested, "init.sh": "#!/bin/sh\necho: {", "values.yaml": "resources: {a: {type: OS::Cinder::Volume}}"},
		}
	}
	set := func(c *openstack.StackContent, policy string, want bool) {
		t.Helper()
		if changed, err := setDeletion(c, policy); err != nil || changed != want {
			t.Errorf("%s: changed %v, %v", policy, changed, err)
		}
	}
	policyOf := func(c *openstack.StackContent) any {
		resources, _ := c.Template["resources"].(map[string]any)
		disk, _ := resources["disk"].(map[string]any)
		return disk["deletion_policy"]
	}

	kept := content()
	set(kept, "Retain", true)
	set(kept, "Retain", false)
	if policyOf(kept) != "Retain" {
		t.Errorf("at the top it is %v", policyOf(kept))
	}
	if text := kept.Files["fw.yaml"]; strings.Count(text, "deletion_policy: Retain") != 2 || !strings.Contains(text, "heat_template_version: 2018-08-31\n") || !strings.Contains(text, "# of the customer") {
		t.Errorf("nested it is\n%s", text)
	}
	if before := content(); kept.Files["init.sh"] != before.Files["init.sh"] || kept.Files["values.yaml"] != before.Files["values.yaml"] {
		t.Errorf("files that are no templates became %q", kept.Files)
	}

	gone := content()
	set(gone, "Delete", true)
	if text := gone.Files["fw.yaml"]; strings.Contains(text, "Retain") || strings.Count(text, "deletion_policy") != 1 || policyOf(gone) != nil {
		t.Errorf("deleted: %v and\n%s", policyOf(gone), text)
	}
}
