package attrs_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/modeltest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestVDUs: each field of a VDU reaches the value, whose type is that of the schema.
func TestVDUs(t *testing.T) {
	t.Parallel()
	modeltest.EachField(t, nil, func(v map[string]vnfm.VDUState) any { return attrs.VDUsValue(v) })
	assert.Equal(t, types.MapType{ElemType: attrs.VDUType}, attrs.VDUsAttribute().GetType())
}

// TestFlavours: the value of flavours that have everything has the type of the schema.
func TestFlavours(t *testing.T) {
	t.Parallel()
	value := attrs.FlavoursValue(modeltest.Filled[[]vnfm.Flavour]())
	assert.True(t, value.Type(t.Context()).Equal(attrs.FlavoursType()))
	assert.True(t, attrs.FlavoursAttribute().GetType().Equal(attrs.FlavoursType()))
	modeltest.NothingNull(t, struct{ Flavours types.Map }{value})
}

// TestClusterRef: a reference that went into a value comes out of it.
func TestClusterRef(t *testing.T) {
	t.Parallel()
	want := modeltest.Filled[vnfm.ClusterRef]()
	assert.Equal(t, &want, attrs.ClusterRef(attrs.ClusterRefValue(&want)))
	assert.Nil(t, attrs.ClusterRef(attrs.ClusterRefValue(nil)))
}

// TestOpenStackArguments: each field of a connection is one argument or switch.
func TestOpenStackArguments(t *testing.T) {
	t.Parallel()
	modeltest.EachField(t, []string{"PerRun"}, func(c vnfm.OpenStackConnection) any {
		var out []any
		for _, a := range attrs.OpenStackArguments() {
			out = append(out, *a.Field(&c))
		}
		for _, s := range attrs.OpenStackSwitches() {
			out = append(out, *s.Field(&c))
		}
		return out
	})
}

// TestKubernetesArguments: each field of a connection is one argument or switch.
func TestKubernetesArguments(t *testing.T) {
	t.Parallel()
	// These belong to VIMs alone, the last one to a run.
	own := []string{"DefaultNamespace", "KubeconfigRef", "InsecureSkipTLSVerify", "PerRun"}
	modeltest.EachField(t, own, func(c vnfm.KubernetesConnection) any {
		out := []any{attrs.ExecValue(c.Exec, types.ObjectNull(nil))}
		paths, switches := attrs.MachineArguments()
		for _, a := range append(attrs.KubernetesArguments(), paths...) {
			out = append(out, *a.Field(&c))
		}
		for _, s := range switches {
			out = append(out, *s.Field(&c))
		}
		return out
	})
}

// TestExec: a program that went into a value comes out of it, and empty collections stay what
// they were.
func TestExec(t *testing.T) {
	t.Parallel()
	none := types.ObjectNull(nil)
	want := modeltest.Filled[vnfm.ExecPlugin]()
	assert.Equal(t, &want, attrs.Exec(attrs.ExecValue(&want, none)))
	assert.Nil(t, attrs.Exec(attrs.ExecValue(nil, none)))
	bare := &vnfm.ExecPlugin{Command: "aws", APIVersion: "v1"}
	assert.Equal(t, bare, attrs.Exec(attrs.ExecValue(bare, none)))
	assert.True(t, attrs.ExecValue(bare, none).Attributes()["args"].IsNull())
	empty := attrs.ExecValue(&vnfm.ExecPlugin{Args: []string{"x"}, Env: map[string]string{"A": "b"}}, none)
	assert.Equal(t, "[]", attrs.ExecValue(bare, empty).Attributes()["args"].String())
	assert.Equal(t, "{}", attrs.ExecValue(bare, empty).Attributes()["env"].String())
}
