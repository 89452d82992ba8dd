package instance_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestAccInstance_deletionShared leaves the definition of a kind that somebody else
// uses and a namespace that is to be kept, which the next instance of the name takes
// configFor and deletes.
func TestAccInstance_deletionShared(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	definition, objects := env.cells()
	objects, _, _ = strings.Cut(objects, "---\n")
	dir := hello(t, with(definition+"---\n"+objects))
	namespace, kind := env.namespace+"-home", "cells."+env.group()
	defer func() {
		env.lab.Kubectl(t, "delete", "crd/"+kind, "namespace/"+namespace, "--ignore-not-found", "--wait=false")
	}()
	config := func(policy string) string {
		return env.store.Config(acctest.VIM(env, env.lab, "test"), pkg(dir), env.instanceWith(`namespace = "`+namespace+`"`, `deletion_policy = `+policy))
	}
	without := env.store.Config(acctest.VIM(env, env.lab, "test"), pkg(dir))
	shared := func(want string) resource.TestCheckFunc {
		return env.expectKubectl(want, "get", "crd/"+kind, "namespace/"+namespace, "--ignore-not-found", "-o", "name")
	}
	const stops = `Running Functions Stop: This plan terminates VNF Instance "test": web (1).`
	both := "customresourcedefinition.apiextensions.k8s.io/" + kind + "\nnamespace/" + namespace
	files := t.TempDir()
	acctest.Write(t, files, "cell.yaml", strings.Replace(objects, "name: a", "name: foreign", 1))
	foreign := filepath.Join(files, "cell.yaml")
	env.run(t,
		resource.TestStep{Config: config(`{ namespace = "keep" }`), ConfigStateChecks: []statecheck.StateCheck{instantiated()}},
		resource.TestStep{
			PreConfig: func() { env.kubectl("apply", "-f", foreign) },
			Config:    without,
			Check: allChecks(shared(both), env.expectKubectl("cell."+env.group()+"/foreign", "get", kind, "-o", "name"),
				env.diagnostics.HasWarning(`apiextensions.k8s.io/v1/CustomResourceDefinition `+kind+` Was Left Behind: It belonged to VNF instance "test" and stays on the VIM: objects of its kind that do not belong to the instance exist: `+env.group()+`/v1/Cell `+env.namespace+`/foreign\.`)),
		},
		after(func() { env.kubectl("delete", "-f", foreign) }, applied(config(`{ namespace = "keep", crds = "keep" }`), nil)),
		resource.TestStep{Config: without, Check: allChecks(shared(both), env.diagnostics.OnlyWarning(stops))},
		resource.TestStep{Config: config(`{ namespace = "delete", crds = "delete" }`), ConfigStateChecks: []statecheck.StateCheck{instantiated()}},
		resource.TestStep{Config: without, Check: allChecks(shared(""), env.diagnostics.OnlyWarning(stops))},
	)
}
