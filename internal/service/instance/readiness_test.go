package instance_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/instance"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// cells is a definition and two custom resources of it, of which the second says
// itself when it is ready. GROUP is to be replaced.
const cells = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: cells.GROUP }
spec:
  group: GROUP
  scope: Namespaced
  names: { kind: Cell, plural: cells, singular: cell, listKind: CellList }
  versions:
    - name: v1
      served: true
      storage: true
      subresources: { status: {} }
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: { type: object, properties: { band: { type: integer, minimum: 1 } } }
            status: { type: object, x-kubernetes-preserve-unknown-fields: true }
---
apiVersion: GROUP/v1
kind: Cell
metadata: { name: a }
spec: { band: 1 }
---
apiVersion: GROUP/v1
kind: Cell
metadata:
  name: b
  annotations: { vnf.nfv-iac.github.io/ready-condition: Attached }
spec: { band: 1 }
`

// group is an API group of this test alone: definitions are cluster-wide.
func (env *testEnv) group() string { return env.namespace + ".example.com" }

// cells returns the definition of that group, and two cells.
func (env *testEnv) cells() (definition, objects string) {
	definition, objects, _ = strings.Cut(strings.ReplaceAll(cells, "GROUP", env.group()), "---\n")
	return definition, objects
}

// status writes the status of a cell, as its operator would.
func (env *testEnv) status(cell, status string) {
	env.Helper()
	env.kubectl("patch", "cells."+env.group(), cell, "--subresource=status", "--type=merge", "-p", `{"status":`+status+`}`)
}

// TestAccInstance_readiness waits for custom resources by the rules of arguments
// and package, says what they lack, and changes the rules in place.
func TestAccInstance_readiness(t *testing.T) {
	env := newEnv(t)
	definition, objects := env.cells()
	dir := hello(t, with(definition+"---\n"+objects))
	config := func(rules, timeouts string) string {
		return env.configFor(dir, resume, `readiness = [`+rules+`]`, `timeouts = `+timeouts)
	}
	cell := `{ kind = "` + env.group() + `/Cell", `
	running := cell + `jsonpath = "{.status.phase}", value = "Running" }`
	attached := cell + `condition = "Attached" }`
	const short, long = `{ create = "15s", update = "15s" }`, `{ create = "5m", update = "5m" }`
	env.run(t,
		resource.TestStep{
			// Without a rule kstatus takes a custom resource without status for ready.
			Config:             config(running, short),
			Check:              env.diagnostics.HasWarning(`(?s)Cell ` + env.namespace + `/a: InProgress.*\.status\.phase is not set, wanted Running`),
			ExpectNonEmptyPlan: true,
		},
		resource.TestStep{
			PreConfig: func() {
				env.status("a", `{"phase":"Pending"}`)
				env.status("b", `{"phase":"Running","conditions":[{"type":"Attached","status":"False"}]}`)
			},
			Config:      config(running, short),
			ExpectError: sentence(`1 of `, `Cell `+env.namespace+`/a: InProgress`, `.status.phase is Pending, wanted Running`),
		},
		after(func() { env.status("a", `{"phase":"Running"}`) }, applied(config(running, long), env.checkBackend())),
		resource.TestStep{
			// Another rule, and nothing else: the objects are judged again.
			PreConfig: func() {
				env.status("a", `{"conditions":[{"type":"Attached","status":"False","reason":"NoRadio","message":"the radio is off"}]}`)
			},
			Config:           config(attached, short),
			ConfigPlanChecks: updates(),
			ExpectError:      sentence(`2 of `, `Cell `+env.namespace+`/a: InProgress (NoRadio): condition Attached is False: the radio is off`),
		},
		after(func() {
			env.status("a", `{"conditions":[{"type":"Attached","status":"True"}]}`)
			env.status("b", `{"conditions":[{"type":"Attached","status":"True"}]}`)
		}, applied(config(attached, long), nil)),
		// The rule of the package, which the argument hid.
		updated(config("", long), env.expectKubectl("1", "get", "cells."+env.group(), "a", "-o", "jsonpath={.metadata.generation}")),
		resource.TestStep{
			Config:           env.configFor(dir, `timeouts = `+long),
			ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
		},
	)
	if got := env.lab.Kubectl(t, "get", "crd", "cells."+env.group(), "--ignore-not-found", "-o", "name"); got != "" {
		t.Errorf("left behind: %s", got)
	}
}

// listsUnrecorded loses the records of the one instance of a store and checks that a list shows it all the same, as the VIM knows it, with
// these arguments.
func listsUnrecorded(t *testing.T, s acctest.Store, vim, namespace string, arguments ...string) {
	t.Helper()
	manager := s.Manager(t)
	known, err := manager.Instances(t.Context(), vnfm.InstanceFilter{})
	require.NoError(t, err)
	require.NotEmpty(t, known)
	at, err := manager.VIMByName(t.Context(), vim)
	require.NoError(t, err)
	loseRecords(t, s, store.KindInstance, store.KindOperation)
	filter := map[string]any{"vim_id": at.ID, "name": known[0].Name}
	if namespace != "" {
		filter["namespace"] = namespace
	}
	listed := s.List(t, instance.ResourceType, filter)
	i := slices.IndexFunc(listed, func(l acctest.Listed) bool {
		return l.Identity["id"].Equal(tftypes.NewValue(tftypes.String, known[0].ID))
	})
	require.GreaterOrEqual(t, i, 0, "instance %s is not among %v", known[0].ID, listed)
	require.Equal(t, known[0].PackageID, listed[i].Text(t, "package_id"))
	for _, name := range arguments {
		require.False(t, listed[i].Attributes[name].IsNull(), name)
	}
	left, err := manager.Instances(t.Context(), vnfm.InstanceFilter{Name: known[0].Name})
	require.NoError(t, err)
	require.Empty(t, left, "the list has written a record")
}

// TestAccInstance_readinessImported reads the rules back from the record.
func TestAccInstance_readinessImported(t *testing.T) {
	env := newEnv(t)
	config := env.store.Config(acctest.VIM(env, env.lab, "test"), pkg(examplePackage(t, "hello")),
		env.instance(`readiness = [{ kind = "apps/Deployment", condition = "Available" }, { kind = "Service", jsonpath = "{.spec.type}", value = "ClusterIP" }]`))
	env.run(t,
		resource.TestStep{Config: config, ConfigStateChecks: []statecheck.StateCheck{instantiated()}},
		resource.TestStep{
			// The store has lost the instance: a query finds it on its VIM, and the import reads it there.
			PreConfig: func() { listsUnrecorded(t, env.store, "test", env.namespace, "name", "readiness") },
			Config:    config, ResourceName: address, ImportState: true, ImportStateVerify: true,
			ImportStateVerifyIgnore: []string{"deletion_policy", "timeouts", "generation", "operations", "changes"},
		},
	)
}
