package provider_test

import (
	"cmp"
	"errors"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/require"
)

// TestPlanShowsDefaults: the plan of a new object has the defaults of arguments that are left
// out, also inside objects that are there, and none inside objects that are not. A second plan
// changes nothing.
func TestPlanShowsDefaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		resource     string
		config, want object
	}{
		"registry": {"vnf_private_registry",
			object{"host": "192.0.2.1", "ssh": object{"username": "root", "jump_host": object{"username": "root", "address": "192.0.2.2"}}, "deletion_policy": object{}},
			object{
				"name": "private_registry", "port": 5000, "runtime": "docker", "deletion_policy": object{"images": "keep"},
				"ssh": object{"port": 22, "use_agent": false, "host_key_policy": "pin", "jump_host": object{"port": 22, "use_agent": false, "host_key_policy": "pin"}},
			}},
		"registry without objects": {"vnf_private_registry",
			object{"host": "192.0.2.1", "ssh": object{"username": "root"}},
			object{"ssh": object{"port": 22, "jump_host": nil}, "deletion_policy": nil}},
		"Kubernetes": {"vnf_vim",
			object{"name": "edge", "kubernetes": object{"endpoint": "https://edge.example.com", "bearer_token": "planted"}},
			object{"kubernetes": object{"insecure_skip_tls_verify": false, "default_namespace": "default"}, "openstack": nil}},
		"OpenStack": {"vnf_vim",
			object{"name": "cloud", "openstack": object{"auth_url": "https://cloud.example.com", "cloud": "a"}},
			object{"openstack": object{"insecure_skip_tls_verify": false, "allow_http_endpoints": false, "interface": nil}, "kubernetes": nil}},
		"instance": {"vnf_instance",
			object{
				"name": "a", "vim_id": "b", "package_id": "c", "heal": object{"trigger": "1"}, "termination": object{}, "deletion_policy": object{},
				"credentials_sink": object{"url": "https://sink.example.com"},
			},
			object{
				"lock_timeout": "30s", "on_failure": nil, "heal": object{"replace_volumes": false}, "termination": object{"type": "graceful", "graceful_timeout": nil},
				"deletion_policy": object{"volumes": nil, "namespace": "delete", "crds": "delete"}, "credentials_sink": object{"timeout": "30s", "attempts": 5},
			}},
		"instance without objects": {"vnf_instance",
			object{"name": "a", "vim_id": "b", "package_id": "c"},
			object{"heal": nil, "termination": nil, "deletion_policy": nil, "credentials_sink": nil}},
		"package": {"vnf_package", object{"name": "a", "source": "b"}, object{"integrity": "enforce", "signature": "verify_if_present", "trust": nil}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := planned(t, c.resource, c.config, nil)
			checkPlanned(t, c.resource, first, c.want)
			if c.resource == "vnf_instance" {
				// Without a store nothing of its package is known.
				return
			}
			state := applied(t, first)
			if second := planned(t, c.resource, c.config, &state); !second.Equal(state) {
				t.Errorf("the second plan is %s, not %s", second, state)
			}
		})
	}
}

// applied is a plan in which what was unknown has become known.
func applied(t *testing.T, plan tftypes.Value) tftypes.Value {
	t.Helper()
	healthy := map[string]string{"status": "READY", "created_at": "2026-01-02T03:04:05Z", "kubeconfig_not_after": "2027-01-02T03:04:05Z"}
	out, err := tftypes.Transform(plan, func(at *tftypes.AttributePath, v tftypes.Value) (tftypes.Value, error) {
		switch {
		case v.IsKnown():
			return v, nil
		case v.Type().Is(tftypes.String):
			name, _ := at.LastStep().(tftypes.AttributeName)
			return tftypes.NewValue(v.Type(), cmp.Or(healthy[string(name)], "known")), nil
		case v.Type().Is(tftypes.Map{}):
			return tftypes.NewValue(v.Type(), map[string]tftypes.Value{}), nil
		case v.Type().Is(tftypes.List{}), v.Type().Is(tftypes.Set{}):
			return tftypes.NewValue(v.Type(), []tftypes.Value{}), nil
		default:
			return tftypes.NewValue(v.Type(), nil), nil
		}
	})
	require.NoError(t, err)
	return out
}

// proposed is what Terraform proposes: the configuration, and the state where it has nothing.
func proposed(t *testing.T, config, state tftypes.Value) tftypes.Value {
	t.Helper()
	if config.IsNull() || !config.Type().Is(tftypes.Object{}) || state.IsNull() {
		if config.IsNull() {
			return state
		}
		return config
	}
	var configured, before map[string]tftypes.Value
	require.NoError(t, errors.Join(config.As(&configured), state.As(&before)))
	for name, v := range configured {
		configured[name] = proposed(t, v, before[name])
	}
	return tftypes.NewValue(config.Type(), configured)
}

// checkPlanned compares the attributes that are wanted; nil is null.
func checkPlanned(t *testing.T, path string, v tftypes.Value, want any) {
	t.Helper()
	wanted, ok := want.(map[string]any)
	if !ok {
		if w := tftypes.NewValue(v.Type(), want); !v.Equal(w) {
			t.Errorf("%s is %s, not %v", path, v, want)
		}
		return
	}
	var attributes map[string]tftypes.Value
	if err := v.As(&attributes); err != nil || attributes == nil {
		t.Fatalf("%s is %s: %v", path, v, err)
	}
	for name, w := range wanted {
		checkPlanned(t, path+"."+name, attributes[name], w)
	}
}
