package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/provider"
)

// object is what a configuration has of an object or map.
type object = map[string]any

// configured is a value of a type; attributes that are left out are null.
func configured(t *testing.T, typ tftypes.Type, value any) tftypes.Value {
	t.Helper()
	if value == nil {
		return tftypes.NewValue(typ, nil)
	}
	if made, ok := value.(tftypes.Value); ok {
		return made
	}
	switch typ := typ.(type) {
	case tftypes.Object:
		given, out := value.(object), map[string]tftypes.Value{} //nolint:forcetypeassert // A mistake of the test.
		for name, inner := range typ.AttributeTypes {
			out[name] = configured(t, inner, given[name])
		}
		for name := range given {
			require.Contains(t, typ.AttributeTypes, name)
		}
		return tftypes.NewValue(typ, out)
	case tftypes.Map:
		out := map[string]tftypes.Value{}
		for key, inner := range value.(object) { //nolint:forcetypeassert // A mistake of the test.
			out[key] = configured(t, typ.ElementType, inner)
		}
		return tftypes.NewValue(typ, out)
	case tftypes.List:
		var out []tftypes.Value
		for _, inner := range value.([]any) { //nolint:forcetypeassert // A mistake of the test.
			out = append(out, configured(t, typ.ElementType, inner))
		}
		return tftypes.NewValue(typ, out)
	default:
		return tftypes.NewValue(typ, value)
	}
}

// planned plans a resource of a provider without configuration over a prior state, which may be null.
func planned(t *testing.T, name string, config any, prior *tftypes.Value) tftypes.Value {
	t.Helper()
	resp := planResponse(t, name, config, prior)
	for _, d := range resp.Diagnostics {
		t.Errorf("%s: %s", d.Summary, d.Detail)
	}
	v, err := resp.PlannedState.Unmarshal(getSchema(t).ResourceSchemas[name].ValueType())
	require.NoError(t, err)
	return v
}

// planResponse is what a provider without configuration answers to a plan of a resource over a prior state, which may be null.
func planResponse(t *testing.T, name string, config any, prior *tftypes.Value) *tfprotov6.PlanResourceChangeResponse {
	t.Helper()
	server, err := providerserver.NewProtocol6WithError(provider.New("test")())()
	require.NoError(t, err)
	typ := getSchema(t).ResourceSchemas[name].ValueType()
	null := tftypes.NewValue(typ, nil)
	if prior == nil {
		prior = &null
	}
	dynamic := func(v tftypes.Value) *tfprotov6.DynamicValue {
		d, err := tfprotov6.NewDynamicValue(typ, v)
		require.NoError(t, err)
		return &d
	}
	written := configured(t, typ, config)
	resp, err := server.PlanResourceChange(t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: name, PriorState: dynamic(*prior), ProposedNewState: dynamic(proposed(t, written, *prior)), Config: dynamic(written),
	})
	require.NoError(t, err)
	return resp
}

// TestReplacementsStopFunctions: the plan of a replacement names what it stops, whatever argument asks for it.
func TestReplacementsStopFunctions(t *testing.T) {
	t.Parallel()
	instance := object{"id": "i", "name": "core", "vim_id": "v", "package_id": "p", "namespace": "ns", "status": "INSTANTIATED", "vnfc_counts": object{"web": 2}}
	cluster := object{"id": "c", "name": "north", "management_vim_id": "v", "namespace": "ns", "status": "READY", "topology": object{"class": "a"}, "control_plane_status": object{"replicas": 3}}
	registry := object{"id": "r", "name": "images", "host": "192.0.2.1", "runtime": "docker", "status": "READY", "ssh": object{"username": "u", "password": "p"}}
	for _, c := range []struct {
		name     string
		state    object
		argument string
		want     string
	}{
		{"vnf_instance", instance, "vim_id", `VNF Instance "core": web (2)`},
		{"vnf_instance", instance, "namespace", `VNF Instance "core": web (2)`},
		{"vnf_instance", instance, "name", ""},
		{"vnf_capi_workload_cluster", cluster, "management_vim_id", `Workload Cluster "north": control plane (machines: 3)`},
		{"vnf_capi_workload_cluster", cluster, "name", `Workload Cluster "north": control plane (machines: 3)`},
		{"vnf_private_registry", registry, "host", `Private Registry "images": its container`},
		{"vnf_private_registry", registry, "runtime", `Private Registry "images": its container`},
	} {
		schema := getSchema(t).ResourceSchemas[c.name]
		state, config := configured(t, schema.ValueType(), c.state), object{}
		for _, a := range schema.Block.Attributes {
			if given, ok := c.state[a.Name]; ok && (a.Required || a.Optional) {
				config[a.Name] = given
			}
		}
		config[c.argument] = map[string]any{"runtime": "podman"}[c.argument]
		if config[c.argument] == nil {
			config[c.argument] = "another"
		}
		resp := planResponse(t, c.name, config, &state)
		what := c.name + " " + c.argument
		if c.want == "" {
			assert.Empty(t, resp.Diagnostics, what)
			assert.Empty(t, resp.RequiresReplace, what)
			continue
		}
		assert.Equal(t, []*tftypes.AttributePath{tftypes.NewAttributePath().WithAttributeName(c.argument)}, resp.RequiresReplace, what)
		if assert.Len(t, resp.Diagnostics, 1, what) {
			assert.Equal(t, "Running Functions Stop", resp.Diagnostics[0].Summary, what)
			assert.Equal(t, "This plan terminates "+c.want+".", resp.Diagnostics[0].Detail, what)
		}
	}
}

// TestUnknownNamespace: a namespace that is not known yet replaces nothing, and the plan says what the apply may find.
func TestUnknownNamespace(t *testing.T) {
	t.Parallel()
	state := configured(t, getSchema(t).ResourceSchemas["vnf_instance"].ValueType(), object{
		"id": "i", "name": "core", "vim_id": "v", "package_id": "p", "namespace": "ns", "status": "INSTANTIATED", "vnfc_counts": object{"web": 2},
	})
	resp := planResponse(t, "vnf_instance", object{"name": "core", "vim_id": "v", "package_id": "p", "namespace": tftypes.UnknownValue}, &state)
	assert.Empty(t, resp.RequiresReplace)
	require.Len(t, resp.Diagnostics, 1)
	assert.Equal(t, `Namespace of VNF Instance "core" Is Not Known Yet`, resp.Diagnostics[0].Summary)
}

// TestUnknownVIM: a VIM that is not known yet replaces the instance, and the plan says how to keep it.
func TestUnknownVIM(t *testing.T) {
	t.Parallel()
	state := configured(t, getSchema(t).ResourceSchemas["vnf_instance"].ValueType(), object{
		"id": "i", "name": "core", "vim_id": "v", "package_id": "p", "namespace": "ns", "status": "INSTANTIATED", "vnfc_counts": object{"web": 2},
	})
	resp := planResponse(t, "vnf_instance", object{"name": "core", "vim_id": tftypes.UnknownValue, "package_id": "p", "namespace": "ns"}, &state)
	assert.Len(t, resp.RequiresReplace, 1)
	require.Len(t, resp.Diagnostics, 2)
	assert.Equal(t, "Running Functions Stop", resp.Diagnostics[0].Summary)
	assert.Equal(t, `VIM of VNF Instance "core" Is Not Known Yet`, resp.Diagnostics[1].Summary)
	assert.Contains(t, resp.Diagnostics[1].Detail, "terraform import vnf_vim.lab NAME")
}

// at is what a value has at a path of names, keys and indexes.
func at(t *testing.T, v tftypes.Value, steps ...any) any {
	t.Helper()
	path := tftypes.NewAttributePath()
	for _, step := range steps {
		switch step := step.(type) {
		case int:
			path = path.WithElementKeyInt(step)
		case string:
			if name, ok := v.Type().(tftypes.Object); len(path.Steps()) == 0 && ok && name.AttributeTypes[step] != nil {
				path = path.WithAttributeName(step)
				continue
			}
			inner, _, err := tftypes.WalkAttributePath(v, path)
			require.NoError(t, err)
			if inner.(tftypes.Value).Type().Is(tftypes.Map{}) { //nolint:forcetypeassert // Walks of values end at values.
				path = path.WithElementKeyString(step)
			} else {
				path = path.WithAttributeName(step)
			}
		}
	}
	found, _, err := tftypes.WalkAttributePath(v, path)
	require.NoError(t, err)
	leaf, ok := found.(tftypes.Value)
	require.True(t, ok)
	var text string
	var on bool
	switch {
	case leaf.Type().Is(tftypes.Bool):
		require.NoError(t, leaf.As(&on))
		return on
	default:
		require.NoError(t, leaf.As(&text))
		return text
	}
}

// TestDefaultsOfClusters: the fixed defaults inside the arguments of a cluster are in its plan.
func TestDefaultsOfClusters(t *testing.T) {
	t.Parallel()
	v := planned(t, "vnf_capi_workload_cluster", object{
		"management_vim_id": "m", "name": "edge", "kubernetes_version": "v1.34.0",
		"chart":       object{"name": "in-memory", "values": []any{"a: b"}},
		"node_groups": object{"a": object{"taints": []any{object{"key": "k", "effect": "NoSchedule"}}}},
		"openstack":   object{"vim_id": "c", "application_credential": object{}, "deletion_policy": object{}},
		"addons":      object{"cni": object{"chart": object{"path": "x"}, "namespace": "a"}},
	}, nil)
	assert.Equal(t, "v1.34.0", at(t, v, "kubernetes_version"))
	assert.Equal(t, false, at(t, v, "chart", "plain_http"))
	assert.Equal(t, false, at(t, v, "addons", "cni", "chart", "insecure_skip_tls_verify"))
	assert.Equal(t, "Always", at(t, v, "node_groups", "a", "taints", 0, "propagation"))
	assert.Equal(t, "openstack", at(t, v, "openstack", "application_credential", "cloud_name"))
	assert.Equal(t, "keep", at(t, v, "openstack", "deletion_policy", "volumes"))
	assert.Equal(t, "keep", at(t, v, "openstack", "deletion_policy", "load_balancers"))
}

// TestVersionsAreEqual: the other form of the version that the state has is no change.
func TestVersionsAreEqual(t *testing.T) {
	t.Parallel()
	template := func(version string) object {
		return object{"name": "standard", "kubernetes_version": version, "image": object{"name": "n", "kube_version": "v1.34.0", "os_distro": "ubuntu"}}
	}
	const name = "vnf_capi_cluster_template"
	first := planned(t, name, template("1.34.0"), nil)
	again := planned(t, name, template("v1.34.0"), &first)
	assert.True(t, again.Equal(first), "planned %s over %s", again, first)
	assert.Contains(t, at(t, planned(t, name, template("v1.34.0"), nil), "definition"), `"kubernetes_version":"1.34.0"`)
}
