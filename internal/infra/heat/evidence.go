package heat

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var _ vnfm.Witness = (*Driver)(nil)

// maxEvents bounds the events of a stack in a report.
const maxEvents = 100

// Evidence implements vnfm.Witness.
func (d *Driver) Evidence(ctx context.Context, v *vnfm.VIM, credentials vnfm.Credentials, items []vnfm.InventoryItem) []vnfm.ReportSection {
	client, err := d.clients.Client(v.Name, v.OpenStack, credentials)
	if err != nil {
		return nil
	}
	var out []vnfm.ReportSection
	for i := range items {
		if items[i].Type != vnfm.InventoryStack || items[i].UID == "" {
			continue
		}
		stack, err := client.StackByID(ctx, items[i].Name, items[i].UID)
		if err != nil || stack == nil {
			continue
		}
		lines := []string{fmt.Sprintf("stack %s (%s): %s: %s", stack.Name, stack.ID, stack.Status, stack.Reason), ""}
		resources, err := client.StackResources(ctx, stack)
		if err != nil {
			lines = append(lines, "The resources cannot be read: "+err.Error())
		}
		for n := range resources {
			r := &resources[n]
			lines = append(lines, strings.TrimSuffix(fmt.Sprintf("resource %s (%s %s): %s: %s", r.Name, r.Type, r.PhysicalID, r.Status, r.Reason), ": "))
		}
		events, err := client.StackEvents(ctx, stack, "")
		if err == nil {
			lines = append(lines, "")
			for _, e := range events[max(0, len(events)-maxEvents):] {
				lines = append(lines, strings.TrimSuffix(fmt.Sprintf("event %s %s: %s: %s", e.At.UTC().Format(time.RFC3339), e.Resource, e.Status, e.Reason), ": "))
			}
		}
		out = append(out, vnfm.ReportSection{Title: fmt.Sprintf("Stack %s on VIM %q", stack.Name, v.Name), Text: strings.Join(lines, "\n")})
	}
	return out
}
