package capi

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	ids "github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/cloudtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// stock is what a test has of its own in the laboratory's OpenStack, beside what all have.
type stock struct {
	env  labtest.OpenStackEnv
	user labtest.OpenStackUser
	// keyPair is a name, flavour and subnetID are ids.
	keyPair, flavour, subnetID string
	// twin is the name of two images, queued that of one without content.
	twin, queued string
}

// stocked has OpenStack hold what openstackSpec and everything name, as far as it does not
// hold it anyway.
func stocked(t *testing.T) *stock {
	t.Helper()
	env := labtest.OpenStackCompute(t)
	s := &stock{env: env, user: env.NewUser(t, "member", "reader")}
	s.keyPair = s.user.Name
	mine := env.As(s.user)
	mine.Post(t, "compute", "/os-keypairs", map[string]any{"keypair": map[string]any{"name": s.keyPair}}, nil)
	t.Cleanup(func() { mine.Delete(t, "compute", "/os-keypairs/"+s.keyPair) })

	s.flavour = ids.NewString()
	env.Post(t, "compute", "/flavors", map[string]any{"flavor": map[string]any{"id": s.flavour, "name": s.user.Name, "vcpus": 4, "ram": 8192, "disk": 40}}, nil)
	t.Cleanup(func() { env.Delete(t, "compute", "/flavors/"+s.flavour) })

	s.twin, s.queued = s.user.Name+"-twin", s.user.Name+"-queued"
	for _, name := range []string{s.twin, s.twin, s.queued} {
		var made struct {
			ID string `json:"id"`
		}
		mine.Post(t, "image", "/v2/images", map[string]any{"name": name, "disk_format": "raw", "container_format": "bare", "kube_version": "v1.33.1"}, &made)
		t.Cleanup(func() { mine.Delete(t, "image", "/v2/images/"+made.ID) })
	}

	var subnets struct {
		Subnets []struct {
			ID string `json:"id"`
		} `json:"subnets"`
	}
	env.Get(t, "network", "/v2.0/subnets?name=net0-subnet", &subnets)
	require.Len(t, subnets.Subnets, 1)
	s.subnetID = subnets.Subnets[0].ID
	return s
}

// spec is openstackSpec with what the laboratory has.
func (s *stock) spec(values map[string]any) *vnfm.ClusterSpec {
	spec := openstackSpec(vnfm.LaidOver(map[string]any{"machineImageId": s.env.Images[nodeImage]}, values))
	spec.KubernetesVersion = "v1.33.1"
	return spec
}

// everything is everything with what the laboratory has.
func (s *stock) everything() map[string]any {
	return vnfm.LaidOver(everything(), map[string]any{
		"machineImage": nodeImage, "machineSSHKeyName": s.keyPair,
		"clusterNetworking": map[string]any{"internalNetwork": map[string]any{"networkFilter": map[string]any{"name": "net0"}, "subnetFilter": map[string]any{"id": s.subnetID}}},
		"controlPlane":      map[string]any{"machineFlavor": s.flavour},
		"nodeGroupDefaults": map[string]any{"machineNetworking": map[string]any{"ports": []any{map[string]any{"network": map[string]any{"filter": map[string]any{"name": "net1"}}}}}},
	})
}

// nodeImage is an image of the laboratory that says which Kubernetes it has.
const nodeImage = "ubuntu-2204-kube-v1.33.1"

// asked are the problems that a plan of a cluster shows of the laboratory's OpenStack.
func (s *stock) asked(t *testing.T, spec *vnfm.ClusterSpec) vnfm.Problems {
	t.Helper()
	return asked(t, spec, s.connection(), s.user.Password)
}

func (s *stock) connection() vnfm.OpenStackConnection {
	return vnfm.OpenStackConnection{AuthURL: s.env.AuthURL, Region: s.env.Region, Username: s.user.Name, ProjectName: s.user.Project}
}

// asked are the problems that a plan of a cluster shows of an OpenStack.
func asked(t *testing.T, spec *vnfm.ClusterSpec, connection vnfm.OpenStackConnection, password string) vnfm.Problems {
	t.Helper()
	o, target := onCloud(t, spec, connection, password)
	return o.askCloud(t.Context(), target)
}

// onCloud is a cluster on an OpenStack, without a management cluster.
func onCloud(t *testing.T, spec *vnfm.ClusterSpec, connection vnfm.OpenStackConnection, password string) (*overlay, *vnfm.Target) {
	t.Helper()
	spec.OpenStack = &vnfm.ClusterOpenStack{VIMID: "cloud"}
	p, problems := New(nil, nil).Package(spec)
	require.Empty(t, problems)
	return &overlay{clouds: openstack.NewPool("test/1")}, &vnfm.Target{
		Package: p, Instance: &vnfm.Instance{Cluster: spec},
		Access: func(context.Context, string) (*vnfm.VIM, vnfm.Credentials, error) {
			return &vnfm.VIM{Name: "cloud", OpenStack: &connection}, vnfm.Credentials{vnfm.CredentialPassword: vnfm.Secret(password)}, nil
		},
	}
}

func TestCloudHasWhatIsNamed(t *testing.T) {
	s := stocked(t)
	assert.Empty(t, s.asked(t, s.spec(nil)))
	all := s.spec(s.everything())
	all.NodeGroups["upf"] = vnfm.NodeGroup{Replicas: number(1), Flavour: "m1.medium"}
	assert.Empty(t, s.asked(t, all))

	o, target := onCloud(t, all, s.connection(), s.user.Password)
	failed := errors.New("failed")
	assert.Equal(t, failed, o.missing(t.Context(), target, failed), "nothing is missing")
}

func TestCloudHasNot(t *testing.T) {
	s := stocked(t)
	other := "00000000-0000-0000-0000-000000000000"
	byName := func(image string) map[string]any { return map[string]any{"machineImageId": nil, "machineImage": image} }
	internal := func(what string, filter map[string]any) map[string]any {
		return map[string]any{"clusterNetworking": map[string]any{"internalNetwork": map[string]any{what: filter}}}
	}
	for name, c := range map[string]struct {
		values   map[string]any
		change   func(*vnfm.ClusterSpec)
		severity vnfm.Severity
		at       string
		want     string
	}{
		"image by id":        {map[string]any{"machineImageId": other}, nil, vnfm.SeverityError, "chart.values", "there is no image with the id " + other},
		"image by name":      {byName("none"), nil, vnfm.SeverityWarning, "chart.values", `there is no image "none"`},
		"two images":         {byName(s.twin), nil, vnfm.SeverityError, "chart.values", `there are 2 of the image "` + s.twin + `"`},
		"version":            {byName("ubuntu-2204-kube-v1.32.5"), nil, vnfm.SeverityError, "kubernetes_version", `image "ubuntu-2204-kube-v1.32.5" has Kubernetes 1.32.5, not 1.33.1`},
		"no version":         {byName("ubuntu-22.04"), nil, vnfm.SeverityWarning, "chart.values", `does not say which version of Kubernetes`},
		"not active":         {byName(s.queued), nil, vnfm.SeverityWarning, "chart.values", `image "` + s.queued + `" is queued`},
		"key pair":           {map[string]any{"machineSSHKeyName": "lost"}, nil, vnfm.SeverityWarning, "chart.values", `there is no key pair "lost"`},
		"network":            {internal("networkFilter", map[string]any{"id": other}), nil, vnfm.SeverityError, "chart.values", "there is no network with the id"},
		"subnet":             {internal("subnetFilter", map[string]any{"name": "none"}), nil, vnfm.SeverityWarning, "chart.values", `there is no subnet "none"`},
		"external network":   {map[string]any{"clusterNetworking": map[string]any{"externalNetworkId": "none"}}, nil, vnfm.SeverityWarning, "chart.values", `there is no network "none"`},
		"flavour of a group": {nil, func(s *vnfm.ClusterSpec) { s.NodeGroups["upf"] = vnfm.NodeGroup{Replicas: number(1), Flavour: "none"} }, vnfm.SeverityWarning, "node_groups upf", `there is no flavour "none"`},
		"small flavour": {
			nil, func(s *vnfm.ClusterSpec) { s.ControlPlane.Flavour = "m1.tiny" }, vnfm.SeverityWarning, "control_plane.flavour",
			`flavour "m1.tiny" of the control plane has 1 vCPU and 512 MiB of memory: kubeadm refuses a control plane of less than 2 vCPU`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			spec := s.spec(c.values)
			if c.change != nil {
				c.change(spec)
			}
			problems := s.asked(t, spec)
			require.Len(t, problems, 1, "%v", problems)
			p := problems[0]
			assert.Equal(t, c.severity, p.Severity)
			assert.Contains(t, p.String(), c.want)
			if p.Key != "" {
				p.Attribute += " " + p.Key
			}
			assert.Equal(t, c.at, p.Attribute)

			// What is there and does not suit was for the plan to tell.
			o, target := onCloud(t, spec, s.connection(), s.user.Password)
			failed := errors.New("failed")
			err := o.missing(t.Context(), target, failed)
			require.ErrorIs(t, err, failed)
			assert.Equal(t, strings.HasPrefix(p.Summary, "there "), err != failed, "%v", err)
			if err != failed {
				assert.ErrorContains(t, err, "\n* "+p.Summary)
			}
		})
	}
}

// A cloud that does not answer is told once, and stops no plan; after an operation that
// failed it is told as well.
func TestCloudDoesNotAnswer(t *testing.T) {
	cloud := cloudtest.New(t)
	cloud.Refuse(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/v3/auth/tokens" {
			return false
		}
		w.WriteHeader(http.StatusInternalServerError)
		return true
	})
	connection := vnfm.OpenStackConnection{AuthURL: cloud.URL, Username: "nfv_user", ProjectName: cloudtest.Project}
	problems := asked(t, openstackSpec(nil), connection, "devstack")
	require.Len(t, problems, 1)
	assert.Equal(t, vnfm.SeverityWarning, problems[0].Severity)
	assert.Equal(t, "openstack", problems[0].Attribute)
	assert.Contains(t, problems[0].String(), "500 Internal Server Error")

	o, target := onCloud(t, openstackSpec(nil), connection, "devstack")
	failed := errors.New("failed")
	err := o.missing(t.Context(), target, failed)
	require.ErrorIs(t, err, failed)
	require.ErrorContains(t, err, "\n* its OpenStack does not answer: ")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Equal(t, failed, o.missing(ended, target, failed), "an interrupt waits for nothing")
	refused := &vnfm.InvalidError{}
	assert.Equal(t, error(refused), o.missing(t.Context(), target, refused))
}

// The real Glance tells which version of Kubernetes an image has.
func TestGlanceTellsTheVersion(t *testing.T) {
	env := labtest.OpenStack(t)
	user := env.NewUser(t, "member")
	q := func(version, image string) vnfm.Problems {
		client, err := openstack.New(openstack.Config{
			VIM:         "cloud",
			Connection:  vnfm.OpenStackConnection{AuthURL: env.AuthURL, Region: env.Region, Username: user.Name, ProjectName: user.Project},
			Credentials: vnfm.Credentials{vnfm.CredentialPassword: vnfm.Secret(user.Password)},
		})
		require.NoError(t, err)
		q := &cloudQuestion{ctx: t.Context(), client: client, spec: &vnfm.ClusterSpec{KubernetesVersion: version}}
		id := env.Images[image]
		for _, by := range [][2]string{{id, ""}, {"", image}} {
			require.NoError(t, lookFor(q, "image", by[0], by[1], q.form(), client.Images, q.image))
		}
		return q.problems
	}
	assert.Empty(t, q("v1.33.1", nodeImage))
	problems := q("v1.34.0", nodeImage)
	require.Len(t, problems, 1, "said once, however it was found")
	assert.Contains(t, problems[0].String(), `image "`+nodeImage+`" has Kubernetes 1.33.1, not 1.34.0`)
	assert.Contains(t, q("v1.34.0", "ubuntu-22.04")[0].String(), "does not say which version")
}
