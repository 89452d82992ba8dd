package heat

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/hot"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestShortages knows a server without a place by what Nova says, as Heat repeats it.
func TestShortages(t *testing.T) {
	t.Parallel()
	inError := func(message string) string {
		return `ResourceInError: resources.FW: Went to status ERROR due to "Message: ` + message + `, Code: 500"`
	}
	for name, c := range map[string]struct{ status, reason, want string }{
		"Placement has no host":    {createFailed, inError("No valid host was found. "), "No valid host was found"},
		"the scheduler has none":   {createFailed, inError("No valid host was found. There are not enough hosts available."), "No valid host was found. There are not enough hosts available"},
		"all hosts have tried":     {createFailed, inError("Exceeded maximum number of retries. Exhausted all hosts available for retrying build failures for instance 4f1c."), "Exceeded maximum number of retries. Exhausted all hosts available for retrying build failures for instance 4f1c"},
		"no such zone":             {createFailed, "BadRequest: resources.FW: The requested availability zone is not available (HTTP 400) (Request-ID: req-1)", "The requested availability zone is not available"},
		"the server runs already":  {"UPDATE_FAILED", inError("No valid host was found. No valid host found for resize"), ""},
		"a fault of the host":      {createFailed, inError("Build of instance 4f1c aborted: no such image"), ""},
		"a quota":                  {createFailed, "Forbidden: resources.FW: Quota exceeded for instances: Requested 1, but already used 1 of 1 instances (HTTP 403)", ""},
		"a zone that Cinder lacks": {createFailed, "BadRequest: resources.FW: Availability zone 'a' is invalid. (HTTP 400)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, failed := failedServer(t, c.status, c.reason)
			got := s.shortages(failed)
			if c.want == "" {
				require.Empty(t, got)
				return
			}
			require.Equal(t, []shortage{{vdu: "FW", number: 1, answer: c.want}}, got)
		})
	}
	s, failed := failedServer(t, createFailed, inError("No valid host was found. "))
	failed.culprits = nil
	require.Empty(t, s.shortages(failed), "it failed in an update before")
	require.Empty(t, s.shortages(errors.New("another error")))
	require.Empty(t, s.shortages(nil))
}

// failedServer is the session and the failure of a stack whose server FW-1 has failed.
func failedServer(t *testing.T, status, reason string) (*session, *stackError) {
	t.Helper()
	text, err := json.Marshal([]any{
		map[string]any{"resource_name": "FW-1", "resource_type": "FW.yaml", "physical_resource_id": "inner", "resource_status": "UPDATE_FAILED", "links": stackLink("vnf", "top")},
		map[string]any{"resource_name": "FW", "resource_type": serverType, "physical_resource_id": "s1", "resource_status": status, "resource_status_reason": reason, "links": stackLink("vnf-FW-1", "inner")},
	})
	require.NoError(t, err)
	failed := &stackError{stack: &openstack.Stack{ID: "top"}, resources: resourcesOf(t, string(text))}
	failed.culprits = culprits(failed.stack, failed.resources)
	require.Len(t, failed.culprits, 1)
	return &session{source: &hot.Source{VDUs: map[string]hot.VDU{"FW": {Form: hot.Copied, Resource: "FW"}}}}, failed
}

func stackLink(name, id string) []any {
	return []any{map[string]any{"rel": "stack", "href": "http://heat/v1/p/stacks/" + name + "/" + id}}
}

// vnfcAt is a VNFC of VDU FW with the number in its name.
func vnfcAt(root, status string, server *openstack.Server) *component {
	return &component{vdu: "FW", root: root, resource: &openstack.StackResource{PhysicalID: "s", Status: status}, server: server}
}

// TestZoneOfServer: a server that is there keeps its zone whatever is asked for; a new one goes to the first that is.
func TestZoneOfServer(t *testing.T) {
	t.Parallel()
	first, all := hot.Place{VDUID: "FW", Number: 0}, hot.Place{VDUID: "FW", Number: hot.AllVNFCs}
	active, broken := &openstack.Server{Status: openstack.ServerActive}, &openstack.Server{Status: openstack.ServerError}
	noted := map[hot.Place]string{first: "west", all: "west"}
	for name, c := range map[string]struct {
		wanted []string
		noted  map[hot.Place]string
		there  []*component
		want   []string
	}{
		"new":                                 {[]string{"east", "west"}, nil, nil, []string{"east", "east"}},
		"new, Nova chooses":                   {nil, nil, nil, []string{"", ""}},
		"there":                               {[]string{"east", "west"}, noted, []*component{vnfcAt("FW-0", "CREATE_COMPLETE", active)}, []string{"west", "west"}},
		"there, in a zone no longer wanted":   {[]string{"east"}, noted, []*component{vnfcAt("FW-0", "CREATE_COMPLETE", active)}, []string{"west", "west"}},
		"there, without any list":             {nil, noted, []*component{vnfcAt("FW-0", "CREATE_COMPLETE", active)}, []string{"west", "west"}},
		"there, made without a zone":          {[]string{"east"}, nil, []*component{vnfcAt("FW-0", "UPDATE_COMPLETE", active)}, []string{"", ""}},
		"replaced":                            {[]string{"east", "west"}, noted, []*component{vnfcAt("FW-0", "CHECK_FAILED", active)}, []string{"west", "west"}},
		"replaced, in a zone not wanted":      {[]string{"east"}, noted, []*component{vnfcAt("FW-0", "CHECK_FAILED", active)}, []string{"east", "west"}},
		"in ERROR, in a zone not wanted":      {[]string{"east"}, noted, []*component{vnfcAt("FW-0", "CREATE_COMPLETE", broken)}, []string{"east", "west"}},
		"replaced, without any list":          {nil, noted, []*component{vnfcAt("FW-0", "CHECK_FAILED", active)}, []string{"west", "west"}},
		"never made":                          {[]string{"east", "west"}, noted, []*component{vnfcAt("FW-0", createFailed, broken)}, []string{"east", "east"}},
		"not even asked for":                  {[]string{"east", "west"}, noted, []*component{vnfcAt("FW-0", createFailed, nil)}, []string{"east", "east"}},
		"Heat gave up, and the server came":   {[]string{"east", "west"}, noted, []*component{vnfcAt("FW-0", createFailed, active)}, []string{"west", "west"}},
		"another one of the VDU was not made": {[]string{"east", "west"}, noted, []*component{vnfcAt("FW-0", "CREATE_COMPLETE", active), vnfcAt("FW-1", createFailed, broken)}, []string{"west", "west"}},
	} {
		z := newZoning(c.wanted, c.noted, c.there)
		require.Equal(t, c.want, []string{z.of(first), z.of(all)}, name)
	}
}

// TestNextZone goes through the zones of a server one after the other, and ends when all have been tried.
func TestNextZone(t *testing.T) {
	t.Parallel()
	full := func(number int) shortage {
		return shortage{vdu: "FW", number: number, answer: "No valid host was found"}
	}
	p := func(number int) hot.Place { return hot.Place{VDUID: "FW", Number: number} }
	asked := map[hot.Place]hot.Zone{p(0): {}, p(1): {}}
	z := newZoning([]string{"a", "b", "c"}, nil, nil)
	require.Equal(t, []string{"a", "a"}, []string{z.of(p(0)), z.of(p(1))})
	require.Equal(t, `FW-1 goes to availability zone "b", since availability zone "a" has no place for it`, z.next(asked, []shortage{full(1), full(1)}))
	require.Equal(t, []string{"a", "b"}, []string{z.of(p(0)), z.of(p(1))}, "each by itself")
	require.Equal(t, `FW-0 goes to availability zone "b", since availability zone "a" has no place for it; FW-1 goes to availability zone "c", since availability zone "b" has no place for it`,
		z.next(asked, []shortage{full(0), full(1)}))
	require.Equal(t, []string{
		`FW-0 is in availability zone "b": availability zone "a" answered "No valid host was found"`,
		`FW-1 is in availability zone "c": availability zone "a" answered "No valid host was found", availability zone "b" answered "No valid host was found"`,
	}, z.moves())
	require.Empty(t, z.next(asked, nil), "it has failed for another reason")
	require.Empty(t, z.next(asked, []shortage{full(0), {vdu: "FW", number: 1, answer: "The requested availability zone is not available"}}))
	require.EqualError(t, z.explained(errors.New("stack vnf-1 is UPDATE_FAILED")), `stack vnf-1 is UPDATE_FAILED
FW-0 found no place yet: availability zone "a" answered "No valid host was found", availability zone "b" answered "No valid host was found"
FW-1 found no place in any of its availability zones: availability zone "a" answered "No valid host was found", availability zone "b" answered "No valid host was found", availability zone "c" answered "The requested availability zone is not available"
free capacity there or add a zone to availability_zones, and apply again`)
}

// TestZonesThatStay: what has a zone from elsewhere goes to no other, and neither does a group of which some run.
func TestZonesThatStay(t *testing.T) {
	t.Parallel()
	cause := errors.New("stack vnf-1 is UPDATE_FAILED")
	short := []shortage{{vdu: "FW", number: 0, answer: "No valid host was found"}}
	own, all := hot.Place{VDUID: "FW", Number: 0}, hot.Place{VDUID: "FW", Number: hot.AllVNFCs}
	group := []*component{vnfcAt("FW_group", "CREATE_COMPLETE", &openstack.Server{Status: openstack.ServerActive})}
	for name, c := range map[string]struct {
		wanted []string
		asked  map[hot.Place]hot.Zone
		there  []*component
		moved  bool
		added  string
	}{
		"the template has one":    {[]string{"a", "b"}, nil, nil, false, ""},
		"the request has one":     {[]string{"a", "b"}, map[hot.Place]hot.Zone{own: {Name: "west", Fixed: true}}, nil, false, ""},
		"no zone is wanted":       {nil, map[hot.Place]hot.Zone{own: {}}, nil, false, ""},
		"a group of which none":   {[]string{"a", "b"}, map[hot.Place]hot.Zone{all: {}}, nil, true, ""},
		"a group of which some":   {[]string{"a", "b"}, map[hot.Place]hot.Zone{all: {}}, group, false, "\na new VNFC of VDU FW found no place in the availability zone that all VNFCs of the VDU share: the zone that Nova chooses answered \"No valid host was found\"\nfree capacity there, and apply again"},
		"a VNFC beside that runs": {[]string{"a", "b"}, map[hot.Place]hot.Zone{own: {}}, []*component{vnfcAt("FW-1", "CREATE_COMPLETE", nil)}, true, ""},
	} {
		z := newZoning(c.wanted, nil, c.there)
		for p := range c.asked {
			z.of(p)
		}
		require.Equal(t, c.moved, z.next(c.asked, short) != "", name)
		if !c.moved {
			require.EqualError(t, z.explained(cause), cause.Error()+c.added, name)
		}
	}
	var none *zoning
	require.Empty(t, none.next(nil, short))
	require.Equal(t, cause, none.explained(cause))
}

// TestWarnOfMoves: one warning says of all servers where they are.
func TestWarnOfMoves(t *testing.T) {
	t.Parallel()
	var got vnfm.Problems
	s := &session{target: &vnfm.Target{Instance: &vnfm.Instance{Name: "fw"}, Warn: func(p vnfm.Problem) { got = append(got, p) }}}
	s.warnOfMoves()
	require.Empty(t, got)
	s.moves = []string{`FW-0 is in availability zone "b": availability zone "a" answered "x"`, `FW-2 is in availability zone "b": availability zone "a" answered "x"`}
	s.warnOfMoves()
	require.Equal(t, vnfm.Problems{{
		Severity: vnfm.SeverityWarning, Attribute: "availability_zones",
		Summary: `VNFCs of "fw" went to another availability zone: FW-0, FW-2`,
		Detail:  s.moves[0] + "\n" + s.moves[1] + "\nThey stay there",
	}}, got)
}

// TestNoteOfZones: the zones are noted with the stack, those that are secrets aside.
func TestNoteOfZones(t *testing.T) {
	t.Parallel()
	first, second := hot.Place{VDUID: "FW", Number: 0}, hot.Place{VDUID: "FW", Number: 1}
	n := note{Content: "sha256:1", Zones: noteOf(map[hot.Place]hot.Zone{first: {Name: "a"}, second: {Name: "planted", Fixed: true, Secret: true}})}
	values, err := n.values()
	require.NoError(t, err)
	require.Equal(t, map[hot.Place]string{first: "a"}, readNote(values).Zones)
}
