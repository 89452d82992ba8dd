package kubernetes

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube/readiness"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var _ vnfm.Witness = (*Driver)(nil)

// maxWitnessed bounds the objects that a report reads, because each costs one request.
const maxWitnessed = 200

// Evidence implements vnfm.Witness.
func (d *Driver) Evidence(ctx context.Context, v *vnfm.VIM, credentials vnfm.Credentials, items []vnfm.InventoryItem) []vnfm.ReportSection {
	client, err := d.clients.Client(v.Name, v.Kubernetes, credentials)
	if err != nil {
		return nil
	}
	var refs []kube.Ref
	for i := range items {
		gvk := schema.GroupVersionKind{Group: items[i].Group, Version: items[i].Version, Kind: items[i].Kind}
		if items[i].Posted != "" || readiness.WithoutStatus(gvk.GroupKind()) || len(refs) == maxWitnessed {
			continue
		}
		r, err := client.Resource(ctx, gvk)
		if err != nil {
			continue
		}
		refs = append(refs, kube.Ref{Resource: r, Namespace: items[i].Namespace, Name: items[i].Name})
	}
	if len(refs) == 0 {
		return nil
	}
	unready := client.Report(ctx, refs)
	lines := []string{fmt.Sprintf("%d of %d objects with a status are not ready.", len(unready), len(refs))}
	for _, o := range unready {
		lines = append(lines, o.String())
	}
	return []vnfm.ReportSection{{Title: fmt.Sprintf("Objects on VIM %q", v.Name), Text: strings.Join(lines, "\n\n")}}
}
