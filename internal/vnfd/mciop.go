package vnfd

import (
	"path"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// readMCIOPs reads the Mciop nodes: which chart each is, and which VDUs come from
// it. One without a chart is left out: parameters of the instance may name the chart.
func (r *reader) readMCIOPs(f *indexed, t *template) {
	for _, n := range t.of(kindMciop) {
		m := vnfm.MCIOP{ID: n.name}
		for _, a := range n.get("artifacts").entries() {
			if !a.isMap() || r.types.kindOf(n.doc.scope, a.get("type").str()) != kindHelmChart {
				continue
			}
			if m.File != "" {
				// SOL001 6.8.13.6: at most one.
				a.errorf("the Mciop %s has a second Helm chart; it can have one", n.name)
				continue
			}
			m.File = r.chartFile(n, a.get("file"))
		}
		if m.File == "" {
			continue
		}
		for _, req := range n.required("associatedVdu") {
			if f.VDU(req.node) == nil {
				req.errorf("the Mciop %s is associated with %q, which is not a VDU; the VDUs are %s", n.name, req.node, f.vduNames())
				continue
			}
			m.VDUIDs = append(m.VDUIDs, req.node)
		}
		r.places.add(n.key, "flavour", f.ID, "mciop", n.name)
		f.MCIOPs = append(f.MCIOPs, m)
	}
}

// chartFile returns the path of a chart inside the package. TOSCA means a path
// relative to the file that names it; packages in use also write it from the root.
func (r *reader) chartFile(n *node, v value) string {
	written := v.str()
	if written == "" {
		if !v.ok() {
			//findings:says add file with the path of the chart to the artifact
			n.key.errorf("the Helm chart of the Mciop %s has no file", n.name)
		}
		return ""
	}
	if strings.Contains(written, "://") {
		v.errorf("the Helm chart %q of the Mciop %s is not in the package; put the file into it", written, n.name)
		return ""
	}
	if !r.readsImports() {
		return path.Clean(strings.TrimPrefix(written, "/"))
	}
	if file, found := r.locate(n.doc.file, written); found {
		return file
	}
	//findings:says add the chart, or write its path relative to the file of the node or from the root of the package
	v.errorf("the Helm chart %q of the Mciop %s is not in the package%s", written, n.name, r.otherCase(n.doc.file, written))
	return ""
}
