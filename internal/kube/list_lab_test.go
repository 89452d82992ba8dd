package kube

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLabListWithoutConversion lists the metadata of a kind whose conversion webhook no longer
// exists: the list fails soon, long before the retries of an interrupted API server would end.
func TestLabListWithoutConversion(t *testing.T) {
	t.Parallel()
	env, c, ns := labNamespace(t)
	group := ns + ".example.org"
	crd := reference(t, c, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "cells."+group)
	version := func(name string, stored bool) any {
		return map[string]any{"name": name, "served": true, "storage": stored, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}}
	}
	applied(t, c, crd, manifest(crd, map[string]any{"spec": map[string]any{
		"group": group, "scope": "Namespaced",
		"names":    map[string]any{"plural": "cells", "singular": "cell", "kind": "Cell", "listKind": "CellList"},
		"versions": []any{version("v1", true), version("v2", false)},
	}}))
	t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), crd, DeleteOptions{}) })
	require.NoError(t, c.WaitReady(within(t, 30*time.Second), []Ref{crd}, WaitOptions{}))
	cell := reference(t, c, group+"/v1", "Cell", ns, "a")
	applied(t, c, cell, manifest(cell, map[string]any{}))
	unconverted := reference(t, c, group+"/v2", "Cell", ns, "a")
	env.Kubectl(t, "patch", "crd", "cells."+group, "--type=merge",
		`-p={"spec":{"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://127.0.0.1:1/"}}}}}`)
	require.Eventually(t, func() bool {
		_, err := env.TryKubectl(t.Context(), "get", "--raw", unconverted.Resource.collectionPath(ns))
		return err != nil
	}, time.Minute, 100*time.Millisecond)
	start := time.Now()
	_, err := c.ListMetadata(t.Context(), unconverted.Resource, ns, ListOptions{})
	require.ErrorContains(t, err, "conversion webhook")
	require.Less(t, time.Since(start), 20*time.Second)
}
