package cloud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/cloudtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/clustertest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// stocked is a cloud that has what openstackSpec and everything name.
func stocked(t *testing.T) *cloudtest.Cloud {
	t.Helper()
	cloud := cloudtest.New(t)
	for _, i := range []map[string]any{
		{"id": clustertest.UUID, "name": "by-id", "status": "active", "kube_version": "v1.34.0", "os_distro": "ubuntu"},
		{"id": "1", "name": "node-1.34", "status": "active", "kube_version": "1.34.0"},
		{"id": "2", "name": "node-1.33", "status": "active", "kube_version": "v1.33.4"},
		{"id": "3", "name": "plain", "status": "active"},
		{"id": "4", "name": "twin", "status": "active", "kube_version": "1.34.0"},
		{"id": "5", "name": "twin", "status": "active", "kube_version": "1.34.0"},
		{"id": "6", "name": "queued", "status": "queued", "kube_version": "1.34.0"},
	} {
		cloud.Put("/image/v2/images", i)
	}
	for _, f := range []map[string]any{
		{"id": clustertest.UUID, "name": "by-id", "vcpus": 4, "ram": 8192, "disk": 40},
		{"id": "1", "name": "m1.large", "vcpus": 4, "ram": 8192, "disk": 80},
		{"id": "2", "name": "m1.medium", "vcpus": 2, "ram": 4096, "disk": 40},
		{"id": "3", "name": "m1.tiny", "vcpus": 1, "ram": 512, "disk": 1},
		{"id": "4", "name": "m1.small", "vcpus": 1, "ram": 2048, "disk": 20},
	} {
		cloud.Put("/compute/v2.1/flavors", f)
	}
	cloud.Put("/compute/v2.1/os-keypairs", map[string]any{"id": 7, "name": "ops", "fingerprint": "aa:bb"})
	for _, name := range []string{"public", "tenant", "storage"} {
		cloud.Put("/network/v2.0/networks", map[string]any{"id": name + "-id", "name": name, "router:external": name == "public"})
	}
	cloud.Put("/network/v2.0/networks", map[string]any{"id": "inner-id", "name": "public", "router:external": false})
	cloud.Put("/network/v2.0/subnets", map[string]any{"id": clustertest.UUID, "name": "nodes", "network_id": "tenant-id"})
	cloud.Put("/network/v2.0/subnets", map[string]any{"id": "other-nodes-id", "name": "nodes", "network_id": "storage-id"})
	return cloud
}

// packageOf is the package of a cluster.
func packageOf(t *testing.T, spec *vnfm.ClusterSpec) *vnfm.Package {
	t.Helper()
	var problems vnfm.Problems
	objects, _ := forms.Render(spec, &problems)
	require.Empty(t, problems)
	text, err := forms.Encode(objects)
	require.NoError(t, err)
	return &vnfm.Package{Content: forms.File(text)}
}

// asked are the problems that a plan of a cluster shows of its OpenStack.
func asked(t *testing.T, cloud *cloudtest.Cloud, spec *vnfm.ClusterSpec) vnfm.Problems {
	t.Helper()
	o, target := onCloud(t, cloud, spec)
	return o.Check(t.Context(), target)
}

// onCloud is a cluster on an OpenStack, without a management cluster.
func onCloud(t *testing.T, cloud *cloudtest.Cloud, spec *vnfm.ClusterSpec) (*Checker, *vnfm.Target) {
	t.Helper()
	spec.OpenStack = &vnfm.ClusterOpenStack{VIMID: "cloud"}
	p := packageOf(t, spec)
	return &Checker{Clouds: openstack.NewPool("test/1")}, &vnfm.Target{
		Package: p, Instance: &vnfm.Instance{Cluster: spec},
		Access: func(context.Context, string) (*vnfm.VIM, vnfm.Credentials, error) {
			return &vnfm.VIM{Name: "cloud", OpenStack: &vnfm.OpenStackConnection{AuthURL: cloud.URL, Username: "nfv_user", ProjectName: cloudtest.Project}},
				vnfm.Credentials{vnfm.CredentialPassword: "devstack"}, nil
		},
	}
}

func TestCloudHasWhatIsNamed(t *testing.T) {
	cloud := stocked(t)
	assert.Empty(t, asked(t, cloud, clustertest.OpenStack(nil)))
	all := clustertest.OpenStack(clustertest.Everything())
	all.NodeGroups["upf"] = vnfm.NodeGroup{Replicas: clustertest.Number(1), Flavor: "m1.medium"}
	assert.Empty(t, asked(t, cloud, all))

	older := map[string]any{"nodeGroupDefaults": map[string]any{"kubernetesVersion": "v1.33.4", "machineImage": "node-1.33"}}
	assert.Empty(t, asked(t, cloud, clustertest.OpenStack(older)), "a group may have an older version with its own image")

	// A name of a subnet is one inside its network, also where that is not looked for.
	for _, network := range []*vnfm.CloudResource{{Name: "storage"}, {Tags: []string{"core"}}} {
		spec := clustertest.OpenStack(nil)
		spec.Network = &vnfm.ClusterNetwork{Internal: network, Subnet: &vnfm.CloudResource{Name: "nodes"}}
		assert.Empty(t, asked(t, cloud, spec), "%v", network)
	}
}

func TestCloudHasNot(t *testing.T) {
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
		"image by id":   {map[string]any{"machineImageId": other}, nil, vnfm.SeverityError, "chart.values", "there is no image with the id " + other},
		"image by name": {byName("none"), nil, vnfm.SeverityWarning, "chart.values", `there is no image "none"`},
		"two images":    {byName("twin"), nil, vnfm.SeverityError, "chart.values", `there are 2 of the image "twin"`},
		"version":       {byName("node-1.33"), nil, vnfm.SeverityError, "kubernetes_version", `image "node-1.33" has Kubernetes 1.33.4, not 1.34.0`},
		"version of a group": {
			map[string]any{"nodeGroupDefaults": map[string]any{"kubernetesVersion": "1.33.1", "machineImage": "node-1.33"}}, nil,
			vnfm.SeverityError, "kubernetes_version", `image "node-1.33" has Kubernetes 1.33.4, not 1.33.1`,
		},
		"no version":       {byName("plain"), nil, vnfm.SeverityWarning, "chart.values", `does not say which version of Kubernetes`},
		"not active":       {byName("queued"), nil, vnfm.SeverityWarning, "chart.values", `image "queued" is queued`},
		"key pair":         {map[string]any{"machineSSHKeyName": "lost"}, nil, vnfm.SeverityWarning, "chart.values", `there is no key pair "lost"`},
		"network":          {internal("networkFilter", map[string]any{"id": other}), nil, vnfm.SeverityError, "chart.values", "there is no network with the id"},
		"subnet":           {internal("subnetFilter", map[string]any{"name": "none"}), nil, vnfm.SeverityWarning, "chart.values", `there is no subnet "none"`},
		"external network": {map[string]any{"clusterNetworking": map[string]any{"externalNetworkId": "none"}}, nil, vnfm.SeverityWarning, "chart.values", `there is no external network "none"`},
		"not external":     {map[string]any{"clusterNetworking": map[string]any{"externalNetworkId": "tenant"}}, nil, vnfm.SeverityWarning, "chart.values", `there is no external network "tenant"`},
		"subnets":          {internal("subnetFilter", map[string]any{"name": "nodes"}), nil, vnfm.SeverityError, "chart.values", `there are 2 of the subnet "nodes"`},
		"subnet elsewhere": {
			nil, func(s *vnfm.ClusterSpec) {
				s.Network = &vnfm.ClusterNetwork{Internal: &vnfm.CloudResource{Name: "storage"}, Subnet: &vnfm.CloudResource{ID: clustertest.UUID}}
			}, vnfm.SeverityError, "network.internal_subnet", "there is no subnet with the id " + clustertest.UUID,
		},
		"flavor of a group": {nil, func(s *vnfm.ClusterSpec) {
			s.NodeGroups["upf"] = vnfm.NodeGroup{Replicas: clustertest.Number(1), Flavor: "none"}
		}, vnfm.SeverityWarning, "node_groups upf", `there is no flavor "none"`},
		"network of a group": {
			nil, func(s *vnfm.ClusterSpec) {
				s.NodeGroups["upf"] = vnfm.NodeGroup{Replicas: clustertest.Number(1), MachinePlace: vnfm.MachinePlace{Networks: []vnfm.MachineNetwork{{CloudResource: vnfm.CloudResource{Name: "none"}}}}}
			}, vnfm.SeverityWarning, "node_groups upf", `there is no network "none"`,
		},
		"network of the control plane": {
			nil, func(s *vnfm.ClusterSpec) {
				s.ControlPlane.Networks = []vnfm.MachineNetwork{{CloudResource: vnfm.CloudResource{Name: "none"}}}
			}, vnfm.SeverityWarning, "control_plane.networks", `there is no network "none"`,
		},
		"small flavor": {
			nil, func(s *vnfm.ClusterSpec) { s.ControlPlane.Flavor = "m1.tiny" }, vnfm.SeverityWarning, "control_plane.flavor",
			`flavor "m1.tiny" of the control plane has 1 vCPU and 512 MiB of memory: kubeadm refuses a control plane of less than 2 vCPU`,
		},
		"small flavor of several": {
			nil, func(s *vnfm.ClusterSpec) {
				s.ControlPlane.Flavor = "m1.tiny"
				s.NodeGroups["upf"] = vnfm.NodeGroup{Replicas: clustertest.Number(1), Flavor: "m1.tiny"}
			}, vnfm.SeverityWarning, "control_plane.flavor",
			`flavor "m1.tiny" of the control plane and node group "upf" has 1 vCPU and 512 MiB of memory: kubeadm`,
		},
		"processors of the control plane alone": {
			nil, func(s *vnfm.ClusterSpec) {
				s.ControlPlane.Flavor = "m1.small"
				s.NodeGroups["upf"] = vnfm.NodeGroup{Replicas: clustertest.Number(1), Flavor: "m1.small"}
			}, vnfm.SeverityWarning, "control_plane.flavor", `flavor "m1.small" of the control plane has 1 vCPU and 2048 MiB of memory: kubeadm`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			spec := clustertest.OpenStack(c.values)
			if c.change != nil {
				c.change(spec)
			}
			cloud := stocked(t)
			problems := asked(t, cloud, spec)
			require.Len(t, problems, 1, "%v", problems)
			p := problems[0]
			assert.Equal(t, c.severity, p.Severity)
			assert.Contains(t, p.String(), c.want)
			if p.Key != "" {
				p.Attribute += " " + p.Key
			}
			assert.Equal(t, c.at, p.Attribute)

			// The plan has checked the properties of existing objects.
			o, target := onCloud(t, cloud, spec)
			failed := errors.New("failed")
			err := o.AddProblems(t.Context(), target, failed)
			require.ErrorIs(t, err, failed)
			if !strings.HasPrefix(p.Summary, "there ") {
				assert.EqualError(t, err, "failed")
				return
			}
			assert.ErrorContains(t, err, "\n* "+p.Summary)
		})
	}
}

// TestCloudFlavorParameter: the flavor of a machine is two fields in v1beta1 of Cluster API Provider OpenStack, and a parameter in v1beta2.
func TestCloudFlavorParameter(t *testing.T) {
	t.Parallel()
	const missing = "00000000-0000-0000-0000-000000000000"
	for name, c := range map[string]struct{ fields, want string }{
		"v1beta1, name":        {"{flavor: m1.medium}", ""},
		"v1beta1, other name":  {"{flavor: none}", `there is no flavor "none" in the OpenStack`},
		"v1beta1, other id":    {"{flavorID: " + missing + "}", "there is no flavor with the id " + missing + " in the OpenStack"},
		"v1beta2, name":        {"{flavor: {filter: {name: m1.medium}}}", ""},
		"v1beta2, id":          {"{flavor: {id: " + clustertest.UUID + "}}", ""},
		"v1beta2, other name":  {"{flavor: {filter: {name: none}}}", `there is no flavor "none" in the OpenStack`},
		"v1beta2, other id":    {"{flavor: {id: " + missing + "}}", "there is no flavor with the id " + missing + " in the OpenStack"},
		"v1beta2, small":       {"{flavor: {filter: {name: m1.tiny}}}", `flavor "m1.tiny" of node group "" has 1 vCPU and 512 MiB of memory`},
		"v1beta2, other field": {"{flavor: {}}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: edge}\n---\n" + fmt.Sprintf("apiVersion: infrastructure.cluster.x-k8s.io/%s\nkind: OpenStackMachineTemplate\nmetadata: {name: edge-a}\nspec: {template: {spec: %s}}\n", name[:7], c.fields)
			problems := asked(t, stocked(t), &vnfm.ClusterSpec{Name: "edge", Namespace: "core", Template: &vnfm.ClusterTemplate{Content: content}})
			if c.want == "" {
				require.Empty(t, problems)
				return
			}
			require.Len(t, problems, 1)
			assert.Equal(t, c.want, problems[0].Summary)
		})
	}
}

// The plan compares the needs of a new cluster with the free quota.
func TestCloudQuota(t *testing.T) {
	cloud := stocked(t)
	code := http.StatusOK
	cloud.Refuse(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/limits") {
			return false
		}
		w.WriteHeader(code)
		_, _ = w.Write([]byte(`{"limits": {"rate": [], "absolute": {"maxTotalInstances": 10, "totalInstancesUsed": 7,
			"maxTotalCores": -1, "totalCoresUsed": 28, "maxTotalRAMSize": 50000, "totalRAMUsed": 20000}}}`))
		return true
	})
	problems := asked(t, cloud, clustertest.OpenStack(nil))
	require.Len(t, problems, 2, "three machines of m1.large and two of m1.medium")
	for i, want := range []string{
		"the machines need 5 instances, and the quota of the project has 3 left: 7 of 10 are used",
		"the machines need 32768 MiB of memory, and the quota of the project has 30000 left: 20000 of 50000 are used",
	} {
		assert.Equal(t, vnfm.SeverityWarning, problems[i].Severity)
		assert.Equal(t, "openstack", problems[i].Attribute)
		assert.Contains(t, problems[i].String(), want)
	}

	fits := clustertest.OpenStack(nil)
	fits.ControlPlane.Replicas, fits.NodeGroups["upf"] = clustertest.Number(1), vnfm.NodeGroup{MinReplicas: clustertest.Number(2), MaxReplicas: clustertest.Number(9)}
	assert.Empty(t, asked(t, cloud, fits), "an autoscaler begins with the least")

	o, target := onCloud(t, cloud, clustertest.OpenStack(nil))
	target.Instance.ID = "0815"
	assert.Empty(t, o.Check(t.Context(), target), "its machines are among what is used")
	o, target = onCloud(t, cloud, clustertest.OpenStack(nil))
	target.AdoptExisting = true
	assert.Empty(t, o.Check(t.Context(), target))

	code = http.StatusForbidden
	assert.Empty(t, asked(t, cloud, clustertest.OpenStack(nil)))
}

// A cloud that does not answer is reported once, and stops no plan.
func TestCloudDoesNotAnswer(t *testing.T) {
	cloud := stocked(t)
	cloud.Refuse(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/v3/auth/tokens" {
			return false
		}
		w.WriteHeader(http.StatusInternalServerError)
		return true
	})
	problems := asked(t, cloud, clustertest.OpenStack(nil))
	require.Len(t, problems, 1)
	assert.Equal(t, vnfm.SeverityWarning, problems[0].Severity)
	assert.Equal(t, "openstack", problems[0].Attribute)
	assert.Contains(t, problems[0].String(), "500 Internal Server Error")

	// After an operation that failed it is reported too.
	o, target := onCloud(t, cloud, clustertest.OpenStack(nil))
	failed := errors.New("failed")
	require.ErrorContains(t, o.AddProblems(t.Context(), target, failed), "failed\n* its OpenStack does not answer: ")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Equal(t, failed, o.AddProblems(ended, target, failed), "an interrupt waits for nothing")
	refused := &vnfm.InvalidError{}
	assert.Equal(t, error(refused), o.AddProblems(t.Context(), target, refused))
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
		q := &cloudCheck{ctx: t.Context(), client: client, spec: &vnfm.ClusterSpec{KubernetesVersion: version}}
		id := env.Images[image]
		for _, by := range [][2]string{{id, ""}, {"", image}} {
			require.NoError(t, lookFor(q, "image", by[0], by[1], q.form(), client.Images, func(i openstack.Image) { q.image(i, forms.WithoutV(q.spec.KubernetesVersion)) }))
		}
		return q.problems
	}
	const node = "ubuntu-2204-kube-v1.33.1"
	assert.Empty(t, q("v1.33.1", node))
	problems := q("v1.34.0", node)
	require.Len(t, problems, 1, "said once, however it was found")
	assert.Contains(t, problems[0].String(), `image "`+node+`" has Kubernetes 1.33.1, not 1.34.0`)
	assert.Contains(t, q("v1.34.0", "ubuntu-22.04")[0].String(), "does not say which version")
}
