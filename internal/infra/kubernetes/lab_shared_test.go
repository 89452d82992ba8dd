package kubernetes

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const sharedDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: cells.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {kind: Cell, plural: cells, singular: cell, listKind: CellList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
---
apiVersion: GROUP/v1
kind: Cell
metadata: {name: own}
`

// TestLabSharedDefinition terminates an instance whose definition somebody else has
// come to use, in another namespace and by an object of the instance's own making.
func TestLabSharedDefinition(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, nil)
	group := l.namespace + ".example.org"
	definition := "cells." + group
	l.deleteAtEnd("apiextensions.k8s.io/v1", "CustomResourceDefinition", definition)
	l.setFiles("1", map[string]string{"crd.yaml": strings.ReplaceAll(sharedDefinition, "GROUP", group)})
	elsewhere := l.env.Namespace(t)
	names := func() string {
		return strings.Join(strings.Fields(l.env.Kubectl(t, "get", "crd", definition, "--ignore-not-found", "-o", "name")), " ")
	}
	cell := func(namespace, name, owner string) string {
		text := "apiVersion: " + group + "/v1\nkind: Cell\nmetadata: {name: " + name + "}\n"
		if owner != "" {
			text = strings.Replace(text, "}", ", ownerReferences: [{apiVersion: "+group+"/v1, kind: Cell, name: own, uid: "+owner+"}]}", 1)
		}
		file := t.TempDir() + "/cell.yaml"
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return l.env.Kubectl(t, "-n", namespace, "apply", "-f", file)
	}
	var left []string
	spec := vnfm.TerminateSpec{Type: vnfm.Forceful, LeftBehind: func(object, reason string) { left = append(left, object+": "+reason) }}

	l.apply()
	cell(elsewhere, "foreign", "")
	l.terminate(spec)
	want := []string{"apiextensions.k8s.io/v1/CustomResourceDefinition " + definition + ": objects of its kind that do not belong to the instance exist: " + group + "/v1/Cell " + elsewhere + "/foreign"}
	require.NotEmpty(t, names())
	assert.True(t, slices.Equal(left, want), "the definition is %q; left behind: %q, want %q", names(), left, want)
	assert.Len(t, strings.Fields(l.env.Kubectl(t, "get", definition, "--all-namespaces", "-o", "name")), 1, "custom resources that are left")

	// The next instance of the name takes it over, and keeps it by its own will.
	left = nil
	l.env.Kubectl(t, "-n", elsewhere, "delete", definition, "foreign")
	l.apply()
	l.inSync()
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Forceful, Definitions: vnfm.SharedKeep, LeftBehind: spec.LeftBehind})
	require.NotEmpty(t, names())
	assert.Empty(t, left, "the definition that was to be kept")

	// Dependents of the instance's objects do not keep the definition.
	l.apply()
	cell(l.namespace, "made", l.kubectl("get", definition, "own", "-o", "jsonpath={.metadata.uid}"))
	l.terminate(spec)
	require.Empty(t, names())
	assert.Empty(t, left, "the definition that nobody uses")
}

// TestLabPrunedDefinition moves to a package without a definition that somebody
// else uses.
func TestLabPrunedDefinition(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, nil)
	group := l.namespace + ".example.org"
	l.deleteAtEnd("apiextensions.k8s.io/v1", "CustomResourceDefinition", "cells."+group)
	settings := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	l.setFiles("1", map[string]string{"crd.yaml": strings.ReplaceAll(sharedDefinition, "GROUP", group) + "---\n" + settings})
	l.apply()
	file := t.TempDir() + "/cell.yaml"
	require.NoError(t, os.WriteFile(file, []byte("apiVersion: "+group+"/v1\nkind: Cell\nmetadata: {name: foreign}\n"), 0o600))
	l.kubectl("apply", "-f", file)
	l.setFiles("2", map[string]string{"a.yaml": settings})
	l.apply()
	l.inSync()
	if got := strings.Fields(l.kubectl("get", "cells."+group, "-o", "name")); len(got) != 1 || !strings.HasSuffix(got[0], "/foreign") {
		t.Errorf("custom resources that are left: %v", got)
	}
}
