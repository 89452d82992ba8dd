package instance_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// TestAccInstance_deletionShared leaves the definition of a kind that somebody else
// uses and a namespace that is to be kept, which the next instance of the name takes
// over and deletes.
func TestAccInstance_deletionShared(t *testing.T) {
	w := newWorld(t)
	definition, objects := w.cells()
	objects, _, _ = strings.Cut(objects, "---\n")
	dir := hello(t, with(definition+"---\n"+objects))
	home, kind := w.namespace+"-home", "cells."+w.group()
	defer func() {
		w.lab.Kubectl(t, "delete", "crd/"+kind, "namespace/"+home, "--ignore-not-found", "--wait=false")
	}()
	config := func(policy string) string {
		return w.store.Config(acctest.VIM(w, w.lab, "test"), pkg(dir), w.instanceWith(`namespace = "`+home+`"`, `deletion_policy = `+policy))
	}
	without := w.store.Config(acctest.VIM(w, w.lab, "test"), pkg(dir))
	shared := func(want string) resource.TestCheckFunc {
		return w.gets(want, "get", "crd/"+kind, "namespace/"+home, "--ignore-not-found", "-o", "name")
	}
	both := "customresourcedefinition.apiextensions.k8s.io/" + kind + "\nnamespace/" + home
	files := t.TempDir()
	acctest.Write(t, files, "cell.yaml", strings.Replace(objects, "name: a", "name: foreign", 1))
	foreign := filepath.Join(files, "cell.yaml")
	w.run(t,
		resource.TestStep{Config: config(`{ namespace = "keep" }`), ConfigStateChecks: []statecheck.StateCheck{instantiated()}},
		resource.TestStep{
			PreConfig: func() { w.kubectl("apply", "-f", foreign) },
			Config:    without,
			Check: also(shared(both), w.gets("cell."+w.group()+"/foreign", "get", kind, "-o", "name"),
				w.heard.warned(`apiextensions.k8s.io/v1/CustomResourceDefinition `+kind+` Was Left Behind: It belonged to VNF instance "test" and stays on the VIM: there are objects of its kind that are not the instance's: `+w.group()+`/v1/Cell `+w.namespace+`/foreign\.`)),
		},
		resource.TestStep{
			PreConfig:         func() { w.kubectl("delete", "-f", foreign) },
			Config:            config(`{ namespace = "keep", crds = "keep" }`),
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
		},
		resource.TestStep{Config: without, Check: also(shared(both), w.heard.silent())},
		resource.TestStep{Config: config(`{ namespace = "delete", crds = "delete" }`), ConfigStateChecks: []statecheck.StateCheck{instantiated()}},
		resource.TestStep{Config: without, Check: also(shared(""), w.heard.silent())},
	)
}
