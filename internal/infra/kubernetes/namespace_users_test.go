package kubernetes

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestUsesNamespace: an object that does not belong to the instance uses the namespace.
func TestUsesNamespace(t *testing.T) {
	t.Parallel()
	s := &session{
		target: &vnfm.Target{Instance: &vnfm.Instance{ID: "own"}},
		saved:  []vnfm.InventoryItem{{Group: "cert-manager.io", Version: "v1", Kind: "Certificate", Namespace: "n", Name: "serving"}},
	}
	configMap, secret := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, secretKind
	labelled := func(id string) map[string]string { return map[string]string{labelInstance: id} }
	issued := func(name string) map[string]string {
		return map[string]string{"cert-manager.io/certificate-name": name}
	}
	now := metav1.Now()
	for name, tc := range map[string]struct {
		kind schema.GroupVersionKind
		meta metav1.ObjectMeta
		want bool
	}{
		"of nobody":              {configMap, metav1.ObjectMeta{Name: "a"}, true},
		"its own":                {configMap, metav1.ObjectMeta{Name: "a", Labels: labelled("own")}, false},
		"kept beside it":         {secret, metav1.ObjectMeta{Name: "vnf-own", Labels: map[string]string{labelKeyOf: "own"}}, false},
		"another instance's":     {configMap, metav1.ObjectMeta{Name: "a", Labels: labelled("other")}, true},
		"on its way out":         {configMap, metav1.ObjectMeta{Name: "a", DeletionTimestamp: &now}, false},
		"owned":                  {secret, metav1.ObjectMeta{Name: "a", OwnerReferences: []metav1.OwnerReference{{UID: "u"}}}, false},
		"an owned claim":         {claimKind, metav1.ObjectMeta{Name: "a", OwnerReferences: []metav1.OwnerReference{{UID: "u"}}}, true},
		"in each namespace":      {configMap, metav1.ObjectMeta{Name: "kube-root-ca.crt"}, false},
		"in each of a mesh":      {configMap, metav1.ObjectMeta{Name: "istio-ca-root-cert"}, false},
		"issued for it":          {secret, metav1.ObjectMeta{Namespace: "n", Name: "a", Annotations: issued("serving")}, false},
		"issued for others":      {secret, metav1.ObjectMeta{Namespace: "n", Name: "a", Annotations: issued("foreign")}, true},
		"issued for a namesake":  {secret, metav1.ObjectMeta{Namespace: "m", Name: "a", Annotations: issued("serving")}, true},
		"a Secret of that name":  {secret, metav1.ObjectMeta{Name: "kube-root-ca.crt"}, true},
		"a Secret of nobody too": {secret, metav1.ObjectMeta{Namespace: "n", Name: "serving"}, true},
	} {
		assert.Equal(t, tc.want, s.usesNamespace(tc.kind, &tc.meta), name)
	}
}
