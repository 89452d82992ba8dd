package kubernetes

import (
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// sourceObjects makes the objects of a target from what describes them: the
// manifests that the instance names or the package lists, else the containers of the
// VNFD.
func sourceObjects(t *vnfm.Target, p *params, ps *vnfm.Problems) []*object {
	switch {
	case p.filesGiven || len(p.files) > 0:
		return manifestObjects(t, p.files, ps)
	case describesContainers(t.Flavour):
		return translate(t, p, ps)
	default:
		*ps = append(*ps, vnfm.Problem{
			Summary: fmt.Sprintf("package %q lists no Kubernetes manifest", t.Package.Name),
			Detail:  fmt.Sprintf("list the manifests as artifacts of the package, or name them in additional_params[%q]; or describe the containers of the VDUs in the VNFD", paramFiles),
		})
		return nil
	}
}

// manifestObjects reads manifests of the package.
func manifestObjects(t *vnfm.Target, files []string, ps *vnfm.Problems) []*object {
	var objects []*object
	for _, file := range files {
		for _, m := range readManifests(t.Package.Content, file, ps) {
			if o := renderObject(&m, ps); o != nil {
				objects = append(objects, o)
			}
		}
	}
	return objects
}
