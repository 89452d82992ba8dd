package heat

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/hot"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// templated is a package whose template declares a parameter besides nfv.
func templated(text string) *vnfm.Package {
	return &vnfm.Package{
		Content: fstest.MapFS{"BaseHOT/simple/top.yaml": {Data: []byte(text)}}, Files: []vnfm.PackageFile{{Path: "BaseHOT/simple/top.yaml"}},
	}
}

const withColour = "heat_template_version: wallaby\nparameters: { nfv: { type: json }, colour: { type: string }, shade: { type: string, default: \"\" } }\n" +
	"resources: { VDU1: { type: OS::Nova::Server } }\n"

// The driver reads nfv and what the template declares, and leaves all else alone.
func TestReadParams(t *testing.T) {
	flavour := &vnfm.Flavour{ID: "simple", VDUs: []vnfm.VDU{{ID: "VDU1"}}}
	p := templated(withColour)
	names, ok := (&Driver{}).PackageParams(t.Context(), p, flavour)
	require.True(t, ok)
	require.Equal(t, []string{"colour", "shade"}, names)

	source, problems := hot.Load(budget.New(t.Context(), budget.Limits{}), p, flavour)
	require.Empty(t, problems)
	target := &vnfm.Target{
		Instance:     &vnfm.Instance{AdditionalParams: map[string]any{"namespace": "core", "upgrade_type": "RollingUpdate", "nfv": map[string]any{"VDU": 1}}},
		SecretParams: map[string]any{"colour": "red"},
	}
	var ps vnfm.Problems
	got := readParams(target, source, &ps)
	require.Empty(t, ps)
	require.Equal(t, map[string]any{"colour": "red"}, got.stack)
	require.Equal(t, map[string]any{"VDU": 1}, got.nfv)
}

// A template that cannot be read, and a flavour that is translated.
func TestPackageParams(t *testing.T) {
	flavour := &vnfm.Flavour{ID: "simple"}
	_, ok := (&Driver{}).PackageParams(t.Context(), templated("a: [\n"), flavour)
	require.False(t, ok)
	names, ok := (&Driver{}).PackageParams(t.Context(), &vnfm.Package{Content: fstest.MapFS{}}, flavour)
	require.True(t, ok)
	require.Empty(t, names)
}
