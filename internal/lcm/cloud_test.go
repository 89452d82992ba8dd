package lcm_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// cloudDriver checks OpenStack VIMs: it says whose they are, and makes nothing on them.
type cloudDriver struct {
	vnfm.InfraDriver
	user, project string
}

func (*cloudDriver) Params() vnfm.InfraParams { return vnfm.InfraParams{} }

func (c *cloudDriver) CheckVIM(context.Context, vnfm.VIMSpec) (vnfm.VIMCheck, error) {
	return vnfm.VIMCheck{
		Endpoint: "https://cloud.example", ClusterUID: c.project,
		Cloud: &vnfm.OpenStackState{UserID: c.user, ProjectID: c.project, ProjectName: c.project},
	}, nil
}

// A workload cluster takes the owner of its application credential from its OpenStack VIM,
// and keeps that VIM from going, and from going elsewhere.
func TestClusterOnAnOpenStack(t *testing.T) {
	w, cluster := newClusterEnv(t)
	cloud := &cloudDriver{user: "u1", project: "p1"}
	w.cloud = cloud
	w.Engine = w.open(t)
	vimSpec := vnfm.VIMSpec{
		Name: "cloud", Type: vnfm.VIMTypeOpenStack, OpenStack: &vnfm.OpenStackConnection{AuthURL: "https://cloud.example"},
		Credentials: vnfm.Credentials{vnfm.CredentialPassword: "p4ssword-of-the-test"},
	}
	v, _, err := w.RegisterVIM(t.Context(), "", vimSpec)
	require.NoError(t, err)
	spec := w.clusterSpec()
	ownedBy := func(i *vnfm.Instance) string { return i.Cluster.OpenStack.UserID + "@" + i.Cluster.OpenStack.ProjectID }

	// A VIM of another type is an error that names the argument; one that is not there yet
	// keeps no plan from going on.
	spec.Cluster.OpenStack = &vnfm.ClusterOpenStack{VIMID: w.vimID, Credential: &vnfm.ClusterCredential{SecretName: "s", CloudName: "c"}}
	var invalid *vnfm.InvalidError
	if _, _, err := w.PreviewInstance(t.Context(), "", spec); !errors.As(err, &invalid) || invalid.Problems[0].Attribute != "openstack.vim_id" {
		t.Errorf("a Kubernetes VIM as OpenStack: %v", err)
	}
	spec.Cluster.OpenStack.VIMID = "unknown"
	if _, _, err := w.PreviewInstance(t.Context(), "", spec); !errors.Is(err, vnfm.ErrNotFound) {
		t.Errorf("a VIM that is not registered yet: %v", err)
	}

	spec.Cluster.OpenStack.VIMID = v.ID
	i, err := w.Instantiate(t.Context(), spec)
	require.NoError(t, err)
	require.Equal(t, "u1@p1", ownedBy(i), "the credential is of")
	access := i.Cluster.OpenStack.Access

	var used *vnfm.InUseError
	if err := w.DeregisterVIM(t.Context(), v.ID); !errors.As(err, &used) || !strings.Contains(err.Error(), i.ID) {
		t.Errorf("the VIM goes while a cluster uses it: %v", err)
	}
	cloud.project = "p2"
	if _, _, err := w.UpdateVIM(t.Context(), v.ID, vimSpec); err == nil || !strings.Contains(err.Error(), "leads to another project") {
		t.Errorf("the VIM goes to another project: %v", err)
	}
	cloud.project, cloud.user, vimSpec.OpenStack.Interface = "p1", "u2", "internal"
	if _, _, err := w.UpdateVIM(t.Context(), v.ID, vimSpec); err != nil {
		t.Fatal(err)
	}
	// The driver is chosen by what the cluster consists of.
	cluster.owner = true
	i, err = w.Update(t.Context(), i.ID, spec)
	require.NoError(t, err)
	require.Equal(t, "u2@p1", ownedBy(i), "the credential is of")
	require.NotEqual(t, access, i.Cluster.OpenStack.Access, "the credential is of")
}

// Plan and apply choose the names of the objects of a cluster by the same record: the one
// that is there under the name of the cluster.
func TestNamesFollowTheRecord(t *testing.T) {
	w, cluster := newClusterEnv(t)
	spec := w.clusterSpec()
	i := w.mustInstantiate(t, spec)
	spec.Cluster.Template = &vnfm.ClusterTemplate{Content: "another"}
	if _, _, err := w.PreviewInstance(t.Context(), "", spec); err != nil {
		t.Fatal(err)
	}
	require.NoError(t, second(w.Update(t.Context(), i.ID, spec)))
	require.Equal(t, "none {} {}", strings.Join(cluster.presents, " "), "compared with")
	other := w.clusterSpec()
	other.Name, other.Cluster.Name, cluster.presents = "core", "core", nil
	if _, _, err := w.PreviewInstance(t.Context(), "", other); err != nil {
		t.Fatal(err)
	}
	require.Equal(t, "none", strings.Join(cluster.presents, " "), "another cluster is compared with")
}
