package heat_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/heat"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/cloudtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestDryRunOfPorts: a port that exists has to be what the request says of it.
func TestDryRunOfPorts(t *testing.T) {
	t.Parallel()
	cloud := cloudtest.New(t)
	cloud.Offer("orchestration", "/heat/v1/"+cloudtest.ProjectID)
	cloud.Refuse(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/validate") {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"Description": "", "Parameters": {}}`))
		return true
	})
	cloud.Put("/network/v2.0/ports", map[string]any{
		"id": "port-1", "network_id": "net-1", "fixed_ips": []any{
			map[string]any{"subnet_id": "subnet-4", "ip_address": "192.0.2.9"}, map[string]any{"subnet_id": "subnet-6", "ip_address": "2001:db8::9"},
		},
	})
	driver := heat.New(openstack.NewPool("test/1"))
	for name, c := range map[string]struct {
		network, port string
		addresses     []vnfm.IPAddress
		want          string
	}{
		"both subnets":       {"net-1", "port-1", []vnfm.IPAddress{{SubnetID: "subnet-4"}, {SubnetID: "subnet-6", FixedAddresses: []string{"2001:DB8:0::9"}}}, ""},
		"nothing more":       {"net-1", "port-1", nil, ""},
		"of another project": {"net-2", "port-2", nil, ""},
		"another network":    {"net-2", "port-1", nil, `is not in network "net-2"`},
		"another subnet":     {"net-1", "port-1", []vnfm.IPAddress{{SubnetID: "subnet-5"}}, `has no address in subnet "subnet-5"`},
		"another address":    {"net-1", "port-1", []vnfm.IPAddress{{SubnetID: "subnet-6", FixedAddresses: []string{"192.0.2.9"}}}, "does not have address 192.0.2.9"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := dryRunTarget(cloud, `parameters: { nfv: { type: json } }
resources:
  FW: { type: OS::Nova::Server, properties: { flavor: m1.small, image: cirros, networks: [ { port: { get_param: [ nfv, CP, CP1, port ] } } ] } }`)
			target.Instance.Links.External = map[string]vnfm.ExtVirtualLink{"outside": {
				ResourceID: c.network, ExtCPs: map[string]vnfm.ExtCP{"CP1": {LinkPortID: c.port, IPAddresses: c.addresses}},
			}}
			problems, err := driver.DryRun(t.Context(), target, []string{"stack"})
			require.NoError(t, err)
			if c.want == "" {
				require.Empty(t, problems)
				return
			}
			require.Len(t, problems, 1)
			require.Contains(t, problems[0].Summary, c.want)
			require.Equal(t, []string{"ext_virtual_links", "outside"}, []string{problems[0].Attribute, problems[0].Key})
		})
	}
}

// TestDryRunOfTypes: what Heat's policy keeps from the user is an error of the plan where it is certain, else a warning.
func TestDryRunOfTypes(t *testing.T) {
	t.Parallel()
	cloud := cloudtest.New(t)
	cloud.Offer("orchestration", "/heat/v1/"+cloudtest.ProjectID)
	answers := map[string]struct {
		code int
		body string
	}{
		"":                        {http.StatusOK, `{"resource_types": ["OS::Nova::Server"]}`},
		"/OS::Nova::Flavor":       {http.StatusForbidden, `{"explanation": "You are not authorized to use OS::Nova::Flavor.", "code": 403, "error": {"message": "You are not authorized to use OS::Nova::Flavor.", "type": "Forbidden"}, "title": "Forbidden"}`},
		"/OS::Cinder::VolumeType": {http.StatusForbidden, `{"explanation": "Access was denied to this resource.", "code": 403, "title": "Forbidden"}`},
		// An alias of another type, which Heat leaves out of its list.
		"/OS::Old::Name": {http.StatusOK, `{"resource_type": "OS::Old::Name"}`},
	}
	cloud.Refuse(func(w http.ResponseWriter, r *http.Request) bool {
		_, name, isType := strings.Cut(r.URL.Path, "/resource_types")
		if !isType && !strings.HasSuffix(r.URL.Path, "/validate") {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		if !isType {
			_, _ = w.Write([]byte(`{"Description": "", "Parameters": {}}`))
			return true
		}
		w.WriteHeader(answers[name].code)
		_, _ = w.Write([]byte(answers[name].body))
		return true
	})
	driver := heat.New(openstack.NewPool("test/1"))
	for name, c := range map[string]struct {
		resource string
		want     string
		severity vnfm.Severity
	}{
		"a type of administrators": {"{ type: OS::Nova::Flavor, properties: { ram: 512, vcpus: 1 } }", `resource "more" has the type OS::Nova::Flavor, which the user of VIM "cloud" may not use`, vnfm.SeverityError},
		"under a condition":        {"{ type: OS::Nova::Flavor, condition: never, properties: { ram: 512, vcpus: 1 } }", `resource "more" has the type OS::Nova::Flavor`, vnfm.SeverityWarning},
		"for another reason":       {"{ type: OS::Cinder::VolumeType, properties: { name: a } }", `resource "more" has the type OS::Cinder::VolumeType`, vnfm.SeverityWarning},
		"another name of a type":   {"{ type: OS::Old::Name }", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := dryRunTarget(cloud, `conditions: { never: { equals: [ a, b ] } }
resources:
  FW: { type: OS::Nova::Server, properties: { flavor: m1.small, image: cirros } }
  more: `+c.resource)
			problems, err := driver.DryRun(t.Context(), target, []string{"stack"})
			require.NoError(t, err)
			if c.want == "" {
				require.Empty(t, problems)
				return
			}
			require.Len(t, problems, 1)
			require.Contains(t, problems[0].Summary, c.want)
			require.Equal(t, c.severity, problems[0].Severity)
			require.Equal(t, 5, problems[0].Line)
		})
	}
}

// TestDryRunOfValues: what a new stack names and the VIM does not have is a warning with Heat's words; a template that Heat does not take is
// an error.
func TestDryRunOfValues(t *testing.T) {
	t.Parallel()
	const (
		fine   = `{"Description": "", "Parameters": {}}`
		wrong  = `{"code": 400, "title": "Bad Request", "error": {"type": "StackValidationFailed", "message": "Unknown Property falvor"}}`
		absent = `{"code": 400, "title": "Bad Request", "error": {"type": "StackValidationFailed", "message": "The Key (nokey) could not be found."}}`
	)
	const rejected = "OS::Heat::Stack fw would be rejected by Heat"
	for name, c := range map[string]struct {
		id                string
		preview, validate string
		want              string
		severity          vnfm.Severity
	}{
		"all there":          {"", fine, fine, "", 0},
		"a key is not there": {"", absent, fine, rejected + " as the VIM is now", vnfm.SeverityWarning},
		"a wrong template":   {"", wrong, wrong, rejected, vnfm.SeverityError},
		"a stack exists":     {"0a3c64f2-5d3c-4b3d-8e43-6a6a3fdb53ae", absent, fine, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cloud := cloudtest.New(t)
			cloud.Offer("orchestration", "/heat/v1/"+cloudtest.ProjectID)
			cloud.Refuse(func(w http.ResponseWriter, r *http.Request) bool {
				answer := c.validate
				switch {
				case strings.HasSuffix(r.URL.Path, "/stacks/preview"):
					answer = c.preview
				case strings.HasSuffix(r.URL.Path, "/stacks"):
					answer = `{"stacks": []}`
				case !strings.HasSuffix(r.URL.Path, "/validate"):
					return false
				}
				w.Header().Set("Content-Type", "application/json")
				if answer == wrong || answer == absent {
					w.WriteHeader(http.StatusBadRequest)
				}
				_, _ = w.Write([]byte(answer))
				return true
			})
			target := dryRunTarget(cloud, `resources:
  FW: { type: OS::Nova::Server, properties: { flavor: m1.small, image: cirros, key_name: nokey } }`)
			target.Instance.ID, target.Instance.Name = c.id, "fw"
			problems, err := heat.New(openstack.NewPool("test/1")).DryRun(t.Context(), target, []string{"stack"})
			require.NoError(t, err)
			if c.want == "" {
				require.Empty(t, problems)
				return
			}
			require.Len(t, problems, 1)
			require.Equal(t, c.want, problems[0].Summary)
			require.Equal(t, c.severity, problems[0].Severity)
		})
	}
}

// TestDryRunOfZones: zones that Nova does not have are errors of the plan, with the nearest name; a list without any template that asks
// for a zone is one without a VIM.
func TestDryRunOfZones(t *testing.T) {
	t.Parallel()
	const asks = `parameters: { nfv: { type: json } }
resources:
  FW: { type: OS::Nova::Server, properties: { flavor: m1.small, image: cirros, availability_zone: { get_param: [ nfv, VDU, FW, locationConstraints ] } } }`
	const fixed = `resources:
  FW: { type: OS::Nova::Server, properties: { flavor: m1.small, image: cirros, availability_zone: nova } }`
	cloud := cloudtest.New(t)
	cloud.Offer("orchestration", "/heat/v1/"+cloudtest.ProjectID)
	cloud.Refuse(func(w http.ResponseWriter, r *http.Request) bool {
		answer := `{"Description": "", "Parameters": {}}`
		if strings.HasSuffix(r.URL.Path, "/os-availability-zone") {
			answer = `{"availabilityZoneInfo": [{"zoneName": "east-1", "zoneState": {"available": true}, "hosts": null}, {"zoneName": "west-1", "zoneState": {"available": false}, "hosts": null}]}`
		} else if !strings.HasSuffix(r.URL.Path, "/validate") {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(answer))
		return true
	})
	driver := heat.New(openstack.NewPool("test/1"))
	for name, c := range map[string]struct {
		template string
		zones    []string
		want     vnfm.Problems
	}{
		"one that is there": {asks, []string{"east-1"}, nil},
		"none":              {asks, nil, nil},
		"misspelt": {asks, []string{"east-1", "est-1"}, vnfm.Problems{{
			Attribute: "availability_zones.1", Summary: `VIM "cloud" has no availability zone "est-1"`, Detail: `did you mean "east-1"? its zones are "east-1", "west-1"`,
		}}},
		"of another cloud": {asks, []string{"nova"}, vnfm.Problems{{
			Attribute: "availability_zones.0", Summary: `VIM "cloud" has no availability zone "nova"`, Detail: `its zones are "east-1", "west-1"`,
		}}},
		"disabled": {asks, []string{"west-1", "east-1"}, vnfm.Problems{{
			Severity: vnfm.SeverityWarning, Attribute: "availability_zones.0", Summary: `availability zone "west-1" of VIM "cloud" is not available at present`, Detail: "new servers go to the next zone of the list",
		}}},
		"fixed by the template": {fixed, []string{"east-1"}, vnfm.Problems{{
			Attribute: "availability_zones", Summary: `no template of deployment flavour "simple" asks for an availability zone`,
			Detail: "the argument would have no effect: remove it, or have a template read { get_param: [nfv, VDU, FW, locationConstraints] }",
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := dryRunTarget(cloud, c.template)
			target.AvailabilityZones = c.zones
			_, problems := driver.Preview(t.Context(), target)
			if !problems.HasErrors() {
				var err error
				problems, err = driver.DryRun(t.Context(), target, []string{"stack"})
				require.NoError(t, err)
			}
			require.Equal(t, c.want, problems)
		})
	}
}
