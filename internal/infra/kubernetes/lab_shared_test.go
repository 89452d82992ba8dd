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

// TestLabSharedDefinition terminates an instance whose definition has other objects: a foreign one in another namespace, and a
// dependent of an object of the instance.
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

	// The next instance of the name takes the definition over, and keeps it because its specification says so.
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

// TestLabPrunedDefinition changes to a package without a definition that other objects need.
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
	l.applyAsPlanned("apiextensions.k8s.io/v1/CustomResourceDefinition cells." + group + ": objects of its kind that do not belong to the instance exist: " + group + "/v1/Cell " + l.namespace + "/foreign\n")
	if got := strings.Fields(l.kubectl("get", "cells."+group, "-o", "name")); len(got) != 1 || !strings.HasSuffix(got[0], "/foreign") {
		t.Errorf("custom resources that are left: %v", got)
	}

	// Another package has the definition again, and the next one only an object of its kind.
	l.kubectl("delete", "cells."+group, "foreign")
	l.setFiles("3", map[string]string{"crd.yaml": strings.ReplaceAll(sharedDefinition, "GROUP", group)})
	l.apply()
	l.setFiles("4", map[string]string{"a.yaml": "apiVersion: " + group + "/v1\nkind: Cell\nmetadata: {name: own}\n"})
	l.applyAsPlanned("apiextensions.k8s.io/v1/CustomResourceDefinition cells." + group + ": objects of the package need it: " + group + "/v1/Cell own\n")
	require.NotEmpty(t, l.kubectl("get", "cells."+group, "own", "--ignore-not-found", "-o", "name"))
}

// TestLabNamespaceOfPackage: a namespace of the package stays while it holds an object that stays, both after its removal from the
// package and after the termination.
func TestLabNamespaceOfPackage(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, nil)
	name := l.namespace + "-package"
	l.deleteAtEnd("v1", "Namespace", name)
	namespace := "apiVersion: v1\nkind: Namespace\nmetadata: {name: " + name + "}\n---\n"
	settings := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: " + name + "}\n"
	exists := func(kind, name string, namespace ...string) bool {
		return l.env.Kubectl(t, append(namespace, "get", kind, name, "--ignore-not-found", "-o", "name")...) != ""
	}
	l.setFiles("1", map[string]string{"a.yaml": namespace + settings})
	l.apply()
	l.setFiles("2", map[string]string{"a.yaml": settings})
	l.applyAsPlanned("v1/Namespace " + name + ": objects of the package need it: v1/ConfigMap " + name + "/a\n")
	require.True(t, exists("configmap", "a", "-n", name), "an object of the package was removed with its namespace")

	// A package with the namespace takes it over again. Foreign objects prevent its deletion.
	l.setFiles("3", map[string]string{"a.yaml": namespace + settings})
	l.apply()
	l.inSync()
	l.env.Kubectl(t, "-n", name, "create", "secret", "generic", "foreign")
	l.setFiles("4", map[string]string{"b.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"})
	l.applyAsPlanned("v1/Namespace " + name + ": it holds v1/Secret " + name + "/foreign\n")
	require.True(t, exists("secret", "foreign", "-n", name), "an object of somebody else was removed with a namespace of the package")
	l.setFiles("5", map[string]string{"a.yaml": namespace + settings})
	l.apply()
	var left []string
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Forceful, LeftBehind: func(object, reason string) { left = append(left, object+": "+reason) }})
	require.Equal(t, []string{"v1/Namespace " + name + ": it holds v1/Secret " + name + "/foreign"}, left)
	require.True(t, exists("secret", "foreign", "-n", name), "an object of somebody else was removed with a namespace of the package")

	// The namespace contains only objects of the instance.
	l.env.Kubectl(t, "-n", name, "delete", "secret", "foreign")
	l.apply()
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Forceful})
	require.False(t, exists("namespace", name), "the namespace that holds nothing")
}

// applyAsPlanned applies a package without an object that stays on the VIM. The dry run and the apply give the same warning, whose
// detail begins with want.
func (l *lab) applyAsPlanned(want string) {
	l.t.Helper()
	planned, err := l.driver.DryRun(l.ctx, l.target, []string{"what leaves the package"})
	require.NoError(l.t, err)
	var said vnfm.Problems
	fails := l.target.Warn
	l.target.Warn = func(p vnfm.Problem) { said = append(said, p) }
	l.apply()
	l.target.Warn = fails
	l.inSync()
	require.Len(l.t, said, 1)
	require.Equal(l.t, planned, said)
	require.Equal(l.t, vnfm.SeverityWarning, said[0].Severity)
	require.True(l.t, strings.HasPrefix(said[0].Detail, want), "the warning is %q, want %q", said[0].Detail, want)
}
