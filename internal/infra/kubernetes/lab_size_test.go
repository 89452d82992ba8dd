package kubernetes

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// sizedManifests returns n objects of eight kinds, one file each, in the proportions of a CNF: 40 % ConfigMaps, 15 % Deployments, 15 %
// Services, 10 % Secrets, and 5 % each of ServiceAccounts, Roles, RoleBindings and NetworkPolicies. Every tenth object of a kind
// contains the version.
func sizedManifests(n int, version string) (files map[string]string, vdus map[string]int) {
	kinds := []struct {
		percent int
		text    string
	}{
		{40, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME, labels: {v: 'VERSION'}}\ndata:\n" + strings.Repeat("  keyI: a line of configuration of the usual length\n", 12)},
		{10, "apiVersion: v1\nkind: Secret\nmetadata: {name: NAME, labels: {v: 'VERSION'}}\nstringData: {password: secret-NAME}\n"},
		{15, "apiVersion: v1\nkind: Service\nmetadata: {name: NAME, labels: {v: 'VERSION'}}\nspec: {selector: {app: NAME}, ports: [{name: http, port: 80, targetPort: 8080}]}\n"},
		{5, "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: NAME, labels: {v: 'VERSION'}}\n"},
		{5, "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: NAME, labels: {v: 'VERSION'}}\nrules: [{apiGroups: [''], resources: [pods], verbs: [get]}]\n"},
		{5, "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: NAME, labels: {v: 'VERSION'}}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: NAME}\nsubjects: [{kind: User, name: NAME}]\n"},
		{5, "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: NAME, labels: {v: 'VERSION'}}\nspec: {podSelector: {matchLabels: {app: NAME}}, policyTypes: [Ingress]}\n"},
		{15, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: NAME, labels: {v: 'VERSION'}}\nspec: {selector: {matchLabels: {app: NAME}}, template: {metadata: {labels: {app: NAME}}, spec: {terminationGracePeriodSeconds: 1, containers: [{name: main, image: 'example.org/NAME:VERSION', ports: [{containerPort: 8080}]}]}}}\n"},
	}
	files, vdus = map[string]string{}, map[string]int{}
	for k, kind := range kinds {
		for i := range n * kind.percent / 100 {
			v := "1"
			if i%10 == 0 {
				v = version
			}
			name := fmt.Sprintf("o-%d-%d", k, i)
			text := strings.NewReplacer("NAME", name, "VERSION", v).Replace(kind.text)
			for line := range 12 {
				text = strings.Replace(text, "keyI", fmt.Sprintf("key%d", line), 1)
			}
			files[name+".yaml"] = text
			if strings.Contains(text, "kind: Deployment") {
				vdus[name] = 1
			}
		}
	}
	return files, vdus
}

// TestLabRequests limits the number of requests: one per written object, and some per kind.
func TestLabRequests(t *testing.T) {
	t.Parallel()
	const n, kinds = 100, 8
	files, vdus := sizedManifests(n, "1")
	l := newLab(t, files, vdus)
	within := func(what string, bar int) {
		t.Helper()
		requests := l.meter.take()
		t.Logf("%s: %d requests", what, len(requests))
		assert.LessOrEqual(t, len(requests), bar, "%s took %d requests, want %d at most:\n%s", what, len(requests), bar, strings.Join(requests, "\n"))
	}
	problems, err := l.driver.DryRun(l.ctx, l.target, slices.Collect(maps.Keys(l.preview().Objects)))
	require.NoError(t, err)
	assert.Empty(t, problems, "dry run of new objects")
	within("dry run of new objects", maxNewTried+kinds+10)
	l.apply()
	within("first apply", n+30)
	record, err := json.Marshal(l.target.Instance)
	require.NoError(t, err)
	t.Logf("the record of %d objects has %d bytes", n, len(record))
	l.inSync()
	within("observation", 10+kinds)
	l.apply()
	within("apply without change", 10+kinds)

	changed, _ := sizedManifests(n, "2")
	count := 0
	for name := range changed {
		if changed[name] != files[name] {
			count++
		}
	}
	l.setFiles("2", changed)
	l.apply()
	// The first change of a VDU also moves its replicas to the scale manager.
	within(fmt.Sprintf("change of %d", count), 10+kinds+count+2)
	l.inSync()
	within("observation", 10+kinds)
	l.target.Counts["o-7-1"] = 3
	require.NoError(t, l.driver.Scale(l.ctx, l.target, l.recorder))
	within("scale", 10)
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful})
	within("termination", n+kinds+10)
	assert.Empty(t, l.labelled(), "left behind")
}
