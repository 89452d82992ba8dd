package render

import (
	"context"
	"strings"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestPreviewEndsWithItsContext renders many objects after the context has ended.
func TestPreviewEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	text := strings.Repeat("apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n---\n", 1000)
	for name, look := range map[string]func(*vnfm.Target) vnfm.Problems{
		"preview": func(t *vnfm.Target) vnfm.Problems { _, ps := new(Renderings).Preview(ctx, t); return ps },
		"render":  func(t *vnfm.Target) vnfm.Problems { _, ps := new(Renderings).YAML(ctx, t); return ps },
	} {
		ps := look(targettest.Manifests(map[string]string{"a.yaml": text}, nil))
		if len(ps) != 1 || ps[0].File != "a.yaml" || !strings.Contains(ps[0].String(), "context canceled") {
			t.Errorf("%s: %v", name, ps)
		}
	}
}
