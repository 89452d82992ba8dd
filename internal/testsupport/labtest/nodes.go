package labtest

import (
	"os"
	"path/filepath"
	"testing"
)

// The system of servers of an OpenStack lab that become nodes of Kubernetes, whose images are
// called node-v and their version, and the two versions that there are.
const (
	OpenStackNodes       = "kubernetes"
	NodesVersion         = "1.36.3"
	PreviousNodesVersion = "1.35.4"
)

// NeedsNodes skips a test where the programs of nodes have not been built, or fails it when
// LAB_REQUIRE is "all": they take minutes to build, and few tests need them.
func NeedsNodes(t testing.TB) {
	t.Helper()
	NotShort(t, "a lab")
	FullRun(t, "real nodes")
	for _, file := range []string{"sums", "cloud/sums"} {
		if _, err := os.Stat(filepath.Join(Root(t), "bin", "nodes", file)); err != nil {
			Missing(t, "there is no bin/nodes: `make bin/nodes` builds it")
		}
	}
}

// CloudManager is the folder of the lab's cloud controller manager: the program, and its chart in chart.
func CloudManager(t testing.TB) string {
	t.Helper()
	FullRun(t, "real nodes")
	folder := filepath.Join(Root(t), "bin", "nodes", "cloud")
	if _, err := os.Stat(filepath.Join(folder, "sums")); err != nil {
		Missing(t, "there is no bin/nodes/cloud: `make bin/nodes/cloud/sums` builds it")
	}
	return folder
}

// FlannelChart is the folder of flannel's chart, as its vendor ships it, whose images servers of
// OpenStackNodes have.
func FlannelChart(t testing.TB) string {
	t.Helper()
	return filepath.Join(Root(t), "bin", "nodes", "kube-flannel")
}
