package heat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/hottest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// clusterServers are the VDUs of a cluster behind a load balancer, which is in two networks.
var clusterServers = []hottest.Server{
	{VDU: "masterNode", Points: []string{"masterNode_CP1", "masterNode_CP2"}},
	{VDU: "workerNode", Points: []string{"workerNode_CP1", "workerNode_CP2"}},
	{VDU: "externalLB", Points: []string{"externalLB_CP1", "externalLB_CP2"}},
}

// clusterTarget is an instance of two masters, two workers and a load balancer, whose package has templates.
func clusterTarget(templates map[string]string) *vnfm.Target {
	files := fstest.MapFS{}
	for name, text := range templates {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	points := map[string]vnfm.ExtCP{}
	f := &vnfm.Flavour{ID: "simple", Aspects: []vnfm.ScalingAspect{{ID: "master_instance"}, {ID: "worker_instance"}}}
	for _, s := range clusterServers {
		f.VDUs = append(f.VDUs, vnfm.VDU{ID: s.VDU, Name: s.VDU, MaxInstances: 3, Compute: &vnfm.Compute{FlavorName: "m1.tiny"}, SWImages: []vnfm.SWImage{{ID: "image", Name: "ubuntu"}}})
		for n, point := range s.Points {
			f.ConnectionPoints = append(f.ConnectionPoints, vnfm.ConnectionPoint{ID: point, VDUID: s.VDU, Order: n, External: true})
			points[point] = vnfm.ExtCP{}
		}
	}
	instance := &vnfm.Instance{ID: "7", Name: "core", Links: vnfm.Links{External: map[string]vnfm.ExtVirtualLink{"net": {ResourceID: "net0", ExtCPs: points}}}}
	if strings.Contains(templates["BaseHOT/simple/top.yaml"], "public_network") {
		instance.AdditionalParams = map[string]any{"flavor": "m1.tiny", "image": "ubuntu", "public_network": "net0", "net1": "net1"}
	}
	return &vnfm.Target{
		Instance: instance, Package: &vnfm.Package{Content: files}, Flavour: f, Counts: map[string]int{"masterNode": 2, "workerNode": 2, "externalLB": 1},
	}
}

// heatStack is what Heat and Neutron list of a stack.
type heatStack struct {
	t         *testing.T
	rendered  *rendering
	counts    map[string]int
	resources []map[string]any
	ports     map[string]*openstack.Port
	servers   map[string]*openstack.Server
}

// id is a new one of a resource.
func (h *heatStack) id() string { return fmt.Sprintf("id-%03d", len(h.resources)) }

// add has Heat make a resource of a stack.
func (h *heatStack) add(stack, name, typ string) (id string) {
	id = h.id()
	h.resources = append(h.resources, map[string]any{
		"resource_name": name, "resource_type": typ, "physical_resource_id": id, "resource_status": "CREATE_COMPLETE",
		"links": []map[string]any{{"rel": "stack", "href": "https://heat/v1/project/stacks/name/" + stack}},
	})
	return id
}

// member makes what a definition asks for.
func (h *heatStack) member(stack, name string, definition map[string]any) string {
	typ, _ := definition["type"].(string)
	id := h.add(stack, name, typ)
	properties, _ := definition["properties"].(map[string]any)
	switch typ {
	case "OS::Heat::AutoScalingGroup":
		inner, ok := properties["resource"].(map[string]any)
		require.True(h.t, ok)
		vdu := inner["type"].(string) //nolint:forcetypeassert // Each member has one.
		for n := range h.counts[vdu[:len(vdu)-len(".yaml")]] {
			h.member(id, fmt.Sprintf("random%d", n), inner)
		}
	default:
		if text, nested := h.rendered.stack.Files[typ]; nested {
			var template map[string]any
			require.NoError(h.t, yaml.Unmarshal([]byte(text), &template))
			h.make(id, template)
		}
	}
	return id
}

// make makes the resources of a template, and attaches ports to servers.
func (h *heatStack) make(stack string, template map[string]any) {
	resources, _ := template["resources"].(map[string]any)
	ids := map[string]string{}
	for name, definition := range resources {
		ids[name] = h.member(stack, name, definition.(map[string]any)) //nolint:forcetypeassert // A template has no other.
	}
	for name, definition := range resources {
		server, _ := definition.(map[string]any)
		if server["type"] != serverType {
			continue
		}
		h.servers[ids[name]] = &openstack.Server{ID: ids[name], Status: openstack.ServerActive}
		properties, _ := server["properties"].(map[string]any)
		cards, _ := properties["networks"].([]any)
		for _, card := range cards {
			reference, _ := card.(map[string]any)["port"].(map[string]any) //nolint:forcetypeassert // A template has no other.
			if either, ok := reference["if"].([]any); ok {
				reference, _ = either[1].(map[string]any)
			}
			port, _ := reference["get_resource"].(string)
			require.NotEmpty(h.t, ids[port], "port %q of %s", port, name)
			address := fmt.Sprintf("127.0.5.%d", len(h.ports)+1)
			h.ports[ids[port]] = &openstack.Port{ID: ids[port], Device: ids[name], Fixed: []openstack.FixedIP{{Address: address}}}
		}
	}
}

// deployed are the VNFCs that the driver finds in the stack that it makes of a target.
func deployed(t *testing.T, target *vnfm.Target) (*rendering, []vnfm.VNFC) {
	t.Helper()
	rendered, problems := render(budget.New(t.Context(), budget.Limits{}), target)
	require.NoError(t, problems.Err())
	h := &heatStack{t: t, rendered: rendered, counts: target.Counts, ports: map[string]*openstack.Port{}, servers: map[string]*openstack.Server{}}
	h.make("top", rendered.stack.Template)
	l := &live{stack: &openstack.Stack{ID: "top"}, servers: h.servers}
	text, err := json.Marshal(h.resources)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &l.resources))
	s := &session{source: rendered.source}
	points := l.connectionPoints(h.ports, rendered.source)
	var out []vnfm.VNFC
	for _, c := range s.components(l) {
		v := c.vnfc()
		v.ConnectionPoints = points[c.resource.PhysicalID]
		out = append(out, v)
	}
	return rendered, out
}

// ownParameters is a flat template with parameters of its own, which the request gives as additional parameters, and with servers that
// have names.
const ownParameters = `heat_template_version: 2013-05-23
parameters: { flavor: { type: string }, image: { type: string }, public_network: { type: string }, net1: { type: string } }
resources:
  externalLB:
    type: OS::Nova::Server
    properties:
      flavor: { get_param: flavor }
      name: externalLB
      image: { get_param: image }
      networks: [{ port: { get_resource: externalLB_CP1 } }, { port: { get_resource: externalLB_CP2 } }]
  externalLB_CP1: { type: OS::Neutron::Port, properties: { network: { get_param: public_network } } }
  externalLB_CP2: { type: OS::Neutron::Port, properties: { network: { get_param: net1 } } }
`

// templates are the templates of a cluster in each form.
func templates() map[string]map[string]string {
	out := map[string]map[string]string{}
	for _, form := range hottest.Forms() {
		out[string(form)] = hottest.Files(form, "simple", clusterServers...)
	}
	text := ownParameters
	_, own, _ := strings.Cut(ownParameters, "resources:\n")
	for _, s := range clusterServers[:2] {
		text += strings.NewReplacer("externalLB", s.VDU).Replace(own)
	}
	out["flat with parameters of its own"] = map[string]string{"BaseHOT/simple/top.yaml": text}
	return out
}

// TestConnectionPointsInForms: the ports of each VNFC are the connection points of the VNFD in every form of template, whatever the copies of
// them are called.
func TestConnectionPointsInForms(t *testing.T) {
	t.Parallel()
	for form, files := range templates() {
		target := clusterTarget(files)
		rendered, vnfcs := deployed(t, target)
		require.Equal(t, len(files) == 0, rendered.source.Translated, form)
		counts, seen := map[string]int{}, map[string]bool{}
		for _, v := range vnfcs {
			counts[v.VDUID]++
			server := clusterServers[slices.IndexFunc(clusterServers, func(s hottest.Server) bool { return s.VDU == v.VDUID })]
			for _, point := range server.Points {
				require.Len(t, v.ConnectionPoints[point], 1, "%s: %s of %s, which has %v", form, point, v.ID, v.ConnectionPoints)
				address := v.ConnectionPoints[point][0]
				require.False(t, seen[address], "%s: %s", form, address)
				seen[address] = true
			}
			require.Len(t, v.ConnectionPoints, len(server.Points), form)
		}
		require.Equal(t, target.Counts, counts, form)
	}
}
