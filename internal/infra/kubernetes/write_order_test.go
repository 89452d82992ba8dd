package kubernetes

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
)

// TestWriteOrder: a workload waits for what its pods read and what works on them without being named; for everything when its pods may
// read more than their template tells.
func TestWriteOrder(t *testing.T) {
	t.Parallel()
	deployment := func(pod string) string {
		return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: amf}\nspec: {selector: {matchLabels: {app: amf}}, template: {metadata: {labels: {app: amf}}, spec: {" +
			pod + "}}}\n"
	}
	read := "containers: [{name: amf, image: amf, envFrom: [{configMapRef: {name: read}}]}]"
	others := `apiVersion: v1
kind: ConfigMap
metadata: {name: other}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: read}
---
apiVersion: v1
kind: Secret
metadata: {name: pull}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: amf}
imagePullSecrets: [{name: pull}]
---
apiVersion: v1
kind: Service
metadata: {name: amf}
spec: {selector: {app: amf}, ports: [{port: 80}]}
---
`
	binding := "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: amf}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: amf}\n" +
		"subjects: [{kind: ServiceAccount, name: amf}]\n---\n"
	for name, tc := range map[string]struct {
		manifests string
		// after are the objects that the Deployment comes after.
		after string
	}{
		"reads what it names":            {others + deployment(read), "ConfigMap read,Secret pull,Service amf,ServiceAccount amf"},
		"may ask the API":                {others + binding + deployment("serviceAccountName: amf, "+read), "ConfigMap other,ConfigMap read,RoleBinding amf,Secret pull,Service amf,ServiceAccount amf"},
		"other account has rights":       {others + binding + deployment(read), "ConfigMap read,RoleBinding amf,Secret pull,Service amf,ServiceAccount amf"},
		"volume of another kind":         {others + deployment("volumes: [{name: a, csi: {driver: d}}], "+read), "ConfigMap other,ConfigMap read,Secret pull,Service amf,ServiceAccount amf"},
		"image with a password":          {others + deployment("imagePullSecrets: [{name: other}], "+read), "ConfigMap other,ConfigMap read,Secret pull,Service amf,ServiceAccount amf"},
		"job, whose reads are not known": {others + strings.NewReplacer("apps/v1", "batch/v1", "Deployment", "Job").Replace(deployment(read)), "ConfigMap other,ConfigMap read,Secret pull,Service amf,ServiceAccount amf"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := targettest.Manifests(map[string]string{"a.yaml": tc.manifests}, nil)
			rendering, problems := render.Render(budget.New(t.Context(), budget.Limits{}), target)
			require.NoError(t, problems.Err())
			s := &session{namespace: render.InstanceNamespace(target), target: target}
			var batch []*targetObject
			for _, o := range rendering.Objects {
				batch = append(batch, s.newTargetObject(o, kube.Resource{GVK: o.GVK, Namespaced: true}))
			}
			o := newWriteOrder(batch)
			var before []string
			for w := o.take(t.Context()); w != nil && !w.workload; w = o.take(t.Context()) {
				o.end(w, nil)
				before = append(before, w.p.item.Kind+" "+w.p.item.Name)
			}
			slices.Sort(before)
			require.Equal(t, tc.after, strings.Join(before, ","))
		})
	}
}
