package capi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube/readiness"
)

// The version of a Machine is the requested one. Kubelet reports the running one: kubelet comes with the image of the machine, and
// an image of another version makes a cluster that looks upgraded and is not.

// kubeletPatience is the time that a ready node has to report the version of its kubelet: an update in place restarts kubelet.
const kubeletPatience = 10 * time.Second

// otherKubelet describes a machine whose node reports a kubelet of another version; empty if it does not. Suffixes that vendors
// append to the version of a kubelet are ignored.
func otherKubelet(m *unstructured.Unstructured) string {
	wants, has := text(m, "spec", "version"), text(m, "status", "nodeInfo", "kubeletVersion")
	if m.GetDeletionTimestamp() != nil || wants == "" || has == "" || release(wants) == release(has) {
		return ""
	}
	return fmt.Sprintf("kubelet of node %q reports %s, and %s has %s", text(m, "status", "nodeRef", "name"), has, objectName(m), wants)
}

// release is major, minor and patch of a version.
func release(version string) string {
	version = forms.WithoutV(version)
	if i := strings.IndexAny(version, "-+"); i >= 0 {
		version = version[:i]
	}
	return version
}

// otherKubelets describes the machines whose kubelet has another version, by name.
func otherKubelets(machines map[string]*unstructured.Unstructured) []string {
	var out []string
	for _, name := range forms.SortedKeys(machines) {
		if s := otherKubelet(machines[name]); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// staysAsItIs reports whether Cluster API neither replaces nor updates a machine whose kubelet has another version: the machine is up
// to date, or the kubelet version, which newer releases compare as well, is the only difference.
func staysAsItIs(m *unstructured.Unstructured) bool {
	upToDate := readiness.ClusterCondition(m, clusterv1.MachineUpToDateCondition)
	onlyKubelet := strings.Contains(upToDate.Message, "kubeletVersion") && strings.Count(upToDate.Message, "* ") <= 1
	return readiness.ClusterCondition(m, clusterv1.AvailableCondition).Status == "True" &&
		readiness.ClusterCondition(m, clusterv1.MachineUpdatingCondition).Status != "True" && (upToDate.Status == "True" || onlyKubelet)
}

// finalKubelets describes the machines whose kubelet has another version and that Cluster API does not replace. With allElseDone it
// describes all machines with such a kubelet: the operation waits for nothing else.
func finalKubelets(machines map[string]*unstructured.Unstructured, allElseDone bool) []string {
	machines = maps.Clone(machines)
	maps.DeleteFunc(machines, func(_ string, m *unstructured.Unstructured) bool { return !allElseDone && !staysAsItIs(m) })
	return otherKubelets(machines)
}

// awaitKubelets waits, for kubeletPatience at most, until finalKubelets finds no machine.
func (c *cluster) awaitKubelets(ctx context.Context, machines kube.Selection, allElseDone bool) error {
	short, cancel := context.WithTimeout(ctx, kubeletPatience)
	defer cancel()
	var others []string
	err := c.client.Until(short, []kube.Selection{machines}, func(objects []map[string]*unstructured.Unstructured) (bool, error) {
		others = finalKubelets(objects[0], allElseDone)
		return len(others) == 0, nil
	})
	if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil || len(others) == 0 {
		return err
	}
	return &otherKubeletError{cluster: c, others: others}
}

// otherKubeletError ends an operation after which nodes do not run the requested version.
type otherKubeletError struct {
	cluster *cluster
	others  []string
}

func (*otherKubeletError) isFinal() {}

func (e *otherKubeletError) Error() string {
	return fmt.Sprintf("%s does not run the version that was asked for: %s. Kubelet comes with the image of a machine: name an image of that version, "+
		"or change rollout_after where a kubelet was changed by hand; either replaces the machines", e.cluster, listed(e.others))
}

// listed joins the first few of many texts.
func listed(all []string) string {
	text := strings.Join(all[:min(len(all), maxMachines)], "; ")
	if more := len(all) - maxMachines; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}
