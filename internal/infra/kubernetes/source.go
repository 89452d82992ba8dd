package kubernetes

import (
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// source is where the objects of an instance come from: the form that its package
// describes them in. What becomes of them afterwards is the same for all.
type source interface {
	// manifests returns the objects as they are written, each with its place, and
	// notes in the rendering what else the form brings.
	manifests(t *vnfm.Target, r *rendering, ps *vnfm.Problems) []manifest
}

// sourceOf returns the source that package and parameters say, or nil with the
// problem that there is none.
func sourceOf(t *vnfm.Target, p *params, ps *vnfm.Problems) source {
	_, given := t.Instance.AdditionalParams[paramFiles]
	if !given && len(p.files) == 0 {
		*ps = append(*ps, vnfm.Problem{
			Summary: fmt.Sprintf("package %q lists no Kubernetes manifest", t.Package.Name),
			Detail:  fmt.Sprintf("list the manifests as artifacts of the package, or name them in additional_params[%q]", paramFiles),
		})
		return nil
	}
	return manifestFiles(p.files)
}

// manifestFiles are Kubernetes manifests in the package, by their paths.
type manifestFiles []string

func (files manifestFiles) manifests(t *vnfm.Target, _ *rendering, ps *vnfm.Problems) []manifest {
	var out []manifest
	for _, file := range files {
		out = append(out, readManifests(t.Package.Content, file, ps)...)
	}
	return out
}
