package multivim

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// single is the driver of one VIM. It makes one object.
type single struct {
	vnfm.InfraDriver
	kind             string
	namespaceParam   string
	params           []string
	links, manifests bool
	target           *vnfm.Target
	err              error
	// order are the kinds of those that were terminated.
	order *[]string
	// objects are those of a preview.
	objects func(t *vnfm.Target) map[string]string
}

func (s *single) Params() vnfm.InfraParams {
	return vnfm.InfraParams{Driver: s.kind, Namespace: s.namespaceParam, Names: s.params, Links: s.links, Manifests: s.manifests}
}

func (*single) PackageParams(context.Context, *vnfm.Package, *vnfm.Flavour) ([]string, bool) {
	return []string{"size"}, true
}

func (s *single) Terminate(ctx context.Context, t *vnfm.Target, _ vnfm.TerminateSpec, r vnfm.Recorder) error {
	s.target = t
	*s.order = append(*s.order, s.kind)
	return errors.Join(s.err, r.SaveInventory(ctx, nil))
}

func (s *single) Preview(_ context.Context, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
	if s.objects == nil {
		return &vnfm.Preview{}, nil
	}
	return &vnfm.Preview{Objects: s.objects(t)}, nil
}

func (s *single) Heal(_ context.Context, t *vnfm.Target, _ vnfm.HealSpec, _ vnfm.Recorder) error {
	s.target = t
	return nil
}

func (s *single) Apply(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	s.target = t
	return errors.Join(r.SaveInventory(ctx, []vnfm.InventoryItem{{Key: "a"}}), s.err)
}

func (s *single) Observe(context.Context, *vnfm.Target) (*vnfm.Observation, error) {
	if s.err != nil {
		return nil, s.err
	}
	return &vnfm.Observation{Objects: map[string]string{"a": "1"}, Unread: []string{"s"}}, nil
}

// inventory is a recorder that keeps what it is given.
type inventory struct {
	vnfm.Recorder
	items []vnfm.InventoryItem
}

func (i *inventory) SaveInventory(_ context.Context, items []vnfm.InventoryItem) error {
	i.items = items
	return nil
}

// Each VIM is given its part, and what one of them refuses stops nothing on the others.
func TestPartsOfAnInstance(t *testing.T) {
	own := &single{namespaceParam: "namespace", params: []string{"namespace", "files", "upgrade"}}
	edge := &single{err: errors.New("no room"), params: []string{"nfv", "upgrade"}}
	target := &vnfm.Target{Package: &vnfm.Package{}, Flavour: &vnfm.Flavour{VDUs: []vnfm.VDU{{ID: "VDU1"}}}, Instance: &vnfm.Instance{
		Namespace:        "core",
		AdditionalParams: map[string]any{"namespace": "core", "size": 1, "files": 1, "nfv": 1, "upgrade": 1},
		Connections:      map[string]vnfm.Connection{"edge": {VIMID: "2", Namespace: "far", VDUIDs: []string{"VDU1"}}},
	}, ReplaceObjects: []string{"a", "edge: b"}}
	d, err := New(t.Context(), own, target, func(_ context.Context, id string) (vnfm.InfraDriver, *vnfm.VIM, vnfm.Credentials, error) {
		return edge, &vnfm.VIM{ID: id}, nil, nil
	})
	require.NoError(t, err)
	var got inventory
	if err := d.Apply(t.Context(), target, &got); err == nil || err.Error() != `VIM connection "edge": no room` {
		t.Errorf("Apply = %v", err)
	}
	slices.SortFunc(got.items, func(a, b vnfm.InventoryItem) int { return strings.Compare(a.Connection, b.Connection) })
	require.Equal(t, []vnfm.InventoryItem{{Key: "a"}, {Key: "a", Connection: "edge"}}, got.items, "inventory")
	for name, at := range map[string]struct {
		driver    *single
		part      vnfm.Part
		namespace string
		params    []string
		replace   []string
	}{
		"own":  {own, vnfm.Part{Rest: true, VDUIDs: []string{"VDU1"}}, "core", []string{"files", "namespace", "size", "upgrade"}, []string{"a"}},
		"edge": {edge, vnfm.Part{VDUIDs: []string{"VDU1"}}, "far", []string{"nfv", "size", "upgrade"}, []string{"b"}},
	} {
		given := at.driver.target
		if diff := cmp.Diff(&at.part, given.Part); diff != "" || given.Instance.Namespace != at.namespace || !slices.Equal(given.ReplaceObjects, at.replace) ||
			!slices.Equal(slices.Sorted(maps.Keys(given.Instance.AdditionalParams)), at.params) {
			t.Errorf("the target of %s is %+v of %+v", name, given, given.Instance)
		}
	}
	seen, err := d.Observe(t.Context(), target)
	if err == nil || !slices.Equal(seen.Unseen, []string{"edge"}) || !slices.Equal(seen.Unread, []string{"s"}) || !maps.Equal(seen.Objects, map[string]string{"a": "1"}) {
		t.Errorf("Observe = %+v, %v", seen, err)
	}
}
