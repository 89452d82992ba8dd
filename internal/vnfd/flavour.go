package vnfd

import "github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"

// indexed is a deployment flavour that is being read or checked. It finds its parts by
// their names however many there are.
type indexed struct {
	*vnfm.Flavour
	vdus, links, aspects, levels, points index
	// bound are the positions of the connection points of each VDU; the first known of them are entered.
	bound map[string][]int
	known int
}

// index finds the parts of a list by their names; the first known of them are entered.
type index struct {
	byID  map[string]int
	known int
}

// find returns the first part of that name, or nil. The list may have grown since the last call.
func find[T any](x *index, list []T, id func(*T) string, wanted string) *T {
	if x.byID == nil {
		x.byID = make(map[string]int, len(list))
	}
	for ; x.known < len(list); x.known++ {
		name := id(&list[x.known])
		if _, twice := x.byID[name]; !twice {
			x.byID[name] = x.known
		}
	}
	if i, ok := x.byID[wanted]; ok {
		return &list[i]
	}
	return nil
}

func vduID(v *vnfm.VDU) string              { return v.ID }
func linkID(l *vnfm.VirtualLink) string     { return l.ID }
func aspectID(a *vnfm.ScalingAspect) string { return a.ID }
func levelID(l *vnfm.InstantiationLevel) string {
	return l.ID
}
func pointID(c *vnfm.ConnectionPoint) string { return c.ID }

// VDU returns the VDU of that id, or nil.
func (f *indexed) VDU(id string) *vnfm.VDU { return find(&f.vdus, f.VDUs, vduID, id) }

// VirtualLink returns the virtual link of that id, or nil.
func (f *indexed) VirtualLink(id string) *vnfm.VirtualLink {
	return find(&f.links, f.VirtualLinks, linkID, id)
}

// Aspect returns the scaling aspect of that id, or nil.
func (f *indexed) Aspect(id string) *vnfm.ScalingAspect {
	return find(&f.aspects, f.Aspects, aspectID, id)
}

// Level returns the instantiation level of that id, or nil.
func (f *indexed) Level(id string) *vnfm.InstantiationLevel {
	return find(&f.levels, f.Levels, levelID, id)
}

func (f *indexed) point(id string) *vnfm.ConnectionPoint {
	return find(&f.points, f.ConnectionPoints, pointID, id)
}

// pointsOf returns the connection points that are bound to a VDU.
func (f *indexed) pointsOf(vdu string) []*vnfm.ConnectionPoint {
	if f.bound == nil {
		f.bound = map[string][]int{}
	}
	for ; f.known < len(f.ConnectionPoints); f.known++ {
		id := f.ConnectionPoints[f.known].VDUID
		f.bound[id] = append(f.bound[id], f.known)
	}
	list := make([]*vnfm.ConnectionPoint, 0, len(f.bound[vdu]))
	for _, i := range f.bound[vdu] {
		list = append(list, &f.ConnectionPoints[i])
	}
	return list
}

// names renders the names of a list for a message.
func names[T any](list []T, id func(*T) string) string {
	ids := make([]string, min(len(list), mostNames))
	for i := range ids {
		ids[i] = id(&list[i])
	}
	return quotedOf(ids, len(list))
}

func (f *indexed) vduNames() string    { return names(f.VDUs, vduID) }
func (f *indexed) aspectNames() string { return names(f.Aspects, aspectID) }
func (f *indexed) levelNames() string  { return names(f.Levels, levelID) }
