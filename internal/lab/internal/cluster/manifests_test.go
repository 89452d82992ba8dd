package cluster

import (
	"strings"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/controllers"
)

// The kinds of the lab's own providers fulfil the contract that they say they do.
func TestDefinitions(t *testing.T) {
	objects, err := parseManifests(strings.NewReader(string(controllers.Definitions)))
	if err != nil {
		t.Fatal(err)
	}
	if len(objects) != 8 {
		t.Errorf("%d kinds", len(objects))
	}
	for _, object := range objects {
		if _, known := resources()[object.GetKind()]; !known {
			t.Errorf("%s is of kind %s", object.GetName(), object.GetKind())
		}
		if object.GetLabels()["cluster.x-k8s.io/v1beta2"] != "v1beta2" {
			t.Errorf("%s fulfils no contract: %v", object.GetName(), object.GetLabels())
		}
	}
}
