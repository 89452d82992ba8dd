package kubernetes

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestLabDeferred: a deferred object changes after the other objects of its wave and the steps of BeforeDeferred, and not if a step
// fails. A new object is not deferred.
func TestLabDeferred(t *testing.T) {
	t.Parallel()
	files := func(value string) map[string]string {
		out := map[string]string{}
		for _, name := range []string{"a", "b", "c"} {
			out[name+".yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {value: " + value + "}\n"
		}
		return out
	}
	l := newLab(t, files("one"), nil)
	values := func() string {
		return strings.Join(strings.Fields(l.env.Kubectl(t, "-n", l.namespace, "get", "configmap", "a", "b", "c", "-o", "jsonpath={.items[*].data.value}")), " ")
	}
	var during []string
	l.target.Defer = func(item *vnfm.InventoryItem) bool { return item.Kind == "ConfigMap" && item.Name == "b" }
	l.target.Insert(vnfm.Step{At: vnfm.BeforeDeferred, Name: "look", Run: func(context.Context) error {
		during = append(during, values())
		return nil
	}})
	l.apply()
	assert.Empty(t, during, "a creation waited")
	l.setFiles("2", files("two"))
	l.apply()
	if want := []string{"two one two"}; !slices.Equal(during, want) || values() != "two two two" {
		t.Errorf("in the turn the values were %v, want %v, and then %s", during, want, values())
	}

	refused := errors.New("not yet")
	l.target.Insert(vnfm.Step{At: vnfm.BeforeDeferred, Name: "refuse", Run: func(context.Context) error { return refused }})
	l.setFiles("3", files("three"))
	if err := l.driver.Apply(l.ctx, l.target, l.recorder); !errors.Is(err, refused) || values() != "three two three" {
		t.Errorf("without a turn: %v, and the values are %s", err, values())
	}
}
