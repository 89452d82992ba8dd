package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Find returns the last record of a deployed release. It rejects a release that belongs to a VNF instance.
func Find(ctx context.Context, client *kube.Client, namespace, name string) (*helm.Release, error) {
	h, err := readHistory(ctx, client, name, namespace)
	if err != nil {
		return nil, err
	}
	n := len(h.revisions)
	if n == 0 {
		return nil, fmt.Errorf("namespace %s has no Helm release %s: helm list --all-namespaces shows which there are", namespace, name)
	}
	for _, r := range h.revisions {
		if r.owner != "" {
			return nil, &vnfm.ConflictError{
				Object: fmt.Sprintf("the Helm release %s in namespace %s", name, namespace), Owner: "VNF instance " + r.owner, OwnerID: r.owner,
				Detail: "a release of an instance has a package already",
			}
		}
	}
	if last := h.revisions[n-1]; last.status != helm.Deployed {
		return nil, fmt.Errorf("revision %d of the Helm release %s is %s: have Helm deploy it (helm upgrade, helm rollback), then pack it", last.number, name, last.status)
	}
	out, err := h.read(ctx, n-1)
	if errors.Is(err, helm.ErrNoRecord) {
		return nil, fmt.Errorf("revision %d of the Helm release %s cannot be read: %w", h.revisions[n-1].number, name, err)
	}
	return out, err
}

// Workload is an object of a release whose pods are VNFCs.
type Workload struct {
	Kind, Name string
	// Replicas is the current desired number of pods; 1 for a DaemonSet.
	Replicas int
}

const daemonSet = "DaemonSet"

var workloadKinds = []string{"Deployment", "StatefulSet", daemonSet}

// Workloads returns the workloads of a release with their live numbers of replicas. The namespace is for objects that name none.
func Workloads(ctx context.Context, client *kube.Client, record *helm.Release, namespace string) ([]Workload, error) {
	var out []Workload
	for _, content := range record.Objects() {
		o := unstructured.Unstructured{Object: content}
		if o.GroupVersionKind().Group != "apps" || !slices.Contains(workloadKinds, o.GetKind()) {
			continue
		}
		n, err := replicas(ctx, client, &o, cmp.Or(o.GetNamespace(), namespace))
		if err != nil {
			return nil, err
		}
		out = append(out, Workload{o.GetKind(), o.GetName(), n})
	}
	return out, nil
}

func replicas(ctx context.Context, client *kube.Client, recorded *unstructured.Unstructured, namespace string) (int, error) {
	r, err := client.Resource(ctx, recorded.GroupVersionKind())
	if err != nil {
		return 0, err
	}
	o, err := client.Get(ctx, kube.Ref{Resource: r, Namespace: namespace, Name: recorded.GetName()})
	if apierrors.IsNotFound(err) {
		return 0, fmt.Errorf("%s %s of the release is gone: have Helm make it again (helm upgrade), then pack the release", recorded.GetKind(), recorded.GetName())
	}
	if err != nil || recorded.GetKind() == daemonSet {
		return 1, err
	}
	n, ok, err := unstructured.NestedInt64(o.Object, "spec", "replicas")
	if !ok {
		n = 1
	}
	return int(n), err
}

// Missing returns the objects of a release for whose keys has returns false. A key is the identity of an object as its manifest
// writes it.
func Missing(record *helm.Release, has func(key string) bool) []string {
	var out []string
	for _, content := range record.Objects() {
		o := unstructured.Unstructured{Object: content}
		key := o.GetAPIVersion() + "/" + o.GetKind() + " " + strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/")
		if !has(key) && !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}
