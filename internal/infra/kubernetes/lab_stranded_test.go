package kubernetes

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const operator = `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: operator}
spec:
  selector: {matchLabels: {app: operator}}
  template: {metadata: {labels: {app: operator}}, spec: {containers: [{name: a, image: example.org/a}]}}
`

// TestLabStranded finds the objects whose finalizers no controller would process after the termination of an instance with definitions
// and their controller.
func TestLabStranded(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, nil)
	group := l.namespace + ".example.org"
	kind := "cells." + group
	l.deleteAtEnd("apiextensions.k8s.io/v1", "CustomResourceDefinition", kind)
	text := strings.ReplaceAll(sharedDefinition, "GROUP", group)
	l.setFiles("1", map[string]string{"crd.yaml": text + operator})
	l.apply()
	elsewhere := l.env.Namespace(t)
	cell := func(name, metadata string) string {
		file := t.TempDir() + "/cell.yaml"
		require.NoError(t, os.WriteFile(file, []byte("apiVersion: "+group+"/v1\nkind: Cell\nmetadata: {name: "+name+metadata+"}\n"), 0o600))
		l.env.Kubectl(t, "-n", elsewhere, "apply", "-f", file)
		return l.env.Kubectl(t, "-n", elsewhere, "get", kind, name, "-o", "jsonpath={.metadata.uid}")
	}
	check := func(spec vnfm.TerminateSpec, names ...string) {
		t.Helper()
		err := l.driver.CheckTermination(t.Context(), l.target, spec)
		var stranded *vnfm.StrandedError
		var want []string
		for _, name := range names {
			want = append(want, group+"/v1/Cell "+elsewhere+"/"+name)
		}
		if errors.As(err, &stranded); (stranded == nil) != (len(names) == 0) || (stranded != nil && !slices.Equal(stranded.Objects, want)) {
			t.Errorf("terminating with %+v: %v; want %q", spec, err, want)
		}
	}

	cell("free", "")
	check(vnfm.TerminateSpec{})
	head := cell("held", `, finalizers: [example.org/radio]`)
	cell("made", `, finalizers: [example.org/radio], ownerReferences: [{apiVersion: `+group+`/v1, kind: Cell, name: held, uid: `+head+`}]`)
	check(vnfm.TerminateSpec{}, "held")
	check(vnfm.TerminateSpec{Type: vnfm.Forceful})
	check(vnfm.TerminateSpec{Definitions: vnfm.SharedKeep})
	l.env.Kubectl(t, "-n", elsewhere, "delete", kind, "held", "--wait=false")
	check(vnfm.TerminateSpec{}, "held")

	// Without a controller in the package, the termination removes none.
	l.setFiles("2", map[string]string{"crd.yaml": text})
	l.apply()
	check(vnfm.TerminateSpec{})
	for _, name := range []string{"held", "made"} {
		l.env.Kubectl(t, "-n", elsewhere, "patch", kind, name, "--type=merge", "--patch", `{"metadata":{"finalizers":null}}`)
	}
	l.env.Kubectl(t, "-n", elsewhere, "delete", kind, "--all")
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Forceful})
}
