package render

import (
	"context"
	"encoding/base64"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Conceal masks the data of the Secrets in everything that the operation reports: events
// and logs of others may quote it. Names of objects stay readable, so that errors still
// name their object.
func (r *Rendering) Conceal(ctx context.Context) {
	concealed := vnfm.ConcealedIn(ctx)
	if concealed == nil {
		return
	}
	named := map[string]bool{}
	for _, o := range r.Objects {
		named[o.Name], named[o.namespace] = true, true
	}
	for _, o := range r.Objects {
		if !o.isSecret() {
			continue
		}
		for _, field := range []string{"data", "stringData"} {
			data, _ := o.Content[field].(map[string]any)
			for _, value := range data {
				text, _ := value.(string)
				if raw, err := base64.StdEncoding.DecodeString(text); err == nil && field == "data" {
					text = string(raw)
				}
				if !named[text] {
					concealed.Add(text)
				}
			}
		}
	}
}
