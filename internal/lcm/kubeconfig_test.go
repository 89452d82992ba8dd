package lcm_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// clusters is a driver for workload clusters that has the kubeconfig of one, whose
// number is its id. Real ones are driven in the tests of the resource; here faults are
// made at exact points.
type clusters struct {
	number int
	// expired is the number of one that is valid no more.
	expired int
	// rotated, when set, is asked once the kubeconfig has been replaced.
	rotated func() error
	// owner has the owner of an application credential be part of what a cluster is.
	owner bool
	// presents are the templates that specifications were completed from.
	presents []string
}

func (c *clusters) CarryOver(_, present *vnfm.ClusterSpec) {
	if present == nil {
		c.presents = append(c.presents, "none")
		return
	}
	c.presents = append(c.presents, present.Template.Content)
}

func (c *clusters) Package(spec *vnfm.ClusterSpec) (*vnfm.Package, vnfm.Problems) {
	id := "cluster:" + spec.Name
	if spec.IsPaused() {
		id += ":paused"
	}
	if c.owner {
		id += ":" + spec.OpenStack.UserID
	}
	return &vnfm.Package{
		ID: id, Name: spec.Name, Digest: "sha256:0123456789",
		Descriptor: &vnfm.Descriptor{ID: "cluster", Flavours: []vnfm.Flavour{{ID: "default"}}},
	}, nil
}

func (c *clusters) List(context.Context, *vnfm.VIM, vnfm.Credentials, string) ([]vnfm.ClusterRef, error) {
	return nil, nil
}

func (c *clusters) Over(infra vnfm.InfraDriver) vnfm.InfraDriver { return infra }

func (c *clusters) Kubeconfig(context.Context, *vnfm.VIM, vnfm.Credentials, vnfm.ClusterRef, vnfm.KubeconfigSpec) (*vnfm.Kubeconfig, error) {
	if c.number == 0 {
		return nil, &vnfm.NotFoundError{Kind: "kubeconfig", ID: "edge"}
	}
	k := &vnfm.Kubeconfig{ID: fmt.Sprint(c.number), Raw: vnfm.Secret(fmt.Sprintf("kubeconfig %d", c.number)), Host: "https://edge.example.org:6443"}
	if c.number == c.expired {
		k.NotAfter = time.Now().Add(-time.Hour)
	}
	return k, nil
}

func (c *clusters) RegenerateKubeconfig(_ context.Context, _ *vnfm.VIM, _ vnfm.Credentials, _ vnfm.ClusterRef, before string, _ vnfm.Recorder) error {
	if before == fmt.Sprint(c.number) || c.number == 0 {
		c.number++
	}
	if c.rotated != nil {
		return c.rotated()
	}
	return nil
}

func (c *clusters) Look(context.Context, *vnfm.VIM, vnfm.Credentials, vnfm.ClusterRef) (*vnfm.ClusterState, []vnfm.VNFC, error) {
	return &vnfm.ClusterState{}, nil, nil
}

// newClusterEnv is a env with workload clusters.
func newClusterEnv(t *testing.T) (*env, *clusters) {
	t.Helper()
	w, c := newEnv(t), &clusters{number: 1}
	w.clusters = c
	w.Engine = w.open(t)
	return w, c
}

func (w *env) clusterSpec() vnfm.InstanceSpec {
	return vnfm.InstanceSpec{
		Name: "edge", VIMID: w.vimID, OperationalState: vnfm.Started, OnFailure: vnfm.OnFailureResume,
		Cluster: &vnfm.ClusterSpec{Name: "edge", APIVersion: "v1beta2", Template: &vnfm.ClusterTemplate{Content: "{}"}},
	}
}

// TestRotationRunsOnceForEachTrigger follows the trigger through a creation, a failure
// after the kubeconfig was replaced, and repetitions.
func TestRotationRunsOnceForEachTrigger(t *testing.T) {
	w, c := newClusterEnv(t)
	spec := w.clusterSpec()
	spec.RotationTrigger = "at birth"
	i, err := w.Instantiate(t.Context(), spec)
	require.NoError(t, err)
	if _, err := w.Update(t.Context(), i.ID, spec); err != nil || c.number != 1 {
		t.Fatalf("the trigger of a new cluster: %v, kubeconfig %d", err, c.number)
	}

	spec.RotationTrigger = "leaked"
	c.rotated = func() error { return errBroken }
	_, err = w.Update(t.Context(), i.ID, spec)
	var failed *vnfm.OperationError
	require.ErrorAs(t, err, &failed, "a rotation that fails")
	require.Equal(t, vnfm.StatusFailedTemp, failed.Instance.Status, "a rotation that fails")
	c.rotated = nil
	// Another process goes on, as after a kill.
	w.Engine = w.open(t)
	rotated := w.mustUpdate(t, i.ID, spec)
	require.NoError(t, second(w.Update(t.Context(), i.ID, spec)))
	require.Equal(t, 2, c.number, "the number of the kubeconfig")
	require.Equal(t, vnfm.StatusInstantiated, rotated.Status, "rotated")
	require.Greater(t, rotated.Generation, i.Generation, "rotated")
	require.Equal(t, []string{"INSTANTIATE COMPLETED", "HEAL COMPLETED", "HEAL COMPLETED"}, w.operations(t, i.ID), "operations")

	spec.RotationTrigger = "leaked again"
	if _, err := w.Update(t.Context(), i.ID, spec); err != nil || c.number != 3 {
		t.Errorf("another trigger: %v, kubeconfig %d", err, c.number)
	}
}

// TestExpiredKubeconfigIsReplacedFirst has a change whose application needs the workload
// API, as that of an add-on does.
func TestExpiredKubeconfigIsReplacedFirst(t *testing.T) {
	w, c := newClusterEnv(t)
	spec := w.clusterSpec()
	i := w.mustInstantiate(t, spec)
	c.expired = c.number
	w.driver.fail = func(string) error {
		if c.number == c.expired {
			return errBroken
		}
		return nil
	}
	spec.Cluster.Paused = new(true)
	require.ErrorIs(t, second(w.Update(t.Context(), i.ID, spec)), errBroken, "a change with a kubeconfig that has expired")
	spec.RotationTrigger = "expired"
	if _, err := w.Update(t.Context(), i.ID, spec); err != nil || c.number != 2 {
		t.Errorf("with the trigger: %v, kubeconfig %d", err, c.number)
	}
}

// TestExisting: what has the place of a new instance is found by its kind, also where the VIM gives the namespace.
func TestExisting(t *testing.T) {
	w, _ := newClusterEnv(t)
	for _, spec := range []vnfm.InstanceSpec{w.spec(), w.clusterSpec()} {
		_, err := w.Existing(t.Context(), spec)
		require.ErrorIs(t, err, vnfm.ErrNotFound)
		i := w.mustInstantiate(t, spec)
		found, err := w.Existing(t.Context(), spec)
		require.NoError(t, err)
		require.Equal(t, i.ID, found.ID)
		spec.Namespace = "elsewhere"
		_, err = w.Existing(t.Context(), spec)
		require.ErrorIs(t, err, vnfm.ErrNotFound)
	}
}
