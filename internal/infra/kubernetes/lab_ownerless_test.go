package kubernetes

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestLabOwnerless: the garbage collector deletes objects whose owner does not exist, and the operation that creates them warns of it.
func TestLabOwnerless(t *testing.T) {
	t.Parallel()
	const text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME, ownerReferences: [{apiVersion: v1, kind: ServiceAccount, name: default, uid: UID}]}\n"
	l := newLab(t, nil, nil)
	l.eventually("the owner is there", func() bool { return l.kubectl("get", "serviceaccount", "default", "--ignore-not-found") != "" })
	owner := l.kubectl("get", "serviceaccount", "default", "-o", "jsonpath={.metadata.uid}")
	l.setFiles("1", map[string]string{
		"lost.yaml":  strings.NewReplacer("NAME", "lost", "UID", "5d2f0e0c-0000-4000-8000-000000000000").Replace(text),
		"owned.yaml": strings.NewReplacer("NAME", "owned", "UID", owner).Replace(text),
	})
	var warned []vnfm.Problem
	l.target.Warn = func(p vnfm.Problem) { warned = append(warned, p) }
	l.apply()
	require.Len(t, warned, 1)
	require.Contains(t, warned[0].Detail, "v1/ConfigMap lost (lost.yaml:1): ServiceAccount "+l.namespace+"/default with uid 5d2f0e0c-0000-4000-8000-000000000000\n")
	l.eventually("the object is gone", func() bool { return l.kubectl("get", "configmap", "lost", "--ignore-not-found") == "" })
	l.expectDrift(map[string]string{"v1/ConfigMap lost": ""})
	require.NoError(t, l.driver.Heal(l.ctx, l.target, vnfm.HealSpec{}, l.recorder))
	require.Len(t, warned, 2)
}
