package lcm_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// registerFar registers a further VIM, whose namespace is "edge".
func (w *env) registerFar(t *testing.T) (id string) {
	t.Helper()
	return register(t, w.Engine, vnfm.VIMSpec{
		Name: "far", Type: vnfm.VIMTypeKubernetes,
		Kubernetes:  &vnfm.KubernetesConnection{Endpoint: "https://far.example.com", DefaultNamespace: "edge"},
		Credentials: vnfm.Credentials{vnfm.CredentialBearerToken: "token"},
	})
}

// TestConnections places a VDU on a further VIM, fails to take it away again, and
// keeps sight of what is there.
func TestConnections(t *testing.T) {
	w := newEnv(t)
	far := w.registerFar(t)
	spec := w.spec()
	spec.Connections = map[string]vnfm.Connection{"far": {VIMID: far, VDUIDs: []string{"VDU1"}}}
	i := w.mustInstantiate(t, spec)
	require.Equal(t, "edge", i.Connections["far"].Namespace, "the namespace of the part, which is the VIM's default")
	on := func(i *vnfm.Instance) (own, further int) {
		for _, item := range i.Inventory {
			if item.Connection == "far" {
				further++
			} else {
				own++
			}
		}
		return own, further
	}
	if own, further := on(i); own != 2 || further != 2 {
		t.Errorf("%d objects on the own VIM and %d on the further one", own, further)
	}
	var inUse *vnfm.InUseError
	require.ErrorAs(t, w.DeregisterVIM(t.Context(), far), &inUse, "deregistering a VIM that has a part")
	listed, err := w.Instances(t.Context(), vnfm.InstanceFilter{VIMID: far})
	require.NoError(t, err, "instances on the further VIM")
	require.Len(t, listed, 1, "instances on the further VIM")

	moved := w.spec()
	moved.Connections = map[string]vnfm.Connection{"far": {VIMID: far, Namespace: "elsewhere", VDUIDs: []string{"VDU1"}}}
	require.ErrorContains(t, second(w.Update(t.Context(), i.ID, moved)),
		`namespace "edge" of VIM "far" and cannot move to namespace "elsewhere" of VIM "far": give the new location another name`, "another place under the same name")

	w.driver.breaks("apply")
	if _, err := w.Update(t.Context(), i.ID, w.spec()); !errors.Is(err, errBroken) || !strings.Contains(err.Error(), `VIM connection "far"`) {
		t.Fatalf("taking the part away: %v", err)
	}
	require.ErrorAs(t, w.DeregisterVIM(t.Context(), far), &inUse, "deregistering a VIM that still has a part")
	w.driver.fail = nil
	require.NoError(t, w.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}))
	require.Equal(t, 2, w.driver.called("terminate"), "VIMs that were terminated on")
	require.NoError(t, w.DeregisterVIM(t.Context(), far))
}

// TestConnectionsRollBack takes both parts of a new instance back when one of them fails.
func TestConnectionsRollBack(t *testing.T) {
	w := newEnv(t)
	far := w.registerFar(t)
	var applied atomic.Int32
	w.driver.fail = func(point string) error {
		if point == "applied" && applied.Add(1) == 2 {
			return errBroken
		}
		return nil
	}
	spec := w.spec()
	spec.OnFailure = vnfm.OnFailureRollback
	spec.Connections = map[string]vnfm.Connection{"far": {VIMID: far, VDUIDs: []string{"VDU1"}}}
	_, err := w.Instantiate(t.Context(), spec)
	require.ErrorIs(t, err, errBroken)
	require.ErrorAs(t, err, new(*vnfm.RolledBackError))
	require.Equal(t, 2, w.driver.called("terminate"))
	left, err := w.Instances(t.Context(), vnfm.InstanceFilter{})
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestConnectionsInOnePlace refuses two parts in one place when the instance is planned.
func TestConnectionsInOnePlace(t *testing.T) {
	w := newEnv(t)
	spec := w.spec()
	spec.Connections = map[string]vnfm.Connection{"far": {VIMID: w.vimID, VDUIDs: []string{"VDU1"}}}
	_, problems, err := w.PreviewInstance(t.Context(), "", spec)
	require.NoError(t, err)
	require.Len(t, problems, 1)
	require.Equal(t, "far", problems[0].Key)
	require.Equal(t, `namespace "default" of VIM "edge" is already used by the instance itself: give the VIM connection another VIM or namespace`, problems[0].String())

	// A VIM that the same apply registers is in no other place as far as a plan knows.
	spec.Connections = map[string]vnfm.Connection{"far": {VIMID: "not registered", VDUIDs: []string{"VDU1"}}}
	_, problems, err = w.PreviewInstance(t.Context(), "", spec)
	require.NoError(t, err)
	require.Empty(t, problems)
	_, err = w.Instantiate(t.Context(), spec)
	require.ErrorIs(t, err, vnfm.ErrNotFound)
}

// TestUnknownParams refuses parameters that nobody takes, also beside some that are known later, before there is anything of an instance.
func TestUnknownParams(t *testing.T) {
	w := newEnv(t)
	w.driver.taken = []string{"size", "colour"}
	spec := w.spec()
	spec.AdditionalParams, spec.SecretParams = map[string]any{"size": 1, "color": "red"}, map[string]any{"sise": 2}
	want := []string{"additional_params[color] did you mean \"colour\"?", "additional_params_wo[sise] did you mean \"size\"?"}
	told := func(problems vnfm.Problems) (out []string) {
		for _, p := range problems {
			advice, _, _ := strings.Cut(p.Detail, " The")
			out = append(out, p.Attribute+"["+p.Key+"] "+advice)
		}
		return out
	}
	_, problems, err := w.PreviewInstance(t.Context(), "", spec)
	require.NoError(t, err)
	require.Equal(t, want, told(problems))

	later := spec
	later.AdditionalParams, later.ParamsLater, later.SecretParams = map[string]any{"size": nil, "color": "red"}, []string{"size"}, nil
	_, problems, err = w.PreviewInstance(t.Context(), "", later)
	require.NoError(t, err)
	require.Equal(t, want[:1], told(problems))

	_, err = w.Instantiate(t.Context(), spec)
	var invalid *vnfm.InvalidError
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, want, told(invalid.Problems))
	left, err := w.Instances(t.Context(), vnfm.InstanceFilter{})
	require.NoError(t, err)
	require.Empty(t, left)
}
